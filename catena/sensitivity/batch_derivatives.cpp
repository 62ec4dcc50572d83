#include "catena/sensitivity/batch_derivatives.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "catena/dynamics/batch_workspace.h"
#include "catena/sensitivity/batch_derivative_kernels.h"
#include "catena/sensitivity/forward_derivatives.h"

namespace catena {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
using Inside = BatchWorkspace::Implementation;

}  // namespace

const BatchDerivativeKernels& batch_derivative_kernels(std::string_view isa) {
  static const BatchDerivativeKernels portable = portable_batch_derivative_kernels();
#ifdef CATENA_HAS_AVX2_KERNELS
  static const BatchDerivativeKernels avx2 = avx2_batch_derivative_kernels();
  static const BatchDerivativeKernels avx512 = avx512_batch_derivative_kernels();
  if (isa == avx2.isa) return avx2;
  if (isa == avx512.isa) return avx512;
#endif
  return portable;
}

struct BatchDerivatives::Implementation {
  Implementation(const Mechanism& m, const BatchSettings& settings)
      : mechanism(&m), workspace(m, settings), patterns(m) {
    if (!m.loops().empty())
      throw NumericalError("batches of derivatives are for trees, and '" + m.name() +
                           "' has closed loops: call forward_dynamics_derivatives() or "
                           "inverse_dynamics_derivatives() for each state");
    Inside& inside = workspace.implementation();
    kernels = &batch_derivative_kernels(inside.kernels->isa);
    patterns.need_matrices();
    const MatrixPattern& pattern = patterns.tree_pattern();
    const int n = m.freedoms();
    node_of.resize(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < m.nodes().size(); ++i)
      for (int k = 0; k < m.nodes()[i].freedoms; ++k)
        node_of[static_cast<std::size_t>(m.nodes()[i].v_index + k)] = static_cast<int>(i);
    for (int k = 0; k < n; ++k) {
      first_path.push_back(static_cast<int>(path.size()));
      for (int j = pattern.first_inboard[k]; j < pattern.first_inboard[k + 1]; ++j)
        path.push_back(pattern.inboard[j]);
      path.push_back(k);
    }
    first_path.push_back(static_cast<int>(path.size()));
    common.assign(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 0);
    for (int i = 0; i < n; ++i)
      for (int k = 0; k <= i; ++k) {
        const auto at = [&](int j, int freedom) {
          return path[static_cast<std::size_t>(first_path[static_cast<std::size_t>(freedom)] + j)];
        };
        const auto length = [&](int freedom) {
          return first_path[static_cast<std::size_t>(freedom) + 1] -
                 first_path[static_cast<std::size_t>(freedom)];
        };
        int count = 0;
        while (count < length(i) && count < length(k) && at(count, i) == at(count, k)) ++count;
        common[static_cast<std::size_t>(i * n + k)] = count;
      }
    // Rows of each column that are not zero.
    const auto rows_of = [&](int k) {
      std::vector<int> rows;
      for (int i = pattern.first_segment[k]; i < pattern.first_segment[k + 1]; ++i)
        if (pattern.segments[i].kind != RowSegment::Kind::none)
          for (int r = 0; r < pattern.segments[i].count; ++r)
            rows.push_back(pattern.segments[i].first + r);
      return rows;
    };
    std::vector<int> last;
    for (int k = 0; k < n; ++k) {
      const std::vector<int> rows = rows_of(k);
      if (k == 0 || rows != last) {
        groups.push_back(
            {k, 0, static_cast<int>(group_rows.size()), static_cast<int>(rows.size())});
        group_rows.insert(group_rows.end(), rows.begin(), rows.end());
      }
      ++groups.back().count;
      last = rows;
    }
    drives = drive_terms(m);
    model.groups = groups.data();
    model.group_count = static_cast<int>(groups.size());
    model.group_rows = group_rows.data();
    model.batch = &inside.model;
    model.pattern = pattern;
    model.path = path.data();
    model.first_path = first_path.data();
    model.common = common.data();
    model.node_of = node_of.data();
    model.drives = drives.data();
    model.drive_count = static_cast<int>(drives.size());
    singly = inside.goes_singly() || !m.springs().empty() ||
             std::any_of(m.nodes().begin(), m.nodes().end(),
                         [](const Node& node) { return node.hinge == NodeHinge::custom; });
    memory.resize(inside.slots.size());
    if (singly) {
      for (std::size_t i = 0; i < inside.slots.size(); ++i)
        single.push_back(std::make_unique<SensitivityWorkspace>(m));
      return;
    }
    const std::size_t bytes = kernels->scratch_bytes(model);
    for (LaneArray& block : memory) {
      block.resize(1, static_cast<Eigen::Index>(bytes / sizeof(double) + 1), 1);
      std::memset(static_cast<void*>(block.data()), 0, bytes);
      kernels->bind(model, block.data());
    }
  }

  Eigen::Index count() const {
    const Eigen::Index n = mechanism->freedoms();
    return 3 * n * n;
  }
  void* memory_of(const Inside& inside, const Inside::Slot& slot) {
    return memory[static_cast<std::size_t>(&slot - inside.slots.data())].data();
  }

  // Every state by itself: `call` fills the workspace of derivatives and returns its matrices.
  template <class Call>
  void run_singly(Inside& inside, Eigen::Index states, LaneArray* lanes, BatchOut* rows,
                  Call call) {
    const Eigen::Index n = mechanism->freedoms();
    const int width = inside.kernels->lanes;
    if (lanes != nullptr) lanes->resize(states, count(), width);
    const auto put = [&](Eigen::Index i, Eigen::Index k, double x) {
      if (rows != nullptr)
        (*rows)(i, k) = x;
      else
        lanes->data()[(i / width * count() + k) * width + i % width] = x;
    };
    inside.for_all(states, [&](Inside::Slot& slot, Eigen::Index i) {
      SensitivityWorkspace& w = *single[static_cast<std::size_t>(&slot - inside.slots.data())];
      try {
        const std::array<const Eigen::MatrixXd*, 3> found = call(w, i);
        for (Eigen::Index part = 0; part < 3; ++part)
          for (Eigen::Index k = 0; k < n * n; ++k)
            put(i, part * n * n + k, found[static_cast<std::size_t>(part)]->data()[k]);
      } catch (const Error& e) {
        for (Eigen::Index k = 0; k < count(); ++k) put(i, k, kNaN);
        inside.reports[static_cast<std::size_t>(i)].status = BatchStatus::refused;
        const std::lock_guard lock(inside.words_mutex);
        inside.words.emplace_back(i, e.what());
      }
    });
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
  std::vector<int> node_of, path, first_path, common;
  std::vector<ColumnGroup> groups;
  std::vector<int> group_rows;
  std::vector<DriveTerm> drives;
  BatchDerivativeModel model;
  bool singly = false;
  std::vector<LaneArray> memory;  // of each thread
  std::vector<std::unique_ptr<SensitivityWorkspace>> single;
  LaneArray numbers;
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
  if (singly)
    run_singly(inside, states, lanes, rows, [&](SensitivityWorkspace& w, Eigen::Index i) {
      const State state{q.row(i).transpose(), v.row(i).transpose()};
      const InverseDerivatives& d =
          inverse_dynamics_derivatives(*mechanism, state, a.row(i).transpose(), w);
      return std::array{&d.dq, &d.dv, &d.da};
    });
  else
    inside.run_lanes(
        states, in, count(),
        [&](Inside::Slot& slot, const std::ptrdiff_t* which, double* to) {
          return kernels->inverse(model, in, which, memory_of(inside, slot), to);
        },
        lanes, out);
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
  if (singly) {
    run_singly(inside, states, lanes, rows, [&](SensitivityWorkspace& w, Eigen::Index i) {
      const State state{q.row(i).transpose(), v.row(i).transpose()};
      const ForwardDerivatives& d =
          forward_dynamics_derivatives(*mechanism, state, effort.row(i).transpose(), w);
      acceleration.row(i) = d.acceleration.transpose();
      return std::array{&d.dq, &d.dv, &d.deffort};
    });
  } else {
    // The accelerations go to their rows first; the derivatives are taken there.
    BatchInput there = in;
    there.effort = {};
    there.acceleration = {found.first, found.stride};
    inside.run_lanes(
        states, in, count(),
        [&](Inside::Slot& slot, const std::ptrdiff_t* which, double* to) {
          const PackReport report =
              inside.kernels->forward(inside.model, in, which, slot.memory.data(), found);
          if (!report.clear()) return report;
          return kernels->forward(model, there, which, memory_of(inside, slot), to);
        },
        lanes, out);
  }
  inside.end();
  if (inside.failures == 0) return;
  for (Eigen::Index i = 0; i < states; ++i)
    if (inside.reports[static_cast<std::size_t>(i)].status != BatchStatus::ok)
      acceleration.row(i).setConstant(kNaN);
}

BatchDerivatives::BatchDerivatives(const Mechanism& mechanism, BatchSettings settings)
    : implementation_(std::make_unique<Implementation>(mechanism, settings)) {}
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
  return result;
}

}  // namespace catena
