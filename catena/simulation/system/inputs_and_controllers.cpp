// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/system/inputs_and_controllers.h"

#include <map>

#include "catena/base/index.h"
#include "catena/simulation/freedom_index.h"

namespace catena {
namespace {

// The port of a component that acts at one freedom. Throws NameError if there is no such freedom.
std::vector<OutputPort> effort_port(const Mechanism& mechanism, const std::string& freedom) {
  static_cast<void>(freedom_index(mechanism, freedom));
  return {{"effort", "effort." + freedom}};
}

// An effort at a freedom that is a function of time and state.
class EffortInput final : public Component {
 public:
  EffortInput(std::string name, const InputSettings& settings, const Mechanism& mechanism)
      : Component(std::move(name), {}, effort_port(mechanism, settings.freedom)),
        signal_(settings.signal, mechanism, "input '" + settings.freedom + "'", false) {}

  void output(const Context& context, std::span<double> y) const override {
    y[0] = signal_.value(context.at.time, context.at.state);
  }
  std::span<Signal> signals() override { return {&signal_, 1}; }

 private:
  Signal signal_;
};

// effort = kp e + kd ė + ki ∫ e dt, with e = target − q.
class PidController final : public Component {
 public:
  PidController(std::string name, const ControllerSettings& settings, const Mechanism& mechanism)
      : Component(std::move(name), {}, effort_port(mechanism, settings.freedom)),
        freedom_(freedom_index(mechanism, settings.freedom)),
        coordinate_(mechanism.coordinate_of_freedom()[index(freedom_)]),
        kp_(settings.kp),
        kd_(settings.kd),
        ki_(settings.ki),
        target_(settings.target, mechanism, "target of controller '" + settings.freedom + "'",
                true) {
    if (coordinate_ < 0)
      throw Error("controller '" + settings.freedom +
                  "': this freedom has no coordinate that could follow a target");
  }

  int states() const override { return ki_ != 0.0 ? 1 : 0; }
  std::string state_name(int) const override { return "integral of " + name(); }

  void output(const Context& context, std::span<double> y) const override {
    const State& state = context.at.state;
    const Jet target = target_.jet(context.at.time);
    y[0] = kp_ * (target.value - state.q[coordinate_]) + kd_ * (target.rate - state.v[freedom_]) +
           (context.x.empty() ? 0.0 : ki_ * context.x[0]);
  }
  void rate(const Context& context, std::span<double> dx) const override {
    dx[0] = target_.jet(context.at.time).value - context.at.state.q[coordinate_];
  }
  std::span<Signal> signals() override { return {&target_, 1}; }

 private:
  int freedom_, coordinate_;
  double kp_, kd_, ki_;
  Signal target_;
};

}  // namespace

std::vector<std::unique_ptr<Component>> make_components(const Mechanism& mechanism,
                                                        const ActionSettings& actions) {
  std::vector<std::unique_ptr<Component>> components;
  std::map<std::string, int> used;
  // Several at one freedom add up: "input elbow", "input elbow (2)".
  const auto unique = [&](const std::string& name) {
    const int n = ++used[name];
    return n == 1 ? name : name + " (" + std::to_string(n) + ")";
  };
  for (const InputSettings& input : actions.inputs)
    components.push_back(
        std::make_unique<EffortInput>(unique("input " + input.freedom), input, mechanism));
  for (const ControllerSettings& pid : actions.controllers)
    components.push_back(
        std::make_unique<PidController>(unique("controller " + pid.freedom), pid, mechanism));
  for (const ControllerFile& controller : actions.controller_files) {
    if (!controller.make)
      throw Error("controller '" + controller.name +
                  "' has not been read; call connect_controllers() "
                  "(catena/components/controller_file.h) before simulate()");
    components.push_back(controller.make(mechanism));
  }
  for (const ComponentMaker& make : actions.components) components.push_back(make(mechanism));
  return components;
}

}  // namespace catena
