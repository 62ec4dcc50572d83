#include "catena/loops/closure.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include <Eigen/Cholesky>

#include "catena/model/configuration.h"
#include "catena/model/hinge_kinematics.h"
#include "catena/spatial/eigen.h"

namespace catena {
namespace {

template <class T>
auto& at(T&& container, int i) {
  return container[static_cast<std::size_t>(i)];
}

// The derivative of log(E) for a change of E by the twist E⁻¹ dE, as a matrix on that twist:
// Σ (−1)^k B_k ad(e)^k / k!, Bernoulli numbers. Near a closed position it is the identity; at a
// gap of half a turn the terms left out are below 1 %, enough for a descent direction.
Matrix6d log_derivative(const Twistd& e) {
  const Matrix6d a = matrix_ad(e);
  const Matrix6d a2 = a * a;
  const Matrix6d a4 = a2 * a2;
  return Matrix6d::Identity() + 0.5 * a + a2 / 12.0 - a4 / 720.0 + a4 * a2 / 30240.0 -
         a4 * a4 / 1209600.0;
}

// The hinge alone, between the world and a body with some inertia.
Mechanism alone(const Hinge& hinge) {
  HingeSettings settings = hinge;
  settings.frame_on_parent = {};
  settings.frame_on_child = {};
  settings.drive.reset();
  settings.cut = Cut::automatic;
  settings.freedoms.clear();
  settings.initial_position.clear();
  settings.initial_velocity.clear();
  MechanismBuilder builder(hinge.name);
  builder.add_body("child", {.mass = 1.0, .inertia = SymMat3d::diagonal(1.0, 1.0, 1.0)});
  builder.add_hinge(hinge.name, kWorld, "child", settings);
  return builder.finish();
}

// Displacement and motion map (child-side frame) of such a hinge.
Transformd displacement_of(const Mechanism& hinge, const Eigen::VectorXd& q, Twistd* map) {
  const BodyPlace& child = hinge.bodies().front();
  if (hinge.nodes().empty()) return child.X_node_body;
  const Node& node = hinge.nodes().front();
  const double zero[kMaxFreedoms] = {};
  HingeMotion<double> motion;
  evaluate_hinge(node, hinge.screws().data(), hinge.customs().front(), q.data(), zero, motion);
  if (map != nullptr)
    for (int k = 0; k < node.freedoms; ++k) map[k] = Ad_inverse(child.X_node_body, motion.map[k]);
  return load_placement<double>(node) * motion.displacement * child.X_node_body;
}

// Three digits: enough to see where to look.
std::string short_number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}

}  // namespace

LoopClosure::LoopClosure(const Mechanism& mechanism, const LoopPlace& loop)
    : mechanism_(mechanism) {
  const Description& d = mechanism.description();
  sorted_nodes_ = loop.nodes;
  std::sort(sorted_nodes_.begin(), sorted_nodes_.end());  // parents come first
  double longest = 0.0;
  const auto note_length = [&](const Vec3d& p) { longest = std::max(longest, norm(p)); };
  for (const int n : sorted_nodes_) {
    const Node& node = at(mechanism.nodes(), n);
    const auto found = std::lower_bound(sorted_nodes_.begin(), sorted_nodes_.end(), node.parent);
    const bool inside = found != sorted_nodes_.end() && *found == node.parent;
    nodes_.push_back(
        {n, inside ? static_cast<int>(found - sorted_nodes_.begin()) : -1, tree_freedoms_});
    tree_freedoms_ += node.freedoms;
    if (inside) note_length(load_vec3<double>(node.translation));
  }
  for (const int h : loop.cut_hinges) {
    const Hinge& hinge = at(d.hinges, h);
    const HingePlace& place = at(mechanism.hinges(), h);
    CutHinge cut{hinge.name,
                 side(place.parent_body, hinge.frame_on_parent),
                 side(place.child_body, hinge.frame_on_child),
                 alone(hinge),
                 hinge.initial_position,
                 tree_freedoms_ + cut_freedoms_};
    cut_freedoms_ += cut.alone.freedoms();
    note_length(cut.parent.pose.translation);
    note_length(cut.child.pose.translation);
    cuts_.push_back(std::move(cut));
    rows_ += 6;
    constant_ = false;
  }
  for (const int r : loop.rods) {
    const Rod& rod = at(d.rods, r);
    rods_.push_back(
        {rod.name,
         side(mechanism.body_index(rod.body_a), Transformd::from_translation(rod.point_a)),
         side(mechanism.body_index(rod.body_b), Transformd::from_translation(rod.point_b)),
         rod.length});
    note_length({rod.length, 0.0, 0.0});
    ++rows_;
    constant_ = false;
  }
  for (const int c : loop.couplings) {
    CouplingEquation equation;
    equation.coupling = &at(d.couplings, c);
    for (const Coupling::Term& term : equation.coupling->terms) {
      const HingePlace& hinge = at(mechanism.hinges(), mechanism.hinge_index(term.hinge));
      const auto found = std::lower_bound(sorted_nodes_.begin(), sorted_nodes_.end(), hinge.node);
      equation.coordinates.push_back(hinge.q_index + term.freedom);
      equation.columns.push_back(
          at(nodes_, static_cast<int>(found - sorted_nodes_.begin())).column + term.freedom);
    }
    if (equation.coupling->function) constant_ = false;
    couplings_.push_back(std::move(equation));
    ++rows_;
  }
  if (longest > 0.0) length_ = longest;
}

LoopClosure::Side LoopClosure::side(int body, const Transformd& pose_on_body) const {
  if (body < 0) return {-1, pose_on_body};
  const BodyPlace& place = at(mechanism_.bodies(), body);
  const auto found = std::lower_bound(sorted_nodes_.begin(), sorted_nodes_.end(), place.node);
  const bool inside = found != sorted_nodes_.end() && *found == place.node;
  return {inside ? static_cast<int>(found - sorted_nodes_.begin()) : -1,
          place.X_node_body * pose_on_body};
}

std::vector<LoopClosure::Motion> LoopClosure::motions(const Eigen::VectorXd& q) const {
  std::vector<Motion> result(nodes_.size());
  const double zero[kMaxFreedoms] = {};
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const LocalNode& local = nodes_[i];
    const Node& node = at(mechanism_.nodes(), local.node);
    HingeMotion<double> hinge;
    evaluate_hinge(node, mechanism_.screws().data(), at(mechanism_.customs(), local.node),
                   q.data() + node.q_index, zero, hinge);
    const Transformd x = load_placement<double>(node) * hinge.displacement;
    result[i].pose = local.parent < 0 ? x : at(result, local.parent).pose * x;
    for (int k = 0; k < node.freedoms; ++k) result[i].columns[k] = Ad(result[i].pose, hinge.map[k]);
  }
  return result;
}

Transformd LoopClosure::pose_of(const std::vector<Motion>& motions, const Side& side) const {
  return side.local < 0 ? side.pose : at(motions, side.local).pose * side.pose;
}

template <class Take>
void LoopClosure::add_path(const std::vector<Motion>& motions, const Side& side, Take take) const {
  for (int i = side.local; i >= 0; i = at(nodes_, i).parent) {
    const LocalNode& local = at(nodes_, i);
    for (int k = 0; k < at(mechanism_.nodes(), local.node).freedoms; ++k)
      take(local.column + k, at(motions, i).columns[k]);
  }
}

Eigen::Matrix<double, 6, 1> LoopClosure::cut_residual(const CutHinge& cut,
                                                      const Transformd& displacement,
                                                      const Eigen::VectorXd& q,
                                                      Eigen::MatrixXd* own_columns) const {
  Twistd map[kMaxFreedoms];
  const Transformd gap = displacement_of(cut.alone, q, map).inverse() * displacement;
  const Twistd e = log(gap);
  if (own_columns != nullptr) {
    own_columns->resize(6, cut.alone.freedoms());
    for (int k = 0; k < cut.alone.freedoms(); ++k)
      own_columns->col(k) = -to_eigen(Ad_inverse(gap, map[k]));
    *own_columns = log_derivative(e) * *own_columns;
  }
  return to_eigen(e);
}

// Least squares from several starts: the given coordinates or zero, then random ones, until one of
// them fits.
Eigen::VectorXd LoopClosure::fitted(const CutHinge& cut, const Transformd& displacement) const {
  constexpr int kStarts = 12;  // a turn has no more than a few wrong minima
  constexpr int kSteps = 60;
  constexpr double kFits = 1e-10;  // radians or lengths
  const Vector6d weight =
      (Vector6d() << 1.0, 1.0, 1.0, 1.0 / length_, 1.0 / length_, 1.0 / length_).finished();
  Eigen::VectorXd best = zero_position(cut.alone);
  double least = kInfinity;
  for (int start = 0; start < kStarts && cut.alone.freedoms() > 0; ++start) {
    Eigen::VectorXd q = zero_position(cut.alone);
    if (start == 0)
      for (std::size_t k = 0; k < cut.guess.size(); ++k)
        q[static_cast<Eigen::Index>(k)] = cut.guess[k];
    else
      q = integrate(cut.alone, q,
                    std::numbers::pi *
                        random_vector(cut.alone.freedoms(), static_cast<std::uint64_t>(start)));
    normalize_quaternions(cut.alone, q);
    Eigen::MatrixXd columns;
    Vector6d r = weight.cwiseProduct(cut_residual(cut, displacement, q, &columns));
    double damping = 1e-3;
    for (int step = 0; step < kSteps && r.norm() > kFits; ++step) {
      const Eigen::MatrixXd a = weight.asDiagonal() * columns;
      Eigen::MatrixXd normal = a.transpose() * a;
      normal.diagonal().array() += damping;
      const Eigen::VectorXd trial =
          integrate(cut.alone, q, -normal.ldlt().solve(a.transpose() * r));
      Eigen::MatrixXd trial_columns;
      const Vector6d trial_r =
          weight.cwiseProduct(cut_residual(cut, displacement, trial, &trial_columns));
      if (trial_r.norm() < r.norm()) {
        const bool settled = r.norm() - trial_r.norm() < 1e-14 * r.norm();
        q = trial;
        r = trial_r;
        columns = trial_columns;
        damping = std::max(damping / 10.0, 1e-14);
        if (settled) break;
      } else {
        damping *= 4.0;
        if (damping > 1e6) break;
      }
    }
    if (r.norm() < least) {
      least = r.norm();
      best = q;
    }
    if (least <= kFits) break;
  }
  return best;
}

LoopPosition LoopClosure::position(const Eigen::VectorXd& q) const {
  LoopPosition result{q, {}};
  const std::vector<Motion> m = motions(q);
  for (const CutHinge& cut : cuts_)
    result.cuts.push_back(fitted(cut, pose_of(m, cut.parent).inverse() * pose_of(m, cut.child)));
  return result;
}

ClosureEquations LoopClosure::equations(const LoopPosition& position) const {
  ClosureEquations e{Eigen::VectorXd::Zero(rows_), Eigen::MatrixXd::Zero(rows_, unknowns())};
  const std::vector<Motion> m = motions(position.q);
  int row = 0;
  for (std::size_t c = 0; c < cuts_.size(); ++c, row += 6) {
    const CutHinge& cut = cuts_[c];
    const Transformd on_parent = pose_of(m, cut.parent);
    const Transformd on_child = pose_of(m, cut.child);
    Eigen::MatrixXd own;
    const Vector6d r = cut_residual(cut, on_parent.inverse() * on_child, position.cuts[c], &own);
    const Matrix6d derivative = log_derivative(twist_from_eigen(r));
    e.residual.segment<6>(row) = r;
    if (cut.alone.freedoms() > 0) e.jacobian.block(row, cut.column, 6, cut.alone.freedoms()) = own;
    const auto add = [&](double sign) {
      return [&, sign](int column, const Twistd& twist) {
        e.jacobian.block<6, 1>(row, column) +=
            sign * (derivative * to_eigen(Ad_inverse(on_child, twist)));
      };
    };
    add_path(m, cut.child, add(1.0));
    add_path(m, cut.parent, add(-1.0));
    e.residual.segment<3>(row + 3) /= length_;
    e.jacobian.middleRows<3>(row + 3) /= length_;
  }
  for (const RodEquation& rod : rods_) {
    const Vec3d a = pose_of(m, rod.a).translation;
    const Vec3d b = pose_of(m, rod.b).translation;
    const Vec3d d = b - a;
    const double scale = 1.0 / (rod.length * length_);
    e.residual[row] = 0.5 * scale * (squared_norm(d) - rod.length * rod.length);
    const auto add = [&](double sign, const Vec3d& point) {
      return [&, sign, point](int column, const Twistd& twist) {
        e.jacobian(row, column) +=
            sign * scale * dot(d, twist.linear + cross(twist.angular, point));
      };
    };
    add_path(m, rod.b, add(1.0, b));
    add_path(m, rod.a, add(-1.0, a));
    ++row;
  }
  for (const CouplingEquation& equation : couplings_) {
    const Coupling& coupling = *equation.coupling;
    const std::size_t n = coupling.terms.size();
    std::vector<double> q(n), gradient(n), hessian(n * n);
    for (std::size_t i = 0; i < n; ++i) q[i] = position.q[equation.coordinates[i]];
    double value = -coupling.constant;
    if (coupling.function) {
      coupling.function(q, value, gradient, hessian);
    } else {
      for (std::size_t i = 0; i < n; ++i) {
        gradient[i] = coupling.terms[i].coefficient;
        value += gradient[i] * q[i];
      }
    }
    double squares = 0.0;
    for (const double g : gradient) squares += g * g;
    const double scale = squares > 0.0 ? 1.0 / std::sqrt(squares) : 1.0;
    e.residual[row] = scale * value;
    for (std::size_t i = 0; i < n; ++i) e.jacobian(row, equation.columns[i]) += scale * gradient[i];
    ++row;
  }
  return e;
}

LoopPosition LoopClosure::moved(const LoopPosition& from, const Eigen::VectorXd& step) const {
  Eigen::VectorXd v = Eigen::VectorXd::Zero(mechanism_.freedoms());
  for (const LocalNode& local : nodes_) {
    const Node& node = at(mechanism_.nodes(), local.node);
    v.segment(node.v_index, node.freedoms) = step.segment(local.column, node.freedoms);
  }
  LoopPosition to{integrate(mechanism_, from.q, v), from.cuts};
  for (std::size_t c = 0; c < cuts_.size(); ++c)
    to.cuts[c] = integrate(cuts_[c].alone, from.cuts[c],
                           step.segment(cuts_[c].column, cuts_[c].alone.freedoms()));
  return to;
}

Eigen::VectorXd LoopClosure::unit_steps(const LoopPosition& position) const {
  Eigen::VectorXd steps = Eigen::VectorXd::Ones(unknowns());
  const std::vector<Motion> m = motions(position.q);
  const auto shifts = [](const Twistd& twist) { return squared_norm(twist.angular) == 0.0; };
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (int k = 0; k < at(mechanism_.nodes(), nodes_[i].node).freedoms; ++k)
      if (shifts(m[i].columns[k])) steps[nodes_[i].column + k] = length_;
  for (std::size_t c = 0; c < cuts_.size(); ++c) {
    Twistd map[kMaxFreedoms];
    displacement_of(cuts_[c].alone, position.cuts[c], map);
    for (int k = 0; k < cuts_[c].alone.freedoms(); ++k)
      if (shifts(map[k])) steps[cuts_[c].column + k] = length_;
  }
  return steps;
}

std::string LoopClosure::worst(const Eigen::VectorXd& residual) const {
  std::string text;
  double most = -1.0;
  int row = 0;
  const auto consider = [&](double size, const std::string& words) {
    if (size <= most) return;
    most = size;
    text = words;
  };
  for (const CutHinge& cut : cuts_) {
    const double angle = residual.segment<3>(row).norm();
    const double distance = residual.segment<3>(row + 3).norm() * length_;
    consider(residual.segment<6>(row).norm(), "hinge '" + cut.name + "' is open by " +
                                                  short_number(distance) + " m and " +
                                                  short_number(angle) + " rad");
    row += 6;
  }
  for (const RodEquation& rod : rods_) {
    const double off = std::abs(residual[row]) * length_;
    consider(std::abs(residual[row++]),
             "the length of rod '" + rod.name + "' is off by " + short_number(off) + " m");
  }
  for (const CouplingEquation& equation : couplings_)
    consider(std::abs(residual[row++]),
             "coupling '" + equation.coupling->name + "' is not satisfied");
  return text;
}

}  // namespace catena
