// SPDX-License-Identifier: BSD-3-Clause
// IPOPT on a transcription. This is the only file that includes IPOPT.
#include <algorithm>
#include <cmath>

#include <IpIpoptApplication.hpp>
#include <IpIpoptCalculatedQuantities.hpp>
#include <IpIpoptData.hpp>
#include <IpTNLP.hpp>

#include "catena/base/error.h"
#include "catena/optimal/attempt.h"

namespace catena {
using Eigen::VectorXd;

namespace {

constexpr double kIpoptInfinity = 2e19;  // beyond this IPOPT has no bound

class Program final : public Ipopt::TNLP {
 public:
  Program(Attempt& attempt, const VectorXd& from, bool gauss_newton)
      : a_(attempt), p_(attempt.problem), from_(from), gauss_newton_(gauss_newton) {}

  bool get_nlp_info(Ipopt::Index& n, Ipopt::Index& m, Ipopt::Index& jacobian, Ipopt::Index& hessian,
                    IndexStyleEnum& style) override {
    n = p_.variables();
    m = p_.constraints();
    jacobian = n * m;
    hessian = n * (n + 1) / 2;
    style = C_STYLE;
    return true;
  }
  bool get_bounds_info(Ipopt::Index n, double* lower, double* upper, Ipopt::Index m,
                       double* row_lower, double* row_upper) override {
    const auto copy = [](const VectorXd& v, Ipopt::Index size, double* to) {
      for (Ipopt::Index i = 0; i < size; ++i)
        to[i] = std::clamp(v[i], -kIpoptInfinity, kIpoptInfinity);
    };
    copy(p_.lower(), n, lower);
    copy(p_.upper(), n, upper);
    copy(p_.constraint_lower(), m, row_lower);
    copy(p_.constraint_upper(), m, row_upper);
    return true;
  }
  bool get_starting_point(Ipopt::Index n, bool, double* x, bool, double*, double*, Ipopt::Index,
                          bool, double*) override {
    std::copy_n(from_.data(), n, x);
    return true;
  }
  bool eval_f(Ipopt::Index n, const double* x, bool, double& cost) override {
    if (!values(n, x)) return false;
    cost = value_.cost;
    return true;
  }
  bool eval_g(Ipopt::Index n, const double* x, bool, Ipopt::Index m, double* c) override {
    if (!values(n, x)) return false;
    std::copy_n(value_.constraints.data(), m, c);
    return true;
  }
  bool eval_grad_f(Ipopt::Index n, const double* x, bool, double* g) override {
    if (!derivatives(n, x)) return false;
    std::copy_n(slope_.gradient.data(), n, g);
    return true;
  }
  bool eval_jac_g(Ipopt::Index n, const double* x, bool, Ipopt::Index m, Ipopt::Index,
                  Ipopt::Index* row, Ipopt::Index* column, double* entries) override {
    if (entries == nullptr) {
      for (Ipopt::Index i = 0; i < m; ++i)
        for (Ipopt::Index j = 0; j < n; ++j) {
          row[i * n + j] = i;
          column[i * n + j] = j;
        }
      return true;
    }
    if (!derivatives(n, x)) return false;
    for (Ipopt::Index i = 0; i < m; ++i)
      for (Ipopt::Index j = 0; j < n; ++j) entries[i * n + j] = slope_.jacobian(i, j);
    return true;
  }
  bool eval_h(Ipopt::Index n, const double* x, bool, double factor, Ipopt::Index, const double*,
              bool, Ipopt::Index, Ipopt::Index* row, Ipopt::Index* column,
              double* entries) override {
    if (!gauss_newton_) return false;
    if (entries != nullptr && !derivatives(n, x)) return false;
    Ipopt::Index k = 0;
    for (Ipopt::Index i = 0; i < n; ++i)
      for (Ipopt::Index j = 0; j <= i; ++j, ++k) {
        if (entries == nullptr) {
          row[k] = i;
          column[k] = j;
        } else {
          entries[k] = factor * slope_.hessian(i, j);
        }
      }
    return true;
  }
  bool intermediate_callback(Ipopt::AlgorithmMode, Ipopt::Index iteration, double cost,
                             double violation, double dual, double, double step, double, double,
                             double, Ipopt::Index, const Ipopt::IpoptData*,
                             Ipopt::IpoptCalculatedQuantities*) override {
    a_.iterations = iteration;
    a_.stationarity = dual;
    if (a_.late()) {
      stop_ = SolverEnd::time;
      return false;
    }
    if (a_.settings.progress &&
        !a_.settings.progress({a_.start, iteration, cost, violation, dual, step, a_.evaluations})) {
      stop_ = SolverEnd::stopped;
      return false;
    }
    return true;
  }
  void finalize_solution(Ipopt::SolverReturn, Ipopt::Index n, const double* x, const double*,
                         const double*, Ipopt::Index, const double*, const double*, double,
                         const Ipopt::IpoptData*, Ipopt::IpoptCalculatedQuantities*) override {
    if (values(n, x)) last_ = value_at_;
  }
  // The final point of IPOPT replaces the cheapest feasible one.
  void keep_last() {
    if (last_.size() == 0 || !values(static_cast<Ipopt::Index>(last_.size()), last_.data())) return;
    const double violation = p_.violation(last_, value_.constraints);
    if (violation > a_.settings.feasibility) return;
    a_.best = last_;
    a_.best_cost = value_.cost;
    a_.best_violation = violation;
  }

  SolverEnd stop() const { return stop_; }

 private:
  bool values(Ipopt::Index n, const double* x) {
    const Eigen::Map<const VectorXd> at(x, n);
    if (value_at_.size() == n && value_at_ == at) return value_good_;
    value_at_ = at;
    ++a_.evaluations;
    value_good_ = p_.evaluate(value_at_, Transcription::Want::values, value_);
    if (value_good_) a_.offer(value_at_, value_.cost, p_.violation(value_at_, value_.constraints));
    return value_good_;
  }
  bool derivatives(Ipopt::Index n, const double* x) {
    const Eigen::Map<const VectorXd> at(x, n);
    if (slope_at_.size() == n && slope_at_ == at) return slope_good_;
    slope_at_ = at;
    ++a_.evaluations;
    slope_good_ = p_.evaluate(slope_at_, Transcription::Want::derivatives, slope_);
    return slope_good_;
  }

  Attempt& a_;
  Transcription& p_;
  const VectorXd& from_;
  bool gauss_newton_;
  SolverEnd stop_ = SolverEnd::converged;
  ProgramValues value_, slope_;
  VectorXd value_at_, slope_at_, last_;
  bool value_good_ = false, slope_good_ = false;
};

}  // namespace

void ipopt(Attempt& a, const VectorXd& from) {
  const bool gauss_newton =
      a.settings.hessian == HessianModel::gauss_newton ||
      (a.settings.hessian == HessianModel::automatic &&
       a.problem.constraints() == 0);  // it ignores the curvature of constraints
  Ipopt::SmartPtr<Ipopt::IpoptApplication> application = new Ipopt::IpoptApplication(false);
  const auto options = application->Options();
  options->SetIntegerValue("print_level", 0);
  options->SetStringValue("sb", "yes");
  options->SetStringValue("linear_solver", "mumps");
  options->SetNumericValue("tol", a.settings.tolerance);
  options->SetNumericValue("constr_viol_tol", a.settings.feasibility);
  options->SetNumericValue("acceptable_tol", 1e3 * a.settings.tolerance);
  options->SetNumericValue("bound_relax_factor", 0.0);
  options->SetIntegerValue("max_iter", a.settings.iterations);
  options->SetStringValue("mu_strategy", "adaptive");
  options->SetStringValue("hessian_approximation", gauss_newton ? "exact" : "limited-memory");
  options->SetStringValue("nlp_scaling_method", "gradient-based");
  // Exceptions of a user's cost or hinge are rethrown.
  application->RethrowNonIpoptException(true);
  if (application->Initialize() != Ipopt::Solve_Succeeded)
    throw Error("IPOPT could not be started");
  Ipopt::SmartPtr<Program> program = new Program(a, from, gauss_newton);
  const Ipopt::ApplicationReturnStatus status =
      application->OptimizeTNLP(Ipopt::SmartPtr<Ipopt::TNLP>(GetRawPtr(program)));
  if (status == Ipopt::Solve_Succeeded) program->keep_last();
  switch (status) {
    case Ipopt::Solve_Succeeded:
      a.end = SolverEnd::converged;
      a.message = "converged: the conditions of an optimum hold";
      break;
    case Ipopt::Solved_To_Acceptable_Level:
      a.end = SolverEnd::converged;
      a.message = "converged to a looser tolerance; the last digits no longer improve";
      break;
    case Ipopt::Infeasible_Problem_Detected:
      a.end = SolverEnd::infeasible;
      a.message = "infeasible: no motion was found that satisfies all bounds and conditions";
      break;
    case Ipopt::Maximum_Iterations_Exceeded:
      a.end = SolverEnd::iterations;
      a.message =
          "the limit of iterations was reached before an optimum; allow more, or improve the guess";
      break;
    case Ipopt::User_Requested_Stop:
      a.end = program->stop();
      a.message = a.end == SolverEnd::time ? "the time limit was reached before an optimum"
                                           : "stopped on request";
      break;
    case Ipopt::Search_Direction_Becomes_Too_Small:
    case Ipopt::Restoration_Failed:
    case Ipopt::Error_In_Step_Computation:
    case Ipopt::Diverging_Iterates:
      a.end = SolverEnd::stuck;
      a.message = "stuck: no step improves the motion any further";
      break;
    case Ipopt::Invalid_Number_Detected:
      a.end = SolverEnd::failed;
      a.message = "no motion can be computed from the start: " + a.problem.failure();
      break;
    case Ipopt::Not_Enough_Degrees_Of_Freedom:
      a.end = SolverEnd::infeasible;
      a.message =
          "there are more conditions than free coefficients; give the controls more coefficients";
      break;
    default:
      a.end = SolverEnd::failed;
      a.message = "the solver failed (IPOPT status " + std::to_string(status) + ")";
  }
}

}  // namespace catena
