#include "catena/simulation/component.h"

#include <cmath>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/simulation/freedom_index.h"
#include "catena/simulation/testing/simulate_test_support.h"

namespace catena {
namespace {

using test::model;
using test::settings_of;
using testing::HasSubstr;

constexpr double kTorque = 2.0, kLag = 0.3;

// A motor that follows a constant torque with a lag: ẋ = (u − x)/τ.
class LaggingMotor final : public Component {
 public:
  LaggingMotor(const Mechanism& mechanism, const std::string& freedom)
      : Component("motor " + freedom, {freedom_index(mechanism, freedom)}) {}
  int states() const override { return 1; }
  void act(const Instant&, std::span<const double> x, std::span<double> effort,
           std::span<double> rate) const override {
    effort[0] = x[0];
    rate[0] = (kTorque - x[0]) / kLag;
  }
};

SimulationSettings with_motor() {
  SimulationSettings settings = settings_of(2.0, 0.1, 1e-10);
  settings.outputs = {"q.*", "v.*", "effort.*", "work.*"};
  settings.actions.components.push_back(
      [](const Mechanism& m) { return std::make_unique<LaggingMotor>(m, "shoulder"); });
  return settings;
}

// The lag has a closed form: the same torque as an input of time alone moves the arm alike.
TEST(Component, StatesAreIntegratedWithTheMotion) {
  const Mechanism m = model("double_pendulum");
  MemoryRecorder with, without;
  const SimulationResult r = simulate(m, m.default_state(), with_motor(), with);
  SimulationSettings input = with_motor();
  input.actions.components.clear();
  input.actions.inputs = {{"shoulder", "2*(1 - exp(-t/0.3))"}};
  simulate(m, m.default_state(), input, without);
  ASSERT_EQ(with.rows(), without.rows());
  for (const char* column : {"q.shoulder", "q.elbow", "v.shoulder", "effort.shoulder"})
    EXPECT_LT((with.column(column) - without.column(column)).lpNorm<Eigen::Infinity>(), 1e-7)
        << column;
  EXPECT_LT((with.column("work.motor shoulder") - without.column("work.input shoulder"))
                .lpNorm<Eigen::Infinity>(),
            1e-7);
  EXPECT_LT(r.audit.energy_drift, 1e-8);
}

TEST(Component, ResumesWithTheSameBits) {
  const Mechanism m = model("double_pendulum");
  MemoryRecorder whole, rest;
  const SimulationResult r = simulate(m, m.default_state(), with_motor(), whole);
  rest.begin(whole.columns());
  const SimulationResult again =
      resume_simulation(m, whole.checkpoints().at(4), with_motor(), rest);
  EXPECT_EQ(again.state.q, r.state.q);
  EXPECT_EQ(again.state.v, r.state.v);
}

TEST(Component, DoesNotActWhereAMotionIsPrescribed) {
  SimulationSettings settings = with_motor();
  settings.actions.motions = {{"shoulder", "t"}};
  EXPECT_THAT(test::problem(model("double_pendulum"), settings),
              HasSubstr("motor shoulder: the motion of this freedom is prescribed"));
}

}  // namespace
}  // namespace catena
