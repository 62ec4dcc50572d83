// SPDX-License-Identifier: BSD-3-Clause
// Contacts of a set of constraints (constraint_set.h): their rows, their impacts, their modes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/constraints/contact_rows.h"
#include "catena/dynamics/kinematics.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// A wheel that lies flatter than this (sine of the angle) touches at its middle.
constexpr double kFlat = 1e-9;
// A row whose squared sine against the other constraints is below this follows from them.
constexpr double kFollows = 1e-9;

}  // namespace

void ConstraintSet::set_mode(int i, ContactMode mode, const Vec3d& slip_direction) {
  Thing& thing = at(i);
  thing.mode = mode;
  thing.direction = slip_direction;
  dynamics_.constraints().set_active(thing.constraint, mode == ContactMode::sliding);
  dynamics_.constraints().set_active(thing.stick, mode == ContactMode::sticking);
  weigh_friction(i, 1.0);
}

void ConstraintSet::weigh_friction(int i, double weight) {
  at(i).weight = weight;
  for (int r = 1; r < 3; ++r) dynamics_.constraints().set_weight(at(i).stick, r, weight);
}

bool ConstraintSet::slips(int i) const {
  const Thing& thing = at(i);
  return thing.mode == ContactMode::sliding &&
         (thing.contact.friction == 0.0 || norm(thing.direction) > kWithinCone);
}

ConstraintSet::Touch ConstraintSet::touch(const Thing& thing, const Workspace& w) const {
  Touch t;
  t.plane = thing.plane.pose;
  const Transformd X_plane_body = pose_of(w, thing.plane.node).inverse() * pose_of(w, thing.node);
  t.X_plane_node = t.plane.inverse() * X_plane_body;
  Vec3d center = t.X_plane_node * thing.center;
  const double sphere = thing.contact.plane_radius, distance = norm(center);
  if (sphere > 0.0 && distance > 0.0) {
    // The tangent plane of the sphere where it is nearest.
    const Vec3d n = (1.0 / distance) * center;
    t.plane = t.plane * Transformd{rotation_from_z_to(n), sphere * n};
    t.X_plane_node = t.plane.inverse() * X_plane_body;
    center = t.X_plane_node * thing.center;
  }
  t.point = {center.x, center.y, center.z - thing.contact.radius};
  t.relative = Ad(t.X_plane_node, twist_of(w, thing.node)) -
               Ad_inverse(t.plane, twist_of(w, thing.plane.node));
  t.rate = t.relative.linear + cross(t.relative.angular, center);
  if (sphere > 0.0 && distance > 0.0) {
    t.turns = (1.0 / distance) * Vec3d{t.rate.x, t.rate.y, 0.0};
    t.rate -= thing.contact.radius * t.turns;
  }
  if (thing.contact.rim > 0.0) {
    // Down the wheel: e = (n − (n·a) a)/|…|, a the axis, which turns with the body.
    const Vec3d axis = t.X_plane_node.rotation * thing.rim_axis;
    const Vec3d across = Vec3d::unit_z() - axis.z * axis;
    const double size = norm(across);
    if (size > kFlat) {
      const Vec3d e = (1.0 / size) * across;
      const Vec3d turns = cross(t.relative.angular, axis);
      const Vec3d across_rate = -(turns.z * axis + axis.z * turns);
      t.point = t.point - thing.contact.rim * e;
      t.rate = t.rate - (thing.contact.rim / size) * (across_rate - dot(e, across_rate) * e);
    }
  }
  return t;
}

// Rows d · (velocity of the body at the point of contact), d fixed in the plane's frame. The point
// moves over the plane with the velocity ṙ of the sphere's centre (on a rim: of the centre of the
// lowest sphere, which runs round the wheel), so that besides what a row fixed
// in the plane has (rows.h) the acceleration has (ṙ × d) · ω. The normal n of a sphere in place of
// the plane turns, and the tangents with it: that adds ḋ · (velocity at the point).
void ConstraintSet::place_contact(const Thing& thing, const Workspace& w) {
  TreeConstraints& c = dynamics_.constraints();
  const bool sticks = c.active(thing.stick);
  if (!sticks && !c.active(thing.constraint)) return;
  const Touch t = touch(thing, w);
  const Twistd plane_twist = Ad_inverse(t.plane, twist_of(w, thing.plane.node));
  const Twistd turning = ad(plane_twist, t.relative);
  const Vec3d at_point = t.relative.linear + cross(t.relative.angular, t.point);
  const auto put = [&](TreeConstraints::Rows& rows, int r, const Vec3d& d) {
    const Wrenchd covector{cross(t.point, d), d};
    rows.on_a[index(r)] = -Ad_star_inverse(t.plane, covector);
    rows.on_b[index(r)] = Ad_star(t.X_plane_node, covector);
    const Vec3d d_rate = d.z * t.turns - dot(d, t.turns) * Vec3d::unit_z();
    return -dot(covector, turning) + dot(cross(t.rate, d), t.relative.angular) +
           dot(d_rate, at_point);
  };
  if (sticks) {
    const Vec3d directions[3] = {Vec3d::unit_z(), Vec3d::unit_x(), Vec3d::unit_y()};
    for (int r = 0; r < 3; ++r)
      c.bias(thing.stick, r) = put(c.measured(thing.stick), r, directions[r]);
    return;
  }
  c.bias(thing.constraint, 0) = put(c.measured(thing.constraint), 0, Vec3d::unit_z());
  if (thing.contact.friction == 0.0) return;
  Vec3d slip = t.relative.linear + cross(t.relative.angular, t.point);
  slip.z = 0.0;
  const double speed = norm(slip);
  const Vec3d direction = speed > kSlowSlip ? (1.0 / speed) * slip : thing.direction;
  put(c.pushed(thing.constraint), 0, Vec3d::unit_z() - thing.contact.friction * direction);
}

Rotationd ConstraintSet::contact_axes(int i) const {
  const Thing& thing = at(i);
  return pose_of(workspace_, thing.plane.node).rotation * touch(thing, workspace_).plane.rotation;
}

double ConstraintSet::contact_gap(int i) const { return touch(at(i), workspace_).point.z; }

double ConstraintSet::approach_speed(int i) const {
  const Touch t = touch(at(i), workspace_);
  return t.relative.linear.z + cross(t.relative.angular, t.point).z;
}

Vec3d ConstraintSet::slip(int i) const {
  const Touch t = touch(at(i), workspace_);
  Vec3d v = t.relative.linear + cross(t.relative.angular, t.point);
  v.z = 0.0;
  return v;
}

ConstraintSet::ContactForce ConstraintSet::contact_force(int i) const {
  const Thing& thing = at(i);
  const TreeConstraints& c = dynamics_.constraints();
  const VectorXd& x = dynamics_.multipliers();
  if (!closed(i)) return {};
  if (thing.mode == ContactMode::sticking) {
    const int r = c.first_row(thing.stick);
    return {x[r], {x[r + 1], x[r + 2], 0.0}};
  }
  ContactForce force;
  force.normal = x[c.first_row(thing.constraint)];
  if (thing.contact.friction > 0.0) {
    // The push is n − μ t̂ in the plane's frame: read it back from the rows.
    const Transformd plane =
        thing.contact.plane_radius > 0.0 ? touch(thing, workspace_).plane : thing.plane.pose;
    const Wrenchd on_plane = Ad_star(plane, -c.pushed_rows(thing.constraint).on_a[0]);
    force.friction = force.normal * Vec3d{on_plane.force.x, on_plane.force.y, 0.0};
  }
  return force;
}

ConstraintSet::Reduced ConstraintSet::reduce(std::span<const int> contacts,
                                             const VectorXd& right) const {
  const TreeConstraints& c = dynamics_.constraints();
  const MatrixXd& all = c.matrix();
  Reduced r;
  std::vector<std::uint8_t> taken(to_size(all.rows()), 0);
  for (const int i : contacts) {
    const int first = c.first_row(at(i).stick);
    for (int k = first; k < first + 3; ++k) {
      r.rows.push_back(k);
      taken[index(k)] = 1;
    }
    ContactProblem::Contact contact;
    contact.friction = at(i).contact.friction;
    r.problem.contacts.push_back(contact);
  }
  for (int k = 0; k < all.rows(); ++k)
    if (taken[index(k)] == 0) r.others.push_back(k);
  MatrixXd& w = r.problem.w;
  w = all(r.rows, r.rows);
  r.problem.b = right(r.rows);
  const VectorXd alone = w.diagonal();
  if (r.others.empty()) return r;
  const MatrixXd between = all(r.rows, r.others);
  const MatrixXd block = all(r.others, r.others);
  r.by_contacts = all(r.others, r.rows);
  r.own = right(r.others);
  const VectorXd wanted = r.own;
  if (c.ideal()) {
    SemidefiniteSolver solver;
    solver.resize(static_cast<int>(r.others.size()));
    solver.compute(block, std::numeric_limits<double>::epsilon() * kPivotRoundings *
                              (c.longest_way() + static_cast<double>(all.rows())));
    VectorXd column;
    for (Index k = 0; k < r.by_contacts.cols(); ++k) {
      column = r.by_contacts.col(k);
      solver.solve(column);
      r.by_contacts.col(k) = column;
    }
    solver.solve(r.own);
  } else {
    const CompleteOrthogonal solver(block, kGeneralRank);
    r.by_contacts = solver.solve(r.by_contacts);
    r.own = solver.solve(r.own);
  }
  r.miss = (block * r.own - wanted).lpNorm<Eigen::Infinity>();
  w -= between * r.by_contacts;
  r.problem.b -= between * r.own;
  for (Index k = 0; k < w.rows(); ++k) {
    if (w(k, k) > kFollows * alone[k]) continue;
    w.row(k).setZero();
    w.col(k).setZero();
  }
  return r;
}

void ConstraintSet::refuse_unsolved(const ContactSolution& solution,
                                    std::span<const int> contacts) const {
  if (solution.residual <= kContactsSolved) return;
  std::vector<std::string> names;
  names.reserve(contacts.size());
  for (const int i : contacts) names.push_back("'" + at(i).name + "'");
  throw UnsolvedContacts(
      describe_contact(contacts[index(solution.worst)]) +
      ": nothing that moves satisfies the laws of contact here (they miss by " +
      number(solution.residual) + " of the motion; touching: " + listed(names) +
      "): other constraints force it into its plane, or its friction is too large for it to slide; "
      "lower the friction, or let what holds it give way");
}

std::string ConstraintSet::describe_contact(int i) const {
  const ContactSettings& c = at(i).contact;
  const auto body = [&](int k) {
    return k < 0 ? std::string("the ground") : "'" + mechanism_->bodies()[index(k)].name + "'";
  };
  return "contact '" + at(i).name + "' (" + body(c.body) + " on " + body(c.plane_body) +
         ", friction " + number(c.friction) + ")";
}

ConstraintSet::Jump ConstraintSet::collide(const State& state, std::span<const int> contacts,
                                           std::span<const double> restitution) {
  look(state);
  std::vector<double> least;
  least.reserve(contacts.size());
  for (std::size_t k = 0; k < contacts.size(); ++k)
    least.push_back(restitution[k] * std::max(0.0, -approach_speed(contacts[k])));
  TreeConstraints& c = dynamics_.constraints();
  const AllRows rows(*this, contacts);
  dynamics_.factor_at(state, workspace_);
  VectorXd right;
  c.velocities(workspace_, state.v, right);
  Reduced reduced = reduce(contacts, right);
  if (reduced.miss > kContradiction * right.lpNorm<Eigen::Infinity>()) {
    const AllRows none(*this, {});
    settle(state);  // names those that contradict each other
  }
  for (std::size_t k = 0; k < contacts.size(); ++k) reduced.problem.contacts[k].least = least[k];
  ContactSolution solution = solve(reduced.problem);
  refuse_unsolved(solution, contacts);
  share(reduced.problem, solution);
  return strike(state, reduced, solution);
}

// The impulses of a solution, while the contacts have all their rows.
ConstraintSet::Jump ConstraintSet::strike(const State& state, const Reduced& reduced,
                                          const ContactSolution& solution) {
  TreeConstraints& c = dynamics_.constraints();
  VectorXd before, after;
  VectorXd impulses = VectorXd::Zero(c.rows());
  impulses(reduced.rows) = solution.force;
  if (!reduced.others.empty())
    impulses(reduced.others) = -reduced.own - reduced.by_contacts * solution.force;
  c.push_velocities(workspace_, state.v, before);
  c.respond(workspace_, impulses);
  Jump result;
  result.velocity = state.v + c.change();
  update_kinematics(*mechanism_, state.q, result.velocity, workspace_);
  c.push_velocities(workspace_, result.velocity, after);
  const VectorXd work = 0.5 * impulses.cwiseProduct(before + after);
  result.energy_change = work.sum();
  for (std::size_t k = 0; k < reduced.rows.size(); k += 3)
    result.contact_work.push_back(work[reduced.rows[k]] + work[reduced.rows[k + 1]] +
                                  work[reduced.rows[k + 2]]);
  dynamics_.take_interpolated(state, impulses, workspace_);  // for effort() of locks
  return result;
}

double ConstraintSet::slide_margin(int i) {
  const Thing& thing = at(i);
  TreeConstraints& c = dynamics_.constraints();
  if (thing.mode != ContactMode::sliding || thing.contact.friction == 0.0 || c.ideal() ||
      !(thing.give > 0.0))
    return 1.0;
  int counting = 0;
  for (int r = 0; r < c.rows(); ++r) counting += c.left_out(r) ? 0 : 1;
  if (c.rank() < counting) return 1.0;
  const int row = c.first_row(thing.constraint);
  along_ = VectorXd::Unit(c.rows(), row);
  c.solve(along_);
  return 1.0 / (thing.give * along_[row]);
}

void ConstraintSet::renew_margin(int i, const State& state) {
  const int contact[] = {i};
  const AllRows rows(*this, contact);
  dynamics_.factor_at(state, workspace_);
  at(i).give = reduce(contact, VectorXd::Zero(dynamics_.constraints().rows())).problem.w(0, 0);
}

// The impulse of one contact that slips and jams, with those that rest and are pressed down beside
// it: they answer as long as they can hold.
VectorXd ConstraintSet::turning_impulse(const ContactProblem& problem, const VectorXd& pull) {
  const int count = static_cast<int>(problem.contacts.size());
  VectorXd impulse = VectorXd::Zero(problem.b.size());
  for (int k = 0; k < count; ++k) {
    if (problem.b.segment<2>(3 * k + 1).norm() <= kSlowSlip) continue;
    std::vector<int> holding;
    for (int i = 0; i < count; ++i)
      if (problem.b.segment<2>(3 * i + 1).norm() <= kSlowSlip && pull[3 * i] < 0.0)
        holding.push_back(i);
    while (true) {
      const std::vector<int> own{3 * k, 3 * k + 1, 3 * k + 2};
      std::vector<int> rows;
      for (const int i : holding) rows.insert(rows.end(), {3 * i, 3 * i + 1, 3 * i + 2});
      ContactProblem alone;
      alone.contacts = {problem.contacts[index(k)]};
      alone.w = problem.w(own, own);
      alone.b = problem.b(own);
      MatrixXd answer(static_cast<Index>(rows.size()), 3);
      if (!rows.empty()) {
        const CompleteOrthogonal solver(problem.w(rows, rows), kGeneralRank);
        answer = -solver.solve(problem.w(rows, own));
        alone.w += MatrixXd(problem.w(own, rows)) * answer;
      }
      const Eigen::Vector3d pushed = grown_impulse(alone, 0);
      if (pushed.isZero(0.0)) break;
      const VectorXd held = answer * pushed;
      const auto fails = [&](std::size_t i) {
        const auto row = static_cast<Index>(3 * i);
        return held.segment<2>(row + 1).norm() >
               problem.contacts[index(holding[i])].friction * held[row];
      };
      std::size_t worst = 0;
      while (worst < holding.size() && !fails(worst)) ++worst;
      if (worst == holding.size()) {
        impulse(own) = pushed;
        impulse(rows) = held;
        return impulse;
      }
      holding.erase(holding.begin() + static_cast<std::ptrdiff_t>(worst));
    }
  }
  return impulse;
}

// A short while of the forces that act tells which contacts press; then without it. With u the
// velocities, W λ + b = 0 is the end of all slip, and it is within the cones just where sliding
// has no force: of one contact in the plane, W_nn − μ |W_nt| ≤ 0.
ConstraintSet::Jump ConstraintSet::jam(const State& state, const VectorXd& effort,
                                       std::span<const ExternalWrench> external,
                                       std::span<const int> contacts) {
  look(state);
  const AllRows rows(*this, contacts);
  dynamics_.forward(state, effort, workspace_, external);
  const VectorXd pull = reduce(contacts, dynamics_.right_side()).problem.b;
  dynamics_.factor_at(state, workspace_);
  VectorXd right;
  dynamics_.constraints().velocities(workspace_, state.v, right);
  Reduced reduced = reduce(contacts, right);
  ContactProblem& problem = reduced.problem;
  problem.sticks_first = true;
  // They touch and rest: other normal velocities are rounding, which a contact that jams would
  // answer by an impulse of its own.
  for (std::size_t k = 0; k < contacts.size(); ++k) problem.b[static_cast<Index>(3 * k)] = 0.0;
  // Those that are not quite jammed count as jammed.
  for (ContactProblem::Contact& contact : problem.contacts) contact.friction *= 1.0 + 2.0 * kJammed;
  ContactProblem ahead = problem;
  const double most = pull.lpNorm<Eigen::Infinity>();
  if (most > 0.0) ahead.b += kJammed * problem.b.lpNorm<Eigen::Infinity>() / most * pull;
  ContactSolution solution = catena::solve(ahead);
  if (solution.residual <= kContactsSolved)
    if (const ContactSolution exact = solve_from(problem, solution.force);
        exact.residual <= kContactsSolved)
      solution = exact;
  bool ends = false;
  for (Index k = 1; k < problem.b.size(); k += 3) {
    const double slip = problem.b.segment<2>(k).norm();
    ends = ends || (slip > kSlowSlip && solution.motion.segment<2>(k).norm() < 0.5 * slip);
  }
  // In space its slip may turn to where it does not jam, and go on.
  if (!ends || solution.residual > kContactsSolved) {
    solution.force = turning_impulse(problem, pull);
    if (solution.force.isZero(0.0)) refuse_unsolved(solution, contacts);
  }
  return strike(state, reduced, solution);
}

ConstraintSet::Jump ConstraintSet::impulse(const State& state) {
  std::vector<int> contacts;
  for (int i = 0; i < count(); ++i)
    if (kind(i) == Kind::contact && closed(i)) contacts.push_back(i);
  if (contacts.empty()) return settle(state);
  return collide(state, contacts, std::vector<double>(contacts.size(), 0.0));
}

}  // namespace catena
