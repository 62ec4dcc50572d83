// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/integrators/ida.h"

#include <cmath>
#include <exception>
#include <utility>

#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "catena/base/index.h"
#include "catena/model/configuration.h"
#include "catena/simulation/integrators/sundials.h"
#include "catena/simulation/tolerances.h"

namespace catena {
namespace {

// The root of the rounding: half of the digits of a difference are right.
constexpr double kDifference = 1.5e-8;

class Ida final : public Integrator {
 public:
  Ida(Equations& equations, const IntegratorSettings& settings)
      : Integrator(equations),
        equations_(equations),
        mechanism_(equations.mechanism()),
        settings_(settings),
        workspace_(mechanism_) {
    equations.leave_motions_to_integrator();
    if (equations.constraints() == nullptr) own_ = std::make_unique<MultiplierDynamics>(mechanism_);
    if (SUNContext_Create(nullptr, &context_) != 0) throw Error("SUNDIALS cannot be started");
  }
  Ida(const Ida&) = delete;
  Ida& operator=(const Ida&) = delete;
  ~Ida() override {
    free_memory();
    SUNContext_Free(&context_);
  }

  void interpolate_inside(double t, Eigen::VectorXd& y) override {
    if (t == t_ || t_ == t_previous_) {
      y = y_;
      return;
    }
    wanted_data_.resize(z_.size());
    N_VSetArrayPointer(wanted_data_.data(), wanted_);
    check(IDAGetDky(memory_, t, 0, wanted_), "IDA's dense output");
    y = wanted_data_.head(ode_.size());
  }

 private:
  MultiplierDynamics& dynamics() { return own_ ? *own_ : equations_.constraints()->dynamics(); }

  void free_memory() {
    if (memory_ != nullptr) IDAFree(&memory_);
    if (linear_ != nullptr) SUNLinSolFree(linear_);
    if (matrix_ != nullptr) SUNMatDestroy(matrix_);
    for (N_Vector* v : {&vector_, &rate_, &wanted_, &id_})
      if (*v != nullptr) N_VDestroy(std::exchange(*v, nullptr));
    linear_ = nullptr;
    matrix_ = nullptr;
  }

  // y, and consistent rates and multipliers from the solution by multipliers.
  void begin() override {
    free_memory();
    const int n = ode_.size();
    equations_.project(t_, y_);  // rows may have been chosen again
    y_previous_ = y_;
    Eigen::VectorXd dy(n);
    equations_.rate(t_, y_, dy);
    rows_ = own_ ? 0 : dynamics().constraints().rows();
    kept_ = rows_ > 0 ? dynamics().constraints().kept() : std::vector<char>{};
    positional_ = own_ ? std::vector<char>{} : equations_.constraints()->positional_rows();
    z_ = Eigen::VectorXd::Zero(n + 2 * rows_);
    dz_ = z_;
    z_.head(n) = y_;
    dz_.head(n) = dy;
    if (rows_ > 0) dz_.segment(n, rows_) = dynamics().applied_multipliers();

    const auto size = static_cast<sunindextype>(z_.size());
    vector_ = N_VMake_Serial(size, z_.data(), context_);
    rate_ = N_VMake_Serial(size, dz_.data(), context_);
    wanted_ = N_VMake_Serial(size, z_.data(), context_);
    id_ = N_VNew_Serial(size, context_);
    for (sunindextype i = 0; i < size; ++i) N_VGetArrayPointer(id_)[i] = i < n ? 1.0 : 0.0;
    memory_ = IDACreate(context_);
    if (memory_ == nullptr) throw Error("IDA cannot be started");
    check(IDAInit(memory_, residual_of, t_, vector_, rate_), "IDA's start");
    IDASetErrHandlerFn(memory_, silent, nullptr);
    IDASetUserData(memory_, this);
    IDAWFtolerances(memory_, weights_of);
    IDASetId(memory_, id_);
    IDASetSuppressAlg(memory_, SUNTRUE);
    IDASetMaxNumSteps(memory_, kNoLimitOfSteps);
    if (std::isfinite(settings_.maximum_step)) IDASetMaxStep(memory_, settings_.maximum_step);
    matrix_ = SUNDenseMatrix(size, size, context_);
    linear_ = SUNLinSol_Dense(vector_, matrix_, context_);
    check(IDASetLinearSolver(memory_, linear_, matrix_), "IDA's linear solver");
    IDASetJacFn(memory_, jacobian_of);
    rejected_before_ = 0;
  }

  static int residual_of(double t, N_Vector z, N_Vector dz, N_Vector r, void* self) {
    return static_cast<Ida*>(self)->residual(t, N_VGetArrayPointer(z), N_VGetArrayPointer(dz),
                                             N_VGetArrayPointer(r));
  }
  static int weights_of(N_Vector z, N_Vector weights, void* self) {
    const Ida& s = *static_cast<Ida*>(self);
    const double* from = N_VGetArrayPointer(z);
    double* to = N_VGetArrayPointer(weights);
    for (Eigen::Index i = 0; i < s.z_.size(); ++i) {
      const double tolerance = s.settings_.relative_tolerance * std::abs(from[i]);
      // Multipliers follow the motion.
      to[i] = i < s.ode_.controlled() ? 1.0 / (tolerance + s.settings_.absolute_tolerance)
                                      : kUncontrolledWeight;
    }
    return 0;
  }

  // ∂F/∂z + c ∂F/∂ż by differences. IDA's own take steps from the tolerances, which are too short
  // for multipliers.
  static int jacobian_of(double t, double c, N_Vector z, N_Vector dz, N_Vector r, SUNMatrix j,
                         void* self, N_Vector, N_Vector, N_Vector) {
    Ida& s = *static_cast<Ida*>(self);
    const Eigen::Index n = s.z_.size();
    s.moved_ = Eigen::Map<const Eigen::VectorXd>(N_VGetArrayPointer(z), n);
    s.moved_rate_ = Eigen::Map<const Eigen::VectorXd>(N_VGetArrayPointer(dz), n);
    s.moved_residual_.resize(n);
    const double* base = N_VGetArrayPointer(r);
    for (Eigen::Index i = 0; i < n; ++i) {
      const double at = s.moved_[i], rate = s.moved_rate_[i];
      const double h = kDifference * std::max(1.0, std::abs(at));
      s.moved_[i] = at + h;
      s.moved_rate_[i] = rate + c * h;
      const int flag =
          s.residual(t, s.moved_.data(), s.moved_rate_.data(), s.moved_residual_.data());
      if (flag != 0) return flag;
      s.moved_[i] = at;
      s.moved_rate_[i] = rate;
      double* column = SUNDenseMatrix_Column(j, static_cast<sunindextype>(i));
      for (Eigen::Index k = 0; k < n; ++k) column[k] = (s.moved_residual_[k] - base[k]) / h;
    }
    return 0;
  }

  // Positive: IDA may try a smaller step; negative: it must give up.
  int residual(double t, const double* z, const double* dz, double* r) {
    try {
      compute(t, z, dz, r);
    } catch (const NumericalError& e) {
      failure_ = e.what();
      return 1;
    } catch (...) {
      pending_ = std::current_exception();
      return -1;
    }
    return 0;
  }

  void compute(double t, const double* z, const double* dz, double* r) {
    ++statistics_.evaluations;
    const int n = ode_.size(), coordinates = mechanism_.coordinates(),
              freedoms = mechanism_.freedoms();
    y_in_ = Eigen::Map<const Eigen::VectorXd>(z, n);
    rates_.resize(n);
    equations_.evaluate(t, y_in_, found_);  // targets, efforts, and the rates of the integrals
    equations_.rates(found_, rates_);
    const State& state = found_.state();
    const Eigen::Map<const Eigen::VectorXd> lambda(dz + n, rows_), mu(dz + n + rows_, rows_);
    multipliers_ = lambda;
    acceleration_ = Eigen::Map<const Eigen::VectorXd>(dz + coordinates, freedoms);
    if (own_) dynamics().constraints().place(workspace_);
    dynamics().equation_residual(state, found_.applied, acceleration_, multipliers_, workspace_,
                                 equations_.forces().external(), motion_);
    for (int i = 0; i < freedoms; ++i) r[coordinates + i] = motion_[i];
    velocity_ = state.v;
    if (rows_ > 0) {
      dynamics().constraints().velocities(workspace_, state.v, rows_rate_);
      multipliers_ = mu;
      dynamics().transposed(multipliers_, workspace_, motion_);
      velocity_ += motion_;
      rows_gap_ = dynamics().gap(state, workspace_);
    }
    position_rate_.resize(coordinates);
    for (const Node& node : mechanism_.nodes())
      node_position_rate(node, z + node.q_index, velocity_.data() + node.v_index,
                         position_rate_.data() + node.q_index);
    for (int i = 0; i < coordinates; ++i) r[i] = dz[i] - position_rate_[i];
    for (int i = coordinates + freedoms; i < n; ++i) r[i] = dz[i] - rates_[i];
    for (int k = 0; k < rows_; ++k) {
      const bool kept = kept_[index(k)] != 0;
      r[n + k] = kept ? rows_rate_[k] : lambda[k];
      r[n + rows_ + k] = kept && positional_[index(k)] != 0 ? rows_gap_[k] : mu[k];
    }
  }

  void advance(double limit) override {
    failure_.clear();
    t_previous_ = t_;
    y_previous_ = y_;
    IDASetStopTime(memory_, limit);
    double t = t_;
    const int flag = IDASolve(memory_, limit, &t, vector_, rate_, IDA_ONE_STEP);
    if (pending_) std::rethrow_exception(std::exchange(pending_, nullptr));
    const bool moved = t == limit || t - t_ > kShortestStep * std::abs(t);
    if (flag < 0 || !moved) {
      double h = 0.0;
      IDAGetCurrentStep(memory_, &h);
      throw StepCollapse(t_, h, -1,
                         failure_.empty() ? "IDA failed (code " + std::to_string(flag) +
                                                "); the constraints may have lost rank"
                                          : failure_);
    }
    t_ = t;
    y_ = z_.head(ode_.size());
    long errors = 0, iterations = 0;
    IDAGetNumErrTestFails(memory_, &errors);
    IDAGetNumNonlinSolvConvFails(memory_, &iterations);
    statistics_.rejected += errors + iterations - rejected_before_;
    rejected_before_ = errors + iterations;
  }

  void check(int flag, const char* what) {
    if (pending_) std::rethrow_exception(std::exchange(pending_, nullptr));
    if (flag < 0)
      throw NumericalError(std::string(what) + " fails with code " + std::to_string(flag) +
                           (failure_.empty() ? "" : ": " + failure_));
  }

  Equations& equations_;
  const Mechanism& mechanism_;
  IntegratorSettings settings_;
  Workspace workspace_;
  std::unique_ptr<MultiplierDynamics> own_;  // of a tree
  Evaluation found_;
  int rows_ = 0;
  std::vector<char> kept_;        // by row: one of the independent ones
  std::vector<char> positional_;  // by row: not of velocities alone, as those that stick
  SUNContext context_ = nullptr;
  void* memory_ = nullptr;
  SUNMatrix matrix_ = nullptr;
  SUNLinearSolver linear_ = nullptr;
  N_Vector vector_ = nullptr, rate_ = nullptr, wanted_ = nullptr, id_ = nullptr;
  Eigen::VectorXd z_, dz_, wanted_data_;  // (y, ∫λ dt, ∫μ dt)
  Eigen::VectorXd y_in_, rates_, multipliers_, acceleration_, motion_, velocity_, rows_rate_,
      rows_gap_, position_rate_, moved_, moved_rate_, moved_residual_;
  long rejected_before_ = 0;
  std::string failure_;
  std::exception_ptr pending_;
};

}  // namespace

std::unique_ptr<Integrator> make_ida(Equations& equations, const IntegratorSettings& settings) {
  return std::make_unique<Ida>(equations, settings);
}

}  // namespace catena
