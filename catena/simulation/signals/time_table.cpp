// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/signals/time_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/io/runs/csv.h"

namespace catena {
namespace {

// A square matrix with `width` diagonals on each side of the main one.
class BandMatrix {
 public:
  BandMatrix(std::size_t size, std::size_t width)
      : size_(size), width_(width), entries_(size * (2 * width + 1), 0.0) {}
  double& operator()(std::size_t i, std::size_t k) {
    return entries_[i * (2 * width_ + 1) + width_ + k - i];
  }
  // x := A⁻¹ x by elimination without exchange of rows, O(size · width²): for matrices that are
  // positive definite or dominated by their diagonal. Leaves nothing of A.
  void solve(std::span<double> x) {
    for (std::size_t i = 0; i < size_; ++i)
      for (std::size_t row = i + 1; row < end_after(i); ++row) {
        const double part = (*this)(row, i) / (*this)(i, i);
        for (std::size_t k = i + 1; k < end_after(i); ++k) (*this)(row, k) -= part * (*this)(i, k);
        x[row] -= part * x[i];
      }
    for (std::size_t i = size_; i-- > 0;) {
      for (std::size_t k = i + 1; k < end_after(i); ++k) x[i] -= (*this)(i, k) * x[k];
      x[i] /= (*this)(i, i);
    }
  }

 private:
  std::size_t end_after(std::size_t i) const { return std::min(size_, i + width_ + 1); }

  std::size_t size_, width_;
  std::vector<double> entries_;
};

// Second derivatives of the smoothing spline at its points, with (R + λ QᵀQ) γ = Qᵀ y and
// s = y − λ Q γ (Reinsch): R tridiagonal, Q the second differences, γ at the inner points. Moves
// the values onto it. Without a cutoff λ = 0: through the points.
std::vector<double> fit_spline(const std::vector<double>& t, std::vector<double>& y,
                               double cutoff) {
  const std::size_t n = t.size();
  std::vector<double> curvature(n, 0.0);
  if (n < 3) return curvature;
  const std::size_t inner = n - 2;
  const std::span<double> gamma(curvature.data() + 1, inner);
  const auto h = [&](std::size_t i) { return t[i + 1] - t[i]; };
  struct SecondDifference {  // of three neighbours: a column of Q
    double first, middle, last;
  };
  const auto q = [&](std::size_t j) {
    return SecondDifference{1.0 / h(j), -1.0 / h(j) - 1.0 / h(j + 1), 1.0 / h(j + 1)};
  };
  BandMatrix matrix(inner, 2);
  for (std::size_t j = 0; j < inner; ++j) {
    gamma[j] = q(j).first * y[j] + q(j).middle * y[j + 1] + q(j).last * y[j + 2];
    matrix(j, j) = (h(j) + h(j + 1)) / 3.0;
    if (j + 1 < inner) matrix(j, j + 1) = matrix(j + 1, j) = h(j + 1) / 6.0;
  }
  if (cutoff == 0.0) {
    // The curvature at an end continues that of its two neighbours (of three rows: their parabola),
    // c₀ = c₁ + (h₀/h₁) (c₁ − c₂).
    const auto at_end = [&](std::size_t row, std::size_t next, double end, double beside) {
      matrix(row, row) += n == 3 ? end / 6.0 : end / 6.0 * (1.0 + end / beside);
      if (n > 3) matrix(row, next) -= end / 6.0 * (end / beside);
    };
    at_end(0, 1, h(0), h(1));
    at_end(inner - 1, inner - 2, h(n - 2), h(n - 3));
    matrix.solve(gamma);
    const auto beyond = [&](double end, double beside, double c1, double c2) {
      return c1 + end / beside * (c1 - c2);
    };
    curvature.front() = n == 3 ? gamma[0] : beyond(h(0), h(1), gamma[0], gamma[1]);
    curvature.back() =
        n == 3 ? gamma[0] : beyond(h(n - 2), h(n - 3), gamma[inner - 1], gamma[inner - 2]);
    return curvature;
  }
  const double mean = (t.back() - t.front()) / static_cast<double>(n - 1);
  const double weight = 1.0 / (mean * std::pow(2.0 * std::numbers::pi * cutoff, 4));
  const auto add = [&](std::size_t i, std::size_t k, double value) {
    matrix(i, k) += weight * value;
    if (i != k) matrix(k, i) += weight * value;
  };
  for (std::size_t j = 0; j < inner; ++j) {
    const SecondDifference own = q(j);
    add(j, j, own.first * own.first + own.middle * own.middle + own.last * own.last);
    if (j + 1 < inner) add(j, j + 1, own.middle * q(j + 1).first + own.last * q(j + 1).middle);
    if (j + 2 < inner) add(j, j + 2, own.last * q(j + 2).first);
  }
  matrix.solve(gamma);
  for (std::size_t j = 0; j < inner; ++j) {
    y[j] -= weight * q(j).first * gamma[j];
    y[j + 1] -= weight * q(j).middle * gamma[j];
    y[j + 2] -= weight * q(j).last * gamma[j];
  }
  return curvature;
}

}  // namespace

Table::Table(std::vector<double> times, std::vector<double> values, Interpolation interpolation,
             std::optional<double> given_cutoff)
    : times_(std::move(times)), values_(std::move(values)), interpolation_(interpolation) {
  if (times_.empty() || times_.size() != values_.size())
    throw Error("a table needs as many values as times, and at least one; it has " +
                std::to_string(values_.size()) + " values and " + std::to_string(times_.size()) +
                " times");
  for (std::size_t i = 0; i + 1 < times_.size(); ++i)
    if (!(times_[i] < times_[i + 1]))
      throw Error("the times of a table must increase, but " + number(times_[i + 1]) +
                  " comes after " + number(times_[i]));
  const double cutoff = given_cutoff.value_or(0.0);
  if (cutoff != 0.0 && interpolation != Interpolation::spline)
    throw Error(
        "a table is smoothed only as a spline: ask for the spline, or leave out the cutoff");
  if (!(cutoff >= 0.0))
    throw Error("the cutoff frequency of a table is " + number(cutoff) +
                " Hz; it must be positive (0: no smoothing)");
  if (interpolation == Interpolation::spline) curvatures_ = fit_spline(times_, values_, cutoff);
}

Jet Table::at(double t) const {
  if (t < times_.front()) return {values_.front(), 0.0, 0.0};
  if (t >= times_.back()) return {values_.back(), 0.0, 0.0};
  const std::size_t i =
      to_size(std::upper_bound(times_.begin(), times_.end(), t) - times_.begin()) - 1;
  if (interpolation_ == Interpolation::hold) return {values_[i], 0.0, 0.0};
  const double h = times_[i + 1] - times_[i];
  const double b = (t - times_[i]) / h;
  const double a = 1.0 - b;
  const double slope = (values_[i + 1] - values_[i]) / h;
  Jet result{a * values_[i] + b * values_[i + 1], slope, 0.0};
  if (interpolation_ == Interpolation::spline) {
    const double c0 = curvatures_[i], c1 = curvatures_[i + 1];
    result.value += ((a * a * a - a) * c0 + (b * b * b - b) * c1) * h * h / 6.0;
    result.rate += ((3.0 * b * b - 1.0) * c1 - (3.0 * a * a - 1.0) * c0) * h / 6.0;
    result.acceleration = a * c0 + b * c1;
  }
  return result;
}

double Table::next_corner(double t) const {
  if (interpolation_ == Interpolation::spline) {  // only its ends
    for (const double end : {times_.front(), times_.back()})
      if (end > t) return end;
    return std::numeric_limits<double>::infinity();
  }
  const auto next = std::upper_bound(times_.begin(), times_.end(), t);
  return next == times_.end() ? std::numeric_limits<double>::infinity() : *next;
}

Table read_table(const std::string& path, const std::string& column, Interpolation interpolation,
                 std::optional<double> cutoff) {
  const CsvTable file = read_csv(path, CsvNumbers::finite);
  if (file.names.size() < 2)
    throw Error(path + ": needs a column of times and one of values, but has only '" +
                file.names.front() + "'");
  std::size_t wanted = 1;
  if (!column.empty()) {
    const auto named = std::find(file.names.begin(), file.names.end(), column);
    if (named == file.names.end())
      throw NameError(path + ": there is no column '" + column + "'" +
                      did_you_mean(column, file.names) + "; the columns are " + listed(file.names));
    wanted = to_size(named - file.names.begin());
  }
  std::vector<double> times, values;
  for (Eigen::Index r = 0; r < file.values.rows(); ++r) {
    times.push_back(file.values(r, 0));
    values.push_back(file.values(r, static_cast<Eigen::Index>(wanted)));
  }
  try {
    return Table(std::move(times), std::move(values), interpolation, cutoff);
  } catch (const Error& e) {
    throw Error(path + ": " + e.what());
  }
}

}  // namespace catena
