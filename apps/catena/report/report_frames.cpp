// SPDX-License-Identifier: BSD-3-Clause
#include "apps/catena/report/report_frames.h"

#include <algorithm>
#include <unordered_map>

#include "catena/base/index.h"
#include "catena/dynamics/kinematics.h"

namespace catena::app {
namespace {

// Limits of a page: it stays below some 40 MB and the browser stays fast.
constexpr std::int64_t kPoses = 400'000, kMostFrames = 3000, kFewestFrames = 200;

void append(const Vec3d& a, std::vector<float>& to) {
  for (const double x : {a.x, a.y, a.z}) to.push_back(static_cast<float>(x));
}

class ColumnsByName {
 public:
  explicit ColumnsByName(const RunFile& run) {
    const auto& columns = run.header().columns;
    for (std::size_t i = 0; i < columns.size(); ++i)
      by_name_[columns[i].name] = static_cast<int>(i);
  }
  int find(const std::string& name) const {
    const auto at = by_name_.find(name);
    return at != by_name_.end() ? at->second : -1;
  }
  // The first of NAME.x, NAME.y, NAME.z, if these follow each other.
  int triple(const std::string& name) const {
    const int x = find(name + ".x");
    return x >= 0 && find(name + ".y") == x + 1 && find(name + ".z") == x + 2 ? x : -1;
  }

 private:
  std::unordered_map<std::string, int> by_name_;
};

Vec3d read(const Eigen::Ref<const Eigen::RowVectorXd>& row, int first) {
  return first < 0 ? Vec3d{} : Vec3d{row[first], row[first + 1], row[first + 2]};
}

}  // namespace

void append_pose(const Transformd& pose, std::vector<float>& poses) {
  const Quaterniond q = to_quaternion(pose.rotation);
  append(pose.translation, poses);
  for (const double x : {q.x, q.y, q.z, q.w}) poses.push_back(static_cast<float>(x));
}

void append_poses(const Mechanism& mechanism, const Workspace& workspace,
                  std::vector<float>& poses) {
  for (int body = 0; body < std::ssize(mechanism.bodies()); ++body)
    append_pose(body_pose(mechanism, workspace, body), poses);
}

void append_modal(const Mechanism& mechanism, const Eigen::VectorXd& q, std::vector<float>& modal) {
  for (const FlexiblePlace& place : mechanism.flexible_bodies()) {
    const int first = mechanism.nodes()[index(place.node)].q_index;
    for (int k = 0; k < place.constants->modes(); ++k)
      modal.push_back(static_cast<float>(q[first + k]));
  }
}

Frames::Frames(const RunFile& run, const Mechanism& mechanism, std::vector<DrawnContact> contacts)
    : mechanism_(mechanism),
      workspace_(mechanism),
      q_(mechanism.coordinates()),
      contacts_(std::move(contacts)) {
  for (const std::string& name : mechanism.position_names())
    q_columns_.push_back(run.column_index("q." + name));
  const ColumnsByName columns(run);
  for (const DrawnContact& contact : contacts_)
    contact_columns_.push_back(columns.triple("contact." + contact.name));
  find_hinge_forces(run);
  const auto bodies = std::max<std::int64_t>(1, std::ssize(mechanism.bodies()));
  most_ = std::clamp(kPoses / bodies, kFewestFrames, kMostFrames);
  if (run.rows() == 0) return;
  first_ = run.read(0, 1)(0, 0);
  last_ = run.read(run.rows() - 1, 1)(0, 0);
  all_ = run.rows() <= most_;
}

// Forces and moments that were recorded at a hinge, else the effort at a hinge with one axis.
void Frames::find_hinge_forces(const RunFile& run) {
  const ColumnsByName columns(run);
  for (const Hinge& hinge : mechanism_.description().hinges) {
    HingeForce drawn{.body = mechanism_.body_index(hinge.child),
                     .point = hinge.frame_on_child.translation,
                     .axis = {},
                     .turns = hinge.type == HingeType::revolute,
                     .force = columns.triple("force." + hinge.name),
                     .moment = columns.triple("moment." + hinge.name),
                     .effort = -1,
                     .name = hinge.name};
    const bool one_axis = hinge.type == HingeType::revolute || hinge.type == HingeType::prismatic;
    if (drawn.force < 0 && drawn.moment < 0 && one_axis) {
      drawn.effort = columns.find("effort." + hinge.name);
      drawn.axis = hinge.frame_on_child.rotation *
                   (hinge.axes.empty() ? Vec3d{0.0, 0.0, 1.0} : hinge.axes[0]);
    }
    if (drawn.force >= 0 || drawn.moment >= 0 || drawn.effort >= 0)
      hinge_forces_.push_back(std::move(drawn));
  }
}

Transformd Frames::pose_of(int body) const {
  return body < 0 ? Transformd{} : body_pose(mechanism_, workspace_, body);
}

void Frames::add(const Eigen::Ref<const Eigen::RowVectorXd>& row, bool last_row) {
  const double spacing = (last_ - first_) / static_cast<double>(most_ - 1);
  const double next = first_ + spacing * static_cast<double>(times_.size());
  if (!all_ && !last_row && row[0] < next) return;
  for (Eigen::Index i = 0; i < q_.size(); ++i) q_[i] = row[q_columns_[index(i)]];
  if (!q_.allFinite()) return;
  update_kinematics(mechanism_, q_, workspace_);
  times_.push_back(row[0]);
  append_poses(mechanism_, workspace_, poses_);
  append_modal(mechanism_, q_, modal_);
  add_contacts(row);
  add_hinge_forces(row);
}

void Frames::add_contacts(const Eigen::Ref<const Eigen::RowVectorXd>& row) {
  int count = 0;
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    const Vec3d force = read(row, contact_columns_[k]);
    if (!(dot(force, force) > 0.0)) continue;
    ++count;
    const DrawnContact& contact = contacts_[k];
    contact_values_.push_back(static_cast<float>(k));
    append(contact_point(contact, pose_of(contact.body), pose_of(contact.plane_body)),
           contact_values_);
    append(force, contact_values_);
  }
  contact_counts_.push_back(count);
}

void Frames::add_hinge_forces(const Eigen::Ref<const Eigen::RowVectorXd>& row) {
  for (const HingeForce& drawn : hinge_forces_) {
    Vec3d force = read(row, drawn.force), moment = read(row, drawn.moment);
    if (drawn.effort >= 0) {
      const Vec3d axis = pose_of(drawn.body).rotation * drawn.axis;
      (drawn.turns ? moment : force) = axis * row[drawn.effort];
    }
    append(force, hinge_values_);
    append(moment, hinge_values_);
  }
}

Json Frames::document() const {
  Json out = {{"times", base64_of(times_)}, {"poses", base64_of(poses_)}};
  if (mechanism_.has_flexible_bodies()) out["modal"] = base64_of(modal_);
  const bool recorded = std::any_of(contact_columns_.begin(), contact_columns_.end(),
                                    [](Triple first) { return first >= 0; });
  if (recorded)
    out["contacts"] = {{"counts", base64_of(contact_counts_)},
                       {"values", base64_of(contact_values_)}};
  if (!hinge_forces_.empty()) {
    Json places = Json::array();
    for (const HingeForce& drawn : hinge_forces_)
      places.push_back({{"name", drawn.name},
                        {"kind", drawn.effort >= 0 ? "effort" : "reaction"},
                        {"body", drawn.body},
                        {"point", to_json(drawn.point)}});
    out["forces"] = {{"places", places}, {"values", base64_of(hinge_values_)}};
  }
  return out;
}

}  // namespace catena::app
