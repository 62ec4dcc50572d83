// The coordinates of a closed mechanism: those of the nodes outside loops, the independent ones of
// each loop, and the independent velocities. unpack() finds the rest: positions by Newton's method
// from the tangent predictor
//
//   q_dependent ≈ q_dependent(last accepted) + X(last accepted) · Δq_independent,
//
// velocities by v = X v_independent. Nothing drifts and nothing is stabilized. The predictor is not
// a luxury: started from the last evaluation instead, Newton's method leaves the branch where a
// mechanism passes a singular position (constraint embedding digest, section 3.10).
//
// Rotations by quaternion in a loop are counted from a reference rotation (loop_positions.h), which
// accepted() moves after the motion.
//
// In a singular position the rank of the closure drops and neither X nor an acceleration can be
// found, though both are smooth along the motion; near it rounding spoils them. There unpack() goes
// to six positions before and behind it along the velocity and interpolates (digest, section 3.13,
// with four more points). The rank itself never drops: that would be another mechanism.
//
// A mechanism that passes close by a singular position, and not through it, turns there within a
// short way: the branches do not meet. From afar Newton's method would go straight on to the other
// one. The determinant of the dependent columns has another sign there; then the place between is
// looked at, and if the branches are apart the step is refused, so that a shorter one is tried.
//
// Inside a step that was made the motion is known from both ends: the cubic with their positions
// and velocities is where unpack_inside() closes the loops from. It is near enough also in a long
// step, where the tangent at its start leads to another branch.
//
// accepted() looks whether the choice of independent freedoms has become poor (closure/chart.h) and
// makes another; then an integrator with a memory must forget it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <Eigen/LU>

#include "catena/closure/chart.h"
#include "catena/closure/loop_closure.h"
#include "catena/simulation/coordinates/coordinates.h"
#include "catena/simulation/coordinates/loop_positions.h"

namespace catena {

class ClosedCoordinates final : public Coordinates {
 public:
  // `state` is closed; `pinned` marks freedoms that stay independent (prescribed motions), empty:
  // none.
  ClosedCoordinates(const Mechanism& mechanism, const State& state,
                    std::vector<std::uint8_t> pinned);

  int size() const override;
  std::string name(int entry) const override;
  bool turns(int entry) const override;
  double least_size(int entry) const override;
  void begin(const State& state) override;
  void pack(const State& state, std::span<double> y) const override;
  void unpack(std::span<const double> y, State& state) override;
  void stepped(double duration, std::span<const double> start, const State& end) override;
  void unpack_inside(double s, std::span<const double> y, State& state) override;
  std::span<const Side> sides() const override {
    return near_singular_ ? std::span<const Side>(sides_) : std::span<const Side>{};
  }
  double spread(std::span<const double> y, std::span<const double> error, double relative,
                double absolute) override;
  double noise(const State& state, const Eigen::VectorXd& acceleration) const override;
  void rate(const State& state, const Eigen::VectorXd& acceleration,
            std::span<double> dy) const override;
  void prescribe(int freedom, double position, double velocity, std::span<double> y) const override;
  bool accepted(const State& state) override;
  bool counts_anew() const override { return counts_anew_; }
  double closure_residual(const State& state) const override;
  const Chart* chart() const override { return &chart_; }
  std::string change() const override { return change_; }

 private:
  // Rounding ε of the closure equations moves dependent positions by up to ε/σ, with σ the smallest
  // pivot of the block over the largest (of large loops: over what long chains have); velocities v
  // by v ε/σ²; accelerations a by a ε/σ² + v² ε/σ³. Near a singular position that is seen, and
  // error control must not ask for better. ε: a few roundings of an angle.
  static constexpr double kRounding = 1e-15;
  // Nearer than this to a singular position, as a ratio of pivots, interpolation is better than
  // what is found in place.
  static constexpr double kNearSingular = 1.5e-3;
  // Where the second step of Newton's method is shorter than this part of the first, it goes to the
  // solution that is nearest (Newton and Kantorovich; Deuflhard, Newton methods for nonlinear
  // problems, section 2.1).
  static constexpr double kSafe = 0.25;

  // A closed position of a loop inside a step, at the part s of it.
  struct Waypoint {
    double s = 0.0;
    Eigen::VectorXd x{};  // of the columns: dependent, independent
    Eigen::VectorXd rate{};
    Eigen::MatrixXd map{};
  };

  // How a loop goes on from a position.
  struct Tangent {
    Eigen::MatrixXd map;  // of the independent x: dependent by independent
    Eigen::MatrixXd
        lead;  // ẋ by v of independent freedoms; of loops with quaternions, else it is 1
  };

  // One loop, prepared for Newton's method.
  struct Loop {
    LoopClosure closure;
    std::vector<int> columns;  // dependent, then independent
    LoopPositions positions;   // of these
    std::vector<int> rows{};   // of the closure equations that the chart uses
    Eigen::VectorXd unit{};    // comparable steps of the columns
    Eigen::VectorXd from{};    // x at the anchor
    Tangent tangent{};         // there
    Eigen::PartialPivLU<Eigen::MatrixXd> block{};
    double good_ratio = 1.0;      // of the block's pivots, in a good position
    int side = 0;                 // sign of the block's determinant at the anchor, 0: not known
    bool crossed = false;         // since the anchor, where branches meet
    std::vector<Waypoint> way{};  // inside a step: its ends, and between
    Eigen::VectorXd x{}, predicted{}, rate{}, v{};  // scratch
  };

  void check_still_closed(const State& state) const;
  void use(const Chart& chart, const State& state);
  void set_anchor(const State& state);
  void check_turn(const State& state) const;
  [[noreturn]] void stop_at_singular_position(const State& state);
  // What to say of a loop in trouble whose redundant constraints are not quite: empty, or why.
  std::string disagreement(const Loop& loop) const;
  // unpack() at y moved on by `time` along its velocities. Returns the least ratio of pivots, zero
  // if another branch may have been found.
  double unpack_at(std::span<const double> y, double time, State& state);
  // The state from positions to both sides; false if no singular position is passed there, or if
  // that is no better than what was found in place with this ratio of pivots.
  bool interpolate(std::span<const double> y, double ratio, State& state);
  double error_of_sides() const;
  // All that follows works on x of a loop and leaves q there. `time` as in unpack_at(). False as in
  // settle_safely().
  bool close(Loop& loop, double time, Eigen::VectorXd& x, Eigen::VectorXd& q) const;
  // From where the dependent entries are. Returns the second step of Newton's method over the
  // first.
  double settle(Loop& loop, Eigen::VectorXd& x, Eigen::VectorXd& q) const;
  // Inside a step: dependent entries from the waypoints before and behind, for independent ones
  // that are off the cubic by little.
  void predict_inside(const Loop& loop, double s, Eigen::VectorXd& x) const;
  // Of the pivots of the block that was used last, over what is good for a loop of its size.
  static double ratio_of(const Loop& loop);
  static int side_of(const Loop& loop);
  // Of rows by x: those that the chart uses, and `count` columns in its order.
  static Eigen::MatrixXd part(const Loop& loop, const Eigen::MatrixXd& m, Eigen::Index first,
                              Eigen::Index count);
  // From a prediction. False: another branch is so near that it may have been found.
  bool settle_safely(Loop& loop, Eigen::VectorXd& x, Eigen::VectorXd& q) const;
  bool close_inside(Loop& loop, double s, Eigen::VectorXd& x, Eigen::VectorXd& q) const;
  // One more waypoint near s; false: there is none to be found.
  bool add_waypoint(Loop& loop, double s) const;
  // From the anchor along a straight line of the independent entries, in steps as short as they
  // must be. False: they would have to be too short.
  bool follow(Loop& loop, Eigen::VectorXd& x, Eigen::VectorXd& q) const;
  // Whether the branches meet between the anchor and a position on the other side.
  bool meets(Loop& loop, const Eigen::VectorXd& there) const;
  // How far a position that is nearly singular is from one that is: the residual in the directions
  // that no motion of the dependent entries changes, after it was brought to zero in all others.
  // There are at least `folded` such directions, mostly one; where the two rhombs of an inversor
  // fold together there are two.
  double distance_of_branches(const Loop& loop, int folded, Eigen::VectorXd& x,
                              Eigen::VectorXd& q) const;
  // The closed position that is nearest, whatever has to move for it.
  void close_nearest(const Loop& loop, Eigen::VectorXd& q) const;
  Eigen::MatrixXd map_at(Loop& loop, const Eigen::VectorXd& q) const;
  // Of a loop with quaternions: v of all columns by ẋ of the independent ones.
  static Eigen::MatrixXd velocities_at(const Loop& loop, const Eigen::VectorXd& q,
                                       const Eigen::MatrixXd& map);
  // The same at what the last unpack() gave; leaves the loop's block there, or beside it.
  Tangent tangent_here(Loop& loop, const State& state) const;
  bool is_far_from_reference(const Loop& loop, const State& state) const;
  std::size_t first_velocity() const { return positions_.size() + turned_.size(); }

  const Mechanism& mechanism_;
  std::vector<std::uint8_t> pinned_;
  AggregateTables tables_;
  std::vector<std::uint8_t> turning_;  // by coordinate
  Chart chart_;
  std::vector<Loop> loops_;
  // The entries of y: coordinates in q, entries of x that are none, freedoms in v.
  struct Turned {
    std::size_t loop;
    Eigen::Index entry;
  };
  std::vector<int> positions_;
  std::vector<Turned> turned_;
  std::vector<int> velocities_;
  State anchor_;                  // last accepted
  State near_, off_;              // of spread()
  double duration_ = 0.0;         // of a step that was made
  std::optional<double> inside_;  // the part of it where unpack_inside() is
  std::array<Side, 6> sides_;
  bool near_singular_ = false;  // in the last unpack()
  double ratio_ = 1.0;  // of pivots: of the last unpack(), or of the sides it is interpolated from
  double interpolation_ = 0.0;  // and what that is off, as a part
  std::string change_;
  bool counts_anew_ = false;
  mutable Eigen::VectorXd rates_;
};

}  // namespace catena
