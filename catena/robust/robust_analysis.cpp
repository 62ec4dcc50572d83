// SPDX-License-Identifier: BSD-3-Clause
#include "catena/robust/robust_analysis.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>

#include <fmt/core.h>

#include "catena/base/error.h"
#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/control/norms.h"
#include "catena/linear/algebra.h"
#include "catena/linear/discretize.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/robust/frequency_cover.h"
#include "catena/robust/parameter_search.h"

namespace catena {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
// μ below this is taken for zero: the margin is infinite.
constexpr double kNoUncertainty = 1e-9;
constexpr double kSlackPart =
    0.25;  // of the tolerance: bounds that near the level count as crossings
constexpr double kThinnest = 1e-10;  // relative width of a gap between bands that counts as closed
constexpr int kRefinements = 24;     // frequencies of the search for the largest lower bound
constexpr int kCandidates = 6;       // samples from which that search starts
constexpr int kGainBisections = 40;  // of the worst-case gain
constexpr int kCornerSweeps = 4;
constexpr double kBeyondPoles = 10.0;

StateSpace continuous(const StateSpace& system) {
  if (system.is_continuous()) return explicit_form(system);
  return d2c(explicit_form(system), {.method = Hold::tustin});
}

// rad/s of the system itself.
double own_frequency(const StateSpace& system, double omega) {
  if (system.is_continuous()) return omega;
  return 2.0 / system.dt * std::atan(0.5 * omega * system.dt);
}

void require_stable(const StateSpace& m) {
  for (const std::complex<double>& pole : lapack::eigenvalues(m.A))
    if (!(pole.real() < 0.0))
      throw NumericalError(fmt::format(
          "the nominal loop is not stable: it has a pole at {} {} {}j; robustness is asked of "
          "stable "
          "loops, so check the controller and its sign",
          number(pole.real()), pole.imag() < 0.0 ? "-" : "+", number(std::abs(pole.imag()))));
}

// Lays bands over the axis until none is left.
class Cover {
 public:
  Cover(const StateSpace& m, const BlockStructure& structure, const RobustSettings& settings)
      : structure_(structure), settings_(settings), cover_(m, structure) {}

  // `stop_above`: ends as soon as a sample exceeds this level (its answer is then only that).
  MuPeak run(double stop_above = kUnbounded) {
    for (const double omega : first_frequencies()) {
      lay(omega);
      if (largest_ > stop_above) return finish(false);
    }
    int left = settings_.intervals;
    while (const std::optional<double> omega = uncovered()) {
      if (left-- <= 0) return finish(false);
      lay(*omega);
      if (largest_ > stop_above) return finish(false);
    }
    return finish(true);
  }

  const FrequencyCover& cover() const { return cover_; }

 private:
  std::vector<double> first_frequencies() const {
    std::vector<double> list{kUnbounded, 0.0};
    for (const std::complex<double>& pole : cover_.poles())
      if (pole.imag() >= 0.0) {
        const double square = std::norm(pole) - 2.0 * pole.real() * pole.real();
        list.push_back(square > 0.0 ? std::sqrt(square) : std::abs(pole));
      }
    return list;
  }

  // The band about a frequency, unless it is covered already.
  void lay(double omega) {
    for (const MuBand& band : bands_)
      if (band.low <= omega && omega <= band.high && omega != 0.0 && !std::isinf(omega)) return;
    MuSettings at = settings_.mu;
    at.lower = false;
    const MuBounds bounds = mu(cover_.response(omega), structure_, at);
    if (bounds.upper > largest_) {
      largest_ = bounds.upper;
      largest_at_ = omega;
    }
    level_ = std::max(level_, std::max((1.0 + settings_.tolerance) * largest_, kNoUncertainty));
    const FrequencyCover::Crossings x =
        cover_.crossings(bounds.scaling, level_, kSlackPart * settings_.tolerance);
    MuBand band{0.0, kUnbounded, omega, level_, bounds.upper};
    for (const double w : x.omega) {
      if (w < omega || std::isinf(omega)) band.low = std::max(band.low, std::min(w, omega));
      if (w >= omega && !std::isinf(omega)) {
        band.high = w;
        break;
      }
    }
    if (std::isinf(band.high) && x.beyond && !std::isinf(omega)) band.high = farthest();
    bands_.push_back(band);
  }

  // A frequency above all dynamics, for the part next to infinity.
  double farthest() const {
    double largest = 1.0;
    for (const std::complex<double>& p : cover_.poles()) largest = std::max(largest, std::abs(p));
    for (const MuBand& b : bands_)
      if (!std::isinf(b.omega)) largest = std::max(largest, b.omega);
    return kBeyondPoles * largest;
  }

  // A frequency in the lowest gap that no band covers.
  std::optional<double> uncovered() {
    std::sort(bands_.begin(), bands_.end(),
              [](const MuBand& a, const MuBand& b) { return a.low < b.low; });
    double reached = 0.0;
    for (const MuBand& band : bands_) {
      if (band.low > reached * (1.0 + kThinnest) + std::numeric_limits<double>::min()) {
        if (std::isinf(band.low)) return kBeyondPoles * farthest();
        return reached == 0.0 ? 0.5 * band.low : reached * std::sqrt(band.low / reached);
      }
      reached = std::max(reached, band.high);
    }
    if (std::isinf(reached)) return std::nullopt;
    return std::max(kBeyondPoles * reached, farthest());
  }

  MuPeak finish(bool covered) {
    MuPeak peak;
    peak.upper = covered ? level_ : largest_;
    peak.upper_frequency = largest_at_;
    peak.frequency = largest_at_;
    peak.covered = covered;
    std::sort(bands_.begin(), bands_.end(),
              [](const MuBand& a, const MuBand& b) { return a.omega < b.omega; });
    peak.bands = bands_;
    return peak;
  }

  const BlockStructure& structure_;
  const RobustSettings& settings_;
  FrequencyCover cover_;
  std::vector<MuBand> bands_;
  double largest_ = 0.0, level_ = 0.0, largest_at_ = 0.0;
};

// The largest lower bound: at the samples with the largest upper ones, then around the best.
void raise_lower(const FrequencyCover& cover, const BlockStructure& structure,
                 const RobustSettings& settings, MuPeak& peak) {
  const auto look = [&](double omega) {
    const MuBounds b = mu(cover.response(omega), structure, settings.mu);
    if (b.lower > peak.lower) {
      peak.lower = b.lower;
      peak.worst = b.worst;
      peak.frequency = omega;
      return true;
    }
    return false;
  };
  std::vector<MuBand> best = peak.bands;
  std::sort(best.begin(), best.end(),
            [](const MuBand& a, const MuBand& b) { return a.upper > b.upper; });
  if (best.size() > kCandidates) best.resize(kCandidates);
  for (const MuBand& band : best) look(band.omega);
  if (peak.lower == 0.0 || std::isinf(peak.frequency) || peak.frequency == 0.0) return;
  double step = 0.02;
  for (int i = 0; i < kRefinements && peak.lower < (1.0 - 1e-6) * peak.upper; ++i) {
    const double at = peak.frequency;
    if (!look(at * (1.0 + step)) && !look(at / (1.0 + step))) step *= 0.4;
  }
}

void take(const UncertainSystem& system, const MuPeak& peak, RobustStability& result) {
  result.peak = peak;
  result.margin_low = peak.upper > kNoUncertainty ? 1.0 / peak.upper : kUnbounded;
  result.margin_high = peak.lower > 0.0 ? 1.0 / peak.lower : kUnbounded;
  result.frequency = peak.frequency;
  result.worst = peak.worst;
  result.parameters = parameter_values(system, peak.worst);
  Certificate& c = result.certificate;
  c.worst_frequency = peak.upper_frequency;
  c.add("all frequencies covered", peak.covered, static_cast<double>(peak.bands.size()),
        static_cast<double>(peak.bands.size()), "bands in which the bound was proved");
  c.add("margin guaranteed above one", result.margin_low > 1.0, result.margin_low, 1.0,
        fmt::format("bound largest at {} rad/s", number(peak.upper_frequency)));
  for (const std::string& remark : system.remarks) c.remarks.push_back(remark);
}

// w and z closed by a full block of size 1/gain: the channels of M with z/gain.
StateSpace with_performance(const UncertainSystem& system, double gain) {
  StateSpace m = continuous(system.system);
  const int outputs = system.outputs();
  m.C.bottomRows(outputs) /= gain;
  m.D.bottomRows(outputs) /= gain;
  return m;
}

BlockStructure performance_structure(const UncertainSystem& system) {
  std::vector<Block> blocks = system.blocks.blocks();
  blocks.push_back({"performance", BlockKind::full, system.inputs(), system.outputs()});
  return BlockStructure(std::move(blocks));
}

std::vector<BlockValue> no_perturbation(const BlockStructure& blocks) {
  std::vector<BlockValue> values(to_size(blocks.size()));
  for (int k = 0; k < blocks.size(); ++k)
    if (blocks[k].kind == BlockKind::full)
      values[to_size(k)].matrix = Eigen::MatrixXcd::Zero(blocks[k].rows, blocks[k].columns);
  return values;
}

// The gain of one case: over all frequencies if Δ is real, else at `omega` (rad/s of the mapped
// system).
double gain_of(const UncertainSystem& system, const std::vector<BlockValue>& values, double omega,
               double& frequency) {
  const Eigen::MatrixXcd delta = system.blocks.matrix(values);
  if (delta.imag().cwiseAbs().maxCoeff() == 0.0) {
    const PeakGain peak = hinfnorm(close(system, values));
    frequency = peak.frequency;
    return peak.stable ? peak.value : 0.0;
  }
  frequency = own_frequency(system.system, omega);
  return std::isinf(omega) ? 0.0 : lapack::norm2(close_at(system, frequency, values));
}

// Raises the lower bound of the worst-case gain: the perturbation at full size, then one real
// parameter after the other to either end of its range while that helps.
void reach(const UncertainSystem& system, std::vector<BlockValue> values, double omega,
           WorstCaseGain& result) {
  const auto look = [&](const std::vector<BlockValue>& v) {
    double frequency = 0.0;
    const double gain = gain_of(system, v, omega, frequency);
    if (!(gain > result.lower)) return false;
    result.lower = gain;
    result.worst = v;
    result.frequency = frequency;
    return true;
  };
  const double size = system.blocks.norm(values);
  if (size > 0.0)
    for (BlockValue& v : values) {
      v.scalar /= size;
      v.matrix /= size;
    }
  look(values);
  bool helped = true;
  for (int sweep = 0; helped && sweep < kCornerSweeps; ++sweep) {
    helped = false;
    for (int k = 0; k < system.blocks.size(); ++k)
      for (const double end : {-1.0, 1.0}) {
        if (system.blocks[k].kind != BlockKind::real) continue;
        std::vector<BlockValue> trial = result.worst;
        if (trial[to_size(k)].scalar == end) continue;
        trial[to_size(k)].scalar = end;
        if (look(trial)) helped = true;
      }
  }
}

}  // namespace

std::map<std::string, double> parameter_values(const UncertainSystem& system,
                                               const std::vector<BlockValue>& values) {
  std::map<std::string, double> result;
  for (std::size_t k = 0; k < system.parameters.size() && k < values.size(); ++k)
    if (system.parameters[k])
      result[system.parameters[k]->name] = system.parameters[k]->value(values[k].scalar.real());
  return result;
}

MuPeak mu_peak(const StateSpace& m, const BlockStructure& structure,
               const RobustSettings& settings) {
  const StateSpace c = continuous(m);
  require_stable(c);
  Cover cover(c, structure, settings);
  MuPeak peak = cover.run();
  raise_lower(cover.cover(), structure, settings, peak);
  peak.frequency = own_frequency(m, peak.frequency);
  peak.upper_frequency = own_frequency(m, peak.upper_frequency);
  for (MuBand& band : peak.bands)
    for (double* omega : {&band.low, &band.high, &band.omega}) *omega = own_frequency(m, *omega);
  return peak;
}

RobustStability robstab(const UncertainSystem& system, const RobustSettings& settings) {
  system.validate();
  RobustStability result;
  MuPeak peak = mu_peak(system.m11(), system.blocks, settings);
  // Parameters alone: an eigenvalue is followed to the axis, at whatever frequency that is.
  if (system.blocks.has_real() && peak.upper > kNoUncertainty) {
    const Destabilizing found = destabilizing_parameters(continuous(system.m11()), system.blocks);
    if (found.size > 0.0 && 1.0 / found.size > peak.lower) {
      peak.lower = 1.0 / found.size;
      peak.worst = found.values;
      peak.frequency = own_frequency(system.system, found.frequency);
    }
  }
  take(system, peak, result);
  return result;
}

RobustStability robgain(const UncertainSystem& system, double gain,
                        const RobustSettings& settings) {
  system.validate();
  if (!(gain > 0.0) || !std::isfinite(gain))
    throw Error(fmt::format("the gain asked for is {}; it must be positive", number(gain)));
  if (system.inputs() < 1 || system.outputs() < 1)
    throw Error("the uncertain system has no input or output besides its uncertainties");
  RobustStability result;
  StateSpace m = with_performance(system, gain);
  const MuPeak peak = mu_peak(m, performance_structure(system), settings);
  take(system, peak, result);
  result.frequency = own_frequency(system.system, result.frequency);
  return result;
}

WorstCaseGain wcgain(const UncertainSystem& system, const RobustSettings& settings) {
  system.validate();
  WorstCaseGain result;
  const StateSpace nominal = system.nominal();
  const PeakGain peak = hinfnorm(nominal);
  if (!peak.stable) require_stable(continuous(nominal));
  result.nominal = peak.value;
  result.frequency = peak.frequency;
  result.lower = peak.value;
  result.worst = no_perturbation(system.blocks);
  const MuPeak stability = mu_peak(system.m11(), system.blocks, settings);
  result.certificate.add("robustly stable", stability.upper < 1.0, 1.0 / stability.upper, 1.0,
                         fmt::format("margin, at {} rad/s", number(stability.upper_frequency)));
  if (!(stability.upper < 1.0)) {
    result.upper = kUnbounded;
    return result;
  }
  const BlockStructure structure = performance_structure(system);
  // The level γ at which μ with performance scaled by 1/γ passes one.
  const auto holds = [&](double gamma, MuPeak& found) {
    const StateSpace m = with_performance(system, gamma);
    Cover cover(m, structure, settings);
    found = cover.run(1.0);
    return found.covered && found.upper <= 1.0;
  };
  const double floor = std::max(peak.value, 1e-300);
  double low = floor * (1.0 - settings.tolerance), high = 2.0 * floor;
  MuPeak at;
  int left = kGainBisections;
  while (left-- > 0 && !holds(high, at)) {
    low = high;
    high *= 2.0;
  }
  while (left-- > 0 && high > low * (1.0 + settings.tolerance)) {
    const double middle = std::sqrt(low * high);
    (holds(middle, at) ? high : low) = middle;
  }
  result.upper = high;
  // The lower end: the perturbation found beside the level, at full size, and corners about it.
  const StateSpace m = with_performance(system, low);
  Cover cover(m, structure, settings);
  MuPeak worst = cover.run();
  raise_lower(cover.cover(), structure, settings, worst);
  std::vector<BlockValue> values = no_perturbation(system.blocks);
  if (!worst.worst.empty()) values.assign(worst.worst.begin(), worst.worst.end() - 1);
  reach(system, values, worst.frequency, result);
  result.parameters = parameter_values(system, result.worst);
  result.certificate.worst_frequency = result.frequency;
  result.certificate.add("gain reached within the bound", result.lower <= result.upper,
                         result.lower, result.upper);
  return result;
}

}  // namespace catena
