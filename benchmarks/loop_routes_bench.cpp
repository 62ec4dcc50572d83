// SPDX-License-Identifier: BSD-3-Clause
// The two roads through a closed loop against its size: constraint embedding (one dense node of the
// tree) and multipliers (the open tree and its closures). Two families of planar loops with pins of
// two rows: one ring of n links, and N four-bars side by side that share their rockers ([Jain
// 2009]'s chain of four-bars). kLargeLoop of forward.h comes from here.
#include <cmath>

#include <benchmark/benchmark.h>

#include "catena/closure/assembly.h"
#include "catena/dynamics/forward.h"
#include "catena/model/builder.h"

namespace {

using namespace catena;

BodySettings rod(double length) {
  const double i = length * length / 12.0;
  return {.mass = 1.0,
          .center_of_mass = {length / 2.0, 0.0, 0.0},
          .inertia = SymMat3d::diagonal(1e-3, i, i)};
}

Transformd along(double x) { return Transformd::from_translation({x, 0.0, 0.0}); }

// A point of the plane: two rows. A spherical pin has a third one that says nothing.
HingeSettings cut_pin(double on_parent, double on_child) {
  return {.type = HingeType::spherical,
          .frame_on_parent = along(on_parent),
          .frame_on_child = along(on_child),
          .cut = Cut::always};
}

Mechanism ring(int links) {
  MechanismBuilder b("ring");
  for (int i = 0; i < links; ++i) {
    const std::string name = "l" + std::to_string(i);
    b.add_body(name, rod(1.0));
    b.add_hinge("h" + std::to_string(i), i == 0 ? kWorld : "l" + std::to_string(i - 1), name,
                {.frame_on_parent = along(i == 0 ? 0.0 : 1.0)});
  }
  b.add_hinge("cut", kWorld, "l" + std::to_string(links - 1), cut_pin(0.0, 1.0));
  return b.finish();
}

Mechanism four_bars(int count) {
  MechanismBuilder b("four_bars");
  for (int i = 0; i <= count; ++i) {
    const std::string crank = "c" + std::to_string(i);
    b.add_body(crank, rod(1.0));
    b.add_hinge(crank, kWorld, crank, {.frame_on_parent = along(i)});
    if (i == 0) continue;
    const std::string coupler = "k" + std::to_string(i);
    b.add_body(coupler, rod(1.0));
    b.add_hinge(coupler, "c" + std::to_string(i - 1), coupler, {.frame_on_parent = along(1.0)});
    b.add_hinge("cut" + std::to_string(i), coupler, crank, cut_pin(1.0, 1.0));
  }
  return b.finish();
}

State state_of(const Mechanism& m, bool ring_of_links) {
  State guess = m.default_state();
  for (int i = 0; i < m.freedoms(); ++i) {
    const std::string& name = m.velocity_names()[static_cast<std::size_t>(i)];
    if (ring_of_links)
      guess.q[i] =
          i == 0 ? 0.3 : 2.0 * M_PI / m.freedoms() + 0.3 / m.freedoms() * std::sin(1.7 * i);
    else
      guess.q[i] = name[0] == 'c' ? 1.0 : -1.0;
    guess.v[i] = 0.1 * std::cos(0.9 * i);
  }
  return assemble(m, guess);
}

void run(benchmark::State& state, const Mechanism& m, bool ring_of_links, Route route) {
  const State s = state_of(m, ring_of_links);
  const Eigen::VectorXd effort = Eigen::VectorXd::Zero(m.freedoms());
  Workspace w(m);
  for (auto _ : state)
    benchmark::DoNotOptimize(forward_dynamics(m, s, effort, w, {}, route).data());
  state.counters["freedoms"] = m.freedoms();
}

void BM_ring_embedded(benchmark::State& s) {
  run(s, ring(static_cast<int>(s.range(0))), true, Route::recursive);
}
void BM_ring_multipliers(benchmark::State& s) {
  run(s, ring(static_cast<int>(s.range(0))), true, Route::multipliers);
}
void BM_four_bars_embedded(benchmark::State& s) {
  run(s, four_bars(static_cast<int>(s.range(0))), false, Route::recursive);
}
void BM_four_bars_multipliers(benchmark::State& s) {
  run(s, four_bars(static_cast<int>(s.range(0))), false, Route::multipliers);
}

BENCHMARK(BM_ring_embedded)->Arg(4)->Arg(6)->Arg(10)->Arg(20)->Arg(40)->Arg(80);
BENCHMARK(BM_ring_multipliers)->Arg(4)->Arg(6)->Arg(10)->Arg(20)->Arg(40)->Arg(80);
BENCHMARK(BM_four_bars_embedded)->Arg(2)->Arg(5)->Arg(10)->Arg(20)->Arg(40);
BENCHMARK(BM_four_bars_multipliers)->Arg(2)->Arg(5)->Arg(10)->Arg(20)->Arg(40);

}  // namespace

BENCHMARK_MAIN();
