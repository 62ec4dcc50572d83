// SPDX-License-Identifier: BSD-3-Clause
// Google Benchmark: inverse dynamics, forward dynamics, mass matrix and kinematics of an arm, a
// quadruped and chains, one state at a time (over sixteen states, so that no branch predictor
// learns one by heart) and per state in a batch of 1,024 on one thread and on all.
#include <string>
#include <vector>

#include "subject.h"
#include <benchmark/benchmark.h>

#include "catena/dynamics/batch.h"
#include "catena/dynamics/forward.h"
#include "catena/dynamics/inverse.h"
#include "catena/dynamics/mass_matrix.h"
#include "catena/io/load.h"

namespace {

using namespace catena;
using catena_bench::Rows;

constexpr Eigen::Index kStates = 16;

struct Subject : catena_bench::Subject {
  Subject(const std::string& called, Mechanism m)
      : catena_bench::Subject(called, std::move(m), 1024),
        workspace(mechanism),
        one_thread(mechanism, {.threads = 1}),
        all_threads(mechanism),
        found(q.rows(), mechanism.freedoms()) {
    for (Eigen::Index k = 0; k < kStates; ++k) {
      states.push_back({q.row(k).transpose(), v.row(k).transpose()});
      inputs.push_back(effort.row(k).transpose());
    }
  }
  Workspace workspace;
  BatchWorkspace one_thread, all_threads;
  Rows found;
  LaneArray triangles;
  BatchKinematics kinematics;
  std::vector<State> states;
  std::vector<Eigen::VectorXd> inputs;
};

template <class F>
void add_single(const std::string& name, Subject& s, F call) {
  benchmark::RegisterBenchmark((name + "/" + s.name).c_str(), [&s, call](benchmark::State& timer) {
    std::size_t k = 0;
    for (auto _ : timer) {
      call(s, k);
      k = (k + 1) % kStates;
    }
  });
}

// Time per state.
template <class F>
void add_batch(const std::string& name, Subject& s, F call) {
  benchmark::RegisterBenchmark((name + "/" + s.name).c_str(), [&s, call](benchmark::State& timer) {
    for (auto _ : timer) call(s);
    timer.counters["per_state"] = benchmark::Counter(
        static_cast<double>(timer.iterations()) * static_cast<double>(s.q.rows()),
        benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  })->UseRealTime();
}

void add(Subject& s) {
  add_single("inverse", s, [](Subject& x, std::size_t k) {
    benchmark::DoNotOptimize(
        inverse_dynamics(x.mechanism, x.states[k], x.inputs[k], x.workspace).data());
  });
  add_single("forward", s, [](Subject& x, std::size_t k) {
    benchmark::DoNotOptimize(
        forward_dynamics(x.mechanism, x.states[k], x.inputs[k], x.workspace).data());
  });
  add_single("mass_matrix", s, [](Subject& x, std::size_t k) {
    benchmark::DoNotOptimize(mass_matrix(x.mechanism, x.states[k].q, x.workspace).data());
  });
  add_batch("batch_forward", s, [](Subject& x) {
    batch_forward_dynamics(x.mechanism, x.q, x.v, x.effort, x.one_thread, x.found);
  });
  add_batch("batch_forward_all_threads", s, [](Subject& x) {
    batch_forward_dynamics(x.mechanism, x.q, x.v, x.effort, x.all_threads, x.found);
  });
  add_batch("batch_inverse", s, [](Subject& x) {
    batch_inverse_dynamics(x.mechanism, x.q, x.v, x.acceleration, x.one_thread, x.found);
  });
  add_batch("batch_kinematics", s, [](Subject& x) {
    batch_kinematics(x.mechanism, x.q, x.v, x.one_thread, x.kinematics);
  });
  if (s.mechanism.freedoms() <= 100)
    add_batch("batch_mass_matrix", s,
              [](Subject& x) { batch_mass_matrix(x.mechanism, x.q, x.one_thread, x.triangles); });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string models = std::string(CATENA_SOURCE_DIR) + "/models/";
  Subject arm6("arm6", load(models + "arm6.yaml"));
  Subject arm7("arm7", load(models + "arm7.yaml"));
  Subject quadruped("quadruped", load(models + "quadruped.yaml"));
  Subject humanoid("humanoid", catena_bench::humanoid());
  Subject chain10("chain10", catena_bench::chain(10));
  Subject chain100("chain100", catena_bench::chain(100));
  Subject chain1000("chain1000", catena_bench::chain(1000));
  for (Subject* s : {&arm6, &arm7, &quadruped, &humanoid, &chain10, &chain100, &chain1000}) add(*s);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
