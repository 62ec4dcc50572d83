// SPDX-License-Identifier: BSD-3-Clause
// Grids of frequencies, Bode, Nyquist, Nichols, singular values, characteristic loci (freqresp.h).
#include <algorithm>
#include <cmath>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/linear/algebra.h"
#include "catena/linear/analysis.h"
#include "catena/linear/freqresp.h"
#include "catena/linear/lapack/lapack.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

// Poles of a sampled system as those of a continuous one, s = log(z)/dt.
VectorXcd continuous_poles(const FrequencyEvaluator& evaluator) {
  const double dt = evaluator.system().dt;
  VectorXcd p = evaluator.poles();
  if (dt == 0.0) return p;
  std::vector<Complex> mapped;
  for (const Complex z : p)
    if (std::abs(z) > 1e-12) mapped.push_back(std::log(z) / dt);
  return Eigen::Map<VectorXcd>(mapped.data(), std::ssize(mapped));
}

struct Range {
  double from, to;
};

Range frequency_range(const FrequencyEvaluator& evaluator, const VectorXcd& p,
                      const GridSettings& settings) {
  const StateSpace& g = evaluator.system();
  for (const double w : {settings.from, settings.to})
    if (w < 0.0 || !std::isfinite(w))
      throw Error("frequency grid: " + number(w) + " rad/s; the limits must be positive");
  double slow = std::numeric_limits<double>::infinity(), fast = 0.0;
  const double largest = p.size() > 0 ? p.cwiseAbs().maxCoeff() : 0.0;
  for (const Complex s : p)
    if (const double w = std::abs(s); w > 1e-9 * largest) {  // the others are integrators
      slow = std::min(slow, w);
      fast = std::max(fast, w);
    }
  if (g.has_delay()) {
    const double delay = g.delays().maxCoeff();
    slow = std::min(slow, 1.0 / delay);
    fast = std::max(fast, 1.0 / delay);
  }
  const double nyquist = g.is_discrete() ? M_PI / g.dt : std::numeric_limits<double>::infinity();
  if (fast == 0.0) slow = fast = g.is_discrete() ? 0.1 * nyquist : 1.0;
  Range range{settings.from > 0.0 ? settings.from : 0.1 * slow,
              settings.to > 0.0 ? settings.to : std::min(10.0 * fast, nyquist)};
  if (settings.from <= 0.0 && range.from >= range.to) range.from = 0.01 * range.to;
  // Beyond the dynamics: two decades from where it was asked to begin.
  if (settings.to <= 0.0 && range.from >= range.to)
    range.to = std::min(100.0 * range.from, nyquist);
  if (!(range.to > range.from) || !std::isfinite(range.to))
    throw Error("frequency grid: the range from " + number(range.from) + " to " + number(range.to) +
                " rad/s is empty");
  return range;
}

// Logarithmic points, and around each pole several within its half-power width.
std::vector<double> first_grid(const VectorXcd& p, const Range& range, int per_decade) {
  const double decades = std::log10(range.to / range.from);
  const int count = std::max(2, static_cast<int>(std::ceil(decades * per_decade)) + 1);
  const VectorXd base = logspace(range.from, range.to, count);
  std::vector<double> grid(base.begin(), base.end());
  const auto add = [&](double w) {
    if (w > range.from && w < range.to) grid.push_back(w);
  };
  constexpr double kLeastWidth = 1e-9;  // relative; a pole closer to the axis counts as undamped
  std::vector<double> infinite;
  for (const Complex s : p) {
    if (s.imag() < 0.0) continue;
    const double width = std::abs(s.real()), w = s.imag();
    const bool undamped = width <= kLeastWidth * w;
    if (undamped)
      infinite.push_back(w);
    else {
      add(w);
      // The peak of |1/((s − λ)(s − λ̄))|.
      if (w > width) add(std::sqrt(w * w - width * width));
    }
    for (const double factor : {0.25, 0.5, 1.0, 2.0, 4.0, 8.0}) {
      const double away = factor * (undamped ? 1e-3 * w : width);
      add(w - away);
      add(w + away);
    }
  }
  std::sort(grid.begin(), grid.end());
  grid.erase(
      std::unique(grid.begin(), grid.end(), [](double a, double b) { return b - a <= 1e-12 * b; }),
      grid.end());
  std::erase_if(grid, [&](double w) {
    return std::any_of(infinite.begin(), infinite.end(),
                       [&](double pole) { return std::abs(w - pole) < 1e-6 * pole; });
  });
  return grid;
}

// How wrong the interpolated column is, in ln |g| and phase; entries far below their largest value
// nearby (`floor`) count by that.
double interpolation_error(const MatrixXcd& exact, const MatrixXcd& guess, const MatrixXd& floor) {
  return ((exact - guess).cwiseAbs().array() / exact.cwiseAbs().cwiseMax(floor).array()).maxCoeff();
}

double wrapped(double angle) { return std::remainder(angle, 2.0 * M_PI); }

}  // namespace

VectorXd logspace(double from, double to, int count) {
  if (!(from > 0.0) || !(to >= from) || count < 1)
    throw Error("logspace: needs 0 < from <= to and at least one point");
  VectorXd result(count);
  for (int i = 0; i < count; ++i)
    result[i] =
        count == 1 ? from : from * std::pow(to / from, static_cast<double>(i) / (count - 1));
  result[count - 1] = count == 1 ? from : to;
  return result;
}

VectorXd frequency_grid(const FrequencyEvaluator& evaluator, const GridSettings& settings) {
  if (!(settings.tolerance > 0.0)) throw Error("frequency grid: the tolerance must be positive");
  const VectorXcd p = continuous_poles(evaluator);
  const Range range = frequency_range(evaluator, p, settings);
  std::vector<double> grid = first_grid(p, range, std::max(1, settings.points_per_decade));
  FrequencyData data = evaluator.at(Eigen::Map<VectorXd>(grid.data(), std::ssize(grid)));
  if (data.values.rows() == 0) return data.omega;
  // An entry counts by its size, but at least by this part of that at the ends of the interval (its
  // own zeros need no more) and of the largest of all (rounding errors).
  constexpr double kNearZero = 1e-3, kRounding = 1e-12, kLeastInterval = 1e-7;
  constexpr int kMostPasses = 40;
  // Intervals that were found good are not looked at again.
  std::vector<char> open(grid.size() - 1, true);
  for (int pass = 0; pass < kMostPasses; ++pass) {
    const double noise = std::max(kRounding * data.values.cwiseAbs().maxCoeff(), 1e-300);
    std::vector<double> middle;
    for (int k = 0; k + 1 < data.size(); ++k)
      if (at(open, k) && data.omega[k + 1] > data.omega[k] * (1.0 + kLeastInterval))
        middle.push_back(std::sqrt(data.omega[k] * data.omega[k + 1]));
    if (middle.empty() || data.size() + std::ssize(middle) > settings.most_points) break;
    const FrequencyData fine =
        evaluator.at(Eigen::Map<VectorXd>(middle.data(), std::ssize(middle)));
    FrequencyData next = data;
    next.omega.resize(data.size() + fine.size());
    next.values.resize(data.values.rows(), next.omega.size());
    std::vector<char> next_open;
    int used = 0, out = 0;
    for (int k = 0; k < data.size(); ++k) {
      next.omega[out] = data.omega[k];
      next.values.col(out++) = data.values.col(k);
      if (k + 1 == data.size()) break;
      const bool tested = at(open, k) && data.omega[k + 1] > data.omega[k] * (1.0 + kLeastInterval);
      if (!tested) {
        next_open.push_back(false);
        continue;
      }
      const MatrixXcd guess = data.at(fine.omega[used]);
      const Eigen::Map<const MatrixXcd> guess_column(guess.data(), guess.size(), 1);
      const MatrixXd ends =
          data.values.col(k).cwiseAbs().cwiseMax(data.values.col(k + 1).cwiseAbs());
      const MatrixXd floor = (kNearZero * ends).cwiseMax(noise);
      const bool wrong =
          interpolation_error(fine.values.col(used), guess_column, floor) > settings.tolerance;
      if (wrong) {
        next.omega[out] = fine.omega[used];
        next.values.col(out++) = fine.values.col(used);
        next_open.push_back(true);
      }
      next_open.push_back(wrong ? 1 : 0);
      ++used;
    }
    next.omega.conservativeResize(out);
    next.values.conservativeResize(Eigen::NoChange, out);
    data = std::move(next);
    open = std::move(next_open);
  }
  return data.omega;
}

VectorXd frequency_grid(const StateSpace& system, const GridSettings& settings) {
  return frequency_grid(FrequencyEvaluator(system), settings);
}

namespace {

FrequencyData on_grid(const StateSpace& system, const GridSettings& grid) {
  const FrequencyEvaluator evaluator(system);
  return evaluator.at(frequency_grid(evaluator, grid));
}

}  // namespace

Bode bode(const FrequencyData& response) {
  Bode result{response, response.values.cwiseAbs(),
              MatrixXd::Zero(response.values.rows(), response.values.cols())};
  constexpr double kRadian = 180.0 / M_PI;
  for (Eigen::Index e = 0; e < response.values.rows(); ++e) {
    double phase = 0.0;
    for (Eigen::Index k = 0; k < response.values.cols(); ++k) {
      const double angle = std::arg(response.values(e, k));
      phase = k == 0 ? angle : phase + wrapped(angle - phase);
      result.phase(e, k) = phase * kRadian;
    }
  }
  return result;
}

Bode bode(const StateSpace& system, const GridSettings& grid) {
  return bode(on_grid(system, grid));
}

Nichols nichols(const StateSpace& system, const GridSettings& grid) {
  const Bode b = bode(system, grid);
  return {b.response.omega, 20.0 * b.magnitude.array().log10().matrix(), b.phase};
}

namespace {

int unstable_count(const VectorXcd& p, bool continuous) {
  // Poles on the axis count as stable: the Nyquist curve passes them on the right.
  const double size = p.size() > 0 ? p.cwiseAbs().maxCoeff() : 0.0;
  int count = 0;
  for (const Complex s : p)
    if (continuous ? s.real() > 1e-10 * size : std::abs(s) > 1.0 + 1e-10) ++count;
  return count;
}

// Turns of det(1 + G) about the origin, ω from −∞ to ∞, counted on the samples.
int winding_of_samples(const FrequencyData& data) {
  double turned = 0.0, before = 0.0;
  for (int k = 0; k < data.size(); ++k) {
    const MatrixXcd loop =
        MatrixXcd::Identity(data.output_count, data.output_count) + data.matrix(k);
    Complex determinant = 1.0;
    for (const Complex value : lapack::eigenvalues(loop)) determinant *= value;
    const double angle = std::arg(determinant);
    if (k > 0) turned += wrapped(angle - before);
    before = angle;
  }
  return static_cast<int>(std::lround(2.0 * turned / (2.0 * M_PI)));
}

}  // namespace

Nyquist nyquist(const StateSpace& system, const GridSettings& grid) {
  if (system.input_count() != system.output_count())
    throw Error("nyquist: the system has " + std::to_string(system.output_count()) +
                " outputs and " + std::to_string(system.input_count()) +
                " inputs; a loop needs as many of each");
  Nyquist result;
  GridSettings wide = grid;
  const FrequencyEvaluator evaluator(system);
  result.response = evaluator.at(frequency_grid(evaluator, wide));
  result.unstable_poles = unstable_count(evaluator.poles(), system.is_continuous());
  if (system.has_delay() && system.is_continuous()) {
    result.encirclements = winding_of_samples(result.response);
  } else {
    const StateSpace closed = feedback(system);
    result.encirclements =
        result.unstable_poles - unstable_count(poles(closed), system.is_continuous());
    result.closed_loop_stable = is_stable(closed);
    return result;
  }
  result.closed_loop_stable = result.encirclements == result.unstable_poles;
  return result;
}

SingularValues sigma(const FrequencyData& response) {
  SingularValues result;
  result.omega = response.omega;
  result.values.resize(std::min(response.output_count, response.input_count), response.size());
  if (result.values.rows() == 0) return result;
  for (int k = 0; k < response.size(); ++k)
    result.values.col(k) = lapack::singular_values(MatrixXcd(response.matrix(k)));
  return result;
}

SingularValues sigma(const StateSpace& system, const GridSettings& grid) {
  return sigma(on_grid(system, grid));
}

CharacteristicLoci characteristic_loci(const FrequencyData& response) {
  const Eigen::Index n = response.output_count;
  if (response.input_count != n)
    throw Error("characteristic loci: the system must have as many inputs as outputs");
  CharacteristicLoci result;
  result.omega = response.omega;
  result.values.resize(n, response.size());
  for (int k = 0; k < response.size(); ++k) {
    VectorXcd values = lapack::eigenvalues(MatrixXcd(response.matrix(k)));
    if (k == 0)
      std::sort(values.begin(), values.end(),
                [](Complex a, Complex b) { return std::abs(a) > std::abs(b); });
    if (k > 0) {
      // Each curve continues to the value nearest to where it was heading; the closest pair first.
      const VectorXcd heading =
          k > 1 ? VectorXcd(2.0 * result.values.col(k - 1) - result.values.col(k - 2))
                : VectorXcd(result.values.col(k - 1));
      VectorXcd sorted(n);
      std::vector<char> from(index(n), false), to(index(n), false);
      for (Eigen::Index step = 0; step < n; ++step) {
        double best = std::numeric_limits<double>::infinity();
        Eigen::Index row = 0, col = 0;
        for (Eigen::Index i = 0; i < n; ++i)
          for (Eigen::Index j = 0; j < n; ++j)
            if (!at(from, i) && !at(to, j) && std::abs(heading[i] - values[j]) < best) {
              best = std::abs(heading[i] - values[j]);
              row = i;
              col = j;
            }
        at(from, row) = at(to, col) = 1;
        sorted[row] = values[col];
      }
      values = sorted;
    }
    result.values.col(k) = values;
  }
  return result;
}

CharacteristicLoci characteristic_loci(const StateSpace& system, const GridSettings& grid) {
  return characteristic_loci(on_grid(system, grid));
}

}  // namespace catena
