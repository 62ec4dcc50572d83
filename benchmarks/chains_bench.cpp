// SPDX-License-Identifier: BSD-3-Clause
// Several chains that hold one body rigidly (constraints/chains_on_body.h), against the number of
// chains and their length: the time is linear in chains times length. Beside it the forward
// dynamics of the same open chains.
#include <cmath>

#include <benchmark/benchmark.h>

#include "catena/constraints/chains_on_body.h"
#include "catena/dynamics/kinematics.h"
#include "catena/model/builder.h"

namespace {

using namespace catena;

struct Grasp {
  Mechanism mechanism;
  State state;
  std::vector<ChainContact> contacts;
};

std::string link_name(int chain, int link) {
  return "c" + std::to_string(chain) + "_" + std::to_string(link);
}

// Arms of revolute hinges about axes in turn that stand in a circle around a body.
Grasp make(int chains, int length) {
  MechanismBuilder b("grasp");
  b.add_body("object", {.mass = 5.0, .inertia = SymMat3d::diagonal(0.1, 0.2, 0.3)});
  b.add_hinge("object", kWorld, "object", {.type = HingeType::free});
  const Vec3d axes[] = {Vec3d::unit_z(), Vec3d::unit_y(), Vec3d::unit_x()};
  for (int c = 0; c < chains; ++c)
    for (int i = 0; i < length; ++i) {
      const double angle = 2.0 * M_PI * c / chains;
      b.add_body(link_name(c, i), {.mass = 1.0,
                                   .center_of_mass = {0.05, 0.0, 0.0},
                                   .inertia = SymMat3d::diagonal(0.01, 0.02, 0.03)});
      b.add_hinge("h" + link_name(c, i), i == 0 ? kWorld : link_name(c, i - 1), link_name(c, i),
                  {.axes = {axes[i % 3]},
                   .frame_on_parent = Transformd::from_translation(
                       i == 0 ? Vec3d{2.0 * std::cos(angle), 2.0 * std::sin(angle), 0.0}
                              : Vec3d{0.1, 0.02, 0.01})});
    }
  Grasp g{b.finish(), {}, {}};
  g.state = g.mechanism.default_state();
  for (int i = 0; i < g.mechanism.freedoms(); ++i)
    if (const int q = g.mechanism.coordinate_of_freedom()[static_cast<std::size_t>(i)]; i >= 6)
      g.state.q[q] = 0.5 * std::sin(1.3 * i) + 0.2;
  for (int c = 0; c < chains; ++c) {
    const int tip = g.mechanism.body_index(link_name(c, length - 1));
    g.contacts.push_back({.name = std::to_string(c),
                          .body = tip,
                          .against = g.mechanism.body_index("object"),
                          .on_other = body_pose(g.mechanism, g.state.q, tip)});
  }
  return g;
}

void chains(benchmark::State& state) {
  const Grasp g = make(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  ChainsOnBody on_body(g.mechanism, g.mechanism.body_index("object"), g.contacts);
  const Eigen::VectorXd effort = Eigen::VectorXd::Zero(g.mechanism.freedoms());
  ChainsResult result;
  for (auto _ : state) {
    on_body.forward(g.state, effort, result);
    benchmark::DoNotOptimize(result.acceleration.data());
  }
  if (!result.by_blocks) state.SkipWithError("not by blocks");
  // Seconds for each link of each chain.
  state.counters["per_link"] = benchmark::Counter(
      static_cast<double>(state.range(0) * state.range(1)),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void open_chains_alone(benchmark::State& state) {
  const Grasp g = make(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  const Eigen::VectorXd effort = Eigen::VectorXd::Zero(g.mechanism.freedoms());
  Workspace w(g.mechanism);
  for (auto _ : state)
    benchmark::DoNotOptimize(forward_dynamics(g.mechanism, g.state, effort, w).data());
}

void sizes(benchmark::internal::Benchmark* b) {
  for (const int count : {2, 4, 8, 16, 32, 64}) b->Args({count, 7});
  for (const int length : {7, 14, 28, 56, 112}) b->Args({4, length});
}

BENCHMARK(chains)->Apply(sizes)->Unit(benchmark::kMicrosecond);
BENCHMARK(open_chains_alone)->Apply(sizes)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
