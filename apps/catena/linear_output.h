// SPDX-License-Identifier: BSD-3-Clause
// Common to the commands about linear models: matrices and modes as text and JSON.
#pragma once

#include <string>
#include <vector>

#include "apps/catena/commands.h"
#include "apps/catena/output.h"
#include "catena/sensitivity/modes.h"

namespace catena::app {

// Accelerations and speeds below this count as zero: residuals of Newton's method.
inline constexpr double kRest = 1e-9;

// A warning on stderr about freedoms with dry friction that hardly move: a linear model has the
// slope of the law at zero speed, which no joint at rest has.
void print_friction_warning(const Mechanism& m, const State& state);

// A list of rows, also for a matrix of one row or column.
Json rows_json(const Eigen::MatrixXd& a);
std::string matrix_text(const Eigen::MatrixXd& a, const std::vector<std::string>& rows,
                        const std::vector<std::string>& columns);

Json modes_json(const ModalAnalysis& analysis, const std::vector<std::string>& names);
std::string modes_text(const ModalAnalysis& analysis, const std::vector<std::string>& names);

}  // namespace catena::app
