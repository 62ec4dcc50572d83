// SPDX-License-Identifier: BSD-3-Clause
// Reduction of a lattice boom of 50,000 freedoms, four inputs and four outputs, and the error of
// the result at 200 fresh frequencies of the band.
//
//   boom_study [bays] [side] [order] [method]    default: 667 5 60 modal
//
// CPU time on one thread; memory is the peak of the process.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include <sys/resource.h>

#include "catena/base/error.h"
#include "catena/control/sparse/structure_reduction.h"
#include "catena/control/testing/random_systems.h"
#include "catena/linear/lapack/lapack.h"
#include "catena/linear/testing/lattice_boom.h"

namespace {

using namespace catena;
using Eigen::MatrixXcd;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

MatrixXcd response(const StateSpace& g, double w) {
  MatrixXcd a = -g.A.cast<std::complex<double>>();
  a.diagonal().array() += std::complex<double>(0.0, w);
  return g.C * lapack::solve(a, MatrixXcd(g.B.cast<std::complex<double>>())) + g.D;
}

int study(int bays, int side, int order, StructureMethod method) {
  const lapack::OneThread one;
  const SecondOrder boom = catena::test::lattice_boom({.bays = bays, .side = side});
  std::printf("boom of %d bays, %d x %d nodes a section: %d freedoms, %d inputs, %d outputs\n",
              bays, side, side, boom.freedom_count(), boom.input_count(), boom.output_count());
  double start = cpu_seconds();
  const StructureReduction r = reduce(boom, {.method = method, .order = order});
  const double time = cpu_seconds() - start;
  std::printf("reduced to %d states in %.1f s; band to %.4g rad/s, %d modes\n", r.system.order(),
              time, r.highest, r.modes_in_band);
  std::printf(
      "relative error %.3g at %.4g rad/s (%zu samples), estimated between samples %.3g; "
      "robust frequency %.4g rad/s\n",
      r.error.relative, r.error.frequency, r.error.samples.size(), r.error.between,
      r.robust_frequency);
  std::fflush(stdout);
  constexpr int kFresh = 200;
  catena::test::RandomNumbers random(2026);
  std::vector<double> omega(kFresh);
  for (double& w : omega) w = r.highest * random.uniform();
  start = cpu_seconds();
  const std::vector<MatrixXcd> full = structure_response(boom, omega);
  double worst = 0.0, at = 0.0;
  for (std::size_t i = 0; i < omega.size(); ++i) {
    const double error =
        lapack::norm2(MatrixXcd(response(r.system, omega[i]) - full[i])) / lapack::norm2(full[i]);
    if (error > worst) worst = error, at = omega[i];
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "%d fresh frequencies: relative error at most %.3g, at %.4g rad/s (%.1f s); memory "
      "%.0f MB\n",
      kFresh, worst, at, cpu_seconds() - start, static_cast<double>(usage.ru_maxrss) / 1024.0);
  return worst > 1e-3;
}

}  // namespace

int main(int argc, char** argv) {
  const auto integer = [&](int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
  };
  const std::string name = argc > 4 ? argv[4] : "modal";
  const StructureMethod method = name == "balanced"        ? StructureMethod::balanced
                                 : name == "interpolation" ? StructureMethod::interpolation
                                                           : StructureMethod::modal;
  try {
    return study(integer(1, 667), integer(2, 5), integer(3, 60), method);
  } catch (const Error& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
}
