// SPDX-License-Identifier: BSD-3-Clause
// What flexible bodies cost, as ratios in one run:
//
//   forward dynamics of one body with 14 modes beside that of a rigid arm of seven axes
//   time per body of chains of 100, 1,000 and 10,000 beams of 4 modes (identical: one set of
//   constants) a tree of 10 beams with 141 modes up to 100 Hz for some time (seconds as argument,
//   default 300): simulated time over processor time constants of a beam with 100 and 300 modes
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "catena/dynamics/forward.h"
#include "catena/flexible/beam.h"
#include "catena/flexible/testing/ten_beams.h"
#include "catena/io/load.h"
#include "catena/model/builder.h"
#include "catena/model/configuration.h"
#include "catena/simulation/simulate.h"

namespace {

using namespace catena;

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// The least time of a call, s.
template <class F>
double least_time(int rounds, int calls, F f) {
  double least = 1e300;
  for (int i = 0; i < rounds; ++i) {
    const double start = processor_seconds();
    for (int k = 0; k < calls; ++k) f();
    least = std::min(least, (processor_seconds() - start) / calls);
  }
  return least;
}

double forward_time(const Mechanism& m, int rounds, int calls) {
  Workspace w(m);
  State state = m.default_state();
  state.q = random_position(m, 3);
  state.v = random_vector(m.freedoms(), 4);
  for (const FlexiblePlace& body : m.flexible_bodies()) {
    const Node& node = m.nodes()[static_cast<std::size_t>(body.node)];
    state.q.segment(node.q_index, node.coordinates) *= 1e-4;
    state.v.segment(node.v_index, node.freedoms) *= 1e-4;
  }
  const Eigen::VectorXd effort = random_vector(m.freedoms(), 5);
  return least_time(rounds, calls, [&] { forward_dynamics(m, state, effort, w); });
}

void compare_with_arm() {
  const Mechanism arm = load(std::string(CATENA_SOURCE_DIR) + "/models/arm7.yaml");
  MechanismBuilder b("one");
  b.add_flexible_body("beam", make_beam(ten_beams_settings(14)), ten_beams_root());
  b.add_hinge("root", kWorld, "beam", {.type = HingeType::revolute, .axes = {{0, 0, 1}}});
  const Mechanism one = b.finish();
  double rigid = 1e300, flexible = 1e300;
  for (int i = 0; i < 20; ++i) {  // in turn, so that both see the same machine
    rigid = std::min(rigid, forward_time(arm, 3, 200));
    flexible = std::min(flexible, forward_time(one, 3, 200));
  }
  std::printf("14 modes: %.2f us, arm of seven axes: %.2f us, ratio %.2f\n", 1e6 * flexible,
              1e6 * rigid, flexible / rigid);
}

// Beams, and rigid bodies beside them: what caches do to both.
void compare_chains(bool flexible) {
  const auto constants = make_beam(ten_beams_settings(4));
  double first = 0.0;
  for (const int count : {100, 1000, 10000}) {
    MechanismBuilder b("chain");
    std::string last = kWorld;
    for (int i = 0; i < count; ++i) {
      const std::string name = "b" + std::to_string(i);
      if (flexible)
        b.add_flexible_body(name, constants, ten_beams_root());
      else
        b.add_body(name, ten_beams_root());
      b.add_hinge("h" + std::to_string(i), last, name,
                  {.type = HingeType::revolute, .axes = {{0, 0, 1}}});
      last = flexible ? name + ".tip" : name;
    }
    const double each = forward_time(b.finish(), 40, std::max(1, 2000 / count)) / count;
    if (first == 0.0) first = each;
    std::printf("chain of %5d %s: %.3f us a body, ratio %.2f\n", count,
                flexible ? "beams" : "rigid bodies", 1e6 * each, each / first);
  }
}

void run_ten_beams(double duration) {
  const Mechanism m = ten_beams();
  SimulationSettings settings{.duration = duration};
  MemoryRecorder record;
  settings.outputs = {"energy.*"};
  settings.output_interval = 0.1;
  const SimulationResult r = simulate(m, ten_beams_state(m), settings, record);
  std::printf(
      "141 modes, %g s: %.2f s of processor time, %.1f times real time, drift %.1e, %lld steps\n",
      r.simulated_time, r.processor_time, r.simulated_time / r.processor_time, r.audit.energy_drift,
      static_cast<long long>(r.steps.steps));
  for (const RunEvent& e : record.events())
    std::printf("  %s: %s\n", e.kind.c_str(), e.detail.c_str());
}

void make_constants() {
  for (const int modes : {100, 300}) {
    const double start = processor_seconds();
    const auto body = make_beam(ten_beams_settings(modes));
    std::printf("constants of %d modes: %.1f s\n", body->modes(), processor_seconds() - start);
  }
}

}  // namespace

int main(int count, char** arguments) {
  compare_with_arm();
  compare_chains(false);
  compare_chains(true);
  run_ten_beams(count > 1 ? std::atof(arguments[1]) : 300.0);
  make_constants();
}
