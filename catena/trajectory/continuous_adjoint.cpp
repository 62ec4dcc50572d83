// SPDX-License-Identifier: BSD-3-Clause
// The continuous adjoint. The backward pass over each step starts from the state that the forward
// run accepted at its end.
#include "catena/base/index.h"
#include "catena/trajectory/sensitivity_run.h"

namespace catena {
using Eigen::Index;
using Eigen::VectorXd;

// (y, cost) forward, with the data that the backward pass needs.
class TrajectorySensitivity::ForwardMotion final : public Ode {
 public:
  ForwardMotion(Run& run, const VectorXd& p) : run_(run), p_(p) {}

  int size() const override { return run_.coordinates->size() + 1; }
  int controlled() const override { return size() - 1; }
  void rate(double t, const VectorXd& z, VectorXd& dz) override {
    part_ = z.head(z.size() - 1);
    dz.resize(z.size());
    dz[z.size() - 1] = run_.stages[0]->evaluate(run_, t, part_, p_, rate_part_);
    dz.head(part_.size()) = rate_part_;
  }

  // From y to the end of the motion, which is left in y.
  void go(VectorXd& y) {
    const Index n = y.size();
    const std::unique_ptr<Integrator> integrator = make_integrator(*this, run_.settings.integrator);
    VectorXd z(n + 1);
    z << y, 0.0;
    integrator->restart(0.0, z);
    keep(0.0, y);
    while (integrator->time() < run_.settings.duration) {
      run_.report(integrator->time());  // not in rate(), whose errors make the step shorter
      integrator->step(run_.settings.duration);
      y = integrator->state().head(n);
      if (run_.accept(integrator->time(), p_, false, y)) {
        z << y, integrator->state()[n];
        integrator->restart(integrator->time(), z);
      }
      keep(integrator->time(), y);
    }
    cost = integrator->state()[n];
  }

  double cost = 0.0;
  // By step: where it starts, with the independent freedoms there; and the end of the last.
  std::vector<double> times;
  std::vector<Run::Point> points;
  std::vector<std::vector<int>> independent;

 private:
  void keep(double t, const VectorXd& y) {
    times.push_back(t);
    points.push_back(run_.point(y));
    independent.push_back(run_.local == nullptr ? std::vector<int>{} : run_.local->independent());
  }

  Run& run_;
  const VectorXd& p_;
  VectorXd part_, rate_part_;
};

// (y, λ, gradients) over s = t_end − t.
class TrajectorySensitivity::BackwardMotion final : public Ode {
 public:
  BackwardMotion(Run& run, const VectorXd& p, Index n)
      : run_(run),
        p_(p),
        n_(n),
        inputs_(run.input.parameters()),
        own_(run.parameters == nullptr ? 0 : run.parameters->adjoint_size()),
        x_(VectorXd::Zero(size())),
        sums_(VectorXd::Zero(own_)) {}

  int size() const override { return static_cast<int>(2 * n_ + inputs_ + own_); }
  int controlled() const override { return static_cast<int>(2 * n_); }
  void rate(double s, const VectorXd& x, VectorXd& dx) override {
    part_ = x.head(n_);
    bar_ = x.segment(n_, n_);
    run_.stages[0]->evaluate(run_, end_ - s, part_, p_, rate_part_);
    y_bar_.setZero(n_);
    input_.setZero(inputs_);
    mechanism_.setZero(own_);
    unread_.setZero(run_.m.freedoms());
    run_.stages[0]->adjoint(run_, part_, p_, bar_, 1.0, y_bar_, input_, mechanism_, unread_);
    dx.resize(x.size());
    dx << -rate_part_, y_bar_, input_, mechanism_;
  }

  // λ at the end of the motion, y there.
  void start(const VectorXd& y, const State& end, const CostGradient& last) {
    VectorXd q_bar = last.q, v_bar = last.v;
    lambda_ = VectorXd::Zero(n_);
    if (run_.local != nullptr) {
      VectorXd unused;
      run_.stages[0]->evaluate(run_, run_.settings.duration, y, p_, unused);
      run_.stages[0]->pull_back(run_, false, q_bar, v_bar, sums_);
      lambda_ << q_bar, v_bar;
    } else {
      run_.layout->add_positions(end, y, q_bar, lambda_);
      lambda_.tail(v_bar.size()) += v_bar;
    }
  }

  // Over step i of the forward motion.
  void go_back(const ForwardMotion& ahead, std::size_t i) {
    // Loops are closed from the state at the end of the step, with its independent freedoms.
    Run::Point from = ahead.points[i + 1];
    from.place.chart = ahead.points[i].place.chart;
    end_ = ahead.times[i + 1];
    VectorXd at;
    run_.go_to(from, at);
    if (run_.local != nullptr) {
      VectorXd unread = VectorXd::Zero(run_.m.freedoms());
      run_.local->pack(from.place.state, {at.data(), to_size(at.size())});
      run_.leave(end_, at, p_, ahead.independent[i + 1], lambda_, sums_, unread);
    }
    x_.head(n_) = at;
    x_.segment(n_, n_) = lambda_;
    integrate(end_ - ahead.times[i]);
    lambda_ = x_.segment(n_, n_);
    if (run_.local == nullptr || !run_.local->has_turns()) return;
    VectorXd unused;
    at = x_.head(n_);
    run_.spare().evaluate(run_, ahead.times[i], at, p_, unused);
    run_.enter(run_.spare(), nullptr, lambda_, sums_);
  }

  void store(const State& initial, TrajectoryGradient& out) const {
    out.input = x_.segment(2 * n_, inputs_);
    if (run_.parameters != nullptr)
      out.mechanism = run_.parameters->gradient_of(x_.tail(own_) + sums_);
    run_.set_initial(initial, lambda_, out);
  }

 private:
  void integrate(double span) {
    const std::unique_ptr<Integrator> way = make_integrator(*this, run_.settings.integrator);
    try {
      way->restart(0.0, x_);
      while (way->time() < span) {
        run_.report(end_ - way->time());
        way->step(span);
        x_ = way->state();
        if (run_.local == nullptr) continue;
        run_.spare().unpack(run_, end_ - way->time(), x_.head(n_), p_);
        run_.local->start_from(run_.spare().state());
      }
    } catch (const StepCollapse& e) {  // its time runs backward from the end of this step
      throw StepCollapse(
          end_ - e.time, e.step, e.worst,
          "in the backward pass of the adjoint" + (e.cause.empty() ? "" : ", " + e.cause));
    }
  }

  Run& run_;
  const VectorXd& p_;
  Index n_, inputs_, own_;
  double end_ = 0.0;        // of the step, s
  VectorXd x_;              // the integrated vector
  VectorXd lambda_, sums_;  // sums_: gradients of the mechanism's parameters by jumps of λ
  VectorXd part_, rate_part_, bar_, y_bar_, input_, mechanism_, unread_;
};

TrajectoryGradient TrajectorySensitivity::Run::continuous(const State& initial, const VectorXd& p) {
  TrajectoryGradient out;
  VectorXd y;
  begin(initial, y);
  plain = true;
  ForwardMotion ahead(*this, p);
  ahead.go(y);
  out.steps = static_cast<std::int64_t>(ahead.times.size()) - 1;
  CostGradient last;
  out.cost = ahead.cost + finish(y, p, &last, *stages[0]);
  plain = false;
  out.final_state = stages[0]->state();
  if (!last.acceleration.isZero(0.0) || !last.effort.isZero(0.0))
    throw NumericalError(
        "a terminal cost by accelerations or efforts needs the discrete adjoint (rk4)");
  BackwardMotion back(*this, p, y.size());
  back.start(y, out.final_state, last);
  for (std::size_t i = ahead.times.size() - 1; i-- > 0;) back.go_back(ahead, i);
  back.store(initial, out);
  return out;
}

}  // namespace catena
