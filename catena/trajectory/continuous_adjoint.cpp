// The continuous adjoint: with the state that the forward run accepted at the end of each step the
// way back over it starts.
#include "catena/base/index.h"
#include "catena/trajectory/sensitivity_run.h"

namespace catena {
using Eigen::Index;
using Eigen::VectorXd;

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
    int size() const override { return run.coordinates->size() + 1; }
    int controlled() const override { return size() - 1; }
    void rate(double t, const VectorXd& z, VectorXd& dz) override {
      part = z.head(z.size() - 1);
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
  // With the independent freedoms of the step that starts there.
  std::vector<Point> points{point(y)};
  std::vector<std::vector<int>> independent{local == nullptr ? std::vector<int>{}
                                                             : local->independent()};
  while (integrator->time() < settings.duration) {
    report(integrator->time());  // not in rate(), whose errors make the step shorter
    integrator->step(settings.duration);
    times.push_back(integrator->time());
    y = integrator->state().head(n);
    if (accept(times.back(), p, false, y)) {
      z << y, integrator->state()[n];
      integrator->restart(times.back(), z);
    }
    points.push_back(point(y));
    if (local != nullptr) independent.push_back(local->independent());
  }
  out.steps = static_cast<std::int64_t>(times.size()) - 1;
  out.cost = integrator->state()[n];
  CostGradient last;
  out.cost += finish(y, p, &last, *stages[0]);
  plain = false;
  out.final_state = stages[0]->state();
  if (!last.acceleration.isZero(0.0) || !last.effort.isZero(0.0))
    throw NumericalError(
        "a terminal cost by accelerations or efforts needs the discrete adjoint (rk4)");
  VectorXd q_bar = last.q, v_bar = last.v, sums = VectorXd::Zero(own);
  VectorXd lambda = VectorXd::Zero(n);
  if (local != nullptr) {
    VectorXd unused;
    stages[0]->evaluate(*this, settings.duration, y, p, unused);
    stages[0]->pull_back(*this, false, q_bar, v_bar, sums);
    lambda << q_bar, v_bar;
  } else {
    layout->add_positions(out.final_state, y, q_bar, lambda);
    lambda.tail(v_bar.size()) += v_bar;
  }

  // (y, λ, gradients) over s = t_end − t.
  struct Backward final : Ode {
    Run& run;
    const VectorXd& p;
    double end = 0.0;
    Index n, inputs, own;
    VectorXd part, rate_part, bar, y_bar, input, mechanism, unread;
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
      unread.setZero(run.m.freedoms());
      run.stages[0]->adjoint(run, part, p, bar, 1.0, y_bar, input, mechanism, unread);
      dx.resize(x.size());
      dx << -rate_part, y_bar, input, mechanism;
    }
  } back(*this, p, n, inputs, own);
  VectorXd x = VectorXd::Zero(back.size()), unread = VectorXd::Zero(m.freedoms()), at;
  for (std::size_t i = times.size() - 1; i-- > 0;) {
    // Loops are closed from the state at the end of the step, with its independent freedoms.
    Point from = points[i + 1];
    from.place.chart = points[i].place.chart;
    go_to(from, at);
    if (local != nullptr) {
      local->pack(from.place.state, {at.data(), to_size(at.size())});
      leave(times[i + 1], at, p, independent[i + 1], lambda, sums, unread);
    }
    x.head(n) = at;
    x.segment(n, n) = lambda;
    back.end = times[i + 1];
    const std::unique_ptr<Integrator> way = make_integrator(back, settings.integrator);
    const double span = times[i + 1] - times[i];
    try {
      way->restart(0.0, x);
      while (way->time() < span) {
        report(back.end - way->time());
        way->step(span);
        x = way->state();
        if (local == nullptr) continue;
        spare().unpack(*this, back.end - way->time(), x.head(n), p);
        local->start_from(spare().state());
      }
    } catch (const StepCollapse& e) {  // its time runs backward from the end of this step
      throw StepCollapse(back.end - e.time, e.step, e.worst,
                         "on the way back" + (e.cause.empty() ? "" : ", " + e.cause));
    }
    lambda = x.segment(n, n);
    if (local == nullptr || !local->has_turns()) continue;
    VectorXd unused;
    at = x.head(n);
    spare().evaluate(*this, times[i], at, p, unused);
    enter(spare(), nullptr, lambda, sums);
  }
  out.input = x.segment(2 * n, inputs);
  if (parameters != nullptr) out.mechanism = parameters->gradient_of(x.tail(own) + sums);
  set_initial(initial, lambda, out);
  return out;
}

}  // namespace catena
