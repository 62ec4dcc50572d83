// SPDX-License-Identifier: BSD-3-Clause
#include "catena/control/nonlinear/nonlinear_loop.h"

#include <algorithm>
#include <cmath>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/control/nonlinear/loop_runs.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/discretize.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/linear/timeresp.h"
#include "catena/simulation/recording/recorder.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::string plain(const std::string& name) {
  for (const std::string front : {"effort.", "q."})
    if (name.starts_with(front)) return name.substr(front.size());
  return name;
}

// Places of the names `wanted` among those that there are.
std::vector<int> places(const std::vector<std::string>& wanted,
                        const std::vector<std::string>& have, const std::string& what) {
  if (wanted.size() != have.size())
    throw Error("the controller has " + std::to_string(have.size()) + " " + what + ", the plant " +
                std::to_string(wanted.size()) + "; name the plant's by --inputs and --outputs");
  std::vector<int> result;
  for (const std::string& name : wanted) {
    const auto found = std::find_if(have.begin(), have.end(), [&](const std::string& other) {
      return plain(other) == plain(name);
    });
    if (found == have.end())
      throw NameError("the controller's " + what + " are " + listed(have) + "; '" + name +
                      "' of the plant is not among them" + did_you_mean(name, have));
    result.push_back(static_cast<int>(found - have.begin()));
  }
  return result;
}

VectorXd reordered(const VectorXd& values, const std::vector<int>& order) {
  if (values.size() == 0) return {};
  VectorXd result(std::ssize(order));
  for (Eigen::Index i = 0; i < result.size(); ++i) result[i] = values[at(order, i)];
  return result;
}

// State feedback: the plant with all its states as outputs.
bool reads_states(const StateSpace& plant, const StateSpace& controller) {
  return controller.inputs.size() == plant.states.size() &&
         controller.inputs.size() != plant.outputs.size() &&
         std::all_of(controller.inputs.begin(), controller.inputs.end(),
                     [&](const std::string& name) {
                       return std::find(plant.states.begin(), plant.states.end(), name) !=
                              plant.states.end();
                     });
}

void measure_states(StateSpace& plant) {
  plant.C = MatrixXd::Identity(plant.order(), plant.order());
  plant.D = MatrixXd::Zero(plant.order(), plant.input_count());
  plant.outputs = plant.states;
  plant.output_units.clear();
  if (plant.point) plant.point->y0.resize(0);
}

void make_continuous(Eigen::VectorXcd& values, double T) {
  constexpr double kZero = 1e-300;  // a pole at z = 0 is very fast
  for (Complex& x : values) x = std::log(std::abs(x) > 0.0 ? x : Complex(kZero)) / T;
}

double fastest(const NonlinearLoop& loop) {
  double rate = 1.0;
  for (const Complex& p : predicted_poles(loop)) rate = std::max(rate, std::abs(p));
  return rate;
}

// Short enough that log() has one answer and fast modes are still there at the end.
double measuring_time(const NonlinearLoop& loop) {
  return loop.controller.is_discrete() ? loop.controller.dt : 1.0 / fastest(loop);
}

// Mechanism, controller, and the efforts that are held while a sampled controller computes.
Eigen::Index state_count(const NonlinearLoop& loop) {
  return loop.plant.order() + loop.controller.order() +
         (delay_is_measured(loop) && loop.delay > 0.0 ? loop.plant.input_count() : 0);
}

// [Φ; C Φ; C], column by column.
MatrixXd measured_transition(const NonlinearLoop& loop, double T) {
  const Eigen::Index n = state_count(loop);
  const VectorXd none = VectorXd::Zero(loop.plant.input_count());
  MatrixXd phi(n + 2 * static_cast<Eigen::Index>(loop.plant.output_count()), n);
  const MatrixXd pushed = c2d(loop.plant, T).B;
  for (Eigen::Index i = 0; i < n; ++i) {
    // Efforts of a state of the controller, and held ones, move the mechanism about as far as the
    // other deviations do.
    double size = loop.deviation;
    const Eigen::Index own = i - loop.plant.order(), held = own - loop.controller.order();
    if (held >= 0)
      size /= std::max(loop.delay * loop.plant.B.col(held).cwiseAbs().maxCoeff(), 1e-300);
    else if (own >= 0)
      size /= std::max(1.0, (pushed * loop.controller.C.col(own)).cwiseAbs().maxCoeff());
    const VectorXd step = size * VectorXd::Unit(n, i);
    phi.col(i) =
        (loop_after(loop, step, none, T) - loop_after(loop, -step, none, T)) / (2.0 * size);
  }
  return phi;
}

MatrixXd linear_step(const NonlinearLoop& loop, int input, double size, const VectorXd& t) {
  return size * step(predicted_loop(loop), t).y[to_size(input)];
}

}  // namespace

StateSpace fitted(const StateSpace& plant, const StateSpace& controller) {
  const std::vector<int> outputs = places(plant.inputs, controller.outputs, "outputs"),
                         inputs = places(plant.outputs, controller.inputs, "inputs");
  return select(controller, outputs, inputs);
}

NonlinearLoop nonlinear_loop(const Mechanism& mechanism, const LinearModel& model,
                             const LinearControllerSettings& controller) {
  NonlinearLoop loop{.mechanism = &mechanism, .model = model};
  loop.plant = state_space(model, mechanism);
  StateSpace k = controller.system;
  k.fill_names();
  if (reads_states(loop.plant, k)) measure_states(loop.plant);
  const std::optional<SystemPoint> point = k.point;
  if (k.has_delay() && k.is_continuous())
    throw Error(
        "the controller has delays; `catena control discretize` (c2d) makes states of them, pade() "
        "a rational system");
  k = explicit_form(k.has_delay() ? absorb_delays(k) : k);
  for (const VectorXd* limits : {&controller.lower, &controller.upper})
    if (limits->size() != 0 && limits->size() != k.output_count())
      throw Error("the controller has " + std::to_string(k.output_count()) + " outputs and " +
                  std::to_string(limits->size()) + " limits; give one limit for each output");
  const std::vector<int> order = places(loop.plant.inputs, k.outputs, "outputs");
  loop.controller = fitted(loop.plant, k);
  loop.controller.point = point ? point : SystemPoint{};
  loop.controller.point->x0.resize(0);
  loop.controller.point->u0.resize(0);
  loop.controller.point->y0 = loop.plant.point->u0;
  loop.delay = controller.delay;
  loop.lower = reordered(controller.lower, order);
  loop.upper = reordered(controller.upper, order);
  return loop;
}

bool delay_is_measured(const NonlinearLoop& loop) {
  return loop.delay <= loop.controller.dt * (1.0 + 1e-12);
}

StateSpace seen_plant(const NonlinearLoop& loop) {
  const StateSpace& k = loop.controller;
  if (!k.is_discrete()) return loop.plant;
  StateSpace g = loop.plant;
  if (loop.delay > 0.0) g.input_delay = VectorXd::Constant(g.input_count(), loop.delay);
  g = c2d(g, k.dt);
  return g.has_delay() ? absorb_delays(g) : g;
}

// Disturbances come without delay; what the controller computes comes `delay` later, exactly
// (zero-order hold with a fraction of a sample).
StateSpace predicted_loop(const NonlinearLoop& loop) {
  const StateSpace &plant = loop.plant, &k = loop.controller;
  if (!k.is_discrete()) return feedback(plant, k, +1);
  if (loop.delay == 0.0) return feedback(c2d(plant, k.dt), k, +1);
  const Eigen::Index m = plant.input_count(), n = plant.order(), p = plant.output_count();
  MatrixXd b(n, 2 * m), d(p, 2 * m), kc(2 * m, k.order()), kd(2 * m, p);
  b << plant.B, plant.B;
  d << plant.D, plant.D;
  kc << MatrixXd::Zero(m, k.order()), k.C;
  kd << MatrixXd::Zero(m, p), k.D;
  StateSpace both = ss(plant.A, b, plant.C, d);
  both.input_delay = VectorXd::Zero(2 * m);
  both.input_delay.tail(m).setConstant(loop.delay);
  const StateSpace closed =
      feedback(absorb_delays(c2d(both, k.dt)), ss(k.A, k.B, kc, kd, k.dt), +1);
  // Of the 2m inputs the first are disturbances.
  StateSpace result = closed;
  result.B = closed.B.leftCols(m).eval();
  result.D = closed.D.leftCols(m).eval();
  result.inputs.clear();
  result.input_units.clear();
  result.input_delay.resize(0);
  result.fill_names();
  return result;
}

Eigen::VectorXcd predicted_poles(const NonlinearLoop& loop) {
  const StateSpace closed = predicted_loop(loop);
  Eigen::VectorXcd p = poles(closed);
  if (closed.is_discrete()) make_continuous(p, closed.dt);
  return p;
}

Eigen::VectorXcd measured_poles(const NonlinearLoop& loop, double time) {
  const double T = time > 0.0 && loop.controller.is_continuous() ? time : measuring_time(loop);
  const MatrixXd both = measured_transition(loop, T);
  Eigen::VectorXcd values = lapack::eigenvalues(MatrixXd(both.topRows(both.cols())));
  make_continuous(values, T);
  std::sort(values.begin(), values.end(),
            [](const auto& a, const auto& b) { return std::abs(a) < std::abs(b); });
  return values;
}

StateSpace measured_loop(const NonlinearLoop& loop) {
  const StateSpace& plant = loop.plant;
  const double T = measuring_time(loop);
  const MatrixXd all = measured_transition(loop, T);
  const Eigen::Index n = all.cols(), p = plant.output_count(), m = plant.input_count();
  const StateSpace sampled = c2d(plant, T);
  const VectorXd rest = VectorXd::Zero(n);
  MatrixXd gamma(n + 2 * p, m);
  for (Eigen::Index j = 0; j < m; ++j) {
    // A disturbance that moves the states about as far as the deviations do.
    const double moved = sampled.B.col(j).cwiseAbs().maxCoeff();
    const double size = loop.deviation / std::max(moved, 1e-300);
    const VectorXd step = size * VectorXd::Unit(m, j);
    gamma.col(j) =
        (loop_after(loop, rest, step, T) - loop_after(loop, rest, -step, T)) / (2.0 * size);
  }
  const MatrixXd c = all.bottomRows(p), end = gamma.middleRows(n, p);
  const StateSpace measured =
      ss(all.topRows(n), gamma.topRows(n), c, end - c * gamma.topRows(n), T);
  return loop.controller.is_discrete() ? measured : d2c(measured);
}

double settling_time(const NonlinearLoop& loop) {
  const VectorXd t = time_grid(predicted_loop(loop));
  return t[t.size() - 1];
}

VectorXd comparison_times(const NonlinearLoop& loop) {
  constexpr double kMostTimeConstants = 5e4;  // of the fastest pole
  constexpr Eigen::Index kMost = 400, kMostSamples = 20000;
  const VectorXd all = time_grid(predicted_loop(loop));
  const Eigen::VectorXcd open = poles(loop.plant);
  double rate = open.size() > 0 ? open.cwiseAbs().maxCoeff() : 0.0;
  if (!loop.controller.is_discrete()) rate = std::max(rate, fastest(loop));
  const double end =
      rate > 0.0 ? std::min(all[all.size() - 1], kMostTimeConstants / rate) : all[all.size() - 1];
  if (!loop.controller.is_discrete()) {
    if (all.size() <= kMost && end == all[all.size() - 1]) return all;
    return VectorXd::LinSpaced(kMost, 0.0, end);
  }
  const auto samples = static_cast<Eigen::Index>(end / loop.controller.dt) + 1;
  return all.head(std::clamp<Eigen::Index>(samples, std::min<Eigen::Index>(2, all.size()),
                                           std::min(all.size(), kMostSamples)));
}

double step_size(const NonlinearLoop& loop, int input, double motion, const VectorXd& t) {
  const double largest = linear_step(loop, input, 1.0, t).cwiseAbs().maxCoeff();
  return largest > 0.0 && std::isfinite(largest) ? motion / largest : motion;
}

ResponseComparison compare_step(const NonlinearLoop& loop, int input, double size,
                                const VectorXd& t) {
  ResponseComparison result;
  result.t = t;
  result.linear = linear_step(loop, input, size, t);
  const MatrixXd run = loop_step(loop, input, size, t);
  const Eigen::Index rows = std::min<Eigen::Index>(run.cols(), t.size());
  result.nonlinear = MatrixXd::Constant(loop.plant.output_count(), t.size(), std::nan(""));
  result.nonlinear.leftCols(rows) = run.leftCols(rows);
  const double largest = result.linear.cwiseAbs().maxCoeff();
  result.difference = (result.linear - result.nonlinear).leftCols(rows).cwiseAbs().maxCoeff() /
                      std::max(largest, 1e-300);
  return result;
}

}  // namespace catena
