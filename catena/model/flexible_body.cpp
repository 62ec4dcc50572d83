// SPDX-License-Identifier: BSD-3-Clause
#include "catena/model/flexible_body.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "catena/base/dense.h"
#include "catena/base/index.h"
#include "catena/base/text.h"

namespace catena {
namespace {

// Matrices from files carry some ten digits; what differs by more was not meant to be symmetric.
constexpr double kAsymmetry = 1e-8;
// Squares of frequencies below this fraction of the largest are rounding of zero.
constexpr double kRigidFraction = 1e-12;

double asymmetry(const Eigen::MatrixXd& a) {
  const double scale = a.cwiseAbs().maxCoeff();
  return scale > 0.0 ? (a - a.transpose()).cwiseAbs().maxCoeff() / scale : 0.0;
}

// The squares of the natural frequencies and the modes, for a mass matrix that is positive
// definite.
SymmetricEigen natural_modes(const Eigen::MatrixXd& mass, const Eigen::MatrixXd& stiffness) {
  const SymmetricEigen m = symmetric_eigen(mass);
  const Eigen::MatrixXd root =
      m.vectors * m.values.cwiseSqrt().cwiseInverse().asDiagonal() * m.vectors.transpose();
  SymmetricEigen k = symmetric_eigen(root * stiffness * root);
  k.vectors = root * k.vectors;
  return k;
}

class FlexibleCheck {
 public:
  FlexibleCheck(const FlexibleBody& body, std::string what, Source source)
      : b_(body), n_(body.modes()), what_(std::move(what)), source_(std::move(source)) {}

  std::vector<Diagnostic> run() {
    if (n_ == 0) {
      error("has no modes; give their number or a frequency limit, or make it a rigid body");
    } else if (sizes_fit() && numbers_are_finite()) {
      check_matrices();
      check_inertia();
      check_attachments();
    }
    return std::move(problems_);
  }

 private:
  void say(Severity severity, const std::string& text) {
    problems_.push_back({severity, source_, what_ + " " + text});
  }
  void error(const std::string& text) { say(Severity::error, text); }

  bool has_size(const Eigen::MatrixXd& a, int rows, int columns, const char* name) {
    if (a.rows() == rows && a.cols() == columns) return true;
    error(std::string("has ") + std::to_string(n_) + " modes, but " + name + " is " +
          std::to_string(a.rows()) + " x " + std::to_string(a.cols()) + " instead of " +
          std::to_string(rows) + " x " + std::to_string(columns));
    return false;
  }

  bool sizes_fit() {
    bool fit = has_size(b_.modal_mass, n_, n_, "the modal mass M_e") &&
               has_size(b_.stiffness, n_, n_, "the stiffness K") &&
               has_size(b_.damping, n_, n_, "the damping D") &&
               has_size(b_.mass_moment_1, 3, n_, "the mass moment h1") &&
               has_size(b_.inertia_1, 6, n_, "the inertia J1") &&
               has_size(b_.coupling_0, 3, n_, "the coupling C0");
    for (const auto& a : b_.mass_moment_2) fit = fit && has_size(a, n_, n_, "the mass moment h2");
    for (const auto& a : b_.inertia_2) fit = fit && has_size(a, n_, n_, "the inertia J2");
    for (const auto& a : b_.coupling_1) fit = fit && has_size(a, n_, n_, "the coupling C1");
    for (const auto& part : b_.stiffness_parts)
      fit = fit && has_size(part.matrix, n_, n_, "a part of the stiffness");
    for (const FlexibleBody::Attachment& a : b_.attachments) {
      fit = fit && has_size(a.shape, 3, n_, "the shape of an attachment") &&
            has_size(a.slope, 3, n_, "the slope of an attachment");
      for (const auto& m : a.second_shape) fit = fit && has_size(m, n_, n_, "B of an attachment");
      for (const auto& m : a.second_slope) fit = fit && has_size(m, n_, n_, "B of an attachment");
    }
    if (b_.moments) fit = fit && moments_fit(*b_.moments);
    return fit;
  }

  bool moments_fit(const InertiaMoments& m) {
    const char* const name = "a moment of its displacement";
    bool fit = has_size(m.slope_0, 3, n_, name);
    for (int i = 0; i < 3; ++i) {
      fit = fit && has_size(at(m.displacement_1, i), 3, n_, name) &&
            has_size(at(m.turning_1, i), 3, n_, name) && has_size(at(m.slope_1, i), n_, n_, name);
      for (int k = 0; k < 3; ++k)
        fit = fit && has_size(at(at(m.displacement_2, i), k), n_, n_, name) &&
              has_size(at(at(m.turning_2, i), k), n_, n_, name);
    }
    return fit;
  }

  bool numbers_are_finite() {
    bool finite = std::isfinite(b_.mass) && b_.modal_mass.allFinite() && b_.stiffness.allFinite() &&
                  b_.damping.allFinite() && b_.mass_moment_1.allFinite() &&
                  b_.inertia_1.allFinite() && b_.coupling_0.allFinite();
    for (int i = 0; i < 3; ++i)
      finite = finite && std::isfinite(b_.mass_moment[i]) && at(b_.mass_moment_2, i).allFinite() &&
               at(b_.coupling_1, i).allFinite();
    for (int i = 0; i < 6; ++i)
      finite = finite && std::isfinite(at(b_.inertia, i)) && at(b_.inertia_2, i).allFinite();
    for (const FlexibleBody::Attachment& a : b_.attachments) {
      finite = finite && a.shape.allFinite() && a.slope.allFinite();
      for (int i = 0; i < 3; ++i)
        finite = finite && std::isfinite(a.position[i]) && at(a.second_shape, i).allFinite() &&
                 at(a.second_slope, i).allFinite();
    }
    if (!finite) error("has a number that is infinite or not a number");
    return finite;
  }

  bool is_symmetric(const Eigen::MatrixXd& a, const char* name) {
    const double difference = asymmetry(a);
    if (difference <= kAsymmetry) return true;
    error(std::string("has ") + name + " that is not symmetric (by " + short_number(difference) +
          " of its largest entry); symmetrize it, or correct the entries that differ");
    return false;
  }

  void check_matrices() {
    if (!is_symmetric(b_.modal_mass, "a modal mass") | !is_symmetric(b_.stiffness, "a stiffness") |
        !is_symmetric(b_.damping, "a damping"))
      return;
    if (!Cholesky(b_.modal_mass).succeeded()) {
      error("has a modal mass that is not positive definite; remove shapes that depend on others");
      return;
    }
    const SymmetricEigen modes = natural_modes(b_.modal_mass, b_.stiffness);
    const double largest = modes.values.cwiseAbs().maxCoeff();
    if (!(largest > 0.0)) {
      error("has no stiffness: all frequencies are 0; give its stiffness, or make it a rigid body");
      return;
    }
    for (int i = 0; i < n_; ++i) {
      const double square = modes.values[i];
      if (std::abs(square) <= kRigidFraction * largest) {
        error("has shapes that contain rigid motion: frequency 0 of mode " + std::to_string(i + 1) +
              "; subtract each shape's motion at the body frame, or use modes clamped there");
        return;
      }
      if (square < 0.0) {
        error("has an indefinite stiffness: the square of frequency " + std::to_string(i + 1) +
              " is " + short_number(square) + " rad²/s²; check signs and units of the stiffness");
        return;
      }
    }
    check_damping(modes);
  }

  void check_damping(const SymmetricEigen& modes) {
    const double scale = b_.damping.cwiseAbs().maxCoeff();
    const SymmetricEigen own = symmetric_eigen(b_.damping);
    if (own.values[0] < -kAsymmetry * scale) {
      error("has a damping that feeds energy in: its smallest eigenvalue is " +
            short_number(own.values[0]) + "; damping must be positive semidefinite");
      return;
    }
    for (int i = 0; i < n_; ++i) {
      const Eigen::VectorXd shape = modes.vectors.col(i);
      const double ratio = shape.dot(b_.damping * shape) / (2.0 * std::sqrt(modes.values[i]));
      if (ratio > 1.0 + 1e-9) {
        say(Severity::warning, "has damping above critical: " + short_number(ratio) +
                                   " of critical in mode " + std::to_string(i + 1) + " of " +
                                   short_number(std::sqrt(modes.values[i])) +
                                   " rad/s; lower it, or leave the mode out");
        return;
      }
    }
  }

  // The kinetic energy of the undeformed body must be positive in every motion.
  void check_inertia() {
    if (!(b_.mass > 0.0)) {
      error("has mass " + number(b_.mass) + "; a flexible body needs a positive mass");
      return;
    }
    Eigen::MatrixXd full = Eigen::MatrixXd::Zero(6 + n_, 6 + n_);
    const auto& j = b_.inertia;
    full.topLeftCorner(3, 3) << j[0], j[1], j[2], j[1], j[3], j[4], j[2], j[4], j[5];
    full.block(0, 3, 3, 3) = to_eigen(skew(b_.mass_moment));
    full.block(3, 0, 3, 3) = full.block(0, 3, 3, 3).transpose();
    full.block(3, 3, 3, 3) = b_.mass * Eigen::Matrix3d::Identity();
    full.block(0, 6, 3, n_) = b_.coupling_0;
    full.block(3, 6, 3, n_) = b_.mass_moment_1;
    full.block(6, 0, n_, 6) = full.block(0, 6, 6, n_).transpose();
    full.bottomRightCorner(n_, n_) = b_.modal_mass;
    const Eigen::VectorXd scale = full.diagonal().cwiseMax(0.0).cwiseSqrt();
    for (int i = 0; i < 6 + n_; ++i)
      for (int k = 0; k < 6 + n_; ++k)
        full(i, k) = scale[i] > 0.0 && scale[k] > 0.0 ? full(i, k) / (scale[i] * scale[k]) : 0.0;
    const double smallest = symmetric_eigen(full).values[0];
    // A straight beam without rotary inertia has none about its own axis: zero is allowed.
    if (smallest < -1e-9)
      error("has an inertia that no real body has (smallest eigenvalue of the scaled mass matrix " +
            short_number(smallest) + "); check the couplings h1 and C0 against the modal mass");
  }

  void check_attachments() {
    std::vector<std::string> names;
    for (const FlexibleBody::Attachment& a : b_.attachments) {
      if (a.name.empty()) error("has an attachment without a name");
      if (std::find(names.begin(), names.end(), a.name) != names.end())
        error("has two attachments named '" + a.name + "'; names must differ");
      names.push_back(a.name);
      double worst = 0.0;
      for (int i = 0; i < 3; ++i)
        worst =
            std::max({worst, asymmetry(at(a.second_shape, i)), asymmetry(at(a.second_slope, i))});
      if (worst > kAsymmetry)
        error("has an attachment '" + a.name + "' whose terms of second order are not symmetric");
    }
  }

  const FlexibleBody& b_;
  int n_;
  std::string what_;
  Source source_;
  std::vector<Diagnostic> problems_;
};

}  // namespace

Eigen::VectorXd FlexibleBody::frequencies() const {
  return natural_modes(modal_mass, stiffness).values.cwiseMax(0.0).cwiseSqrt();
}

std::vector<Diagnostic> check_flexible_body(const FlexibleBody& body, const std::string& what,
                                            const Source& source) {
  return FlexibleCheck(body, what, source).run();
}

std::string_view to_string(FlexibleModel model) {
  switch (model) {
    case FlexibleModel::consistent:
      return "consistent";
    case FlexibleModel::inconsistent:
      return "inconsistent";
    default:
      return "ruthless";
  }
}

std::string_view to_string(ModeSet set) {
  switch (set) {
    case ModeSet::craig_bampton:
      return "craig_bampton";
    case ModeSet::clamped_free:
      return "clamped_free";
    default:
      return "clamped_loaded";
  }
}

std::optional<FlexibleModel> flexible_model_from(std::string_view name) {
  for (const FlexibleModel m :
       {FlexibleModel::consistent, FlexibleModel::inconsistent, FlexibleModel::ruthless})
    if (name == to_string(m)) return m;
  return {};
}

std::optional<ModeSet> mode_set_from(std::string_view name) {
  for (const ModeSet m : {ModeSet::craig_bampton, ModeSet::clamped_free, ModeSet::clamped_loaded})
    if (name == to_string(m)) return m;
  return {};
}

std::string_view to_string(InertiaCompletion completion) {
  switch (completion) {
    case InertiaCompletion::automatic:
      return "automatic";
    case InertiaCompletion::always:
      return "always";
    default:
      return "never";
  }
}

std::optional<InertiaCompletion> inertia_completion_from(std::string_view name) {
  for (const InertiaCompletion completion :
       {InertiaCompletion::automatic, InertiaCompletion::always, InertiaCompletion::never})
    if (name == to_string(completion)) return completion;
  return std::nullopt;
}

}  // namespace catena
