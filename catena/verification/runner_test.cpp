// SPDX-License-Identifier: BSD-3-Clause
#include "catena/verification/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/simulation/testing/test_support.h"
#include "catena/verification/quantities.h"

namespace catena {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kHead =
    "title: a case\nsource: \"a book, eq. (1)\"\nmodel: model.yaml\norigin: closed form\n"
    "tolerance: 1e-12\nreason: double precision\n";

class Runner : public testing::Test {
 protected:
  Runner() { folder_.write("one/model.yaml", test::kPendulumModel); }

  VerificationReport run(const std::string& text, const VerificationSettings& settings = {}) {
    folder_.write("one/case.yaml", text);
    return run_verification(folder_.path(), settings);
  }
  std::vector<std::string> problems(const std::string& text) {
    const VerificationReport report = run(text);
    std::vector<std::string> lines;
    lines.reserve(report.problems.size());
    for (const Diagnostic& problem : report.problems)
      lines.push_back(std::to_string(problem.source.line) + ": " + problem.message);
    return lines;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Runner, ComparesScalarsVectorsAndMatrices) {
  const VerificationReport report = run(std::string(kHead) + R"(checks:
  - {quantity: total_mass, reference: 3}
  - {quantity: freedoms, reference: 4}
  # A ball joint at rest below the pivot, all hanging straight down: nothing moves.
  - {quantity: bias_effort, reference: {pivot: 0, ball: [0, 0, 0]}}
  - {quantity: center_of_mass, reference: {y: -2.1/3}}
  # Of the arm about the ball joint: 0.1 + 1 * 0.1² but for its own axis.
  - quantity: mass_matrix
    order: [ball.wy, ball.wx, ball.wz]
    reference: [[0.1, 0, 0], [0.11, 0], [0.11]]
  - quantity: hinge_wrench
    of: ball
    axes: ground
    reference: {force: [0, 10, 0], moment: [0, 0, 0]}
)");
  EXPECT_THAT(report.problems, IsEmpty());
  ASSERT_EQ(report.results.size(), 6u);
  for (const VerificationResult& r : report.results) {
    EXPECT_TRUE(r.pass) << r.quantity << " " << r.error << " " << r.message;
    EXPECT_EQ(r.name, "one");
    EXPECT_EQ(r.source, "a book, eq. (1)");
  }
  EXPECT_TRUE(report.passed());
  EXPECT_EQ(report.results[5].quantity, "hinge_wrench of ball");
}

TEST_F(Runner, ErrorsAreRelativeToTheLargestEntry) {
  // The exact mass centre is (0, -0.7, 0).
  const VerificationReport report =
      run(std::string(kHead) + "quantity: center_of_mass\nreference: [0.0007, -0.7, 0]\n");
  ASSERT_EQ(report.results.size(), 1u);
  const VerificationResult& r = report.results[0];
  EXPECT_NEAR(r.error, 1e-3, 1e-12);
  EXPECT_EQ(r.worst_row, 0);
  EXPECT_FALSE(r.pass);
  EXPECT_FALSE(report.passed());
}

TEST_F(Runner, AReferenceOfZeroIsComparedAbsolutely) {
  const VerificationReport report =
      run(std::string(kHead) + "quantity: kinetic_energy\nreference: 0\nstate: {v: {pivot: 2}}\n");
  // ½ (2 · 0.5² + 0.1 + 1 · 1.1² + 0.1) · 2² = 3.82
  EXPECT_NEAR(report.results.at(0).error, 3.82, 1e-12);
}

TEST_F(Runner, AComputationThatFailsIsAFailedCheck) {
  const VerificationReport report = run(std::string(kHead) +
                                        "quantity: bias_effort\nreference: {pivot: 0}\n"
                                        "state: {q: {ball: [2, 0, 0, 0]}}\n");
  ASSERT_EQ(report.results.size(), 1u);
  EXPECT_FALSE(report.results[0].pass);
  EXPECT_THAT(report.results[0].message, HasSubstr("quaternion"));
}

// Other freedoms may turn by quaternions.
TEST_F(Runner, PositionsAreOfTheFreedomsThatAreNamed) {
  const VerificationReport report =
      run(std::string(kHead) +
          "state: {q: {pivot: 0.3}}\n"
          "checks:\n"
          "  - {quantity: position, reference: {pivot: 0.3}}\n"
          "  - {quantity: position, reference: {pivot: 0.3, ball.wx: 0}}\n");
  ASSERT_EQ(report.results.size(), 2u);
  EXPECT_TRUE(report.results[0].pass) << report.results[0].message;
  EXPECT_FALSE(report.results[1].pass);
  EXPECT_THAT(report.results[1].message, HasSubstr("'ball.wx' has no coordinate of its own"));
}

// A parallelogram of uniform rods of 1 m and 1 kg, and beside it a shaft geared to a wheel.
constexpr const char* kClosedModel = R"(catena: 1
gravity: [0, -10, 0]
bodies:
  left: &bar {mass: 1, center_of_mass: [0.5, 0, 0], inertia: [0, 1/12, 1/12]}
  shaft: {mass: 1, inertia: [1, 1, 1]}
  top: *bar
  right: *bar
  wheel: {mass: 1, inertia: [0.1, 0.1, 0.2]}
hinges:
  A: {type: revolute, parent: world, child: left, initial_position: pi/3}
  B: {type: revolute, parent: left, child: top, at: [1, 0, 0], initial_position: -pi/3}
  D: {type: revolute, parent: world, child: right, at: [1, 0, 0], initial_position: pi/3}
  C: {type: revolute, parent: top, child: right, cut: always,
      frame_on_parent: [1, 0, 0], frame_on_child: [1, 0, 0]}
  turn: {type: revolute, parent: world, child: shaft, at: [5, 0, 0]}
  axle: {type: revolute, parent: world, child: wheel, at: [6, 0, 0]}
couplings:
  gear: {follower: axle, leader: turn, ratio: 2}
)";

TEST_F(Runner, QuantitiesOfClosedMechanisms) {
  folder_.write("one/model.yaml", kClosedModel);
  const VerificationReport report = run(std::string(kHead) + R"(checks:
  - {quantity: loop_bodies, reference: [[wheel, shaft], [right, left, top]]}
  - {quantity: loop_bodies, reference: [[shaft, wheel, right], [left, top]]}  # wrong
  # Cranks about their ends and a coupler that does not turn; a wheel that turns twice as fast.
  - {quantity: mass_matrix, order: [turn, A], reference: [[1.8, 0], [5/3]]}
  - {quantity: mass_matrix, order: [axle, D], reference: [[0.45, 0], [5/3]]}
  - {quantity: reduced_effort, state: {effort: {A: 1, D: 2}}, reference: {A: 3}}
  # The shaft accelerates at 5 and the wheel at 10 rad/s².
  - {quantity: coupling_multiplier, of: gear, state: {effort: {turn: 9}}, reference: 2}
  # Weight, seen from axes that are turned by 60 degrees.
  - {quantity: hinge_wrench, of: turn, axes: left,
     reference: {force: [8.660254037844386, 5, 0], moment: [0, 0, 0]}}
  - {quantity: body_position, of: top, state: {q: {A: pi/2}}, reference: [0, 1, 0]}
  - {quantity: effort, state: {q: {A: pi/3}, acceleration: {A: 0, turn: 0}}, reference: {A: 10}}
  # Of the guess itself, not of what an assembly makes of it.
  - {quantity: closest_position, state: {q: {A: 1.1, B: -1, D: 0.9, turn: 0, axle: 0}},
     reference: {A: 1, B: -1, D: 1}}
)");
  EXPECT_THAT(report.problems, IsEmpty());
  ASSERT_EQ(report.results.size(), 10u);
  for (std::size_t i = 0; i < report.results.size(); ++i)
    EXPECT_EQ(report.results[i].pass, i != 1)
        << report.results[i].quantity << " " << report.results[i].error << " "
        << report.results[i].message;
}

TEST_F(Runner, ThingsOfClosedMechanismsAreFoundByName) {
  folder_.write("one/model.yaml", kClosedModel);
  EXPECT_THAT(
      problems(std::string(kHead) +
               "checks:\n"
               "  - {quantity: coupling_multiplier, of: gaer, reference: 1}\n"
               "  - {quantity: rod_tension, of: rod, reference: 1}\n"
               "  - {quantity: loop_bodies, reference: [[left, world]]}\n"
               "  - {quantity: hinge_wrench, of: A, axes: lfet, reference: [1]}\n"),
      testing::AllOf(
          testing::Contains(HasSubstr("no coupling is named 'gaer'; did you mean 'gear'?")),
          testing::Contains(HasSubstr("no rod is named 'rod'")),
          testing::Contains(HasSubstr("10: checks: 3: reference: the world is not in any group")),
          testing::Contains(HasSubstr("no body is named 'lfet'; did you mean 'left'?"))));
}

TEST_F(Runner, SlowCasesWaitForAll) {
  const std::string slow = std::string(kHead) + "slow: true\nquantity: bodies\nreference: 2\n";
  EXPECT_EQ(run(slow).cases, 0);
  EXPECT_EQ(run(slow).skipped, 1);
  EXPECT_EQ(run(slow, {.all = true}).cases, 1);
}

TEST_F(Runner, Filter) {
  const std::string text = std::string(kHead) + "quantity: bodies\nreference: 2\n";
  EXPECT_EQ(run(text, {.filter = "on"}).cases, 1);
  EXPECT_EQ(run(text, {.filter = "two"}).cases, 0);
}

TEST_F(Runner, EveryMistakeHasItsLine) {
  EXPECT_THAT(
      problems("titel: x\nmodel: model.yaml\nchecks:\n"
               "  - {quantity: acceleraton, reference: 1}\n"
               "  - {quantity: hinge_wrench, of: pivto, reference: [1]}\n"
               "  - {quantity: bodies, reference: many}\n"),
      testing::AllOf(testing::Contains("1: unknown key 'titel'; did you mean 'title'?"),
                     testing::Contains(HasSubstr("1: needs 'title:'")),
                     testing::Contains(HasSubstr("4: checks: 1: needs 'tolerance:'")),
                     testing::Contains(HasSubstr("unknown quantity 'acceleraton'; did you mean "
                                                 "'acceleration'?")),
                     testing::Contains(HasSubstr("5: checks: 2: of: no hinge is named 'pivto'")),
                     testing::Contains(HasSubstr("6: checks: 3: reference: needs a number"))));
  EXPECT_THAT(problems(std::string(kHead) + "quantity: mass_matrix\nreference: [[1], [2]]\n"),
              ElementsAre(HasSubstr("8: reference: needs a list of 4 rows")));
  EXPECT_THAT(problems(""), ElementsAre(HasSubstr("is empty")));
}

TEST_F(Runner, AModelThatCannotBeReadIsNamed) {
  folder_.write("one/model.yaml", "catena: 1\nbodies: {a: {mass: -1}}\n");
  const std::vector<std::string> found =
      problems(std::string(kHead) + "quantity: bodies\nreference: 1\n");
  ASSERT_GE(found.size(), 2u);
  EXPECT_THAT(found[0], HasSubstr("3: model 'model.yaml' cannot be used"));
  EXPECT_THAT(found[1], HasSubstr("mass"));
}

TEST_F(Runner, ACaseThatCannotBeReadIsCounted) {
  const VerificationReport report = run("titel: x\n");
  EXPECT_FALSE(report.passed());
  EXPECT_EQ(report.cases, 0);
  ASSERT_EQ(report.unread.size(), 1u);
  EXPECT_EQ(report.unread[0].name, "one");
  EXPECT_THAT(report.unread[0].message, HasSubstr("unknown key 'titel'"));
}

TEST_F(Runner, FlexibleBodies) {
  folder_.write("one/model.yaml",
                "catena: 1\nbodies:\n  boom: {flexible: {length: 1, section: {EIz: 1, "
                "mass_per_length: 1}, mode_set: clamped_free, modes: 2, attachments: {tip: 1}}}\n"
                "hinges:\n  spin: {type: revolute, parent: world, child: boom}\n");
  // (π/2)² < λ₁² < (1.9)²; the tip value of the first mode is 2.
  const VerificationReport report =
      run(std::string(kHead) +
          "state: {q: {boom.mode1: 0.01}, motion_driven: [spin]}\nchecks:\n"
          "  - {quantity: squared_frequencies, reference: [12.362363368], tolerance: 1e-9}\n"
          "  - {quantity: deflection, of: boom.tip, reference: {y: 0.02}, tolerance: 1e-9}\n"
          "  - {quantity: modal_mass, of: boom, reference: [[1, 0], [0, 1]], tolerance: 1e-9}\n"
          "  - {quantity: modal_inertia_2, of: [boom, zy], reference: [[1, 0], [0, 1]]}\n"
          "  - {quantity: deflection, of: boom, reference: {y: 0.02}}\n");
  ASSERT_EQ(report.results.size(), 5u);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(at(report.results, i).pass) << i;
  EXPECT_THAT(report.results[3].message, HasSubstr("'zy' is no component; those are xx"));
  EXPECT_THAT(report.results[4].message, HasSubstr("'boom' is no attachment"));
  EXPECT_THAT(
      problems(std::string(kHead) +
               "checks:\n  - {quantity: modal_mass, of: bom, reference: [[1]]}\n"
               "  - {quantity: modal_inertia_2, of: boom, reference: [[1]]}\n"),
      testing::AllOf(testing::Contains(HasSubstr("no flexible body is named 'bom'; did you mean "
                                                 "'boom'?")),
                     testing::Contains(HasSubstr("needs [flexible body, component]"))));
}

// A run is not repeated for the quantities that follow it, and another state has its own.
TEST_F(Runner, ChecksShareRuns) {
  int calls = 0;
  VerificationSettings settings;
  settings.goes_on = [&calls] { return ++calls > 0; };
  const std::string check = "  - {quantity: total_energy, reference: 1, tolerance: 100";
  const auto counted = [&](const std::string& second) {
    calls = 0;
    run(std::string(kHead) + "state: {q: {pivot: 0.5}}\nafter: {duration: 0.5}\nchecks:\n" + check +
            "}\n" + check + second,
        settings);
    return calls;
  };
  const int shared = counted("}\n"), apart = counted(", state: {v: {pivot: 0.1}}}\n");
  EXPECT_GT(apart, shared + 1);
}

TEST_F(Runner, APlaceWithoutCasesIsAnError) {
  EXPECT_THROW(run_verification(folder_.path() + "/none"), Error);
  test::TemporaryFolder empty;
  EXPECT_THROW(run_verification(empty.path()), Error);
}

TEST(Quantities, HaveDistinctNames) {
  std::vector<std::string> names;
  for (const Quantity& quantity : quantities()) {
    EXPECT_EQ(find_quantity(quantity.name), &quantity);
    EXPECT_NE(quantity.compute, nullptr);
  }
  EXPECT_EQ(find_quantity("no such"), nullptr);
}

}  // namespace
}  // namespace catena
