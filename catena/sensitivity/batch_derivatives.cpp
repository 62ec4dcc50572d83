// SPDX-License-Identifier: BSD-3-Clause
#include "catena/sensitivity/batch_derivatives.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>

#include "catena/base/index.h"
#include "catena/dynamics/batch/batch_workspace.h"
#include "catena/dynamics/flexible_mass.h"
#include "catena/sensitivity/batch/batch_derivative_tables.h"
#include "catena/sensitivity/forward_derivatives.h"

namespace catena {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
using Inside = BatchWorkspace::Implementation;
// Contents of the numbers of a pack after the last call.
enum class Written : std::uint8_t { nothing, inverse, forward };

// From this many freedoms on, derivatives of forward dynamics of one state at a time, in O(N²), are
// faster than packs with dense matrices (measured on chains).
constexpr int kTooLongForPacks = 80;
bool is_long_tree(const Mechanism& m) {
  if (m.freedoms() < kTooLongForPacks || !m.loops().empty()) return false;
  Workspace w(m);
  w.prepare_rows();
  return w.model().composite.stride > 0;
}

}  // namespace

const BatchDerivativeKernels& batch_derivative_kernels(std::string_view isa) {
  static const BatchDerivativeKernels kPortable = portable_batch_derivative_kernels();
#ifdef CATENA_HAS_AVX2_KERNELS
  static const BatchDerivativeKernels kAvx2 = avx2_batch_derivative_kernels();
  static const BatchDerivativeKernels kAvx512 = avx512_batch_derivative_kernels();
  if (isa == kAvx2.isa) return kAvx2;
  if (isa == kAvx512.isa) return kAvx512;
#endif
  return kPortable;
}

struct BatchDerivatives::Implementation {
  Implementation(const Mechanism& m, const BatchSettings& settings)
      : mechanism(&m), workspace(m, settings), patterns(m) {
    Inside& inside = workspace.implementation();
    singly = inside.goes_singly() || !m.loops().empty() || !m.springs().empty() ||
             std::any_of(m.nodes().begin(), m.nodes().end(),
                         [](const Node& node) { return node.hinge == NodeHinge::custom; });
    forward_singly = singly || is_long_tree(m);
    memory.resize(inside.slots.size());
    for (std::size_t i = 0; forward_singly && i < inside.slots.size(); ++i)
      single.push_back(std::make_unique<SensitivityWorkspace>(m));
    if (singly) return;
    kernels = &batch_derivative_kernels(inside.kernels->isa);
    patterns.need_matrices();
    tables = std::make_unique<BatchDerivativeTables>(m, patterns.tree_pattern(), inside.model);
    const std::size_t bytes = kernels->scratch_bytes(tables->model);
    for (LaneArray& block : memory) {
      block.resize(1, static_cast<Eigen::Index>(bytes / sizeof(double) + 1), 1);
      std::memset(static_cast<void*>(block.data()), 0, bytes);
      kernels->bind(tables->model, block.data());
    }
  }

  Eigen::Index count() const {
    const Eigen::Index n = mechanism->freedoms();
    return 3 * n * n;
  }
  bool streams(Eigen::Index states) const { return states * count() > kNumbersInCache; }
  void* memory_of(const Inside& inside, const Inside::Slot& slot) {
    return memory[index(&slot - inside.slots.data())].data();
  }

  // Memory for all packs in `lanes`, and for their records.
  void make_room(LaneArray* lanes, Eigen::Index states) {
    if (lanes == nullptr) return;
    const int width = workspace.lanes();
    const auto packs = to_size((states + width - 1) / width);
    const double* const before = lanes->data();
    lanes->resize(states, count(), width);
    if (lanes->data() != before) written.assign(packs, Written::nothing);
    if (written.size() < packs) written.resize(packs, Written::nothing);
  }
  // `call` writes the numbers of a pack. Structural zeros (half of all numbers of a tree with
  // limbs) are kept from the previous call if it was of the same kind.
  template <class Call>
  PackReport write(Written kind, const Inside::Slot& slot, const LaneArray* lanes, double* to,
                   Call call) {
    if (lanes == nullptr || to == slot.spare.data()) return call({.numbers = to});
    Written& before = written[index((to - lanes->data()) / (count() * lanes->lanes()))];
    const PackReport report =
        call({.numbers = to, .stream = streams(lanes->states()), .zeros = before != kind});
    before = report.clear() ? kind : Written::nothing;
    return report;
  }

  // Every state by itself: `call` fills the workspace of derivatives and returns its matrices,
  // which are put where their freedoms are: those of a closed mechanism are of the independent
  // ones.
  template <class Call>
  void run_singly(Inside& inside, const BatchIn& q, LaneArray* lanes, BatchOut* rows, Call call) {
    const Eigen::Index n = mechanism->freedoms(), states = q.rows();
    inside.have_chart(q, {});
    if (inside.base.has_chart())
      for (const auto& w : single) w->dynamics().set_chart(inside.base.chart(), true);
    const int width = inside.kernels->lanes;
    if (lanes != nullptr) lanes->resize(states, count(), width);
    written.clear();
    double* const in_lanes = lanes != nullptr ? lanes->data() : nullptr;
    const Eigen::Index step = rows != nullptr ? 1 : width;  // between the numbers of a state
    const auto place_of = [&](Eigen::Index i) {
      return rows != nullptr ? rows->row(i).data()
                             : in_lanes + i / width * count() * width + i % width;
    };
    inside.for_all(states, [&](Inside::Slot& slot, Eigen::Index i) {
      SensitivityWorkspace& w = *single[index(&slot - inside.slots.data())];
      double* const place = place_of(i);
      try {
        const std::array<const Eigen::MatrixXd*, 3> found = call(w, i);
        const std::vector<int>& own = w.dynamics().independent();
        const Eigen::Index size = static_cast<Eigen::Index>(own.size());
        for (Eigen::Index k = 0; size < n && k < count(); ++k) place[k * step] = 0.0;
        for (Eigen::Index part = 0; part < 3; ++part) {
          const Eigen::MatrixXd& of = *found[index(part)];
          for (Eigen::Index c = 0; c < of.cols(); ++c) {
            const Eigen::Index column = of.cols() == n ? c : own[index(c)];
            double* const to = place + (part * n + column) * n * step;
            for (Eigen::Index r = 0; r < size; ++r) to[own[index(r)] * step] = of(r, c);
          }
        }
      } catch (const Error& e) {
        for (Eigen::Index k = 0; k < count(); ++k) place[k * step] = kNaN;
        inside.reports[index(i)].status = BatchStatus::refused;
        const std::lock_guard lock(inside.words_mutex);
        inside.words.emplace_back(i, e.what());
      }
    });
    if (rows != nullptr || states == 0) return;
    const double* const last = place_of(states - 1);  // unused lanes repeat it
    for (Eigen::Index unused = states; unused % width != 0; ++unused) {
      double* const place = place_of(unused);
      for (Eigen::Index k = 0; k < count(); ++k) place[k * step] = last[k * step];
    }
  }

  void inverse(const BatchIn& q, const BatchIn& v, const BatchIn& a, LaneArray* lanes,
               BatchOut* rows);
  void forward(const BatchIn& q, const BatchIn& v, const BatchIn& effort, BatchOut& acceleration,
               LaneArray* lanes, BatchOut* rows);
  RowsOut result_rows(BatchOut* rows, Eigen::Index states) const {
    return rows == nullptr ? RowsOut{} : rows_out("the derivatives", *rows, states, count());
  }

  const Mechanism* mechanism;
  BatchWorkspace workspace;
  SensitivityWorkspace patterns;
  const BatchDerivativeKernels* kernels = nullptr;
  std::unique_ptr<BatchDerivativeTables> tables;
  bool singly = false, forward_singly = false;
  bool by_effort = false;         // the last call's third matrix: columns of all freedoms
  std::vector<LaneArray> memory;  // of each thread
  std::vector<std::unique_ptr<SensitivityWorkspace>> single;
  LaneArray numbers;
  std::vector<Written> written;  // by pack of `numbers`
};

void BatchDerivatives::Implementation::inverse(const BatchIn& q, const BatchIn& v, const BatchIn& a,
                                               LaneArray* lanes, BatchOut* rows) {
  Inside& inside = workspace.implementation();
  const Eigen::Index states = q.rows(), n = mechanism->freedoms();
  BatchInput in;
  in.q = rows_in("q", q, states, mechanism->coordinates());
  in.v = rows_in("v", v, states, n);
  in.acceleration = rows_in("acceleration", a, states, n);
  const RowsOut out = result_rows(rows, states);
  inside.places.clear();
  inside.begin(states);
  by_effort = false;
  if (singly)
    run_singly(inside, q, lanes, rows, [&](SensitivityWorkspace& w, Eigen::Index i) {
      const State state{q.row(i).transpose(), v.row(i).transpose()};
      const InverseDerivatives& d =
          inverse_dynamics_derivatives(*mechanism, state, a.row(i).transpose(), w);
      return std::array{&d.dq, &d.dv, &d.da};
    });
  else {
    make_room(lanes, states);
    inside.run_lanes(
        states, in, count(),
        [&](Inside::Slot& slot, const std::ptrdiff_t* which, double* to) {
          return write(Written::inverse, slot, lanes, to, [&](const LaneTarget& target) {
            return kernels->inverse(tables->model, in, which, memory_of(inside, slot), target);
          });
        },
        lanes, out);
  }
  inside.end();
}

void BatchDerivatives::Implementation::forward(const BatchIn& q, const BatchIn& v,
                                               const BatchIn& effort, BatchOut& acceleration,
                                               LaneArray* lanes, BatchOut* rows) {
  Inside& inside = workspace.implementation();
  const Eigen::Index states = q.rows(), n = mechanism->freedoms();
  BatchInput in;
  in.q = rows_in("q", q, states, mechanism->coordinates());
  in.v = rows_in("v", v, states, n);
  in.effort = rows_in("effort", effort, states, n);
  const RowsOut found = rows_out("acceleration", acceleration, states, n);
  const RowsOut out = result_rows(rows, states);
  inside.places.clear();
  inside.begin(states);
  by_effort = true;
  if (forward_singly) {
    run_singly(inside, q, lanes, rows, [&](SensitivityWorkspace& w, Eigen::Index i) {
      const State state{q.row(i).transpose(), v.row(i).transpose()};
      const ForwardDerivatives& d =
          forward_dynamics_derivatives(*mechanism, state, effort.row(i).transpose(), w);
      acceleration.row(i) = d.acceleration.transpose();
      return std::array{&d.dq, &d.dv, &d.deffort};
    });
  } else {
    make_room(lanes, states);
    inside.run_lanes(
        states, in, count(),
        [&](Inside::Slot& slot, const std::ptrdiff_t* which, double* to) {
          return write(Written::forward, slot, lanes, to, [&](const LaneTarget& target) {
            return kernels->forward(tables->model, in, which, memory_of(inside, slot), found,
                                    target);
          });
        },
        lanes, out);
  }
  inside.end();
  if (inside.failures == 0) return;
  for (Eigen::Index i = 0; i < states; ++i)
    if (inside.reports[index(i)].status != BatchStatus::ok) acceleration.row(i).setConstant(kNaN);
}

BatchDerivatives::BatchDerivatives(const Mechanism& mechanism, BatchSettings settings)
    : implementation_((refuse_flexible(mechanism, "a batch"),
                       std::make_unique<Implementation>(mechanism, settings))) {}
BatchDerivatives::~BatchDerivatives() = default;
BatchDerivatives::BatchDerivatives(BatchDerivatives&&) noexcept = default;
BatchDerivatives& BatchDerivatives::operator=(BatchDerivatives&&) noexcept = default;

BatchWorkspace& BatchDerivatives::workspace() { return implementation_->workspace; }
const LaneArray& BatchDerivatives::numbers() const { return implementation_->numbers; }

void BatchDerivatives::inverse(const BatchIn& q, const BatchIn& v, const BatchIn& acceleration) {
  implementation_->inverse(q, v, acceleration, &implementation_->numbers, nullptr);
}
void BatchDerivatives::inverse(const BatchIn& q, const BatchIn& v, const BatchIn& acceleration,
                               BatchOut rows) {
  implementation_->inverse(q, v, acceleration, nullptr, &rows);
}
void BatchDerivatives::forward(const BatchIn& q, const BatchIn& v, const BatchIn& effort,
                               BatchOut acceleration) {
  implementation_->forward(q, v, effort, acceleration, &implementation_->numbers, nullptr);
}
void BatchDerivatives::forward(const BatchIn& q, const BatchIn& v, const BatchIn& effort,
                               BatchOut acceleration, BatchOut rows) {
  implementation_->forward(q, v, effort, acceleration, nullptr, &rows);
}

double BatchDerivatives::entry(Eigen::Index state, int matrix, Eigen::Index row,
                               Eigen::Index column) const {
  const Eigen::Index n = implementation_->mechanism->freedoms();
  return implementation_->numbers(state, (matrix * n + column) * n + row);
}

Eigen::MatrixXd BatchDerivatives::matrix(Eigen::Index state, int which) const {
  const Eigen::Index n = implementation_->mechanism->freedoms();
  Eigen::MatrixXd result(n, n);
  for (Eigen::Index k = 0; k < n; ++k)
    for (Eigen::Index i = 0; i < n; ++i) result(i, k) = entry(state, which, i, k);
  const std::vector<int>& own = implementation_->workspace.independent();
  if (which == 2 && implementation_->by_effort) return result(own, Eigen::all);
  return result(own, own);
}

}  // namespace catena
