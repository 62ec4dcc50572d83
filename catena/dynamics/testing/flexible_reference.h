// SPDX-License-Identifier: BSD-3-Clause
// Lagrange's equations of trees with flexible bodies, independent of the sweeps: kinetic energy as
// a function of positions along a motion, all derivatives exact by nested dual numbers.
//
//   τ_i = d/dt ∂T/∂ẋ_i − ∂T/∂x_i + ∂U/∂x_i + (D ẋ)_i − Σ F · ∂V/∂ẋ_i
//
// x are local coordinates: those of the hinges, rotations by quaternion as exp(x) after the present
// one. Bodies, hinges and constants are read from the description, nothing from nodes or tables.
#pragma once

#include <map>
#include <random>
#include <vector>

#include "catena/base/index.h"
#include "catena/dynamics/testing/test_support.h"
#include "catena/spatial/dual.h"

namespace catena::test {

// Random constants with every entry different from zero, small enough that all energies are
// positive.
inline std::shared_ptr<const FlexibleBody> random_flexible(Random& random, int modes,
                                                           int attachments, FlexibleModel model) {
  auto b = std::make_shared<FlexibleBody>();
  const auto matrix = [&](int rows, int columns, double size) {
    MatrixXd a(rows, columns);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) a(i, j) = random.number(-size, size);
    return a;
  };
  const auto symmetric = [&](double size) {
    const MatrixXd a = matrix(modes, modes, size);
    return MatrixXd(0.5 * (a + a.transpose()));
  };
  b->mass = random.number(1.0, 2.0);
  b->mass_moment = 0.3 * random.vector();
  b->mass_moment_1 = matrix(3, modes, 0.2);
  b->inertia = {random.number(1.0, 1.4), random.number(-0.1, 0.1), random.number(-0.1, 0.1),
                random.number(1.0, 1.4), random.number(-0.1, 0.1), random.number(1.0, 1.4)};
  b->inertia_1 = matrix(6, modes, 0.1);
  b->coupling_0 = matrix(3, modes, 0.2);
  for (auto& a : b->mass_moment_2) a = symmetric(0.1);
  for (auto& a : b->inertia_2) a = symmetric(0.05);
  for (auto& a : b->coupling_1) a = matrix(modes, modes, 0.1);
  const MatrixXd root = matrix(modes, modes, 0.3);
  b->modal_mass = MatrixXd::Identity(modes, modes) + root * root.transpose();
  b->stiffness = 30.0 * (MatrixXd::Identity(modes, modes) + 0.2 * symmetric(1.0));
  b->damping = 0.5 * (MatrixXd::Identity(modes, modes) + 0.2 * symmetric(1.0));
  for (int i = 0; i < attachments; ++i) {
    FlexibleBody::Attachment a;
    a.name = "a" + std::to_string(i);
    const Transformd pose = random.pose();
    a.rotation = pose.rotation;
    a.position = pose.translation;
    a.shape = matrix(3, modes, 0.5);
    a.slope = matrix(3, modes, 0.5);
    for (auto& m : a.second_shape) m = symmetric(0.3);
    for (auto& m : a.second_slope) m = symmetric(0.3);
    b->attachments.push_back(a);
  }
  b->model = model;
  return b;
}

// A body of four mass points that are not in a plane and turn alike: its completed inertia is that
// of the points, whatever their shapes are.
struct FourPoints {
  double mass[4];
  Vec3d position[4];
  MatrixXd shape[4];            // 3×n
  MatrixXd second_shape[4][3];  // n×n
  Mat3d turning;                // J_s of all
  MatrixXd slope;
  MatrixXd second_slope[3];
};
using PointBodies = std::map<const FlexibleBody*, FourPoints>;

class FlexibleReference {
 public:
  // The kinetic energy of bodies in `points` is that of their points; they must outlive this.
  explicit FlexibleReference(const Mechanism& mechanism, const PointBodies* points = nullptr)
      : m_(mechanism), d_(m_.description()), points_(points) {}

  // Efforts of all freedoms at a state and accelerations.
  VectorXd efforts(const State& state, const VectorXd& acceleration,
                   const std::vector<ExternalWrench>& external) const {
    using First = Dual<double, 1>;
    using Second = Dual<First, 1>;
    const int n = m_.freedoms();
    const VectorXd rates = chart_acceleration(state, acceleration);
    VectorXd result(n);
    for (int i = 0; i < n; ++i) {
      std::vector<Second> x(to_size(n)), xd(to_size(n));
      std::vector<First> y(to_size(n)), yd(to_size(n)), z(to_size(n)), zd(to_size(n));
      for (int j = 0; j < n; ++j) {
        x[index(j)] = Second(0.0);
        x[index(j)].value.derivative[0] = state.v[j];
        xd[index(j)] = Second(state.v[j]);
        xd[index(j)].value.derivative[0] = rates[j];
        if (i == j) xd[index(j)].derivative[0] = First(1.0);
        y[index(j)] = First(0.0);
        yd[index(j)] = zd[index(j)] = First(state.v[j]);
        z[index(j)] = First(0.0);
        if (i == j) y[index(j)].derivative[0] = zd[index(j)].derivative[0] = 1.0;
      }
      const double momentum_rate = run(state, x, xd).kinetic.derivative[0].derivative[0];
      const Result<First> by_x = run(state, y, yd), by_rate = run(state, z, zd);
      result[i] = momentum_rate - by_x.kinetic.derivative[0] + by_x.potential.derivative[0];
      for (const ExternalWrench& e : external) {
        const Twist<First>& v = by_rate.twists[index(e.body)];
        const Transform<First>& pose = by_rate.poses[index(e.body)];
        Vec3d moment = e.wrench.moment, force = e.wrench.force;
        if (e.axes == ExternalWrench::Axes::ground) {
          Mat3d r;
          for (int k = 0; k < 9; ++k)
            r.m[k / 3][k % 3] = pose.rotation.matrix.m[k / 3][k % 3].value;
          moment = transpose(r) * moment;
          force = transpose(r) * force;
        }
        moment += cross(e.point, force);
        for (int c = 0; c < 3; ++c)
          result[i] -=
              moment[c] * v.angular[c].derivative[0] + force[c] * v.linear[c].derivative[0];
      }
    }
    for (const FlexiblePlace& f : m_.flexible_bodies()) {
      const int first = m_.velocity_index(f.name + ".mode1"), modes = f.constants->modes();
      result.segment(first, modes) += f.constants->damping * state.v.segment(first, modes);
    }
    return result;
  }

  MatrixXd mass_matrix(const State& state) const {
    const int n = m_.freedoms();
    MatrixXd m(n, n);
    using First = Dual<double, 1>;
    using Second = Dual<First, 1>;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        std::vector<Second> x(to_size(n), Second(0.0)), xd(to_size(n), Second(0.0));
        xd[index(i)].derivative[0] = First(1.0);
        xd[index(j)].value.derivative[0] = 1.0;
        m(i, j) = run(state, x, xd).kinetic.derivative[0].derivative[0];
      }
    return m;
  }

  template <class S>
  struct Result {
    S kinetic{0.0}, potential{0.0};
    std::vector<Transform<S>> poses;
    std::vector<Twist<S>> twists;  // in body axes
  };
  // Poses and twists with their derivatives: by time along the motion with these accelerations, and
  // by the rate of freedom i.
  using Rate = Dual<double, 1>;
  Result<Rate> along(const State& state, const VectorXd& acceleration) const {
    const VectorXd rates = chart_acceleration(state, acceleration);
    std::vector<Rate> x(to_size(m_.freedoms())), xd(x.size());
    for (int j = 0; j < m_.freedoms(); ++j) {
      x[index(j)].derivative[0] = state.v[j];
      xd[index(j)] = Rate(state.v[j]);
      xd[index(j)].derivative[0] = rates[j];
    }
    return run(state, x, xd);
  }
  Result<Rate> by_rate(const State& state, int i) const {
    const std::vector<Rate> x(to_size(m_.freedoms()), Rate(0.0));
    std::vector<Rate> xd(x);
    xd[index(i)].derivative[0] = 1.0;
    return run(state, x, xd);
  }
  Result<double> at_state(const State& state) const {
    const std::vector<double> x(to_size(m_.freedoms()), 0.0);
    return run(state, x, std::vector<double>(state.v.begin(), state.v.end()));
  }

 private:
  VectorXd chart_acceleration(const State& state, const VectorXd& a) const {
    VectorXd x = a;
    for (const HingePlace& h : m_.hinges())
      if (h.type == HingeType::free && h.node >= 0) {
        const Eigen::Vector3d w = state.v.segment(h.v_index, 3),
                              v = state.v.segment(h.v_index + 3, 3);
        x.segment(h.v_index + 3, 3) += w.cross(v);
      }
    return x;
  }

  // By the textbook formula; the angle may be zero only for an exact zero.
  template <class S>
  static Rotation<S> turned(const Vec3<S>& axis, const S& angle) {
    const auto [s, c] = sincos(angle);
    const Mat3<S> k = skew(axis), kk = k * k;
    Rotation<S> r = Rotation<S>::identity();
    for (int i = 0; i < 9; ++i)
      r.matrix.m[i / 3][i % 3] += s * k.m[i / 3][i % 3] + (S(1.0) - c) * kk.m[i / 3][i % 3];
    return r;
  }
  // exp near zero by its series (also where the angle is exactly zero).
  template <class S>
  static Rotation<S> exponential(const Vec3<S>& x) {
    const Mat3<S> k = skew(x);
    Mat3<S> power = Mat3<S>::identity();
    Rotation<S> r = Rotation<S>::identity();
    double factorial = 1.0;
    for (int i = 1; i < 30; ++i) {
      power = power * k;
      factorial *= i;
      for (int e = 0; e < 9; ++e)
        r.matrix.m[e / 3][e % 3] += S(1.0 / factorial) * power.m[e / 3][e % 3];
    }
    return r;
  }
  template <class S>
  static Vec3<S> lift(const Vec3d& v) {
    return {S(v.x), S(v.y), S(v.z)};
  }
  template <class S>
  static Transform<S> lift(const Transformd& x) {
    Transform<S> y;
    for (int i = 0; i < 9; ++i)
      y.rotation.matrix.m[i / 3][i % 3] = S(x.rotation.matrix.m[i / 3][i % 3]);
    y.translation = lift<S>(x.translation);
    return y;
  }
  static Vec3d axis(const Hinge& h, std::size_t i, const Vec3d& otherwise) {
    return i < h.axes.size() ? normalized(h.axes[i]) : otherwise;
  }

  // Child side in parent side; x: increments of the freedoms from q.
  template <class S>
  Transform<S> across(const Hinge& h, const HingePlace& p, const State& state, const S* x) const {
    const double* q = state.q.data() + p.q_index;
    const Vec3d ex = Vec3d::unit_x(), ey = Vec3d::unit_y(), ez = Vec3d::unit_z();
    const auto turn = [&](const Vec3d& a, int k) {
      return Transform<S>{turned<S>(lift<S>(a), S(q[k]) + x[k]), Vec3<S>::zero()};
    };
    const auto shift = [&](const Vec3d& a, const S& s) {
      return Transform<S>::from_translation(s * lift<S>(a));
    };
    const Vec3d a = axis(h, 0, ez);
    switch (h.type) {
      case HingeType::revolute:
        return turn(a, 0);
      case HingeType::prismatic:
        return shift(a, S(q[0]) + x[0]);
      case HingeType::screw:
        return turn(a, 0) * shift(a, S(h.pitch) * (S(q[0]) + x[0]));
      case HingeType::cylindrical:
        return turn(a, 0) * shift(a, S(q[1]) + x[1]);
      case HingeType::universal:
        return turn(axis(h, 0, ex), 0) * turn(axis(h, 1, ey), 1);
      case HingeType::gimbal:
        return turn(axis(h, 0, ex), 0) * turn(axis(h, 1, ey), 1) * turn(axis(h, 2, ez), 2);
      case HingeType::planar: {
        const Vec3d given = axis(h, 1, ex), plane = normalized(given - dot(given, a) * a);
        return shift(plane, S(q[1]) + x[1]) * shift(cross(a, plane), S(q[2]) + x[2]) * turn(a, 0);
      }
      case HingeType::translation:
        return shift(ex, S(q[0]) + x[0]) * shift(ey, S(q[1]) + x[1]) * shift(ez, S(q[2]) + x[2]);
      case HingeType::spherical:
      case HingeType::free: {
        const Transformd now{Rotationd::from_quaternion({q[0], q[1], q[2], q[3]}), Vec3d::zero()};
        Transform<S> y = lift<S>(now);
        if (h.type == HingeType::free)
          y.translation =
              Vec3<S>{S(q[4]), S(q[5]), S(q[6])} + y.rotation * Vec3<S>{x[3], x[4], x[5]};
        y.rotation = y.rotation * exponential<S>({x[0], x[1], x[2]});
        return y;
      }
      default:
        return {};
    }
  }

  template <class S>
  Transform<S> attachment(const FlexibleBody& b, const FlexibleBody::Attachment& a,
                          const std::vector<S>& eta) const {
    Vec3<S> place = lift<S>(a.position), angle = Vec3<S>::zero();
    for (int c = 0; c < 3 && b.model != FlexibleModel::ruthless; ++c)
      for (int k = 0; k < b.modes(); ++k) {
        place[c] += S(a.shape(c, k)) * eta[index(k)];
        angle[c] += S(a.slope(c, k)) * eta[index(k)];
        for (int l = 0; l < b.modes(); ++l) {
          const S product = eta[index(k)] * eta[index(l)];
          place[c] += S(0.5 * a.second_shape[index(c)](k, l)) * product;
          angle[c] += S(0.5 * a.second_slope[index(c)](k, l)) * product;
        }
      }
    return {lift<S>(Transformd{a.rotation, Vec3d::zero()}).rotation * exponential<S>(angle), place};
  }

  template <class S>
  Result<S> run(const State& state, const std::vector<S>& x, const std::vector<S>& xd) const {
    using Time = Dual<S, 1>;
    std::vector<Time> along(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      along[i].value = x[i];
      along[i].derivative[0] = xd[i];
    }
    std::vector<Transform<Time>> poses(d_.bodies.size());
    std::vector<char> known(d_.bodies.size(), 0);
    for (bool more = true; more;) {
      more = false;
      for (std::size_t i = 0; i < d_.hinges.size(); ++i) {
        const Hinge& h = d_.hinges[i];
        const HingePlace& p = m_.hinges()[i];
        if (p.role == HingePlace::Role::cut) continue;  // closes a loop
        const auto is_known = [&](int b) { return b < 0 || known[index(b)]; };
        if (is_known(p.parent_body) == is_known(p.child_body)) continue;
        Transform<Time> step;
        if (h.type == HingeType::attachment) {
          std::vector<Time> eta;
          for (int k = 0; k < h.flexible->modes(); ++k)
            eta.push_back(Time(state.q[p.q_index + k]) + along[index(p.v_index + k)]);
          step = attachment<Time>(*h.flexible, h.flexible->attachments[index(h.attachment)], eta);
        } else if (h.type != HingeType::modes && h.type != HingeType::weld) {
          step = across<Time>(h, p, state, along.data() + p.v_index);
        }
        step = lift<Time>(h.frame_on_parent) * step * lift<Time>(h.frame_on_child.inverse());
        const bool outward = is_known(p.parent_body);
        const int from = outward ? p.parent_body : p.child_body;
        const int to = outward ? p.child_body : p.parent_body;
        if (!outward) step = step.inverse();
        poses[index(to)] = from < 0 ? step : poses[index(from)] * step;
        known[index(to)] = 1;
        more = true;
      }
    }
    Result<S> r;
    for (std::size_t b = 0; b < poses.size(); ++b) {
      Transform<S> pose;
      for (int i = 0; i < 9; ++i)
        pose.rotation.matrix.m[i / 3][i % 3] = poses[b].rotation.matrix.m[i / 3][i % 3].value;
      for (int i = 0; i < 3; ++i) pose.translation[i] = poses[b].translation[i].value;
      r.poses.push_back(pose);
      r.twists.push_back(body_twist(poses[b], 0));
      add_body(d_.bodies[b], r);
    }
    for (const FlexiblePlace& f : m_.flexible_bodies()) add_flexible(f, state, x, xd, r);
    return r;
  }

  // Of rigid bodies; the internal bodies of modes are left to add_flexible().
  template <class S>
  void add_body(const Body& body, Result<S>& r) const {
    if (body.name.ends_with(".modes")) return;
    const Twist<S>& v = r.twists.back();
    const Vec3<S> c = lift<S>(body.center_of_mass);
    const Vec3<S> speed = v.linear + cross(v.angular, c);
    const Mat3d axes = body.inertia_axes.matrix;
    const Mat3d inertia = axes * body.inertia.full() * transpose(axes);
    Vec3<S> spin = Vec3<S>::zero();
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) spin[i] += S(inertia.m[i][j]) * v.angular[j];
    r.kinetic += S(0.5) * (S(body.mass) * dot(speed, speed) + dot(v.angular, spin));
    r.potential -= S(body.mass) * dot(lift<S>(d_.gravity), r.poses.back() * c);
  }

  template <class S>
  void add_flexible(const FlexiblePlace& f, const State& state, const std::vector<S>& x,
                    const std::vector<S>& xd, Result<S>& r) const {
    const FlexibleBody& b = *f.constants;
    const int n = b.modes(), q = m_.position_index(f.name + ".mode1"),
              v = m_.velocity_index(f.name + ".mode1");
    std::vector<S> eta, rate;
    for (int k = 0; k < n; ++k) {
      eta.push_back(S(state.q[q + k]) + x[index(v + k)]);
      rate.push_back(xd[index(v + k)]);
    }
    const auto form = [&](const MatrixXd& a, const std::vector<S>& left,
                          const std::vector<S>& right) {
      S sum(0.0);
      for (int k = 0; k < n; ++k)
        for (int l = 0; l < n; ++l) sum += S(a(k, l)) * left[index(k)] * right[index(l)];
      return sum;
    };
    const auto row = [&](const MatrixXd& a, int c, const std::vector<S>& y) {
      S sum(0.0);
      for (int k = 0; k < n; ++k) sum += S(a(c, k)) * y[index(k)];
      return sum;
    };
    const Twist<S>& twist = r.twists[index(f.body)];
    Vec3<S> h = lift<S>(b.mass_moment), c_t, c_r;
    S j[6];
    for (int c = 0; c < 3; ++c) {
      h[c] += row(b.mass_moment_1, c, eta) + S(0.5) * form(b.mass_moment_2[index(c)], eta, eta);
      c_t[c] = row(b.mass_moment_1, c, rate) + form(b.mass_moment_2[index(c)], rate, eta);
      c_r[c] = row(b.coupling_0, c, rate) + form(b.coupling_1[index(c)], rate, eta);
    }
    for (int c = 0; c < 6; ++c)
      j[c] = S(b.inertia[index(c)]) + row(b.inertia_1, c, eta) +
             S(0.5) * form(b.inertia_2[index(c)], eta, eta);
    const SymMat3<S> inertia{j[0], j[1], j[2], j[3], j[4], j[5]};
    const Vec3<S>&w = twist.angular, &u = twist.linear;
    if (points_ != nullptr && points_->contains(&b))
      r.kinetic += kinetic_of(points_->at(&b), eta, rate, w, u);
    else
      r.kinetic += S(0.5) * dot(w, inertia * w) + dot(w, cross(h, u)) +
                   S(0.5 * b.mass) * dot(u, u) + dot(w, c_r) + dot(u, c_t) +
                   S(0.5) * form(b.modal_mass, rate, rate);
    r.potential += S(0.5) * form(b.stiffness, eta, eta);
    const Transform<S>& pose = r.poses[index(f.body)];
    r.potential -= dot(lift<S>(d_.gravity), S(b.mass) * pose.translation + pose.rotation * h);
  }

  // Of points at x + Φ η + ½ ηᵀ B η whose matter turns with (1 − θ~ + ½ θ~²) ω + (1 − ½ θ~) θ̇,
  // the products to the second order in η for ω and to the first for η̇.
  template <class S>
  static S kinetic_of(const FourPoints& p, const std::vector<S>& eta, const std::vector<S>& rate,
                      const Vec3<S>& w, const Vec3<S>& u) {
    const int n = static_cast<int>(eta.size());
    // Value and rate of a1 η + ½ ηᵀ a2 η, and its part of first order.
    const auto expand = [&](const MatrixXd& a1, const MatrixXd(&a2)[3], Vec3<S>& first,
                            Vec3<S>& second, Vec3<S>& first_rate, Vec3<S>& second_rate) {
      first = second = first_rate = second_rate = Vec3<S>::zero();
      for (int c = 0; c < 3; ++c)
        for (int k = 0; k < n; ++k) {
          first[c] += S(a1(c, k)) * eta[index(k)];
          first_rate[c] += S(a1(c, k)) * rate[index(k)];
          for (int l = 0; l < n; ++l) {
            second[c] += S(0.5 * a2[c](k, l)) * eta[index(k)] * eta[index(l)];
            second_rate[c] += S(a2[c](k, l)) * eta[index(k)] * rate[index(l)];
          }
        }
    };
    S kinetic(0.0);
    Vec3<S> first, second, first_rate, second_rate;
    for (int i = 0; i < 4; ++i) {
      expand(p.shape[i], p.second_shape[i], first, second, first_rate, second_rate);
      const Vec3<S> place = lift<S>(p.position[i]) + first + second;
      const Vec3<S> speed = u + cross(w, place) + first_rate + second_rate;
      kinetic += S(0.5 * p.mass[i]) * dot(speed, speed);
    }
    expand(p.slope, p.second_slope, first, second, first_rate, second_rate);
    const Vec3<S> once = cross(first, w);
    const Vec3<S> turn = w - once + S(0.5) * cross(first, once) - cross(second, w) + first_rate +
                         second_rate - S(0.5) * cross(first, first_rate);
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) kinetic += S(0.5 * p.turning.m[a][b]) * turn[a] * turn[b];
    return kinetic;
  }

  const Mechanism& m_;
  const Description& d_;
  const PointBodies* points_;
};

// A random tree of rigid bodies and flexible ones that `make(modes, attachments)` returns, hinges
// of all types between bodies and attachments.
template <class Make>
inline MechanismBuilder random_flexible_tree_of(Random& random, int bodies, bool free_base,
                                                Make make) {
  MechanismBuilder builder("flexible");
  builder.set_gravity(6.0 * random.vector());
  std::vector<std::string> places{kWorld};
  for (int i = 0; i < bodies; ++i) {
    const std::string name = body_name(i);
    // About half of them hang on the place that came last, so that some are in a row.
    std::string parent = places[index(random.below(static_cast<int>(places.size())))];
    if (random.below(2) == 0) parent = places.back();
    if (free_base && i > 0 && parent == kWorld) parent = places.back();
    HingeType type = kMovingTypes[index(random.below(static_cast<int>(kMovingTypes.size()) - 1))];
    if (i > 0 && random.below(8) == 0) type = HingeType::weld;
    if (free_base && i == 0) type = HingeType::free;
    HingeSettings hinge = random.hinge(type);
    if (type == HingeType::universal || type == HingeType::gimbal) spread_axes(random, hinge);
    places.push_back(name);
    if (random.below(3) == 0) {
      builder.add_body(name, random.body());
    } else {
      const int attachments = random.below(3);
      const auto body = make(1 + random.below(4), attachments);
      builder.add_flexible_body(name, body, random.below(2) == 0 ? random.body() : BodySettings{});
      for (int a = 0; a < attachments; ++a) places.push_back(name + ".a" + std::to_string(a));
    }
    builder.add_hinge("h" + std::to_string(i), parent, name, hinge);
  }
  return builder;
}

inline MechanismBuilder random_flexible_tree(Random& random, int bodies, bool free_base,
                                             FlexibleModel model = FlexibleModel::consistent) {
  return random_flexible_tree_of(random, bodies, free_base, [&](int modes, int attachments) {
    return random_flexible(random, modes, attachments, model);
  });
}

}  // namespace catena::test
