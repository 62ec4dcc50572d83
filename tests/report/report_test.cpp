// SPDX-License-Identifier: BSD-3-Clause
// The data of the report page: contact points, frames, deflections, sliders of closed mechanisms,
// mode shapes. Expected values are closed forms.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numbers>

#include <gtest/gtest.h>

#include "apps/catena/report/movable_model.h"
#include "apps/catena/report/report_contacts.h"
#include "apps/catena/report/report_data.h"
#include "apps/catena/report/report_modes.h"
#include "apps/catena/report/report_series.h"
#include "catena/closure/assembly.h"
#include "catena/io/load.h"
#include "catena/io/models/yaml.h"
#include "catena/model/builder.h"

namespace catena::app {
namespace {

Mechanism from_yaml(const std::string& text) {
  const Reading reading = read_yaml_text("catena: 1\n" + text, "test.yaml");
  return MechanismBuilder(reading.description).finish();
}

const Json& part(const Json& json, const std::string& key) {
  for (const auto& [name, value] : std::get<Json::Object>(json.value()))
    if (name == key) return value;
  throw std::runtime_error("no key " + key);
}

template <class Number>
std::vector<Number> decoded(const Json& json) {
  const std::string& text = json.text();
  std::string bytes;
  unsigned held = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    const std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    held = held << 6U | static_cast<unsigned>(digits.find(c));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(held >> static_cast<unsigned>(bits) & 255U);
  }
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
  return numbers;
}

// A file that is gone at the end.
class RunOf {
 public:
  RunOf(const char* name, const Mechanism& m, std::vector<RunColumn> columns,
        const std::string& settings, const std::vector<std::vector<double>>& rows)
      : path_(std::string(::testing::TempDir()) + name) {
    RunHeader header;
    header.model_yaml = write_yaml(m.description());
    header.settings_json = settings;
    header.columns = std::move(columns);
    RunWriter writer(path_, header, true);
    for (const auto& row : rows) writer.append(row);
    writer.finish("{}", true);
  }
  ~RunOf() { std::filesystem::remove(path_); }
  RunOf(const RunOf&) = delete;
  RunOf& operator=(const RunOf&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void expect_near(const Vec3d& a, const Vec3d& b, double tolerance) {
  EXPECT_NEAR(norm(a - b), 0.0, tolerance) << a.x << " " << a.y << " " << a.z;
}

// A sphere touches a slope below its centre along the normal.
TEST(Report, ContactPointOfASphereOnASlope) {
  const double angle = 0.3;
  DrawnContact contact;
  contact.center = {0.1, 0.2, 0.3};
  contact.radius = 0.05;
  contact.plane_normal = {std::sin(angle), 0.0, std::cos(angle)};
  const Transformd body{Rotationd::about_z(0.5 * std::numbers::pi), {1.0, 2.0, 3.0}};
  // Turned by a quarter about z: (0.1, 0.2) to (-0.2, 0.1).
  const Vec3d expected{1.0 - 0.2 - 0.05 * std::sin(angle), 2.0 + 0.1,
                       3.0 + 0.3 - 0.05 * std::cos(angle)};
  expect_near(contact_point(contact, body, {}), expected, 1e-15);
}

// A wheel of radius r that leans by an angle touches with the lowest point of its rim, which is
// r cos(angle) below its centre and r sin(angle) beside it.
TEST(Report, ContactPointOfAWheelThatLeans) {
  const double r = 0.4, angle = 0.25;
  DrawnContact contact;
  contact.rim = r;
  contact.rim_axis = {0.0, 1.0, 0.0};
  const Transformd body{Rotationd::about_x(angle), {0.0, 0.0, 1.0}};
  expect_near(contact_point(contact, body, {}),
              {0.0, r * std::sin(angle), 1.0 - r * std::cos(angle)}, 1e-15);
}

TEST(Report, PlanesOfContactsAreDrawnOnce) {
  std::vector<DrawnContact> contacts(4);
  contacts[1].plane_point = {3.0, -2.0, 0.0};  // the same plane by another point
  contacts[2].plane_point = {0.0, 0.0, 0.5};   // parallel
  contacts[3].plane_normal = {1.0, 0.0, 0.0};
  EXPECT_EQ(drawn_planes(contacts).items().size(), 3U);
}

// A ball on a slope, with the force that its run recorded.
TEST(Report, FramesHaveContactPointsAndForces) {
  const Mechanism m = from_yaml(R"(
bodies: {ball: {mass: 2, inertia: [0.01, 0.01, 0.01]}}
hinges: {at: {type: translation, parent: world, child: ball}}
)");
  const std::string settings = R"({"constraints": {"foot": {"type": "contact", "body": "ball",
    "point": [0, 0, 0], "radius": 0.5, "plane_point": [0, 0, -1], "plane_normal": [0, 0, 2]}}})";
  std::vector<RunColumn> columns{{"time", "s"}};
  for (const std::string& name : m.position_names()) columns.push_back({"q." + name, "m"});
  for (const char* axis : {"x", "y", "z"})
    columns.push_back({std::string("contact.foot.") + axis, "N"});
  const RunOf run("contact_frames.h5", m, columns, settings,
                  {{0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0}, {1.0, 3.0, 4.0, -0.5, 1.0, 2.0, 19.62}});
  Json document = run_document(RunFile(run.path()));
  const Json& contacts = part(part(document, "frames"), "contacts");
  EXPECT_EQ(decoded<std::int32_t>(part(contacts, "counts")), (std::vector<std::int32_t>{0, 1}));
  const std::vector<float> expected{0.0F, 3.0F, 4.0F, -1.0F, 1.0F, 2.0F, 19.62F};
  EXPECT_EQ(decoded<float>(part(contacts, "values")), expected);
  const Json& plane = part(document, "planes").items().at(0);
  EXPECT_EQ(part(plane, "normal").dump(), "[0.0,0.0,1.0]");
  EXPECT_EQ(part(plane, "point").dump(), "[0.0,0.0,-1.0]");
}

constexpr const char* kCantilever = R"(
gravity: [0, 0, 0]
bodies:
  boom:
    flexible:
      length: 2.0
      section: {EIz: 100, mass_per_length: 1.5}
      attachments: {tip: 2.0}
      modes: 3
      mode_set: clamped_free
hinges:
  root: {type: weld, parent: world, child: boom}
)";

// The tip of a uniform cantilever moves twice the root mean square displacement in every mode of
// Euler and Bernoulli: the integral of φ² over the length L is φ(L)² L/4. To first order in η.
TEST(Report, DeflectionOfACantileversTip) {
  const Mechanism m = from_yaml(kCantilever);
  const double eta = 1e-4;
  const RunOf run(
      "deflection.h5", m,
      {{"time", "s"}, {"q.boom.mode1", "m"}, {"q.boom.mode2", "m"}, {"q.boom.mode3", "m"}}, "{}",
      {{0.0, eta, 0.0, 0.0}, {1.0, 0.0, eta, 0.0}, {2.0, 0.0, 0.0, eta}});
  const RunFile file(run.path());
  DeflectionColumns deflections(file, m);
  ASSERT_EQ(deflections.columns().size(), 3U);
  EXPECT_EQ(deflections.columns()[1].name, "deflection.boom.tip.y");
  const RunRows rows = file.read(0, 3);
  for (int i = 0; i < 3; ++i) {
    std::vector<double> values;
    deflections.append(rows.row(i), values);
    // Positive curvature at the root bends the first mode up, each further node turns the tip.
    EXPECT_NEAR(std::abs(values[1]), 2.0 * eta, 1e-6 * eta) << i;
    EXPECT_NEAR(values[2], 0.0, 1e-12);
    EXPECT_LT(values[0], 0.0);  // it comes nearer as it bends
    EXPECT_NEAR(values[0], 0.0, 100 * eta * eta);
  }
}

// Crank 1, coupler 4.8, rocker 2, ground 4: the other angles follow from the crank's.
TEST(Report, SlidersOfAFourBarCloseItsLoop) {
  const Mechanism m = load(std::string(CATENA_SOURCE_DIR) + "/models/four_bar.yaml");
  std::vector<std::uint8_t> crank(static_cast<std::size_t>(m.freedoms()), 0);
  crank[static_cast<std::size_t>(m.velocity_index("A"))] = 1;
  MovableModel movable(m, crank);
  ASSERT_EQ(movable.values().size(), 1U);
  const int a = m.position_index("A"), b = m.position_index("B"), d = m.position_index("D");
  const double start = movable.values()[0];
  // A whole turn and back by a third, in large moves.
  for (const double turn : {2.0, 4.0, 2.0 * std::numbers::pi, 1.5}) {
    EXPECT_EQ(movable.move({start + turn}), "");
    const Eigen::VectorXd& q = movable.position();
    EXPECT_DOUBLE_EQ(q[a], start + turn);
    const double coupler = q[a] + q[b];
    EXPECT_NEAR(std::cos(q[a]) + 4.8 * std::cos(coupler), 4.0 + 2.0 * std::cos(q[d]), 1e-9);
    EXPECT_NEAR(std::sin(q[a]) + 4.8 * std::sin(coupler), 2.0 * std::sin(q[d]), 1e-9);
    // On the branch it began with: the coupler's angle at the crank keeps its sign.
    const double x = 4.0 - std::cos(q[a]), y = -std::sin(q[a]), r = std::hypot(x, y);
    const double expected =
        std::atan2(y, x) + std::acos((4.8 * 4.8 + r * r - 4.0) / (2.0 * 4.8 * r));
    EXPECT_NEAR(std::remainder(coupler - expected, 2.0 * std::numbers::pi), 0.0, 1e-9);
  }
}

// The rocker cannot turn round: the sliders stop where the loop still closes, and say so.
TEST(Report, SlidersStopAtTheEndOfTheRange) {
  const Mechanism m = load(std::string(CATENA_SOURCE_DIR) + "/models/four_bar.yaml");
  std::vector<std::uint8_t> rocker(static_cast<std::size_t>(m.freedoms()), 0);
  rocker[static_cast<std::size_t>(m.velocity_index("D"))] = 1;
  MovableModel movable(m, rocker);
  const double wanted = movable.values()[0] + 3.0;
  EXPECT_NE(movable.move({wanted}), "");
  EXPECT_LT(movable.values()[0], wanted);
  EXPECT_LT(closure_gap(m, movable.position()), 1e-9);
  EXPECT_THROW(movable.move({}), Error);
}

// One mass on a spring: the frames of its mode are a cosine.
TEST(Report, ModeOfAMassOnASpring) {
  const Mechanism m = from_yaml(R"(
gravity: [0, 0, 0]
bodies: {mass: {mass: 2, inertia: [1, 1, 1]}}
hinges: {slide: {type: prismatic, parent: world, child: mass, axis: x, stiffness: 50, at: [1, 0, 0]}}
)");
  const LinearModel model = linearize(m, {m.default_state(), Eigen::VectorXd::Zero(1), {}, {}});
  Json document = modes_document(m, "mass.yaml", model, modes(model));
  const Json& mode = part(document, "modes").items().at(0);
  EXPECT_NEAR(std::get<double>(part(mode, "frequency").value()), 5.0, 1e-12);
  const Json& frames = part(mode, "frames");
  const double amplitude = std::get<double>(part(frames, "amplitude").value());
  EXPECT_GT(amplitude, 0.0);
  const std::vector<float> poses = decoded<float>(part(frames, "poses"));
  ASSERT_EQ(poses.size(), 7U * (kPhases + 1));
  for (int k = 0; k <= kPhases; ++k)
    EXPECT_NEAR(poses[static_cast<std::size_t>(7 * k)],
                1.0 + amplitude * std::cos(2.0 * std::numbers::pi * k / kPhases), 1e-6);
}

// The loop of a four-bar stays closed in its swing: coupler and rocker meet.
TEST(Report, ModeOfAClosedMechanismStaysClosed) {
  Description description =
      load(std::string(CATENA_SOURCE_DIR) + "/models/four_bar.yaml").description();
  for (Hinge& hinge : description.hinges)
    if (hinge.name == "A") hinge.freedoms = {{.stiffness = 100.0}};
  const Mechanism m = MechanismBuilder(std::move(description)).finish();
  const State state = assemble_near(m, m.default_state(), given_by_description(m));
  const LinearModel model = linearize(m, {{state.q, Eigen::VectorXd::Zero(m.freedoms())},
                                          Eigen::VectorXd::Zero(m.freedoms()),
                                          {},
                                          {}});
  Json document = modes_document(m, "four_bar.yaml", model, modes(model));
  const std::vector<float> poses =
      decoded<float>(part(part(part(document, "modes").items().at(0), "frames"), "poses"));
  const auto end = [&](int frame, const char* body, double length) {
    const auto at = static_cast<std::size_t>(
        7 * (frame * static_cast<int>(m.bodies().size()) + m.body_index(body)));
    const double angle = 2.0 * std::atan2(poses[at + 5], poses[at + 6]);
    return Vec3d{poses[at] + length * std::cos(angle), poses[at + 1] + length * std::sin(angle),
                 0.0};
  };
  double moved = 0.0;
  for (int k = 0; k <= kPhases; ++k) {
    expect_near(end(k, "coupler", 4.8), end(k, "rocker", 2.0), 1e-5);
    moved = std::max(moved, norm(end(k, "rocker", 2.0) - end(0, "rocker", 2.0)));
  }
  EXPECT_GT(moved, 0.05);
}

}  // namespace
}  // namespace catena::app
