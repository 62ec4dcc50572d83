// SPDX-License-Identifier: BSD-3-Clause
#include "catena/trajectory/rollout.h"

#include <array>
#include <cmath>
#include <numbers>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/dynamics/forward.h"
#include "catena/sensitivity/forward_derivatives.h"
#include "catena/trajectory/layout.h"
#include "catena/trajectory/variational.h"

namespace catena {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

struct Rule {
  std::vector<double> points, weights;  // on (0, 1)
};

// Gauss and Legendre: Newton's method on the polynomial of degree n.
Rule gauss_legendre(int n) {
  Rule rule;
  for (int i = 0; i < n; ++i) {
    double x = -std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5)), slope = 1.0;
    for (int round = 0; round < 100; ++round) {
      double p = 1.0, before = 0.0;
      for (int k = 1; k <= n; ++k) {
        const double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
        before = p;
        p = next;
      }
      slope = n * (x * p - before) / (x * x - 1.0);
      const double step = p / slope;
      x -= step;
      if (std::abs(step) < 1e-16) break;
    }
    rule.points.push_back(0.5 * (1.0 + x));
    rule.weights.push_back(1.0 / ((1.0 - x * x) * slope * slope));
  }
  return rule;
}

}  // namespace

struct Rollout::Run {
  Run(const Mechanism& mechanism, const SplineControls& splines, const State& start,
      const MotionGrid& points)
      : m(mechanism), controls(splines), initial(start), grid(points) {}

  const Mechanism& m;
  const SplineControls& controls;
  State initial;
  MotionGrid grid;
  std::vector<double> knots;
  std::vector<std::uint8_t> driven_mask;
  bool driven = false;
  Rule rule;

  // Made again for every run: a closed mechanism starts from its initial state again.
  std::unique_ptr<Coordinates> coordinates;
  std::unique_ptr<StateLayout> layout;
  std::unique_ptr<SensitivityWorkspace> work;

  double duration = 1.0;
  const VectorXd* parameters = nullptr;
  bool with_columns = false;

  // At the point that was evaluated last.
  Instant here;
  HybridInput input;
  HybridResult plain;
  VectorXd acceleration, effort, y_point;
  std::vector<ControlValue> values;
  MatrixXd s_point, s_rate;  // columns of (q; v) of the independent freedoms, and of their rates
  MotionColumns columns;

  // Scratch of the steps.
  VectorXd y, k[4], y_stage;
  MatrixXd s, sk[4], s_stage, by_input;

  Index size() const { return layout->states(); }
  Index parameter_count() const { return controls.parameters() + 1; }

  void begin();
  // State, accelerations and efforts at u; y as the integrator has it, s its columns.
  void evaluate(double u, double inside, const VectorXd& at, const MatrixXd& s_at);
  void rates(VectorXd& dy, MatrixXd& ds);  // by u
  void add_input_columns(int control, int order, double factor, Eigen::Ref<MatrixXd> rows,
                         Index row) const;
  void fill_columns();
  void show(double u, double weight, bool last, const Visitor& visit);
  void integrate(const Visitor& visit);
  void look(const Visitor& visit);
};

void Rollout::Run::begin() {
  if (coordinates == nullptr) {
    coordinates = make_coordinates(m, initial, controls.motion_driven());
    if (coordinates->chart() != nullptr)  // the independent freedoms do not change
      coordinates =
          make_coordinates(m, initial, coordinates->chart()->independent_mask(m.freedoms()));
    const Chart* chart = coordinates->chart();
    std::vector<int> independent;
    if (chart != nullptr)
      independent = chart->independent(m.freedoms());
    else
      for (int i = 0; i < m.freedoms(); ++i) independent.push_back(i);
    layout = std::make_unique<StateLayout>(m, *coordinates, independent);
    work = std::make_unique<SensitivityWorkspace>(m);
    if (chart != nullptr) work->dynamics().set_chart(*chart, true);
    driven = true;
    for (const int f : independent) driven = driven && driven_mask[index(f)] != 0;
  }
  coordinates->begin(initial);
  here.state = initial;
  y.setZero(coordinates->size());
  coordinates->pack(initial, {y.data(), to_size(y.size())});
  s.setZero(2 * size(), parameter_count());
}

void Rollout::Run::add_input_columns(int control, int order, double factor,
                                     Eigen::Ref<MatrixXd> rows, Index row) const {
  const ControlValue& v = values[index(control)];
  for (int i = 0; i < v.count; ++i) rows(row, v.first + i) += factor * v.by_parameter[order][i];
  rows(row, parameter_count() - 1) += factor * v.by_duration[order];
}

void Rollout::Run::evaluate(double u, double inside, const VectorXd& at, const MatrixXd& s_at) {
  const int n = m.freedoms();
  input.effort.setZero(n);
  input.acceleration.setZero(n);
  y_point = at;
  for (int c = 0; c < controls.size(); ++c) {
    ControlValue& v = values[index(c)];
    controls.evaluate(c, u, inside, duration, *parameters, v);
    const SplineControl& control = controls.controls()[index(c)];
    if (!control.motion) {
      input.effort[control.freedom] = v.value[0];
      continue;
    }
    input.acceleration[control.freedom] = v.value[2];
    coordinates->prescribe(control.freedom, v.value[0], v.value[1],
                           {y_point.data(), to_size(y_point.size())});
  }
  coordinates->at({y_point.data(), to_size(y_point.size())}, here);
  if (!with_columns) {
    hybrid_dynamics(m, here.state, input, work->dynamics(), plain);
    acceleration = plain.acceleration;
    effort = plain.effort;
    return;
  }
  const HybridDerivatives& h = hybrid_dynamics_derivatives(m, here.state, input, *work);
  acceleration = h.result.acceleration;
  effort = h.result.effort;
  // A prescribed freedom is not a state: its columns are those of the splines.
  const Index states = size();
  s_point = s_at;
  by_input.setZero(n, parameter_count());
  for (int c = 0; c < controls.size(); ++c) {
    const SplineControl& control = controls.controls()[index(c)];
    add_input_columns(c, control.motion ? 2 : 0, 1.0, by_input, control.freedom);
    if (!control.motion) continue;
    const Index place = layout->independent_place(control.freedom);
    for (const int order : {0, 1}) {
      s_point.row(order * states + place).setZero();
      add_input_columns(c, order, 1.0, s_point, order * states + place);
    }
  }
  s_rate.resize(2 * states, parameter_count());
  s_rate.noalias() =
      system_matrix(m, here.state, h.acceleration_dq, h.acceleration_dv, *work) * s_point;
  s_rate.bottomRows(states).noalias() += h.acceleration_dinput * by_input;
}

void Rollout::Run::rates(VectorXd& dy, MatrixXd& ds) {
  dy.resize(y_point.size());
  coordinates->rate(here.state, acceleration, {dy.data(), to_size(dy.size())});
  dy *= duration;
  if (!with_columns) return;
  // d/du = T d/dt, and its own derivative by T.
  ds = duration * s_rate;
  const std::vector<int>& own = work->dynamics().independent();
  const Index n = size(), last = parameter_count() - 1;
  for (Index i = 0; i < n; ++i) {
    ds(i, last) += here.state.v[own[index(i)]];
    ds(n + i, last) += acceleration[own[index(i)]];
  }
}

void Rollout::Run::fill_columns() {
  const HybridDerivatives& h = work->hybrid;
  const Index n = size();
  const auto sq = s_point.topRows(n);
  const auto sv = s_point.bottomRows(n);
  const auto sa = s_rate.bottomRows(n);
  if (m.loops().empty()) {
    columns.q = sq;
    columns.v = sv;
    columns.acceleration = sa;
  } else {
    const TangentMaps& t = work->tangent;
    columns.q.noalias() = t.map * sq;
    columns.v.noalias() = t.map * sv;
    columns.v.noalias() += t.velocity_dq * sq;
    columns.acceleration.noalias() = t.map * sa;
    columns.acceleration.noalias() += t.bias_dq * sq;
    columns.acceleration.noalias() += t.bias_dv * sv;
  }
  columns.effort.setZero(m.freedoms(), parameter_count());
  for (int c = 0; c < controls.size(); ++c) {
    const int f = controls.controls()[index(c)].freedom;
    if (!controls.controls()[index(c)].motion) {
      columns.effort.row(f) = by_input.row(f);
      continue;
    }
    const Index place = layout->independent_place(f);
    columns.effort.row(f).noalias() = h.effort_dq.row(place) * sq;
    columns.effort.row(f).noalias() += h.effort_dv.row(place) * sv;
    columns.effort.row(f).noalias() += h.effort_dinput.row(place) * by_input;
  }
}

void Rollout::Run::show(double u, double weight, bool last, const Visitor& visit) {
  if (!acceleration.allFinite() || !effort.allFinite())
    throw NumericalError("the motion is not finite at t = " + std::to_string(u * duration) +
                         " s: it diverged");
  if (with_columns) fill_columns();
  visit({u * duration, duration, weight * duration, last, here.state, acceleration, effort, values,
         with_columns ? &columns : nullptr});
}

void Rollout::Run::look(const Visitor& visit) {
  evaluate(0.0, 0.0, y, s);
  show(0.0, 0.0, false, visit);
  for (std::size_t i = 0; i + 1 < knots.size(); ++i) {
    const double part = (knots[i + 1] - knots[i]) / grid.parts;
    for (int j = 0; j < grid.parts; ++j)
      for (std::size_t g = 0; g < rule.points.size(); ++g) {
        const double u = knots[i] + part * (j + rule.points[g]);
        evaluate(u, u, y, s);
        show(u, part * rule.weights[g], false, visit);
        coordinates->accept(here);
      }
  }
  evaluate(1.0, 1.0, y, s);
  show(1.0, 0.0, true, visit);
}

void Rollout::Run::integrate(const Visitor& visit) {
  for (std::size_t i = 0; i + 1 < knots.size(); ++i) {
    const double h = (knots[i + 1] - knots[i]) / grid.steps;
    const double inside = 0.5 * (knots[i] + knots[i + 1]);
    for (int j = 0; j <= grid.steps; ++j) {
      const double u = knots[i] + h * j;
      const double weight = h / 3.0 * (j == 0 || j == grid.steps ? 1.0 : j % 2 == 1 ? 4.0 : 2.0);
      evaluate(u, inside, y, s);
      show(u, weight, j == grid.steps && i + 2 == knots.size(), visit);
      if (j == grid.steps) break;
      coordinates->accept(here);
      rates(k[0], sk[0]);
      static constexpr std::array<double, 4> kReach{0.0, 0.5, 0.5, 1.0};
      for (std::size_t stage = 1; stage < 4; ++stage) {
        y_stage = y + h * kReach[stage] * k[stage - 1];
        if (with_columns) s_stage = s + h * kReach[stage] * sk[stage - 1];
        evaluate(u + h * kReach[stage], inside, y_stage, s_stage);
        rates(k[stage], sk[stage]);
      }
      y += (h / 6.0) * (k[0] + 2.0 * (k[1] + k[2]) + k[3]);
      if (with_columns) s += (h / 6.0) * (sk[0] + 2.0 * (sk[1] + sk[2]) + sk[3]);
      if (!y.allFinite())
        throw NumericalError("the motion is not finite at t = " + std::to_string(u * duration) +
                             " s: it diverged");
      layout->scale(y);
    }
  }
}

Rollout::Rollout(const Mechanism& mechanism, const SplineControls& controls, const State& initial,
                 const MotionGrid& grid) {
  if (grid.steps < 2 || grid.steps % 2 != 0)
    throw NumericalError("the grid has " + std::to_string(grid.steps) +
                         " steps between knots; an even number of at least 2 is needed");
  if (grid.points < 2 || grid.parts < 1 || grid.points * grid.parts < 16)
    throw NumericalError("the grid has " + std::to_string(grid.points * grid.parts) +
                         " points between knots; fewer than 16 let an optimizer exploit the "
                         "quadrature");
  run_ = std::make_unique<Run>(mechanism, controls, initial, grid);
  Run& run = *run_;
  run.knots = controls.knots();
  run.driven_mask = controls.motion_driven();
  run.driven_mask.resize(to_size(mechanism.freedoms()), 0);
  run.input.motion_driven = run.driven_mask;
  run.values.resize(to_size(controls.size()));
  run.rule = gauss_legendre(grid.points);
  run.begin();
}

Rollout::~Rollout() = default;
Rollout::Rollout(Rollout&&) noexcept = default;

int Rollout::columns() const { return static_cast<int>(run_->parameter_count()); }
bool Rollout::driven() const { return run_->driven; }
int Rollout::points() const {
  const int spans = static_cast<int>(run_->knots.size()) - 1;
  return run_->driven ? 2 + spans * run_->grid.parts * run_->grid.points
                      : spans * (run_->grid.steps + 1);
}

std::vector<double> Rollout::places() const {
  const Run& run = *run_;
  std::vector<double> all;
  if (run.driven) all.push_back(0.0);
  for (std::size_t i = 0; i + 1 < run.knots.size(); ++i) {
    const double span = run.knots[i + 1] - run.knots[i];
    if (run.driven)
      for (int j = 0; j < run.grid.parts; ++j)
        for (const double point : run.rule.points)
          all.push_back(run.knots[i] + span / run.grid.parts * (j + point));
    else
      for (int j = 0; j <= run.grid.steps; ++j)
        all.push_back(run.knots[i] + span / run.grid.steps * j);
  }
  if (run.driven) all.push_back(1.0);
  return all;
}

void Rollout::run(double duration, const VectorXd& parameters, bool with_columns,
                  const Visitor& visit) {
  Run& run = *run_;
  if (!(duration > 0.0)) throw NumericalError("a motion needs a duration above zero");
  run.duration = duration;
  run.parameters = &parameters;
  run.with_columns = with_columns;
  run.begin();
  if (run.driven)
    run.look(visit);
  else
    run.integrate(visit);
}

}  // namespace catena
