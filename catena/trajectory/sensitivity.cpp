// SPDX-License-Identifier: BSD-3-Clause
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
        "sensitivities along a motion support the methods rk4, euler and dop853, not " +
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

// The adjoint of the discrete steps, last step first: λ becomes the gradient by the state at the
// start of each. Every `stride`-th state of the forward run is kept; the states between are
// computed again before their steps are transposed.
class TrajectorySensitivity::DiscreteAdjoint {
 public:
  DiscreteAdjoint(Run& run, const VectorXd& p) : run_(run), p_(p) {}

  TrajectoryGradient gradient(const State& initial) {
    out_.input = VectorXd::Zero(run_.input.parameters());
    out_.mechanism =
        VectorXd::Zero(run_.parameters == nullptr ? 0 : run_.parameters->adjoint_size());
    reference_bar_ = VectorXd::Zero(run_.m.freedoms());
    run_forward(initial);
    for (std::int64_t first = (static_cast<std::int64_t>(kept_.size()) - 1) * stride_; first >= 0;
         first -= stride_)
      transpose_segment(first, std::min(first + stride_, run_.steps));
    if (run_.parameters != nullptr) out_.mechanism = run_.parameters->gradient_of(out_.mechanism);
    run_.set_initial(initial, lambda_, out_);
    return std::move(out_);
  }

 private:
  // The whole motion, its cost, and λ at its end.
  void run_forward(const State& initial) {
    VectorXd y;
    run_.begin(initial, y);
    out_.steps = run_.steps;
    if (run_.steps > run_.settings.kept_states)
      stride_ = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(run_.steps))));
    run_.plain = true;
    for (std::int64_t i = 0; i < run_.steps; ++i) {
      if (i % stride_ == 0) kept_.push_back(run_.point(y));
      run_.step(i, p_, y, out_.cost, nullptr);
    }
    run_.plain = false;
    CostGradient last;
    out_.cost += run_.finish(y, p_, &last, *run_.stages[0]);
    out_.final_state = run_.stages[0]->state();
    lambda_ = VectorXd::Zero(y.size());
    transpose_terminal_cost(y, last);
    enter(nullptr);
  }

  // A terminal cost by accelerations or efforts goes through the dynamics there.
  void transpose_terminal_cost(const VectorXd& y, const CostGradient& last) {
    struct Terminal final : TrajectoryCost {
      const CostGradient* g = nullptr;
      double running(const CostPoint&, CostGradient* out_gradient) const override {
        if (out_gradient != nullptr) *out_gradient = *g;
        return 0.0;
      }
    } terminal;
    terminal.g = &last;
    Run local{run_.m, run_.input, terminal, run_.settings, run_.parameters};
    local.hybrid = run_.hybrid;
    local.local = run_.local;
    local.layout = std::move(run_.layout);
    run_.stages[0]->adjoint(local, y, p_, VectorXd::Zero(y.size()), 1.0, lambda_, out_.input,
                            out_.mechanism, reference_bar_);
    run_.layout = std::move(local.layout);
  }

  void enter(const VectorXd* reference_bar) {
    if (run_.local == nullptr) return;
    run_.enter(*run_.stages[0], reference_bar, lambda_, out_.mechanism);
    independent_ = run_.local->independent();
  }

  // Steps `first` to `end` − 1.
  void transpose_segment(std::int64_t first, std::int64_t end) {
    std::vector<Run::Point> states;
    VectorXd at;
    run_.go_to(kept_[index(first / stride_)], at);
    double unused = 0.0;
    run_.plain = true;
    for (std::int64_t i = first; i < end; ++i) {
      states.push_back(run_.point(at));
      if (i + 1 < end) run_.step(i, p_, at, unused, nullptr);
    }
    run_.plain = false;
    for (std::int64_t i = end; i-- > first;) transpose_step(i, states[index(i - first)]);
  }

  void transpose_step(std::int64_t i, const Run::Point& from) {
    VectorXd at, y_end;
    run_.go_to(from, at);
    const VectorXd start = at;
    double unused = 0.0;
    run_.step(i, p_, at, unused, &y_end);  // the stages, ready to be transposed
    reference_bar_.setZero();
    if (run_.local != nullptr)
      run_.leave(run_.h * static_cast<double>(i + 1), y_end, p_, independent_, lambda_,
                 out_.mechanism, reference_bar_);
    else
      run_.layout->unscale(y_end, lambda_);
    if (run_.euler())
      lambda_ += transpose_stage(0, start, run_.h * lambda_, run_.h);
    else
      transpose_rk4(start);
    enter(&reference_bar_);
  }

  void transpose_rk4(const VectorXd& start) {
    const double h = run_.h;
    VectorXd sum = lambda_;
    const double weight[4] = {h / 6.0, h / 3.0, h / 3.0, h / 6.0};
    const double reach[4] = {0.0, 0.5 * h, 0.5 * h, h};  // Y_m = y + reach k_{m−1}
    VectorXd passed = VectorXd::Zero(start.size());      // Ȳ of the stage after
    for (int m = 3; m >= 0; --m) {
      VectorXd bar = weight[m] * lambda_;
      if (m < 3) bar += reach[m + 1] * passed;
      const VectorXd stage_y = m == 0 ? start : VectorXd(start + reach[m] * run_.k[to_size(m) - 1]);
      passed = transpose_stage(m, stage_y, bar, weight[m]);
      sum += passed;
    }
    lambda_ = sum;
  }

  // Ȳ of stage m at `y`, from bar on its rate and the weight of its running cost.
  VectorXd transpose_stage(int m, const VectorXd& y, const VectorXd& bar, double weight) {
    VectorXd y_bar = VectorXd::Zero(y.size());
    run_.stages[index(m)]->adjoint(run_, y, p_, bar, weight, y_bar, out_.input, out_.mechanism,
                                   reference_bar_);
    return y_bar;
  }

  Run& run_;
  const VectorXd& p_;
  TrajectoryGradient out_;
  std::int64_t stride_ = 1;
  std::vector<Run::Point> kept_;
  VectorXd lambda_, reference_bar_;
  std::vector<int> independent_;  // those of λ
};

TrajectoryGradient TrajectorySensitivity::gradient(const State& initial, const VectorXd& p) {
  if (run_->settings.integrator.method == Method::dop853) return run_->continuous(initial, p);
  return DiscreteAdjoint(*run_, p).gradient(initial);
}

// The variational equations beside the motion: s holds ∂(positions, velocities) by the parameters
// of the input, those of the mechanism and the initial state, in tangent directions.
class TrajectorySensitivity::Variation {
 public:
  Variation(Run& run, const VectorXd& p)
      : run_(run),
        p_(p),
        m_(run.m),
        w_(run.m),
        n_(run.local == nullptr ? run.m.freedoms() : run.local->states()),
        parameters_(run.input.parameters()),
        own_(run.parameters == nullptr ? 0 : run.parameters->size()),
        s_(MatrixXd::Zero(2 * n_, parameters_ + own_ + 2 * n_)),
        given_{run.input.motion_driven(), {}, {}} {
    s_.rightCols(2 * n_).setIdentity();
    if (given_.motion_driven.empty()) given_.motion_driven.assign(to_size(m_.freedoms()), 0);
    use_chart();
  }

  // One step of the classical Runge-Kutta method, after the motion has made it.
  void step(double t) {
    const double h = run_.h;
    const MatrixXd k1 = rate(t, run_.stages[0]->state(), s_);
    const MatrixXd k2 = rate(t + 0.5 * h, run_.stages[1]->state(), s_ + 0.5 * h * k1);
    const MatrixXd k3 = rate(t + 0.5 * h, run_.stages[2]->state(), s_ + 0.5 * h * k2);
    const MatrixXd k4 = rate(t + h, run_.stages[3]->state(), s_ + h * k3);
    s_ += h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4);
    if (run_.local != nullptr && run_.local->independent() != w_.dynamics().independent())
      change_chart(t + h, run_.spare().state());
    else
      use_chart();
  }

  void store(ForwardSensitivity& out) const {
    out.independent = w_.dynamics().independent();
    out.q = s_.topRows(n_).leftCols(parameters_);
    out.v = s_.bottomRows(n_).leftCols(parameters_);
    out.q_by_mechanism = s_.topRows(n_).middleCols(parameters_, own_);
    out.v_by_mechanism = s_.bottomRows(n_).middleCols(parameters_, own_);
    out.q_by_initial = s_.topRows(n_).rightCols(2 * n_);
    out.v_by_initial = s_.bottomRows(n_).rightCols(2 * n_);
  }

 private:
  void use_chart() {
    if (run_.local != nullptr) w_.dynamics().set_chart(*run_.local->chart(), true);
  }

  void set_inputs(double t) {
    values_.set_zero(m_.freedoms());
    run_.input.evaluate(t, p_, values_);
    given_.effort = values_.effort;
    given_.acceleration = values_.acceleration;
  }

  // An input at a freedom by the parameters, through the adjoint of that input alone.
  VectorXd column_of(double t, VectorXd InputValues::*part, int freedom) const {
    InputValues bar;
    bar.set_zero(m_.freedoms());
    (bar.*part)[freedom] = 1.0;
    VectorXd g = VectorXd::Zero(parameters_);
    run_.input.adjoint(t, p_, bar, g);
    return g;
  }

  // The rate of s at a stage. Rows of prescribed motions of `at` are the prescribed values.
  MatrixXd rate(double t, const State& state, MatrixXd at) {
    set_inputs(t);
    HybridParameterDerivatives by_mechanism;
    if (own_ > 0) by_mechanism = run_.parameters->hybrid_derivatives(state, given_, w_);
    MatrixXd a, by_input;
    if (run_.hybrid) {
      const HybridDerivatives& h = hybrid_dynamics_derivatives(m_, state, given_, w_);
      a = system_matrix(m_, state, h.acceleration_dq, h.acceleration_dv, w_);
      by_input = h.acceleration_dinput;
    } else {
      const ForwardDerivatives& f = forward_dynamics_derivatives(m_, state, values_.effort, w_);
      a = system_matrix(m_, state, f.dq, f.dv, w_);
      by_input = f.deffort;
    }
    const auto& driven = given_.motion_driven;
    const std::vector<int>& rows = w_.dynamics().independent();
    for (Index k = 0; k < n_ && run_.hybrid; ++k) {
      const int i = rows[index(k)];
      if (driven[index(i)] == 0) continue;
      at.row(k).setZero();
      at.row(n_ + k).setZero();
      at.row(k).head(parameters_) = column_of(t, &InputValues::position, i);
      at.row(n_ + k).head(parameters_) = column_of(t, &InputValues::velocity, i);
    }
    MatrixXd ds = a * at;
    for (int i = 0; i < m_.freedoms(); ++i) {
      const bool is_driven = driven[index(i)] != 0;
      const VectorXd by_p =
          column_of(t, is_driven ? &InputValues::acceleration : &InputValues::effort, i);
      if (by_p.isZero(0.0)) continue;
      ds.bottomRows(n_).leftCols(parameters_) += by_input.col(i) * by_p.transpose();
    }
    if (own_ > 0) ds.bottomRows(n_).middleCols(parameters_, own_) += by_mechanism.acceleration;
    if (own_ > 0 && run_.local != nullptr)
      ds.topRows(n_).middleCols(parameters_, own_) +=
          (kinematic_block(m_, state.v) * by_mechanism.position)(rows, Eigen::all);
    return ds;
  }

  // Other freedoms are independent from here on.
  void change_chart(double t, const State& state) {
    set_inputs(t);
    MatrixXd by_position = MatrixXd::Zero(m_.freedoms(), s_.cols()), by_velocity = by_position;
    if (own_ > 0) {
      const HybridParameterDerivatives d = run_.parameters->hybrid_derivatives(state, given_, w_);
      by_position.middleCols(parameters_, own_) = d.position;
      by_velocity.middleCols(parameters_, own_) = d.velocity;
    }
    forward_dynamics_derivatives(m_, state, values_.effort, w_);
    by_position += w_.tangent.map * s_.topRows(n_);
    by_velocity += w_.tangent.map * s_.bottomRows(n_) + w_.tangent.velocity_dq * s_.topRows(n_);
    use_chart();
    s_.topRows(n_) = by_position(run_.local->independent(), Eigen::all);
    s_.bottomRows(n_) = by_velocity(run_.local->independent(), Eigen::all);
  }

  Run& run_;
  const VectorXd& p_;
  const Mechanism& m_;
  SensitivityWorkspace w_;
  Index n_, parameters_, own_;
  MatrixXd s_;
  HybridInput given_;
  InputValues values_;
};

ForwardSensitivity TrajectorySensitivity::forward(const State& initial, const VectorXd& p) {
  Run& run = *run_;
  if (run.euler() || run.settings.integrator.method != Method::rk4)
    throw NumericalError("forward sensitivities are computed with rk4");
  ForwardSensitivity out;
  VectorXd y;
  run.begin(initial, y);
  run.plain = true;
  Variation variation(run, p);
  for (std::int64_t i = 0; i < run.steps; ++i) {
    run.step(i, p, y, out.cost, nullptr);
    variation.step(run.h * static_cast<double>(i));
  }
  out.cost += run.finish(y, p, nullptr, *run.stages[0]);
  out.final_state = run.stages[0]->state();
  variation.store(out);
  return out;
}

}  // namespace catena
