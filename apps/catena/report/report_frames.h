// SPDX-License-Identifier: BSD-3-Clause
// The frames of an animation: at rows of a run that are evenly spaced in time, the poses of all
// bodies, the modal coordinates of flexible bodies, and the forces that the run recorded. Ground
// axes, f32. web/README.md has the format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/catena/report/report_contacts.h"
#include "catena/dynamics/workspace.h"
#include "catena/io/runs/run_file.h"

namespace catena::app {

std::string base64(std::string_view bytes);

template <class Number>
std::string base64_of(const std::vector<Number>& numbers) {
  return base64({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)});
}

// Position and quaternion (x, y, z, w).
void append_pose(const Transformd& pose, std::vector<float>& poses);
// Those of all bodies at the position that the workspace was updated to.
void append_poses(const Mechanism& mechanism, const Workspace& workspace,
                  std::vector<float>& poses);
// The modal coordinates of all flexible bodies, one body after the other.
void append_modal(const Mechanism& mechanism, const Eigen::VectorXd& q, std::vector<float>& modal);

class Frames {
 public:
  // Throws NameError if the run lacks a coordinate.
  Frames(const RunFile& run, const Mechanism& mechanism, std::vector<DrawnContact> contacts);

  void add(const Eigen::Ref<const Eigen::RowVectorXd>& row, bool last_row);
  std::size_t count() const { return times_.size(); }
  const std::vector<DrawnContact>& contacts() const { return contacts_; }
  Json document() const;

 private:
  // Columns of a vector: the first of three that follow each other, or −1.
  using Triple = int;
  // Drawing at a hinge with recorded forces or efforts.
  struct HingeForce {
    int body;     // the child, −1: the ground
    Vec3d point;  // in its frame
    Vec3d axis;   // of an effort, in its frame
    bool turns;   // an effort about the axis, not along it
    Triple force, moment;
    int effort;
    std::string name;
  };
  void find_hinge_forces(const RunFile& run);
  void add_contacts(const Eigen::Ref<const Eigen::RowVectorXd>& row);
  void add_hinge_forces(const Eigen::Ref<const Eigen::RowVectorXd>& row);
  Transformd pose_of(int body) const;

  const Mechanism& mechanism_;
  Workspace workspace_;
  Eigen::VectorXd q_;
  std::vector<int> q_columns_;
  std::vector<DrawnContact> contacts_;
  std::vector<Triple> contact_columns_;
  std::vector<HingeForce> hinge_forces_;
  std::int64_t most_ = 0;
  double first_ = 0.0, last_ = 0.0;
  bool all_ = false;
  std::vector<double> times_;
  std::vector<float> poses_, modal_;
  // Contacts with a force: their number in each frame; index of the contact, point and force of
  // each.
  std::vector<std::int32_t> contact_counts_;
  std::vector<float> contact_values_;
  std::vector<float> hinge_values_;  // force and moment of each hinge in each frame
};

}  // namespace catena::app
