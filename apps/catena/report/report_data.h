// SPDX-License-Identifier: BSD-3-Clause
// The data of the report page (web/README.md describes the format): a run or a model as JSON, with
// poses and columns as base64. Long runs are thinned out, but the least and greatest values of
// every column stay.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apps/catena/output.h"
#include "catena/io/runs/run_file.h"
#include "catena/model/mechanism.h"

namespace catena::app {

// The mechanism of a run, or none and the reason why.
struct RunMechanism {
  std::shared_ptr<const Mechanism> mechanism;
  std::string problem;
};
RunMechanism mechanism_of(const RunFile& run);

// "complete", "running" or "interrupted".
std::string run_status(const RunFile& run);

Json run_document(const RunFile& run);

// A model at its default state. `movable`: with the coordinates that sliders may change.
Json model_document(const Mechanism& mechanism, const std::string& path, bool movable);

// The indices into q that sliders may change, in the order of the document's `coordinates`: none
// for a mechanism with closed loops, which would be torn apart.
std::vector<int> slider_coordinates(const Mechanism& mechanism);

// Position and quaternion (x, y, z, w) of all bodies, one after the other.
std::vector<float> body_poses(const Mechanism& mechanism, const Eigen::VectorXd& q);

// The page with a document in it, complete.
std::string report_page(const Json& document);

std::string base64(std::string_view bytes);

}  // namespace catena::app
