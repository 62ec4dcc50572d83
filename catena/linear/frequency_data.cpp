// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/frequency_data.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/io/runs/csv.h"
#include "catena/linear/lapack/lapack.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXcd;

constexpr double kDegree = M_PI / 180.0;

// Between a and b at the fraction t of the logarithm of the frequency.
Complex between(Complex a, Complex b, double t) {
  const double turn = std::arg(b / a);
  // A phase that turns this far between samples is that of a zero close to the axis, not a slope.
  if (a == 0.0 || b == 0.0 || std::abs(turn) > 1.0) return (1.0 - t) * a + t * b;
  const double magnitude = std::exp((1.0 - t) * std::log(std::abs(a)) + t * std::log(std::abs(b)));
  return std::polar(magnitude, std::arg(a) + t * turn);
}

void require_same_grid(const FrequencyData& a, const FrequencyData& b, const char* operation) {
  a.validate();
  b.validate();
  if (a.omega.size() != b.omega.size() ||
      !((a.omega - b.omega).array().abs() <= 1e-12 * a.omega.array().abs()).all())
    throw Error(std::string(operation) +
                ": the two frequency responses have different frequencies; interpolate one at the "
                "other's");
}

template <class Combine>
FrequencyData combined(const FrequencyData& a, const FrequencyData& b, int rows, int cols,
                       const Combine& combine) {
  FrequencyData result;
  result.omega = a.omega;
  result.dt = a.dt;
  result.output_count = rows;
  result.input_count = cols;
  result.values.resize(static_cast<Eigen::Index>(rows) * cols, a.size());
  for (int k = 0; k < a.size(); ++k) {
    const MatrixXcd value = combine(MatrixXcd(a.matrix(k)), MatrixXcd(b.matrix(k)));
    result.values.col(k) = Eigen::Map<const Eigen::VectorXcd>(value.data(), value.size());
  }
  return result;
}

}  // namespace

void FrequencyData::validate() const {
  if (values.cols() != omega.size() ||
      values.rows() != static_cast<Eigen::Index>(output_count) * input_count)
    throw Error("frequency data: " + std::to_string(omega.size()) + " frequencies and " +
                std::to_string(output_count) + " x " + std::to_string(input_count) +
                " entries do not fit values of " + std::to_string(values.rows()) + " x " +
                std::to_string(values.cols()));
  for (int k = 0; k < size(); ++k) {
    if (!std::isfinite(omega[k]) || omega[k] < 0.0 || (k > 0 && omega[k] <= omega[k - 1]))
      throw Error("frequency data: frequency " + std::to_string(k + 1) + " is " + number(omega[k]) +
                  " rad/s; frequencies must be finite, not negative, and ascend");
    if (!values.col(k).allFinite())
      throw Error("frequency data: a value at " + number(omega[k]) + " rad/s is not finite");
  }
}

MatrixXcd FrequencyData::at(double w) const {
  if (size() == 0 || !(w >= omega[0]) || !(w <= omega[size() - 1]))
    throw Error("frequency data: " + number(w) + " rad/s is outside the samples" +
                (size() == 0 ? std::string()
                             : ", which reach from " + number(omega[0]) + " to " +
                                   number(omega[size() - 1]) + " rad/s"));
  const auto above = std::lower_bound(omega.begin(), omega.end(), w);
  const int k = static_cast<int>(above - omega.begin());
  if (*above == w) return matrix(k);
  const double low = omega[k - 1], high = omega[k];
  const double t = low > 0.0 ? std::log(w / low) / std::log(high / low) : (w - low) / (high - low);
  MatrixXcd result(output_count, input_count);
  for (int j = 0; j < input_count; ++j)
    for (int i = 0; i < output_count; ++i)
      result(i, j) = between(value(i, j, k - 1), value(i, j, k), t);
  return result;
}

FrequencyData frequency_data(const Eigen::VectorXd& omega, const std::vector<MatrixXcd>& matrices) {
  FrequencyData data;
  data.omega = omega;
  if (matrices.empty()) throw Error("frequency data: no samples");
  data.output_count = static_cast<int>(matrices[0].rows());
  data.input_count = static_cast<int>(matrices[0].cols());
  data.values.resize(matrices[0].size(), std::ssize(matrices));
  for (std::size_t k = 0; k < matrices.size(); ++k) {
    if (matrices[k].rows() != data.output_count || matrices[k].cols() != data.input_count)
      throw Error("frequency data: sample " + std::to_string(k + 1) + " has another size");
    data.values.col(static_cast<Eigen::Index>(k)) =
        Eigen::Map<const Eigen::VectorXcd>(matrices[k].data(), matrices[k].size());
  }
  data.validate();
  return data;
}

namespace {

struct EntryColumns {
  int re = -1, im = -1, mag = -1, db = -1, phase = -1;
  bool complete() const { return (re >= 0 && im >= 0) || ((mag >= 0 || db >= 0) && phase >= 0); }
};

[[noreturn]] void refuse(const std::string& file, const std::string& message) {
  throw ModelError({{Severity::error, {file, 1}, message}});
}

// Output and input of a column "tip/torque.re", and what the column holds.
bool assign_column(const std::string& kind, int column, EntryColumns& entry) {
  const std::map<std::string, int EntryColumns::*> known = {
      {"re", &EntryColumns::re},   {"im", &EntryColumns::im},       {"mag", &EntryColumns::mag},
      {"db", &EntryColumns::db},   {"phase", &EntryColumns::phase}, {"dB", &EntryColumns::db},
      {"real", &EntryColumns::re}, {"imag", &EntryColumns::im}};
  const auto found = known.find(kind);
  if (found == known.end()) return false;
  entry.*(found->second) = column;
  return true;
}

Complex entry_value(const EntryColumns& c, const Eigen::MatrixXd& rows, Eigen::Index k) {
  if (c.re >= 0) return {rows(k, c.re), rows(k, c.im)};
  const double magnitude = c.mag >= 0 ? rows(k, c.mag) : std::pow(10.0, rows(k, c.db) / 20.0);
  return std::polar(magnitude, rows(k, c.phase) * kDegree);
}

int index_in(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  names.push_back(name);
  return static_cast<int>(names.size()) - 1;
}

FrequencyData from_table(const CsvTable& table, const std::string& file) {
  int frequency = -1;
  double unit = 1.0;
  FrequencyData data;
  std::map<std::pair<int, int>, EntryColumns> entries;
  for (int c = 0; c < static_cast<int>(table.names.size()); ++c) {
    const std::string& name = at(table.names, c);
    if (name == "omega" || name == "w" || name == "rad/s" || name == "frequency" || name == "hz" ||
        name == "Hz" || name == "f") {
      frequency = c;
      unit = name == "omega" || name == "w" || name == "rad/s" ? 1.0 : 2.0 * M_PI;
      continue;
    }
    const std::size_t slash = name.find('/'), dot = name.rfind('.');
    std::string output = "y1", input = "u1", kind = name;
    if (slash != std::string::npos) {
      if (dot == std::string::npos || dot < slash)
        refuse(file, "column '" + name + "': write OUTPUT/INPUT.re, .im, .mag, .db or .phase");
      output = name.substr(0, slash);
      input = name.substr(slash + 1, dot - slash - 1);
      kind = name.substr(dot + 1);
    }
    EntryColumns& entry = entries[{index_in(data.outputs, output), index_in(data.inputs, input)}];
    if (!assign_column(kind, c, entry))
      refuse(file, "column '" + name + "': '" + kind +
                       "' is none of re, im, mag, db, phase; the frequency is 'omega' (rad/s) or "
                       "'frequency' (Hz)");
  }
  if (frequency < 0) refuse(file, "no column 'omega' (rad/s) or 'frequency' (Hz)");
  data.output_count = static_cast<int>(data.outputs.size());
  data.input_count = static_cast<int>(data.inputs.size());
  data.omega = unit * table.values.col(frequency);
  data.values.resize(static_cast<Eigen::Index>(data.output_count) * data.input_count,
                     data.omega.size());
  for (int j = 0; j < data.input_count; ++j)
    for (int i = 0; i < data.output_count; ++i) {
      const auto found = entries.find({i, j});
      if (found == entries.end() || !found->second.complete())
        refuse(file, "the response of '" + at(data.outputs, i) + "' to '" + at(data.inputs, j) +
                         "' needs two columns: .re and .im, or .mag (.db) and .phase");
      for (Eigen::Index k = 0; k < data.omega.size(); ++k)
        data.values(i + static_cast<Eigen::Index>(j) * data.output_count, k) =
            entry_value(found->second, table.values, k);
    }
  try {
    data.validate();
  } catch (const Error& e) {
    refuse(file, e.what());
  }
  return data;
}

}  // namespace

FrequencyData read_frequency_data(const std::string& path) {
  return from_table(read_csv(path), path);
}

FrequencyData read_frequency_text(const std::string& text, const std::string& file_name) {
  return from_table(read_csv_text(text, file_name), file_name);
}

void write_frequency_data(const FrequencyData& data, const std::string& path) {
  data.validate();
  std::vector<std::string> names = {"omega"};
  for (int j = 0; j < data.input_count; ++j)
    for (int i = 0; i < data.output_count; ++i) {
      const std::string channel =
          (data.outputs.empty() ? "y" + std::to_string(i + 1) : at(data.outputs, i)) + "/" +
          (data.inputs.empty() ? "u" + std::to_string(j + 1) : at(data.inputs, j));
      names.push_back(channel + ".re");
      names.push_back(channel + ".im");
    }
  CsvWriter writer(path, names);
  std::vector<double> row(names.size());
  for (int k = 0; k < data.size(); ++k) {
    row[0] = data.omega[k];
    for (Eigen::Index e = 0; e < data.values.rows(); ++e) {
      at(row, 2 * e + 1) = data.values(e, k).real();
      at(row, 2 * e + 2) = data.values(e, k).imag();
    }
    writer.append(row);
  }
  writer.close();
}

FrequencyData series(const FrequencyData& first, const FrequencyData& second) {
  require_same_grid(first, second, "series");
  if (first.output_count != second.input_count)
    throw Error("series: outputs of the first and inputs of the second response do not fit");
  FrequencyData result =
      combined(first, second, second.output_count, first.input_count,
               [](const MatrixXcd& a, const MatrixXcd& b) -> MatrixXcd { return b * a; });
  result.inputs = first.inputs;
  result.outputs = second.outputs;
  return result;
}

FrequencyData parallel(const FrequencyData& a, const FrequencyData& b) {
  require_same_grid(a, b, "parallel");
  if (a.output_count != b.output_count || a.input_count != b.input_count)
    throw Error("parallel: the two responses have different sizes");
  FrequencyData result =
      combined(a, b, a.output_count, a.input_count,
               [](const MatrixXcd& x, const MatrixXcd& y) -> MatrixXcd { return x + y; });
  result.inputs = a.inputs;
  result.outputs = a.outputs;
  return result;
}

FrequencyData feedback(const FrequencyData& forward, const FrequencyData& back, int sign) {
  require_same_grid(forward, back, "feedback");
  if (forward.output_count != back.input_count || forward.input_count != back.output_count)
    throw Error("feedback: the sizes of the two responses do not fit");
  const double factor = sign < 0 ? 1.0 : -1.0;
  FrequencyData result =
      combined(forward, back, forward.output_count, forward.input_count,
               [&](const MatrixXcd& g, const MatrixXcd& k) -> MatrixXcd {
                 const MatrixXcd loop = MatrixXcd::Identity(g.rows(), g.rows()) + factor * g * k;
                 return lapack::solve(loop, g, "feedback: 1 + G K at a frequency");
               });
  result.inputs = forward.inputs;
  result.outputs = forward.outputs;
  return result;
}

}  // namespace catena
