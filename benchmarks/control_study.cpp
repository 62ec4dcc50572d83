// SPDX-License-Identifier: BSD-3-Clause
// Studies of the control room on many random systems, and SLICOT and Octave beside it.
//
//   control_study hinf 1000 [tolerance]   lightly damped plants: loops, norms, distance from the
//   optimum control_study peers 1000 [100]        SLICOT's SB10AD on so many of the same plants,
//   Octave's
//                                         hinfsyn on fewer
//   control_study norms 10000             H-infinity norms of random systems of four states
//   control_study speed 500               hinfnorm beside AB13DD, care beside Octave's lqr
//
// Plants come from seeds 0, 1, 2, ... (catena/control/testing/flexible_plants.h). CPU time, one
// thread.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "control_peers.h"

#include "catena/base/error.h"
#include "catena/control/equations/riccati.h"
#include "catena/control/hinf.h"
#include "catena/control/norms.h"
#include "catena/control/standard_problem.h"
#include "catena/control/testing/flexible_plants.h"

namespace {

using namespace catena;
using Eigen::MatrixXd;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Other routes to "this level cannot be reached". These plants have D11 = 0 and orthogonal weights.
//
// Frequency: a J-spectral factor exists only if N~N − diag(γ², 0), N = [P11 P12], has as many
// negative eigenvalues as disturbances at every frequency, and the same for the dual problem. One
// frequency with another inertia refutes the level; no Riccati equation is involved. The spectrum
// of the Hamiltonian matrix only says where to look.
bool refuted_at_a_frequency(const StandardProblem& p, double gamma) {
  const auto refuted = [&](const MatrixXd& a, const MatrixXd& b1, const MatrixXd& b2,
                           const MatrixXd& c) {
    const Eigen::Index m1 = b1.cols(), m2 = b2.cols();
    MatrixXd b(a.rows(), m1 + m2), d = MatrixXd::Zero(c.rows(), m1 + m2);
    b << b1, b2;
    d.bottomRightCorner(m2, m2).setIdentity();
    const auto wrong = [&](double w) {
      Eigen::MatrixXcd s = -a.cast<std::complex<double>>();
      s.diagonal().array() += std::complex<double>(0.0, w);
      const Eigen::MatrixXcd n =
          c * lapack::solve(s, Eigen::MatrixXcd(b.cast<std::complex<double>>())) + d;
      Eigen::MatrixXcd popov = n.adjoint() * n;
      popov.diagonal().head(m1).array() -= gamma * gamma;
      return (lapack::hermitian_eig(popov).values.array() < 0.0).count() != m1;
    };
    MatrixXd h(2 * a.rows(), 2 * a.rows());
    h << a, b1 * b1.transpose() / (gamma * gamma) - b2 * b2.transpose(), -c.transpose() * c,
        -a.transpose();
    std::vector<double> looks{0.0};
    for (const std::complex<double>& s : lapack::eigenvalues(h))
      if (s.imag() > 0.0) looks.push_back(s.imag());
    std::sort(looks.begin(), looks.end());
    const std::size_t count = looks.size();
    for (std::size_t i = 0; i + 1 < count; ++i) looks.push_back(0.5 * (looks[i] + looks[i + 1]));
    return std::any_of(looks.begin(), looks.end(), wrong);
  };
  return refuted(p.A, p.B1, p.B2, p.C1) ||
         refuted(p.A.transpose(), p.C1.transpose(), p.C2.transpose(), p.B1.transpose());
}

// Doubling: both Riccati equations have solutions to 1e-6, and one is not positive semidefinite, or
// the spectral radius of X Y is not below γ².
bool refuted_by_doubling(const StandardProblem& p, double gamma) {
  const auto solve = [&](const MatrixXd& a, const MatrixXd& b1, const MatrixXd& b2,
                         const MatrixXd& c1) {
    MatrixXd b(a.rows(), b1.cols() + b2.cols());
    b << b1 / gamma, b2;
    MatrixXd r = MatrixXd::Identity(b.cols(), b.cols());
    r.topLeftCorner(b1.cols(), b1.cols()) *= -1.0;
    return solve_care({a, b, c1.transpose() * c1, r},
                      {.route = RiccatiRoute::doubling, .residual_tolerance = 1e-6});
  };
  const RiccatiSolution x = solve(p.A, p.B1, p.B2, p.C1);
  const RiccatiSolution y =
      solve(p.A.transpose(), p.C1.transpose(), p.C2.transpose(), p.B1.transpose());
  if (x.ok() && lapack::symmetric_eigenvalues(x.X)[0] < -1e-7 * x.X.norm()) return true;
  if (y.ok() && lapack::symmetric_eigenvalues(y.X)[0] < -1e-7 * y.X.norm()) return true;
  if (!x.ok() || !y.ok()) return false;  // no answer
  return lapack::eigenvalues(MatrixXd(x.X * y.X)).cwiseAbs().maxCoeff() >=
         gamma * gamma * (1.0 - 1e-9);
}

// What cannot be reached at a level cannot be reached below it, so a refutation a little above the
// lower end is one of the lower end. It is needed where X or Y is just about to pass infinity.
bool confirmed_unreachable(const GeneralizedPlant& plant, double lower, double gamma) {
  const StandardProblem p = standard_problem(plant, TimeMap::bilinear);
  for (const double part : {0.0, 0.02, 0.1, 0.3}) {
    const double level = lower + part * (gamma - lower);
    if (refuted_at_a_frequency(p, level) || refuted_by_doubling(p, level)) return true;
  }
  return false;
}

int study_hinf(int count, double tolerance) {
  int unstable = 0, above = 0, wide = 0, failed = 0, unconfirmed = 0;
  double worst_norm = 0.0, worst_ratio = 0.0;
  const double start = cpu_seconds();
  for (int seed = 0; seed < count; ++seed) {
    const GeneralizedPlant plant =
        catena::test::flexible_plant(static_cast<std::uint64_t>(seed), 3 + seed % 8);
    try {
      const HinfResult r = hinfsyn(plant, {.tolerance = tolerance});
      const StateSpace loop = closed_loop(plant, r.controller);
      const PeakGain peak = hinfnorm(loop);
      unstable += !peak.stable;
      worst_norm = std::max(worst_norm, peak.value / r.gamma);
      above += !(peak.value <= 1.001 * r.gamma);
      const double ratio = r.gamma / r.lower;
      worst_ratio = std::max(worst_ratio, ratio);
      wide += !(ratio <= 1.0 + tolerance * 1.001);
      if (!(ratio <= 1.0 + tolerance * 1.001)) std::printf("seed %d: ratio %.6f\n", seed, ratio);
      if (!confirmed_unreachable(plant, r.lower, r.gamma)) {
        ++unconfirmed;
        std::printf("seed %d: lower end %.9g not confirmed, gamma %.9g\n", seed, r.lower, r.gamma);
      }
    } catch (const Error& e) {
      ++failed;
      std::printf("seed %d: %s\n", seed, e.what());
    }
  }
  std::printf(
      "%d plants, tolerance %g: %d failed, %d unstable, %d above the reported norm (worst %.6f), "
      "%d wider than the tolerance (worst %.6f), %d lower ends not confirmed by another route, "
      "%.1f ms each\n",
      count, tolerance, failed, unstable, above, worst_norm, wide, worst_ratio, unconfirmed,
      1e3 * (cpu_seconds() - start) / count);
  return failed + unstable + above + wide;
}

int study_norms(int count) {
  catena::test::RandomNumbers random(2026);
  int failed = 0;
  const double start = cpu_seconds();
  for (int k = 0; k < count; ++k) {
    const int m = random.integer(1, 2), p = random.integer(1, 3);
    const bool discrete = k % 4 == 3;
    const MatrixXd a = discrete ? random.contraction(4, random.uniform(0.3, 0.9999))
                                : random.stable(4, std::pow(10.0, random.uniform(-6.0, 0.0)));
    const MatrixXd d = k % 2 == 0 ? random.matrix(p, m) : MatrixXd::Zero(p, m);
    const StateSpace g = ss(a, random.matrix(4, m), random.matrix(p, 4), d, discrete ? 0.1 : 0.0);
    const PeakGain peak = hinfnorm(g);
    bool good = std::isfinite(peak.value);
    for (int i = 0; i < 60 && good; ++i) {  // dense samples, half of them around the poles
      const Eigen::VectorXcd poles = lapack::eigenvalues(a);
      double w = std::abs(poles[i % 4].imag()) * random.uniform(0.98, 1.02);
      if (discrete) w = std::abs(std::arg(poles[i % 4])) / 0.1 * random.uniform(0.98, 1.0);
      if (i % 2 == 0)
        w = discrete ? 31.4 * random.uniform() : std::pow(10.0, random.uniform(-3, 3));
      Eigen::MatrixXcd s = -a.cast<std::complex<double>>();
      s.diagonal().array() += discrete ? std::polar(1.0, 0.1 * w) : std::complex<double>(0.0, w);
      const Eigen::MatrixXcd b = g.B.cast<std::complex<double>>();
      good = lapack::norm2(Eigen::MatrixXcd(g.C * lapack::ComplexLu(s).solve(b) + d)) <=
             peak.certificate.upper * (1.0 + 1e-8);
    }
    if (!good) std::printf("system %d: value %.12g\n", k, peak.value);
    failed += !good;
  }
  std::printf("%d systems of four states: %d failures, %.2f ms each with 60 dense samples\n", count,
              failed, 1e3 * (cpu_seconds() - start) / count);
  return failed;
}

// What the controllers of a peer do on the plants: none, an unstable loop, a norm above 1.02 times
// the best level that hinfsyn reached, or above 1.02 times the level that the peer reports.
class Tally {
 public:
  void add(const GeneralizedPlant& plant, const peers::Design& design, double reached) {
    ++count_;
    seconds_ += design.seconds;
    if (!design.found) {
      ++none_;
      return;
    }
    const PeakGain loop = hinfnorm(closed_loop(plant, design.controller));
    if (!loop.stable) {
      ++unstable_;
      return;
    }
    above_ += loop.value > 1.02 * reached;
    worse_than_reported_ += loop.value > 1.02 * design.gamma;
    worst_ = std::max(worst_, loop.value / reached);
  }
  void print(const char* name) const {
    std::printf(
        "%s on %d plants: %d without a controller, %d unstable loops, %d above 1.02 times the "
        "optimum "
        "(worst %.3g times), %d above 1.02 times the norm reported, %.1f ms each\n",
        name, count_, none_, unstable_, above_, worst_, worse_than_reported_,
        1e3 * seconds_ / count_);
  }

 private:
  int count_ = 0, none_ = 0, unstable_ = 0, above_ = 0, worse_than_reported_ = 0;
  double worst_ = 1.0, seconds_ = 0.0;
};

int study_peers(int count, int octave_count) {
  Tally slicot, octave;
  std::vector<GeneralizedPlant> plants;
  std::vector<double> reached;
  for (int seed = 0; seed < count; ++seed) {
    plants.push_back(catena::test::flexible_plant(static_cast<std::uint64_t>(seed), 3 + seed % 8));
    const HinfResult r = hinfsyn(plants.back(), {.tolerance = 0.002});
    reached.push_back(r.gamma);
    if (const auto design = peers::sb10ad(plants.back(), 10.0 * r.gamma))
      slicot.add(plants.back(), *design, r.gamma);
    else if (seed == 0)
      std::puts("built without SLICOT");
  }
  slicot.print("SB10AD");
  plants.resize(static_cast<std::size_t>(std::min(count, octave_count)));
  const std::vector<peers::Design> designs = peers::octave_hinfsyn(plants);
  for (std::size_t k = 0; k < designs.size(); ++k) octave.add(plants[k], designs[k], reached[k]);
  if (designs.empty())
    std::puts("Octave with its control package is not installed");
  else
    octave.print("Octave's hinfsyn");
  return 0;
}

// Modes of 1 % damping between 0.1 and 1,000 rad/s in coordinates mixed by `mix`.
StateSpace flexible_system(int n, const MatrixXd& mix, catena::test::RandomNumbers& random) {
  MatrixXd a = MatrixXd::Zero(n, n);
  for (int k = 0; k + 1 < n; k += 2) {
    const double w = std::pow(10.0, random.uniform(-1.0, 3.0));
    a(k, k + 1) = w, a(k + 1, k) = -w, a(k + 1, k + 1) = -0.02 * w;
  }
  if (n % 2 == 1) a(n - 1, n - 1) = -1.0;
  return ss(lapack::Lu(mix).solve(a * mix), random.matrix(n, 4), random.matrix(4, n));
}

void time_norm(const char* name, const StateSpace& g) {
  const double start = cpu_seconds();
  const PeakGain peak = hinfnorm(g);
  const double ours = cpu_seconds() - start;
  std::printf("%s: hinfnorm n = %d: %.10g at %.6g rad/s, %.3f s, %d intervals, %d eigenproblems\n",
              name, g.order(), peak.value, peak.frequency, ours, peak.certificate.intervals,
              peak.certificate.eigenproblems);
  if (const auto theirs = peers::ab13dd(g))
    std::printf("  AB13DD: %.10g at %.6g, %.3f s: %.2f times ours\n", theirs->value,
                theirs->frequency, theirs->seconds, theirs->seconds / ours);
}

void time_riccati(const char* name, const StateSpace& g, const MatrixXd& q) {
  const MatrixXd r = MatrixXd::Identity(g.B.cols(), g.B.cols());
  const double start = cpu_seconds();
  const RiccatiSolution s = care(g.A, g.B, q, r);
  const double ours = cpu_seconds() - start;
  std::printf("%s: care n = %d: residual %.2g, %.3f s\n", name, g.order(), s.residual, ours);
  if (const auto theirs = peers::octave_lqr(g.A, g.B, q))
    std::printf("  Octave's lqr: residual %.2g, %.3f s: %.2f times ours; gains differ by %.1g\n",
                care_residual({g.A, g.B, q, r}, theirs->solution), theirs->seconds,
                theirs->seconds / ours, (theirs->gain - s.K).norm() / s.K.norm());
}

int study_speed(int n) {
  catena::test::RandomNumbers random(7);
  std::printf("BLAS: %s\n", lapack::blas_name().c_str());
  const MatrixXd one = MatrixXd::Identity(n, n);
  const StateSpace rotated = flexible_system(n, lapack::qr(random.matrix(n, n)).Q, random);
  const StateSpace mixed =
      flexible_system(n, one + 0.3 / std::sqrt(n) * random.matrix(n, n), random);
  const StateSpace dense = ss(random.stable(n, 1.0), random.matrix(n, 4), random.matrix(4, n));
  time_norm("modes, rotated", rotated);
  time_norm("modes, mixed", mixed);
  time_norm("dense random", dense);
  time_riccati("modes, rotated", rotated, rotated.C.transpose() * rotated.C);
  time_riccati("modes, mixed", mixed, mixed.C.transpose() * mixed.C);
  time_riccati("dense random, Q = 1", dense, one);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const int count = argc > 2 ? std::atoi(argv[2]) : 100;
  if (what == "hinf") return study_hinf(count, argc > 3 ? std::atof(argv[3]) : 0.01) > 0;
  if (what == "peers") return study_peers(count, argc > 3 ? std::atoi(argv[3]) : 100);
  if (what == "norms") return study_norms(count) > 0;
  if (what == "speed") return study_speed(count);
  std::printf("control_study hinf|peers|norms|speed count [tolerance|Octave's count]\n");
  return 2;
}
