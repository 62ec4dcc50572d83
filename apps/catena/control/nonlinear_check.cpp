// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/control/nonlinear_check.h"

#include <algorithm>
#include <cmath>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/components/linear_controller.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/discretize.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/linear/timeresp.h"
#include "catena/simulation/settings_file.h"
#include "catena/simulation/simulate.h"

namespace catena::app {
namespace {

constexpr double kTight = 1e-12;  // relative tolerance: differences of 1e-4 keep eight digits

// Its inputs as signals of the run, of the mechanism's states: `signal.probe.NAME`.
ComponentMaker probe(const StateSpace& plant, const State& point, double dt) {
  StateSpace gain = ss(Eigen::MatrixXd::Identity(plant.order(), plant.order()), dt);
  gain.inputs = plant.states;
  for (std::size_t i = 0; i < gain.outputs.size(); ++i)
    gain.outputs[i] = "signal.s" + std::to_string(i);
  LinearControllerSettings settings;
  settings.system = gain;
  settings.name = "probe";
  settings.point = point;
  return linear_controller(settings);
}

// The controller with its own states among the outputs.
LinearControllerSettings with_states(const StateSpace& plant, const StateSpace& controller,
                                     const State& point) {
  LinearControllerSettings settings;
  settings.name = "loop";
  settings.point = point;
  StateSpace& k = settings.system;
  k = controller;
  const Eigen::Index n = controller.order(), m = controller.output_count();
  k.C.resize(m + n, n);
  k.C << controller.C, Eigen::MatrixXd::Identity(n, n);
  k.D.resize(m + n, controller.input_count());
  k.D << controller.D, Eigen::MatrixXd::Zero(n, controller.input_count());
  k.output_units.clear();
  k.output_delay.resize(0);
  for (Eigen::Index i = 0; i < n; ++i) k.outputs.push_back("signal.x" + std::to_string(i));
  if (k.point) {
    Eigen::VectorXd y0 = Eigen::VectorXd::Zero(m + n);
    y0.head(m) = plant.point->u0;
    k.point->y0 = y0;
  }
  return settings;
}

SimulationSettings tight(double duration, const NonlinearLoop& loop) {
  const PlantMechanism& origin = *loop.plant->origin;
  SimulationSettings settings;
  settings.duration = duration;
  settings.integrator.relative_tolerance = kTight;
  settings.integrator.absolute_tolerance = 1e-2 * kTight;
  settings.actions.external = origin.at.external;
  settings.actions.stops = false;
  settings.actions.friction = FrictionLaw::smooth;
  // Efforts that no input of the controller holds act all the time.
  Eigen::VectorXd rest = origin.at.effort;
  const auto names = origin.mechanism->velocity_names();
  for (Eigen::Index f = 0; f < rest.size(); ++f)
    for (const std::string& input : loop.plant->system.inputs)
      if (input == names[index(f)] || input == "effort." + names[index(f)]) rest[f] = 0.0;
  StateInput only = origin.at;
  only.effort = rest;
  only.external.clear();
  add_actions(only, *origin.mechanism, settings.actions);
  return settings;
}

void require_delay_free(const StateSpace& k) {
  if (k.has_delay())
    throw Error("the controller has delays; `catena control discretize` makes states of them");
}

// An input of the plant as the freedom that it acts on.
std::string freedom_of(const StateSpace& plant, int input) {
  const std::string& name = plant.input_name(input);
  return name.starts_with("effort.") ? name.substr(7) : name;
}

// The outputs as signals of the run: `signal.NAME.yI`.
ComponentMaker output_probe(const StateSpace& plant, const State& point, const std::string& name,
                            double dt) {
  const Eigen::Index outputs = plant.output_count();
  LinearControllerSettings seen;
  seen.system = ss(Eigen::MatrixXd::Identity(outputs, outputs), dt);
  seen.system.inputs = plant.outputs;
  for (std::size_t i = 0; i < seen.system.outputs.size(); ++i)
    seen.system.outputs[i] = "signal.y" + std::to_string(i);
  seen.name = name;
  seen.point = point;
  return linear_controller(seen);
}

// States of mechanism and controller and outputs after the time T, from a deviation of the states
// and with constant disturbances at the inputs.
Eigen::VectorXd after(const NonlinearLoop& loop, const Eigen::VectorXd& deviation,
                      const Eigen::VectorXd& disturbance, double T) {
  const Plant& plant = *loop.plant;
  const PlantMechanism& origin = *plant.origin;
  const Mechanism& m = *origin.mechanism;
  const Eigen::Index n = plant.system.order(), half = std::ssize(origin.model.freedoms);
  const Eigen::Index nk = loop.controller.order(), outputs = plant.system.output_count();
  const bool sampled = loop.controller.is_discrete();
  const State start = displaced(m, origin.at.state, origin.model.freedoms, deviation.head(half),
                                deviation.segment(half, half));
  SimulationSettings settings = tight(sampled ? 1.5 * T : T, loop);
  settings.output_interval = settings.duration;
  LinearControllerSettings k = with_states(plant.system, loop.controller, origin.at.state);
  k.initial = deviation.tail(nk);
  settings.actions.components = {
      linear_controller(k), probe(plant.system, origin.at.state, loop.controller.dt),
      output_probe(plant.system, origin.at.state, "out", loop.controller.dt)};
  for (int j = 0; j < plant.system.input_count(); ++j)
    if (disturbance[j] != 0.0)
      settings.actions.inputs.push_back({freedom_of(plant.system, j), number(disturbance[j])});
  settings.outputs = {"signal.*"};
  MemoryRecorder record;
  simulate(m, start, settings, record);
  Eigen::VectorXd end(n + nk + outputs);
  const Eigen::Index last = record.rows() - 1;
  for (Eigen::Index i = 0; i < n; ++i)
    end[i] = record.value(last, "signal.probe.s" + std::to_string(i));
  for (Eigen::Index i = 0; i < nk; ++i)
    end[n + i] = record.value(last, "signal.loop.x" + std::to_string(i));
  for (Eigen::Index i = 0; i < outputs; ++i)
    end[n + nk + i] = record.value(last, "signal.out.y" + std::to_string(i));
  return end;
}

double fastest(const StateSpace& plant, const StateSpace& controller) {
  double rate = 1.0;
  for (const std::complex<double>& p : predicted_poles(plant, controller))
    rate = std::max(rate, std::abs(p));
  return rate;
}

// Short enough that log() has one answer and fast modes are still there at the end.
double measuring_time(const NonlinearLoop& loop) {
  return loop.controller.is_discrete() ? loop.controller.dt
                                       : 1.0 / fastest(loop.plant->system, loop.controller);
}

// [Φ; C Φ], column by column.
Eigen::MatrixXd measured_transition(const NonlinearLoop& loop, double T) {
  const Eigen::Index n = loop.plant->system.order() + loop.controller.order();
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(loop.plant->system.input_count());
  Eigen::MatrixXd phi(n + loop.plant->system.output_count(), n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::VectorXd step = loop.deviation * Eigen::VectorXd::Unit(n, i);
    phi.col(i) =
        (after(loop, step, none, T) - after(loop, -step, none, T)) / (2.0 * loop.deviation);
  }
  return phi;
}

}  // namespace

Eigen::VectorXcd predicted_poles(const StateSpace& plant, const StateSpace& controller) {
  if (controller.is_continuous()) return poles(closed_by_positive(plant, controller));
  const StateSpace g = c2d(plant, controller.dt);
  Eigen::VectorXcd z = poles(closed_by_positive(g, controller));
  for (std::complex<double>& x : z)
    x = std::log(std::abs(x) > 0.0 ? x : std::complex<double>(1e-300)) / controller.dt;
  return z;
}

StateSpace closed_by_positive(const StateSpace& plant, const StateSpace& controller) {
  return feedback(plant, controller, +1);
}

Eigen::VectorXcd measured_poles(const NonlinearLoop& loop) {
  require_delay_free(loop.controller);
  const double T = measuring_time(loop);
  const Eigen::MatrixXd both = measured_transition(loop, T);
  Eigen::VectorXcd values = eigenvalues(Eigen::MatrixXd(both.topRows(both.cols())));
  for (std::complex<double>& x : values)
    x = std::log(std::abs(x) > 0.0 ? x : std::complex<double>(1e-300)) / T;
  std::sort(values.begin(), values.end(),
            [](const auto& a, const auto& b) { return std::abs(a) < std::abs(b); });
  return values;
}

StateSpace measured_loop(const NonlinearLoop& loop) {
  require_delay_free(loop.controller);
  const StateSpace& plant = loop.plant->system;
  const double T = measuring_time(loop);
  const Eigen::MatrixXd both = measured_transition(loop, T);
  const Eigen::Index n = both.cols(), p = plant.output_count(), m = plant.input_count();
  const StateSpace sampled = c2d(plant, T);
  const Eigen::VectorXd rest = Eigen::VectorXd::Zero(n);
  Eigen::MatrixXd gamma(n + p, m);
  for (Eigen::Index j = 0; j < m; ++j) {
    // A disturbance that moves the states about as far as the deviations do.
    const double moved = sampled.B.col(j).cwiseAbs().maxCoeff();
    const double size = loop.deviation / std::max(moved, 1e-300);
    const Eigen::VectorXd step = size * Eigen::VectorXd::Unit(m, j);
    gamma.col(j) = (after(loop, rest, step, T) - after(loop, rest, -step, T)) / (2.0 * size);
  }
  const Eigen::MatrixXd phi = both.topRows(n);
  const Eigen::MatrixXd c =
      lapack::solve(Eigen::MatrixXd(phi.transpose()),
                    Eigen::MatrixXd(both.bottomRows(p).transpose()), "the transition matrix")
          .transpose();
  const StateSpace measured =
      ss(phi, gamma.topRows(n), c, gamma.bottomRows(p) - c * gamma.topRows(n), T);
  return loop.controller.is_discrete() ? measured : d2c(measured);
}

double measured_abscissa(const NonlinearLoop& loop) {
  return measured_poles(loop).real().maxCoeff();
}

Eigen::VectorXd comparison_times(const Plant& plant, const StateSpace& controller) {
  const StateSpace g = controller.is_discrete() ? c2d(plant.system, controller.dt) : plant.system;
  const Eigen::VectorXd all = time_grid(closed_by_positive(g, controller));
  constexpr Eigen::Index kMost = 400;
  if (controller.is_discrete() || all.size() <= kMost) return all;
  return Eigen::VectorXd::LinSpaced(kMost, 0.0, all[all.size() - 1]);
}

namespace {

// The closed loop from disturbances at the plant's inputs. Those come without delay; what the
// controller computes comes `delay` later, exactly (zero-order hold with a fraction of a sample).
StateSpace disturbed_loop(const NonlinearLoop& loop) {
  const StateSpace &plant = loop.plant->system, &k = loop.controller;
  if (!k.is_discrete()) return closed_by_positive(plant, k);
  if (loop.delay == 0.0) return closed_by_positive(c2d(plant, k.dt), k);
  const Eigen::Index m = plant.input_count(), n = plant.order(), p = plant.output_count();
  Eigen::MatrixXd b(n, 2 * m), d(p, 2 * m), kc(2 * m, k.order()), kd(2 * m, p);
  b << plant.B, plant.B;
  d << plant.D, plant.D;
  kc << Eigen::MatrixXd::Zero(m, k.order()), k.C;
  kd << Eigen::MatrixXd::Zero(m, p), k.D;
  StateSpace both = ss(plant.A, b, plant.C, d);
  both.input_delay = Eigen::VectorXd::Zero(2 * m);
  both.input_delay.tail(m).setConstant(loop.delay);
  return closed_by_positive(absorb_delays(c2d(both, k.dt)), ss(k.A, k.B, kc, kd, k.dt));
}

Eigen::MatrixXd linear_step(const NonlinearLoop& loop, int input, double size,
                            const Eigen::VectorXd& t) {
  const TimeResponse r = step(disturbed_loop(loop), t);
  return size * r.y[to_size(input)];
}

// The controller as it runs, and the plant's outputs as the controller sees them: signal.seen.y0.
std::vector<ComponentMaker> loop_components(const NonlinearLoop& loop) {
  const Plant& plant = *loop.plant;
  LinearControllerSettings k;
  k.system = loop.controller;
  k.point = plant.origin->at.state;
  k.delay = loop.delay;
  k.lower = loop.lower;
  k.upper = loop.upper;
  if (k.system.point) k.system.point->y0 = plant.system.point->u0;
  return {linear_controller(k), output_probe(plant.system, plant.origin->at.state, "seen", 0.0)};
}

}  // namespace

double step_size(const NonlinearLoop& loop, int input, double motion, const Eigen::VectorXd& t) {
  const double largest = linear_step(loop, input, 1.0, t).cwiseAbs().maxCoeff();
  return largest > 0.0 && std::isfinite(largest) ? motion / largest : motion;
}

LargeRun run_from(const NonlinearLoop& loop, const State& start, double duration) {
  const Plant& plant = *loop.plant;
  constexpr int kRows = 500;
  SimulationSettings settings = tight(duration, loop);
  settings.integrator.relative_tolerance = 1e-7;
  settings.integrator.absolute_tolerance = 1e-9;
  settings.output_interval = duration / kRows;
  settings.actions.components = loop_components(loop);
  settings.outputs = {"signal.*"};
  MemoryRecorder record;
  simulate(*plant.origin->mechanism, start, settings, record);
  const Eigen::Index rows = record.rows();
  LargeRun run{.duration = duration};
  for (int i = 0; i < plant.system.output_count(); ++i) {
    const Eigen::VectorXd y = record.column("signal.seen.y" + std::to_string(i)).cwiseAbs();
    run.start = std::max(run.start, y[0]);
    run.end = std::max(run.end, y[rows - 1]);
    run.largest = std::max(run.largest, y.maxCoeff());
  }
  const int inputs = plant.system.input_count();
  run.effort = Eigen::VectorXd::Zero(inputs);
  Eigen::VectorXd at_limit = Eigen::VectorXd::Zero(rows);
  for (int j = 0; j < inputs; ++j) {
    const Eigen::VectorXd u = record.column("signal.controller." + loop.controller.output_name(j));
    run.effort[j] = u.cwiseAbs().maxCoeff();
    for (Eigen::Index r = 0; r < rows; ++r)
      if ((loop.upper.size() > 0 && u[r] >= loop.upper[j]) ||
          (loop.lower.size() > 0 && u[r] <= loop.lower[j]))
        at_limit[r] = 1.0;
  }
  run.limited = at_limit.sum() / static_cast<double>(rows);
  return run;
}

ResponseComparison compare_step(const NonlinearLoop& loop, int input, double size,
                                const Eigen::VectorXd& t) {
  const Plant& plant = *loop.plant;
  const PlantMechanism& origin = *plant.origin;
  ResponseComparison result;
  result.t = t;
  result.linear = linear_step(loop, input, size, t);
  SimulationSettings settings = tight(t[t.size() - 1], loop);
  settings.integrator.relative_tolerance = 1e-9;
  settings.integrator.absolute_tolerance = 1e-12;
  settings.output_interval = t[1] - t[0];
  settings.actions.inputs.push_back({freedom_of(plant.system, input), number(size)});
  settings.actions.components = loop_components(loop);
  settings.outputs = {"signal.*"};
  MemoryRecorder record;
  simulate(*origin.mechanism, origin.at.state, settings, record);
  const Eigen::Index rows = std::min<Eigen::Index>(record.rows(), t.size());
  result.nonlinear = Eigen::MatrixXd::Constant(plant.system.output_count(), t.size(), std::nan(""));
  for (int i = 0; i < plant.system.output_count(); ++i)
    result.nonlinear.row(i).head(rows) =
        record.column("signal.seen.y" + std::to_string(i)).head(rows).transpose();
  const double largest = result.linear.cwiseAbs().maxCoeff();
  result.difference =
      (result.linear.leftCols(rows) - result.nonlinear.leftCols(rows)).cwiseAbs().maxCoeff() /
      std::max(largest, 1e-300);
  return result;
}

}  // namespace catena::app
