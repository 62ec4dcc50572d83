// The columns of a run: chosen by name, a * standing for anything, and filled row by row.
//
//   q.NAME v.NAME a.NAME        coordinates, velocities, accelerations
//   effort.NAME                 of the actuators: inputs, controllers, prescribed motions
//   friction.NAME reaction.NAME at freedoms with friction or stops: friction, and what holds them
//   energy.kinetic, energy.gravity, energy.springs, energy.total, energy.work, energy.error
//   momentum.linear.x ... momentum.angular.z    ground axes, angular about the mass centre
//   work.ELEMENT                of each element: "work.input elbow"
//   position.PLACE.x velocity.PLACE.x ...       of a frame or the origin of a body, ground axes
//   force.HINGE.x moment.HINGE.x ...            parent on child at the child's hinge point, ground
//                               axes; less what redundant constraints leave undetermined
//
// "time" is always the first column, and q.* is always there: pictures need it. Columns of others
// come last: what a motion is compared with, for example (nominal.q.elbow).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "catena/dynamics/forces.h"
#include "catena/dynamics/workspace.h"
#include "catena/io/runs/run_file.h"
#include "catena/simulation/recording/audit.h"

namespace catena {

// A column that is not of the simulation itself: its name, unit, and value at the time and state of
// a row. Always written, whatever the patterns.
struct ExtraOutput {
  RunColumn column;
  std::function<double(double t, const State& state)> value;
};

class Outputs {
 public:
  // A pattern that matches nothing is a NameError with the nearest name. No pattern: q, v, effort
  // and energy. The name of an extra column must be its own.
  Outputs(const Equations& equations, std::span<const std::string> patterns,
          std::span<const ExtraOutput> extra = {});

  const std::vector<RunColumn>& columns() const { return columns_; }
  // After equations.evaluate(t, y) and auditor.observe(...).
  const std::vector<double>& row(double t, const Equations& equations, const Auditor& auditor,
                                 const Eigen::VectorXd& y);

 private:
  // A frame, or the origin of a body.
  struct Place {
    int body;
    Vec3d point;
  };
  void put_places(const Mechanism& mechanism, const State& state);
  void put_forces(const Equations& equations);

  std::vector<RunColumn> columns_;
  std::vector<int> chosen_;  // indices into all
  std::vector<Place> places_;
  std::size_t first_of_places_ = 0;  // in all: their positions, then their velocities
  std::vector<std::uint8_t> wanted_places_;
  std::vector<std::uint8_t> wanted_hinges_;
  std::size_t first_of_hinges_ = 0;       // in all: their forces, then their moments
  std::unique_ptr<Workspace> workspace_;  // if any of these is wanted
  std::unique_ptr<InterbodyForces> forces_;
  std::vector<double> all_;
  std::vector<ExtraOutput> extra_;
  std::vector<double> row_;
};

// "rad", "m" or "" of coordinate or freedom i.
std::string position_unit(const Mechanism& mechanism, int i);
std::string velocity_unit(const Mechanism& mechanism, int i);

}  // namespace catena
