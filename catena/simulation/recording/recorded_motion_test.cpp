// SPDX-License-Identifier: BSD-3-Clause
// Motions read back from rows, between the rows against a simulation with many more of them.
#include "catena/simulation/recording/recorded_motion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/model/builder.h"
#include "catena/model/configuration.h"
#include "catena/simulation/simulate.h"

namespace catena {
namespace {

using ::testing::HasSubstr;

// A free body that tumbles, with a pendulum on it.
Mechanism tumbler() {
  MechanismBuilder b("tumbler");
  b.set_gravity({0.0, 0.0, -9.81});
  b.add_body("hull", {.mass = 2.0, .inertia = SymMat3d::diagonal(0.2, 0.3, 0.4)});
  b.add_body("arm", {.mass = 1.0,
                     .center_of_mass = {0.0, 0.0, -0.4},
                     .inertia = SymMat3d::diagonal(0.05, 0.05, 0.01)});
  b.add_hinge("base", "world", "hull", {.type = HingeType::free});
  b.add_hinge("pivot", "hull", "arm", {.axes = {{0.0, 1.0, 0.0}}});
  return b.finish();
}

RecordedMotion record(const Mechanism& m, double interval) {
  State start = m.default_state();
  start.v << 1.5, -2.0, 0.7, 0.4, 0.3, 2.0, -1.0;
  SimulationSettings settings{.duration = 1.0, .output_interval = interval};
  settings.integrator.relative_tolerance = 1e-12;
  settings.integrator.absolute_tolerance = 1e-13;
  settings.actions.inputs = {{"pivot", "2*sin(3*t)"}};
  MemoryRecorder memory;
  simulate(m, start, settings, memory);
  const auto columns = memory.columns();
  const RunRows rows = Eigen::Map<const RunRows>(memory.values().data(), memory.rows(),
                                                 static_cast<Eigen::Index>(columns.size()));
  return recorded_motion(columns, rows, m, Efforts::required, "memory");
}

struct Errors {
  double position = 0.0, velocity = 0.0, effort = 0.0;
};
Errors errors(const Mechanism& m, const RecordedMotion& coarse, const RecordedMotion& fine) {
  Errors e;
  for (std::size_t k = 0; k < fine.rows(); ++k) {
    const State s = coarse.state_at(fine.time(k));
    const auto largest = [](const Eigen::VectorXd& x) { return x.lpNorm<Eigen::Infinity>(); };
    e.position = std::max(e.position, largest(difference(m, s.q, fine.state(k).q)));
    e.velocity = std::max(e.velocity, largest(s.v - fine.state(k).v));
    e.effort = std::max(e.effort, largest(coarse.effort_at(fine.time(k)) - fine.effort(k)));
  }
  return e;
}

TEST(RecordedMotion, BetweenTheRowsItConvergesWithItsOrders) {
  const Mechanism m = tumbler();
  const RecordedMotion fine = record(m, 0.002);
  const Errors wide = errors(m, record(m, 0.05), fine);
  const Errors narrow = errors(m, record(m, 0.025), fine);
  // Half the interval: 1/16, 1/8 and, next to the extremes of the effort, 1/4 of the error; less a
  // quarter for what is not asymptotic.
  EXPECT_GT(wide.position / narrow.position, 12.0);
  EXPECT_GT(wide.velocity / narrow.velocity, 6.0);
  EXPECT_GT(wide.effort / narrow.effort, 3.0);
  EXPECT_LT(narrow.position, 1e-4);
}

// Between its extremes 2 sin 3t is O(h³): the sum over times within the first rise.
TEST(RecordedMotion, SmoothEffortsAreOfThirdOrder) {
  const Mechanism m = tumbler();
  const auto worst = [&](double interval) {
    const RecordedMotion motion = record(m, interval);
    double error = 0.0;
    for (double t = 0.0; t < 0.4; t += 0.001)
      error = std::max(error, std::abs(motion.effort_at(t)[6] - 2.0 * std::sin(3.0 * t)));
    return error;
  };
  EXPECT_GT(worst(0.05) / worst(0.025), 6.0);
}

TEST(RecordedMotion, AnEffortThatJumpsDoesNotOvershoot) {
  MechanismBuilder b("pendulum");
  b.add_body("link", {.mass = 1.0, .center_of_mass = {1.0, 0.0, 0.0}});
  b.add_hinge("pivot", "world", "link");
  const Mechanism m = b.finish();
  std::vector<double> times;
  std::vector<Eigen::VectorXd> efforts;
  for (int k = 0; k < 8; ++k) {
    times.push_back(0.1 * k);
    efforts.push_back(Eigen::VectorXd::Constant(1, k < 4 ? -5.0 : 5.0));
  }
  const RecordedMotion motion(m, times, std::vector<State>(8, m.default_state()), efforts);
  for (double t = 0.0; t < 0.7; t += 0.001) {
    EXPECT_LE(std::abs(motion.effort_at(t)[0]), 5.0);
    if (t > 0.3 && t < 0.4) continue;
    EXPECT_EQ(motion.effort_at(t)[0], t < 0.35 ? -5.0 : 5.0);
  }
}

TEST(RecordedMotion, KeepsItsRows) {
  const Mechanism m = tumbler();
  const RecordedMotion motion = record(m, 0.05);
  ASSERT_EQ(motion.rows(), 21u);
  for (std::size_t k = 0; k < motion.rows(); ++k) {
    const State s = motion.state_at(motion.time(k));
    EXPECT_LT(difference(m, s.q, motion.state(k).q).lpNorm<Eigen::Infinity>(), 1e-14);
    EXPECT_LT((s.v - motion.state(k).v).lpNorm<Eigen::Infinity>(), 1e-13);
    EXPECT_NEAR(motion.effort(k)[6], 2.0 * std::sin(3.0 * motion.time(k)), 1e-12);
  }
  EXPECT_EQ(motion.state_at(99.0).v, motion.state(20).v);
}

std::string message_of(const std::vector<RunColumn>& columns, const RunRows& rows) {
  MechanismBuilder b("pendulum");
  b.add_body("link", {.mass = 1.0, .center_of_mass = {1.0, 0.0, 0.0}});
  b.add_hinge("pivot", "world", "link");
  const Mechanism m = b.finish();
  try {
    recorded_motion(columns, rows, m, Efforts::required, "x.h5");
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(RecordedMotion, SaysWhatIsMissing) {
  RunRows rows(2, 4);
  rows << 0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0;
  EXPECT_THAT(
      message_of({{"time"}, {"q.pivot"}, {"v.pivot"}, {"x"}}, rows),
      HasSubstr("x.h5: has no column 'effort.pivot': the efforts of the motion are needed"));
  EXPECT_THAT(message_of({{"time"}, {"q.elbow"}, {"v.pivot"}, {"x"}}, rows),
              HasSubstr("no column 'q.pivot': was it made with another model?"));
  EXPECT_THAT(message_of({{"time"}, {"q.pivot"}, {"v.pivot"}, {"effort.pivot"}}, rows),
              HasSubstr("x.h5: row 1 of the motion: its time 0 s is not after 0 s"));
}

// A column of another's making stands in the run, at the time and state of its row.
TEST(ExtraOutputs, AreColumnsOfTheRun) {
  const Mechanism m = tumbler();
  SimulationSettings settings{.duration = 0.5, .output_interval = 0.1};
  settings.outputs = {"v.pivot"};
  settings.extra_outputs = {
      {{"guess.v.pivot", "rad/s"}, [](double t, const State& s) { return 10.0 * t + s.v[6]; }}};
  MemoryRecorder memory;
  simulate(m, m.default_state(), settings, memory);
  EXPECT_EQ(memory.columns().back().unit, "rad/s");
  for (Eigen::Index k = 0; k < memory.rows(); ++k)
    EXPECT_DOUBLE_EQ(memory.value(k, "guess.v.pivot"),
                     10.0 * memory.value(k, "time") + memory.value(k, "v.pivot"));
  settings.extra_outputs[0].column.name = "q.pivot";
  EXPECT_THROW(simulate(m, m.default_state(), settings, memory), Error);
}

}  // namespace
}  // namespace catena
