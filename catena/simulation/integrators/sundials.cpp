// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/integrators/sundials.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <utility>
#include <vector>

#include <arkode/arkode_butcher_erk.h>
#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/simulation/integrators/dop853.h"
#include "catena/simulation/tolerances.h"

namespace catena {
namespace {

// ARKODE by itself gives up a step after seven attempts. It makes its second one up to 10,000 times
// as long as the first, so that it may need more to come down to where friction turns.
constexpr int kMostAttempts = 30;
// After a step where a rate could not be computed, ARKODE's next one is at most so much longer.
constexpr double kFirstGrowth = 20.0;

// Common part of CVODE and ARKODE: vectors, weights, and exceptions that must pass through C.
class Sundials : public Integrator {
 public:
  Sundials(const Sundials&) = delete;
  Sundials& operator=(const Sundials&) = delete;
  ~Sundials() override {
    N_VDestroy(vector_);
    N_VDestroy(wanted_);
    SUNContext_Free(&context_);
  }

 protected:
  Sundials(Ode& ode, const IntegratorSettings& settings) : Integrator(ode), settings_(settings) {
    if (SUNContext_Create(nullptr, &context_) != 0) throw Error("SUNDIALS cannot be started");
    y_ = y_previous_ = y_in_ = dy_ = Eigen::VectorXd::Zero(ode.size());
    vector_ = N_VMake_Serial(ode.size(), y_.data(), context_);
    wanted_ = N_VMake_Serial(ode.size(), y_.data(), context_);
  }

  static int rate_of(double t, N_Vector y, N_Vector dy, void* self) {
    return static_cast<Sundials*>(self)->compute_rate(t, y, dy);
  }
  static int weights_of(N_Vector y, N_Vector weights, void* self) {
    Sundials& s = *static_cast<Sundials*>(self);
    double* to = N_VGetArrayPointer(weights);
    s.weighed_ = Eigen::Map<const Eigen::VectorXd>(N_VGetArrayPointer(y), s.ode_.size());
    s.ode_.measure(s.weighed_, s.size_);
    for (int i = 0; i < s.ode_.size(); ++i)
      to[i] =
          i < s.ode_.controlled()
              ? 1.0 / (s.settings_.relative_tolerance * s.size_[i] + s.settings_.absolute_tolerance)
              : kUncontrolledWeight;
    return 0;
  }

  // CVODE needs the correction; the estimate of the error is optional and stays.
  static int correction_of(double t, N_Vector y, N_Vector correction, double /*tolerance*/,
                           N_Vector /*error*/, void* self) {
    return static_cast<Sundials*>(self)->compute_projection(t, y, correction, true);
  }

  static int projection_of(double t, N_Vector y, void* self) {
    return static_cast<Sundials*>(self)->compute_projection(t, y, y, false);
  }

  // Positive: SUNDIALS may try a smaller step; negative: it must give up.
  int compute_rate(double t, N_Vector y, N_Vector dy) {
    y_in_ = Eigen::Map<const Eigen::VectorXd>(N_VGetArrayPointer(y), y_in_.size());
    try {
      rate(t, y_in_, dy_);
    } catch (const NumericalError& e) {
      failure_ = e.what();
      return 1;
    } catch (...) {
      pending_ = std::current_exception();
      return -1;
    }
    Eigen::Map<Eigen::VectorXd>(N_VGetArrayPointer(dy), dy_.size()) = dy_;
    return 0;
  }

  // y moved onto the constraints of the equations, or the correction to it.
  int compute_projection(double t, N_Vector y, N_Vector to, bool difference) {
    const Eigen::Map<const Eigen::VectorXd> from(N_VGetArrayPointer(y), y_in_.size());
    y_in_ = from;
    try {
      ode_.project(t, y_in_);
    } catch (const NumericalError& e) {
      failure_ = e.what();
      return 1;
    } catch (...) {
      pending_ = std::current_exception();
      return -1;
    }
    if (difference) y_in_ -= from;
    Eigen::Map<Eigen::VectorXd>(N_VGetArrayPointer(to), y_in_.size()) = y_in_;
    return 0;
  }

  // After a call that moves on to t. SUNDIALS itself would make steps too small to move on for
  // ever.
  void check_step(int flag, double t, double limit, const char* name) {
    if (pending_) std::rethrow_exception(std::exchange(pending_, nullptr));
    const bool moved = t == limit || t - t_ > kShortestStep * std::abs(t);
    if (flag >= 0 && moved) return;
    throw StepCollapse(t_, last_step(), -1,
                       failure_.empty() ? std::string(name) + " cannot go on" : failure_);
  }
  void check_call(int flag, const char* what) {
    if (pending_) std::rethrow_exception(std::exchange(pending_, nullptr));
    if (flag < 0)
      throw NumericalError(std::string(what) + " fails with code " + std::to_string(flag) +
                           (failure_.empty() ? "" : ": " + failure_));
  }
  virtual double last_step() const = 0;

  IntegratorSettings settings_;
  SUNContext context_ = nullptr;
  N_Vector vector_ = nullptr;  // y_
  N_Vector wanted_ = nullptr;  // where interpolate_inside() puts its result
  Eigen::VectorXd y_in_;
  Eigen::VectorXd weighed_, size_;
  Eigen::VectorXd dy_;
  std::string failure_;
  std::exception_ptr pending_;
};

// CVODE starts with orders 1, 2, 3..., each right to the tolerance and no more. Near a stop that is
// not enough: a bounce that rises less than the tolerance of its position would come back with any
// speed, and bounces that accumulate would not end. So the first step after every start is one of
// dop853, which follows a short motion far below its tolerance.
class Cvode final : public Sundials {
 public:
  Cvode(Ode& ode, const IntegratorSettings& settings, bool projects)
      : Sundials(ode, settings), projects_(projects), starter_(ode, settings) {}
  ~Cvode() override {
    if (memory_ != nullptr) CVodeFree(&memory_);
    if (nonlinear_ != nullptr) SUNNonlinSolFree(nonlinear_);
    if (linear_ != nullptr) SUNLinSolFree(linear_);
    if (matrix_ != nullptr) SUNMatDestroy(matrix_);
  }

  double proposed_step() const override {
    return start_wanted_ || starting_ ? std::numeric_limits<double>::infinity() : last_step();
  }
  void interpolate_inside(double t, Eigen::VectorXd& y) override {
    if (t == t_ || t_ == t_previous_) {
      y = y_;
      return;
    }
    if (starting_) {
      starter_.interpolate(t, y, rates_);
      count_starter();
      return;
    }
    y.resize(y_.size());
    N_VSetArrayPointer(y.data(), wanted_);
    check_call(CVodeGetDky(memory_, t, 0, wanted_), "CVODE's dense output");
    // The polynomial of a low order misses where the step began, by its error; moved there it is
    // continuous, so that a freedom that has just left a limit is not found beyond it.
    if (missed_.size() == 0) {
      missed_.resize(y_.size());
      N_VSetArrayPointer(missed_.data(), wanted_);
      check_call(CVodeGetDky(memory_, t_previous_, 0, wanted_), "CVODE's dense output");
      missed_ = y_previous_ - missed_;
    }
    y += (t_ - t) / (t_ - t_previous_) * missed_;
  }

 private:
  void begin() override {
    starting_ = false;
    start_wanted_ = true;
  }

  // False: CVODE has to begin by itself.
  bool start_by_one_step(double limit) {
    starting_ = false;
    try {
      starter_.restart(t_, y_);
      starter_.step(limit);
      starting_ = true;
      t_ = starter_.time();
      y_ = starter_.state();
    } catch (const StepCollapse&) {
    }
    count_starter();
    return starting_;
  }
  void count_starter() {
    statistics_.evaluations += starter_.statistics().evaluations;
    statistics_.rejected += starter_.statistics().rejected;
    starter_.set_statistics({});
  }

  void begin_cvode() {
    N_VSetArrayPointer(y_.data(), vector_);
    if (memory_ != nullptr) {
      check_call(CVodeReInit(memory_, t_, vector_), "CVODE's restart");
      rejected_before_ = 0;
      return;
    }
    const bool stiff = settings_.method == Method::bdf;
    memory_ = CVodeCreate(stiff ? CV_BDF : CV_ADAMS, context_);
    if (memory_ == nullptr) throw Error("CVODE cannot be started");
    check_call(CVodeInit(memory_, rate_of, t_, vector_), "CVODE's start");
    CVodeSetErrHandlerFn(memory_, silent, nullptr);
    CVodeSetUserData(memory_, static_cast<Sundials*>(this));
    CVodeWFtolerances(memory_, weights_of);
    CVodeSetMaxNumSteps(memory_, kNoLimitOfSteps);
    if (std::isfinite(settings_.maximum_step)) CVodeSetMaxStep(memory_, settings_.maximum_step);
    if (projects_) {
      check_call(CVodeSetProjFn(memory_, correction_of), "CVODE's projection");
      CVodeSetProjErrEst(memory_, SUNFALSE);
    }
    if (stiff) {
      const sunindextype n = ode_.size();
      matrix_ = SUNDenseMatrix(n, n, context_);
      linear_ = SUNLinSol_Dense(vector_, matrix_, context_);
      check_call(CVodeSetLinearSolver(memory_, linear_, matrix_), "CVODE's linear solver");
    } else {
      nonlinear_ = SUNNonlinSol_FixedPoint(vector_, 0, context_);
      check_call(CVodeSetNonlinearSolver(memory_, nonlinear_), "CVODE's iteration");
    }
  }

  void advance(double limit) override {
    missed_.resize(0);
    failure_.clear();
    t_previous_ = t_;
    y_previous_ = y_;
    if (start_wanted_) {
      start_wanted_ = false;
      if (start_by_one_step(limit)) return;
      begin_cvode();
    } else if (starting_) {
      starting_ = false;
      begin_cvode();
    }
    N_VSetArrayPointer(y_.data(), vector_);
    CVodeSetStopTime(memory_, limit);
    double t = t_;
    const int flag = CVode(memory_, limit, vector_, &t, CV_ONE_STEP);
    check_step(flag, t, limit, "CVODE");
    t_ = t;
    long error_failures = 0, iteration_failures = 0;
    CVodeGetNumErrTestFails(memory_, &error_failures);
    CVodeGetNumNonlinSolvConvFails(memory_, &iteration_failures);
    statistics_.rejected += error_failures + iteration_failures - rejected_before_;
    rejected_before_ = error_failures + iteration_failures;
  }

  double last_step() const override {
    double h = 0.0;
    CVodeGetCurrentStep(memory_, &h);
    return h;
  }

  bool projects_;
  Dop853 starter_;
  bool start_wanted_ = true;  // by the starter
  bool starting_ = false;     // the last step was the starter's
  Eigen::VectorXd missed_;    // by the dense output of this step, where it began; empty: not known
  void* memory_ = nullptr;
  SUNMatrix matrix_ = nullptr;
  SUNLinearSolver linear_ = nullptr;
  SUNNonlinearSolver nonlinear_ = nullptr;
  long rejected_before_ = 0;
};

// Dense output of our own: ARKODE's is a quintic, poor over the long steps of order 8. Shorter
// steps of the same method from the same start are as good as the whole one; two of them, and the
// rates there and at both ends, make a polynomial of degree 7.
class Arkode final : public Sundials {
 public:
  Arkode(Ode& ode, const IntegratorSettings& settings, bool projects)
      : Sundials(ode, settings),
        projects_(projects),
        table_(ARKodeButcherTable_LoadERK(ARKODE_FEHLBERG_13_7_8)) {
    if (table_ == nullptr) throw Error("ARKODE's table cannot be loaded");
    stages_.assign(to_size(table_->stages), Eigen::VectorXd::Zero(ode.size()));
  }
  ~Arkode() override {
    if (memory_ != nullptr) ERKStepFree(&memory_);
    ARKodeButcherTable_Free(table_);
  }

  double proposed_step() const override { return last_step(); }
  void interpolate_inside(double t, Eigen::VectorXd& y) override {
    if (t == t_ || t_ == t_previous_) {
      y = y_;
      return;
    }
    if (!dense_ready_) prepare_dense_output();
    const double x = (t - t_previous_) / (t_ - t_previous_);
    y = dense_.back();
    for (std::size_t k = dense_.size() - 1; k-- > 0;) y = dense_[k] + (x - kNode[k / 2]) * y;
  }

 private:
  static constexpr std::array<double, 4> kNode = {0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0};

  // A step of length h from the start of the last one, whose rate is in stages_[0].
  void short_step(double h, Eigen::VectorXd& y) {
    for (int s = 1; s <= table_->stages; ++s) {
      const double* const row = s < table_->stages ? table_->A[s] : table_->b;
      y = y_previous_;
      for (int k = 0; k < s; ++k)
        if (row[k] != 0.0) y += (h * row[k]) * stages_[index(k)];
      if (s < table_->stages) rate(t_previous_ + table_->c[s] * h, y, stages_[index(s)]);
    }
  }

  // Newton's divided differences, every place of kNode twice: with the rate there.
  void prepare_dense_output() {
    const double h = t_ - t_previous_;
    for (Eigen::VectorXd& row : dense_) row.resize(y_.size());
    rate(t_previous_, y_previous_, stages_[0]);
    dense_[0] = y_previous_;
    dense_[1] = stages_[0];
    for (std::size_t n = 1; n < 3; ++n) short_step(kNode[n] * h, dense_[2 * n]);
    dense_[6] = y_;
    for (std::size_t n = 1; n < kNode.size(); ++n)
      rate(t_previous_ + kNode[n] * h, dense_[2 * n], dense_[2 * n + 1]);
    for (std::size_t n = kNode.size() - 1; n > 0; --n) {
      dense_[2 * n + 1] *= h;
      dense_[2 * n] = (dense_[2 * n] - dense_[2 * n - 2]) / (kNode[n] - kNode[n - 1]);
    }
    dense_[1] *= h;
    for (std::size_t order = 2; order < dense_.size(); ++order)
      for (std::size_t k = dense_.size() - 1; k >= order; --k)
        dense_[k] = (dense_[k] - dense_[k - 1]) / (kNode[k / 2] - kNode[(k - order) / 2]);
    dense_ready_ = true;
  }

  void begin() override {
    N_VSetArrayPointer(y_.data(), vector_);
    rejected_before_ = 0;
    if (memory_ != nullptr) {
      check_call(ERKStepReInit(memory_, rate_of, t_, vector_), "ARKODE's restart");
      ERKStepSetInitStep(memory_, 0.0);  // ARKODE's own choice
      ERKStepSetMaxFirstGrowth(memory_, 0.0);
      return;
    }
    memory_ = ERKStepCreate(rate_of, t_, vector_, context_);
    if (memory_ == nullptr) throw Error("ARKODE cannot be started");
    ERKStepSetErrHandlerFn(memory_, silent, nullptr);
    ERKStepSetUserData(memory_, static_cast<Sundials*>(this));
    ERKStepWFtolerances(memory_, weights_of);
    ERKStepSetMaxNumSteps(memory_, kNoLimitOfSteps);
    ERKStepSetMaxErrTestFails(memory_, kMostAttempts);
    check_call(ERKStepSetTable(memory_, table_), "ARKODE's table");
    if (projects_)
      check_call(ERKStepSetPostprocessStepFn(memory_, projection_of), "ARKODE's projection");
    if (std::isfinite(settings_.maximum_step)) ERKStepSetMaxStep(memory_, settings_.maximum_step);
  }

  // Once more from the start of a step that failed.
  void start_with(double h) {
    y_ = y_previous_;
    N_VSetArrayPointer(y_.data(), vector_);
    rejected_before_ = 0;
    check_call(ERKStepReInit(memory_, rate_of, t_, vector_), "ARKODE's restart");
    ERKStepSetInitStep(memory_, h);
    ERKStepSetMaxFirstGrowth(memory_, kFirstGrowth);
  }

  void advance(double limit) override {
    dense_ready_ = false;
    failure_.clear();
    t_previous_ = t_;
    y_previous_ = y_;
    N_VSetArrayPointer(y_.data(), vector_);
    ERKStepSetStopTime(memory_, limit);
    double t = t_;
    int flag = ERKStepEvolve(memory_, limit, vector_, &t, ARK_ONE_STEP);
    // ARKODE gives up where a rate cannot be computed. A shorter step may not come there.
    for (double h = std::min(last_step(), limit - t_);
         flag < 0 && !failure_.empty() && !pending_;) {
      h *= kFailedStepFactor;
      if (!(h > kShortestStep * std::abs(t_))) break;
      ++statistics_.rejected;
      failure_.clear();
      start_with(h);
      ERKStepSetStopTime(memory_, limit);
      t = t_;
      flag = ERKStepEvolve(memory_, limit, vector_, &t, ARK_ONE_STEP);
    }
    check_step(flag, t, limit, "ARKODE");
    t_ = t;
    long failures = 0;
    ERKStepGetNumErrTestFails(memory_, &failures);
    statistics_.rejected += failures - rejected_before_;
    rejected_before_ = failures;
  }

  double last_step() const override {
    double h = 0.0;
    ERKStepGetCurrentStep(memory_, &h);
    return h;
  }

  bool projects_;
  ARKodeButcherTable table_ = nullptr;
  std::vector<Eigen::VectorXd> stages_;
  std::array<Eigen::VectorXd, 8> dense_;  // divided differences
  bool dense_ready_ = false;
  void* memory_ = nullptr;
  long rejected_before_ = 0;
};

}  // namespace

std::unique_ptr<Integrator> make_cvode(Ode& ode, const IntegratorSettings& settings,
                                       bool projects) {
  return std::make_unique<Cvode>(ode, settings, projects);
}

std::unique_ptr<Integrator> make_arkode(Ode& ode, const IntegratorSettings& settings,
                                        bool projects) {
  return std::make_unique<Arkode>(ode, settings, projects);
}

}  // namespace catena
