// SPDX-License-Identifier: BSD-3-Clause
#include "catena/flexible/matrices_body.h"

#include <algorithm>
#include <cmath>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/flexible/damping.h"
#include "catena/flexible/mass_points.h"
#include "catena/flexible/mode_selection.h"

namespace catena {
namespace {

using Eigen::MatrixXd;

constexpr int kInertiaRow[6] = {0, 0, 0, 1, 1, 2}, kInertiaColumn[6] = {0, 1, 2, 1, 2, 2};
// Entries of M and K that differ by more than this from their mirror image are mistakes.
constexpr double kSymmetryOfFiles = 1e-8;
constexpr int kInertiaLoads = 12;

// Deletes a body; the settings it was made of stay with it (matrices_of()).
struct KeepSettings {
  MatricesBodySettings settings;
  void operator()(const FlexibleBody* body) const { delete body; }
};

class MatricesBodyMaker {
 public:
  MatricesBodyMaker(const MatricesBodySettings& settings, const std::string& name,
                    const Source& source)
      : s_(settings), name_("flexible body '" + name + "'"), source_(source) {}

  std::shared_ptr<const FlexibleBody> run() {
    check();
    find_shapes();
    make_constants();
    std::vector<Diagnostic> found = check_flexible_body(body_, name_, source_);
    if (std::any_of(found.begin(), found.end(),
                    [](const Diagnostic& d) { return d.severity == Severity::error; }))
      throw ModelError(std::move(found));
    return {new FlexibleBody(std::move(body_)), KeepSettings{s_}};
  }

 private:
  void error(const std::string& text) {
    problems_.push_back({Severity::error, source_, name_ + " " + text});
  }

  void check_matrix(const MatrixXd& a, const char* what) {
    if (a.rows() != dofs_ || a.cols() != dofs_) {
      error(std::string("has a ") + what + " matrix of " + std::to_string(a.rows()) + " x " +
            std::to_string(a.cols()) + "; " + std::to_string(s_.nodes.size()) + " nodes of " +
            std::to_string(s_.freedoms_per_node) + " freedoms need " + std::to_string(dofs_));
      return;
    }
    if (!a.allFinite()) {
      error(std::string("has a ") + what + " matrix with a number that is not finite");
      return;
    }
    Eigen::Index row = 0, column = 0;
    const double worst = (a - a.transpose()).cwiseAbs().maxCoeff(&row, &column);
    if (row > column) std::swap(row, column);
    if (worst > kSymmetryOfFiles * a.cwiseAbs().maxCoeff())
      error(std::string("has a ") + what + " matrix that is not symmetric: entries (" +
            std::to_string(row + 1) + ", " + std::to_string(column + 1) +
            ") = " + number(a(row, column)) + " and (" + std::to_string(column + 1) + ", " +
            std::to_string(row + 1) + ") = " + number(a(column, row)) +
            "; give the whole matrix, not one triangle");
  }

  void check_node(int node, const std::string& who) {
    if (node < 0 || node >= static_cast<int>(s_.nodes.size()))
      error("has " + who + " at node " + std::to_string(node) +
            " outside the body, which has nodes 0 to " +
            std::to_string(static_cast<int>(s_.nodes.size()) - 1));
  }

  void check() {
    if (s_.freedoms_per_node != 3 && s_.freedoms_per_node != 6)
      error("has " + std::to_string(s_.freedoms_per_node) + " freedoms per node; give 3 or 6");
    if (s_.nodes.empty()) error("has no nodes");
    check_matrix(s_.mass, "mass");
    check_matrix(s_.stiffness, "stiffness");
    if (s_.damping.size() > 0) check_matrix(s_.damping, "damping");
    if (s_.clamped_nodes.empty())
      error(
          "has no clamped nodes: its shapes would contain rigid motion; name the nodes that are "
          "fixed to the body frame");
    for (const int node : s_.clamped_nodes) check_node(node, "a clamped place");
    for (const auto& a : s_.attachments) {
      if (a.nodes.empty()) error("has an attachment '" + a.name + "' without nodes");
      for (const int node : a.nodes) check_node(node, "its attachment '" + a.name + "'");
      if (s_.freedoms_per_node == 3 && a.nodes.size() < 3)
        error("has an attachment '" + a.name + "' on " + std::to_string(a.nodes.size()) +
              " nodes without rotations; give three or more that are not on a line");
      if (!a.geometric_stiffness.empty() && a.geometric_stiffness.size() != 6)
        error("has an attachment '" + a.name + "' with " +
              std::to_string(a.geometric_stiffness.size()) + " geometric stiffnesses; give 6");
      for (const MatrixXd& k : a.geometric_stiffness) check_matrix(k, "geometric stiffness");
    }
    if (s_.geometric_stiffness.empty() && s_.model == FlexibleModel::consistent)
      error(
          "has no geometric stiffness, which the model 'consistent' needs; give the matrices of "
          "the twelve inertia loads, or choose the model 'inconsistent' (slow motions) or "
          "'ruthless'");
    if (!s_.geometric_stiffness.empty() && s_.geometric_stiffness.size() != kInertiaLoads)
      error("has " + std::to_string(s_.geometric_stiffness.size()) +
            " geometric stiffnesses; give the 12 of the loads M e_k and M x_k e_l");
    for (const MatrixXd& k : s_.geometric_stiffness) check_matrix(k, "geometric stiffness");
    if (!problems_.empty()) throw ModelError(std::move(problems_));
  }

  int dof(int node, int component) const { return s_.freedoms_per_node * node + component; }
  bool has_rotations() const { return s_.freedoms_per_node == 6; }

  // The mean motion of an attachment's nodes: rotation in rows 0 to 2, displacement in 3 to 5.
  MatrixXd interface_of(const MatricesBodySettings::Attachment& a, Vec3d& center) {
    MatrixXd g = MatrixXd::Zero(6, dofs_);
    const double share = 1.0 / static_cast<double>(a.nodes.size());
    center = Vec3d::zero();
    for (const int node : a.nodes) center += share * at(s_.nodes, node);
    for (const int node : a.nodes)
      for (int c = 0; c < 3; ++c) g(3 + c, dof(node, c)) += share;
    if (has_rotations()) {
      for (const int node : a.nodes)
        for (int c = 0; c < 3; ++c) g(c, dof(node, 3 + c)) += share;
      return g;
    }
    Eigen::Matrix3d spread = Eigen::Matrix3d::Zero();
    for (const int node : a.nodes) {
      const Eigen::Matrix3d d = to_eigen(skew(at(s_.nodes, node) - center));
      spread -= d * d;
      g.block(0, dof(node, 0), 3, 3) += d;
    }
    const Eigen::Vector3d moments = symmetric_eigen(spread).values;
    if (!(moments[0] > 1e-12 * moments[2])) {
      error("has an attachment '" + a.name + "' whose nodes are on a line; add one beside it");
      throw ModelError(std::move(problems_));
    }
    g.topRows(3) = PivotedCholesky(spread).solve(MatrixXd(g.topRows(3)));
    return g;
  }

  void find_shapes() {
    std::vector<char> fixed(index(dofs_), 0);
    for (const int node : s_.clamped_nodes)
      for (int c = 0; c < s_.freedoms_per_node; ++c) at(fixed, dof(node, c)) = 1;
    std::vector<int> free;
    for (int i = 0; i < dofs_; ++i)
      if (!at(fixed, i)) free.push_back(i);
    MatrixXd all(6 * static_cast<Eigen::Index>(s_.attachments.size()), dofs_);
    for (std::size_t i = 0; i < s_.attachments.size(); ++i) {
      Vec3d center;
      interfaces_.push_back(interface_of(s_.attachments[i], center));
      centers_.push_back(center);
      all.middleRows(6 * static_cast<Eigen::Index>(i), 6) = interfaces_.back();
    }
    std::vector<ElasticProblem> problems(1);
    problems[0].mass = s_.mass(free, free);
    problems[0].stiffness = s_.stiffness(free, free);
    problems[0].interface = all(Eigen::all, free);
    std::vector<SelectedShape> shapes;
    try {
      shapes = select_shapes(problems, s_.modes);
    } catch (const NumericalError& e) {
      throw ModelError({{Severity::error, source_, name_ + " " + e.what()}});
    }
    total_mass_ = rigid_translation().col(0).dot(s_.mass * rigid_translation().col(0));
    if (!(total_mass_ > 0.0)) {
      error("has total mass " + number(total_mass_) + "; check the mass matrix and its units");
      throw ModelError(std::move(problems_));
    }
    shapes_.setZero(dofs_, static_cast<Eigen::Index>(shapes.size()));
    frequencies_.resize(shapes_.cols());
    for (Eigen::Index k = 0; k < shapes_.cols(); ++k) {
      const SelectedShape& shape = at(shapes, k);
      frequencies_[k] = shape.frequency;
      Eigen::Index largest = 0;
      shape.vector.cwiseAbs().maxCoeff(&largest);
      const double sign = shape.vector[largest] < 0.0 ? -1.0 : 1.0;
      for (std::size_t i = 0; i < free.size(); ++i)
        shapes_(free[i], k) =
            sign * std::sqrt(total_mass_) * shape.vector[static_cast<Eigen::Index>(i)];
    }
  }

  MatrixXd rigid_translation() const {
    MatrixXd t = MatrixXd::Zero(dofs_, 3);
    for (int i = 0; i < static_cast<int>(s_.nodes.size()); ++i)
      for (int c = 0; c < 3; ++c) t(dof(i, c), c) = 1.0;
    return t;
  }
  // Velocities e_a × y of the nodes for unit angular velocities; y from nodal displacements.
  MatrixXd turned(const Eigen::VectorXd& y) const {
    MatrixXd r = MatrixXd::Zero(dofs_, 3);
    for (int i = 0; i < static_cast<int>(s_.nodes.size()); ++i)
      r.block(dof(i, 0), 0, 3, 3) =
          -to_eigen(skew(Vec3d{y[dof(i, 0)], y[dof(i, 1)], y[dof(i, 2)]}));
    return r;
  }
  MatrixXd rigid_rotation() const {
    Eigen::VectorXd x = Eigen::VectorXd::Zero(dofs_);
    for (int i = 0; i < static_cast<int>(s_.nodes.size()); ++i)
      for (int c = 0; c < 3; ++c) x[dof(i, c)] = at(s_.nodes, i)[c];
    MatrixXd r = turned(x);
    if (has_rotations())
      for (int i = 0; i < static_cast<int>(s_.nodes.size()); ++i)
        for (int c = 0; c < 3; ++c) r(dof(i, 3 + c), c) = 1.0;
    return r;
  }

  void make_constants() {
    const int n = static_cast<int>(shapes_.cols());
    start_constants(body_, n);
    const MatrixXd t = rigid_translation(), r = rigid_rotation();
    const MatrixXd& m = s_.mass;
    const MatrixXd mr = m * r, m_shapes = m * shapes_;
    body_.mass = total_mass_;
    const Eigen::Matrix3d h = r.transpose() * m * t;  // h~
    body_.mass_moment = {0.5 * (h(2, 1) - h(1, 2)), 0.5 * (h(0, 2) - h(2, 0)),
                         0.5 * (h(1, 0) - h(0, 1))};
    body_.mass_moment_1 = t.transpose() * m_shapes;
    body_.coupling_0 = r.transpose() * m_shapes;
    const Eigen::Matrix3d j0 = r.transpose() * mr;
    for (int c = 0; c < 6; ++c) at(body_.inertia, c) = j0(kInertiaRow[c], kInertiaColumn[c]);
    std::vector<MatrixXd> turns, m_turns;
    for (int k = 0; k < n; ++k) {
      turns.push_back(turned(shapes_.col(k)));
      m_turns.push_back(m * turns.back());
    }
    for (int k = 0; k < n; ++k) {
      const Eigen::Matrix3d half = at(turns, k).transpose() * mr;
      for (int c = 0; c < 6; ++c)
        body_.inertia_1(c, k) =
            half(kInertiaRow[c], kInertiaColumn[c]) + half(kInertiaColumn[c], kInertiaRow[c]);
      for (int l = 0; l < n; ++l) {
        const Eigen::Matrix3d j2 = at(turns, k).transpose() * at(m_turns, l);
        for (int c = 0; c < 6; ++c)
          at(body_.inertia_2, c)(k, l) =
              j2(kInertiaRow[c], kInertiaColumn[c]) + j2(kInertiaColumn[c], kInertiaRow[c]);
        const Eigen::Vector3d c1 = at(turns, l).transpose() * m_shapes.col(k);
        for (int c = 0; c < 3; ++c) at(body_.coupling_1, c)(k, l) = c1[c];
      }
    }
    body_.modal_mass = shapes_.transpose() * m_shapes;
    body_.stiffness = shapes_.transpose() * s_.stiffness * shapes_;
    for (MatrixXd* a : {&body_.modal_mass, &body_.stiffness})
      *a = 0.5 * (*a + a->transpose()).eval();
    body_.stiffness_parts = {{"stiffness", body_.stiffness, 1.0}};
    body_.damping =
        modal_damping(s_.modal_damping, frequencies_, body_.modal_mass, body_.stiffness);
    if (s_.damping.size() > 0) body_.damping += shapes_.transpose() * s_.damping * shapes_;
    body_.model = s_.model;
    body_.completion = s_.completion;
    add_geometric_stiffness();
    add_attachments();
    for (const Vec3d& node : s_.nodes)
      body_.size = std::max(body_.size, norm(node - s_.nodes.front()));
  }

  MatrixXd projected(const MatrixXd& k) const { return shapes_.transpose() * k * shapes_; }

  void add_geometric_stiffness() {
    body_.moments.reset();  // without geometric stiffness there is nothing to complete
    if (s_.geometric_stiffness.empty() || s_.model == FlexibleModel::inconsistent) return;
    add_moments();
    std::array<std::array<MatrixXd, 3>, 3> s;  // of the loads M x_k e_l
    for (int k = 0; k < 3; ++k) {
      at(body_.mass_moment_2, k) -= projected(at(s_.geometric_stiffness, k));
      for (int l = 0; l < 3; ++l)
        at(at(s, k), l) = projected(at(s_.geometric_stiffness, 3 + 3 * k + l));
    }
    const MatrixXd trace = s[0][0] + s[1][1] + s[2][2];
    for (int c = 0; c < 6; ++c) {
      const int a = kInertiaRow[c], b = kInertiaColumn[c];
      at(body_.inertia_2, c) += at(at(s, a), b) + at(at(s, b), a);
      if (a == b) at(body_.inertia_2, c) -= 2.0 * trace;
    }
    for (int a = 0; a < 3; ++a) {
      const int b = (a + 1) % 3, c = (a + 2) % 3;
      at(body_.coupling_1, a) -= at(at(s, b), c) - at(at(s, c), b);
    }
  }

  // Of the loads M x_j e_c; rotary inertia of nodes stays where it is.
  void add_moments() {
    start_moments(body_, static_cast<int>(shapes_.cols()));
    InertiaMoments& m = *body_.moments;
    std::array<MatrixXd, 3> fields;
    for (int j = 0; j < 3; ++j) {
      MatrixXd& field = at(fields, j) = MatrixXd::Zero(dofs_, 3);
      for (int i = 0; i < static_cast<int>(s_.nodes.size()); ++i)
        field.block(dof(i, 0), 0, 3, 3).diagonal().setConstant(at(s_.nodes, i)[j]);
      at(m.displacement_1, j) = field.transpose() * s_.mass * shapes_;
      for (int c = 0; c < 3; ++c)
        at(at(m.displacement_2, j), c) = -projected(at(s_.geometric_stiffness, 3 + 3 * j + c));
    }
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k)
        m.second(j, k) = (at(fields, j).transpose() * s_.mass * at(fields, k)).trace() / 3.0;
  }

  void add_attachments() {
    const auto n = shapes_.cols();
    for (std::size_t i = 0; i < s_.attachments.size(); ++i) {
      const MatricesBodySettings::Attachment& a = s_.attachments[i];
      FlexibleBody::Attachment out;
      out.name = a.name;
      out.position = centers_[i];
      const MatrixXd motion = interfaces_[i] * shapes_;
      out.slope = motion.topRows(3);
      out.shape = motion.bottomRows(3);
      const bool second = !a.geometric_stiffness.empty() && s_.model != FlexibleModel::inconsistent;
      for (int c = 0; c < 3; ++c) {
        at(out.second_shape, c) = second ? MatrixXd(-projected(at(a.geometric_stiffness, c)))
                                         : MatrixXd(MatrixXd::Zero(n, n));
        at(out.second_slope, c) = second ? MatrixXd(-projected(at(a.geometric_stiffness, 3 + c)))
                                         : MatrixXd(MatrixXd::Zero(n, n));
      }
      body_.attachments.push_back(std::move(out));
    }
  }

  const MatricesBodySettings& s_;
  std::string name_;
  Source source_;
  std::vector<Diagnostic> problems_;
  int dofs_ = s_.freedoms_per_node * static_cast<int>(s_.nodes.size());
  MatrixXd shapes_;  // dofs × n
  Eigen::VectorXd frequencies_;
  std::vector<MatrixXd> interfaces_;
  std::vector<Vec3d> centers_;
  double total_mass_ = 0.0;
  FlexibleBody body_;
};

}  // namespace

std::shared_ptr<const FlexibleBody> make_matrices_body(const MatricesBodySettings& settings,
                                                       const std::string& name,
                                                       const Source& source) {
  return MatricesBodyMaker(settings, name, source).run();
}

const MatricesBodySettings* matrices_of(const std::shared_ptr<const FlexibleBody>& body) {
  const auto* kept = std::get_deleter<KeepSettings>(body);
  return kept == nullptr ? nullptr : &kept->settings;
}

}  // namespace catena
