#include "catena/sensitivity/derivative_check.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "catena/closure/assembly.h"
#include "catena/dynamics/inverse.h"
#include "catena/model/configuration.h"
#include "catena/sensitivity/linearize.h"
#include "catena/sensitivity/parameters.h"
#include "catena/sensitivity/products.h"

namespace catena {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd slope(const std::function<VectorXd(double)>& f, double h) {
  constexpr double kWeights[4] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};
  VectorXd sum;
  for (int i = 1; i <= 4; ++i) {
    const VectorXd change = f(i * h) - f(-i * h);
    if (sum.size() == 0) sum = VectorXd::Zero(change.size());
    sum += (kWeights[i - 1] / h) * change;
  }
  return sum;
}

class Collector {
 public:
  explicit Collector(const Mechanism& m) : m_(m) {}

  void take(const char* quantity, const MatrixXd& found, const MatrixXd& differences,
            const std::vector<int>& rows, const std::vector<int>& columns) {
    take(quantity, found, differences, rows, [&](Index c) { return name(columns, c); });
  }
  void take(const char* quantity, const MatrixXd& found, const MatrixXd& differences,
            const std::vector<int>& rows, const std::function<std::string(Index)>& column_name) {
    DerivativeCheck& check = at(quantity);
    if (found.size() == 0) return;
    Index r = 0, c = 0;
    const double entry = differences.cwiseAbs().maxCoeff();
    const double off = (found - differences).cwiseAbs().maxCoeff(&r, &c);
    const double error = off / std::max(entry, 1.0);
    if (check.where.empty() || !(error <= check.error)) {
      check.error = std::isfinite(error) ? error : kInfinity;
      check.entry = entry;
      check.where = name(rows, r) + " by " + column_name(c);
    }
  }
  std::vector<DerivativeCheck> checks;

 private:
  DerivativeCheck& at(const char* quantity) {
    for (DerivativeCheck& check : checks)
      if (check.quantity == quantity) return check;
    checks.push_back({quantity, 0.0, 0.0, ""});
    return checks.back();
  }
  std::string name(const std::vector<int>& freedoms, Index i) const {
    return m_.velocity_names()[static_cast<std::size_t>(freedoms[static_cast<std::size_t>(i)])];
  }
  const Mechanism& m_;
};

// A few parameters, other ones at every state. Those that open a loop, or cannot be less than they
// are, are left out.
void check_parameters(const Mechanism& m, const State& state, const VectorXd& effort,
                      const VectorXd& acceleration, SensitivityWorkspace& w, std::uint64_t seed,
                      const std::vector<std::string>& names, Collector& collector) {
  constexpr int kParameters = 6;
  const VectorXd random = random_vector(kParameters, seed);
  const std::vector<int> own = w.dynamics().independent();
  for (Index i = 0; i < kParameters; ++i) {
    const auto place =
        static_cast<std::size_t>((0.5 + 0.5 * random[i]) * static_cast<double>(names.size() - 1));
    const ParameterSet set(m, {names[std::min(place, names.size() - 1)]});
    try {
      const VectorXd efforts = set.differenced(0, state, acceleration, false, w);
      if (efforts.size() == 0) continue;
      const auto column = [&](Index) { return set.names()[0]; };
      collector.take("∂effort/∂parameter", set.effort_derivatives(state, acceleration, w), efforts,
                     own, column);
      const VectorXd rates = set.differenced(0, state, effort, true, w);
      collector.take("∂acceleration/∂parameter", set.acceleration_derivatives(state, effort, w),
                     rates, own, column);
    } catch (const NumericalError&) {
      continue;
    } catch (const ModelError&) {  // an inertia that no body can have
      continue;
    }
  }
}

}  // namespace

DerivativeReport check_derivatives(const Mechanism& m, int states, std::uint64_t seed,
                                   double step) {
  DerivativeReport report;
  Collector collector(m);
  const std::vector<std::string> names = ParameterSet::all_names(m);
  const int n = m.freedoms();
  std::vector<int> all(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = i;
  // A closed mechanism is moved around its own initial state; random positions rarely close.
  const int most = m.loops().empty() ? states : 5 * states;
  for (int attempt = 0; attempt < most && report.states < states; ++attempt) {
    const std::uint64_t own_seed = seed * 1000 + 4 * static_cast<std::uint64_t>(attempt);
    try {
      State state{random_position(m, own_seed), random_vector(n, own_seed + 1)};
      if (!m.loops().empty()) {
        if (attempt % 5 != 0)
          state.q = integrate(m, m.default_state().q, 0.3 * random_vector(n, own_seed + 3));
        state = assemble(m, state, {.keep_limits = false});
      }
      const VectorXd effort = random_vector(n, own_seed + 2);
      SensitivityWorkspace w(m);
      const ForwardDerivatives forward = forward_dynamics_derivatives(m, state, effort, w);
      const std::vector<int> own = w.dynamics().independent();
      Workspace d(m);
      if (!m.loops().empty()) d.set_chart(w.dynamics().chart(), true);
      const Index size = static_cast<Index>(own.size());
      const InverseDerivatives inverse =
          inverse_dynamics_derivatives(m, state, forward.acceleration, w);
      const VectorXd none = VectorXd::Zero(size);
      const auto moved = [&](Index k, double q, double v) {
        VectorXd dq = none, dv = none;
        dq[k] = q;
        dv[k] = v;
        return displaced(m, state, own, dq, dv);
      };
      const auto accelerations = [&](const State& s, const VectorXd& tau) {
        return VectorXd(forward_dynamics(m, s, tau, d)(own));
      };
      const auto efforts = [&](const State& s, const VectorXd& a) {
        return VectorXd(inverse_dynamics(m, s, a, d)(own));
      };
      MatrixXd forward_q(size, size), forward_v(size, size), forward_effort(size, n);
      MatrixXd inverse_q(size, size), inverse_v(size, size), inverse_a(size, size);
      for (Index k = 0; k < size; ++k) {
        const int freedom = own[static_cast<std::size_t>(k)];
        forward_q.col(k) =
            slope([&](double e) { return accelerations(moved(k, e, 0.0), effort); }, step);
        forward_v.col(k) =
            slope([&](double e) { return accelerations(moved(k, 0.0, e), effort); }, step);
        inverse_q.col(k) =
            slope([&](double e) { return efforts(moved(k, e, 0.0), forward.acceleration); }, step);
        inverse_v.col(k) =
            slope([&](double e) { return efforts(moved(k, 0.0, e), forward.acceleration); }, step);
        VectorXd up = forward.acceleration, down = up;
        up[freedom] += 1.0;
        down[freedom] -= 1.0;
        inverse_a.col(k) = 0.5 * (efforts(state, up) - efforts(state, down));
      }
      for (int i = 0; i < n; ++i) {
        VectorXd up = effort, down = effort;
        up[i] += 1.0;
        down[i] -= 1.0;
        forward_effort.col(i) = 0.5 * (accelerations(state, up) - accelerations(state, down));
      }
      collector.take("∂effort/∂q", inverse.dq, inverse_q, own, own);
      collector.take("∂effort/∂v", inverse.dv, inverse_v, own, own);
      collector.take("∂effort/∂a", inverse.da, inverse_a, own, own);
      collector.take("∂acceleration/∂q", forward.dq, forward_q, own, own);
      collector.take("∂acceleration/∂v", forward.dv, forward_v, own, own);
      collector.take("∂acceleration/∂effort", forward.deffort, forward_effort, own, all);
      // Products against the differences, column by column and row by row.
      DynamicsProducts products(m);
      if (!m.loops().empty()) products.workspace().dynamics().set_chart(w.dynamics().chart(), true);
      products.evaluate(state, effort);
      MatrixXd along(size, size), across(size, size);
      for (Index k = 0; k < size; ++k) {
        VectorXd unit = none;
        unit[k] = 1.0;
        along.col(k) = products.forward_product(unit, none, VectorXd::Zero(n));
        across.row(k) = products.forward_adjoint(unit).q.transpose();
      }
      collector.take("product with ∂acceleration/∂q", along, forward_q, own, own);
      collector.take("product with its transpose", across, forward_q, own, own);
      if (m.freedoms() > 0)
        check_parameters(m, state, effort, forward.acceleration, w, own_seed + 5, names, collector);
      ++report.states;
    } catch (const NumericalError&) {
      ++report.skipped;
    }
  }
  report.checks = std::move(collector.checks);
  for (const DerivativeCheck& check : report.checks)
    report.worst = std::max(report.worst, check.error);
  return report;
}

}  // namespace catena
