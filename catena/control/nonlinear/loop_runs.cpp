// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/nonlinear/loop_runs.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/simulation/recording/recorder.h"
#include "catena/simulation/simulate.h"

namespace catena {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kTight = 1e-12;  // relative tolerance: differences of 1e-4 keep eight digits

// An input of the plant as the freedom that it acts on.
std::string freedom_of(const StateSpace& plant, int input) {
  const std::string& name = plant.input_name(input);
  return name.starts_with("effort.") ? name.substr(7) : name;
}

SimulationSettings settings_of(const NonlinearLoop& loop, double duration, double tolerance) {
  SimulationSettings settings;
  settings.duration = duration;
  settings.integrator.relative_tolerance = tolerance;
  settings.integrator.absolute_tolerance = 1e-2 * tolerance;
  const OperatingPoint& point = loop.model.point;
  settings.actions.external = point.external;
  settings.actions.stops = false;
  settings.actions.friction = FrictionLaw::smooth;
  // Efforts that no input of the controller holds act all the time.
  const auto names = loop.mechanism->velocity_names();
  for (Eigen::Index f = 0; f < point.effort.size(); ++f) {
    bool held = false;
    for (int j = 0; j < loop.plant.input_count(); ++j)
      held = held || freedom_of(loop.plant, j) == at(names, f);
    if (!held && point.effort[f] != 0.0)
      settings.actions.inputs.push_back({at(names, f), number(point.effort[f])});
  }
  settings.outputs = {"signal.*"};
  return settings;
}

// The identity from some signals of the plant to the columns `signal.NAME.LETTER0`, ...
ComponentMaker probe(const NonlinearLoop& loop, const std::vector<std::string>& signals,
                     const std::string& name, const std::string& letter, double dt) {
  LinearControllerSettings seen;
  const auto count = std::ssize(signals);
  seen.system = ss(MatrixXd::Identity(count, count), dt);
  seen.system.inputs = signals;
  for (std::size_t i = 0; i < signals.size(); ++i)
    seen.system.outputs[i] = "signal." + letter + std::to_string(i);
  seen.name = name;
  seen.point = loop.model.point.state;
  return linear_controller(seen);
}

LinearControllerSettings running(const NonlinearLoop& loop, const std::string& name) {
  LinearControllerSettings k;
  k.system = loop.controller;
  k.name = name;
  k.point = loop.model.point.state;
  return k;
}

// The controller with its own states among the outputs.
LinearControllerSettings with_states(const NonlinearLoop& loop) {
  LinearControllerSettings settings = running(loop, "loop");
  StateSpace& k = settings.system;
  const Eigen::Index n = k.order(), m = k.output_count();
  k.C.conservativeResize(m + n, Eigen::NoChange);
  k.C.bottomRows(n).setIdentity();
  k.D.conservativeResize(m + n, Eigen::NoChange);
  k.D.bottomRows(n).setZero();
  k.output_units.clear();
  for (Eigen::Index i = 0; i < n; ++i) k.outputs.push_back("signal.x" + std::to_string(i));
  k.point->y0.conservativeResizeLike(VectorXd::Zero(m + n));
  return settings;
}

// What the delayed controller computes, seen at once: its states, and its last outputs, which are
// held while the next are computed.
LinearControllerSettings shadow(const NonlinearLoop& loop, const VectorXd& initial) {
  LinearControllerSettings settings = running(loop, "loop");
  const StateSpace& k = loop.controller;
  const Eigen::Index n = k.order(), m = k.output_count(), all = n + m;
  MatrixXd a = MatrixXd::Zero(all, all), b(all, k.input_count());
  a.topLeftCorner(n, n) = k.A;
  a.bottomLeftCorner(m, n) = k.C;
  b << k.B, k.D;
  settings.system =
      ss(a, b, MatrixXd::Identity(all, all), MatrixXd::Zero(all, k.input_count()), k.dt);
  settings.system.inputs = k.inputs;
  for (Eigen::Index i = 0; i < all; ++i)
    settings.system.outputs[to_size(i)] = "signal.x" + std::to_string(i);
  settings.system.point = k.point;
  settings.system.point->y0.resize(0);
  settings.initial = initial;
  return settings;
}

// The controller as it runs, and the plant's outputs as the controller sees them: signal.seen.y0.
std::vector<ComponentMaker> loop_components(const NonlinearLoop& loop) {
  LinearControllerSettings k = running(loop, "controller");
  k.delay = loop.delay;
  k.lower = loop.lower;
  k.upper = loop.upper;
  return {linear_controller(k), probe(loop, loop.plant.outputs, "seen", "y", 0.0)};
}

}  // namespace

VectorXd loop_after(const NonlinearLoop& loop, const VectorXd& deviation,
                    const VectorXd& disturbance, double T) {
  const StateSpace &plant = loop.plant, &controller = loop.controller;
  const Eigen::Index n = plant.order(), half = std::ssize(loop.model.freedoms);
  const Eigen::Index rest = deviation.size() - n, outputs = plant.output_count();
  const Eigen::Index own = controller.order(), held = rest - own;
  const bool sampled = controller.is_discrete();
  const State start = displaced(*loop.mechanism, loop.model.point.state, loop.model.freedoms,
                                deviation.head(half), deviation.segment(half, half));
  // Beyond the sample at T, so that it has been taken.
  SimulationSettings settings = settings_of(loop, sampled ? 1.5 * T : T, kTight);
  settings.output_interval = settings.duration;
  if (held > 0) {
    LinearControllerSettings k = running(loop, "controller");
    k.initial = deviation.segment(n, own);
    k.held = deviation.tail(held);
    k.delay = loop.delay;
    settings.actions.components = {linear_controller(k),
                                   linear_controller(shadow(loop, deviation.tail(rest)))};
  } else {
    LinearControllerSettings k = with_states(loop);
    k.initial = deviation.tail(rest);
    settings.actions.components = {linear_controller(k)};
  }
  settings.actions.components.push_back(probe(loop, plant.states, "probe", "s", controller.dt));
  settings.actions.components.push_back(probe(loop, plant.outputs, "out", "y", controller.dt));
  for (int j = 0; j < plant.input_count(); ++j)
    if (disturbance[j] != 0.0)
      settings.actions.inputs.push_back({freedom_of(plant, j), number(disturbance[j])});
  MemoryRecorder record;
  simulate(*loop.mechanism, start, settings, record);
  VectorXd result(n + rest + 2 * outputs);
  const Eigen::Index last = record.rows() - 1;
  const auto take = [&](Eigen::Index row, const std::string& name, Eigen::Index to,
                        Eigen::Index count) {
    for (Eigen::Index i = 0; i < count; ++i)
      result[to + i] = record.value(row, "signal." + name + std::to_string(i));
  };
  take(last, "probe.s", 0, n);
  take(last, "loop.x", n, rest);
  take(last, "out.y", n + rest, outputs);
  take(0, "out.y", n + rest + outputs, outputs);
  return result;
}

MatrixXd loop_step(const NonlinearLoop& loop, int input, double size, const VectorXd& t) {
  constexpr double kTolerance = 1e-9;
  SimulationSettings settings = settings_of(loop, t[t.size() - 1], kTolerance);
  settings.integrator.absolute_tolerance = 1e-3 * kTolerance;
  settings.output_interval = t[1] - t[0];
  settings.actions.inputs.push_back({freedom_of(loop.plant, input), number(size)});
  settings.actions.components = loop_components(loop);
  MemoryRecorder record;
  simulate(*loop.mechanism, loop.model.point.state, settings, record);
  MatrixXd y(loop.plant.output_count(), record.rows());
  for (int i = 0; i < loop.plant.output_count(); ++i)
    y.row(i) = record.column("signal.seen.y" + std::to_string(i)).transpose();
  return y;
}

LargeRun run_from(const NonlinearLoop& loop, const State& start, double duration) {
  constexpr int kRows = 500;
  SimulationSettings settings = settings_of(loop, duration, 1e-7);
  settings.output_interval = duration / kRows;
  settings.actions.components = loop_components(loop);
  MemoryRecorder record;
  simulate(*loop.mechanism, start, settings, record);
  const Eigen::Index rows = record.rows();
  LargeRun run{.duration = duration};
  for (int i = 0; i < loop.plant.output_count(); ++i) {
    const VectorXd y = record.column("signal.seen.y" + std::to_string(i)).cwiseAbs();
    run.start = std::max(run.start, y[0]);
    run.end = std::max(run.end, y[rows - 1]);
    run.largest = std::max(run.largest, y.maxCoeff());
  }
  const int inputs = loop.plant.input_count();
  run.effort = VectorXd::Zero(inputs);
  VectorXd at_limit = VectorXd::Zero(rows);
  for (int j = 0; j < inputs; ++j) {
    const VectorXd u = record.column("signal.controller." + loop.controller.output_name(j));
    run.effort[j] = u.cwiseAbs().maxCoeff();
    for (Eigen::Index r = 0; r < rows; ++r)
      if ((loop.upper.size() > 0 && u[r] >= loop.upper[j]) ||
          (loop.lower.size() > 0 && u[r] <= loop.lower[j]))
        at_limit[r] = 1.0;
  }
  run.limited = at_limit.sum() / static_cast<double>(rows);
  return run;
}

}  // namespace catena
