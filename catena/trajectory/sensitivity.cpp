#include "catena/trajectory/sensitivity.h"

#include <algorithm>
#include <cmath>

#include "catena/base/text.h"
#include "catena/model/configuration.h"
#include "catena/sensitivity/forward_derivatives.h"
#include "catena/trajectory/layout.h"
#include "catena/trajectory/variational.h"

namespace catena {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// One evaluation of the rates, and its transpose.
class TrajectorySensitivity::Stage {
 public:
  Stage(const Mechanism& m, const Chart* chart) : products_(m) {
    if (chart != nullptr) products_.workspace().dynamics().set_chart(*chart, true);
    values_.set_zero(m.freedoms());
    state_ = m.default_state();
  }

  // ẏ and the running cost.
  double evaluate(const Run& run, double t, const VectorXd& y, const VectorXd& p, VectorXd& dy);
  // Adds to y_bar, and to the gradients, what bar on ẏ and cost_bar on the running cost give.
  void adjoint(const Run& run, const VectorXd& y, const VectorXd& p, const VectorXd& bar,
               double cost_bar, VectorXd& y_bar, VectorXd& input, VectorXd& mechanism);
  const State& state() const { return state_; }
  const VectorXd& acceleration() const { return acceleration_; }
  const VectorXd& effort() const { return effort_; }
  void unpack(const Run& run, double t, const VectorXd& y, const VectorXd& p);

 private:
  DynamicsProducts products_;
  InputValues values_, bar_;
  State state_;
  VectorXd y_, acceleration_, effort_, w_, x_, q_bar_, v_bar_, a_bar_;
  CostGradient cost_;
  HybridResult plain_;
  double t_ = 0.0;
};

struct TrajectorySensitivity::Run {
  const Mechanism& m;
  const TrajectoryInput& input;
  const TrajectoryCost& cost;
  TrajectorySettings settings;
  const ParameterSet* parameters;
  std::unique_ptr<Coordinates> coordinates;
  std::unique_ptr<StateLayout> layout;
  std::vector<std::unique_ptr<Stage>> stages;
  std::int64_t steps = 0;
  double h = 0.0;
  bool hybrid = false;
  bool plain = false;  // rates only: nothing will be transposed

  void begin(const State& initial, VectorXd& y);
  void report(double t) const {
    if (settings.progress && !settings.progress(t))
      throw NumericalError("stopped at t = " + number(t) + " s");
  }
  // One step in place; adds to the cost. y_end: before quaternions are scaled.
  void step(std::int64_t i, const VectorXd& p, VectorXd& y, double& total, VectorXd* y_end);
  double finish(const VectorXd& y, const VectorXd& p, CostGradient* gradient, Stage& stage);
  bool euler() const { return settings.integrator.method == Method::euler; }
  TrajectoryGradient continuous(const State& initial, const VectorXd& p);

  std::vector<VectorXd> k;
  VectorXd stage_y;
};

void TrajectorySensitivity::Stage::unpack(const Run& run, double t, const VectorXd& y,
                                          const VectorXd& p) {
  t_ = t;
  y_ = y;
  values_.set_zero(run.m.freedoms());
  run.input.evaluate(t, p, values_);
  if (run.hybrid)
    for (int i = 0; i < run.m.freedoms(); ++i)
      if (run.input.motion_driven()[static_cast<std::size_t>(i)] != 0)
        run.coordinates->prescribe(i, values_.position[i], values_.velocity[i],
                                   {y_.data(), static_cast<std::size_t>(y_.size())});
  run.coordinates->unpack({y_.data(), static_cast<std::size_t>(y_.size())}, state_);
}

double TrajectorySensitivity::Stage::evaluate(const Run& run, double t, const VectorXd& y,
                                              const VectorXd& p, VectorXd& dy) {
  unpack(run, t, y, p);
  if (run.plain) {
    Workspace& w = products_.workspace().dynamics();
    if (run.hybrid) {
      hybrid_dynamics(run.m, state_,
                      {run.input.motion_driven(), values_.effort, values_.acceleration}, w, plain_);
      acceleration_ = plain_.acceleration;
      effort_ = plain_.effort;
    } else {
      acceleration_ = forward_dynamics(run.m, state_, values_.effort, w);
      effort_ = values_.effort;
    }
  } else if (run.hybrid) {
    const HybridResult& r = products_.evaluate_hybrid(
        state_, {run.input.motion_driven(), values_.effort, values_.acceleration});
    acceleration_ = r.acceleration;
    effort_ = r.effort;
  } else {
    acceleration_ = products_.evaluate(state_, values_.effort);
    effort_ = values_.effort;
  }
  dy.resize(y.size());
  run.coordinates->rate(state_, acceleration_, {dy.data(), static_cast<std::size_t>(dy.size())});
  return run.cost.running({t, state_, acceleration_, effort_}, nullptr);
}

void TrajectorySensitivity::Stage::adjoint(const Run& run, const VectorXd& y, const VectorXd& p,
                                           const VectorXd& bar, double cost_bar, VectorXd& y_bar,
                                           VectorXd& input, VectorXd& mechanism) {
  const StateLayout& layout = *run.layout;
  const int n = run.m.freedoms(), states = layout.states();
  cost_.set_zero(n);
  if (cost_bar != 0.0) {
    run.cost.running({t_, state_, acceleration_, effort_}, &cost_);
    for (VectorXd* x : {&cost_.q, &cost_.v, &cost_.acceleration, &cost_.effort}) *x *= cost_bar;
  }
  q_bar_ = cost_.q;
  v_bar_ = cost_.v;
  a_bar_ = cost_.acceleration;
  products_.pull_back(q_bar_, v_bar_, a_bar_);
  for (Index k = 0; k < states; ++k) a_bar_[k] += bar[layout.speed(k)];
  bar_.set_zero(n);
  if (run.hybrid) {
    const DynamicsGradient& g = products_.hybrid_adjoint(a_bar_, cost_.effort);
    q_bar_ += g.q;
    v_bar_ += g.v;
    for (int i = 0; i < n; ++i) {
      const bool driven = run.input.motion_driven()[static_cast<std::size_t>(i)] != 0;
      (driven ? bar_.acceleration : bar_.effort)[i] += g.effort[i];
      if (driven)
        bar_.acceleration[i] += a_bar_[i];  // v̇ of a driven freedom is the input itself
      else
        bar_.effort[i] += cost_.effort[i];
    }
  } else {
    const DynamicsGradient& g = products_.forward_adjoint(a_bar_);
    q_bar_ += g.q;
    v_bar_ += g.v;
    bar_.effort = g.effort + cost_.effort;
  }
  if (run.parameters != nullptr)
    run.parameters->add_adjoint(state_, products_.multiplier(), products_.workspace(), mechanism);
  layout.add_rates(state_, bar, q_bar_, v_bar_);
  // What is prescribed is not a state.
  if (run.hybrid)
    for (int i = 0; i < n; ++i)
      if (run.input.motion_driven()[static_cast<std::size_t>(i)] != 0) {
        bar_.position[i] += q_bar_[i];
        bar_.velocity[i] += v_bar_[i];
        q_bar_[i] = v_bar_[i] = 0.0;
      }
  layout.add_positions(state_, y, q_bar_, y_bar);
  for (Index k = 0; k < states; ++k) y_bar[layout.speed(k)] += v_bar_[k];
  run.input.adjoint(t_, p, bar_, input);
}

void TrajectorySensitivity::Run::begin(const State& initial, VectorXd& y) {
  coordinates = make_coordinates(m, initial, input.motion_driven());
  if (coordinates->chart() != nullptr)  // the independent freedoms stay what they are
    coordinates =
        make_coordinates(m, initial, coordinates->chart()->independent_mask(m.freedoms()));
  coordinates->begin(initial);
  const Chart* chart = coordinates->chart();
  std::vector<int> independent;
  if (chart != nullptr)
    independent = chart->independent(m.freedoms());
  else
    for (int i = 0; i < m.freedoms(); ++i) independent.push_back(i);
  layout = std::make_unique<StateLayout>(m, *coordinates, independent);
  stages.clear();
  for (int i = 0; i < 4; ++i) stages.push_back(std::make_unique<Stage>(m, chart));
  y.setZero(coordinates->size());
  coordinates->pack(initial, {y.data(), static_cast<std::size_t>(y.size())});
  steps = std::max<std::int64_t>(
      1, std::llround(std::ceil(settings.duration / settings.integrator.step - 1e-9)));
  h = settings.duration / static_cast<double>(steps);
  k.assign(4, VectorXd::Zero(y.size()));
}

void TrajectorySensitivity::Run::step(std::int64_t i, const VectorXd& p, VectorXd& y, double& total,
                                      VectorXd* y_end) {
  const double t = h * static_cast<double>(i);
  report(t);
  const double cost_1 = stages[0]->evaluate(*this, t, y, p, k[0]);
  if (euler()) {
    total += h * cost_1;
    y += h * k[0];
  } else {
    stage_y = y + 0.5 * h * k[0];
    const double cost_2 = stages[1]->evaluate(*this, t + 0.5 * h, stage_y, p, k[1]);
    stage_y = y + 0.5 * h * k[1];
    const double cost_3 = stages[2]->evaluate(*this, t + 0.5 * h, stage_y, p, k[2]);
    stage_y = y + h * k[2];
    const double cost_4 = stages[3]->evaluate(*this, t + h, stage_y, p, k[3]);
    total += h / 6.0 * (cost_1 + 2.0 * (cost_2 + cost_3) + cost_4);
    y += (h / 6.0) * (k[0] + 2.0 * (k[1] + k[2]) + k[3]);
  }
  if (!y.allFinite())
    throw NumericalError("the motion left the finite numbers at t = " + number(t) +
                         " s; a shorter step is needed");
  if (y_end != nullptr) *y_end = y;
  layout->scale(y);
  coordinates->accepted(stages[0]->state());
}

double TrajectorySensitivity::Run::finish(const VectorXd& y, const VectorXd& p,
                                          CostGradient* gradient, Stage& stage) {
  VectorXd unused;
  stage.evaluate(*this, settings.duration, y, p, unused);
  if (gradient != nullptr) gradient->set_zero(m.freedoms());
  return cost.terminal({settings.duration, stage.state(), stage.acceleration(), stage.effort()},
                       gradient);
}

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
  run_ = std::make_unique<Run>(
      Run{mechanism, input, cost, settings, parameters, {}, {}, {}, 0, 0.0, false, false, {}, {}});
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
  std::vector<VectorXd> kept;
  std::vector<State> kept_states;  // where a closed mechanism starts again
  run.plain = true;
  for (std::int64_t i = 0; i < run.steps; ++i) {
    if (i % stride == 0) kept.push_back(y);
    run.step(i, p, y, out.cost, nullptr);
    if (i % stride == 0 && stride > 1) kept_states.push_back(run.stages[0]->state());
  }
  run.plain = false;
  CostGradient last;
  out.cost += run.finish(y, p, &last, *run.stages[0]);
  out.final_state = run.stages[0]->state();

  // λ at the end. A terminal cost by accelerations or efforts goes through the dynamics there.
  const StateLayout& layout = *run.layout;
  VectorXd lambda = VectorXd::Zero(y.size());
  {
    struct Terminal final : TrajectoryCost {
      const CostGradient* g = nullptr;
      double running(const CostPoint&, CostGradient* out_gradient) const override {
        if (out_gradient != nullptr) *out_gradient = *g;
        return 0.0;
      }
    } terminal;
    terminal.g = &last;
    Run local{run.m, run.input, terminal, run.settings, run.parameters, nullptr, nullptr,
              {},    0,         run.h,    run.hybrid,   false,          {},      {}};
    local.coordinates = std::move(run.coordinates);
    local.layout = std::move(run.layout);
    run.stages[0]->adjoint(local, y, p, VectorXd::Zero(y.size()), 1.0, lambda, out.input,
                           out.mechanism);
    run.coordinates = std::move(local.coordinates);
    run.layout = std::move(local.layout);
  }

  std::vector<VectorXd> segment;
  VectorXd bar[4], y_bar, y_end, at;
  for (std::int64_t first = (static_cast<std::int64_t>(kept.size()) - 1) * stride; first >= 0;
       first -= stride) {
    segment.clear();
    at = kept[static_cast<std::size_t>(first / stride)];
    if (stride > 1) run.coordinates->begin(kept_states[static_cast<std::size_t>(first / stride)]);
    double unused = 0.0;
    const std::int64_t end = std::min(first + stride, run.steps);
    run.plain = true;
    for (std::int64_t i = first; i < end; ++i) {
      segment.push_back(at);
      if (i + 1 < end) run.step(i, p, at, unused, nullptr);
    }
    run.plain = false;
    for (std::int64_t i = end; i-- > first;) {
      const VectorXd& start = segment[static_cast<std::size_t>(i - first)];
      at = start;
      run.step(i, p, at, unused, &y_end);  // the stages, ready to be transposed
      layout.unscale(y_end, lambda);
      const double h = run.h;
      if (run.euler()) {
        bar[0] = h * lambda;
        y_bar = VectorXd::Zero(start.size());
        run.stages[0]->adjoint(run, start, p, bar[0], h, y_bar, out.input, out.mechanism);
        lambda += y_bar;
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
            m == 0 ? start : VectorXd(start + reach[m] * run.k[static_cast<std::size_t>(m) - 1]);
        y_bar = VectorXd::Zero(start.size());
        run.stages[static_cast<std::size_t>(m)]->adjoint(run, stage_y, p, bar[m], weight[m], y_bar,
                                                         out.input, out.mechanism);
        passed = y_bar;
        sum += y_bar;
      }
      lambda = sum;
    }
  }
  if (run.parameters != nullptr) out.mechanism = run.parameters->gradient_of(out.mechanism);
  out.initial_q = layout.tangent(initial, lambda);
  out.initial_v = lambda.tail(layout.states());
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
  const Index n = run.layout->states(), parameters = run.input.parameters();
  SensitivityWorkspace w(m);
  if (run.coordinates->chart() != nullptr) w.dynamics().set_chart(*run.coordinates->chart(), true);
  MatrixXd s = MatrixXd::Zero(2 * n, parameters + 2 * n);
  s.rightCols(2 * n).setIdentity();
  // The rate of s at a stage, and what is prescribed of it.
  const auto rate = [&](double t, const State& state, MatrixXd at) {
    InputValues values;
    values.set_zero(m.freedoms());
    run.input.evaluate(t, p, values);
    // Columns of the inputs by the parameters, through the adjoint of one input at a time.
    const auto column_of = [&](VectorXd InputValues::*part, int freedom) {
      InputValues bar;
      bar.set_zero(m.freedoms());
      (bar.*part)[freedom] = 1.0;
      VectorXd g = VectorXd::Zero(parameters);
      run.input.adjoint(t, p, bar, g);
      return g;
    };
    MatrixXd a, by_input;
    const auto& driven = run.input.motion_driven();
    if (run.hybrid) {
      const HybridDerivatives& h =
          hybrid_dynamics_derivatives(m, state, {driven, values.effort, values.acceleration}, w);
      a = system_matrix(m, state, h.acceleration_dq, h.acceleration_dv, w);
      by_input = h.acceleration_dinput;
    } else {
      const ForwardDerivatives& f = forward_dynamics_derivatives(m, state, values.effort, w);
      a = system_matrix(m, state, f.dq, f.dv, w);
      by_input = f.deffort;
    }
    for (int i = 0; i < m.freedoms() && run.hybrid; ++i)
      if (driven[static_cast<std::size_t>(i)] != 0) {
        const Index k = run.layout->independent_place(i);
        at.row(k).setZero();
        at.row(n + k).setZero();
        at.row(k).head(parameters) = column_of(&InputValues::position, i);
        at.row(n + k).head(parameters) = column_of(&InputValues::velocity, i);
      }
    MatrixXd ds = a * at;
    for (int i = 0; i < m.freedoms(); ++i) {
      const bool is_driven = run.hybrid && driven[static_cast<std::size_t>(i)] != 0;
      const VectorXd by_p =
          column_of(is_driven ? &InputValues::acceleration : &InputValues::effort, i);
      if (by_p.isZero(0.0)) continue;
      ds.bottomRows(n).leftCols(parameters) += by_input.col(i) * by_p.transpose();
    }
    return ds;
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
  }
  out.cost += run.finish(y, p, nullptr, *run.stages[0]);
  out.final_state = run.stages[0]->state();
  out.q = s.topRows(n).leftCols(parameters);
  out.v = s.bottomRows(n).leftCols(parameters);
  out.q_by_initial = s.topRows(n).rightCols(2 * n);
  out.v_by_initial = s.bottomRows(n).rightCols(2 * n);
  return out;
}

// The state that the forward run accepted at the end of each step starts the way back over it.
TrajectoryGradient TrajectorySensitivity::Run::continuous(const State& initial, const VectorXd& p) {
  TrajectoryGradient out;
  VectorXd y;
  begin(initial, y);
  plain = true;
  const Index n = y.size(), inputs = input.parameters();
  const Index own = parameters == nullptr ? 0 : parameters->adjoint_size();
  struct Forward final : Ode {
    Run& run;
    const VectorXd& p;
    VectorXd part, rate_part;
    Forward(Run& r, const VectorXd& q) : run(r), p(q) {}
    int size() const override { return run.layout->size() + 1; }
    int controlled() const override { return size() - 1; }
    void rate(double t, const VectorXd& z, VectorXd& dz) override {
      part = z.head(run.layout->size());
      dz.resize(z.size());
      dz[z.size() - 1] = run.stages[0]->evaluate(run, t, part, p, rate_part);
      dz.head(part.size()) = rate_part;
    }
  } ahead(*this, p);
  const std::unique_ptr<Integrator> integrator = make_integrator(ahead, settings.integrator);
  VectorXd z(n + 1);
  z << y, 0.0;
  integrator->restart(0.0, z);
  std::vector<double> times{0.0};
  std::vector<VectorXd> states{y};
  // The loops are closed at y, which the last stage need not have been; its whole state is kept
  // where there are any, since they are closed from there on the way back.
  std::vector<State> closed{initial};
  const auto accept = [&](double t, const VectorXd& at) {
    stages[0]->unpack(*this, t, at, p);
    coordinates->accepted(stages[0]->state());
  };
  while (integrator->time() < settings.duration) {
    report(integrator->time());  // not in rate(), whose errors make the step shorter
    integrator->step(settings.duration);
    times.push_back(integrator->time());
    states.emplace_back(integrator->state().head(n));
    accept(times.back(), states.back());
    if (!m.loops().empty()) closed.push_back(stages[0]->state());
  }
  out.steps = static_cast<std::int64_t>(times.size()) - 1;
  out.cost = integrator->state()[n];
  CostGradient last;
  out.cost += finish(states.back(), p, &last, *stages[0]);
  plain = false;
  out.final_state = stages[0]->state();
  if (!last.acceleration.isZero(0.0) || !last.effort.isZero(0.0))
    throw NumericalError(
        "a terminal cost by accelerations or efforts needs the discrete adjoint (rk4)");
  VectorXd q_bar = last.q, v_bar = last.v, a_bar = last.acceleration;
  if (!m.loops().empty()) {
    DynamicsProducts products(m);
    products.workspace().dynamics().set_chart(*coordinates->chart(), true);
    InputValues values;
    values.set_zero(m.freedoms());
    input.evaluate(settings.duration, p, values);
    products.evaluate(out.final_state, values.effort);
    products.pull_back(q_bar, v_bar, a_bar);
  }
  VectorXd lambda = VectorXd::Zero(n);
  layout->add_positions(out.final_state, states.back(), q_bar, lambda);
  for (Index i = 0; i < layout->states(); ++i) lambda[layout->speed(i)] += v_bar[i];

  // (y, λ, gradients) over s = t_end − t.
  struct Backward final : Ode {
    Run& run;
    const VectorXd& p;
    double end = 0.0;
    Index n, inputs, own;
    VectorXd part, rate_part, bar, y_bar, input, mechanism;
    Backward(Run& r, const VectorXd& q, Index a, Index b, Index c)
        : run(r), p(q), n(a), inputs(b), own(c) {}
    int size() const override { return static_cast<int>(2 * n + inputs + own); }
    int controlled() const override { return static_cast<int>(2 * n); }
    void rate(double s, const VectorXd& x, VectorXd& dx) override {
      part = x.head(n);
      bar = x.segment(n, n);
      run.stages[0]->evaluate(run, end - s, part, p, rate_part);
      y_bar.setZero(n);
      input.setZero(inputs);
      mechanism.setZero(own);
      run.stages[0]->adjoint(run, part, p, bar, 1.0, y_bar, input, mechanism);
      dx.resize(x.size());
      dx << -rate_part, y_bar, input, mechanism;
    }
  } back(*this, p, n, inputs, own);
  VectorXd x = VectorXd::Zero(back.size());
  x.segment(n, n) = lambda;
  for (std::size_t i = times.size() - 1; i-- > 0;) {
    x.head(n) = states[i + 1];
    back.end = times[i + 1];
    if (!m.loops().empty()) coordinates->accepted(closed[i + 1]);
    const std::unique_ptr<Integrator> way = make_integrator(back, settings.integrator);
    const double span = times[i + 1] - times[i];
    try {
      way->restart(0.0, x);
      while (way->time() < span) {
        report(back.end - way->time());
        way->step(span);
        x = way->state();
        if (!m.loops().empty()) accept(back.end - way->time(), x.head(n));
      }
    } catch (const StepCollapse& e) {  // its time runs backward from the end of this step
      throw StepCollapse(back.end - e.time, e.step, e.worst,
                         "on the way back" + (e.cause.empty() ? "" : ", " + e.cause));
    }
  }
  out.input = x.segment(2 * n, inputs);
  if (parameters != nullptr) out.mechanism = parameters->gradient_of(x.tail(own));
  lambda = x.segment(n, n);
  out.initial_q = layout->tangent(initial, lambda);
  out.initial_v = lambda.tail(layout->states());
  return out;
}

}  // namespace catena
