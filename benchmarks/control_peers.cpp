// SPDX-License-Identifier: BSD-3-Clause
#include "control_peers.h"

#include <complex>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "catena/linear/lapack/lapack.h"

#ifdef CATENA_WITH_SLICOT
extern "C" {
void ab13dd_(const char* dico, const char* jobe, const char* equil, const char* jobd, const int* n,
             const int* m, const int* p, double* fpeak, const double* a, const int* lda,
             const double* e, const int* lde, const double* b, const int* ldb, const double* c,
             const int* ldc, const double* d, const int* ldd, double* gpeak, const double* tol,
             int* iwork, double* dwork, const int* ldwork, std::complex<double>* cwork,
             const int* lcwork, int* info, std::size_t, std::size_t, std::size_t, std::size_t);
void sb10ad_(const int* job, const int* n, const int* m, const int* np, const int* ncon,
             const int* nmeas, double* gamma, const double* a, const int* lda, const double* b,
             const int* ldb, const double* c, const int* ldc, const double* d, const int* ldd,
             double* ak, const int* ldak, double* bk, const int* ldbk, double* ck, const int* ldck,
             double* dk, const int* lddk, double* ac, const int* ldac, double* bc, const int* ldbc,
             double* cc, const int* ldcc, double* dc, const int* lddc, double* rcond,
             const double* gtol, const double* actol, int* iwork, const int* liwork, double* dwork,
             const int* ldwork, int* bwork, const int* lbwork, int* info);
}
#endif

namespace catena::peers {
namespace {

using Eigen::MatrixXd;
namespace fs = std::filesystem;

#ifdef CATENA_WITH_SLICOT
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
#endif

// Matrices as plain doubles, column after column.
void write(std::ofstream& file, const MatrixXd& a) {
  file.write(reinterpret_cast<const char*>(a.data()),
             static_cast<std::streamsize>(a.size()) * static_cast<std::streamsize>(sizeof(double)));
}

void write(std::ofstream& file, std::initializer_list<Eigen::Index> numbers) {
  for (const Eigen::Index n : numbers) write(file, MatrixXd::Constant(1, 1, double(n)));
}

MatrixXd read(std::ifstream& file, Eigen::Index rows, Eigen::Index cols) {
  MatrixXd a(rows, cols);
  file.read(reinterpret_cast<char*>(a.data()),
            static_cast<std::streamsize>(a.size()) * static_cast<std::streamsize>(sizeof(double)));
  return a;
}

bool run_octave(const std::string& script) {
  const std::string program =
      "OPENBLAS_NUM_THREADS=1 octave-cli --no-gui --no-init-file --eval \"pkg load control; "
      "warning('off', 'all'); " +
      script + "\" > /dev/null 2>&1";
  return std::system(program.c_str()) == 0;
}

bool have_octave() { return run_octave(""); }

// Two files that disappear with it.
struct Exchange {
  fs::path in, out;
  Exchange() {
    const std::string stem =
        "control_peers_" + std::to_string(std::clock()) + "_" + std::to_string(std::time(nullptr));
    in = fs::temp_directory_path() / (stem + ".in");
    out = fs::temp_directory_path() / (stem + ".out");
  }
  ~Exchange() {
    std::error_code ignored;
    fs::remove(in, ignored);
    fs::remove(out, ignored);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  std::string opened() const {
    return "f = fopen('" + in.string() + "'); o = fopen('" + out.string() +
           "', 'w'); r = @(m, n) fread(f, [m n], 'double'); w = @(x) fwrite(o, x, 'double'); ";
  }
};

}  // namespace

#ifdef CATENA_WITH_SLICOT
std::optional<Peak> ab13dd(const StateSpace& g, double tolerance) {
  const lapack::OneThread one;
  MatrixXd a = g.A, b = g.B, c = g.C, d = g.D, e(1, 1);
  double fpeak[2] = {0, 1}, gpeak[2] = {0, 1};
  const int n = static_cast<int>(g.order()), m = static_cast<int>(g.input_count()),
            p = static_cast<int>(g.output_count()), one_i = 1;
  const int ldwork = 20 * n * n + 200 * (n + m + p), lcwork = 2 * (n + m) * (n + p + 4) + 100;
  std::vector<int> iwork(static_cast<std::size_t>(2 * n + 100));
  std::vector<double> dwork(static_cast<std::size_t>(ldwork));
  std::vector<std::complex<double>> cwork(static_cast<std::size_t>(lcwork));
  int info = 0;
  const double start = cpu_seconds();
  ab13dd_("C", "I", "N", "Z", &n, &m, &p, fpeak, a.data(), &n, e.data(), &one_i, b.data(), &n,
          c.data(), &p, d.data(), &p, gpeak, &tolerance, iwork.data(), dwork.data(), &ldwork,
          cwork.data(), &lcwork, &info, 1, 1, 1, 1);
  return Peak{gpeak[0] / gpeak[1], fpeak[0] / fpeak[1], cpu_seconds() - start};
}

std::optional<Design> sb10ad(const GeneralizedPlant& plant, double gamma) {
  const lapack::OneThread one;
  const StateSpace& g = plant.system;
  const int n = static_cast<int>(g.order()), m = static_cast<int>(g.input_count()),
            np = static_cast<int>(g.output_count()), ncon = static_cast<int>(plant.controls),
            nmeas = static_cast<int>(plant.measurements), job = 3;
  const int m1 = m - ncon, p1 = np - nmeas, n2 = 2 * n, zero_ok = std::max(1, n2);
  MatrixXd a = g.A, b = g.B, c = g.C, d = g.D;
  MatrixXd ak(n, n), bk(n, nmeas), ck(ncon, n), dk(ncon, nmeas), ac(n2, n2), bc(n2, m1), cc(p1, n2),
      dc(p1, m1);
  const int liwork = std::max(2 * (n + m + np), n * n) + 10, ldwork = 400000 + 200 * n * n;
  const int lbwork = 2 * n + 10;
  std::vector<int> iwork(static_cast<std::size_t>(liwork)), bwork(static_cast<std::size_t>(lbwork));
  std::vector<double> dwork(static_cast<std::size_t>(ldwork));
  double rcond[4] = {};
  const double gtol = 1e-3, actol = 0.0;
  int info = 0;
  const double start = cpu_seconds();
  sb10ad_(&job, &n, &m, &np, &ncon, &nmeas, &gamma, a.data(), &n, b.data(), &n, c.data(), &np,
          d.data(), &np, ak.data(), &n, bk.data(), &n, ck.data(), &ncon, dk.data(), &ncon,
          ac.data(), &zero_ok, bc.data(), &zero_ok, cc.data(), &p1, dc.data(), &p1, rcond, &gtol,
          &actol, iwork.data(), &liwork, dwork.data(), &ldwork, bwork.data(), &lbwork, &info);
  Design design;
  design.seconds = cpu_seconds() - start;
  design.gamma = gamma;
  design.found = info == 0 && ak.allFinite() && bk.allFinite() && ck.allFinite();
  if (design.found) design.controller = ss(ak, bk, ck, dk);
  return design;
}
#else
std::optional<Peak> ab13dd(const StateSpace&, double) { return std::nullopt; }
std::optional<Design> sb10ad(const GeneralizedPlant&, double) { return std::nullopt; }
#endif

std::vector<Design> octave_hinfsyn(const std::vector<GeneralizedPlant>& plants) {
  if (!have_octave()) return {};
  const Exchange files;
  {
    std::ofstream in(files.in, std::ios::binary);
    for (const GeneralizedPlant& plant : plants) {
      const StateSpace& g = plant.system;
      write(in, {g.order(), g.input_count(), g.output_count(), plant.measurements, plant.controls});
      write(in, g.A), write(in, g.B), write(in, g.C), write(in, g.D);
    }
  }
  // -1 instead of an order where hinfsyn failed.
  const std::string script =
      files.opened() + "for k = 1:" + std::to_string(plants.size()) +
      ", h = r(5, 1); A = r(h(1), h(1)); B = r(h(1), h(2)); C = r(h(3), h(1)); D = r(h(3), h(2)); "
      "t = cputime; try, [K, N, i] = hinfsyn(ss(A, B, C, D), h(4), h(5)); t = cputime - t; "
      "if isstruct(i), i = i.gamma; end; [a, b, c, d] = ssdata(K); "
      "w([rows(a); i; t]); w(a); w(b); w(c); w(d); "
      "catch, w([-1; 0; 0]); end; end; fclose(o);";
  if (!run_octave(script)) return {};
  std::ifstream out(files.out, std::ios::binary);
  std::vector<Design> designs;
  for (const GeneralizedPlant& plant : plants) {
    const MatrixXd head = read(out, 3, 1);
    if (!out) return {};
    Design design;
    const auto n = static_cast<Eigen::Index>(head(0));
    design.gamma = head(1), design.seconds = head(2);
    design.found = n >= 0;
    if (n >= 0) {
      const MatrixXd a = read(out, n, n), b = read(out, n, plant.measurements),
                     c = read(out, plant.controls, n),
                     d = read(out, plant.controls, plant.measurements);
      design.controller = ss(a, b, c, d);
    }
    designs.push_back(design);
  }
  return designs;
}

std::optional<Regulator> octave_lqr(const MatrixXd& a, const MatrixXd& b, const MatrixXd& q) {
  if (!have_octave()) return std::nullopt;
  const Exchange files;
  {
    std::ofstream in(files.in, std::ios::binary);
    write(in, a), write(in, b), write(in, q);
  }
  const std::string n = std::to_string(a.rows()), m = std::to_string(b.cols());
  const std::string script = files.opened() + "A = r(" + n + ", " + n + "); B = r(" + n + ", " + m +
                             "); Q = r(" + n + ", " + n +
                             "); t = cputime; [K, X] = lqr(A, B, Q, eye(" + m +
                             ")); w(cputime - t); w(K); w(X); fclose(o);";
  if (!run_octave(script)) return std::nullopt;
  std::ifstream out(files.out, std::ios::binary);
  Regulator result;
  result.seconds = read(out, 1, 1)(0);
  result.gain = read(out, b.cols(), a.rows());
  result.solution = read(out, a.rows(), a.rows());
  if (!out) return std::nullopt;
  return result;
}

}  // namespace catena::peers
