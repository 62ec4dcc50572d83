// SPDX-License-Identifier: BSD-3-Clause
// The inside of a BatchWorkspace: the mechanism's tables for packs, scratch for every thread, and
// how packs are run over threads.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "catena/dynamics/batch.h"
#include "catena/dynamics/batch/batch_kernels.h"

namespace catena {

// A callable that lives longer than the call it is given to: unlike std::function it never
// allocates.
template <class Signature>
class FunctionRef;
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <class F>
  FunctionRef(const F& f)  // NOLINT: made from lambdas where they stand
      : object_(&f), call_([](const void* object, Arguments... arguments) -> Result {
          return (*static_cast<const F*>(object))(static_cast<Arguments>(arguments)...);
        }) {}
  Result operator()(Arguments... arguments) const {
    return call_(object_, static_cast<Arguments>(arguments)...);
  }

 private:
  const void* object_;
  Result (*call_)(const void*, Arguments...);
};

// Results in lanes beyond this (8 MB) are written past the caches: in them, they would only push
// everything else out.
inline constexpr Eigen::Index kNumbersInCache = 1 << 20;

// Throws NumericalError unless there is a row of `numbers` for each state.
void check_rows(const char* what, Eigen::Index rows, Eigen::Index columns, Eigen::Index states,
                Eigen::Index numbers);
RowsIn rows_in(const char* what, const BatchIn& m, Eigen::Index states, Eigen::Index numbers);
RowsOut rows_out(const char* what, BatchOut& m, Eigen::Index states, Eigen::Index numbers);

struct BatchWorkspace::Implementation {
  Implementation(const Mechanism& mechanism, const BatchSettings& settings);

  // Scratch of one thread.
  struct Slot {
    LaneArray memory;                   // scratch of the kernels
    LaneArray lanes, spare;             // results of a pack on their way to rows
    std::unique_ptr<Workspace> single;  // for states that go one at a time
  };

  const Mechanism* mechanism;
  std::uint64_t serial;  // no other workspace has the same
  Workspace base;        // the tables of the sweeps, and the chart
  std::vector<int> quaternions;
  std::vector<int> quaternion_hinges;
  std::vector<FreedomLaw> laws;
  std::vector<SpringTerm> springs;
  std::vector<BodyTerm> bodies;
  std::vector<WrenchPlace> places;  // of the current call
  BatchModel model;
  const BatchKernels* kernels;
  std::vector<Slot> slots;
  std::vector<StateReport> reports;
  Eigen::Index failures = 0;
  std::mutex words_mutex;
  std::vector<std::pair<Eigen::Index, std::string>> words;  // of states that were refused
  // Threads of our own (oneTBB); none in a build without it.
  struct Arena;
  struct EndArena {
    void operator()(Arena* arena) const;
  };
  std::unique_ptr<Arena, EndArena> arena;

  // Drives on distant carriers are outside the sweeps: such states go one at a time.
  bool goes_singly() const { return !base.remote_drives().empty(); }

  // Calls work(slot, i) for i = 0 ... count − 1, in any order, on all threads.
  void for_all(Eigen::Index count, FunctionRef<void(Slot&, Eigen::Index)> work);

  // All states share one chart: without one, that of the first state that allows a choice. False if
  // there is none.
  bool have_chart(const BatchIn& q, std::span<const std::uint8_t> driven);

  void begin(Eigen::Index states);
  void end();

  // Runs `call` (a kernel that writes rows) over all packs. A pack that reports anything is run
  // again state by state, each of them in all lanes: then the report concerns that state alone, and
  // good states have the same bits. `spoil` fills the rows of a bad one.
  using RowCall = FunctionRef<PackReport(Slot&, const std::ptrdiff_t* states)>;
  void run_rows(Eigen::Index states, const BatchInput& in, RowCall call,
                FunctionRef<void(Eigen::Index)> spoil);

  // The same for a kernel that writes `count` numbers in lanes: into `lanes`, or into `rows`.
  using LaneCall = FunctionRef<PackReport(Slot&, const std::ptrdiff_t* states, double* numbers)>;
  void run_lanes(Eigen::Index states, const BatchInput& in, Eigen::Index count, LaneCall call,
                 LaneArray* lanes, RowsOut rows);

  // One state at a time, by the functions for one state; what they throw becomes the status.
  void run_singly(Eigen::Index states, FunctionRef<void(Workspace&, Eigen::Index)> call,
                  FunctionRef<void(Eigen::Index)> spoil);

  void note(Eigen::Index state, const BatchInput& in, const PackReport& report);
  std::string message(Eigen::Index state) const;
};

}  // namespace catena
