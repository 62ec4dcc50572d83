#include "catena/simulation/signals/time_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>

#include "catena/base/text.h"
#include "catena/io/runs/csv.h"

namespace catena {
namespace {

// Second derivatives of the smoothing spline at its inner points; moves the values onto it.
// Reinsch: (R + λ QᵀQ) γ = Qᵀ y, s = y − λ Q γ, with the tridiagonal Q of second differences.
std::vector<double> fit_spline(const std::vector<double>& t, std::vector<double>& y,
                               double cutoff) {
  const Eigen::Index n = static_cast<Eigen::Index>(t.size());
  std::vector<double> curvature(t.size(), 0.0);
  if (n < 3) return curvature;
  using Sparse = Eigen::SparseMatrix<double>;
  std::vector<Eigen::Triplet<double>> q, r;
  const auto h = [&](Eigen::Index i) {
    return t[static_cast<std::size_t>(i + 1)] - t[static_cast<std::size_t>(i)];
  };
  for (Eigen::Index j = 0; j + 2 < n; ++j) {
    q.emplace_back(j, j, 1.0 / h(j));
    q.emplace_back(j + 1, j, -1.0 / h(j) - 1.0 / h(j + 1));
    q.emplace_back(j + 2, j, 1.0 / h(j + 1));
    r.emplace_back(j, j, (h(j) + h(j + 1)) / 3.0);
    if (j + 3 < n) {
      r.emplace_back(j, j + 1, h(j + 1) / 6.0);
      r.emplace_back(j + 1, j, h(j + 1) / 6.0);
    }
  }
  Sparse second(n, n - 2), mass(n - 2, n - 2);
  second.setFromTriplets(q.begin(), q.end());
  mass.setFromTriplets(r.begin(), r.end());
  Eigen::Map<Eigen::VectorXd> values(y.data(), n);
  if (cutoff == 0.0) {
    // The curvature at an end continues that of its two neighbours (of three rows: their parabola),
    // c₀ = c₁ + (h₀/h₁) (c₁ − c₂).
    const auto at_end = [&](Eigen::Index row, Eigen::Index next, double end, double inner) {
      if (n == 3) {
        mass.coeffRef(row, row) += end / 6.0;
        return;
      }
      mass.coeffRef(row, row) += end / 6.0 * (1.0 + end / inner);
      mass.coeffRef(row, next) -= end / 6.0 * (end / inner);
    };
    at_end(0, 1, h(0), h(1));
    at_end(n - 3, n - 4, h(n - 2), h(n - 3));
    const Eigen::SparseLU<Sparse> factor(mass);
    const Eigen::VectorXd gamma = factor.solve(second.transpose() * values);
    std::copy(gamma.begin(), gamma.end(), curvature.begin() + 1);
    const auto beyond = [&](double end, double inner, double c1, double c2) {
      return c1 + end / inner * (c1 - c2);
    };
    const Eigen::Index last = gamma.size() - 1;
    curvature.front() = n == 3 ? gamma[0] : beyond(h(0), h(1), gamma[0], gamma[1]);
    curvature.back() = n == 3 ? gamma[0] : beyond(h(n - 2), h(n - 3), gamma[last], gamma[last - 1]);
    return curvature;
  }
  const double mean = (t.back() - t.front()) / static_cast<double>(n - 1);
  const double weight = 1.0 / (mean * std::pow(2.0 * std::numbers::pi * cutoff, 4));
  const Sparse matrix = mass + weight * Sparse(Sparse(second.transpose()) * second);
  const Eigen::SimplicialLDLT<Sparse> factor(matrix);
  const Eigen::VectorXd gamma = factor.solve(second.transpose() * values);
  values -= weight * (second * gamma);
  std::copy(gamma.begin(), gamma.end(), curvature.begin() + 1);
  return curvature;
}

}  // namespace

Table::Table(std::vector<double> times, std::vector<double> values, Interpolation interpolation,
             double cutoff)
    : times_(std::move(times)), values_(std::move(values)), interpolation_(interpolation) {
  if (times_.empty() || times_.size() != values_.size())
    throw Error("a table needs as many values as times, and at least one; it has " +
                std::to_string(values_.size()) + " values and " + std::to_string(times_.size()) +
                " times");
  for (std::size_t i = 0; i + 1 < times_.size(); ++i)
    if (!(times_[i] < times_[i + 1]))
      throw Error("the times of a table must increase, but " + number(times_[i + 1]) +
                  " comes after " + number(times_[i]));
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
      static_cast<std::size_t>(std::upper_bound(times_.begin(), times_.end(), t) - times_.begin()) -
      1;
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
                 double cutoff) {
  const CsvTable file = read_csv(path);
  if (file.names.size() < 2)
    throw Error(path + ": needs a column of times and one of values, but has only '" +
                file.names.front() + "'");
  std::size_t wanted = 1;
  if (!column.empty()) {
    const auto named = std::find(file.names.begin(), file.names.end(), column);
    if (named == file.names.end())
      throw NameError(path + ": there is no column '" + column + "'" +
                      did_you_mean(column, file.names) + "; the columns are " + listed(file.names));
    wanted = static_cast<std::size_t>(named - file.names.begin());
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
