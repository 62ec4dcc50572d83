// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; signal_settings.h needs it.
//
// Tables: a measured or computed history, from a CSV file or from code, as a function of time with
// its first two derivatives.
//
//   hold     the last value, in steps
//   linear   straight lines
//   spline   the C² cubic spline through all points, with free ends; with a cutoff frequency f the
//            smoothing spline that minimizes Σ (y − s)² + λ ∫ s̈² (Reinsch 1967). Of densely sampled
//            data that is the filter 1 / (1 + (ω/2πf)⁴), without phase, for λ = 1 / (h (2πf)⁴).
//
// Before its first and after its last time a table keeps the end values.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catena/simulation/signals/expression.h"

namespace catena {

enum class Interpolation { hold, linear, spline };

class Table {
 public:
  // Times must increase. `cutoff` in Hz; without it, or 0, nothing is smoothed.
  Table(std::vector<double> times, std::vector<double> values,
        Interpolation interpolation = Interpolation::linear, std::optional<double> cutoff = {});

  Jet at(double t) const;

  // The first time after t at which the table or its slope jumps; infinity if there is none.
  double next_corner(double t) const;

 private:
  std::vector<double> times_;
  std::vector<double> values_;
  std::vector<double> curvatures_;  // of a spline
  Interpolation interpolation_;
};

// A column of a CSV file (io/runs/csv.h) by its name; empty: the second. The first column is time.
// Throws Error or NameError, with the file.
Table read_table(const std::string& path, const std::string& column, Interpolation interpolation,
                 std::optional<double> cutoff);

}  // namespace catena
