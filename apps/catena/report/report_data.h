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

class MovableModel;  // movable_model.h

// A model at its default state, or where `movable` is, which also gives the sliders.
Json model_document(const Mechanism& mechanism, const std::string& path,
                    const MovableModel* movable = nullptr);

// `poses` of all bodies and `modal` coordinates at a position, as in the document's `frames`.
Json pose_document(const Mechanism& mechanism, const Eigen::VectorXd& q);

// The document of a run with others over it, in its `others`.
Json overlaid(Json first, std::vector<Json> others);

// The page with a document in it, complete.
std::string report_page(const Json& document);

std::string base64(std::string_view bytes);

}  // namespace catena::app
