// SPDX-License-Identifier: BSD-3-Clause
// Shared by the two files of pole placement. Not installed.
#pragma once

#include <string>
#include <vector>

#include "catena/control/equations/kernels.h"

namespace catena {

std::string pole_text(Complex s);
// Reals, and of each conjugate pair the one with positive imaginary part; throws without a partner.
std::vector<Complex> paired(const Eigen::VectorXcd& poles);
// Matches found poles to those asked for; the largest error relative to max(1, |asked|).
double matching_error(const Eigen::VectorXcd& asked, const Eigen::VectorXcd& found,
                      Eigen::VectorXcd* ordered = nullptr);

}  // namespace catena
