// SPDX-License-Identifier: BSD-3-Clause
// Implementation of TrajectorySensitivity: stages of a step, which evaluate rates and their
// transpose, and the run itself.
//
// A tree is integrated in q and v (layout.h), a closed mechanism in local coordinates
// (local_coordinates.h). Between the steps of a closed mechanism λ is the gradient by tangent
// directions and velocities of the independent freedoms there, which may be others than those of
// the step before; leave() converts it to the coordinates of a step, at its end, and enter() back
// to tangent directions at its beginning.
#pragma once

#include "catena/base/error.h"
#include "catena/base/text.h"
#include "catena/sensitivity/parameters/geometry_probe.h"
#include "catena/trajectory/layout.h"
#include "catena/trajectory/local_coordinates.h"
#include "catena/trajectory/sensitivity.h"

namespace catena {

// One evaluation of the rates, and its transpose.
class TrajectorySensitivity::Stage {
 public:
  explicit Stage(const Mechanism& m) : products_(m) {
    values_.set_zero(m.freedoms());
    here_.state = m.default_state();
  }
  void set_chart(const Chart& chart) { products_.workspace().dynamics().set_chart(chart, true); }

  // ẏ and the running cost.
  double evaluate(const Run& run, double t, const Eigen::VectorXd& y, const Eigen::VectorXd& p,
                  Eigen::VectorXd& dy);
  // Adds to y_bar, and to the gradients, the parts of bar on ẏ and of cost_bar on the running cost.
  // reference_bar: by the reference of local coordinates.
  void adjoint(const Run& run, const Eigen::VectorXd& y, const Eigen::VectorXd& p,
               const Eigen::VectorXd& bar, double cost_bar, Eigen::VectorXd& y_bar,
               Eigen::VectorXd& input, Eigen::VectorXd& mechanism, Eigen::VectorXd& reference_bar);
  const Instant& instant() const { return here_; }
  const State& state() const { return here_.state; }
  const Eigen::VectorXd& acceleration() const { return acceleration_; }
  const Eigen::VectorXd& effort() const { return effort_; }
  void unpack(const Run& run, double t, const Eigen::VectorXd& y, const Eigen::VectorXd& p);

  // Of a closed mechanism, where it was evaluated last: gradients by positions and velocities of
  // all freedoms become those by tangent directions, or coordinates, and velocities of the
  // independent ones. Their part by the parameters of the mechanism is added to `mechanism`.
  void pull_back(const Run& run, bool to_coordinates, Eigen::VectorXd& q_bar,
                 Eigen::VectorXd& v_bar, Eigen::VectorXd& mechanism);

 private:
  void add_loops(const Run& run, const Eigen::VectorXd& multiplier, Eigen::VectorXd& mechanism);

  DynamicsProducts products_;
  InputValues values_, bar_;
  Instant here_;
  Eigen::VectorXd y_, acceleration_, effort_, q_bar_, v_bar_, a_bar_;
  CostGradient cost_;
  LoopGradient loops_;
  ParameterSet::LoopScratch scratch_;
  HybridResult plain_;
  double t_ = 0.0;
};

struct TrajectorySensitivity::Run {
  const Mechanism& m;
  const TrajectoryInput& input;
  const TrajectoryCost& cost;
  TrajectorySettings settings;
  const ParameterSet* parameters;
  std::unique_ptr<Coordinates> coordinates{};
  LocalCoordinates* local = nullptr;      // the coordinates of a closed mechanism
  std::unique_ptr<StateLayout> layout{};  // of a tree
  std::vector<std::unique_ptr<Stage>> stages{};
  std::int64_t steps = 0;
  double h = 0.0;
  bool hybrid = false;
  bool plain = false;  // rates only, without transposes
  std::vector<Eigen::VectorXd> k{};
  Eigen::VectorXd stage_y{};

  // Where a step starts.
  struct Point {
    Eigen::VectorXd y;
    LocalCoordinates::Place place;
  };
  Point point(const Eigen::VectorXd& y) const;
  void go_to(const Point& point, Eigen::VectorXd& y);

  void begin(const State& initial, Eigen::VectorXd& y);
  void report(double t) const {
    if (settings.progress && !settings.progress(t))
      throw NumericalError("stopped at t = " + number(t) + " s");
  }
  // One step in place; adds to the cost. y_end (null: not wanted): where it ends in the coordinates
  // that it started in, which then stay.
  void step(std::int64_t i, const Eigen::VectorXd& p, Eigen::VectorXd& y, double& total,
            Eigen::VectorXd* y_end);
  // Continues from y: true if its coordinates have changed (`always`: at least the reference).
  bool accept(double t, const Eigen::VectorXd& p, bool always, Eigen::VectorXd& y);
  double finish(const Eigen::VectorXd& y, const Eigen::VectorXd& p, CostGradient* gradient,
                Stage& stage);
  bool euler() const { return settings.integrator.method == Method::euler; }
  TrajectoryGradient continuous(const State& initial, const Eigen::VectorXd& p);

  // λ at the start as the gradient by the initial state.
  void set_initial(const State& initial, const Eigen::VectorXd& lambda,
                   TrajectoryGradient& out) const;

  Stage& spare() { return *stages.back(); }
  void use_chart();  // of the coordinates, in all stages
  // At the end of a step, y there: λ of the independent freedoms `after` becomes one by y.
  void leave(double t, const Eigen::VectorXd& y, const Eigen::VectorXd& p,
             const std::vector<int>& after, Eigen::VectorXd& lambda, Eigen::VectorXd& mechanism,
             Eigen::VectorXd& reference_bar);
  // λ by y becomes one by tangent directions; `stage` was evaluated there. reference_bar (null: y
  // alone is meant): θ starts at zero, and the reference goes with the state.
  void enter(Stage& stage, const Eigen::VectorXd* reference_bar, Eigen::VectorXd& lambda,
             Eigen::VectorXd& mechanism) const;
};

}  // namespace catena
