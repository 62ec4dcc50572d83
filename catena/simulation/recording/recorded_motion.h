// SPDX-License-Identifier: BSD-3-Clause
// A motion read back from a run: states and efforts at its rows, interpolated in between.
//
// Between two rows positions follow the cubic on the manifold that has the positions and velocities
// of both (for rotations by quaternion a cubic of the tangent vector from the first row, whose rate
// at the second follows from v by the inverse of the differential of exp); velocities are those of
// that curve. Efforts follow cubics too, with slopes of parabolas through three rows, limited so
// that an effort that jumps does not overshoot. Errors are O(h⁴) in positions, O(h³) in velocities
// and smooth efforts (O(h²) next to their extremes). Loops are as closed between rows as that:
// assemble() closes them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "catena/io/runs/run_file.h"
#include "catena/model/mechanism.h"

namespace catena {

class RecordedMotion {
 public:
  // The mechanism must outlive it. Times increase; one effort for each freedom and row. Throws
  // Error, naming the row, if they do not.
  RecordedMotion(const Mechanism& mechanism, std::vector<double> times, std::vector<State> states,
                 std::vector<Eigen::VectorXd> efforts);

  std::size_t rows() const { return times_.size(); }
  double start() const { return times_.front(); }
  double end() const { return times_.back(); }
  double duration() const { return end() - start(); }
  double time(std::size_t row) const { return times_[row]; }
  const State& state(std::size_t row) const { return states_[row]; }
  const Eigen::VectorXd& effort(std::size_t row) const { return efforts_[row]; }

  // Before the first row and after the last: the values of that row.
  State state_at(double t) const;
  Eigen::VectorXd effort_at(double t) const;

 private:
  std::size_t row_before(double t) const;
  Eigen::VectorXd effort_slope(std::size_t row) const;
  const Mechanism* mechanism_;
  std::vector<double> times_;
  std::vector<State> states_;
  std::vector<Eigen::VectorXd> efforts_;
};

// Whether columns of efforts are required; optional ones that are missing are zero.
enum class Efforts { required, optional };

// From the columns time, q.*, v.* and effort.* of a run or of any table with these names. Throws
// Error, starting with `what` and naming the column that is missing.
RecordedMotion recorded_motion(const RunFile& run, const Mechanism& mechanism, Efforts efforts);
RecordedMotion recorded_motion(std::span<const RunColumn> columns, const RunRows& rows,
                               const Mechanism& mechanism, Efforts efforts,
                               const std::string& what);

}  // namespace catena
