// SPDX-License-Identifier: BSD-3-Clause
// The error of a reduced structure on an adaptive grid, and its estimate between samples.
//
// At a sample the full response is exact to the rounding of one sparse factorization. Between two
// samples a < b the error E(jω) is a rational matrix whose poles near [a, b] are those of the
// reduced model to its accuracy. So d E, d = Π (jω − λ_i) over these poles, is smooth: it is
// interpolated by the cubic through values and derivatives at a and b, and divided by d.
#include <algorithm>
#include <cmath>
#include <limits>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/control/equations/kernels.h"
#include "catena/control/sparse/structure_parts.h"

namespace catena {
namespace {

using Eigen::MatrixXcd;
using Eigen::MatrixXd;

constexpr int kBetween = 12;     // estimates between two samples
constexpr double kAgree = 0.2;   // a sample agrees with its estimate to this part
constexpr double kSmall = 1e-2;  // estimates below this part of the largest are not refined

// Response and its derivative by ω of the reduced system, modal form.
class ReducedResponse {
 public:
  explicit ReducedResponse(const StateSpace& g) : system_(g), poles_(spectrum(g.A)) {}
  MatrixXcd value(double w) const { return value_and_slope(w).first; }
  std::pair<MatrixXcd, MatrixXcd> value_and_slope(double w) const {
    MatrixXcd a = -system_.A.cast<Complex>();
    a.diagonal().array() += Complex(0.0, w);
    const lapack::ComplexLu lu(a);
    const MatrixXcd x = lu.solve(system_.B.cast<Complex>());
    const MatrixXcd c = system_.C.cast<Complex>();
    return {c * x + system_.D.cast<Complex>(), Complex(0.0, -1.0) * (c * lu.solve(x))};
  }
  const Eigen::VectorXcd& poles() const { return poles_; }

 private:
  StateSpace system_;
  Eigen::VectorXcd poles_;
};

struct Sample {
  double w = 0.0;
  MatrixXcd error, slope;  // G − Gr and its derivative by ω
  double relative = 0.0, absolute = 0.0;
};

class ErrorGrid {
 public:
  ErrorGrid(StructureParts& parts, const StateSpace& reduced) : parts_(parts), reduced_(reduced) {}

  void add(double w) {
    Sample s;
    s.w = w;
    const SecondOrder& structure = parts_.structure;
    const Complex jw(0.0, w);
    parts_.stiffness.factor(jw);
    // Full inputs and outputs, rigid part included.
    const Eigen::Index m = structure.input_count(), p = structure.output_count();
    MatrixXcd forces(structure.freedom_count(), m + p);
    MatrixXcd c = MatrixXcd::Zero(p, structure.freedom_count());
    if (structure.Cq.size() > 0) c += structure.Cq.cast<Complex>();
    if (structure.Cv.size() > 0) c += jw * structure.Cv.cast<Complex>();
    forces << structure.B.cast<Complex>(), c.transpose();
    const MatrixXcd x = parts_.stiffness.solve(forces);
    backward_ = std::max(backward_, parts_.stiffness.backward_error(x, forces));
    const MatrixXcd xb = x.leftCols(m);
    MatrixXcd g = c * xb;
    if (structure.feedthrough.size() > 0) g += structure.feedthrough.cast<Complex>();
    // dP/dω = 2 s M j + D j.
    MatrixXcd dp = 2.0 * jw * (structure.M * xb);
    if (structure.D.nonZeros() > 0) dp += structure.D * xb;
    MatrixXcd slope = -Complex(0.0, 1.0) * (x.rightCols(p).transpose() * dp);
    if (structure.Cv.size() > 0) slope += Complex(0.0, 1.0) * (structure.Cv * xb);
    const auto [gr, slope_r] = reduced_.value_and_slope(w);
    s.error = g - gr;
    s.slope = slope - slope_r;
    s.absolute = lapack::norm2(s.error);
    s.relative = s.absolute / std::max(lapack::norm2(g), 1e-300);
    samples_.insert(std::upper_bound(samples_.begin(), samples_.end(), w,
                                     [](double v, const Sample& o) { return v < o.w; }),
                    std::move(s));
  }

  struct Estimate {
    double w = 0.0, relative = 0.0, absolute = 0.0;
    MatrixXcd response{};  // Gr
  };
  // Between samples i and i + 1, at part t of the way.
  Estimate estimate(std::size_t i, double t) const {
    const Sample &a = samples_[i], &b = samples_[i + 1];
    const double h = b.w - a.w;
    std::vector<Complex> near;
    for (const Complex& pole : reduced_.poles())
      if (pole.imag() > a.w - 2.0 * h && pole.imag() < b.w + 2.0 * h) near.push_back(pole);
    const auto product = [&](double w) {
      Complex d = 1.0, slope = 0.0;
      for (const Complex& pole : near) {
        const Complex factor = (Complex(0.0, w) - pole) / h;
        slope = slope * factor + d * Complex(0.0, 1.0 / h);
        d *= factor;
      }
      return std::pair(d, slope);
    };
    const auto [da, sa] = product(a.w);
    const auto [db, sb] = product(b.w);
    const double t2 = t * t, t3 = t2 * t;
    const MatrixXcd sum = (2 * t3 - 3 * t2 + 1) * (da * a.error) +
                          (t3 - 2 * t2 + t) * h * (da * a.slope + sa * a.error) +
                          (3 * t2 - 2 * t3) * (db * b.error) +
                          (t3 - t2) * h * (db * b.slope + sb * b.error);
    Estimate e;
    e.w = a.w + t * h;
    const MatrixXcd error = sum / product(e.w).first;
    e.response = reduced_.value(e.w);
    e.absolute = lapack::norm2(error);
    e.relative = e.absolute / std::max(lapack::norm2(MatrixXcd(e.response + error)), 1e-300);
    return e;
  }
  // The largest relative error estimated in each interval; kept until a sample divides it.
  const Estimate& largest(std::size_t i) {
    const std::pair key(samples_[i].w, samples_[i + 1].w);
    for (const auto& [interval, estimate] : known_)
      if (interval == key) return estimate;
    Estimate worst;
    for (int k = 1; k < kBetween; ++k)
      if (Estimate e = estimate(i, static_cast<double>(k) / kBetween); e.relative > worst.relative)
        worst = std::move(e);
    known_.emplace_back(key, std::move(worst));
    return known_.back().second;
  }

  const std::vector<Sample>& samples() const { return samples_; }
  double backward_error() const { return backward_; }

 private:
  StructureParts& parts_;
  ReducedResponse reduced_;
  std::vector<Sample> samples_;
  std::vector<std::pair<std::pair<double, double>, Estimate>> known_;
  double backward_ = 0.0;
};

// The ends of the band, its modes and the middles between them.
std::vector<double> first_grid(const StructureParts& p, int most) {
  std::vector<double> modes{
      p.lowest > 0.0 || p.modes.rigid > 0 ? std::max(p.lowest, 1e-3 * p.highest) : 0.0};
  for (int i = p.modes.rigid; i < p.in_band; ++i) {
    // Two modes within the width of one peak need one sample.
    const double w = p.modes.frequency[i], width = std::max(p.damping[i], 1e-4) * w;
    if (w > modes.back() + width && w < p.highest) modes.push_back(w);
  }
  modes.push_back(p.highest);
  // Not more than two thirds of the samples: the others are for refinement.
  while (std::ssize(modes) * 2 > std::max(6, 2 * most / 3)) {
    std::vector<double> fewer;
    for (std::size_t i = 0; i < modes.size(); ++i)
      if (i % 2 == 0 || i + 1 == modes.size()) fewer.push_back(modes[i]);
    modes = fewer;
  }
  std::vector<double> grid;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    grid.push_back(modes[i]);
    if (i + 1 < modes.size()) grid.push_back(0.5 * (modes[i] + modes[i + 1]));
  }
  return grid;
}

// First frequency where σ_max(G − Gr) exceeds σ_min(Gr), on the samples and estimates between them.
double robust_frequency(const ErrorGrid& grid) {
  const auto exceeded = [](double error, const MatrixXcd& response) {
    const Eigen::VectorXd v = lapack::singular_values(response);
    return error > v[v.size() - 1];
  };
  for (std::size_t i = 0; i + 1 < grid.samples().size(); ++i)
    for (int k = 1; k <= kBetween; ++k) {
      const ErrorGrid::Estimate e = grid.estimate(i, static_cast<double>(k) / kBetween);
      if (exceeded(e.absolute, e.response)) return e.w;
    }
  return std::numeric_limits<double>::infinity();
}

}  // namespace

void sample_error(StructureParts& p, const StructureReductionSettings& settings,
                  StructureReduction& r) {
  ErrorGrid grid(p, r.system);
  for (const double w : first_grid(p, settings.samples)) grid.add(w);
  StructureError& error = r.error;
  while (true) {
    ErrorGrid::Estimate worst;
    for (std::size_t i = 0; i + 1 < grid.samples().size(); ++i)
      if (const ErrorGrid::Estimate& e = grid.largest(i); e.relative > worst.relative) worst = e;
    error.between = worst.relative;
    error.between_frequency = worst.w;
    double sampled = 0.0;
    for (const Sample& s : grid.samples()) sampled = std::max(sampled, s.relative);
    // Estimates that stay below the samples need no check of their own.
    if (worst.relative <= sampled && error.settled) break;
    if (std::ssize(grid.samples()) >= settings.samples || worst.relative < kSmall * sampled) {
      error.settled = error.settled || worst.relative < kSmall * sampled;
      break;
    }
    grid.add(worst.w);
    for (const Sample& s : grid.samples())
      if (s.w == worst.w)
        error.settled = std::abs(s.relative - worst.relative) <= kAgree * worst.relative;
    if (error.settled && worst.relative > sampled) break;
  }
  for (const Sample& s : grid.samples()) {
    error.samples.push_back(s.w);
    error.absolute = std::max(error.absolute, s.absolute);
    if (s.relative >= error.relative) error.relative = s.relative, error.frequency = s.w;
  }
  error.between = std::max(error.between, error.relative);
  error.backward_error = grid.backward_error();
  r.robust_frequency = robust_frequency(grid);
  r.certificate.worst_frequency = error.frequency;
  r.certificate.add("relative error in the band, estimated between samples",
                    error.between <= settings.tolerance, error.between, settings.tolerance,
                    std::to_string(grid.samples().size()) + " samples" +
                        (error.settled ? "" : "; the estimate has not settled"));
}

}  // namespace catena
