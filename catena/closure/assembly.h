// SPDX-License-Identifier: BSD-3-Clause
// Assembly: closes the loops of a mechanism. From a rough position it finds one in which every
// closure equation holds, g(q) = 0, and from a rough velocity one with Y(q) v = 0 (Y = ∂g/∂q along
// tangent directions).
//
//   const State closed = assemble(linkage, guess);  // or NumericalError: what is open
//   const Eigen::VectorXd a = forward_dynamics(linkage, closed, effort);
//   const Assembly found = find_assembly(linkage, guess.q);       // the same with a report
//
// Each loop is solved on its own (its equations do not depend on the rest): Levenberg-Marquardt
// with bounded steps, which keeps to the branch of the guess where plain Newton jumps through whole
// turns, then Newton with the step of least norm. Hinge limits and fixed freedoms are respected. A
// loop that does not close from the guess is tried again from positions around it, a fixed list.
// Another assembly mode (elbow up, elbow down) is reached from another guess. Cost: per iteration
// the cube of a loop's freedoms.
//
// References: [Nocedal & Wright 2006], chapter 10; [Nikravesh 1988] for closure equations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "catena/closure/position_solver.h"

namespace catena {

struct AssemblySettings {
  std::vector<std::uint8_t> fixed{};  // by freedom: 1 keeps it as given; empty: none
  // Keeps the joint limits: a guess outside them is brought inside first. A position that is given
  // closed, or a freedom that is fixed, stays where it is.
  bool keep_limits = true;
  // Finds the closed position nearest to the guess, not just one near it: the nearest result of
  // searches from several starts, each a local minimum of the distance. Global optimality is not
  // guaranteed.
  bool closest = false;
};

struct LoopAssembly {
  double given_gap = 0.0;  // radians, or fractions of the loop's size
  double gap = 0.0;        // after assembly
  bool closed = false;
  std::string remains;  // if not closed: the open joint, in words
};

struct Assembly {
  Eigen::VectorXd q;  // the best position found
  bool closed = false;
  std::vector<LoopAssembly> loops;  // in the order of Mechanism::loops()
  double gap() const;               // the largest
};

Assembly find_assembly(const Mechanism& mechanism, const Eigen::VectorXd& guess,
                       const AssemblySettings& settings = {});

// q with these freedoms brought inside the limits of their hinges.
Eigen::VectorXd within_limits(const Mechanism& mechanism, const Eigen::VectorXd& q,
                              const std::vector<int>& freedoms);

// Describes the freedoms of q outside the limits of their hinges: "'B' at 2.053 (limits -0.2 to
// 0.2)".
std::vector<std::string> outside_limits(const Mechanism& mechanism, const Eigen::VectorXd& q);

// As find_assembly(), but a NumericalError with the best residual and the open joint if it cannot
// be closed.
Eigen::VectorXd assemble(const Mechanism& mechanism, const Eigen::VectorXd& guess,
                         const AssemblySettings& settings = {});

// The velocity nearest to v (in the sense of least squares over each loop's freedoms; those that
// only shift count by the loop's length) that keeps the loops of the closed position q closed.
// Fixed freedoms keep their velocity; a NumericalError if they contradict a loop.
Eigen::VectorXd consistent_velocity(const Mechanism& mechanism, const Eigen::VectorXd& q,
                                    const Eigen::VectorXd& v,
                                    const std::vector<std::uint8_t>& fixed = {});

// Position and velocity.
State assemble(const Mechanism& mechanism, const State& guess,
               const AssemblySettings& settings = {});

// Which freedoms of a guess were given, rather than left at zero. By freedom.
struct GivenFreedoms {
  std::vector<std::uint8_t> position;
  std::vector<std::uint8_t> velocity;
};
// The given freedoms of a description: hinges that have an initial position or velocity there.
GivenFreedoms given_by_description(const Mechanism& mechanism);

// Position and velocity near a guess: keeps the given values if the loops can be closed that way,
// and otherwise moves everything. A state that is closed to rounding is returned as it is.
State assemble_near(const Mechanism& mechanism, const State& guess, const GivenFreedoms& given);

// Largest residual of all loops at q, and of Y v at (q, v).
double closure_gap(const Mechanism& mechanism, const Eigen::VectorXd& q);
double closure_rate(const Mechanism& mechanism, const State& state);

// ---- One loop at a time, for mobility and charts. ----

// A loop is closed when its residual is below this. Files are often written with six digits, and
// over-constrained loops then close no better than that.
inline constexpr double kClosed = 1e-5;

struct Closing {
  Eigen::VectorXd q;
  double gap = kInfinity;
};

// `free` lists the columns that may move.
Closing close_loop(const LoopClosure& loop, const Eigen::VectorXd& q, const std::vector<int>& free,
                   bool keep_limits, const Mechanism& mechanism);
// The same, from positions around q if it does not close from q itself.
Closing close_from_around(const LoopClosure& loop, const Eigen::VectorXd& q,
                          const std::vector<int>& free, bool keep_limits,
                          const Mechanism& mechanism);
std::vector<int> all_columns(const LoopClosure& loop);

}  // namespace catena
