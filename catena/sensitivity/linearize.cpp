// SPDX-License-Identifier: BSD-3-Clause
#include "catena/sensitivity/linearize.h"

#include <algorithm>
#include <cmath>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/assembly.h"
#include "catena/dynamics/kinematics.h"
#include "catena/model/configuration.h"
#include "catena/sensitivity/flexible_derivatives.h"
#include "catena/sensitivity/kernels/columns.h"
#include "catena/sensitivity/kernels/kinematic_block.h"
#include "catena/sensitivity/parameters.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr const char* kAxes[3] = {"x", "y", "z"};

// "force.BODY.x" -> kind, name, axis. Names may have dots in them: the last part is the axis.
struct Dotted {
  std::string kind, name;
  int axis = -1;
};
Dotted split(const std::string& word) {
  Dotted d;
  const std::size_t first = word.find('.'), last = word.rfind('.');
  if (first == std::string::npos) return {"", word, -1};
  d.kind = word.substr(0, first);
  for (int i = 0; i < 3; ++i)
    if (last > first && word.substr(last + 1) == kAxes[i]) d.axis = i;
  d.name = d.axis >= 0 ? word.substr(first + 1, last - first - 1) : word.substr(first + 1);
  return d;
}

int freedom_or_none(const Mechanism& m, const std::string& name) {
  const auto names = m.velocity_names();
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? -1 : static_cast<int>(at - names.begin());
}

[[noreturn]] void throw_unknown(const Mechanism& m, const char* what, const std::string& name,
                                std::vector<std::string> candidates) {
  for (const std::string& freedom : m.velocity_names()) candidates.push_back(freedom);
  throw NameError("no " + std::string(what) + " is named '" + name + "'" +
                  did_you_mean(name, candidates));
}

std::vector<std::string> body_names(const Mechanism& m, const std::string& kind) {
  std::vector<std::string> names;
  for (const BodyPlace& body : m.bodies())
    for (const char* axis : kAxes) names.push_back(kind + "." + body.name + "." + axis);
  return names;
}

// A frame, or a body's own frame: its node and its place on it.
struct Spot {
  int node = -1;
  Vec3d point;
};
bool find_spot(const Mechanism& m, const std::string& name, Spot& spot) {
  for (const FramePlace& frame : m.frames())
    if (frame.name == name) {
      spot = {frame.node, frame.X_node_frame.translation};
      return true;
    }
  if (!m.has_body(name) || name == kWorld) return false;
  const BodyPlace& body = m.bodies()[index(m.body_index(name))];
  spot = {body.node, body.X_node_body.translation};
  return true;
}

// Derivatives at the point from which inputs and outputs are made, by the states of the model.
struct Pieces {
  MatrixXd map;                                  // X: freedoms by states
  MatrixXd velocity_dq, velocity_dv;             // of all freedoms
  MatrixXd acceleration_dq, acceleration_dv;     // of all freedoms
  MatrixXd state_dq, state_dv;                   // of the independent accelerations
  MatrixXd effort_dq, effort_dv, effort_dinput;  // hybrid only, independent rows
  MatrixXd state_dinput;                         // by the input of each freedom
  VectorXd acceleration;
};

Pieces differentiate(const Mechanism& m, const OperatingPoint& p, const LinearizeSettings& settings,
                     SensitivityWorkspace& w) {
  Pieces out;
  const Index n = m.freedoms();
  const bool hybrid = std::any_of(settings.motion_driven.begin(), settings.motion_driven.end(),
                                  [](std::uint8_t x) { return x != 0; });
  if (hybrid) {
    const HybridDerivatives& h = hybrid_dynamics_derivatives(
        m, p.state, {settings.motion_driven, p.effort, p.acceleration}, w, p.external);
    out.acceleration = h.result.acceleration;
    out.state_dq = h.acceleration_dq;
    out.state_dv = h.acceleration_dv;
    out.state_dinput = h.acceleration_dinput;
    out.effort_dq = h.effort_dq;
    out.effort_dv = h.effort_dv;
    out.effort_dinput = h.effort_dinput;
  } else {
    const ForwardDerivatives& f = forward_dynamics_derivatives(m, p.state, p.effort, w, p.external);
    out.acceleration = f.acceleration;
    out.state_dq = f.dq;
    out.state_dv = f.dv;
    out.state_dinput = f.deffort;
  }
  if (m.loops().empty()) {
    out.map = MatrixXd::Identity(n, n);
    out.velocity_dq = MatrixXd::Zero(n, n);
    out.acceleration_dq = out.state_dq;
    out.acceleration_dv = out.state_dv;
  } else {
    const TangentMaps& t = w.tangent;
    out.map = t.map;
    out.velocity_dq = t.velocity_dq;
    out.acceleration_dq = t.map * out.state_dq + t.bias_dq;
    out.acceleration_dv = t.map * out.state_dv + t.bias_dv;
  }
  out.velocity_dv = out.map;
  return out;
}

// Position and velocity of a spot, ground axes, by the states.
struct SpotRows {
  MatrixXd position_dq, velocity_dq, velocity_dv;  // 3 by states
};
SpotRows rows_of(const Mechanism& m, const Spot& spot, const Pieces& pieces, const State& state,
                 SensitivityWorkspace& w) {
  const Index n = m.freedoms();
  if (m.has_flexible_bodies()) {
    SpotRows rows;
    VectorXd q = state.q;
    normalize_quaternions(m, q);
    MatrixXd shift, swing;
    w.flexible_duals().spot(q, state.v, spot.node, spot.point, shift, swing);
    rows.position_dq = shift * pieces.map;
    rows.velocity_dq = swing * pieces.map + shift * pieces.velocity_dq;
    rows.velocity_dv = shift * pieces.velocity_dv;
    return rows;
  }
  const DerivativeTable<double>& c = w.columns();
  MatrixXd shift = MatrixXd::Zero(3, n), swing = MatrixXd::Zero(3, n);
  if (spot.node >= 0) {
    const ColumnNode<double>& body = c.nodes[spot.node];
    const Vec3d place = body.pose * spot.point;
    for (int i = spot.node; i >= 0; i = m.nodes()[index(i)].parent) {
      const Node& node = m.nodes()[index(i)];
      for (int l = node.v_index; l < node.v_index + node.freedoms; ++l) {
        const Twistd s = get_twist(c.twist, c.stride, l);
        const Vec3d moved = s.linear + cross(s.angular, place);
        const Twistd change = ad(s, body.twist) + get_twist(c.rate, c.stride, l);
        const Vec3d turned =
            change.linear + cross(change.angular, place) + cross(body.twist.angular, moved);
        for (int x = 0; x < 3; ++x) {
          shift(x, l) = moved[x];
          swing(x, l) = turned[x];
        }
      }
    }
  }
  return {shift * pieces.map, swing * pieces.map + shift * pieces.velocity_dq,
          shift * pieces.velocity_dv};
}

}  // namespace

State displaced(const Mechanism& m, const State& state, const std::vector<int>& freedoms,
                const VectorXd& dq, const VectorXd& dv) {
  VectorXd step = VectorXd::Zero(m.freedoms());
  State moved = state;
  for (std::size_t k = 0; k < freedoms.size(); ++k) {
    step[freedoms[k]] = dq[static_cast<Index>(k)];
    moved.v[freedoms[k]] += dv[static_cast<Index>(k)];
  }
  moved.q = integrate(m, state.q, step);
  AssemblySettings settings;
  settings.keep_limits = false;
  settings.fixed.assign(to_size(m.freedoms()), 0);
  for (const int i : freedoms) settings.fixed[index(i)] = 1;
  return assemble(m, moved, settings);
}

namespace {

void check_mask(const Mechanism& m, const std::vector<std::uint8_t>& mask, const char* what) {
  if (!mask.empty() && mask.size() != to_size(m.freedoms()))
    throw NumericalError(std::string(what) + " has " + std::to_string(mask.size()) +
                         " entries, but this mechanism has " + std::to_string(m.freedoms()) +
                         " freedoms");
}

// The chart of the workspace, if the freedoms of `wanted` are independent in it, or one in which
// they are.
void keep_independent(const Mechanism& m, const VectorXd& q, std::vector<std::uint8_t> wanted,
                      const std::vector<std::uint8_t>& driven, Workspace& w) {
  if (wanted.empty()) return;
  for (std::size_t i = 0; i < driven.size(); ++i) wanted[i] |= driven[i];
  bool serves = w.has_chart();
  for (int i = 0; i < m.freedoms() && serves; ++i)
    serves = wanted[index(i)] == 0 || w.chart().is_independent(i);
  if (serves) return;
  w.set_chart(choose_chart(m, q, {.pinned = std::move(wanted)}), true);
}

}  // namespace

MatrixXd parameter_matrix(const Mechanism& m, const LinearModel& model,
                          const ParameterSet& parameters, const LinearizeSettings& settings) {
  SensitivityWorkspace w(m);
  std::vector<std::uint8_t> own(to_size(m.freedoms()), 0);
  std::vector<std::uint8_t> driven = settings.motion_driven;
  driven.resize(own.size(), 0);
  for (const int i : model.freedoms) own[index(i)] = 1;
  keep_independent(m, model.point.state.q, own, {}, w.dynamics());
  const HybridParameterDerivatives d = parameters.hybrid_derivatives(
      model.point.state, {driven, model.point.effort, model.point.acceleration}, w,
      model.point.external);
  const Index size = d.acceleration.rows();
  MatrixXd e = MatrixXd::Zero(2 * size, parameters.size());
  e.bottomRows(size) = d.acceleration;
  return e;
}

namespace {

// Puts a linear model together from the derivatives at its point, which stay in the workspace.
class Linearization {
 public:
  Linearization(const Mechanism& m, const OperatingPoint& point, const LinearizeSettings& settings,
                SensitivityWorkspace& w)
      : m_(m), settings_(settings), w_(w) {
    model_.point = point;
    if (point.acceleration.size() == 0) model_.point.acceleration = VectorXd::Zero(m.freedoms());
    p_ = differentiate(m, model_.point, settings, w);
    n_ = p_.map.cols();
  }

  LinearModel model() {
    add_states();
    add_inputs();
    add_matrices();
    add_outputs();
    return std::move(model_);
  }

 private:
  bool driven(int freedom) const {
    return !settings_.motion_driven.empty() && settings_.motion_driven[index(freedom)] != 0;
  }

  void add_states() {
    const auto largest = [](const VectorXd& x) {
      return x.size() > 0 ? x.lpNorm<Eigen::Infinity>() : 0.0;
    };
    model_.acceleration = p_.acceleration;
    model_.residual = largest(p_.acceleration);
    model_.speed = largest(model_.point.state.v);
    model_.freedoms = w_.dynamics().independent();
    place_.assign(to_size(m_.freedoms()), -1);
    for (std::size_t k = 0; k < model_.freedoms.size(); ++k)
      place_[index(model_.freedoms[k])] = static_cast<int>(k);
    for (const char* kind : {"q.", "v."})
      for (const int i : model_.freedoms)
        model_.states.push_back(kind + m_.velocity_names()[index(i)]);
  }

  // Columns of the accelerations (and found efforts) by each input.
  void add_inputs() {
    std::vector<std::string> inputs = settings_.inputs;
    if (inputs.empty()) inputs.assign(m_.velocity_names().begin(), m_.velocity_names().end());
    const Index count = static_cast<Index>(inputs.size());
    by_input_ = generalized_ = effort_by_input_ = MatrixXd::Zero(n_, count);
    for (Index j = 0; j < count; ++j) {
      const std::string& name = inputs[index(j)];
      if (const int freedom = freedom_or_none(m_, name); freedom >= 0)
        add_input_at(freedom, name, j);
      else
        add_load(name, j);
    }
  }

  void add_input_at(int freedom, const std::string& name, Index j) {
    by_input_.col(j) = p_.state_dinput.col(freedom);
    if (p_.effort_dinput.size() > 0) effort_by_input_.col(j) = p_.effort_dinput.col(freedom);
    generalized_.col(j) = driven(freedom) ? VectorXd(-w_.inverse.da.col(place_[index(freedom)]))
                                          : VectorXd(p_.map.row(freedom).transpose());
    model_.inputs.push_back((driven(freedom) ? "a." : "effort.") + name);
  }

  // force.BODY.x or moment.BODY.x.
  void add_load(const std::string& name, Index j) {
    const Dotted d = split(name);
    const bool force = d.kind == "force";
    if ((!force && d.kind != "moment") || d.axis < 0 || !m_.has_body(d.name) || d.name == kWorld) {
      std::vector<std::string> candidates = body_names(m_, "force");
      for (const std::string& x : body_names(m_, "moment")) candidates.push_back(x);
      throw_unknown(m_, "input", name, candidates);
    }
    const VectorXd effort =
        effort_of_load(m_.bodies()[index(m_.body_index(d.name))], force, d.axis);
    for (int l = 0; l < m_.freedoms(); ++l) {
      if (effort[l] == 0.0) continue;
      if (driven(l)) {  // it loads the drive, not the motion
        effort_by_input_(place_[index(l)], j) -= effort[l];
        continue;
      }
      by_input_.col(j) += effort[l] * p_.state_dinput.col(l);
      if (p_.effort_dinput.size() > 0)
        for (Index k = 0; k < n_; ++k)
          if (driven(model_.freedoms[index(k)]))
            effort_by_input_(k, j) += effort[l] * p_.effort_dinput(k, l);
    }
    generalized_.col(j) = p_.map.transpose() * effort;
    model_.inputs.push_back(name);
  }

  // The generalized effort of a unit load is the (angular or linear) Jacobian's row.
  VectorXd effort_of_load(const BodyPlace& body, bool force, int axis) const {
    if (m_.has_flexible_bodies())
      return body_jacobian(m_, model_.point.state.q, m_.body_index(body.name), Vec3d::zero(),
                           Axes::ground)
          .row((force ? 3 : 0) + axis)
          .transpose();
    VectorXd effort = VectorXd::Zero(m_.freedoms());
    const DerivativeTable<double>& c = w_.columns();
    for (int i = body.node; i >= 0; i = m_.nodes()[index(i)].parent) {
      const Node& node = m_.nodes()[index(i)];
      const Vec3d at = c.nodes[body.node].pose * body.X_node_body.translation;
      for (int l = node.v_index; l < node.v_index + node.freedoms; ++l) {
        const Twistd s = get_twist(c.twist, c.stride, l);
        effort[l] = force ? (s.linear + cross(s.angular, at))[axis] : s.angular[axis];
      }
    }
    return effort;
  }

  void add_matrices() {
    model_.A = MatrixXd::Zero(2 * n_, 2 * n_);
    const MatrixXd drift = kinematic_block(m_, model_.point.state.v) * p_.map;
    for (Index k = 0; k < n_; ++k) model_.A.row(k).head(n_) = drift.row(model_.freedoms[index(k)]);
    model_.A.topRightCorner(n_, n_).setIdentity();
    model_.A.bottomLeftCorner(n_, n_) = p_.state_dq;
    model_.A.bottomRightCorner(n_, n_) = p_.state_dv;
    model_.B = MatrixXd::Zero(2 * n_, by_input_.cols());
    model_.B.bottomRows(n_) = by_input_;
    // The derivatives of inverse dynamics at the point are in the workspace.
    const bool hybrid = std::any_of(settings_.motion_driven.begin(), settings_.motion_driven.end(),
                                    [](std::uint8_t x) { return x != 0; });
    if (m_.loops().empty() && !hybrid && !m_.has_flexible_bodies()) {
      copy_matrix(w_, w_.mass(), w_.inverse.da);
      copy_matrix(w_, w_.by_q(), w_.inverse.dq);
      copy_matrix(w_, w_.by_v(), w_.inverse.dv);
    }
    model_.M = w_.inverse.da;
    model_.P2 = -w_.inverse.dq;
    model_.P1 = -w_.inverse.dv;
    model_.P3 = generalized_;
  }

  void add_outputs() {
    model_.outputs = settings_.outputs;
    if (model_.outputs.empty()) {
      model_.outputs = model_.states;
      model_.C = MatrixXd::Identity(2 * n_, 2 * n_);
      model_.D = MatrixXd::Zero(2 * n_, by_input_.cols());
      return;
    }
    const Index rows = static_cast<Index>(model_.outputs.size());
    model_.C = MatrixXd::Zero(rows, 2 * n_);
    model_.D = MatrixXd::Zero(rows, by_input_.cols());
    for (Index r = 0; r < rows; ++r) add_output(model_.outputs[index(r)], r);
  }

  void add_output(std::string& name, Index r) {
    int freedom = freedom_or_none(m_, name);
    Dotted d = split(name);
    if (freedom >= 0) {
      d.kind = "q";
      name = "q." + name;
    } else if (d.kind == "q" || d.kind == "v" || d.kind == "a" || d.kind == "effort") {
      freedom = freedom_or_none(m_, name.substr(d.kind.size() + 1));
    }
    auto by_q = model_.C.row(r).head(n_);
    auto by_v = model_.C.row(r).tail(n_);
    Spot spot;
    if (freedom >= 0 && d.kind == "q") {
      by_q = p_.map.row(freedom);
    } else if (freedom >= 0 && d.kind == "v") {
      by_q = p_.velocity_dq.row(freedom);
      by_v = p_.velocity_dv.row(freedom);
    } else if (freedom >= 0 && d.kind == "a") {
      by_q = p_.acceleration_dq.row(freedom);
      by_v = p_.acceleration_dv.row(freedom);
      model_.D.row(r) = p_.map.row(freedom) * by_input_;
    } else if (freedom >= 0 && d.kind == "effort" && driven(freedom)) {
      const Index k = place_[index(freedom)];
      by_q = p_.effort_dq.row(k);
      by_v = p_.effort_dv.row(k);
      model_.D.row(r) = effort_by_input_.row(k);
    } else if (d.axis >= 0 && (d.kind == "position" || d.kind == "velocity") &&
               find_spot(m_, d.name, spot)) {
      const SpotRows rows = rows_of(m_, spot, p_, model_.point.state, w_);
      by_q = (d.kind == "position" ? rows.position_dq : rows.velocity_dq).row(d.axis);
      if (d.kind == "velocity") by_v = rows.velocity_dv.row(d.axis);
    } else {
      throw_unknown_output(name, freedom);
    }
  }

  [[noreturn]] void throw_unknown_output(const std::string& name, int freedom) const {
    if (freedom >= 0)
      throw NameError("output '" + name +
                      "': the effort is an output only at a motion-driven freedom");
    std::vector<std::string> candidates;
    for (const std::string& f : m_.velocity_names())
      for (const char* kind : {"q.", "v.", "a."}) candidates.push_back(kind + f);
    for (const char* kind : {"position", "velocity"}) {
      for (const std::string& x : body_names(m_, kind)) candidates.push_back(x);
      for (const FramePlace& frame : m_.frames())
        for (const char* axis : kAxes)
          candidates.push_back(std::string(kind) + "." + frame.name + "." + axis);
    }
    throw_unknown(m_, "output", name, candidates);
  }

  const Mechanism& m_;
  const LinearizeSettings& settings_;
  SensitivityWorkspace& w_;
  LinearModel model_;
  Pieces p_;
  Index n_ = 0;                                        // independent freedoms
  std::vector<int> place_;                             // of a freedom among them, −1: none
  MatrixXd by_input_, generalized_, effort_by_input_;  // generalized_: P3
};

}  // namespace

LinearModel linearize(const Mechanism& m, const OperatingPoint& point,
                      const LinearizeSettings& settings, SensitivityWorkspace& w) {
  check_mask(m, settings.motion_driven, "motion_driven");
  check_mask(m, settings.independent, "independent");
  keep_independent(m, point.state.q, settings.independent, settings.motion_driven, w.dynamics());
  return Linearization(m, point, settings, w).model();
}

LinearModel linearize(const Mechanism& m, const OperatingPoint& point,
                      const LinearizeSettings& settings) {
  SensitivityWorkspace w(m);
  return linearize(m, point, settings, w);
}

Perturbation linearize_by_perturbation(const Mechanism& m, const LinearModel& model,
                                       const LinearizeSettings& settings, double step) {
  const Index n = static_cast<Index>(model.freedoms.size());
  const bool hybrid = std::any_of(settings.motion_driven.begin(), settings.motion_driven.end(),
                                  [](std::uint8_t x) { return x != 0; });
  const OperatingPoint& p = model.point;
  Workspace w(m);
  // Accelerations of the states at a displaced state with changed inputs.
  const auto rates = [&](const State& state, const OperatingPoint& at) {
    VectorXd a;
    if (hybrid) {
      HybridResult r;
      hybrid_dynamics(m, state, {settings.motion_driven, at.effort, at.acceleration}, w, r,
                      at.external);
      a = r.acceleration;
    } else {
      a = forward_dynamics(m, state, at.effort, w, at.external);
    }
    return VectorXd(a(model.freedoms));
  };
  Perturbation out;
  out.A = MatrixXd::Zero(2 * n, 2 * n);
  out.A.topRows(n) = model.A.topRows(n);  // kinematics, not dynamics
  const VectorXd none = VectorXd::Zero(n);
  for (Index k = 0; k < 2 * n; ++k) {
    VectorXd change = VectorXd::Zero(n);
    change[k % n] = step;
    const VectorXd& dq = k < n ? change : none;
    const VectorXd& dv = k < n ? none : change;
    const State up = displaced(m, p.state, model.freedoms, dq, dv);
    const State down = displaced(m, p.state, model.freedoms, -dq, -dv);
    out.A.col(k).tail(n) = (rates(up, p) - rates(down, p)) / (2.0 * step);
  }
  const Index inputs = model.B.cols();
  out.B = MatrixXd::Zero(2 * n, inputs);
  for (Index j = 0; j < inputs; ++j) {
    OperatingPoint up = p, down = p;
    const std::string& word = model.inputs[index(j)];
    const Dotted d = split(word);
    // Linear in the input: a step of one is exact.
    if (d.kind == "effort" || d.kind == "a") {
      const int freedom = m.velocity_index(word.substr(d.kind.size() + 1));
      (d.kind == "a" ? up.acceleration : up.effort)[freedom] += 1.0;
      (d.kind == "a" ? down.acceleration : down.effort)[freedom] -= 1.0;
    } else {
      ExternalWrench e;
      e.body = m.body_index(d.name);
      e.axes = ExternalWrench::Axes::ground;
      (d.kind == "force" ? e.wrench.force : e.wrench.moment)[d.axis] = 1.0;
      up.external.push_back(e);
      e.wrench = -e.wrench;
      down.external.push_back(e);
    }
    out.B.col(j).tail(n) = 0.5 * (rates(p.state, up) - rates(p.state, down));
  }
  const auto relative = [](const MatrixXd& a, const MatrixXd& b) {
    const double size = a.norm();
    return size > 0.0 ? (a - b).norm() / size : (a - b).norm();
  };
  out.difference_A = relative(model.A, out.A);
  out.difference_B = relative(model.B, out.B);
  return out;
}

DecouplingGains decoupling_gains(const LinearModel& model, const VectorXd& frequency,
                                 const VectorXd& damping) {
  const Index n = model.M.rows();
  if (frequency.size() != n || damping.size() != n)
    throw NumericalError("decoupling gains need " + std::to_string(n) +
                         " frequencies and damping ratios, one for each state freedom");
  if (model.P3.rows() != model.P3.cols())
    throw NumericalError("decoupling gains need as many inputs as freedoms: " + std::to_string(n) +
                         ", not " + std::to_string(model.P3.cols()));
  const FullLu input(model.P3);
  if (!input.invertible())
    throw NumericalError(
        "decoupling gains: the inputs do not act on every freedom (P3 is singular)");
  const VectorXd rate = 2.0 * damping.cwiseProduct(frequency);
  DecouplingGains gains;
  gains.velocity = input.solve(model.M * rate.asDiagonal() + model.P1);
  gains.position = input.solve(model.M * frequency.cwiseAbs2().asDiagonal() + model.P2);
  return gains;
}

}  // namespace catena
