// SPDX-License-Identifier: BSD-3-Clause
// Which contacts that touch stay closed, stick or slide, and how redundant ones share their load
// (constraint_set.h).
#include <algorithm>
#include <cmath>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/constraints/contact_rows.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Forces and accelerations below this fraction of the sum of normal forces, or of the largest
// acceleration, are rounding of the contact problem (kContactsSolved).
constexpr double kNothing = 1e-9;
// A compliance of redundant contacts, over the largest of W's diagonal: it decides how they share.
constexpr double kShares = 1e-10;
// Friction at the cone of a contact that others could relieve counts so many times more, as often.
constexpr double kRelieved = 2.0;
constexpr int kMostRelieved = 20;

}  // namespace

// A solution without one of the contacts that push (`first`, if that does), which then neither
// pushes nor enters its plane: such contacts are redundant. False: there is none.
bool ConstraintSet::carry(const Reduced& reduced, int first, ContactSolution& solution,
                          std::vector<std::uint8_t>& left_out) const {
  const int count = static_cast<int>(reduced.problem.contacts.size());
  std::vector<int> order;
  for (int k = 0; k < count; ++k)
    if (k != first && left_out[index(k)] == 0 && solution.force[3 * k] > 0.0) order.push_back(k);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return solution.force[3 * a] < solution.force[3 * b]; });
  order.insert(order.begin(), first);
  const double scale = kNothing * reduced.problem.b.lpNorm<Eigen::Infinity>();
  for (const int without : order) {
    ContactProblem fewer;
    std::vector<int> rows, kept;
    for (int k = 0; k < count; ++k) {
      if (k == without || left_out[index(k)] != 0) continue;
      fewer.contacts.push_back(reduced.problem.contacts[index(k)]);
      rows.insert(rows.end(), {3 * k, 3 * k + 1, 3 * k + 2});
    }
    fewer.w = reduced.problem.w(rows, rows);
    fewer.b = reduced.problem.b(rows);
    ContactSolution found = catena::solve(fewer);
    if (found.residual > kContactsSolved) continue;
    ContactSolution whole;
    whole.force = VectorXd::Zero(reduced.problem.b.size());
    whole.force(rows) = found.force;
    whole.motion = reduced.problem.w * whole.force + reduced.problem.b;
    bool enters = whole.motion[3 * without] < -scale;
    for (int k = 0; k < count; ++k)
      enters = enters || (left_out[index(k)] != 0 && whole.motion[3 * k] < -scale);
    if (enters) continue;
    left_out[index(without)] = 1;
    solution = whole;
    return true;
  }
  return false;
}

// The sweeps load redundant contacts in their order, the first ones up to their cones. Among the
// forces that do the same, those of least norm: of the normal forces, and then of friction, each
// square over its cone (so that what many could hold is shared as their cones). Kept where they
// obey the laws.
void ConstraintSet::balance(const Reduced& reduced, ContactSolution& solution) const {
  const double load = solution.force.reshaped(3, solution.force.size() / 3).row(0).sum();
  const double nothing = kNothing * reduced.problem.b.lpNorm<Eigen::Infinity>();
  std::vector<int> normals, tangents;
  std::vector<double> cones;
  bool linked = false;  // friction changes with normal forces
  for (std::size_t k = 0; k < reduced.problem.contacts.size(); ++k) {
    const int row = static_cast<int>(3 * k);
    const ContactProblem::Contact& c = reduced.problem.contacts[k];
    if (!(solution.force[row] > kNothing * load)) continue;
    normals.push_back(row);
    if (c.friction == 0.0) continue;
    if (c.slips || solution.motion.segment<2>(row + 1).norm() > nothing) {
      linked = true;
      continue;
    }
    tangents.insert(tangents.end(), {row + 1, row + 2});
    cones.insert(cones.end(), 2, c.friction);
  }
  CompleteOrthogonal solver(kGeneralRank);
  VectorXd force = solution.force;
  if (!linked && normals.size() > 1) {
    const MatrixXd effects = reduced.problem.w(Eigen::all, normals);
    solver.compute(effects);
    const VectorXd wanted = effects * VectorXd(force(normals));
    const VectorXd shared = solver.solve(wanted);
    if (shared.minCoeff() > kNothing * load) force(normals) = shared;
  }
  if (!tangents.empty()) {
    for (std::size_t k = 0; k < tangents.size(); ++k) cones[k] *= force[tangents[k] / 3 * 3];
    const Eigen::Map<const VectorXd> cone(cones.data(), static_cast<Index>(cones.size()));
    MatrixXd effects = reduced.problem.w(Eigen::all, tangents);
    const VectorXd wanted = effects * VectorXd(force(tangents));
    const VectorXd root = cone.cwiseSqrt();
    effects *= root.asDiagonal();
    solver.compute(effects);
    const VectorXd friction = root.cwiseProduct(solver.solve(wanted));
    for (Index k = 0; k < friction.size(); k += 2)
      if (friction.segment<2>(k).norm() > kWithinCone * cone[k]) return;
    force(tangents) = friction;
  }
  solution.force = force;
}

// The forces of redundant contacts as a small compliance would share them: the motion depends on
// that where some slide. `solution` has others that obey the laws, and keeps them if these do not.
void ConstraintSet::share(const ContactProblem& problem, ContactSolution& solution) const {
  const double most = problem.w.diagonal().maxCoeff();
  if (!(most > 0.0)) return;
  ContactProblem compliant = problem;
  compliant.w.diagonal().array() += kShares * most;
  const ContactSolution near = solve_from(compliant, solution.force);
  if (near.residual > kContactsSolved) return;
  const ContactSolution shared = solve_from(problem, near.force);
  if (shared.residual <= kContactsSolved) solution = shared;
}

// By touching contact.
struct ConstraintSet::Chosen {
  std::span<const int> touching;
  const std::vector<Vec3d>& slips;
  double nothing = 0.0;                // accelerations below it count as zero
  double load = 0.0;                   // sum of the normal forces
  std::vector<std::uint8_t> left_out;  // presses no more
  std::vector<std::uint8_t> within;    // slides with less friction than its cone has
  std::vector<int> relieved;           // how often its friction got less weight
};

// What the contact does that the solution says: apart, carried, sliding or sticking.
void ConstraintSet::take_mode(const Reduced& reduced, const ContactSolution& solution, int place,
                              const Chosen& chosen) {
  const auto k = index(place);
  const auto row = static_cast<Index>(3 * place);
  const int i = chosen.touching[k];
  const double mu = at(i).contact.friction;
  const Eigen::Vector2d moves = solution.motion.segment<2>(row + 1);
  const Eigen::Vector2d friction = solution.force.segment<2>(row + 1);
  const double cone = mu * solution.force[row];
  if (chosen.left_out[k] != 0 || !(solution.force[row] > kNothing * chosen.load)) {
    set_mode(i, solution.motion[row] > chosen.nothing ? ContactMode::apart : ContactMode::carried);
  } else if (reduced.problem.contacts[k].slips || mu == 0.0) {
    const double speed = norm(chosen.slips[k]);
    set_mode(i, ContactMode::sliding,
             speed > kSlowSlip ? (1.0 / speed) * chosen.slips[k] : Vec3d::zero());
  } else if (moves.norm() > chosen.nothing && friction.norm() > (1.0 - 1e-6) * cone) {
    const Eigen::Vector2d along = moves / moves.norm();
    set_mode(i, ContactMode::sliding, {along.x(), along.y(), 0.0});
  } else if (chosen.within[k] != 0) {
    Eigen::Vector2d share = -friction / cone;
    if (share.norm() > kWithinCone) share *= kWithinCone * kWithinCone / share.norm();
    set_mode(i, ContactMode::sliding, {share.x(), share.y(), 0.0});
  } else {
    set_mode(i, ContactMode::sticking);
    weigh_friction(i, std::pow(kRelieved, chosen.relieved[k]));
  }
}

void ConstraintSet::choose_modes(const State& state, const VectorXd& effort,
                                 std::span<const ExternalWrench> external,
                                 std::span<const int> touching) {
  look(state);
  std::vector<Vec3d> slips;
  slips.reserve(touching.size());
  for (const int i : touching) slips.push_back(slip(i));
  for (int i = 0; i < count(); ++i)
    if (kind(i) == Kind::contact) set_mode(i, ContactMode::apart);
  if (touching.empty()) return;
  Reduced reduced;
  {
    const AllRows rows(*this, touching);
    dynamics_.forward(state, effort, workspace_, external);
    reduced = reduce(touching, dynamics_.right_side());
  }
  for (std::size_t k = 0; k < touching.size(); ++k) {
    ContactProblem::Contact& contact = reduced.problem.contacts[k];
    at(touching[k]).give = reduced.problem.w(static_cast<Index>(3 * k), static_cast<Index>(3 * k));
    const double speed = norm(slips[k]);
    const double change = reduced.problem.b.segment<3>(static_cast<Index>(3 * k)).norm();
    contact.slips = speed > std::max(kSlowSlip, kSlowTime * change);
    if (contact.slips) contact.direction = {slips[k].x / speed, slips[k].y / speed};
  }
  ContactSolution solution = solve(reduced.problem);
  refuse_unsolved(solution, touching);
  share(reduced.problem, solution);
  balance(reduced, solution);
  Chosen chosen{.touching = touching,
                .slips = slips,
                .nothing = kNothing * reduced.problem.b.lpNorm<Eigen::Infinity>(),
                .left_out = std::vector<std::uint8_t>(touching.size(), 0),
                .within = std::vector<std::uint8_t>(touching.size(), 0),
                .relieved = std::vector<int>(touching.size(), 0)};
  const int rounds = (3 + kMostRelieved) * static_cast<int>(touching.size()) + 1;
  for (int round = 0; round < rounds; ++round) {
    double load = 0.0;
    for (std::size_t k = 0; k < touching.size(); ++k)
      load += solution.force[static_cast<Index>(3 * k)];
    chosen.load = load;
    for (int k = 0; k < static_cast<int>(touching.size()); ++k)
      take_mode(reduced, solution, k, chosen);
    // Where contacts are redundant, forces of least norm may break laws that others keep.
    dynamics_.forward(state, effort, workspace_, external);
    int pulls = -1, leaves = -1;
    double most_pull = kNothing * load, most_over = kNothing * load;
    for (std::size_t k = 0; k < touching.size(); ++k) {
      if (!closed(touching[k])) continue;
      const ContactForce force = contact_force(touching[k]);
      if (-force.normal > most_pull) {
        most_pull = -force.normal;
        pulls = static_cast<int>(k);
      }
      const double over = norm(force.friction) - at(touching[k]).contact.friction * force.normal;
      if (mode(touching[k]) == ContactMode::sticking && over > most_over) {
        most_over = over;
        leaves = static_cast<int>(k);
      }
    }
    if (pulls < 0 && leaves < 0) return;
    if (pulls >= 0) {
      std::fill(chosen.within.begin(), chosen.within.end(), 0);
      if (!carry(reduced, pulls, solution, chosen.left_out)) chosen.left_out[index(pulls)] = 1;
      balance(reduced, solution);
    } else if (chosen.relieved[index(leaves)] < kMostRelieved) {
      ++chosen.relieved[index(leaves)];
    } else {
      chosen.within[index(leaves)] = 1;
    }
  }
}

}  // namespace catena
