// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/batch/batch_workspace.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <thread>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/closure/loop_closure.h"
#include "catena/dynamics/embedding.h"
#include "catena/dynamics/flexible_mass.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

#ifdef CATENA_HAS_TBB
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

namespace catena {
namespace {

constexpr std::size_t kAlignment = 64;
// Packs that a thread takes at a time: some ten microseconds of work even for small mechanisms.
[[maybe_unused]] constexpr Eigen::Index kGrain = 16;

void copy(const Vec3d& from, double* to) {
  for (int i = 0; i < 3; ++i) to[i] = from[i];
}
void copy(const Rotationd& from, double* to) {
  for (int i = 0; i < 9; ++i) to[i] = from.matrix.m[i / 3][i % 3];
}

const double* row_of(const RowsIn& rows, Eigen::Index state) {
  return rows.first + state * rows.stride;
}

std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

int thread_count(const BatchSettings& settings) {
  if (settings.threads < 0)
    throw NumericalError("threads is " + std::to_string(settings.threads) +
                         "; use 0 for all, or a positive number");
#ifdef CATENA_HAS_TBB
  const int all = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return settings.threads > 0 ? settings.threads : all;
#else
  return 1;
#endif
}

}  // namespace

const char* to_string(BatchStatus status) {
  switch (status) {
    case BatchStatus::ok:
      return "ok";
    case BatchStatus::not_finite:
      return "not finite";
    case BatchStatus::bad_quaternion:
      return "bad quaternion";
    case BatchStatus::undefined_spring:
      return "undefined spring";
    case BatchStatus::singular_hinge:
      return "singular hinge";
    case BatchStatus::singular_chart:
      return "singular chart";
    case BatchStatus::not_closed:
      return "not closed";
    case BatchStatus::refused:
      return "refused";
  }
  return "";
}

void LaneArray::Free::operator()(double* block) const {
  ::operator delete[](block, std::align_val_t{kAlignment});
}

namespace {

// Requests huge pages (madvise): results of many states are written sequentially, and page faults
// of small pages are a large part of the cost.
void ask_for_large_pages([[maybe_unused]] double* block, [[maybe_unused]] std::size_t bytes) {
#ifdef __linux__
  constexpr std::uintptr_t kLargePage = std::uintptr_t{1} << 21;
  const auto start = reinterpret_cast<std::uintptr_t>(block);
  const std::uintptr_t first = (start + kLargePage - 1) / kLargePage * kLargePage;
  const std::uintptr_t end = (start + bytes) / kLargePage * kLargePage;
  if (end > first)
    madvise(reinterpret_cast<char*>(block) + (first - start), end - first, MADV_HUGEPAGE);
#endif
}

}  // namespace

void LaneArray::resize(Eigen::Index states, Eigen::Index count, int lanes) {
  const Eigen::Index needed = (states + lanes - 1) / lanes * lanes * count;
  if (states > states_ || count != count_ || lanes != lanes_) zeros_of_ = 0;
  if (needed > capacity_) {
    data_.reset(static_cast<double*>(
        ::operator new[](to_size(needed) * sizeof(double), std::align_val_t{kAlignment})));
    ask_for_large_pages(data_.get(), to_size(needed) * sizeof(double));
    capacity_ = needed;
  }
  states_ = states;
  count_ = count;
  lanes_ = lanes;
}

struct BatchWorkspace::Implementation::Arena {
#ifdef CATENA_HAS_TBB
  tbb::task_arena threads;
#endif
};
void BatchWorkspace::Implementation::EndArena::operator()(Arena* owned) const { delete owned; }

BatchWorkspace::Implementation::Implementation(const Mechanism& m, const BatchSettings& settings)
    : mechanism(&m), serial(next_serial()), base(m), kernels(&batch_kernels()) {
  for (const Node& node : m.nodes()) {
    if (node.coordinates == node.freedoms) continue;
    quaternions.push_back(node.q_index);
    quaternion_hinges.push_back(node.hinge_index);
  }
  for (std::size_t i = 0; i < m.freedom_settings().size(); ++i) {
    const FreedomSettings& f = m.freedom_settings()[i];
    if (f.damping == 0.0 && f.stiffness == 0.0 && !f.friction.active()) continue;
    FreedomLaw law;
    law.v_index = static_cast<int>(i);
    law.q_index = f.stiffness != 0.0 ? m.coordinate_of_freedom()[i] : -1;
    law.damping = f.damping;
    law.stiffness = f.stiffness;
    law.rest = f.rest;
    law.has_friction = f.friction.active();
    law.friction = f.friction;
    laws.push_back(law);
  }
  for (const SpringPlace& spring : m.springs()) {
    SpringTerm term;
    term.node_a = spring.a.node;
    term.node_b = spring.b.node;
    copy(spring.a.point, term.point_a);
    copy(spring.b.point, term.point_b);
    term.stiffness = spring.stiffness;
    term.rest_length = spring.rest_length;
    term.damping = spring.damping;
    term.may_vanish = spring.rest_length == 0.0 && spring.damping == 0.0;
    springs.push_back(term);
  }
  for (const BodyPlace& body : m.bodies()) {
    BodyTerm term;
    term.node = body.node;
    copy(body.X_node_body.rotation, term.rotation);
    copy(body.X_node_body.translation, term.translation);
    bodies.push_back(term);
  }
  model.sweep = &base.model();
  model.quaternions = quaternions.data();
  model.quaternion_count = static_cast<int>(quaternions.size());
  model.laws = laws.data();
  model.law_count = static_cast<int>(laws.size());
  model.springs = springs.data();
  model.spring_count = static_cast<int>(springs.size());
  for (std::size_t n = 0; n < m.nodes().size(); ++n)
    model.general_count += base.is_general(static_cast<int>(n)) ? 1 : 0;
  for (const Closure& c : base.aggregate_tables().closures)
    model.most_terms = std::max(model.most_terms, c.term_count);

  const std::size_t bytes = kernels->scratch_bytes(model);
  slots.resize(to_size(thread_count(settings)));
  for (Slot& slot : slots) {
    slot.memory.resize(1, static_cast<Eigen::Index>(bytes / sizeof(double) + 1), 1);
    std::memset(static_cast<void*>(slot.memory.data()), 0, bytes);
    kernels->bind(model, slot.memory.data());
    if (goes_singly()) slot.single = std::make_unique<Workspace>(m);
  }
#ifdef CATENA_HAS_TBB
  if (slots.size() > 1)
    arena.reset(new Arena{.threads = tbb::task_arena(static_cast<int>(slots.size()))});
#endif
}

void check_rows(const char* what, Eigen::Index rows, Eigen::Index columns, Eigen::Index states,
                Eigen::Index numbers) {
  if (rows == states && columns == numbers) return;
  throw NumericalError(std::string(what) + " is " + std::to_string(rows) + " x " +
                       std::to_string(columns) + ", but must be " + std::to_string(states) + " x " +
                       std::to_string(numbers) + ": one row per state");
}

RowsIn rows_in(const char* what, const BatchIn& m, Eigen::Index states, Eigen::Index numbers) {
  check_rows(what, m.rows(), m.cols(), states, numbers);
  return {m.data(), m.outerStride()};
}
RowsOut rows_out(const char* what, BatchOut& m, Eigen::Index states, Eigen::Index numbers) {
  check_rows(what, m.rows(), m.cols(), states, numbers);
  return {m.data(), m.outerStride()};
}

void BatchWorkspace::Implementation::for_all(Eigen::Index count,
                                             FunctionRef<void(Slot&, Eigen::Index)> work) {
#ifdef CATENA_HAS_TBB
  if (slots.size() > 1 && count > kGrain) {
    arena->threads.execute([&] {
      tbb::parallel_for(tbb::blocked_range<Eigen::Index>(0, count, kGrain),
                        [&](const tbb::blocked_range<Eigen::Index>& range) {
                          Slot& slot = slots[index(tbb::this_task_arena::current_thread_index())];
                          for (Eigen::Index i = range.begin(); i != range.end(); ++i) work(slot, i);
                        });
    });
    return;
  }
#endif
  for (Eigen::Index i = 0; i < count; ++i) work(slots.front(), i);
}

void BatchWorkspace::Implementation::begin(Eigen::Index states) {
  reports.assign(to_size(states), {});
  words.clear();
  failures = 0;
  model.independent = base.independent().data();
  model.independent_count = static_cast<int>(base.independent().size());
}

void BatchWorkspace::Implementation::end() {
  for (const StateReport& r : reports) failures += r.status == BatchStatus::ok ? 0 : 1;
  std::sort(words.begin(), words.end());
}

void BatchWorkspace::Implementation::run_rows(Eigen::Index states, const BatchInput& in,
                                              RowCall call, FunctionRef<void(Eigen::Index)> spoil) {
  const int lanes = kernels->lanes;
  for_all((states + lanes - 1) / lanes, [&](Slot& slot, Eigen::Index pack) {
    std::ptrdiff_t rows[kMostLanes];
    for (int l = 0; l < lanes; ++l) rows[l] = std::min(pack * lanes + l, states - 1);
    if (call(slot, rows).clear()) return;
    for (Eigen::Index i = pack * lanes; i < std::min((pack + 1) * lanes, states); ++i) {
      std::fill(rows, rows + lanes, i);
      const PackReport report = call(slot, rows);
      if (report.clear()) continue;
      note(i, in, report);
      spoil(i);
    }
  });
}

void BatchWorkspace::Implementation::run_lanes(Eigen::Index states, const BatchInput& in,
                                               Eigen::Index count, LaneCall call, LaneArray* result,
                                               RowsOut out) {
  const int lanes = kernels->lanes;
  if (result != nullptr) result->resize(states, count, lanes);
  double* const numbers = result != nullptr ? result->data() : nullptr;
  for (Slot& slot : slots) {
    if (result == nullptr) slot.lanes.resize(lanes, count, lanes);
    slot.spare.resize(lanes, count, lanes);
  }
  for_all((states + lanes - 1) / lanes, [&](Slot& slot, Eigen::Index pack) {
    std::ptrdiff_t rows[kMostLanes], own[kMostLanes];
    for (int l = 0; l < lanes; ++l) rows[l] = std::min(pack * lanes + l, states - 1);
    double* to = numbers != nullptr ? numbers + pack * count * lanes : slot.lanes.data();
    if (!call(slot, rows, to).clear()) {
      for (int l = 0; l < lanes; ++l) {
        std::fill(own, own + lanes, rows[l]);
        const PackReport report = call(slot, own, slot.spare.data());
        if (!report.clear() && pack * lanes + l < states) note(rows[l], in, report);
        for (Eigen::Index i = 0; i < count; ++i)
          to[i * lanes + l] = report.clear() ? slot.spare.data()[i * lanes]
                                             : std::numeric_limits<double>::quiet_NaN();
      }
    }
    if (result == nullptr) kernels->store(to, static_cast<int>(count), rows, out);
  });
}

bool BatchWorkspace::Implementation::have_chart(const BatchIn& q,
                                                std::span<const std::uint8_t> driven) {
  if (mechanism->loops().empty() || q.rows() == 0) return true;
  for (Eigen::Index i = 0; i < q.rows(); ++i) {
    if (!q.row(i).allFinite()) continue;
    try {
      ensure_chart(*mechanism, q.row(i).transpose(), driven, base);
      return true;
    } catch (const NumericalError&) {
      if (base.has_chart()) throw;  // it is not the state that is wrong
    }
  }
  return false;
}

void BatchWorkspace::Implementation::run_singly(Eigen::Index states,
                                                FunctionRef<void(Workspace&, Eigen::Index)> call,
                                                FunctionRef<void(Eigen::Index)> spoil) {
  if (base.has_chart())
    for (Slot& slot : slots) slot.single->set_chart(base.chart(), true);
  for_all(states, [&](Slot& slot, Eigen::Index i) {
    try {
      call(*slot.single, i);
    } catch (const Error& e) {
      reports[index(i)].status = BatchStatus::refused;
      const std::lock_guard lock(words_mutex);
      words.emplace_back(i, e.what());
      spoil(i);
    }
  });
}

// What is worst about a state, and where.
void BatchWorkspace::Implementation::note(Eigen::Index state, const BatchInput& in,
                                          const PackReport& report) {
  StateReport& r = reports[index(state)];
  const auto first_infinite = [&](const RowsIn& rows, int count, StateReport::Quantity quantity,
                                  int unread) {
    if (rows.first == nullptr || r.place >= 0) return;
    for (int i = 0; i < count; ++i) {
      if (in.driven != nullptr && unread == (in.driven[i] != 0 ? 1 : 0)) continue;
      if (std::isfinite(row_of(rows, state)[i])) continue;
      r.place = i;
      r.quantity = quantity;
      return;
    }
  };
  if (report.not_finite != 0) {
    r.status = BatchStatus::not_finite;
    const int n = mechanism->freedoms();
    constexpr int kAllRead = -1;
    r.quantity = StateReport::Quantity::result;
    first_infinite(in.v, n, StateReport::Quantity::velocity, kAllRead);
    first_infinite(in.effort, n, StateReport::Quantity::effort, 1);
    first_infinite(in.acceleration, n, StateReport::Quantity::acceleration, 0);
    if (r.place < 0)
      for (int i = 0; i < mechanism->coordinates(); ++i)
        if (!std::isfinite(row_of(in.q, state)[i])) {
          r.place = i;
          r.quantity = StateReport::Quantity::position;
          break;
        }
    if (r.place < 0)
      for (int i = 0; i < 6 * in.place_count; ++i)
        if (!std::isfinite(row_of(in.wrenches, state)[i])) {
          r.place = i / 6;
          r.quantity = StateReport::Quantity::wrench;
          break;
        }
  } else if (report.bad_quaternion != 0) {
    r.status = BatchStatus::bad_quaternion;
    double worst = -1.0;
    for (std::size_t i = 0; i < quaternions.size(); ++i) {
      const double* q = row_of(in.q, state) + quaternions[i];
      const double off =
          std::abs(std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) - 1.0);
      if (off <= worst) continue;
      worst = off;
      r.place = quaternion_hinges[i];
    }
  } else if (report.undefined_spring != 0) {
    r.status = BatchStatus::undefined_spring;
  } else if (report.sweep.is_singular_chart()) {
    r.status = BatchStatus::singular_chart;
    r.place = report.sweep.place;
  } else if (report.sweep.is_no_inertia()) {
    r.status = BatchStatus::singular_hinge;
    r.place = mechanism->nodes()[index(report.sweep.place)].hinge_index;
  } else {
    r.status = BatchStatus::not_closed;
    r.quantity = report.open_position != 0 ? StateReport::Quantity::position
                                           : StateReport::Quantity::velocity;
  }
}

std::string BatchWorkspace::Implementation::message(Eigen::Index state) const {
  if (state < 0 || state >= static_cast<Eigen::Index>(reports.size()))
    throw NumericalError("state " + std::to_string(state) + " does not exist; the last batch had " +
                         std::to_string(reports.size()) + ", counted from 0");
  const StateReport& r = reports[index(state)];
  const std::string which = "state " + std::to_string(state) + ": ";
  const auto hinge = [&] { return "hinge '" + mechanism->hinges()[index(r.place)].name + "': "; };
  switch (r.status) {
    case BatchStatus::ok:
      return "";
    case BatchStatus::not_finite: {
      const auto name = [&](std::span<const std::string> names) {
        return "'" + names[index(r.place)] + "'";
      };
      switch (r.quantity) {
        case StateReport::Quantity::position:
          return which + "position of " + name(mechanism->position_names()) + " is not finite";
        case StateReport::Quantity::velocity:
          return which + "velocity of " + name(mechanism->velocity_names()) + " is not finite";
        case StateReport::Quantity::effort:
          return which + "effort of " + name(mechanism->velocity_names()) + " is not finite";
        case StateReport::Quantity::acceleration:
          return which + "acceleration of " + name(mechanism->velocity_names()) + " is not finite";
        case StateReport::Quantity::wrench:
          return which + "external wrench " + std::to_string(r.place) + " is not finite";
        case StateReport::Quantity::result:
          break;
      }
      return which + "the result is not finite; its numbers are too large";
    }
    case BatchStatus::bad_quaternion:
      return which + hinge() + "the length of its quaternion is off by more than " +
             number(kQuaternionTolerance) + "; normalize it";
    case BatchStatus::undefined_spring:
      return which + "the ends of a spring coincide, so its direction is undefined";
    case BatchStatus::singular_hinge:
      return which + hinge() +
             "its articulated inertia is not positive in this position; the bodies it moves have "
             "no "
             "inertia about it, or its axes are aligned (gimbal lock)";
    case BatchStatus::singular_chart:
      return which + "the chart of the " + LoopClosure(*mechanism, r.place).name() +
             " is singular in this position; set_chart() chooses other independent freedoms";
    case BatchStatus::not_closed:
      return which + (r.quantity == StateReport::Quantity::position
                          ? "the position is not closed; use assemble() first"
                          : "the velocities do not keep the loops closed; use assemble() first");
    case BatchStatus::refused: {
      const auto found =
          std::lower_bound(words.begin(), words.end(), std::make_pair(state, std::string()));
      return which + (found != words.end() && found->first == state ? found->second : "refused");
    }
  }
  return "";
}

BatchWorkspace::BatchWorkspace(const Mechanism& mechanism, BatchSettings settings)
    : implementation_((refuse_flexible(mechanism, "a batch"),
                       std::make_unique<Implementation>(mechanism, settings))) {}
BatchWorkspace::~BatchWorkspace() = default;
BatchWorkspace::BatchWorkspace(BatchWorkspace&&) noexcept = default;
BatchWorkspace& BatchWorkspace::operator=(BatchWorkspace&&) noexcept = default;

const Mechanism& BatchWorkspace::mechanism() const { return *implementation_->mechanism; }
int BatchWorkspace::threads() const { return static_cast<int>(implementation_->slots.size()); }
int BatchWorkspace::lanes() const { return implementation_->kernels->lanes; }
void BatchWorkspace::set_chart(Chart chart, bool pinned) {
  implementation_->base.set_chart(std::move(chart), pinned);
}
bool BatchWorkspace::has_chart() const { return implementation_->base.has_chart(); }
const Chart& BatchWorkspace::chart() const { return implementation_->base.chart(); }
const std::vector<int>& BatchWorkspace::independent() const {
  return implementation_->base.independent();
}
std::span<const StateReport> BatchWorkspace::reports() const { return implementation_->reports; }
Eigen::Index BatchWorkspace::failures() const { return implementation_->failures; }
std::string BatchWorkspace::message(Eigen::Index state) const {
  return implementation_->message(state);
}

}  // namespace catena
