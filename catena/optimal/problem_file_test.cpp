// SPDX-License-Identifier: BSD-3-Clause
// Problem files: what they say, every mistake with its line, results and warm starts.
#include "catena/optimal/problem_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/testing/temporary_folder.h"
#include "catena/io/models/yaml.h"
#include "catena/optimal/testing/test_problems.h"

namespace catena {
namespace {

using ::testing::HasSubstr;

class Files : public ::testing::Test {
 protected:
  Files() { write("arm.yaml", write_yaml(unit_rods({"shoulder", "elbow"}).description())); }
  std::string path(const std::string& name) const { return folder_.path(name); }
  void write(const std::string& name, const std::string& text) const { folder_.write(name, text); }
  ProblemFile read(const std::string& text) const {
    write("problem.yaml", text);
    return read_problem_file(path("problem.yaml"));
  }
  void expect_error(const std::string& text, const std::string& part) const {
    try {
      read(text);
      ADD_FAILURE() << "no error, expected: " << part;
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), HasSubstr(part));
    }
  }
  test::TemporaryFolder folder_;
};

constexpr const char* kArm = R"(model: arm.yaml
start: {q: {shoulder: 0.1}, v: [0.2, 0]}
duration: {guess: 1.2, between: [0.5, 3]}
controls:
  shoulder: {type: motion, degree: 4, coefficients: 9, guess: 0.1 + t}
  elbow: {type: effort, degree: 1, coefficients: 6, guess: [0, 1, 2, 3, 4, 5]}
final:
  q: {shoulder: pi/2, elbow: [-0.1, 0.2]}
  v: {shoulder: 0}
  points: {"rod 1": [0, 1.5, ~]}
bounds:
  v: {elbow: 4}
  effort: {elbow: [-10, 6]}
limits: ignore
cost:
  effort: 2
  acceleration: {elbow: 0.1}
  rate: {shoulder: 0.01}
  time: 3
  tracking: {q: {elbow: {reference: sin(t), weight: 0.5}}}
  final: {v: {elbow: {target: 1, weight: 7}}, points: {"rod 0": {target: [0, 1, 0], weight: 2}}}
grid: {steps: 10, points: 6, parts: 5}
solver: {method: ipopt, tolerance: 1e-7, starts: 3, seed: 9, time_limit: 5, accuracy: 0}
)";

TEST_F(Files, EverythingIsRead) {
  const ProblemFile f = read(kArm);
  const MotionProblem& p = f.problem;
  EXPECT_EQ(p.mechanism, f.mechanism.get());
  EXPECT_DOUBLE_EQ(p.start.q[0], 0.1);
  EXPECT_DOUBLE_EQ(p.start.v[0], 0.2);
  EXPECT_TRUE(p.duration.free());
  EXPECT_DOUBLE_EQ(p.duration.guess, 1.2);
  ASSERT_EQ(p.controls.size(), 2u);
  EXPECT_TRUE(p.controls[0].motion);
  EXPECT_EQ(p.controls[0].degree, 4);
  EXPECT_EQ(p.controls[1].guess.coefficients.size(), 6u);
  ASSERT_EQ(p.final_bounds.size(), 3u);
  EXPECT_DOUBLE_EQ(p.final_bounds[1].lower, -0.1);
  ASSERT_EQ(p.final_points.size(), 2u);
  EXPECT_FALSE(p.final_points[0].coordinate[2]);
  EXPECT_DOUBLE_EQ(p.final_points[0].weight, 0.0);
  EXPECT_DOUBLE_EQ(p.final_points[1].weight, 2.0);
  ASSERT_EQ(p.bounds.size(), 2u);
  EXPECT_DOUBLE_EQ(p.bounds[0].lower, -4.0);
  EXPECT_FALSE(p.model_limits);
  EXPECT_EQ(p.running_costs.size(), 4u);  // two efforts, acceleration, tracking
  EXPECT_EQ(p.rate_costs.size(), 1u);
  EXPECT_DOUBLE_EQ(p.time_weight, 3.0);
  EXPECT_DOUBLE_EQ(p.final_costs[0].weight, 7.0);
  EXPECT_EQ(p.grid.steps, 10);
  EXPECT_EQ(f.solver.solver, Solver::ipopt);
  EXPECT_EQ(f.solver.seed, 9u);
  EXPECT_DOUBLE_EQ(f.solver.accuracy, 0.0);
}

TEST_F(Files, MistakesHaveLines) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kArm;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  expect_error(with("duration:", "durtion:"), "problem.yaml:3: error: unknown key 'durtion'");
  expect_error(with("  elbow: {type: effort", "  elbw: {type: effort"), "problem.yaml:6");
  expect_error(with("  elbow: {type: effort", "  elbw: {type: effort"), "elbow");
  expect_error(with("type: motion", "type: move"), "problem.yaml:5");
  expect_error(with("q: {shoulder: pi/2,", "q: {shoulder: [1, 2, 3],"), "problem.yaml:8");
  expect_error(with("\"rod 1\": [0, 1.5, ~]", "\"rod 1\": [0, 1.5]"), "problem.yaml:10");
  expect_error(with("effort: {elbow: [-10, 6]}", "effort: {elbow: [6, -10]}"),
               "exclude each other");
  expect_error(with("guess: [0, 1, 2, 3, 4, 5]", "guess: [0, 1]"), "6 are free");
  expect_error(with("arm.yaml", "legs.yaml"), "legs.yaml");
  expect_error(with("method: ipopt", "method: ipot"), "ipopt");
  expect_error("- 1\n", "a problem is a map");
  expect_error("model: arm.yaml\n", "needs controls");
}

TEST_F(Files, ResultsAreWarmStarts) {
  const std::string text = R"(model: arm.yaml
duration: 1
controls:
  shoulder: {type: motion, coefficients: 8}
  elbow: {type: motion, coefficients: 8}
final: {q: {shoulder: pi/2, elbow: 0}, v: {shoulder: 0, elbow: 0}}
)";
  ProblemFile f = read(text);
  const OptimalMotion cold = solve(f.problem, f.solver);
  write("result.json", result_json(f.problem, cold));
  warm_start(path("result.json"), f.problem);
  const OptimalMotion warm = solve(f.problem, f.solver);
  EXPECT_NEAR(warm.guess_cost, cold.cost, 1e-9 * cold.cost);
  EXPECT_LT(warm.iterations, 3);

  // With more coefficients the same optimum is near, and lower.
  std::string finer = text;
  for (std::size_t at = 0; (at = finer.find("coefficients: 8", at)) != std::string::npos; ++at)
    finer.replace(at, 15, "coefficients: 16");
  ProblemFile g = read(finer);
  const double straight = solve(g.problem, {.iterations = 0}).guess_cost;
  warm_start(path("result.json"), g.problem);
  const OptimalMotion better = solve(g.problem, g.solver);
  EXPECT_LT(better.guess_cost, 0.5 * straight);
  EXPECT_NEAR(better.cost, 110.0624007, 1e-4);

  write("other.json", "{\"controls\": 3}");
  EXPECT_THROW(warm_start(path("none.json"), g.problem), Error);
  write("empty.json", "{}");
  EXPECT_THROW(warm_start(path("empty.json"), g.problem), Error);
}

// The hinge at which a loop is cut can be driven and asked for, wherever that is: the same least
// cost as with the loop cut elsewhere, where that hinge is one of the tree.
TEST_F(Files, HingeAtWhichTheLoopIsCut) {
  const auto cost = [&](const std::string& cut) {
    const auto ends = [&](const std::string& name) {
      return name == cut ? std::string(", cut: always") : std::string();
    };
    write("bar.yaml", R"(catena: 1
name: bar
gravity: [0, -9.81, 0]
bodies:
  crank: {mass: 1, center_of_mass: [0.5, 0, 0], inertia: [0, 1/12, 1/12]}
  coupler: {mass: 1, center_of_mass: [2.4, 0, 0], inertia: [0, 1.92, 1.92]}
  rocker: {mass: 2, center_of_mass: [1, 0, 0], inertia: [0, 2/3, 2/3]}
hinges:
  A: {type: revolute, parent: world, child: crank, axis: z, initial_position: pi/2}
  B: {type: revolute, parent: crank, child: coupler, axis: z, at: [1, 0, 0], initial_position: -1.389516618263327)" +
                          ends("B") + R"(}
  D: {type: revolute, parent: world, child: rocker, axis: z, at: [4, 0, 0], initial_position: 1.2018068856833}
  C: {type: revolute, parent: coupler, child: rocker, axis: z, frame_on_parent: [4.8, 0, 0], frame_on_child: [2, 0, 0])" +
                          ends("C") + "}\n");
    const ProblemFile file = read(R"(model: bar.yaml
start: {q: {A: pi/2}}
duration: 0.4
controls: {C: {type: effort, degree: 2, coefficients: 5}}
final: {q: {A: pi/2}}
cost: {effort: {C: 1}}
)");
    const OptimalMotion motion = solve(file.problem, file.solver);
    EXPECT_TRUE(motion.converged) << cut << ": " << motion.message;
    return motion.cost;
  };
  const double expected = cost("B");
  EXPECT_GT(expected, 1.0);  // it would fall
  EXPECT_NEAR(cost("C"), expected, 1e-6 * expected);
}

}  // namespace
}  // namespace catena
