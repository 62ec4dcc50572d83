// SPDX-License-Identifier: BSD-3-Clause
#include "catena/simulation/simulate.h"

#include <atomic>
#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/base/testing/temporary_folder.h"
#include "catena/dynamics/inverse.h"
#include "catena/simulation/settings_file.h"
#include "catena/simulation/testing/simulate_test_support.h"

namespace catena {
namespace {

using test::model;
using test::problem;
using testing::HasSubstr;

TEST(Simulate, RecordsRowsAtRoundTimes) {
  const Mechanism m = model("double_pendulum");
  MemoryRecorder record;
  const SimulationResult r = simulate(m, m.default_state(), {.duration = 2.0}, record);
  ASSERT_EQ(record.rows(), 1001);
  EXPECT_EQ(r.rows, 1001);
  EXPECT_EQ(record.columns()[0].name, "time");
  EXPECT_EQ(record.value(0, "time"), 0.0);
  EXPECT_EQ(record.value(1, "time"), 0.002);
  EXPECT_EQ(record.value(1000, "time"), 2.0);
  EXPECT_EQ(record.value(0, "q.elbow"), m.default_state().q[m.position_index("elbow")]);
  EXPECT_EQ(record.value(1000, "q.elbow"), r.state.q[m.position_index("elbow")]);
  EXPECT_TRUE(record.complete());
}

// A duration that is no multiple of the interval has its last row at the end.
TEST(Simulate, WritesTheLastRow) {
  const Mechanism m = model("pendulum");
  MemoryRecorder record;
  simulate(m, m.default_state(), {.duration = 1.05, .output_interval = 0.1}, record);
  ASSERT_EQ(record.rows(), 12);
  EXPECT_EQ(record.value(11, "time"), 1.05);
}

// The energy balance counts what every element does.
TEST(Audit, BalancesTheWorkOfAllElements) {
  const Mechanism m = model("arm6");
  SimulationSettings settings{.duration = 2.0};
  settings.integrator.relative_tolerance = 1e-10;
  settings.actions.inputs = {{"pan", "3*sin(4*t)"}};
  settings.actions.controllers = {
      {.freedom = "elbow", .kp = 30.0, .kd = 3.0, .ki = 5.0, .target = "0.3*t"}};
  settings.actions.motions = {{"wrist_roll", "0.5*sin(3*t)"}};
  ExternalWrench push;
  push.body = 3;
  push.wrench.force = {1.0, -2.0, 0.5};
  push.wrench.moment = {0.1, 0.0, -0.2};
  push.point = {0.1, 0.0, 0.05};
  push.axes = ExternalWrench::Axes::ground;
  settings.actions.external = {push};
  push.axes = ExternalWrench::Axes::body;
  settings.actions.external.push_back(push);
  MemoryRecorder record;
  const SimulationResult r = simulate(m, m.default_state(), settings, record);
  EXPECT_LT(r.audit.energy_drift, 1e-9);
  for (const ElementWork& work : r.audit.work)
    if (!work.element.starts_with("impacts")) {
      EXPECT_NE(work.work, 0.0) << work.element;
    }
  EXPECT_FALSE(r.audit.linear_momentum_drift);
}

// A spring with a damper between two points.
TEST(Audit, CountsDampersBetweenPoints) {
  MechanismBuilder b("strut");
  b.add_body(
      "arm",
      {.mass = 1.0, .center_of_mass = {0.5, 0, 0}, .inertia = SymMat3d::diagonal(0.01, 0.1, 0.1)});
  b.add_hinge("pin", "world", "arm", {.axes = {{0, 1, 0}}});
  b.add_spring({.name = "strut",
                .body_a = "world",
                .point_a = {0.2, 0, 1},
                .body_b = "arm",
                .point_b = {0.8, 0, 0},
                .stiffness = 100.0,
                .rest_length = 0.9,
                .damping = 4.0});
  const Mechanism m = b.finish();
  MemoryRecorder record;
  SimulationSettings settings{.duration = 3.0};
  settings.integrator.relative_tolerance = 1e-10;
  const SimulationResult r = simulate(m, m.default_state(), settings, record);
  ASSERT_EQ(r.audit.work.size(), 1u);
  EXPECT_LT(r.audit.work[0].work, -0.01);
  EXPECT_LT(r.audit.energy_drift, 1e-8);
}

// The audit does not change the motion: the work is outside error control.
TEST(Audit, DoesNotChangeTheMotion) {
  const Mechanism m = model("double_pendulum");
  SimulationSettings settings{.duration = 3.0};
  MemoryRecorder without, with;
  const State a = simulate(m, m.default_state(), settings, without).state;
  settings.actions.inputs = {{"elbow", "0"}};
  const State b = simulate(m, m.default_state(), settings, with).state;
  EXPECT_EQ(a.q, b.q);
  EXPECT_EQ(a.v, b.v);
}

// A prescribed motion is followed exactly, and its effort is that of inverse dynamics.
TEST(Motion, IsPrescribed) {
  const Mechanism m = model("double_pendulum");
  SimulationSettings settings{.duration = 1.0, .outputs = {"q.*", "v.*", "a.*", "effort.*"}};
  settings.actions.motions = {{"shoulder", "0.5 + 1.1*t + 0.2*sin(3*t)"}};
  MemoryRecorder record;
  const SimulationResult r = simulate(m, m.default_state(), settings, record);
  for (Eigen::Index row = 0; row < record.rows(); row += 100) {
    const double t = record.value(row, "time");
    EXPECT_DOUBLE_EQ(record.value(row, "q.shoulder"), 0.5 + 1.1 * t + 0.2 * std::sin(3.0 * t));
    EXPECT_DOUBLE_EQ(record.value(row, "v.shoulder"), 1.1 + 0.6 * std::cos(3.0 * t));
    EXPECT_NEAR(record.value(row, "a.shoulder"), -1.8 * std::sin(3.0 * t), 1e-12);
    const State s{Eigen::Vector2d(record.value(row, "q.shoulder"), record.value(row, "q.elbow")),
                  Eigen::Vector2d(record.value(row, "v.shoulder"), record.value(row, "v.elbow"))};
    const Eigen::Vector2d a(record.value(row, "a.shoulder"), record.value(row, "a.elbow"));
    const Eigen::VectorXd effort = inverse_dynamics(m, s, a);
    EXPECT_NEAR(record.value(row, "effort.shoulder"), effort[0], 1e-9);
    EXPECT_NEAR(effort[1], 0.0, 1e-9);
  }
  EXPECT_LT(r.audit.energy_drift, 1e-8);
}

// A PID controller on a mass: x'' = kp (r − x) − kd x' + ki ∫(r − x): stationary without error
// under a constant load.
TEST(Controller, IntegralTakesTheErrorAway) {
  MechanismBuilder b("slider");
  b.add_body("load", {.mass = 1.0, .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)});
  b.add_hinge("rail", "world", "load", {.type = HingeType::prismatic});
  const Mechanism m = b.finish();  // along z: gravity is the load
  SimulationSettings settings{.duration = 30.0};
  settings.actions.controllers = {
      {.freedom = "rail", .kp = 20.0, .kd = 8.0, .ki = 10.0, .target = "0.5"}};
  MemoryRecorder record;
  const SimulationResult r = simulate(m, m.default_state(), settings, record);
  EXPECT_NEAR(r.state.q[0], 0.5, 1e-7);
  EXPECT_NEAR(record.value(record.rows() - 1, "effort.rail"), 9.81, 1e-5);
  settings.actions.controllers[0].ki = 0.0;
  MemoryRecorder proportional;
  EXPECT_NEAR(simulate(m, m.default_state(), settings, proportional).state.q[0], 0.5 - 9.81 / 20.0,
              1e-7);
}

// A force that switches on at t = 1: v = (t − 1) F/m, to full accuracy through the jump.
TEST(Input, JumpsAreLocated) {
  MechanismBuilder b("slider");
  b.set_gravity(Vec3d::zero());
  b.add_body("load", {.mass = 2.0, .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)});
  b.add_hinge("rail", "world", "load", {.type = HingeType::prismatic});
  const Mechanism m = b.finish();
  const test::TemporaryFolder folder;
  const std::string table = folder.write("f.csv", "time,f\n0,0\n1,3\n");
  for (const Method method : {Method::dop853, Method::rk4, Method::adams, Method::ab4}) {
    SCOPED_TRACE(to_string(method));
    for (const bool as_table : {false, true}) {
      SimulationSettings settings{.duration = 2.0};
      settings.integrator.method = method;
      settings.integrator.step = 0.03;  // does not meet t = 1
      settings.actions.inputs.resize(1);
      settings.actions.inputs[0].freedom = "rail";
      if (as_table)
        settings.actions.inputs[0].signal =
            TableSignal{.path = table, .interpolation = Interpolation::hold};
      else
        settings.actions.inputs[0].signal = "3*step(t - 1)";
      MemoryRecorder record;
      const SimulationResult r = simulate(m, m.default_state(), settings, record);
      // Exact for these methods, but CVODE's first steps of order one keep to its tolerance only.
      const double allowed = method == Method::adams ? 1e-7 : 1e-12;
      EXPECT_NEAR(r.state.v[0], 1.5, allowed);
      EXPECT_NEAR(r.state.q[0], 0.75, allowed);
      EXPECT_EQ(r.events, as_table ? 0 : 1);
    }
  }
}

TEST(Input, CanBeCode) {
  const Mechanism m = model("pendulum");
  SimulationSettings settings{.duration = 2.0};
  settings.integrator.relative_tolerance = 1e-10;
  settings.actions.inputs = {
      {m.velocity_names()[0], [](double, const State& s) { return -0.5 * s.v[0]; }}};
  MemoryRecorder record;
  const SimulationResult r = simulate(m, m.default_state(), settings, record);
  EXPECT_LT(r.audit.work[0].work, 0.0);
  EXPECT_LT(r.audit.energy_drift, 1e-8);
}

TEST(Input, MistakesAreNamed) {
  const Mechanism m = model("double_pendulum");
  SimulationSettings s;
  s.actions.inputs = {{"elbw", "1"}};
  EXPECT_THAT(problem(m, s), HasSubstr("did you mean 'elbow'?"));
  s.actions.inputs = {{"elbow", "1 +"}};
  EXPECT_THAT(problem(m, s), HasSubstr("input 'elbow': expression \"1 +\", character 4"));
  s.actions.inputs = {{"elbow", "1"}};
  s.actions.motions = {{"elbow", "t"}};
  EXPECT_THAT(problem(m, s), HasSubstr("cannot be given"));
  s.actions.inputs.clear();
  s.actions.motions = {{"elbow", "q.shoulder"}};
  EXPECT_THAT(problem(m, s), HasSubstr("uses the state"));
  EXPECT_THAT(problem(m, {.duration = -1.0}), HasSubstr("must be positive"));
}

// A pendulum crosses zero upward once in each period (of the elliptic closed form).
TEST(Events, UserFunctionsAreLocated) {
  const Mechanism m = model("pendulum");
  State s = m.default_state();
  s.q[0] = 2.0;
  s.v[0] = 0.0;
  SimulationSettings settings{.duration = 10.0};
  settings.integrator.relative_tolerance = 1e-11;
  EventSettings bottom;
  bottom.name = "bottom";
  bottom.signal = "q." + m.position_names()[0];
  bottom.direction = 1;
  settings.actions.events = {bottom};
  MemoryRecorder record;
  simulate(m, s, settings, record);
  const double period = 2.5983695829614;  // case P1
  ASSERT_EQ(record.events().size(), 4u);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(record.events()[k].kind, "user");
    EXPECT_NEAR(record.events()[k].time, (0.75 + static_cast<double>(k)) * period, 1e-8);
  }
  bottom.action = EventSettings::Action::stop;
  bottom.direction = 0;
  settings.actions.events = {bottom};
  MemoryRecorder stopped;
  const SimulationResult r = simulate(m, s, settings, stopped);
  EXPECT_NEAR(r.simulated_time, 0.25 * period, 1e-8);
  EXPECT_TRUE(r.complete);
  EXPECT_EQ(r.end, "event 'bottom'");
}

// A response changes the state; the audit counts what it did.
TEST(Events, CanChangeTheState) {
  const Mechanism m = model("pendulum");
  SimulationSettings settings{.duration = 3.0};
  settings.integrator.relative_tolerance = 1e-10;
  EventSettings kick;
  kick.name = "kick";
  kick.signal = "t - 1";
  kick.respond = [](double, State& s) { s.v[0] += 1.0; };
  settings.actions.events = {kick};
  MemoryRecorder record;
  const SimulationResult r = simulate(m, m.default_state(), settings, record);
  EXPECT_EQ(r.events, 1);
  EXPECT_LT(r.audit.energy_drift, 1e-8);
  EXPECT_EQ(r.audit.work[0].element, "events");
}

TEST(Events, ZenoIsNamed) {
  const Mechanism m = model("pendulum");
  SimulationSettings settings{.duration = 3.0};
  EventSettings chatter;
  chatter.name = "chatter";
  chatter.signal = "v." + m.velocity_names()[0];
  chatter.respond = [](double, State& s) { s.v[0] = s.v[0] > 0.0 ? -1e-12 : 1e-12; };
  settings.actions.events = {chatter};
  EXPECT_THAT(problem(m, settings), testing::AllOf(HasSubstr("Zeno"), HasSubstr("chatter")));
}

// y'' = force that grows without bound: named with time and state, and the record is kept.
TEST(Simulate, NamesACollapse) {
  MechanismBuilder b("slider");
  b.set_gravity(Vec3d::zero());
  b.add_body("load", {.mass = 1.0, .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)});
  b.add_hinge("rail", "world", "load", {.type = HingeType::prismatic});
  const Mechanism m = b.finish();
  State s = m.default_state();
  s.v[0] = 1.0;
  SimulationSettings settings{.duration = 10.0};
  settings.actions.inputs = {{"rail", "v.rail^2"}};  // v = 1 / (1 − t)
  MemoryRecorder record;
  try {
    simulate(m, s, settings, record);
    FAIL();
  } catch (const NumericalError& e) {
    EXPECT_THAT(e.what(), testing::AllOf(HasSubstr("step size fell"), HasSubstr("at time 1.00000"),
                                         HasSubstr("v.rail")));
  }
  EXPECT_FALSE(record.complete());
  EXPECT_GE(record.rows(), 90);
  EXPECT_THAT(record.audit_json(), HasSubstr("energy_drift"));
}

// ---- Resuming. ----

SimulationSettings eventful(Method method) {
  SimulationSettings s{.duration = 4.0, .output_interval = 0.013, .outputs = {"*"}};
  s.integrator.method = method;
  s.integrator.step = 0.003;
  s.actions.inputs = {{"pan", "8*sin(3*t) + 4*step(t - 1.3)"}};
  s.actions.controllers = {
      {.freedom = "elbow", .kp = 30.0, .kd = 1.0, .ki = 5.0, .target = "2*sin(4*t)"}};
  return s;
}

TEST(Resume, GivesTheSameBits) {
  MechanismBuilder builder = model("arm6").edit();
  for (const char* name : {"pan", "lift", "elbow"}) {
    builder.hinge(name).freedoms.resize(1);
    builder.hinge(name).freedoms[0].friction = {.sliding = 0.5, .breakaway = 0.8};
    builder.hinge(name).freedoms[0].lower = -0.6;
    builder.hinge(name).freedoms[0].upper = 1.0;
  }
  const Mechanism m = builder.finish();
  for (const Method method : {Method::dop853, Method::adams, Method::arkode, Method::am4}) {
    SCOPED_TRACE(to_string(method));
    const SimulationSettings settings = eventful(method);
    MemoryRecorder whole;
    const SimulationResult r = simulate(m, m.default_state(), settings, whole);
    EXPECT_GT(r.events, 3);
    ASSERT_EQ(whole.checkpoints().size(), 9u);
    for (const std::size_t k : {0u, 4u, 8u}) {
      const RunCheckpoint& from = whole.checkpoints()[k];
      MemoryRecorder rest;
      rest.begin(whole.columns());
      const SimulationResult again = resume_simulation(m, from, settings, rest);
      const std::size_t first = to_size(from.rows) * whole.columns().size();
      ASSERT_EQ(rest.values().size(), whole.values().size() - first);
      EXPECT_TRUE(std::equal(rest.values().begin(), rest.values().end(),
                             whole.values().begin() + static_cast<std::ptrdiff_t>(first)));
      EXPECT_EQ(again.state.q, r.state.q);
      EXPECT_EQ(again.audit.energy_drift, r.audit.energy_drift);
      EXPECT_EQ(again.steps.evaluations, r.steps.evaluations);
      EXPECT_EQ(again.events, r.events);
    }
  }
}

TEST(Resume, RefusesAnotherMechanism) {
  const Mechanism m = model("pendulum"), other = model("double_pendulum");
  MemoryRecorder record;
  simulate(m, m.default_state(), {.duration = 1.0}, record);
  EXPECT_THROW(resume_simulation(other, record.checkpoints()[0], {.duration = 1.0}, record), Error);
}

// Progress may stop a run: what was computed is there.
TEST(Simulate, CanBeInterrupted) {
  const Mechanism m = model("double_pendulum");
  SimulationSettings settings{.duration = 10.0};
  settings.progress = [](double t) { return t < 3.0; };
  MemoryRecorder record;
  const SimulationResult r = simulate(m, m.default_state(), settings, record);
  EXPECT_FALSE(r.complete);
  EXPECT_FALSE(record.complete());
  EXPECT_GE(r.simulated_time, 3.0);
  EXPECT_LT(r.simulated_time, 4.0);
  EXPECT_EQ(record.value(record.rows() - 1, "time"), r.simulated_time);
}

// ---- Settings as YAML and JSON. ----

TEST(SettingsFile, SaysEverything) {
  const Mechanism m = model("double_pendulum");
  const test::TemporaryFolder folder;
  const std::string path = folder.write("run.yaml", R"(
duration: 2*pi
method: rk4
step: 0.002
interval: 0.1
outputs: [q.*, work.*]
inputs:
  shoulder: [2*sin(t), {table: torque.csv, column: t2, interpolation: spline, cutoff: 5}]
controllers:
  elbow: {kp: 10, kd: 1, ki: 0.5, target: 0.3*t}
events:
  top: q.elbow - 1
  low: {when: q.elbow + 1, direction: down, action: stop}
restitution: 0.4
friction: smooth
limit_efforts: true
state:
  q: {elbow: 0.2}
  external: [{body: lower, force: [1, 2, 3], axes: ground}]
)");
  SimulationSettings s;
  StateInput input = default_input(m);
  read_settings_file(path, m, input, s);
  EXPECT_DOUBLE_EQ(s.duration, 2.0 * std::numbers::pi);
  EXPECT_EQ(s.integrator.method, Method::rk4);
  ASSERT_EQ(s.actions.inputs.size(), 2u);
  const TableSignal& table = *s.actions.inputs[1].signal.table();
  EXPECT_EQ(table.path, folder.path() + "/torque.csv");
  EXPECT_EQ(table.interpolation, Interpolation::spline);
  EXPECT_EQ(table.cutoff, 5.0);
  EXPECT_EQ(s.actions.controllers[0].ki, 0.5);
  EXPECT_EQ(s.actions.events[1].direction, -1);
  EXPECT_EQ(s.actions.events[1].action, EventSettings::Action::stop);
  EXPECT_EQ(s.actions.friction, FrictionLaw::smooth);
  EXPECT_EQ(input.state.q[m.position_index("elbow")], 0.2);

  // Written as JSON and read again it is the same.
  add_actions(input, m, s.actions);
  const std::string json = settings_json(s, m);
  SimulationSettings again;
  StateInput other = default_input(m);
  read_settings_text(json, "settings", m, other, again);
  add_actions(other, m, again.actions);
  EXPECT_EQ(settings_json(again, m), json);
}

TEST(SettingsFile, SaysWhatIsCodeAndNotInIt) {
  const Mechanism m = model("double_pendulum");
  SimulationSettings s;
  s.actions.inputs.push_back({"elbow", [](double t, const State&) { return t; }});
  s.extra_outputs.push_back({{"mine", "m"}, [](double t, const State&) { return t; }});
  const std::string json = settings_json(s, m);
  SimulationSettings again;
  StateInput input = default_input(m);
  try {
    read_settings_text(json, "settings", m, input, again);
    FAIL();
  } catch (const ModelError& e) {
    EXPECT_THAT(e.what(), HasSubstr("inputs.elbow"));
    EXPECT_THAT(e.what(), HasSubstr("extra_outputs.mine"));
  }
}

TEST(SettingsFile, NamesMistakesWithTheirLine) {
  const Mechanism m = model("double_pendulum");
  SimulationSettings s;
  StateInput input = default_input(m);
  try {
    read_settings_text("durtion: 3\nmethod: rk5\nevents: {x: {action: jump}}\n", "run.yaml", m,
                       input, s);
    FAIL();
  } catch (const ModelError& e) {
    EXPECT_THAT(e.what(), HasSubstr("run.yaml:1"));
    EXPECT_THAT(e.what(), HasSubstr("duration"));
    EXPECT_THAT(e.what(), HasSubstr("run.yaml:2"));
    EXPECT_THAT(e.what(), HasSubstr("run.yaml:3"));
  }
}

TEST(Recorders, WriteFiles) {
  const Mechanism m = model("double_pendulum");
  const test::TemporaryFolder folder;
  const std::string run = folder.path() + "/x.run.h5", csv = folder.path() + "/x.csv";
  MemoryRecorder memory;
  simulate(m, m.default_state(), {.duration = 0.5}, memory);
  {
    RunRecorder recorder(run, {}, false);
    simulate(m, m.default_state(), {.duration = 0.5}, recorder);
    CsvRecorder table(csv);
    simulate(m, m.default_state(), {.duration = 0.5}, table);
  }
  const RunFile file(run);
  EXPECT_TRUE(file.complete());
  EXPECT_EQ(file.rows(), memory.rows());
  EXPECT_EQ(file.column("q.elbow"), memory.column("q.elbow"));
  EXPECT_EQ(file.checkpoints().size(), memory.checkpoints().size());
  const CsvTable table = read_csv(csv);
  EXPECT_EQ(table.values.rows(), memory.rows());
  EXPECT_EQ(table.values(7, 2), memory.values()[7 * memory.columns().size() + 2]);
}

// Checkpoints by the amount of work, and one where a run is interrupted before the first.
TEST(Resume, EveryInterruptedRun) {
  const Mechanism m = model("double_pendulum");
  SimulationSettings settings{.duration = 1e6, .checkpoint_interval = 1e6};
  settings.integrator.relative_tolerance = 1e-10;
  settings.progress = [](double t) { return t < 2.0; };
  MemoryRecorder early;
  EXPECT_FALSE(simulate(m, m.default_state(), settings, early).complete);
  ASSERT_EQ(early.checkpoints().size(), 1u);
  EXPECT_GE(early.checkpoints()[0].time, 2.0);
  EXPECT_EQ(early.checkpoints()[0].rows, 1);  // without the last row, which is between the others
  MemoryRecorder rest, whole;
  rest.begin(early.columns());
  settings.duration = 4.0;
  settings.progress = {};
  const State a = resume_simulation(m, early.checkpoints()[0], settings, rest).state;
  const State b = simulate(m, m.default_state(), settings, whole).state;
  EXPECT_LT((a.q - b.q).norm(), 1e-8);
}

// Interrupted, and taken up again from its file with the model and the settings in it.
TEST(Recorders, ResumeARunFromItsFile) {
  const Mechanism m = model("arm6");
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/x.run.h5";
  SimulationSettings settings = completed(eventful(Method::dop853));
  MemoryRecorder whole;
  simulate(m, m.default_state(), settings, whole);
  {
    RunHeader header;
    header.settings_json = settings_json(settings, m);
    RunRecorder recorder(path, header, false);
    settings.progress = [](double t) { return t < 2.5; };
    EXPECT_FALSE(simulate(m, m.default_state(), settings, recorder).complete);
  }
  SimulationSettings again;
  StateInput input = default_input(m);
  RunCheckpoint from;
  {
    const RunFile run(path);
    EXPECT_FALSE(run.complete());
    read_settings_text(run.header().settings_json, path, m, input, again);
    from = run.checkpoints().back();
  }
  EXPECT_GE(from.time, 2.0);
  {
    RunRecorder recorder(path);
    EXPECT_TRUE(resume_simulation(m, from, again, recorder).complete);
  }
  const RunFile run(path);
  ASSERT_EQ(run.rows(), whole.rows());
  for (const RunColumn& column : whole.columns())
    EXPECT_EQ(run.column(column.name), whole.column(column.name)) << column.name;
  EXPECT_EQ(run.events().size(), whole.events().size());
}

}  // namespace
}  // namespace catena
