// SPDX-License-Identifier: BSD-3-Clause
// The page that a report is made of: web/dist/report.html, put into the program by the build.
#pragma once

#include <string_view>

namespace catena::app {

extern const std::string_view kReportTemplate;

}  // namespace catena::app
