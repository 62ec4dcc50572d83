// SPDX-License-Identifier: BSD-3-Clause
#include "catena/closure/loop_closure.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/pair.h"
#include "catena/closure/rows.h"
#include "catena/model/attachment_motion.h"
#include "catena/model/configuration.h"
#include "catena/model/flexible_body.h"

namespace catena {
namespace {

// Three digits are enough for a message.
// The shortest rotation vector that turns a into b, unit vectors both.
Vec3d turn_between(const Vec3d& a, const Vec3d& b) {
  const Vec3d c = cross(a, b);
  const double sine = norm(c);
  const double angle = std::atan2(sine, dot(a, b));
  if (sine > 1e-300) return (angle / sine) * c;
  return angle * rotation_from_z_to(a).axis(0);  // none, or half a turn about any normal
}

// The number congruent to x modulo a whole turn that is nearest to y.
double nearest_turn(double x, double y) {
  constexpr double kTurn = 2.0 * std::numbers::pi;
  return x + kTurn * std::round((y - x) / kTurn);
}

// The domain of the model of a flexible body: deflections up to a tenth of its length.
constexpr double kMostDeflection = 0.1;

double inverse_norm(const std::vector<double>& x) {
  double squares = 0.0;
  for (const double e : x) squares += e * e;
  return squares > 0.0 ? 1.0 / std::sqrt(squares) : 1.0;
}

}  // namespace

bool measures_length(const Closure& c, int row) {
  if (c.kind == ClosureKind::rod) return true;
  if (c.kind == ClosureKind::coupling) return false;
  const double* f = c.covector[row] + 3;
  return f[0] != 0.0 || f[1] != 0.0 || f[2] != 0.0;
}

void pair_residual(const Closure& c, const Transformd& x, double* residual) {
  const Vec3d axis = load_vec3<double>(c.axis);
  Vec3d turn = Vec3d::zero();
  if (c.held_turn == HeldTurn::axis) turn = turn_between(axis, x.rotation * axis);
  if (c.held_turn == HeldTurn::all) turn = log(x.rotation);
  for (int i = 0; i < c.rows; ++i) {
    const Vec3d shift = load_vec3<double>(c.covector[i] + 3);
    if (measures_length(c, i)) {
      residual[i] = dot(shift, x.translation);
      if (c.pitch != 0.0 && squared_norm(load_vec3<double>(c.covector[i])) > 0.0) {
        const Vec3d spun =
            exp_rotation(turn).inverse() * (x.rotation * rotation_from_z_to(axis).axis(0));
        const Vec3d e1 = rotation_from_z_to(axis).axis(0), e2 = rotation_from_z_to(axis).axis(1);
        const double angle = std::atan2(dot(spun, e2), dot(spun, e1));
        residual[i] -= c.pitch * nearest_turn(angle, residual[i] / c.pitch);
      }
    } else if (c.kind == ClosureKind::universal) {
      residual[i] = c.angle_cosine - dot(axis, x.rotation * load_vec3<double>(c.child_axis));
    } else {
      residual[i] = dot(load_vec3<double>(c.covector[i]), turn);
    }
  }
}

struct LoopClosure::Motions {
  std::vector<MemberMotion<double>> members;
  std::vector<Twistd> columns;
};

LoopClosure::LoopClosure(const Mechanism& mechanism, int loop)
    : m_(mechanism), t_(aggregate_tables(mechanism)), a_(at(t_.aggregates, loop)), loop_(loop) {}

int LoopClosure::freedom(int column) const {
  return at(t_.freedom_of_column, a_.first_order + column);
}

bool LoopClosure::is_mode(int column) const {
  for (int i = a_.first_member; a_.flexible && i < a_.first_member + a_.member_count; ++i) {
    const AggregateMember& m = at(t_.members, i);
    const Node& node = at(m_.nodes(), m.node);
    if (node.hinge == NodeHinge::modes && m.column <= column && column < m.column + node.freedoms)
      return true;
  }
  return false;
}

LoopClosure::Motions LoopClosure::motions(const Eigen::VectorXd& q) const {
  Motions result;
  result.members.resize(to_size(a_.member_count));
  result.columns.resize(to_size(a_.twists), Twistd::zero());
  const double still[kMaxFreedoms] = {};
  for (int i = 0; i < a_.member_count; ++i) {
    const AggregateMember& member = at(t_.members, a_.first_member + i);
    const Node& node = at(m_.nodes(), member.node);
    const MemberMotion<double>* parent =
        member.parent < 0 ? nullptr : &at(result.members, member.parent);
    if (node.flexible >= 0) {
      Transformd moved = load_placement<double>(node);
      Twistd* own = result.columns.data() + member.first_twist;
      if (node.hinge == NodeHinge::attachment) {
        std::vector<double> shape(to_size(6 * member.twists));
        moved = moved * attachment_motion<double>(*at(m_.attachment_tables(), node.flexible),
                                                  q.data() + node.q_index, nullptr, shape.data(),
                                                  nullptr, own)
                            .pose;
      }
      move_member(a_, moved, parent, Twistd::zero(), Twistd::zero(), member.twists, own,
                  at(result.members, i));
      continue;
    }
    HingeMotion<double> hinge;
    evaluate_hinge(node, m_.screws().data(), at(m_.customs(), member.node), q.data() + node.q_index,
                   still, hinge);
    Twistd* columns = result.columns.data() + member.column;
    for (int k = 0; k < node.freedoms; ++k) columns[k] = hinge.map[k];
    move_member(a_, load_placement<double>(node) * hinge.displacement, parent, Twistd::zero(),
                Twistd::zero(), node.freedoms, columns, at(result.members, i));
  }
  return result;
}

template <class Visit>
void LoopClosure::visit_closures(Visit visit) const {
  int row = 0;
  for (int i = a_.first_closure; i < a_.first_closure + a_.closure_count; ++i) {
    const Closure& c = at(t_.closures, i);
    visit(i, c, row);
    row += c.rows;
  }
}

// With `residual`: its Jacobian, whose length rows are taken where the child's frame is now.
// Without: the rows of the kernels.
void LoopClosure::fill_rows(const Eigen::VectorXd& q, Eigen::MatrixXd& rows,
                            Eigen::VectorXd* residual) const {
  const Motions m = motions(q);
  rows.setZero(a_.rows, a_.freedoms);
  if (residual != nullptr) residual->setZero(a_.rows);
  visit_closures([&](int, const Closure& c, int first) {
    if (c.kind == ClosureKind::coupling) {
      const auto [value, gradient] = coupling_gradient(c, q);
      const double scale = inverse_norm(gradient);
      if (residual != nullptr) (*residual)[first] = scale * value;
      for (int i = 0; i < c.term_count; ++i)
        rows(first, at(t_.terms, c.first_term + i).column) += scale * at(gradient, i);
      return;
    }
    ClosureMotion<double> motion;
    move_side(c.parent, m.members.data(), motion.parent);
    move_side(c.child, m.members.data(), motion.child);
    const Vec3d gap = motion.child.pose.translation - motion.parent.pose.translation;
    double values[kMostRows] = {};
    if (c.kind == ClosureKind::rod)
      values[0] = 0.5 * (squared_norm(gap) / c.length - c.length);
    else
      pair_residual(c, motion.parent.pose.inverse() * motion.child.pose, values);
    for (int i = 0; i < c.rows; ++i) {
      Wrenchd covector = row_covector(c, i, motion);
      if (residual != nullptr && c.kind != ClosureKind::rod)
        covector.moment += cross(gap, covector.force);
      const double scale = measures_length(c, i) ? 1.0 / a_.length : 1.0;
      if (residual != nullptr) (*residual)[first + i] = scale * values[i];
      for (int k = c.first_path; k < c.first_path + c.path_count; ++k) {
        const PathColumn& path = at(t_.paths, k);
        rows(first + i, path.column) +=
            scale * path.sign * dot(covector, at(m.columns, path.twist));
      }
    }
  });
}

Eigen::VectorXd LoopClosure::residual(const Eigen::VectorXd& q) const {
  return equations(q).residual;
}

ClosureEquations LoopClosure::equations(const Eigen::VectorXd& q) const {
  ClosureEquations e;
  fill_rows(q, e.jacobian, &e.residual);
  return e;
}

Eigen::MatrixXd LoopClosure::velocity_rows(const Eigen::VectorXd& q) const {
  Eigen::MatrixXd rows;
  fill_rows(q, rows, nullptr);
  return rows;
}

std::vector<Wrenchd> LoopClosure::wrenches_on_child(const Eigen::VectorXd& q,
                                                    const Eigen::VectorXd& multipliers) const {
  const Motions m = motions(q);
  std::vector<Wrenchd> result;
  visit_closures([&](int, const Closure& c, int first) {
    Wrenchd sum = Wrenchd::zero();
    if (c.kind != ClosureKind::coupling) {
      ClosureMotion<double> motion;
      move_side(c.parent, m.members.data(), motion.parent);
      move_side(c.child, m.members.data(), motion.child);
      for (int i = 0; i < c.rows; ++i) {
        const double scale = measures_length(c, i) ? 1.0 / a_.length : 1.0;
        sum += (scale * multipliers[first + i]) * row_covector(c, i, motion);
      }
      sum = Ad_star(motion.child.pose, sum);
    }
    result.push_back(sum);
  });
  return result;
}

double LoopClosure::coupling_scale(const Eigen::VectorXd& q, int closure) const {
  return inverse_norm(coupling_gradient(at(t_.closures, closure), q).second);
}

// Value and gradient.
std::pair<double, std::vector<double>> LoopClosure::coupling_gradient(
    const Closure& c, const Eigen::VectorXd& q) const {
  const auto n = to_size(c.term_count);
  std::vector<double> x(n), gradient(n), hessian(n * n);
  for (int i = 0; i < c.term_count; ++i) at(x, i) = q[at(t_.terms, c.first_term + i).coordinate];
  const Coupling& coupling = at(m_.description().couplings, c.place);
  double value = -coupling.constant;
  if (c.coupling != nullptr) {
    evaluate_coupling(*c.coupling, c.term_count, x.data(), value, gradient.data(), hessian.data());
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      gradient[i] = coupling.terms[i].coefficient;
      value += gradient[i] * x[i];
    }
  }
  return {value, std::move(gradient)};
}

ChartRow LoopClosure::row(int i) const {
  ChartRow result;
  visit_closures([&](int closure, const Closure& c, int first) {
    if (first <= i && i < first + c.rows) result = {closure, i - first, 0};
  });
  return result;
}

Eigen::VectorXd LoopClosure::moved(const Eigen::VectorXd& q, const Eigen::VectorXd& step) const {
  Eigen::VectorXd to = q;
  for (int i = 0; i < a_.member_count; ++i) {
    const AggregateMember& member = at(t_.members, a_.first_member + i);
    const Node& node = at(m_.nodes(), member.node);
    integrate_node(node, step.data() + member.column, to.data() + node.q_index);
  }
  return to;
}

Eigen::VectorXd LoopClosure::unit_steps(const Eigen::VectorXd& q) const {
  Eigen::VectorXd steps = Eigen::VectorXd::Ones(a_.freedoms);
  const Motions m = motions(q);
  for (int k = 0; k < a_.freedoms; ++k)
    if (squared_norm(at(m.columns, k).angular) == 0.0) steps[k] = a_.length;
  for (int i = a_.first_member; a_.flexible && i < a_.first_member + a_.member_count; ++i) {
    const AggregateMember& member = at(t_.members, i);
    const Node& node = at(m_.nodes(), member.node);
    if (node.hinge != NodeHinge::modes) continue;
    const double size = at(m_.flexible_bodies(), node.flexible).constants->size;
    steps.segment(member.column, node.freedoms)
        .setConstant(kMostDeflection * (size > 0.0 ? size : a_.length));
  }
  return steps;
}

std::string LoopClosure::name() const {
  constexpr std::size_t kNamed = 4;
  const std::vector<int>& bodies = at(m_.loops(), loop_).bodies;
  std::vector<std::string> names;
  for (const int b : bodies) {
    if (names.size() == kNamed && bodies.size() > kNamed + 1) {
      names.push_back(std::to_string(bodies.size() - kNamed) + " more");
      break;
    }
    names.push_back("'" + at(m_.bodies(), b).name + "'");
  }
  return "loop of " + listed(names);
}

std::string LoopClosure::worst(const Eigen::VectorXd& residual) const {
  std::string text;
  double most = -1.0;
  visit_closures([&](int, const Closure& c, int first) {
    double size = residual.segment(first, c.rows).norm();
    if (std::isnan(size)) size = std::numeric_limits<double>::infinity();
    if (!(size > most)) return;
    most = size;
    if (c.kind == ClosureKind::rod) {
      text = "the length of rod '" + at(m_.description().rods, c.place).name + "' is off by " +
             short_number(std::abs(residual[first]) * a_.length) + " m";
    } else if (c.kind == ClosureKind::coupling) {
      text = "coupling '" + at(m_.description().couplings, c.place).name +
             (std::isnan(residual[first]) ? "' is not a number there" : "' is not satisfied");
    } else {
      double angle = 0.0, distance = 0.0;
      for (int i = 0; i < c.rows; ++i) {
        double& part = measures_length(c, i) ? distance : angle;
        part = std::hypot(part, residual[first + i]);
      }
      text = "hinge '" + at(m_.hinges(), c.place).name + "' is open by " +
             short_number(distance * a_.length) + " m and " + short_number(angle) + " rad";
    }
  });
  return text;
}

}  // namespace catena
