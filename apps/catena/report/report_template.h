// SPDX-License-Identifier: BSD-3-Clause
// The template page of a report: web/dist/report.html, embedded into the program by the build.
#pragma once

#include <string_view>

namespace catena::app {

extern const std::string_view kReportTemplate;

}  // namespace catena::app
