// SPDX-License-Identifier: BSD-3-Clause
// A frequency response: values of a transfer matrix at frequencies, computed (freqresp.h) or
// measured.
//
//   const FrequencyData measured = read_frequency_data("shaker.csv");
//   const Eigen::MatrixXcd g = measured.at(12.5);      // interpolated, rad/s
//
// Between the samples each entry is interpolated linearly in ln |g|, unwrapped phase and ln ω,
// which follows slopes and delays of Bode plots exactly; near zeros of an entry, where the phase
// turns by more than 1 rad between samples, linearly in re and im.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include <Eigen/Core>

namespace catena {

struct FrequencyData {
  Eigen::VectorXd omega{};    // rad/s, ascending
  Eigen::MatrixXcd values{};  // column k: the matrix at omega(k), entries by columns (inputs)
  int output_count = 0, input_count = 0;
  double dt = 0.0;  // sample time of the system; 0: continuous or measured
  std::vector<std::string> inputs{}, outputs{};
  std::vector<std::string> input_units{}, output_units{};

  int size() const { return static_cast<int>(omega.size()); }
  // The matrix at sample k.
  Eigen::Map<const Eigen::MatrixXcd> matrix(int k) const {
    return {values.col(k).data(), output_count, input_count};
  }
  std::complex<double> value(int output, int input, int k) const {
    return values(output + static_cast<Eigen::Index>(input) * output_count, k);
  }
  // All samples of one entry.
  Eigen::VectorXcd entry(int output, int input) const {
    return values.row(output + static_cast<Eigen::Index>(input) * output_count).transpose();
  }
  // Interpolated. Throws Error outside the range of the samples.
  Eigen::MatrixXcd at(double omega) const;

  // Throws Error if sizes do not fit, frequencies do not ascend or a value is not finite.
  void validate() const;
};

// From samples.
FrequencyData frequency_data(const Eigen::VectorXd& omega,
                             const std::vector<Eigen::MatrixXcd>& matrices);

// A table with a first line of names. The frequency is the column `omega` (rad/s) or `frequency`
// (Hz, also `hz`, `f`). Entries are pairs of columns OUTPUT/INPUT.re and .im, or .mag (or .db) and
// .phase (degrees): "tip/torque.re". A table with three columns and no slash is one entry (re and
// im, mag and phase, db and phase). Throws ModelError with file and line.
FrequencyData read_frequency_data(const std::string& path);
FrequencyData read_frequency_text(const std::string& text, const std::string& file_name);
void write_frequency_data(const FrequencyData& data, const std::string& path);

// Connections on the same frequencies: matrix by matrix.
FrequencyData series(const FrequencyData& first, const FrequencyData& second);
FrequencyData parallel(const FrequencyData& a, const FrequencyData& b);
FrequencyData feedback(const FrequencyData& forward, const FrequencyData& back, int sign = -1);

}  // namespace catena
