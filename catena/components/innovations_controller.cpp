// SPDX-License-Identifier: BSD-3-Clause
#include "catena/components/innovations_controller.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "catena/base/text.h"
#include "catena/dynamics/inverse.h"
#include "catena/dynamics/operators/operators.h"
#include "catena/dynamics/workspace.h"
#include "catena/model/configuration.h"
#include "catena/simulation/component.h"

namespace catena {
namespace {

using Eigen::VectorXd;

VectorXd for_each_freedom(const VectorXd& values, const Mechanism& m, const char* what) {
  if (values.size() != 1 && values.size() != m.freedoms())
    throw Error(std::string("innovations controller: ") + std::to_string(values.size()) +
                " values of " + what + " for " + std::to_string(m.freedoms()) +
                " freedoms; give one, or one for each");
  for (const double value : values)
    if (!(value > 0.0) || !std::isfinite(value))
      throw Error(std::string("innovations controller: ") + what + " is " + number(value) +
                  "; it must be positive");
  return values.size() == 1 ? VectorXd::Constant(m.freedoms(), values[0]) : values;
}

class InnovationsLaw {
 public:
  InnovationsLaw(const Mechanism& m, const InnovationsSettings& s)
      : mechanism_(&m),
        workspace_(m),
        target_(s.target.q),
        frequency_(for_each_freedom(s.frequency, m, "frequency")),
        damping_(for_each_freedom(s.damping, m, "damping")) {
    if (!m.loops().empty())
      throw Error("innovations controller: '" + m.name() +
                  "' has closed loops; it serves trees, one drive for each freedom");
    if (target_.size() == 0) target_ = m.default_state().q;
    if (target_.size() != m.default_state().q.size())
      throw Error("innovations controller: the target has " + std::to_string(target_.size()) +
                  " coordinates, '" + m.name() + "' has " +
                  std::to_string(m.default_state().q.size()));
  }

  const VectorXd& effort(const State& state) {
    const VectorXd bias = bias_effort(*mechanism_, state, workspace_);
    const VectorXd deviation = difference(*mechanism_, target_, state.q);
    articulate(*mechanism_, state.q, workspace_);
    VectorXd nu(deviation.size()), s(deviation.size());
    apply_factor_transposed(workspace_, state.v, nu);
    apply_factor_transposed(workspace_, deviation, s);
    const VectorXd wanted = -(2.0 * damping_.cwiseProduct(frequency_).cwiseProduct(nu) +
                              frequency_.cwiseAbs2().cwiseProduct(s));
    VectorXd innovation(wanted.size());
    apply_hinge_inertia(workspace_, wanted, innovation);
    effort_.resize(wanted.size());
    apply_factor(workspace_, innovation, effort_);
    effort_ += bias;
    return effort_;
  }

 private:
  const Mechanism* mechanism_;
  Workspace workspace_;
  VectorXd target_, frequency_, damping_, effort_;
};

class InnovationsController final : public Component {
 public:
  InnovationsController(const Mechanism& m, const InnovationsSettings& s,
                        std::vector<OutputPort> outputs)
      : Component(s.name, {}, std::move(outputs)), law_(m, s) {}

  void output(const Context& c, std::span<double> y) const override {
    const VectorXd& effort = law_.effort(c.at.state);
    std::copy(effort.begin(), effort.end(), y.begin());
  }

 private:
  mutable InnovationsLaw law_;  // scratch
};

}  // namespace

ComponentMaker innovations_controller(InnovationsSettings settings) {
  return [settings = std::move(settings)](const Mechanism& m) {
    std::vector<OutputPort> outputs;
    for (const std::string& name : m.velocity_names()) outputs.push_back({name, "effort." + name});
    return std::make_unique<InnovationsController>(m, settings, std::move(outputs));
  };
}

VectorXd innovations_effort(const Mechanism& mechanism, const State& state,
                            const InnovationsSettings& settings) {
  return InnovationsLaw(mechanism, settings).effort(state);
}

}  // namespace catena
