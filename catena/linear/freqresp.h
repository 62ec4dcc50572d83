// SPDX-License-Identifier: BSD-3-Clause
// Frequency response G(jω), or G(e^{jω dt}) of a sampled system, and what is drawn from it: Bode,
// Nyquist, Nichols, singular values, characteristic loci.
//
//   const FrequencyData g = freqresp(system, omega);
//   const Bode plot = bode(system);                // on an adaptive grid that misses no peak
//
// Two routes. Modal: A = T Λ T⁻¹ once (25 n³), then each frequency costs n times the entries; taken
// if the condition of T is below 1e6. Otherwise A is brought to Hessenberg form and each frequency
// costs O(n²), several at once in the lanes of a SIMD register. The certificate says which, with
// the condition and a bound of the backward error: the response is that of A + ΔA, ‖ΔA‖₁ at most so
// many times ‖A‖₁. Delays are exact.
#pragma once

#include <memory>
#include <span>

#include "catena/linear/frequency_data.h"
#include "catena/linear/state_space.h"

namespace catena {

enum class ResponseRoute { automatic, modal, hessenberg };
const char* to_string(ResponseRoute route);

struct ResponseSettings {
  ResponseRoute route = ResponseRoute::automatic;
  double condition_limit = 1e6;  // of T, for the modal route
};

struct ResponseCertificate {
  ResponseRoute route = ResponseRoute::modal;
  double condition = 1.0;       // ‖T‖₁ ‖T⁻¹‖₁, estimated; 1 for the other route
  double backward_error = 0.0;  // ‖ΔA‖₁/‖A‖₁
};

// A system prepared for many frequencies.
class FrequencyEvaluator {
 public:
  explicit FrequencyEvaluator(const StateSpace& system, const ResponseSettings& settings = {});
  ~FrequencyEvaluator();
  FrequencyEvaluator(FrequencyEvaluator&&) noexcept;
  FrequencyEvaluator& operator=(FrequencyEvaluator&&) noexcept;

  // Throws NumericalError if a pole lies exactly on the axis at one of the frequencies.
  FrequencyData at(const Eigen::VectorXd& omega) const;  // rad/s, ascending
  Eigen::MatrixXcd at(double omega) const;
  // At any points of the complex plane, one column each.
  Eigen::MatrixXcd values(const Eigen::VectorXcd& s) const;
  const ResponseCertificate& certificate() const;
  const StateSpace& system() const;
  // The finite poles (a by-product of the modal route).
  const Eigen::VectorXcd& poles() const;

 private:
  struct Prepared;
  std::unique_ptr<Prepared> prepared_;
};

FrequencyData freqresp(const StateSpace& system, const Eigen::VectorXd& omega,
                       const ResponseSettings& settings = {});
// With the certificate.
FrequencyData freqresp(const StateSpace& system, const Eigen::VectorXd& omega,
                       ResponseCertificate& certificate, const ResponseSettings& settings = {});

// A grid on which linear interpolation of the Bode plot is right to `tolerance`: points about every
// pole within its half-power width, then bisection where the interpolation is wrong.
struct GridSettings {
  double from = 0.0,
         to = 0.0;  // rad/s; 0: from a tenth of the slowest to ten times the fastest dynamics
  double tolerance = 0.02;     // of ln |g| and of the phase (rad), between samples
  int points_per_decade = 10;  // at least
  int most_points = 20000;
};
Eigen::VectorXd frequency_grid(const StateSpace& system, const GridSettings& settings = {});
Eigen::VectorXd frequency_grid(const FrequencyEvaluator& evaluator,
                               const GridSettings& settings = {});
// Logarithmically spaced from a to b.
Eigen::VectorXd logspace(double from, double to, int count);

struct Bode {
  FrequencyData response;
  // Entries as in FrequencyData::values. Phases in degrees, continuous over frequency.
  Eigen::MatrixXd magnitude, phase;
};
Bode bode(const StateSpace& system, const GridSettings& grid = {});
Bode bode(const FrequencyData& response);

// The response for a Nyquist plot, and the count of encirclements. Without delays the count follows
// from the poles of the open and the closed loop (argument principle); poles on the axis count as
// stable. With delays the turns of det(1 + G) are counted on the grid, which must reach from where
// G is constant to where it vanishes.
struct Nyquist {
  FrequencyData response;
  int encirclements = 0;            // of the origin by det(1 + G), ω from −∞ to ∞
  int unstable_poles = 0;           // of the open loop
  bool closed_loop_stable = false;  // encirclements equal the unstable poles
};
Nyquist nyquist(const StateSpace& system, const GridSettings& grid = {});

struct Nichols {
  Eigen::VectorXd omega;
  Eigen::MatrixXd gain_db, phase;  // phase in degrees, continuous
};
Nichols nichols(const StateSpace& system, const GridSettings& grid = {});

struct SingularValues {
  Eigen::VectorXd omega;
  Eigen::MatrixXd values;  // one column for each frequency, largest first
};
SingularValues sigma(const StateSpace& system, const GridSettings& grid = {});
SingularValues sigma(const FrequencyData& response);

// Eigenvalues of a square G(jω), sorted so that each row is a continuous curve.
struct CharacteristicLoci {
  Eigen::VectorXd omega;
  Eigen::MatrixXcd values;
};
CharacteristicLoci characteristic_loci(const StateSpace& system, const GridSettings& grid = {});
CharacteristicLoci characteristic_loci(const FrequencyData& response);

}  // namespace catena
