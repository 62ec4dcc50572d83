#include "catena/trajectory/sensitivity.h"

#include <algorithm>
#include <cmath>

#include "catena/base/index.h"
#include "catena/sensitivity/forward_derivatives.h"
#include "catena/trajectory/sensitivity_run.h"
#include "catena/trajectory/variational.h"

namespace catena {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TrajectorySensitivity::TrajectorySensitivity(const Mechanism& mechanism,
                                             const TrajectoryInput& input,
                                             const TrajectoryCost& cost,
                                             const TrajectorySettings& settings,
                                             const ParameterSet* parameters) {
  if (!(settings.duration > 0.0)) throw NumericalError("a motion needs a duration above zero");
  const Method method = settings.integrator.method;
  if (method != Method::rk4 && method != Method::euler && method != Method::dop853)
    throw NumericalError(
        "sensitivities along a motion know the methods rk4, euler and dop853, not " +
        std::string(to_string(method)));
  run_ = std::make_unique<Run>(Run{mechanism, input, cost, settings, parameters});
  const auto& driven = input.motion_driven();
  run_->hybrid = std::any_of(driven.begin(), driven.end(), [](std::uint8_t x) { return x != 0; });
}

TrajectorySensitivity::~TrajectorySensitivity() = default;

double TrajectorySensitivity::simulate(const State& initial, const VectorXd& p, State* end) {
  Run& run = *run_;
  VectorXd y;
  run.begin(initial, y);
  run.plain = true;
  double total = 0.0;
  for (std::int64_t i = 0; i < run.steps; ++i) run.step(i, p, y, total, nullptr);
  total += run.finish(y, p, nullptr, *run.stages[0]);
  if (end != nullptr) *end = run.stages[0]->state();
  return total;
}

TrajectoryGradient TrajectorySensitivity::gradient(const State& initial, const VectorXd& p) {
  Run& run = *run_;
  if (run.settings.integrator.method == Method::dop853) return run.continuous(initial, p);
  TrajectoryGradient out;
  out.input = VectorXd::Zero(run.input.parameters());
  out.mechanism = VectorXd::Zero(run.parameters == nullptr ? 0 : run.parameters->adjoint_size());
  VectorXd y;
  run.begin(initial, y);
  out.steps = run.steps;
  // Every `stride`-th state is kept; a segment's states are computed again before it is transposed.
  const std::int64_t stride =
      run.steps <= run.settings.kept_states
          ? 1
          : static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(run.steps))));
  std::vector<Run::Point> kept;
  run.plain = true;
  for (std::int64_t i = 0; i < run.steps; ++i) {
    if (i % stride == 0) kept.push_back(run.point(y));
    run.step(i, p, y, out.cost, nullptr);
  }
  run.plain = false;
  CostGradient last;
  out.cost += run.finish(y, p, &last, *run.stages[0]);
  out.final_state = run.stages[0]->state();

  // λ at the end. A terminal cost by accelerations or efforts goes through the dynamics there.
  VectorXd lambda = VectorXd::Zero(y.size());
  VectorXd reference_bar = VectorXd::Zero(run.m.freedoms());
  {
    struct Terminal final : TrajectoryCost {
      const CostGradient* g = nullptr;
      double running(const CostPoint&, CostGradient* out_gradient) const override {
        if (out_gradient != nullptr) *out_gradient = *g;
        return 0.0;
      }
    } terminal;
    terminal.g = &last;
    Run local{run.m, run.input, terminal, run.settings, run.parameters};
    local.hybrid = run.hybrid;
    local.local = run.local;
    local.layout = std::move(run.layout);
    run.stages[0]->adjoint(local, y, p, VectorXd::Zero(y.size()), 1.0, lambda, out.input,
                           out.mechanism, reference_bar);
    run.layout = std::move(local.layout);
  }
  std::vector<int> independent;  // those that λ is of
  if (run.local != nullptr) {
    run.enter(*run.stages[0], nullptr, lambda, out.mechanism);
    independent = run.local->independent();
  }

  std::vector<Run::Point> segment;
  VectorXd bar[4], y_bar, y_end, at;
  const auto enter = [&] {
    if (run.local == nullptr) return;
    run.enter(*run.stages[0], &reference_bar, lambda, out.mechanism);
    independent = run.local->independent();
  };
  for (std::int64_t first = (static_cast<std::int64_t>(kept.size()) - 1) * stride; first >= 0;
       first -= stride) {
    segment.clear();
    run.go_to(kept[index(first / stride)], at);
    double unused = 0.0;
    const std::int64_t end = std::min(first + stride, run.steps);
    run.plain = true;
    for (std::int64_t i = first; i < end; ++i) {
      segment.push_back(run.point(at));
      if (i + 1 < end) run.step(i, p, at, unused, nullptr);
    }
    run.plain = false;
    for (std::int64_t i = end; i-- > first;) {
      run.go_to(segment[index(i - first)], at);
      const VectorXd start = at;
      run.step(i, p, at, unused, &y_end);  // the stages, ready to be transposed
      const double h = run.h;
      reference_bar.setZero();
      if (run.local != nullptr)
        run.leave(h * static_cast<double>(i + 1), y_end, p, independent, lambda, out.mechanism,
                  reference_bar);
      else
        run.layout->unscale(y_end, lambda);
      if (run.euler()) {
        bar[0] = h * lambda;
        y_bar = VectorXd::Zero(start.size());
        run.stages[0]->adjoint(run, start, p, bar[0], h, y_bar, out.input, out.mechanism,
                               reference_bar);
        lambda += y_bar;
        enter();
        continue;
      }
      VectorXd sum = lambda;
      const double weight[4] = {h / 6.0, h / 3.0, h / 3.0, h / 6.0};
      const double reach[4] = {0.0, 0.5 * h, 0.5 * h, h};  // Y_m = y + reach k_{m−1}
      VectorXd passed = VectorXd::Zero(start.size());      // Ȳ of the stage after
      for (int m = 3; m >= 0; --m) {
        bar[m] = weight[m] * lambda;
        if (m < 3) bar[m] += reach[m + 1] * passed;
        const VectorXd stage_y =
            m == 0 ? start : VectorXd(start + reach[m] * run.k[to_size(m) - 1]);
        y_bar = VectorXd::Zero(start.size());
        run.stages[index(m)]->adjoint(run, stage_y, p, bar[m], weight[m], y_bar, out.input,
                                      out.mechanism, reference_bar);
        passed = y_bar;
        sum += y_bar;
      }
      lambda = sum;
      enter();
    }
  }
  if (run.parameters != nullptr) out.mechanism = run.parameters->gradient_of(out.mechanism);
  run.set_initial(initial, lambda, out);
  return out;
}

ForwardSensitivity TrajectorySensitivity::forward(const State& initial, const VectorXd& p) {
  Run& run = *run_;
  if (run.euler() || run.settings.integrator.method != Method::rk4)
    throw NumericalError("forward sensitivities are computed with rk4");
  const Mechanism& m = run.m;
  ForwardSensitivity out;
  VectorXd y;
  run.begin(initial, y);
  run.plain = true;
  const Index n = run.local == nullptr ? m.freedoms() : run.local->states();
  const Index parameters = run.input.parameters();
  const Index own = run.parameters == nullptr ? 0 : run.parameters->size();
  SensitivityWorkspace w(m);
  const auto use_chart = [&] {
    if (run.local != nullptr) w.dynamics().set_chart(*run.local->chart(), true);
  };
  use_chart();
  MatrixXd s = MatrixXd::Zero(2 * n, parameters + own + 2 * n);
  s.rightCols(2 * n).setIdentity();
  HybridInput given{run.input.motion_driven(), {}, {}};
  if (given.motion_driven.empty()) given.motion_driven.assign(to_size(m.freedoms()), 0);
  InputValues values;
  const auto set_inputs = [&](double t) {
    values.set_zero(m.freedoms());
    run.input.evaluate(t, p, values);
    given.effort = values.effort;
    given.acceleration = values.acceleration;
  };
  // The rate of s at a stage, and what is prescribed of it.
  const auto rate = [&](double t, const State& state, MatrixXd at) {
    set_inputs(t);
    // Columns of the inputs by the parameters, through the adjoint of one input at a time.
    const auto column_of = [&](VectorXd InputValues::*part, int freedom) {
      InputValues bar;
      bar.set_zero(m.freedoms());
      (bar.*part)[freedom] = 1.0;
      VectorXd g = VectorXd::Zero(parameters);
      run.input.adjoint(t, p, bar, g);
      return g;
    };
    HybridParameterDerivatives by_mechanism;
    if (own > 0) by_mechanism = run.parameters->hybrid_derivatives(state, given, w);
    MatrixXd a, by_input;
    const auto& driven = given.motion_driven;
    if (run.hybrid) {
      const HybridDerivatives& h = hybrid_dynamics_derivatives(m, state, given, w);
      a = system_matrix(m, state, h.acceleration_dq, h.acceleration_dv, w);
      by_input = h.acceleration_dinput;
    } else {
      const ForwardDerivatives& f = forward_dynamics_derivatives(m, state, values.effort, w);
      a = system_matrix(m, state, f.dq, f.dv, w);
      by_input = f.deffort;
    }
    const std::vector<int>& rows = w.dynamics().independent();
    for (Index k = 0; k < n && run.hybrid; ++k) {
      const int i = rows[index(k)];
      if (driven[index(i)] == 0) continue;
      at.row(k).setZero();
      at.row(n + k).setZero();
      at.row(k).head(parameters) = column_of(&InputValues::position, i);
      at.row(n + k).head(parameters) = column_of(&InputValues::velocity, i);
    }
    MatrixXd ds = a * at;
    for (int i = 0; i < m.freedoms(); ++i) {
      const bool is_driven = driven[index(i)] != 0;
      const VectorXd by_p =
          column_of(is_driven ? &InputValues::acceleration : &InputValues::effort, i);
      if (by_p.isZero(0.0)) continue;
      ds.bottomRows(n).leftCols(parameters) += by_input.col(i) * by_p.transpose();
    }
    if (own > 0) ds.bottomRows(n).middleCols(parameters, own) += by_mechanism.acceleration;
    if (own > 0 && run.local != nullptr)
      ds.topRows(n).middleCols(parameters, own) +=
          (kinematic_block(m, state.v) * by_mechanism.position)(rows, Eigen::all);
    return ds;
  };
  // Other freedoms are independent from here on.
  const auto change_chart = [&](double t, const State& state) {
    set_inputs(t);
    MatrixXd by_position = MatrixXd::Zero(m.freedoms(), s.cols()), by_velocity = by_position;
    if (own > 0) {
      const HybridParameterDerivatives d = run.parameters->hybrid_derivatives(state, given, w);
      by_position.middleCols(parameters, own) = d.position;
      by_velocity.middleCols(parameters, own) = d.velocity;
    }
    forward_dynamics_derivatives(m, state, values.effort, w);
    by_position += w.tangent.map * s.topRows(n);
    by_velocity += w.tangent.map * s.bottomRows(n) + w.tangent.velocity_dq * s.topRows(n);
    use_chart();
    s.topRows(n) = by_position(run.local->independent(), Eigen::all);
    s.bottomRows(n) = by_velocity(run.local->independent(), Eigen::all);
  };
  const double h = run.h;
  for (std::int64_t i = 0; i < run.steps; ++i) {
    const double t = h * static_cast<double>(i);
    run.step(i, p, y, out.cost, nullptr);
    const MatrixXd k1 = rate(t, run.stages[0]->state(), s);
    const MatrixXd k2 = rate(t + 0.5 * h, run.stages[1]->state(), s + 0.5 * h * k1);
    const MatrixXd k3 = rate(t + 0.5 * h, run.stages[2]->state(), s + 0.5 * h * k2);
    const MatrixXd k4 = rate(t + h, run.stages[3]->state(), s + h * k3);
    s += h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4);
    if (run.local != nullptr && run.local->independent() != w.dynamics().independent())
      change_chart(t + h, run.spare().state());
    else
      use_chart();
  }
  out.cost += run.finish(y, p, nullptr, *run.stages[0]);
  out.final_state = run.stages[0]->state();
  out.independent = w.dynamics().independent();
  out.q = s.topRows(n).leftCols(parameters);
  out.v = s.bottomRows(n).leftCols(parameters);
  out.q_by_mechanism = s.topRows(n).middleCols(parameters, own);
  out.v_by_mechanism = s.bottomRows(n).middleCols(parameters, own);
  out.q_by_initial = s.topRows(n).rightCols(2 * n);
  out.v_by_initial = s.bottomRows(n).rightCols(2 * n);
  return out;
}

}  // namespace catena
