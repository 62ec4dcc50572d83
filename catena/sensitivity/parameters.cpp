#include "catena/sensitivity/parameters.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "catena/base/text.h"
#include "catena/model/builder.h"
#include "catena/sensitivity/columns.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr const char* kAxes[3] = {"x", "y", "z"};
constexpr const char* kEntries[6] = {"xx", "xy", "xz", "yy", "yz", "zz"};
constexpr int kInertial = 10;

SymMat3d unit_entry(int i) {
  SymMat3d s = SymMat3d::zero();
  double* const at[6] = {&s.xx, &s.xy, &s.xz, &s.yy, &s.yz, &s.zz};
  *at[i] = 1.0;
  return s;
}

// As MechanismBuilder::add_gear() writes one: q = ratio · q_other + offset.
bool is_gear(const Coupling& c) { return c.terms.size() == 2 && c.terms[0].coefficient == 1.0; }

template <class F>
void each_inboard(const Mechanism& m, int node, F f) {
  for (int n = node; n >= 0; n = m.nodes()[static_cast<std::size_t>(n)].parent) {
    const Node& own = m.nodes()[static_cast<std::size_t>(n)];
    for (int k = own.v_index; k < own.v_index + own.freedoms; ++k) f(k);
  }
}

// Adds to a column what a wrench (ground axes, about the reference point) that a node needs costs.
void spread(const Mechanism& m, const DerivativeTable<double>& c, int node, const Wrenchd& wrench,
            Eigen::Ref<VectorXd> column) {
  each_inboard(m, node, [&](int k) { column[k] += dot(wrench, get_twist(c.twist, c.stride, k)); });
}

// The wrench that a body of this inertia (own frame) needs for its motion, ground axes.
Wrenchd needed_by(const SpatialInertiad& inertia, const BodyPlace& body,
                  const DerivativeTable<double>& c) {
  const ColumnNode<double>& node = c.nodes[body.node];
  const SpatialInertiad i = shift_to_parent(node.pose * body.X_node_body, inertia);
  return i * node.acceleration + cross_star(node.twist, i * node.twist);
}

// Ten unit inertias about the body's origin.
SpatialInertiad unit_inertia(int i) {
  SpatialInertiad result = SpatialInertiad::zero();
  if (i == 0)
    result.mass = 1.0;
  else if (i < 4)
    result.mass_moment[i - 1] = 1.0;
  else
    result.inertia = unit_entry(i - 4);
  return result;
}

// d/dx of the spatial inertia of a body.
SpatialInertiad inertia_change(const Body& body, int kind, int entry) {
  SpatialInertiad d = SpatialInertiad::zero();
  const Vec3d& c = body.center_of_mass;
  if (kind == 0) {
    d.mass = 1.0;
    d.mass_moment = c;
    d.inertia = SpatialInertiad::steiner(c);
  } else if (kind == 1) {
    Vec3d e = Vec3d::zero();
    e[entry] = 1.0;
    d.mass_moment = body.mass * e;
    // steiner(c + εe) = steiner(c) + ε (steiner(c + e) − steiner(c) − steiner(e)) + ...
    d.inertia = body.mass * (SpatialInertiad::steiner(c + e) - SpatialInertiad::steiner(c) -
                             SpatialInertiad::steiner(e));
  } else {
    d.inertia = congruence(body.inertia_axes.matrix, unit_entry(entry));
  }
  return d;
}

}  // namespace

ParameterSet::ParameterSet(const Mechanism& mechanism, std::vector<std::string> names)
    : m_(mechanism), names_(std::move(names)) {
  for (const std::string& name : names_) {
    bool found = false;
    parameters_.push_back(find(m_, name, found));
    if (!found)
      throw NameError("no parameter is named '" + name + "'" + did_you_mean(name, all_names(m_)));
  }
  make_probes();
}

std::vector<std::string> ParameterSet::all_names(const Mechanism& m) {
  std::vector<std::string> names;
  const Description& d = m.description();
  for (const Body& body : d.bodies) {
    const std::string own = "body." + body.name + ".";
    names.push_back(own + "mass");
    for (const char* axis : kAxes) names.push_back(own + "com." + axis);
    for (const char* entry : kEntries) names.push_back(own + "inertia." + entry);
  }
  for (const char* axis : kAxes) names.push_back(std::string("gravity.") + axis);
  for (std::size_t h = 0; h < d.hinges.size(); ++h) {
    const Hinge& hinge = d.hinges[h];
    const std::string own = "hinge." + hinge.name + ".";
    const int freedoms = m.hinges()[h].node >= 0 ? m.hinges()[h].freedoms : 0;
    for (const std::string word : {"damping", "stiffness", "rest", "friction"})
      for (int k = 0; k < freedoms; ++k) {
        const bool has_coordinate =
            m.coordinate_of_freedom()[static_cast<std::size_t>(m.hinges()[h].v_index + k)] >= 0;
        if (!has_coordinate && (word == "stiffness" || word == "rest")) continue;
        names.push_back(own + word + (freedoms > 1 ? "." + std::to_string(k + 1) : ""));
      }
    if (hinge.drive) {
      names.push_back(own + "rotor_inertia");
      names.push_back(own + "gear_ratio");
    }
    for (const char* word : {"position", "rotation", "child_position"})
      for (const char* axis : kAxes) names.push_back(own + word + "." + axis);
    if (hinge.type == HingeType::revolute || hinge.type == HingeType::prismatic ||
        hinge.type == HingeType::screw || hinge.type == HingeType::cylindrical)
      for (const char* axis : kAxes) names.push_back(own + "axis." + axis);
    if (hinge.type == HingeType::screw) names.push_back(own + "pitch");
  }
  for (const SpringDamper& spring : d.springs)
    for (const char* word : {"stiffness", "rest_length", "damping"})
      names.push_back("spring." + spring.name + "." + word);
  for (const Rod& rod : d.rods) names.push_back("rod." + rod.name + ".length");
  for (const Coupling& coupling : d.couplings) {
    if (coupling.function) continue;
    const std::string own = "coupling." + coupling.name + ".";
    if (is_gear(coupling)) {
      names.push_back(own + "ratio");
      names.push_back(own + "offset");
      continue;
    }
    for (std::size_t k = 0; k < coupling.terms.size(); ++k)
      names.push_back(own + "coefficient." + std::to_string(k + 1));
    names.push_back(own + "constant");
  }
  return names;
}

ParameterSet::Parameter ParameterSet::find(const Mechanism& m, const std::string& name,
                                           bool& found) {
  found = true;
  const Description& d = m.description();
  // What follows `head`, or nothing.
  const auto after = [&](const std::string& head) {
    return name.size() > head.size() && name.compare(0, head.size(), head) == 0
               ? name.substr(head.size())
               : std::string();
  };
  const auto place = [](const std::string& word, const auto& words) {
    for (std::size_t i = 0; i < std::size(words); ++i)
      if (word == words[i]) return static_cast<int>(i);
    return -1;
  };
  if (const int axis = place(after("gravity."), kAxes); axis >= 0) return {Kind::gravity, 0, axis};
  for (int i = 0; i < static_cast<int>(d.bodies.size()); ++i) {
    const std::string own = "body." + d.bodies[static_cast<std::size_t>(i)].name + ".";
    if (name == own + "mass") return {Kind::mass, i, 0};
    if (const int axis = place(after(own + "com."), kAxes); axis >= 0) return {Kind::com, i, axis};
    if (const int entry = place(after(own + "inertia."), kEntries); entry >= 0)
      return {Kind::inertia, i, entry};
  }
  for (int i = 0; i < static_cast<int>(d.hinges.size()); ++i) {
    const Hinge& hinge = d.hinges[static_cast<std::size_t>(i)];
    const HingePlace& where = m.hinges()[static_cast<std::size_t>(i)];
    const std::string own = "hinge." + hinge.name + ".";
    const std::string rest = after(own);
    if (rest.empty()) continue;
    const int freedoms = where.node >= 0 ? where.freedoms : 0;
    const std::pair<const char*, Kind> elements[] = {{"damping", Kind::damping},
                                                     {"stiffness", Kind::stiffness},
                                                     {"rest", Kind::rest},
                                                     {"friction", Kind::friction}};
    for (const auto& [word, kind] : elements)
      for (int k = 0; k < freedoms; ++k)
        if (rest == word + (freedoms > 1 ? "." + std::to_string(k + 1) : std::string()))
          return {kind, i, k};
    if (hinge.drive && rest == "rotor_inertia") return {Kind::rotor_inertia, i, 0};
    if (hinge.drive && rest == "gear_ratio") return {Kind::gear_ratio, i, 0};
    if (const int axis = place(after(own + "position."), kAxes); axis >= 0)
      return {Kind::position, i, axis};
    if (const int axis = place(after(own + "rotation."), kAxes); axis >= 0)
      return {Kind::rotation, i, axis};
    if (const int axis = place(after(own + "child_position."), kAxes); axis >= 0)
      return {Kind::child_position, i, axis};
    const bool has_axis = hinge.type == HingeType::revolute || hinge.type == HingeType::prismatic ||
                          hinge.type == HingeType::screw || hinge.type == HingeType::cylindrical;
    if (const int axis = place(after(own + "axis."), kAxes); axis >= 0 && has_axis)
      return {Kind::axis, i, axis};
    if (rest == "pitch" && hinge.type == HingeType::screw) return {Kind::pitch, i, 0};
  }
  for (int i = 0; i < static_cast<int>(d.springs.size()); ++i) {
    const std::string own = "spring." + d.springs[static_cast<std::size_t>(i)].name + ".";
    if (name == own + "stiffness") return {Kind::spring_stiffness, i, 0};
    if (name == own + "rest_length") return {Kind::spring_rest, i, 0};
    if (name == own + "damping") return {Kind::spring_damping, i, 0};
  }
  for (int i = 0; i < static_cast<int>(d.rods.size()); ++i)
    if (name == "rod." + d.rods[static_cast<std::size_t>(i)].name + ".length")
      return {Kind::rod_length, i, 0};
  for (int i = 0; i < static_cast<int>(d.couplings.size()); ++i) {
    const Coupling& coupling = d.couplings[static_cast<std::size_t>(i)];
    const std::string rest = after("coupling." + coupling.name + ".");
    if (rest.empty() || coupling.function) continue;
    if (is_gear(coupling)) {
      if (rest == "ratio") return {Kind::ratio, i, 1};
      if (rest == "offset") return {Kind::constant, i, 0};
      continue;
    }
    for (int k = 0; k < static_cast<int>(coupling.terms.size()); ++k)
      if (rest == "coefficient." + std::to_string(k + 1)) return {Kind::coefficient, i, k};
    if (rest == "constant") return {Kind::constant, i, 0};
  }
  found = false;
  return {};
}

namespace {

FreedomSettings& freedom_of(Hinge& hinge, int entry) {
  if (hinge.freedoms.size() <= static_cast<std::size_t>(entry))
    hinge.freedoms.resize(static_cast<std::size_t>(entry) + 1);
  return hinge.freedoms[static_cast<std::size_t>(entry)];
}

}  // namespace

void ParameterSet::change(const Parameter& p, double by, Description& d) const {
  const std::size_t i = static_cast<std::size_t>(p.index);
  Vec3d along = Vec3d::zero();
  if (p.entry < 3) along[p.entry] = by;
  switch (p.kind) {
    case Kind::mass:
      d.bodies[i].mass += by;
      break;
    case Kind::com:
      d.bodies[i].center_of_mass += along;
      break;
    case Kind::inertia:
      d.bodies[i].inertia += by * unit_entry(p.entry);
      break;
    case Kind::gravity:
      d.gravity += along;
      break;
    case Kind::damping:
      freedom_of(d.hinges[i], p.entry).damping += by;
      break;
    case Kind::stiffness:
      freedom_of(d.hinges[i], p.entry).stiffness += by;
      break;
    case Kind::rest:
      freedom_of(d.hinges[i], p.entry).rest += by;
      break;
    case Kind::friction:
      freedom_of(d.hinges[i], p.entry).friction.sliding += by;
      break;
    case Kind::rotor_inertia:
      d.hinges[i].drive->rotor_inertia += by;
      break;
    case Kind::gear_ratio:
      d.hinges[i].drive->gear_ratio += by;
      break;
    case Kind::spring_stiffness:
      d.springs[i].stiffness += by;
      break;
    case Kind::spring_rest:
      d.springs[i].rest_length += by;
      break;
    case Kind::spring_damping:
      d.springs[i].damping += by;
      break;
    case Kind::position:
      d.hinges[i].frame_on_parent.translation += along;
      break;
    case Kind::rotation:
      d.hinges[i].frame_on_parent.rotation =
          d.hinges[i].frame_on_parent.rotation * exp_rotation(along);
      break;
    case Kind::child_position:
      d.hinges[i].frame_on_child.translation += along;
      break;
    case Kind::axis: {
      Hinge& hinge = d.hinges[i];
      if (hinge.axes.empty()) hinge.axes = {Vec3d::unit_z()};
      hinge.axes[0] = normalized(hinge.axes[0]) + along;
      break;
    }
    case Kind::pitch:
      d.hinges[i].pitch += by;
      break;
    case Kind::rod_length:
      d.rods[i].length += by;
      break;
    case Kind::coefficient:
      d.couplings[i].terms[static_cast<std::size_t>(p.entry)].coefficient += by;
      break;
    case Kind::ratio:
      d.couplings[i].terms[static_cast<std::size_t>(p.entry)].coefficient -= by;
      break;
    case Kind::constant:
      d.couplings[i].constant += by;
      break;
  }
}

VectorXd ParameterSet::values() const {
  VectorXd x = VectorXd::Zero(size());
  const Description& d = m_.description();
  for (Index k = 0; k < x.size(); ++k) {
    const Parameter& p = parameters_[static_cast<std::size_t>(k)];
    const std::size_t i = static_cast<std::size_t>(p.index);
    const auto freedom = [&] {
      const Hinge& h = d.hinges[i];
      return static_cast<std::size_t>(p.entry) < h.freedoms.size()
                 ? h.freedoms[static_cast<std::size_t>(p.entry)]
                 : FreedomSettings{};
    };
    switch (p.kind) {
      case Kind::mass:
        x[k] = d.bodies[i].mass;
        break;
      case Kind::com:
        x[k] = d.bodies[i].center_of_mass[p.entry];
        break;
      case Kind::inertia: {
        const SymMat3d& s = d.bodies[i].inertia;
        x[k] = std::array{s.xx, s.xy, s.xz, s.yy, s.yz, s.zz}[static_cast<std::size_t>(p.entry)];
        break;
      }
      case Kind::gravity:
        x[k] = d.gravity[p.entry];
        break;
      case Kind::damping:
        x[k] = freedom().damping;
        break;
      case Kind::stiffness:
        x[k] = freedom().stiffness;
        break;
      case Kind::rest:
        x[k] = freedom().rest;
        break;
      case Kind::friction:
        x[k] = freedom().friction.sliding;
        break;
      case Kind::rotor_inertia:
        x[k] = d.hinges[i].drive->rotor_inertia;
        break;
      case Kind::gear_ratio:
        x[k] = d.hinges[i].drive->gear_ratio;
        break;
      case Kind::spring_stiffness:
        x[k] = d.springs[i].stiffness;
        break;
      case Kind::spring_rest:
        x[k] = d.springs[i].rest_length;
        break;
      case Kind::spring_damping:
        x[k] = d.springs[i].damping;
        break;
      case Kind::position:
        x[k] = d.hinges[i].frame_on_parent.translation[p.entry];
        break;
      case Kind::child_position:
        x[k] = d.hinges[i].frame_on_child.translation[p.entry];
        break;
      case Kind::pitch:
        x[k] = d.hinges[i].pitch;
        break;
      case Kind::rod_length:
        x[k] = d.rods[i].length;
        break;
      case Kind::coefficient:
        x[k] = d.couplings[i].terms[static_cast<std::size_t>(p.entry)].coefficient;
        break;
      case Kind::ratio:
        x[k] = -d.couplings[i].terms[static_cast<std::size_t>(p.entry)].coefficient;
        break;
      case Kind::constant:
        x[k] = d.couplings[i].constant;
        break;
      case Kind::rotation:
      case Kind::axis:
        break;
    }
  }
  return x;
}

Mechanism ParameterSet::with(const VectorXd& wanted) const {
  if (wanted.size() != size())
    throw NumericalError("the parameter set has " + std::to_string(size()) + " values, not " +
                         std::to_string(wanted.size()));
  const VectorXd now = values();
  Description d = m_.description();
  for (Index k = 0; k < now.size(); ++k)
    change(parameters_[static_cast<std::size_t>(k)], wanted[k] - now[k], d);
  return MechanismBuilder(std::move(d)).finish({.strict = false});
}

template <class Own, class Spread>
void ParameterSet::contribute(const Parameter& p, const State& state, const SensitivityWorkspace& w,
                              Own own, Spread spread_wrench) const {
  const DerivativeTable<double>& c = w.columns();
  const std::size_t i = static_cast<std::size_t>(p.index);
  switch (p.kind) {
    case Kind::mass:
    case Kind::com:
    case Kind::inertia: {
      const BodyPlace& body = m_.bodies()[i];
      if (body.node < 0) return;
      spread_wrench(body.node, needed_by(inertial_change(p), body, c));
      return;
    }
    case Kind::gravity: {
      // The acceleration of the ground is −g.
      Twistd fall = Twistd::zero();
      fall.linear[p.entry] = -1.0;
      for (std::size_t n = 0; n < m_.nodes().size(); ++n) {
        const Node& node = m_.nodes()[n];
        const Wrenchd weight = c.nodes[n].inertia * fall;  // of all that is outboard
        for (int k = node.v_index; k < node.v_index + node.freedoms; ++k)
          own(k, dot(weight, get_twist(c.twist, c.stride, k)));
      }
      return;
    }
    case Kind::damping:
    case Kind::stiffness:
    case Kind::rest:
    case Kind::friction: {
      const int k = m_.hinges()[i].v_index + p.entry;
      const FreedomSettings& f = m_.freedom_settings()[static_cast<std::size_t>(k)];
      const int coordinate = m_.coordinate_of_freedom()[static_cast<std::size_t>(k)];
      if (p.kind == Kind::damping) own(k, state.v[k]);
      if (p.kind == Kind::stiffness && coordinate >= 0) own(k, state.q[coordinate] - f.rest);
      if (p.kind == Kind::rest && coordinate >= 0) own(k, -f.stiffness);
      if (p.kind == Kind::friction) {
        Friction one = f.friction;
        double share = 1.0;  // of the sliding level in the whole
        if (one.breakaway > one.sliding && one.stribeck_velocity > 0.0) {
          const double ratio = state.v[k] / one.stribeck_velocity;
          share = 1.0 - std::exp(-ratio * ratio);
        }
        own(k, share * std::tanh(state.v[k] / one.transition_velocity));
      }
      return;
    }
    case Kind::rotor_inertia:
    case Kind::gear_ratio:
      for (const DrivePlace& drive : m_.drives()) {
        if (drive.hinge != p.index) continue;
        const bool by_inertia = p.kind == Kind::rotor_inertia;
        const int h = drive.v_index;
        own(h, (by_inertia ? drive.gear_ratio * drive.gear_ratio
                           : 2.0 * drive.gear_ratio * drive.rotor_inertia) *
                   w.acceleration[h]);
        if (drive.armature_only || drive.carrier_node < 0) continue;
        const ColumnNode<double>& carrier = c.nodes[drive.carrier_node];
        const Vec3d u = carrier.pose.rotation *
                        ((by_inertia ? drive.gear_ratio : drive.rotor_inertia) * drive.rotor_axis);
        own(h, dot(u, carrier.acceleration.angular));
        spread_wrench(drive.carrier_node,
                      Wrenchd{w.acceleration[h] * u + cross(carrier.twist.angular, state.v[h] * u),
                              Vec3d::zero()});
      }
      return;
    case Kind::spring_stiffness:
    case Kind::spring_rest:
    case Kind::spring_damping: {
      const SpringPlace& spring = m_.springs()[i];
      struct End {
        int node;
        Vec3d place, position, velocity;
      };
      const auto end_of = [&](const PointPlace& at) {
        if (at.node < 0) return End{-1, at.point, at.point, Vec3d::zero()};
        const ColumnNode<double>& node = c.nodes[at.node];
        const Vec3d place = node.pose * at.point;
        return End{at.node, place, place + node.reference,
                   node.twist.linear + cross(node.twist.angular, place)};
      };
      const End a = end_of(spring.a), b = end_of(spring.b);
      const Vec3d gap = b.position - a.position;
      const double length = norm(gap);
      if (!(length > 0.0)) return;
      const Vec3d direction = gap * (1.0 / length);
      double tension = 0.0;  // by the parameter
      if (p.kind == Kind::spring_stiffness) tension = length - spring.rest_length;
      if (p.kind == Kind::spring_rest) tension = -spring.stiffness;
      if (p.kind == Kind::spring_damping) tension = dot(direction, b.velocity - a.velocity);
      const Vec3d pull = tension * direction;  // on a; what the actuators need is its opposite
      if (a.node >= 0) spread_wrench(a.node, Wrenchd{-cross(a.place, pull), -pull});
      if (b.node >= 0) spread_wrench(b.node, Wrenchd{cross(b.place, pull), pull});
      return;
    }
    default:
      return;
  }
}

SpatialInertiad ParameterSet::inertial_change(const Parameter& p) const {
  const int kind = p.kind == Kind::mass ? 0 : p.kind == Kind::com ? 1 : 2;
  return inertia_change(m_.description().bodies[static_cast<std::size_t>(p.index)], kind, p.entry);
}

void ParameterSet::tree_column(const Parameter& p, const State& state,
                               const SensitivityWorkspace& w, Eigen::Ref<VectorXd> column) const {
  contribute(
      p, state, w, [&](int k, double effort) { column[k] += effort; },
      [&](int node, const Wrenchd& wrench) { spread(m_, w.columns(), node, wrench, column); });
}

double ParameterSet::tree_product(const Parameter& p, const State& state,
                                  const SensitivityWorkspace& w, const VectorXd& x,
                                  const std::vector<Twistd>& lambda) const {
  double sum = 0.0;
  contribute(
      p, state, w, [&](int k, double effort) { sum += x[k] * effort; },
      [&](int node, const Wrenchd& wrench) {
        sum += dot(wrench, lambda[static_cast<std::size_t>(node)]);
      });
  return sum;
}

MatrixXd regressor(const Mechanism& m, const State& state, const VectorXd& acceleration,
                   SensitivityWorkspace& w) {
  inverse_dynamics_derivatives(m, state, acceleration, w);
  const DerivativeTable<double>& c = w.columns();
  MatrixXd result = MatrixXd::Zero(m.freedoms(), kInertial * static_cast<Index>(m.bodies().size()));
  for (std::size_t b = 0; b < m.bodies().size(); ++b) {
    const BodyPlace& body = m.bodies()[b];
    if (body.node < 0) continue;
    for (int i = 0; i < kInertial; ++i)
      spread(m, c, body.node, needed_by(unit_inertia(i), body, c),
             result.col(kInertial * static_cast<Index>(b) + i));
  }
  if (m.loops().empty()) return result;
  return w.tangent.map.transpose() * result;
}

VectorXd inertial_parameters(const Mechanism& m) {
  VectorXd x(kInertial * static_cast<Index>(m.bodies().size()));
  for (std::size_t b = 0; b < m.bodies().size(); ++b) {
    const SpatialInertiad& i = m.bodies()[b].inertia;
    x.segment(kInertial * static_cast<Index>(b), kInertial) << i.mass, i.mass_moment.x,
        i.mass_moment.y, i.mass_moment.z, i.inertia.xx, i.inertia.xy, i.inertia.xz, i.inertia.yy,
        i.inertia.yz, i.inertia.zz;
  }
  return x;
}

}  // namespace catena
