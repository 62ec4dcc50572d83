// SPDX-License-Identifier: BSD-3-Clause
// The report of `catena info` on a mechanism, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "apps/catena/output.h"
#include "catena/closure/mobility.h"
#include "catena/dynamics/momentum.h"

namespace catena::app {

struct InfoReport {
  std::string file;
  const Mechanism& mechanism;
  MobilityReport mobility;
  MassProperties mass;  // at the initial position
  std::vector<std::string> warnings;
};

InfoReport make_info_report(const std::string& file, const Mechanism& mechanism);

// The keys are part of the interface (docs/command-line.md).
Json info_json(const InfoReport& report);
// `full`: all rows of long tables.
std::string info_text(const InfoReport& report, bool full);

}  // namespace catena::app
