// SPDX-License-Identifier: BSD-3-Clause
// Frequency response of a flexible structure, n = 500, 4 × 4, 1,000 points: ours (both routes),
// SLICOT's TB05AD if it is installed, and Octave's freqresp if it is (package octave-control).
// Times include the preparation (eigenvalues, Hessenberg form). All on one thread of the BLAS that
// is loaded.
//
//   frequency_response [states] [points]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>

#include "catena/linear/algebra.h"
#include "catena/linear/freqresp.h"
#include "catena/linear/lapack/lapack.h"

#ifdef CATENA_WITH_SLICOT
extern "C" void tb05ad_(const char* baleig, const char* inita, const int* n, const int* m,
                        const int* p, const std::complex<double>* freq, double* a, const int* lda,
                        double* b, const int* ldb, double* c, const int* ldc, double* rcond,
                        std::complex<double>* g, const int* ldg, double* evre, double* evim,
                        std::complex<double>* hinvb, const int* ldhinv, int* iwork, double* dwork,
                        const int* ldwork, std::complex<double>* zwork, const int* lzwork,
                        int* info, std::size_t, std::size_t);
#endif

namespace {

using catena::StateSpace;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;

constexpr int kSignals = 4;

// Modes from 0.1 to 1000 rad/s, damping 1 %, in mixed coordinates.
StateSpace structure(int n) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  const auto noise = [&](int rows, int cols) {
    return MatrixXd(MatrixXd::NullaryExpr(rows, cols, [&] { return normal(random); }));
  };
  MatrixXd a = MatrixXd::Zero(n, n);
  for (int i = 0; i + 1 < n; i += 2) {
    const double w = std::pow(10.0, -1.0 + 4.0 * i / n);
    a(i, i + 1) = w;
    a(i + 1, i) = -w;
    a(i + 1, i + 1) = -0.02 * w;
  }
  const MatrixXd mix = MatrixXd::Identity(n, n) + 0.3 / std::sqrt(n) * noise(n, n);
  return catena::similarity(catena::ss(a, noise(n, kSignals), noise(kSignals, n)), mix);
}

template <class Work>
double seconds(int repeats, const Work& work) {
  double best = 1e300;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

double difference(const MatrixXcd& a, const MatrixXcd& b) {
  double worst = 0.0;
  for (Eigen::Index k = 0; k < a.cols(); ++k)
    worst = std::max(worst, (a.col(k) - b.col(k)).norm() / b.col(k).norm());
  return worst;
}

#ifdef CATENA_WITH_SLICOT
MatrixXcd slicot(const StateSpace& g, const Eigen::VectorXd& omega) {
  const catena::lapack::OneThread one;
  const int n = g.order(), m = g.input_count(), p = g.output_count();
  const int work = n * n + 10 * n, complex_work = n * n + 2 * n;
  MatrixXd a = g.A, b = g.B, c = g.C;
  MatrixXcd values(p * m, omega.size()), response(p, m), hinvb(n, m);
  Eigen::VectorXd re(n), im(n), dwork(work);
  Eigen::VectorXcd zwork(complex_work);
  Eigen::VectorXi iwork(n);
  for (Eigen::Index k = 0; k < omega.size(); ++k) {
    const std::complex<double> s(0.0, omega[k]);
    double rcond = 0.0;
    int info = 0;
    tb05ad_("N", k == 0 ? "G" : "H", &n, &m, &p, &s, a.data(), &n, b.data(), &n, c.data(), &p,
            &rcond, response.data(), &p, re.data(), im.data(), hinvb.data(), &n, iwork.data(),
            dwork.data(), &work, zwork.data(), &complex_work, &info, 1, 1);
    if (info != 0) std::printf("TB05AD: info = %d\n", info);
    values.col(k) = Eigen::Map<Eigen::VectorXcd>(response.data(), response.size());
  }
  return values;
}
#endif

void write_matrix(const MatrixXd& a, const std::string& path) {
  std::ofstream(path) << a.format(Eigen::IOFormat(Eigen::FullPrecision, Eigen::DontAlignCols));
}

// Runs Octave in a process of its own; it prints the seconds of its freqresp.
void octave(const StateSpace& g, const Eigen::VectorXd& omega) {
  if (std::system("octave-cli --no-gui --eval \"pkg load control\" > /dev/null 2>&1") != 0) {
    std::puts("Octave with its control package is not installed");
    return;
  }
  char folder[] = "frequency_response_XXXXXX";
  if (!mkdtemp(folder)) return;
  const std::string at(folder);
  write_matrix(g.A, at + "/A");
  write_matrix(g.B, at + "/B");
  write_matrix(g.C, at + "/C");
  write_matrix(omega, at + "/w");
  const std::string script =
      "cd " + at +
      "; pkg load control; A=load('A'); B=load('B'); C=load('C'); w=load('w'); "
      "g=ss(A,B,C,zeros(4)); "
      "tic; freqresp(g,w); printf('Octave freqresp          %8.3f s\\n', toc)";
  if (std::system(
          ("OPENBLAS_NUM_THREADS=1 octave-cli --no-gui --eval \"" + script + "\"").c_str()) != 0)
    std::puts("Octave failed");
  if (std::system(("rm -r " + at).c_str()) != 0) std::printf("%s remains\n", folder);
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 500, points = argc > 2 ? std::atoi(argv[2]) : 1000;
  const StateSpace g = structure(n);
  const Eigen::VectorXd omega = catena::logspace(0.05, 2000.0, points);
  std::printf("BLAS: %s\n%d states, 4 x 4, %d points\n", catena::lapack::blas_name().c_str(), n,
              points);
  catena::FrequencyData modal, hessenberg;
  catena::ResponseCertificate certificate;
  const double t_modal = seconds(3, [&] { modal = catena::freqresp(g, omega, certificate); });
  const double t_hessenberg = seconds(2, [&] {
    hessenberg = catena::freqresp(g, omega, {.route = catena::ResponseRoute::hessenberg});
  });
  std::printf("ours, %-18s %8.3f s   condition %.3g, backward error %.3g\n",
              to_string(certificate.route), t_modal, certificate.condition,
              certificate.backward_error);
  std::printf("ours, hessenberg         %8.3f s   difference %.2g\n", t_hessenberg,
              difference(hessenberg.values, modal.values));
#ifdef CATENA_WITH_SLICOT
  MatrixXcd peer;
  const double t_slicot = seconds(2, [&] { peer = slicot(g, omega); });
  std::printf("SLICOT TB05AD            %8.3f s   difference %.2g, ours is %.1f times as fast\n",
              t_slicot, difference(modal.values, peer), t_slicot / t_modal);
#else
  std::puts("SLICOT is not installed (libslicot-dev)");
#endif
  octave(g, omega);
}
