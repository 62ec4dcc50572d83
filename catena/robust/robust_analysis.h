// SPDX-License-Identifier: BSD-3-Clause
// Robustness of an uncertain system over all frequencies, with what was proved.
//
//   robstab   how far all uncertainties may grow together before the loop becomes unstable
//   robgain   the same until the loop is unstable or its gain exceeds a level
//   wcgain    the largest gain while the uncertainties stay within their ranges
//
//   const RobustStability r = robstab(loop);
//   r.margin_low        // guaranteed: stable for every Δ smaller than this many times its range
//   r.margin_high       // an uncertainty of this size destabilizes: r.worst, r.parameters
//
// Between frequencies: the scalings (D, G) that bound μ at one frequency are held, and
//
//   F(jω) = β² D_r − Mᴴ D_c M − j (G M − Mᴴ G) > 0
//
// holds up to the nearest imaginary eigenvalue of a Hamiltonian matrix, where F(jω) is singular.
// Such intervals are laid until they cover all frequencies, so that no peak between samples is
// missed. Cost: an eigenproblem of twice the order of the system, complex, for each interval; some
// 10 to 60 intervals. Sampled systems are mapped by s = (2/dt) (z − 1)/(z + 1), which keeps the
// bounds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "catena/control/certificate.h"
#include "catena/robust/mu.h"
#include "catena/robust/uncertain_system.h"

namespace catena {

// μ ≤ `bound` at every frequency from `low` to `high`, rad/s, by the scalings of `omega`.
struct MuBand {
  double low = 0.0;
  double high = 0.0;
  double omega = 0.0;
  double bound = 0.0;  // that was proved in the band
  double upper = 0.0;  // at omega itself
};

struct RobustSettings {
  double tolerance = 1e-3;  // relative, of the guaranteed peak above the largest bound sampled
  int intervals = 2000;     // most of them
  MuSettings mu{};
};

// The largest μ of a stable system M for a structure, over all frequencies.
struct MuPeak {
  double lower = 0.0;               // attained, by `worst`
  double upper = 0.0;               // guaranteed
  double frequency = 0.0;           // of `lower`, rad/s; of the largest bound if lower is 0
  double upper_frequency = 0.0;     // of the largest bound sampled; infinite: at infinite frequency
  std::vector<BlockValue> worst{};  // complex, at `frequency`
  std::vector<MuBand> bands{};      // by frequency
  bool covered = true;              // false: `upper` is that of the samples only
};
// Throws NumericalError, naming the pole, if the system is not stable.
MuPeak mu_peak(const StateSpace& m, const BlockStructure& structure,
               const RobustSettings& settings = {});

struct RobustStability {
  double margin_low = 0.0;   // guaranteed; infinite if nothing in the structure can destabilize
  double margin_high = 0.0;  // destabilizes; infinite: none found
  double frequency = 0.0;    // of the instability, rad/s
  std::vector<BlockValue> worst{};
  // The real parameters of `worst`, by name.
  std::map<std::string, double> parameters{};
  MuPeak peak{};
  Certificate certificate{};
};
RobustStability robstab(const UncertainSystem& system, const RobustSettings& settings = {});

// Robust performance: μ with a full block between z and w of size 1/gain.
RobustStability robgain(const UncertainSystem& system, double gain,
                        const RobustSettings& settings = {});

struct WorstCaseGain {
  double lower = 0.0;  // reached by `worst`
  double upper = 0.0;  // guaranteed; infinite if the loop is not robustly stable
  double frequency = 0.0;
  double nominal = 0.0;
  std::vector<BlockValue> worst{};
  std::map<std::string, double> parameters{};
  Certificate certificate{};
};
WorstCaseGain wcgain(const UncertainSystem& system, const RobustSettings& settings = {});

// The values of the real parameters in a perturbation, by name.
std::map<std::string, double> parameter_values(const UncertainSystem& system,
                                               const std::vector<BlockValue>& values);

}  // namespace catena
