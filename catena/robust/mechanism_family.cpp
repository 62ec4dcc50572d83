// SPDX-License-Identifier: BSD-3-Clause
// Mechanisms with other values of their parameters, each in its own equilibrium.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "catena/base/dense.h"
#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/assembly.h"
#include "catena/robust/uncertain_plant.h"
#include "catena/sensitivity/equilibrium.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kHeld = 1e-9;  // accelerations beside those that the inputs take away

std::string plain_input(const std::string& name) {
  return name.starts_with("effort.") ? name.substr(7) : name;
}

std::vector<std::string> full_names(const Mechanism& m, const std::vector<std::string>& names) {
  std::vector<std::string> list;
  for (const std::string& name : names) list.push_back(ParameterSet::full_name(m, name));
  return list;
}

int freedom_named(const Mechanism& m, const std::string& name) {
  const auto names = m.velocity_names();
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

// Efforts at the inputs that take the accelerations away, if they can.
bool hold(const Mechanism& m, const LinearModel& model, const std::vector<std::string>& inputs,
          VectorXd& effort) {
  const Index n = std::ssize(model.freedoms);
  VectorXd a(n);
  for (Index i = 0; i < n; ++i) a[i] = model.acceleration[at(model.freedoms, i)];
  const Eigen::MatrixXd b = model.B.bottomRows(n);
  const VectorXd u = CompleteOrthogonal(b).solve(-a);
  if (!((b * u + a).norm() <= kHeld * (1.0 + a.norm()))) return false;
  for (Index j = 0; j < u.size(); ++j) {
    const int freedom = freedom_named(m, at(inputs, j));
    if (freedom < 0) {
      if (std::abs(u[j]) > kHeld) return false;
      continue;
    }
    effort[freedom] += u[j];
  }
  return true;
}

}  // namespace

MechanismFamily::MechanismFamily(const Mechanism& mechanism, const LinearModel& model,
                                 const std::vector<std::string>& names)
    : mechanism_(mechanism), model_(model), parameters_(mechanism, full_names(mechanism, names)) {
  held_.assign(to_size(mechanism.freedoms()), 0);
  for (const std::string& input : model.inputs) {
    ports_.inputs.push_back(plain_input(input));
    if (const int f = freedom_named(mechanism, ports_.inputs.back()); f >= 0) held_[index(f)] = 1;
  }
  ports_.outputs = model.outputs;
  if (!mechanism.loops().empty()) {
    ports_.independent.assign(to_size(mechanism.freedoms()), 0);
    for (const int f : model.freedoms) ports_.independent[index(f)] = 1;
  }
  if (model_.point.effort.size() == 0) model_.point.effort = VectorXd::Zero(mechanism.freedoms());
}

MechanismFamily::Member MechanismFamily::at(const VectorXd& values) const {
  Member member;
  member.mechanism = std::make_unique<Mechanism>(parameters_.with(values));
  const Mechanism& m = *member.mechanism;
  OperatingPoint point = model_.point;
  if (!m.loops().empty()) {
    AssemblySettings keep;
    keep.keep_limits = false;
    keep.fixed = ports_.independent;
    point.state = assemble(m, point.state, keep);
  }
  member.model = linearize(m, point, ports_);
  if (member.model.residual <= kHeld) return member;
  VectorXd effort = point.effort;
  if (hold(m, member.model, ports_.inputs, effort)) {
    point.effort = effort;
    member.model = linearize(m, point, ports_);
    return member;
  }
  const Equilibrium rest = find_equilibrium(m, point, {.held = held_, .tolerance = 1e-13});
  if (!rest.found)
    throw NumericalError("the mechanism has no equilibrium with these parameters: " + rest.reason);
  point.state = rest.state;
  point.effort = rest.effort;
  member.model = linearize(m, point, ports_);
  member.moved = true;
  return member;
}

}  // namespace catena
