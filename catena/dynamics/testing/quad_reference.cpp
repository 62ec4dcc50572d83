// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/testing/quad_reference.h"

#include <stdexcept>

#include "catena/base/index.h"
#include "catena/dynamics/testing/quad_algebra.h"

namespace catena::reference {
namespace {

template <class Real>
V3<Real> values(const V3<Series<Real>>& a) {
  return {a[0].x, a[1].x, a[2].x};
}
template <class Real>
V3<Real> rates(const V3<Series<Real>>& a) {
  return {a[0].d, a[1].d, a[2].d};
}
template <class Real>
V3<Real> second_rates(const V3<Series<Real>>& a) {
  return {a[0].dd, a[1].dd, a[2].dd};
}
// The vector of the skew part.
template <class Real>
V3<Real> axial(const M3<Real>& w) {
  const Real half(0.5);
  return {half * (w[2][1] - w[1][2]), half * (w[0][2] - w[2][0]), half * (w[1][0] - w[0][1])};
}

// Inertia about the mass centre in ground axes.
template <class Real>
M3<Real> central_inertia(const Body& body, const M3<Real>& r) {
  const SymMat3d& j = body.inertia;
  const M3<Real> own{{{Real(j.xx), Real(j.xy), Real(j.xz)},
                      {Real(j.xy), Real(j.yy), Real(j.yz)},
                      {Real(j.xz), Real(j.yz), Real(j.zz)}}};
  const M3<Real> axes = r * matrix_of<Real>(body.inertia_axes.matrix);
  return axes * own * transposed(axes);
}

}  // namespace

template <class Real>
Engine<Real>::Engine(const Mechanism& mechanism) : description_(mechanism.description()) {
  freedoms_ = mechanism.freedoms();
  const auto body_named = [&](const std::string& name) {
    for (std::size_t i = 0; i < description_.bodies.size(); ++i)
      if (description_.bodies[i].name == name) return static_cast<int>(i);
    return -1;
  };
  for (std::size_t h = 0; h < description_.hinges.size(); ++h) {
    const Hinge& hinge = description_.hinges[h];
    const HingePlace& place = mechanism.hinges()[index(mechanism.hinge_index(hinge.name))];
    const bool rigid = place.role == HingePlace::Role::weld;
    q_index_.push_back(rigid ? -1 : place.q_index);
    v_index_.push_back(rigid ? -1 : place.v_index);
    if (hinge.drive) {
      driven_.push_back(static_cast<int>(h));
      carrier_.push_back(
          body_named(hinge.drive->carrier.empty() ? hinge.parent : hinge.drive->carrier));
    }
  }
  // Place one body after the other: any hinge with one placed end places the other.
  std::vector<bool> placed(description_.bodies.size(), false);
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t h = 0; h < description_.hinges.size(); ++h) {
      const int parent = body_named(description_.hinges[h].parent);
      const int child = body_named(description_.hinges[h].child);
      const bool has_parent = parent < 0 || placed[index(parent)];
      const bool has_child = child < 0 || placed[index(child)];
      if (has_parent == has_child) continue;
      if (has_parent)
        steps_.push_back({static_cast<int>(h), parent, child, false});
      else
        steps_.push_back({static_cast<int>(h), child, parent, true});
      placed[index(steps_.back().to)] = true;
      progress = true;
    }
  }
  if (steps_.size() != description_.bodies.size() || steps_.size() != description_.hinges.size())
    throw std::invalid_argument("the reference engine serves trees only");
}

template <class Real>
std::vector<Pose<Series<Real>>> Engine<Real>::poses(const Vector<Real>& q, const Vector<Real>& v,
                                                    const Vector<Real>& a) const {
  std::vector<Pose<Series<Real>>> world(description_.bodies.size());
  for (const Step& step : steps_) {
    const Hinge& hinge = description_.hinges[index(step.hinge)];
    Pose<Series<Real>> j;
    const int qi = q_index_[index(step.hinge)], vi = v_index_[index(step.hinge)];
    if (qi >= 0) {
      j = displacement(static_cast<const HingeSettings&>(hinge), q.data() + qi, v.data() + vi,
                       a.data() + vi);
    } else {
      const Vector<Real> still(kMaxCoordinates, Real(0.0));
      Vector<Real> at(kMaxCoordinates, Real(0.0));
      if (hinge.locked_at.empty())
        at[0] =
            Real(hinge.type == HingeType::spherical || hinge.type == HingeType::free ? 1.0 : 0.0);
      for (std::size_t k = 0; k < hinge.locked_at.size(); ++k) at[k] = Real(hinge.locked_at[k]);
      j = displacement(static_cast<const HingeSettings&>(hinge), at.data(), still.data(),
                       still.data());
    }
    Pose<Series<Real>> x =
        steady<Real>(hinge.frame_on_parent) * j * inverted(steady<Real>(hinge.frame_on_child));
    if (step.inverse) x = inverted(x);
    world[index(step.to)] = step.from < 0 ? x : world[index(step.from)] * x;
  }
  return world;
}

template <class Real>
std::vector<Motion<Real>> Engine<Real>::motion(const Vector<Real>& q, const Vector<Real>& v,
                                               const Vector<Real>& a) const {
  const auto world = poses(q, v, a);
  std::vector<Motion<Real>> result(world.size());
  for (std::size_t b = 0; b < world.size(); ++b) {
    const Pose<Series<Real>>& x = world[b];
    Motion<Real>& m = result[b];
    M3<Real> dr, ddr;
    for (std::size_t i = 0; i < 3; ++i) {
      m.r[i] = values(x.r[i]);
      dr[i] = rates(x.r[i]);
      ddr[i] = second_rates(x.r[i]);
    }
    // Ṙ Rᵀ = [ω],  R̈ Rᵀ = [α] + [ω]², whose skew part is [α].
    m.angular_velocity = axial(dr * transposed(m.r));
    m.angular_acceleration = axial(ddr * transposed(m.r));
    const V3<Series<Real>> center =
        x.r * steady(vector_of<Real>(description_.bodies[b].center_of_mass)) + x.p;
    m.origin = values(x.p);
    m.center = values(center);
    m.center_velocity = rates(center);
    m.center_acceleration = second_rates(center);
  }
  return result;
}

template <class Real>
std::vector<std::vector<typename Engine<Real>::Partial>> Engine<Real>::partials(
    const Vector<Real>& q) const {
  const Vector<Real> zero(index(freedoms_), Real(0.0));
  std::vector<std::vector<Partial>> result(index(freedoms_));
  for (std::size_t k = 0; k < result.size(); ++k) {
    Vector<Real> v = zero;
    v[k] = Real(1.0);
    const auto moved = motion(q, v, zero);
    for (std::size_t b = 0; b < moved.size(); ++b) {
      const Motion<Real>& m = moved[b];
      const Real size = inner(m.center_velocity, m.center_velocity) +
                        inner(m.angular_velocity, m.angular_velocity);
      if (size > Real(0.0))
        result[k].push_back({static_cast<int>(b), m.center_velocity, m.angular_velocity});
    }
  }
  return result;
}

template <class Real>
Matrix<Real> Engine<Real>::mass_matrix(const Vector<Real>& q) const {
  const Vector<Real> zero(index(freedoms_), Real(0.0));
  const auto at = motion(q, zero, zero);
  const auto columns = partials(q);
  const std::size_t n = columns.size();
  Matrix<Real> m(n, Vector<Real>(n, Real(0.0)));
  std::vector<M3<Real>> inertia;
  inertia.reserve(at.size());
  for (std::size_t b = 0; b < at.size(); ++b)
    inertia.push_back(central_inertia(description_.bodies[b], at[b].r));
  std::vector<const Partial*> of_body(at.size());
  for (std::size_t k = 0; k < n; ++k) {
    of_body.assign(at.size(), nullptr);
    for (const Partial& p : columns[k]) of_body[index(p.body)] = &p;
    for (std::size_t l = k; l < n; ++l) {
      Real sum(0.0);
      for (const Partial& p : columns[l]) {
        const Partial* other = of_body[index(p.body)];
        if (other == nullptr) continue;
        sum = sum + Real(description_.bodies[index(p.body)].mass) * inner(other->center, p.center) +
              inner(other->angular, inertia[index(p.body)] * p.angular);
      }
      m[k][l] = m[l][k] = sum;
    }
  }
  // ½ J (n q̇ + u·ω)² − ½ J (u·ω)² = ½ J n² q̇² + J n q̇ u·ω.
  for (std::size_t d = 0; d < driven_.size(); ++d) {
    const Hinge& hinge = description_.hinges[index(driven_[d])];
    const std::size_t i = index(v_index_[index(driven_[d])]);
    const Real inertia_ratio = Real(hinge.drive->rotor_inertia) * Real(hinge.drive->gear_ratio);
    m[i][i] = m[i][i] + inertia_ratio * Real(hinge.drive->gear_ratio);
    if (hinge.drive->armature_only || carrier_[d] < 0) continue;
    const V3<Real> u = at[index(carrier_[d])].r * rotor_axis(hinge);
    for (std::size_t k = 0; k < n; ++k)
      for (const Partial& p : columns[k]) {
        if (p.body != carrier_[d]) continue;
        const Real entry = inertia_ratio * inner(u, p.angular);
        m[i][k] = m[i][k] + entry;
        m[k][i] = m[k][i] + entry;
      }
  }
  return m;
}

template <class Real>
V3<Real> Engine<Real>::rotor_axis(const Hinge& hinge) {
  if (hinge.drive->rotor_axis) return unit(vector_of<Real>(*hinge.drive->rotor_axis));
  return matrix_of<Real>(hinge.frame_on_parent.rotation.matrix) *
         hinge_axis<Real>(hinge, 0, Vec3d::unit_z());
}

// What each body needs beyond what gravity and the external wrenches give it, at its mass centre.
template <class Real>
void Engine<Real>::body_loads(const std::vector<Motion<Real>>& at,
                              std::span<const ExternalWrench> external,
                              std::vector<V3<Real>>& forces, std::vector<V3<Real>>& moments) const {
  forces.resize(at.size());
  moments.resize(at.size());
  const V3<Real> g = vector_of<Real>(description_.gravity);
  for (std::size_t b = 0; b < at.size(); ++b) {
    const M3<Real> inertia = central_inertia(description_.bodies[b], at[b].r);
    const V3<Real>& w = at[b].angular_velocity;
    forces[b] = Real(description_.bodies[b].mass) * (at[b].center_acceleration - g);
    moments[b] = inertia * at[b].angular_acceleration + outer_product(w, inertia * w);
  }
  for (const ExternalWrench& e : external) {
    if (e.body < 0) continue;
    const std::size_t b = index(e.body);
    V3<Real> force = vector_of<Real>(e.wrench.force), moment = vector_of<Real>(e.wrench.moment);
    if (e.axes == ExternalWrench::Axes::body) {
      force = at[b].r * force;
      moment = at[b].r * moment;
    }
    const V3<Real> arm = at[b].r * vector_of<Real>(e.point - description_.bodies[b].center_of_mass);
    forces[b] = forces[b] - force;
    moments[b] = moments[b] - (moment + outer_product(arm, force));
  }
}

template <class Real>
Vector<Real> Engine<Real>::effort(const Vector<Real>& q, const Vector<Real>& v,
                                  const Vector<Real>& a,
                                  std::span<const ExternalWrench> external) const {
  const auto at = motion(q, v, a);
  std::vector<V3<Real>> forces, moments;
  body_loads(at, external, forces, moments);
  Vector<Real> result(index(freedoms_), Real(0.0));
  // A rotor is a gyrostat: its spin about an axis fixed in the carrier adds J n q̇ u to the
  // carrier's angular momentum, and its own equation is J d/dt (n q̇ + u·ω) = torque.
  for (std::size_t d = 0; d < driven_.size(); ++d) {
    const Hinge& hinge = description_.hinges[index(driven_[d])];
    const std::size_t i = index(v_index_[index(driven_[d])]);
    const Real ratio(hinge.drive->gear_ratio);
    const Real inertia(hinge.drive->rotor_inertia);
    result[i] = result[i] + inertia * ratio * ratio * a[i];
    if (hinge.drive->armature_only || carrier_[d] < 0) continue;
    const std::size_t c = index(carrier_[d]);
    const V3<Real> u = at[c].r * rotor_axis(hinge);
    result[i] = result[i] + inertia * ratio * inner(u, at[c].angular_acceleration);
    moments[c] = moments[c] + (inertia * ratio * a[i]) * u +
                 (inertia * ratio * v[i]) * outer_product(at[c].angular_velocity, u);
  }
  const auto columns = partials(q);
  for (std::size_t k = 0; k < columns.size(); ++k)
    for (const Partial& p : columns[k])
      result[k] = result[k] + inner(p.center, forces[index(p.body)]) +
                  inner(p.angular, moments[index(p.body)]);
  return result;
}

template <class Real>
Vector<Real> Engine<Real>::acceleration(const Vector<Real>& q, const Vector<Real>& v,
                                        const Vector<Real>& given,
                                        std::span<const ExternalWrench> external) const {
  Vector<Real> rest = effort(q, v, Vector<Real>(v.size(), Real(0.0)), external);
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = given[i] - rest[i];
  return solve(mass_matrix(q), std::move(rest));
}

template <class Real>
Real Engine<Real>::kinetic_energy(const Vector<Real>& q, const Vector<Real>& v) const {
  const auto at = motion(q, v, Vector<Real>(v.size(), Real(0.0)));
  const Real half(0.5);
  Real sum(0.0);
  for (std::size_t b = 0; b < at.size(); ++b) {
    const V3<Real>& w = at[b].angular_velocity;
    sum = sum + half * (Real(description_.bodies[b].mass) *
                            inner(at[b].center_velocity, at[b].center_velocity) +
                        inner(w, central_inertia(description_.bodies[b], at[b].r) * w));
  }
  for (std::size_t d = 0; d < driven_.size(); ++d) {
    const Hinge& hinge = description_.hinges[index(driven_[d])];
    const Real spin = Real(hinge.drive->gear_ratio) * v[index(v_index_[index(driven_[d])])];
    Real carried(0.0);
    if (!hinge.drive->armature_only && carrier_[d] >= 0) {
      const Motion<Real>& c = at[index(carrier_[d])];
      carried = inner(c.r * rotor_axis(hinge), c.angular_velocity);
    }
    sum = sum + half * Real(hinge.drive->rotor_inertia) *
                    ((spin + carried) * (spin + carried) - carried * carried);
  }
  return sum;
}

template <class Real>
std::array<Real, 6> Engine<Real>::wrench_through(std::string_view hinge_name, std::string_view body,
                                                 const Vector<Real>& q, const Vector<Real>& v,
                                                 const Vector<Real>& a,
                                                 std::span<const ExternalWrench> external) const {
  const auto at = motion(q, v, a);
  std::vector<V3<Real>> forces, moments;
  body_loads(at, external, forces, moments);
  std::vector<bool> beyond(at.size(), false);
  for (const Step& step : steps_)
    beyond[index(step.to)] = description_.hinges[index(step.hinge)].name == hinge_name ||
                             (step.from >= 0 && beyond[index(step.from)]);
  std::size_t own = 0;
  while (description_.bodies[own].name != body) ++own;
  V3<Real> force{}, moment{};
  for (std::size_t b = 0; b < at.size(); ++b) {
    if (!beyond[b]) continue;
    force = force + forces[b];
    moment = moment + moments[b] + outer_product(at[b].center - at[own].origin, forces[b]);
  }
  const M3<Real> back = transposed(at[own].r);
  const V3<Real> m = back * moment, f = back * force;
  return {m[0], m[1], m[2], f[0], f[1], f[2]};
}

// Cholesky.
template <class Real>
Vector<Real> solve(Matrix<Real> a, Vector<Real> b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k) a[j][j] = a[j][j] - a[j][k] * a[j][k];
    a[j][j] = square_root(a[j][j]);
    for (std::size_t i = j + 1; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) a[i][j] = a[i][j] - a[i][k] * a[j][k];
      a[i][j] = a[i][j] / a[j][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] = b[i] - a[i][k] * b[k];
    b[i] = b[i] / a[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] = b[i] - a[k][i] * b[k];
    b[i] = b[i] / a[i][i];
  }
  return b;
}

template class Engine<double>;
template class Engine<long double>;
template class Engine<Dual<double, 1>>;
#if defined(__SIZEOF_FLOAT128__)
template class Engine<__float128>;
#endif
template Vector<double> solve(Matrix<double>, Vector<double>);
template Vector<long double> solve(Matrix<long double>, Vector<long double>);

std::shared_ptr<const CustomHinge> helix() {
  return make_custom_hinge<2>([](const auto* q) {
    using Scalar = std::decay_t<decltype(*q)>;
    const auto [s, c] = sincos(q[0]);
    return Transform<Scalar>{Rotation<Scalar>::about_z(q[0]) * Rotation<Scalar>::about_x(q[1]),
                             {Scalar(2.0) * c, Scalar(2.0) * s, q[0] * q[1]}};
  });
}

namespace {

double friction(const Friction& f, double v) {
  const double breakaway = f.breakaway == 0.0 ? f.sliding : f.breakaway;
  double level = f.sliding;
  if (f.stribeck_velocity > 0.0)
    level += (breakaway - f.sliding) * std::exp(-std::pow(v / f.stribeck_velocity, 2));
  return -level * std::tanh(v / f.transition_velocity);
}

}  // namespace

Vector<double> passive_effort(const Mechanism& mechanism, const Vector<double>& q,
                              const Vector<double>& v) {
  const Engine<double> engine(mechanism);
  const Description& d = mechanism.description();
  const Vector<double> zero(v.size(), 0.0);
  Vector<double> result(v.size(), 0.0);
  for (const Hinge& hinge : d.hinges) {
    const HingePlace& place = mechanism.hinges()[index(mechanism.hinge_index(hinge.name))];
    if (place.role != HingePlace::Role::tree) continue;
    for (std::size_t k = 0; k < hinge.freedoms.size(); ++k) {
      const FreedomSettings& f = hinge.freedoms[k];
      const std::size_t i = index(place.v_index) + k;
      result[i] += -f.damping * v[i] + friction(f.friction, v[i]);
      if (place.coordinates == place.freedoms)
        result[i] -= f.stiffness * (q[index(place.q_index) + k] - f.rest);
    }
  }
  // The power of a spring is −tension · rate of length; the rate along unit v_k gives the effort.
  for (const SpringDamper& spring : d.springs) {
    const auto gap = [&](const Vector<double>& along, double& length) {
      const auto at = engine.motion(q, along, zero);
      V3<double> p[2]{}, rate[2]{};
      for (int side = 0; side < 2; ++side) {
        const std::string& name = side == 0 ? spring.body_a : spring.body_b;
        const Vec3d& point = side == 0 ? spring.point_a : spring.point_b;
        p[side] = vector_of<double>(point);
        if (name == kWorld) continue;
        const std::size_t b = index(mechanism.body_index(name));
        const V3<double> arm = at[b].r * vector_of<double>(point - d.bodies[b].center_of_mass);
        p[side] = at[b].center + arm;
        rate[side] = at[b].center_velocity + outer_product(at[b].angular_velocity, arm);
      }
      const V3<double> line = p[1] - p[0];
      length = std::sqrt(inner(line, line));
      return inner(line, rate[1] - rate[0]) / length;
    };
    double length = 0.0;
    const double rate = gap(v, length);
    const double tension = spring.stiffness * (length - spring.rest_length) + spring.damping * rate;
    for (std::size_t k = 0; k < v.size(); ++k) {
      Vector<double> along = zero;
      along[k] = 1.0;
      result[k] -= tension * gap(along, length);
    }
  }
  return result;
}

}  // namespace catena::reference
