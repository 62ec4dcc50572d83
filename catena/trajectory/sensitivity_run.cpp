// SPDX-License-Identifier: BSD-3-Clause
#include "catena/trajectory/sensitivity_run.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "catena/base/index.h"

namespace catena {
using Eigen::Index;
using Eigen::VectorXd;

void TrajectorySensitivity::Stage::unpack(const Run& run, double t, const VectorXd& y,
                                          const VectorXd& p) {
  t_ = t;
  y_ = y;
  values_.set_zero(run.m.freedoms());
  run.input.evaluate(t, p, values_);
  if (run.hybrid)
    for (int i = 0; i < run.m.freedoms(); ++i)
      if (run.input.motion_driven()[index(i)] != 0)
        run.coordinates->prescribe(i, values_.position[i], values_.velocity[i],
                                   {y_.data(), to_size(y_.size())});
  run.coordinates->at({y_.data(), to_size(y_.size())}, here_);
}

double TrajectorySensitivity::Stage::evaluate(const Run& run, double t, const VectorXd& y,
                                              const VectorXd& p, VectorXd& dy) {
  unpack(run, t, y, p);
  if (run.plain) {
    Workspace& w = products_.workspace().dynamics();
    if (run.hybrid) {
      hybrid_dynamics(run.m, here_.state,
                      {run.input.motion_driven(), values_.effort, values_.acceleration}, w, plain_);
      acceleration_ = plain_.acceleration;
      effort_ = plain_.effort;
    } else {
      acceleration_ = forward_dynamics(run.m, here_.state, values_.effort, w);
      effort_ = values_.effort;
    }
  } else if (run.hybrid) {
    const HybridResult& r = products_.evaluate_hybrid(
        here_.state, {run.input.motion_driven(), values_.effort, values_.acceleration});
    acceleration_ = r.acceleration;
    effort_ = r.effort;
  } else {
    acceleration_ = products_.evaluate(here_.state, values_.effort);
    effort_ = values_.effort;
  }
  dy.resize(y.size());
  run.coordinates->rate(here_.state, acceleration_, {dy.data(), to_size(dy.size())});
  return run.cost.running({t, here_.state, acceleration_, effort_}, nullptr);
}

void TrajectorySensitivity::Stage::adjoint(const Run& run, const VectorXd& y, const VectorXd& p,
                                           const VectorXd& bar, double cost_bar, VectorXd& y_bar,
                                           VectorXd& input, VectorXd& mechanism,
                                           VectorXd& reference_bar) {
  const int n = run.m.freedoms();
  cost_.set_zero(n);
  if (cost_bar != 0.0) {
    run.cost.running({t_, here_.state, acceleration_, effort_}, &cost_);
    for (VectorXd* x : {&cost_.q, &cost_.v, &cost_.acceleration, &cost_.effort}) *x *= cost_bar;
  }
  q_bar_ = cost_.q;
  v_bar_ = cost_.v;
  a_bar_ = cost_.acceleration;
  if (run.local != nullptr) {
    run.local->add_rates(here_.state, bar, q_bar_, v_bar_, reference_bar);
    loops_ = {q_bar_, v_bar_, a_bar_};
    products_.pull_back(q_bar_, v_bar_, a_bar_);
  }
  a_bar_ += bar.tail(a_bar_.size());
  bar_.set_zero(n);
  if (run.hybrid) {
    const DynamicsGradient& g = products_.hybrid_adjoint(a_bar_, cost_.effort);
    q_bar_ += g.q;
    v_bar_ += g.v;
    for (int i = 0; i < n; ++i) {
      const bool driven = run.input.motion_driven()[index(i)] != 0;
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
    run.parameters->add_adjoint(here_.state, products_.multiplier(), products_.workspace(),
                                mechanism);
  if (run.local != nullptr) {
    const VectorXd g =
        run.local->by_coordinates(here_.state, q_bar_, products_.workspace().dynamics());
    if (run.local->has_turns()) {
      loops_.q -= run.local->by_tangent(here_.state, g);
      reference_bar += run.local->by_reference(here_.state, g);
    }
    add_loops(run, products_.multiplier(), mechanism);
    y_bar.head(g.size()) += g;
    y_bar.tail(g.size()) += v_bar_;
  } else {
    const StateLayout& layout = *run.layout;
    layout.add_rates(here_.state, bar, q_bar_, v_bar_);
    // A prescribed freedom is not a state.
    if (run.hybrid)
      for (int i = 0; i < n; ++i)
        if (run.input.motion_driven()[index(i)] != 0) {
          bar_.position[i] += q_bar_[i];
          bar_.velocity[i] += v_bar_[i];
          q_bar_[i] = v_bar_[i] = 0.0;
        }
    layout.add_positions(here_.state, y, q_bar_, y_bar);
    y_bar.tail(n) += v_bar_;
  }
  run.input.adjoint(t_, p, bar_, input);
}

void TrajectorySensitivity::Stage::add_loops(const Run& run, const VectorXd& multiplier,
                                             VectorXd& mechanism) {
  if (run.parameters != nullptr)
    run.parameters->add_loop_adjoint(here_.state, values_.effort, loops_, multiplier,
                                     products_.workspace(), scratch_, mechanism);
}

void TrajectorySensitivity::Stage::pull_back(const Run& run, bool to_coordinates, VectorXd& q_bar,
                                             VectorXd& v_bar, VectorXd& mechanism) {
  const VectorXd zero = VectorXd::Zero(run.m.freedoms());
  loops_ = {q_bar, v_bar, zero};
  a_bar_ = zero;
  products_.pull_back(q_bar, v_bar, a_bar_);
  if (to_coordinates) {
    q_bar = run.local->by_coordinates(here_.state, q_bar, products_.workspace().dynamics());
    loops_.q -= run.local->by_tangent(here_.state, q_bar);
  }
  add_loops(run, zero, mechanism);
}

void TrajectorySensitivity::Run::begin(const State& initial, VectorXd& y) {
  layout = nullptr;
  local = nullptr;
  if (m.loops().empty()) {
    coordinates = make_coordinates(m, initial, input.motion_driven());
    std::vector<int> all(to_size(m.freedoms()));
    std::iota(all.begin(), all.end(), 0);
    layout = std::make_unique<StateLayout>(m, *coordinates, all);
  } else {
    auto own = std::make_unique<LocalCoordinates>(m, initial, input.motion_driven());
    local = own.get();
    coordinates = std::move(own);
  }
  coordinates->begin(initial);
  stages.clear();
  for (int i = 0; i < (local == nullptr ? 4 : 5); ++i) stages.push_back(std::make_unique<Stage>(m));
  use_chart();
  y.setZero(coordinates->size());
  coordinates->pack(initial, {y.data(), to_size(y.size())});
  steps = std::max<std::int64_t>(
      1, std::llround(std::ceil(settings.duration / settings.integrator.step - 1e-9)));
  h = settings.duration / static_cast<double>(steps);
  k.assign(4, VectorXd::Zero(y.size()));
}

void TrajectorySensitivity::Run::use_chart() {
  if (local == nullptr) return;
  for (const auto& stage : stages) stage->set_chart(*local->chart());
}

TrajectorySensitivity::Run::Point TrajectorySensitivity::Run::point(const VectorXd& y) const {
  return {y, local == nullptr ? LocalCoordinates::Place{} : local->place()};
}

void TrajectorySensitivity::Run::go_to(const Point& at, VectorXd& y) {
  y = at.y;
  if (local == nullptr) return;
  const bool same = at.place.chart.get() == local->chart();
  local->restore(at.place);
  if (!same) use_chart();
}

bool TrajectorySensitivity::Run::accept(double t, const VectorXd& p, bool always, VectorXd& y) {
  if (local == nullptr) return false;
  Stage& stage = spare();
  stage.unpack(*this, t, y, p);
  const Chart* const before = local->chart();
  bool repack = local->accept(stage.instant()).changed;
  if (local->chart() != before) use_chart();
  if (always && local->has_turns()) {
    local->refer_to(stage.state());
    repack = true;
  }
  if (repack) local->pack(stage.state(), {y.data(), to_size(y.size())});
  return repack;
}

void TrajectorySensitivity::Run::set_initial(const State& initial, const VectorXd& lambda,
                                             TrajectoryGradient& out) const {
  const Index n = local == nullptr ? m.freedoms() : local->states();
  out.initial_q = local == nullptr ? layout->tangent(initial, lambda) : VectorXd(lambda.head(n));
  out.initial_v = lambda.tail(n);
  for (int i = 0; i < m.freedoms(); ++i)
    if (local == nullptr || local->chart()->is_independent(i)) out.independent.push_back(i);
}

void TrajectorySensitivity::Run::leave(double t, const VectorXd& y, const VectorXd& p,
                                       const std::vector<int>& after, VectorXd& lambda,
                                       VectorXd& mechanism, VectorXd& reference_bar) {
  if (!local->has_turns() && after == local->independent()) return;
  Stage& stage = spare();
  VectorXd unused;
  stage.evaluate(*this, t, y, p, unused);
  VectorXd q_bar = VectorXd::Zero(m.freedoms()), v_bar = q_bar;
  q_bar(after) = lambda.head(local->states());
  v_bar(after) = lambda.tail(local->states());
  stage.pull_back(*this, true, q_bar, v_bar, mechanism);
  reference_bar += local->by_reference(stage.state(), q_bar);
  lambda << q_bar, v_bar;
}

void TrajectorySensitivity::Run::enter(Stage& stage, const VectorXd* reference_bar,
                                       VectorXd& lambda, VectorXd& mechanism) const {
  if (!local->has_turns()) return;
  VectorXd g = lambda.head(local->states());
  if (reference_bar != nullptr) local->drop_turns(g);
  VectorXd q_bar = local->by_tangent(stage.state(), g), v_bar = VectorXd::Zero(m.freedoms());
  if (reference_bar != nullptr) q_bar += *reference_bar;
  stage.pull_back(*this, false, q_bar, v_bar, mechanism);
  lambda.head(local->states()) = q_bar;
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
    throw NumericalError("the motion is not finite at t = " + number(t) +
                         " s: it diverged; use a shorter step");
  if (y_end != nullptr) *y_end = y;
  if (layout != nullptr) layout->scale(y);
  if (y_end == nullptr) accept(t + h, p, true, y);
}

double TrajectorySensitivity::Run::finish(const VectorXd& y, const VectorXd& p,
                                          CostGradient* gradient, Stage& stage) {
  VectorXd unused;
  stage.evaluate(*this, settings.duration, y, p, unused);
  if (gradient != nullptr) gradient->set_zero(m.freedoms());
  return cost.terminal({settings.duration, stage.state(), stage.acceleration(), stage.effort()},
                       gradient);
}

}  // namespace catena
