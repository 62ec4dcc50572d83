// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/report/report_modes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/catena/report/report_data.h"
#include "apps/catena/report/report_frames.h"
#include "apps/catena/report/report_model.h"
#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/dynamics/kinematics.h"

namespace catena::app {
namespace {

constexpr std::size_t kMostModes = 60;  // in a page

// Points whose motion sets the amplitude: origins, mass centres and hinges of bodies, points of
// beams.
class SeenPoints {
 public:
  explicit SeenPoints(const Mechanism& m) : mechanism_(m), workspace_(m) {
    for (int i = 0; i < std::ssize(m.bodies()); ++i) {
      const Body& body = m.description().bodies[index(i)];
      places_.push_back({i, {}});
      places_.push_back({i, body.center_of_mass});
    }
    for (const Hinge& hinge : m.description().hinges) {
      places_.push_back({m.body_index(hinge.parent), hinge.frame_on_parent.translation});
      places_.push_back({m.body_index(hinge.child), hinge.frame_on_child.translation});
    }
  }

  std::vector<Vec3d> at(const Eigen::VectorXd& q) {
    update_kinematics(mechanism_, q, workspace_);
    std::vector<Vec3d> points;
    for (const auto& [body, point] : places_)
      points.push_back(body < 0 ? point : point_position(mechanism_, workspace_, body, point));
    for (const FlexiblePlace& place : mechanism_.flexible_bodies()) {
      const FlexibleBody& constants = *place.constants;
      const int first = mechanism_.nodes()[index(place.node)].q_index;
      const Eigen::VectorXd eta = q.segment(first, constants.modes());
      for (const FlexibleBody::DrawnPoint& drawn : constants.drawn_points) {
        const Eigen::Vector3d u = drawn.shape * eta;
        points.push_back(point_position(mechanism_, workspace_, place.body,
                                        drawn.position + Vec3d{u[0], u[1], u[2]}));
      }
    }
    return points;
  }

 private:
  struct Place {
    int body;
    Vec3d point;
  };
  const Mechanism& mechanism_;
  Workspace workspace_;
  std::vector<Place> places_;
};

double extent(const std::vector<Vec3d>& points) {
  Vec3d least = points[0], greatest = points[0];
  for (const Vec3d& p : points)
    for (int i = 0; i < 3; ++i) {
      least[i] = std::min(least[i], p[i]);
      greatest[i] = std::max(greatest[i], p[i]);
    }
  return norm(greatest - least);
}

class ModeFrames {
 public:
  ModeFrames(const Mechanism& m, const LinearModel& model)
      : mechanism_(m), model_(model), points_(m), rest_(points_.at(model.point.state.q)) {
    size_ = std::max(extent(rest_), 1e-9);
  }

  // Poses and modal coordinates over a period, the first again at the end. Null if the loops
  // cannot be closed.
  Json swing(const Mode& mode) {
    constexpr int kTries = 8;
    double amplitude = suitable(mode);
    for (int i = 0; i < kTries; ++i, amplitude *= 0.5) {
      try {
        return frames(mode, amplitude);
      } catch (const NumericalError&) {
        continue;  // beyond the range of the loops
      }
    }
    return nullptr;
  }

 private:
  State moved(const Mode& mode, double amplitude, double phase) const {
    const Eigen::VectorXd dq = amplitude * (mode.shape * std::polar(1.0, phase)).real();
    return displaced(mechanism_, model_.point.state, model_.freedoms, dq,
                     Eigen::VectorXd::Zero(dq.size()));
  }

  double suitable(const Mode& mode) {
    constexpr double kSmall = 1e-5;
    double fastest = 0.0;
    for (const double phase : {0.0, 0.5 * std::numbers::pi}) {
      const std::vector<Vec3d> points = points_.at(moved(mode, kSmall, phase).q);
      for (std::size_t i = 0; i < points.size(); ++i)
        fastest = std::max(fastest, norm(points[i] - rest_[i]) / kSmall);
    }
    double angle = 0.0;
    const std::vector<std::string> units = coordinate_units(mechanism_);
    for (std::size_t k = 0; k < model_.freedoms.size(); ++k) {
      const int coordinate = mechanism_.coordinate_of_freedom()[index(model_.freedoms[k])];
      if (coordinate < 0 || units[index(coordinate)] == "rad")
        angle = std::max(angle, std::abs(mode.shape[static_cast<Eigen::Index>(k)]));
    }
    double amplitude = fastest > 0.0 ? kSwing * size_ / fastest : 1.0;
    if (angle > 0.0) amplitude = std::min(amplitude, kMostAngle / angle);
    return amplitude;
  }

  Json frames(const Mode& mode, double amplitude) {
    Workspace workspace(mechanism_);
    std::vector<float> poses, modal;
    for (int k = 0; k <= kPhases; ++k) {
      const double phase = 2.0 * std::numbers::pi * (k % kPhases) / kPhases;
      const Eigen::VectorXd q = moved(mode, amplitude, phase).q;
      update_kinematics(mechanism_, q, workspace);
      append_poses(mechanism_, workspace, poses);
      append_modal(mechanism_, q, modal);
    }
    return {{"poses", base64_of(poses)}, {"modal", base64_of(modal)}, {"amplitude", amplitude}};
  }

  const Mechanism& mechanism_;
  const LinearModel& model_;
  SeenPoints points_;
  std::vector<Vec3d> rest_;
  double size_ = 1.0;
};

// The freedoms that move most in a mode, "elbow 1, shoulder 0.4".
Json participants(const Mechanism& m, const LinearModel& model, const Mode& mode) {
  constexpr std::size_t kMost = 4;
  constexpr double kLeast = 0.05;
  std::vector<std::pair<double, std::string>> moving;
  for (std::size_t k = 0; k < model.freedoms.size(); ++k) {
    const double size = std::abs(mode.shape[static_cast<Eigen::Index>(k)]);
    if (size >= kLeast) moving.emplace_back(size, m.velocity_names()[index(model.freedoms[k])]);
  }
  std::stable_sort(moving.begin(), moving.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(kMost, moving.size()); ++i)
    list.push_back({{"name", moving[i].second}, {"size", moving[i].first}});
  return list;
}

}  // namespace

Json modes_document(const Mechanism& mechanism, const std::string& path, const LinearModel& model,
                    const ModalAnalysis& analysis) {
  Json document = model_document(mechanism, path);
  document["kind"] = "modes";
  document["status"] = "modes";
  document["stability"] = to_string(analysis.stability);
  Json frames = pose_document(mechanism, model.point.state.q);
  document["rest"] = frames;
  std::vector<double> times;
  for (int k = 0; k <= kPhases; ++k) times.push_back(static_cast<double>(k) / kPhases);
  frames["times"] = base64_of(times);
  document["frames"] = frames;
  std::vector<std::string> notes;
  if (analysis.modes.size() > kMostModes)
    notes.push_back("The first " + std::to_string(kMostModes) + " of " +
                    std::to_string(analysis.modes.size()) + " modes are shown.");
  ModeFrames swings(mechanism, model);
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(kMostModes, analysis.modes.size()); ++i) {
    const Mode& mode = analysis.modes[i];
    Json swing = swings.swing(mode);
    if (!swing.contains("poses")) {
      notes.push_back("Mode " + std::to_string(i + 1) +
                      " is not shown: the loops cannot be closed along it.");
      continue;
    }
    list.push_back({{"number", i + 1},
                    {"eigenvalue", {mode.eigenvalue.real(), mode.eigenvalue.imag()}},
                    {"frequency", mode.frequency},
                    {"damping", mode.damping},
                    {"participants", participants(mechanism, model, mode)},
                    {"frames", swing}});
  }
  document["modes"] = std::move(list);
  for (const std::string& note : notes) document["notes"].push_back(note);
  return document;
}

}  // namespace catena::app
