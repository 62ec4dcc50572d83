// SPDX-License-Identifier: BSD-3-Clause
#include "catena/sensitivity/parameters/geometry_probe.h"

#include <algorithm>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/chart.h"
#include "catena/dynamics/inverse.h"
#include "catena/model/builder.h"
#include "catena/sensitivity/products.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Vec3d unit_vector(int i) {
  Vec3d e = Vec3d::zero();
  e[i] = 1.0;
  return e;
}

Vec3d axis_of(const Hinge& hinge) {
  return hinge.axes.empty() ? Vec3d::unit_z() : normalized(hinge.axes[0]);
}

std::string free_name(const Description& d) {
  std::string name = "probe" + std::to_string(d.hinges.size());
  const auto taken = [&] {
    return std::any_of(d.bodies.begin(), d.bodies.end(),
                       [&](const Body& b) { return b.name == name; }) ||
           std::any_of(d.hinges.begin(), d.hinges.end(),
                       [&](const Hinge& h) { return h.name == name; });
  };
  while (taken()) name += "_";
  return name;
}

// A probe between the hinge and its body on that side, whose frame is turned as `frame` says.
int add_probe(Description& d, int hinge, bool on_parent, HingeType type, const Vec3d& axis,
              const Transformd& frame) {
  Hinge probe;
  probe.name = free_name(d);
  probe.type = type;
  probe.axes = {axis};
  probe.frame_on_parent = probe.frame_on_child = frame;
  probe.cut = Cut::never;
  Body body;
  body.name = probe.name;
  Hinge& at = d.hinges[index(hinge)];
  if (on_parent) {
    if (at.drive && at.drive->carrier.empty() && at.drive->rotor_axis)
      at.drive->carrier = at.parent;
    probe.parent = at.parent;
    probe.child = at.parent = body.name;
  } else {
    probe.child = at.child;
    probe.parent = at.child = body.name;
  }
  d.bodies.push_back(std::move(body));
  d.hinges.push_back(std::move(probe));
  return static_cast<int>(d.hinges.size()) - 1;
}

// One more term of a coupling: the slide of a massless body beside the hinge of one of its terms.
int add_term(Description& d, int coupling, int term) {
  Coupling& at = d.couplings[index(coupling)];
  const std::string& beside = at.terms[index(term)].hinge;
  const auto hinge = std::find_if(d.hinges.begin(), d.hinges.end(),
                                  [&](const Hinge& h) { return h.name == beside; });
  Hinge probe;
  probe.name = free_name(d);
  probe.type = HingeType::prismatic;
  probe.parent = hinge->parent;
  probe.cut = Cut::never;
  Body body;
  body.name = probe.child = probe.name;
  at.terms.push_back({probe.name, 0, 1.0});
  d.bodies.push_back(std::move(body));
  d.hinges.push_back(std::move(probe));
  return static_cast<int>(d.hinges.size()) - 1;
}

bool of_coupling(const GeometrySeed& seed) {
  return seed.kind == GeometryKind::coefficient || seed.kind == GeometryKind::constant;
}

}  // namespace

bool can_be_probed(const Mechanism& mechanism, const GeometrySeed& seed) {
  if (of_coupling(seed)) return true;
  const Hinge& hinge = mechanism.description().hinges[index(seed.hinge)];
  const bool turns = seed.kind == GeometryKind::rotation || seed.kind == GeometryKind::axis;
  return !turns || !hinge.drive || hinge.drive->armature_only || hinge.drive->rotor_axis ||
         hinge.drive->carrier.empty() || hinge.drive->carrier == hinge.parent;
}

GeometryProbe::GeometryProbe(const Mechanism& mechanism, std::vector<GeometrySeed> seeds)
    : m_(mechanism), seeds_(std::move(seeds)) {
  Description d = m_.description();
  for (std::size_t i = 0; i < d.hinges.size(); ++i) {
    Hinge& hinge = d.hinges[i];
    // The same spanning tree, independent of the elements at the hinges.
    hinge.cut = m_.hinges()[i].role == HingePlace::Role::cut ? Cut::always : Cut::never;
    // A rotor that rides on the parent turns with the hinge's frame there.
    if (hinge.drive && !hinge.drive->rotor_axis && hinge.drive->carrier == hinge.parent)
      hinge.drive->carrier.clear();
  }
  for (std::size_t i = 0; i < seeds_.size(); ++i) {
    const GeometrySeed& seed = seeds_[i];
    const Hinge hinge = of_coupling(seed) ? Hinge{} : m_.description().hinges[index(seed.hinge)];
    const auto add = [&](bool on_parent, HingeType type, const Vec3d& axis,
                         const Transformd& frame) {
      terms_.push_back({add_probe(d, seed.hinge, on_parent, type, axis, frame), static_cast<int>(i),
                        norm(axis)});
    };
    const Vec3d e = of_coupling(seed) ? Vec3d::zero() : unit_vector(seed.entry);
    switch (seed.kind) {
      case GeometryKind::position:
        add(true, HingeType::prismatic, e, {});
        break;
      case GeometryKind::rotation:
        add(true, HingeType::revolute, e, hinge.frame_on_parent);
        break;
      case GeometryKind::child_position:
        add(false, HingeType::prismatic, -e, {});
        break;
      case GeometryKind::axis: {
        const Vec3d turn = cross(axis_of(hinge), e);
        if (norm(turn) < 1e-12) break;  // of unit length: nothing changes along it
        add(true, HingeType::revolute, turn, hinge.frame_on_parent);
        add(false, HingeType::revolute, -turn, hinge.frame_on_child);
        break;
      }
      case GeometryKind::pitch:
        add(false, HingeType::prismatic, axis_of(hinge), hinge.frame_on_child);
        break;
      case GeometryKind::coefficient:
      case GeometryKind::constant:
        terms_.push_back({add_term(d, seed.hinge, seed.entry), static_cast<int>(i),
                          seed.kind == GeometryKind::constant ? -seed.factor : seed.factor});
        break;
    }
  }
  probed_ = std::make_unique<const Mechanism>(
      MechanismBuilder(std::move(d)).finish({.strict = false, .idle_hinges = true}));
  freedom_of_.assign(to_size(m_.freedoms()), -1);
  for (std::size_t i = 0; i < m_.hinges().size(); ++i)
    for (int k = 0; m_.hinges()[i].node >= 0 && k < m_.hinges()[i].freedoms; ++k)
      freedom_of_[index(m_.hinges()[i].v_index + k)] = probed_->hinges()[i].v_index + k;
}

State GeometryProbe::placed(const State& state) const {
  State at = probed_->default_state();
  for (std::size_t i = 0; i < m_.hinges().size(); ++i) {
    const HingePlace& hinge = m_.hinges()[i];
    if (hinge.node >= 0)
      at.q.segment(probed_->hinges()[i].q_index, hinge.coordinates) =
          state.q.segment(hinge.q_index, hinge.coordinates);
  }
  for (std::size_t i = m_.hinges().size(); i < probed_->hinges().size(); ++i)
    at.q[probed_->hinges()[i].q_index] = 0.0;
  at.v = spread(state.v);
  return at;
}

VectorXd GeometryProbe::spread(const VectorXd& x) const {
  VectorXd all = VectorXd::Zero(probed_->freedoms());
  for (std::size_t i = 0; i < freedom_of_.size(); ++i)
    all[freedom_of_[i]] = x[static_cast<Index>(i)];
  return all;
}

int GeometryProbe::freedom(const Term& term) const {
  return probed_->hinges()[index(term.hinge)].v_index;
}

int GeometryProbe::screw(const Term& term) const {
  const GeometrySeed& seed = seeds_[index(term.seed)];
  if (seed.kind == GeometryKind::coefficient) {
    const Coupling::Term& of =
        m_.description().couplings[index(seed.hinge)].terms[index(seed.entry)];
    return probed_->hinges()[index(m_.hinge_index(of.hinge))].v_index + of.freedom;
  }
  return seed.kind == GeometryKind::pitch ? probed_->hinges()[index(seed.hinge)].v_index : -1;
}

void GeometryProbe::pin(const State& at, const std::vector<int>& own, Workspace& w) const {
  ChartSettings settings;
  const Chart previous = w.has_chart() ? w.chart() : Chart{};
  if (w.has_chart()) settings.previous = &previous;
  settings.pinned.assign(to_size(probed_->freedoms()), 0);
  for (const int i : own) settings.pinned[index(freedom_of_[index(i)])] = 1;
  for (const Term& term : terms_) settings.pinned[index(freedom(term))] = 1;
  try {
    w.set_chart(choose_chart(*probed_, at.q, settings), true);
  } catch (const NumericalError&) {
    // The independent freedoms are those without the probes.
    std::vector<std::string> names;
    names.reserve(seeds_.size());
    for (const GeometrySeed& seed : seeds_) names.push_back("'" + seed.name + "'");
    throw NumericalError("parameter " + listed(names) +
                         " has no derivative: to change it would open a loop of '" + m_.name() +
                         "'");
  }
}

namespace {

// Places of freedoms among the independent ones.
std::vector<int> places_of(const std::vector<int>& freedoms, const std::vector<int>& independent) {
  std::vector<int> result;
  result.reserve(freedoms.size());
  for (const int i : freedoms)
    result.push_back(static_cast<int>(std::find(independent.begin(), independent.end(), i) -
                                      independent.begin()));
  return result;
}

}  // namespace

MatrixXd GeometryProbe::effort(const State& state, const VectorXd& acceleration,
                               const std::vector<int>& own,
                               std::span<const ExternalWrench> external) const {
  const State at = placed(state);
  SensitivityWorkspace w(*probed_);
  pin(at, own, w.dynamics());
  const VectorXd a = spread(acceleration);
  const VectorXd needed = inverse_dynamics(*probed_, at, a, w.dynamics(), external);
  const InverseDerivatives& d = inverse_dynamics_derivatives(*probed_, at, a, w, external);
  std::vector<int> rows;
  rows.reserve(own.size());
  for (const int i : own) rows.push_back(freedom_of_[index(i)]);
  rows = places_of(rows, w.dynamics().independent());
  MatrixXd result =
      MatrixXd::Zero(static_cast<Index>(rows.size()), static_cast<Index>(seeds_.size()));
  for (const Term& term : terms_) {
    const int column = places_of({freedom(term)}, w.dynamics().independent())[0];
    const int h = screw(term);
    if (h < 0) {
      result.col(term.seed) += term.factor * d.dq(rows, column);
      continue;
    }
    const double q = at.q[probed_->coordinate_of_freedom()[index(h)]];
    const bool closed = !probed_->loops().empty();
    const double rate = closed ? w.acceleration[h] : a[h];
    result.col(term.seed) += term.factor * (q * d.dq(rows, column) + at.v[h] * d.dv(rows, column) +
                                            rate * d.da(rows, column));
    for (std::size_t k = 0; k < rows.size(); ++k)
      result(static_cast<Index>(k), term.seed) +=
          term.factor * needed[freedom(term)] *
          (closed ? w.tangent.map(h, rows[k])
                  : (w.dynamics().independent()[index(rows[k])] == h ? 1.0 : 0.0));
  }
  return result;
}

GeometryProbe::Hybrid GeometryProbe::hybrid(const State& state, const HybridInput& input,
                                            const std::vector<int>& own,
                                            std::span<const ExternalWrench> external) const {
  const State at = placed(state);
  SensitivityWorkspace w(*probed_);
  pin(at, own, w.dynamics());
  HybridInput given{std::vector<std::uint8_t>(to_size(probed_->freedoms()), 0),
                    spread(input.effort), spread(input.acceleration)};
  for (std::size_t i = 0; i < freedom_of_.size(); ++i)
    given.motion_driven[index(freedom_of_[i])] = input.motion_driven[i];
  for (const Term& term : terms_) given.motion_driven[index(freedom(term))] = 1;
  const HybridDerivatives& d = hybrid_dynamics_derivatives(*probed_, at, given, w, external);
  std::vector<int> rows;
  rows.reserve(own.size());
  for (const int i : own) rows.push_back(freedom_of_[index(i)]);
  rows = places_of(rows, w.dynamics().independent());
  const auto fill = [&](const MatrixXd& dq, const MatrixXd& dv, const MatrixXd& dinput,
                        bool efforts, MatrixXd& to) {
    to.setZero(static_cast<Index>(rows.size()), static_cast<Index>(seeds_.size()));
    for (const Term& term : terms_) {
      const int column = places_of({freedom(term)}, w.dynamics().independent())[0];
      const int h = screw(term);
      if (h < 0) {
        to.col(term.seed) += term.factor * dq(rows, column);
        continue;
      }
      const double q = at.q[probed_->coordinate_of_freedom()[index(h)]];
      const double force = term.factor * d.result.effort[freedom(term)];
      to.col(term.seed) += term.factor * (q * dq(rows, column) + at.v[h] * dv(rows, column) +
                                          d.result.acceleration[h] * dinput(rows, freedom(term)));
      // At the screw the force of the slide is needed in addition to that of its drive.
      if (given.motion_driven[index(h)] == 0) to.col(term.seed) -= force * dinput(rows, h);
      if (efforts)
        for (std::size_t k = 0; k < rows.size(); ++k)
          if (w.dynamics().independent()[index(rows[k])] == h)
            to(static_cast<Index>(k), term.seed) += force;
    }
  };
  Hybrid out;
  fill(d.acceleration_dq, d.acceleration_dv, d.acceleration_dinput, false, out.acceleration);
  fill(d.effort_dq, d.effort_dv, d.effort_dinput, true, out.effort);
  if (probed_->loops().empty()) return out;
  const Index n = m_.freedoms();
  out.position.setZero(n, static_cast<Index>(seeds_.size()));
  out.velocity = out.position;
  for (const Term& term : terms_) {
    const int column = places_of({freedom(term)}, w.dynamics().independent())[0];
    const int h = screw(term);
    const double q = h < 0 ? 1.0 : at.q[probed_->coordinate_of_freedom()[index(h)]];
    const double v = h < 0 ? 0.0 : at.v[h];
    out.position.col(term.seed) += term.factor * q * w.tangent.map(freedom_of_, column);
    out.velocity.col(term.seed) += term.factor * (q * w.tangent.velocity_dq(freedom_of_, column) +
                                                  v * w.tangent.map(freedom_of_, column));
  }
  return out;
}

VectorXd GeometryProbe::loop_adjoint(const State& state, const VectorXd& acceleration,
                                     const VectorXd& effort, const LoopGradient& by,
                                     const VectorXd& multiplier, const std::vector<int>& own,
                                     std::unique_ptr<DynamicsProducts>& scratch) const {
  const State at = placed(state);
  if (scratch == nullptr) scratch = std::make_unique<DynamicsProducts>(*probed_);
  const Workspace& d = scratch->workspace().dynamics();
  pin(at, own, scratch->workspace().dynamics());
  const VectorXd applied = spread(effort), x = spread(multiplier);
  scratch->evaluate_inverse(at, spread(acceleration), {}, &applied);
  VectorXd q = spread(by.q), v = spread(by.v), a = spread(by.acceleration);
  scratch->pull_back(q, v, a);
  const VectorXd needed = scratch->needed();
  const VectorXd all = scratch->acceleration();
  const DynamicsGradient& of_effort = scratch->inverse_adjoint(VectorXd(x(d.independent())));
  q += of_effort.q;
  v += of_effort.v;
  a += of_effort.effort;
  VectorXd result = VectorXd::Zero(static_cast<Index>(seeds_.size()));
  for (const Term& term : terms_) {
    const int place = places_of({freedom(term)}, d.independent())[0];
    const int h = screw(term);
    if (h < 0) {
      result[term.seed] += term.factor * q[place];
      continue;
    }
    const double position = at.q[probed_->coordinate_of_freedom()[index(h)]];
    result[term.seed] += term.factor * (position * q[place] + at.v[h] * v[place] +
                                        all[h] * a[place] + needed[freedom(term)] * x[h]);
  }
  return result;
}

VectorXd GeometryProbe::adjoint(const State& state, const VectorXd& acceleration,
                                const VectorXd& multiplier) const {
  const State at = placed(state);
  const VectorXd a = spread(acceleration);
  DynamicsProducts products(*probed_);
  products.evaluate_inverse(at, a);
  const DynamicsGradient& by = products.inverse_adjoint(spread(multiplier));
  VectorXd needed;  // of screws' probes only
  VectorXd result = VectorXd::Zero(static_cast<Index>(seeds_.size()));
  for (const Term& term : terms_) {
    const int x = freedom(term), h = screw(term);
    if (h < 0) {
      result[term.seed] += term.factor * by.q[x];
      continue;
    }
    if (needed.size() == 0) needed = inverse_dynamics(*probed_, at, a);
    const double q = at.q[probed_->coordinate_of_freedom()[index(h)]];
    const std::size_t own =
        to_size(std::find(freedom_of_.begin(), freedom_of_.end(), h) - freedom_of_.begin());
    result[term.seed] += q * by.q[x] + at.v[h] * by.v[x] + a[h] * by.effort[x] +
                         needed[x] * multiplier[static_cast<Index>(own)];
  }
  return result;
}

}  // namespace catena
