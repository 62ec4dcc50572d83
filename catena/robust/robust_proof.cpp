// SPDX-License-Identifier: BSD-3-Clause
#include "catena/robust/robust_proof.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "catena/base/dense.h"
#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/control/nonlinear/loop_runs.h"
#include "catena/linear/discretize.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// x of plant, controller and held efforts as they are after the next sample, or ẋ.
MatrixXd loop_matrix(const NonlinearLoop& loop) {
  const StateSpace &g = loop.plant, &k = loop.controller;
  if (k.is_continuous()) return predicted_loop(loop).A;
  const bool late = loop.delay > 0.0;
  const Index n = g.order(), own = k.order(), m = g.input_count(), held = late ? m : 0;
  MatrixXd phi = MatrixXd::Zero(n + own + held, n + own + held), u(m, n + own + held);
  u << k.D * g.C, k.C, MatrixXd::Zero(m, held);
  StateSpace plain = g;
  plain.point.reset();
  MatrixXd moved(n, n + own + held);
  moved << MatrixXd::Identity(n, n), MatrixXd::Zero(n, own + held);
  if (late) {
    const StateSpace first = c2d(plain, loop.delay);
    moved.leftCols(n) = first.A;
    moved.rightCols(held) = first.B;
  }
  if (const double left = k.dt - loop.delay; left > 1e-12 * k.dt) {
    const StateSpace second = c2d(plain, left);
    moved = (second.A * moved + second.B * u).eval();
  }
  phi.topRows(n) = moved;
  phi.middleRows(n, own) << k.B * g.C, k.A, MatrixXd::Zero(own, held);
  phi.bottomRows(held) = u.topRows(held);
  return phi;
}

// T of a continuous loop: about the time in which the mode changes by a factor of e, but not many
// periods, and not longer than an explicit integrator can go.
double watching_time(const Eigen::VectorXcd& values, Complex slowest) {
  constexpr double kPeriods = 20.0, kFastest = 3000.0;
  double fastest = 0.0;
  for (const Complex& v : values) fastest = std::max(fastest, std::abs(v));
  const double by_rate = 1.0 / std::max(std::abs(slowest.real()), 1e-12);
  const double by_turns =
      slowest.imag() != 0.0 ? kPeriods * 6.283185307179586 / std::abs(slowest.imag()) : by_rate;
  return std::min({by_rate, by_turns, kFastest / std::max(fastest, 1e-12)});
}

ProvenCase measure(const NonlinearLoop& loop, double deviation) {
  const MatrixXd a = loop_matrix(loop);
  const double dt = loop.controller.dt;
  const GeneralEigen eigen = general_eigen(a);
  Eigen::VectorXcd values = eigen.values;
  if (dt > 0.0)
    for (Complex& v : values) v = std::log(std::abs(v) > 0.0 ? v : Complex(1e-300)) / dt;
  Index slowest = 0;
  values.real().maxCoeff(&slowest);
  const Complex lambda = values[slowest];
  const Eigen::VectorXcd left = eigen.vectors.partialPivLu().inverse().row(slowest).transpose();
  VectorXd x = eigen.vectors.col(slowest).real();
  const Index n = loop.plant.order();
  const double largest = x.head(n).cwiseAbs().maxCoeff();
  x *= deviation / (largest > 0.0 ? largest : x.cwiseAbs().maxCoeff());
  double given = watching_time(values, lambda), time = given;
  if (dt > 0.0) {
    // loop_after(2 j + 1 periods) ends at sample 3 j + 1.
    const double j = std::max(0.0, std::floor((given / dt - 1.0) / 3.0));
    given = (2.0 * j + 1.0) * dt;
    time = (3.0 * j + 1.0) * dt;
  }
  const VectorXd end =
      loop_after(loop, x, VectorXd::Zero(loop.plant.input_count()), given).head(x.size());
  const Complex from = (left.transpose() * x.cast<Complex>())(0);
  const Complex to = (left.transpose() * end.cast<Complex>())(0);
  ProvenCase result;
  result.predicted = lambda;
  result.measured = std::log(std::abs(to / from)) / time;
  result.difference =
      std::abs(result.measured - lambda.real()) / std::max(std::abs(lambda.real()), 1e-300);
  return result;
}

class Prover {
 public:
  Prover(const MechanismFamily& family, const std::vector<Uncertainty>& all,
         const UncertainSystem& loop, const LinearControllerSettings& controller,
         const ProofSettings& settings)
      : family_(family), all_(all), system_(loop), controller_(controller), settings_(settings) {}

  ProvenCase run(const std::vector<BlockValue>& values, double factor) const {
    std::map<std::string, double> by_name;
    for (int k = 0; k < system_.blocks.size(); ++k)
      if (system_.parameters[to_size(k)])
        by_name[system_.blocks[k].name] =
            system_.parameters[to_size(k)]->value(factor * values[to_size(k)].scalar.real());
    const MechanismFamily::Member member = family_.at(parameter_vector(by_name));
    NonlinearLoop loop = nonlinear_loop(*member.mechanism, member.model, controller_);
    if (!delay_is_measured(loop))
      throw Error(
          "the computation delay is longer than the period; such a loop is not simulated "
          "from a deviation of its states");
    apply_gains(by_name, loop);
    ProvenCase result = measure(loop, settings_.deviation);
    result.parameters = std::move(by_name);
    return result;
  }

  // The largest size up to the one asked for at which every parameter has a mechanism; the ranges
  // themselves have been checked.
  double possible_size(double asked) const {
    if (!(asked > 1.0)) return asked;
    for (int k = 0; k < system_.blocks.size(); ++k) {
      if (!system_.parameters[to_size(k)]) continue;
      const UncertainParameter& p = *system_.parameters[to_size(k)];
      for (const double end : {-asked, asked}) {
        const double value = p.value(end);
        if (!std::isfinite(value) || (value - p.nominal) * end < 0.0) return 1.0;
        try {
          static_cast<void>(family_.at(parameter_vector({{p.name, value}})));
        } catch (const Error&) {
          return 1.0;
        }
      }
    }
    return asked;
  }

  bool only_simulated() const {
    return std::all_of(all_.begin(), all_.end(), [](const Uncertainty& u) {
      return u.kind == Uncertainty::Kind::parameter || u.kind == Uncertainty::Kind::gain;
    });
  }

 private:
  VectorXd parameter_vector(const std::map<std::string, double>& by_name) const {
    VectorXd values = family_.values();
    Index i = 0;
    for (const Uncertainty& u : all_) {
      if (u.kind != Uncertainty::Kind::parameter) continue;
      const auto found = by_name.find(u.name);
      values[i] = found != by_name.end() ? found->second : u.range(values[i]).nominal;
      ++i;
    }
    return values;
  }

  // K' = G_u K G_y of the gains of actuators and sensors.
  void apply_gains(const std::map<std::string, double>& by_name, NonlinearLoop& loop) const {
    for (const Uncertainty& u : all_) {
      const auto found = by_name.find(u.name);
      if (u.kind != Uncertainty::Kind::gain || found == by_name.end()) continue;
      StateSpace& k = loop.controller;
      const auto is = [&](const std::string& other) {
        return other == u.target || other == "effort." + u.target || other == "q." + u.target;
      };
      bool input = false;
      for (int j = 0; j < loop.plant.input_count() && !input; ++j)
        if (is(loop.plant.input_name(j))) {
          k.C.row(j) *= found->second;
          k.D.row(j) *= found->second;
          input = true;
        }
      for (int i = 0; i < loop.plant.output_count() && !input; ++i)
        if (is(loop.plant.output_name(i))) {
          k.B.col(i) *= found->second;
          k.D.col(i) *= found->second;
        }
    }
  }

  const MechanismFamily& family_;
  const std::vector<Uncertainty>& all_;
  const UncertainSystem& system_;
  const LinearControllerSettings& controller_;
  const ProofSettings& settings_;
};

}  // namespace

RobustProof prove(const MechanismFamily& family, const std::vector<Uncertainty>& all,
                  const UncertainSystem& loop, const RobustStability& margin,
                  const LinearControllerSettings& controller, const ProofSettings& settings) {
  RobustProof proof;
  proof.passed = true;
  UncertainSystem system = loop;
  system.parameters.resize(to_size(system.blocks.size()));
  const Prover prover(family, all, system, controller, settings);
  const auto judge = [&](const ProvenCase& c, bool grows) {
    proof.largest_difference = std::max(proof.largest_difference, c.difference);
    if (c.difference > settings.tolerance || (c.measured > 0.0) != grows) proof.passed = false;
  };
  if (!prover.only_simulated()) {
    proof.remarks.push_back(
        "delays and modes stay nominal in the simulations; the destabilizing case is not "
        "simulated");
  } else if (!margin.worst.empty()) {
    try {
      proof.worst = prover.run(margin.worst, settings.beyond);
      judge(*proof.worst, true);
    } catch (const ModelError& e) {
      proof.remarks.push_back(std::string("the destabilizing parameters are impossible: ") +
                              e.what());
    }
  }
  const double asked = std::isfinite(margin.margin_low) ? settings.inside * margin.margin_low : 1.0;
  proof.size = prover.possible_size(asked);
  if (proof.size < asked)
    proof.remarks.push_back(fmt::format(
        "samples are within the ranges, not within {} of them, where some are impossible",
        number(asked)));
  proof.slowest = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < settings.samples; ++i) {
    const std::vector<BlockValue> values =
        sample(system.blocks, settings.seed + static_cast<std::uint64_t>(i), proof.size);
    const ProvenCase c = prover.run(values, 1.0);
    judge(c, false);
    if (c.measured < 0.0) ++proof.decayed;
    proof.slowest = std::max(proof.slowest, c.measured);
    proof.samples.push_back(c);
  }
  return proof;
}

}  // namespace catena
