// One state at a time: inverse dynamics, forward dynamics and the mass matrix of an arm, a
// quadruped and chains, over sixteen states each so that no branch predictor learns one by heart.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "catena/dynamics/forward.h"
#include "catena/dynamics/inverse.h"
#include "catena/dynamics/mass_matrix.h"
#include "catena/io/load.h"
#include "catena/model/configuration.h"

namespace {

using namespace catena;

constexpr std::size_t kStates = 16;

// Revolute hinges about z, y and x in turn.
Mechanism chain(int links) {
  MechanismBuilder builder("chain" + std::to_string(links));
  const Vec3d axes[3] = {Vec3d::unit_z(), Vec3d::unit_y(), Vec3d::unit_x()};
  std::string parent = kWorld;
  for (int i = 0; i < links; ++i) {
    const std::string name = "link" + std::to_string(i);
    builder.add_body(name, {.mass = 1.0,
                            .center_of_mass = {0.15, 0.02, 0.01},
                            .inertia = SymMat3d::diagonal(0.002, 0.009, 0.008)});
    builder.add_hinge("hinge" + std::to_string(i), parent, name,
                      {.type = HingeType::revolute,
                       .axes = {axes[i % 3]},
                       .frame_on_parent = Transformd::from_translation({0.3, 0.0, 0.0})});
    parent = name;
  }
  return builder.finish();
}

struct Subject {
  explicit Subject(Mechanism m) : mechanism(std::move(m)), workspace(mechanism) {
    for (std::size_t k = 0; k < kStates; ++k) {
      states.push_back(
          {random_position(mechanism, 3 * k), random_vector(mechanism.freedoms(), 3 * k + 1)});
      inputs.push_back(random_vector(mechanism.freedoms(), 3 * k + 2));
    }
  }
  Mechanism mechanism;
  Workspace workspace;
  std::vector<State> states;
  std::vector<Eigen::VectorXd> inputs;
};

template <class F>
void run(benchmark::State& timer, Subject& s, F call) {
  std::size_t k = 0;
  for (auto _ : timer) {
    call(s, k);
    k = (k + 1) % kStates;
  }
}

void add(const std::string& name, Subject& s) {
  benchmark::RegisterBenchmark(("inverse/" + name).c_str(), [&s](benchmark::State& timer) {
    run(timer, s, [](Subject& x, std::size_t k) {
      benchmark::DoNotOptimize(
          inverse_dynamics(x.mechanism, x.states[k], x.inputs[k], x.workspace).data());
    });
  });
  benchmark::RegisterBenchmark(("forward/" + name).c_str(), [&s](benchmark::State& timer) {
    run(timer, s, [](Subject& x, std::size_t k) {
      benchmark::DoNotOptimize(
          forward_dynamics(x.mechanism, x.states[k], x.inputs[k], x.workspace).data());
    });
  });
  benchmark::RegisterBenchmark(("mass_matrix/" + name).c_str(), [&s](benchmark::State& timer) {
    run(timer, s, [](Subject& x, std::size_t k) {
      benchmark::DoNotOptimize(mass_matrix(x.mechanism, x.states[k].q, x.workspace).data());
    });
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::string models = std::string(CATENA_SOURCE_DIR) + "/models/";
  Subject arm6(load(models + "arm6.yaml"));
  Subject arm7(load(models + "arm7.yaml"));
  Subject quadruped(load(models + "quadruped.yaml"));
  Subject chain10(chain(10));
  Subject chain100(chain(100));
  Subject chain1000(chain(1000));
  add("arm6", arm6);
  add("arm7", arm7);
  add("quadruped", quadruped);
  add("chain10", chain10);
  add("chain100", chain100);
  add("chain1000", chain1000);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
