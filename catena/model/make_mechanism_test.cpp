// SPDX-License-Identifier: BSD-3-Clause
// The tables of a finished mechanism against a naive walk over its description.
#include <map>

#include "catena/base/index.h"
#include "catena/model/configuration.h"
#include "catena/model/testing/test_support.h"

namespace catena {
namespace {

using namespace test;

// A random tree: every hinge type, welds and locked hinges among them, half of the hinges
// reversed, bodies and hinges in random order.
MechanismBuilder random_tree(Random& random, int bodies) {
  MechanismBuilder b;
  std::vector<int> order(to_size(bodies));
  for (int i = 0; i < bodies; ++i) order[index(i)] = i;
  std::shuffle(order.begin(), order.end(), random.generator());
  for (const int i : order) b.add_body("b" + std::to_string(i), random.body());
  std::shuffle(order.begin(), order.end(), random.generator());
  for (const int i : order) {
    const int choice = random.below(13);
    HingeSettings h = random.hinge(choice < 11    ? kMovingTypes[index(choice)]
                                   : choice == 11 ? HingeType::weld
                                                  : kMovingTypes[index(random.below(11))]);
    const std::string name = "h" + std::to_string(i);
    const std::string inner = i == 0 ? kWorld : "b" + std::to_string(random.below(i));
    const std::string outer = "b" + std::to_string(i);
    const bool reversed = random.below(2) == 1;
    b.add_hinge(name, reversed ? outer : inner, reversed ? inner : outer, h);
    if (choice == 12) {
      std::vector<double> q(to_size(h.custom ? h.custom->freedoms() : coordinates_of(h.type)));
      for (double& x : q) x = random.number(0.2, 1.0);
      b.lock(name, q);
    }
  }
  return b;
}

// World poses of all bodies by walking over the hinges as they are described, until all are found.
std::map<std::string, Matrix4d> naive_poses(const Mechanism& m, const VectorXd& q) {
  std::map<std::string, Matrix4d> pose{{kWorld, Matrix4d::Identity()}};
  const Description& d = m.description();
  while (pose.size() < d.bodies.size() + 1) {
    for (std::size_t h = 0; h < d.hinges.size(); ++h) {
      const Hinge& hinge = d.hinges[h];
      if (pose.contains(hinge.parent) == pose.contains(hinge.child)) continue;
      const double* own =
          hinge.locked_at.empty() ? q.data() + m.hinges()[h].q_index : hinge.locked_at.data();
      const Matrix4d x = matrix(hinge.frame_on_parent) * displacement(hinge, own) *
                         matrix(hinge.frame_on_child).inverse();
      if (pose.contains(hinge.parent))
        pose[hinge.child] = pose[hinge.parent] * x;
      else
        pose[hinge.parent] = pose[hinge.child] * x.inverse();
    }
  }
  return pose;
}

TEST(Finish, PosesThroughNodesAreThoseOfANaiveWalk) {
  Random random(3);
  for (int trial = 0; trial < 60; ++trial) {
    const Mechanism m = random_tree(random, 1 + random.below(20)).finish();
    const VectorXd q = random_position(m, static_cast<std::uint64_t>(trial));
    const auto nodes = node_poses(m, q);
    for (const auto& [name, pose] : naive_poses(m, q))
      EXPECT_LT((body_pose(m, nodes, name) - pose).norm(), 1e-11) << name << " trial " << trial;
  }
}

TEST(Finish, NodesAreParentFirstAndNumberTheirCoordinates) {
  Random random(4);
  const Mechanism m = random_tree(random, 60).finish();
  int q = 0, v = 0;
  for (int n = 0; n < static_cast<int>(m.nodes().size()); ++n) {
    const Node& node = m.nodes()[index(n)];
    EXPECT_LT(node.parent, n);
    EXPECT_EQ(node.q_index, q);
    EXPECT_EQ(node.v_index, v);
    const HingePlace& place = m.hinges()[index(node.hinge_index)];
    EXPECT_EQ(place.node, n);
    EXPECT_EQ(place.q_index, q);
    EXPECT_EQ(place.freedoms, node.freedoms);
    EXPECT_EQ(m.hinge_index(place.name), node.hinge_index);
    q += node.coordinates;
    v += node.freedoms;
  }
  EXPECT_EQ(m.coordinates(), q);
  EXPECT_EQ(m.freedoms(), v);
  EXPECT_EQ(m.position_names().size(), to_size(q));
  for (int i = 0; i < v; ++i) EXPECT_EQ(m.velocity_index(m.velocity_names()[index(i)]), i);
  for (int i = 0; i < q; ++i) EXPECT_EQ(m.position_index(m.position_names()[index(i)]), i);
}

// The kinetic energy of a body at a twist, from point masses with the same inertia: the mass at
// the centre of mass plus a symmetric cloud that has the inertia.
TEST(Finish, InertiaOfANodeIsTheSumOverThePointsOfItsBodies) {
  Random random(5);
  for (int trial = 0; trial < 20; ++trial) {
    const Mechanism m = random_tree(random, 25).finish();
    const VectorXd q = zero_position(m);
    const auto nodes = node_poses(m, q);
    const auto world = naive_poses(m, q);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      double mass = 0.0;
      Vector3d moment = Vector3d::Zero();
      Matrix3d inertia = Matrix3d::Zero();
      const Matrix4d to_node = matrix(nodes[n]).inverse();
      for (std::size_t b = 0; b < m.bodies().size(); ++b) {
        if (m.bodies()[b].node != static_cast<int>(n)) continue;
        const Body& body = m.description().bodies[b];
        const Matrix4d x = to_node * world.at(body.name);
        const Matrix3d r = x.topLeftCorner<3, 3>() * to_eigen(body.inertia_axes);
        const Vector3d c =
            (x * (Eigen::Vector4d() << to_eigen(body.center_of_mass), 1.0).finished()).head<3>();
        // Second moments ∫ x xᵀ dm = ½ tr(J) 1 − J, realised by six points on the principal axes.
        const Matrix3d j = to_eigen(body.inertia);
        const Eigen::SelfAdjointEigenSolver<Matrix3d> eigen(0.5 * j.trace() * Matrix3d::Identity() -
                                                            j);
        for (int k = 0; k < 3; ++k)
          for (const double sign : {-1.0, 1.0}) {
            const double part = body.mass / 6.0;
            const double reach = std::sqrt(std::max(0.0, eigen.eigenvalues()[k]) / (2.0 * part));
            const Vector3d p = c + r * (sign * reach * eigen.eigenvectors().col(k));
            mass += part;
            moment += part * p;
            inertia += part * (p.squaredNorm() * Matrix3d::Identity() - p * p.transpose());
          }
      }
      const SpatialInertiad own = load_inertia<double>(m.nodes()[n]);
      EXPECT_NEAR(own.mass, mass, 1e-12 * mass);
      EXPECT_LT((to_eigen(own.mass_moment) - moment).norm(), 1e-10 * (1.0 + moment.norm()));
      EXPECT_LT((to_eigen(own.inertia) - inertia).norm(), 1e-10 * (1.0 + inertia.norm()));
    }
  }
}

TEST(Finish, ReversedHingesKeepTheSignAndMeaningOfTheirCoordinates) {
  for (const HingeType type : kMovingTypes) {
    Random random(6);
    const HingeSettings settings = random.hinge(type);
    MechanismBuilder b;  // described from the tip: the world is the child
    b.add_body("body", random.body()).add_hinge("hinge", "body", kWorld, settings);
    const Mechanism m = b.finish();
    const VectorXd q = random_position(m, 9);
    // The world as seen from the body is where the description says.
    const Matrix4d expected = matrix(settings.frame_on_parent) * displacement(settings, q.data()) *
                              matrix(settings.frame_on_child).inverse();
    const Matrix4d body = body_pose(m, node_poses(m, q), "body");
    EXPECT_LT((body.inverse() - expected).norm(), 1e-12) << to_string(type);
  }
}

TEST(Finish, ALockedHingeIsAWeldAtItsPosition) {
  for (const HingeType type : kMovingTypes) {
    Random random(8);
    MechanismBuilder b;
    b.add_body("a", random.body()).add_body("b", random.body());
    b.add_hinge("first", kWorld, "a", random.hinge(HingeType::revolute));
    b.add_hinge("second", "a", "b", random.hinge(type));
    const Mechanism moving = b.finish();
    VectorXd q = random_position(moving, 5);
    const HingePlace& place = moving.hinges()[1];
    b.lock("second", std::vector<double>(q.data() + place.q_index,
                                         q.data() + place.q_index + place.coordinates));
    const Mechanism locked = b.finish();
    EXPECT_EQ(locked.nodes().size(), 1u);
    EXPECT_EQ(locked.freedoms(), 1);
    EXPECT_EQ(locked.hinges()[1].role, HingePlace::Role::weld);
    EXPECT_LT((body_pose(locked, node_poses(locked, q.head(1)), "b") -
               body_pose(moving, node_poses(moving, q), "b"))
                  .norm(),
              1e-13);
    EXPECT_NEAR(locked.total_mass(), moving.total_mass(), 1e-15);
  }
}

TEST(Finish, OneFreedomHingesTurnAboutTheLocalZAxis) {
  Random random(9);
  for (const HingeType type : {HingeType::revolute, HingeType::prismatic, HingeType::screw}) {
    const HingeSettings settings = random.hinge(type);
    MechanismBuilder b;
    b.add_body("body", random.body()).add_hinge("hinge", kWorld, "body", settings);
    const Mechanism m = b.finish();
    const Vector3d axis =
        to_eigen(settings.frame_on_parent.rotation) * to_eigen(settings.axes[0]).normalized();
    const Transformd x = load_placement<double>(m.nodes()[0]);
    EXPECT_LT((to_eigen(x.rotation).col(2) - axis).norm(), 1e-14);
  }
}

TEST(Finish, BodiesWeldedToTheWorldHaveNoNode) {
  Random random(10);
  MechanismBuilder b;
  const HingeSettings weld = random.hinge(HingeType::weld);
  b.add_body("table", random.body()).add_body("arm", random.body());
  b.add_hinge("floor", kWorld, "table", weld);
  b.add_hinge("pin", "table", "arm", random.hinge(HingeType::revolute));
  const Mechanism m = b.finish();
  EXPECT_EQ(m.bodies()[0].node, -1);
  EXPECT_LT((matrix(m.bodies()[0].X_node_body) -
             matrix(weld.frame_on_parent) * matrix(weld.frame_on_child).inverse())
                .norm(),
            1e-14);
  EXPECT_EQ(m.nodes()[0].parent, -1);
  EXPECT_FALSE(m.has_free_base());
  EXPECT_EQ(m.body_index(kWorld), -1);
}

TEST(Finish, FramesSpringsAndDrivesArePlacedInTheirNodes) {
  Random random(12);
  MechanismBuilder b;
  for (const char* name : {"a", "b", "c"}) b.add_body(name, random.body());
  b.add_hinge("h1", kWorld, "a", random.hinge(HingeType::spherical));
  HingeSettings elbow = random.hinge(HingeType::revolute);
  elbow.drive =
      DriveSettings{.rotor_inertia = 1e-4, .gear_ratio = 50.0, .carrier = {}, .rotor_axis = {}};
  b.add_hinge("h2", "a", "b", elbow);
  HingeSettings slide = random.hinge(HingeType::prismatic);
  slide.drive = DriveSettings{.rotor_inertia = 2e-4,
                              .gear_ratio = -300.0,
                              .carrier = "a",
                              .rotor_axis = random.vector(),
                              .armature_only = true};
  b.add_hinge("h3", "b", "c", slide);
  const Transformd tool = random.pose();
  b.add_frame("tool", "c", tool).add_frame("origin", kWorld, tool);
  const Vec3d pa = random.vector(), pb = random.vector();
  b.add_spring({.name = "spring",
                .body_a = "b",
                .point_a = pa,
                .body_b = kWorld,
                .point_b = pb,
                .stiffness = 10.0,
                .rest_length = 0.3,
                .damping = 0.2,
                .source = {}});
  const Mechanism m = b.finish();
  const VectorXd q = random_position(m, 1);
  const auto nodes = node_poses(m, q);
  const auto world = naive_poses(m, q);
  const auto at_node = [&](int node) {
    return node < 0 ? Matrix4d(Matrix4d::Identity()) : matrix(nodes[index(node)]);
  };
  const FramePlace& frame = m.frames()[index(m.frame_index("tool"))];
  EXPECT_LT(
      (at_node(frame.node) * matrix(frame.X_node_frame) - world.at("c") * matrix(tool)).norm(),
      1e-13);
  EXPECT_EQ(m.frames()[1].node, -1);
  EXPECT_LT((matrix(m.frames()[1].X_node_frame) - matrix(tool)).norm(), 1e-15);

  const SpringPlace& spring = m.springs()[0];
  EXPECT_LT((at_node(spring.a.node) * shift(to_eigen(spring.a.point)) -
             world.at("b") * shift(to_eigen(pa)))
                .col(3)
                .norm(),
            1e-13);
  EXPECT_EQ(spring.b.node, -1);
  EXPECT_EQ(spring.b.point, pb);
  EXPECT_EQ(spring.rest_length, 0.3);

  // Default: on the parent, about the hinge axis.
  ASSERT_EQ(m.drives().size(), 2u);
  const DrivePlace& drive = m.drives()[0];
  EXPECT_EQ(drive.v_index, m.velocity_index("h2"));
  const Vector3d axis = world.at("a").topLeftCorner<3, 3>() *
                        to_eigen(elbow.frame_on_parent.rotation) *
                        to_eigen(elbow.axes[0]).normalized();
  EXPECT_LT((at_node(drive.carrier_node).topLeftCorner<3, 3>() * to_eigen(drive.rotor_axis) - axis)
                .norm(),
            1e-13);
  const DrivePlace& second = m.drives()[1];
  EXPECT_TRUE(second.armature_only);
  EXPECT_EQ(second.gear_ratio, -300.0);
  EXPECT_LT((at_node(second.carrier_node).topLeftCorner<3, 3>() * to_eigen(second.rotor_axis) -
             world.at("a").topLeftCorner<3, 3>() * to_eigen(*slide.drive->rotor_axis).normalized())
                .norm(),
            1e-13);
}

TEST(Finish, DefaultStateNamesAndFreedomSettings) {
  MechanismBuilder b;
  b.add_body("hub", ball()).add_body("arm", ball()).add_body("plate", ball());
  HingeSettings base;
  base.type = HingeType::free;
  base.initial_position = {2.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0};  // the quaternion gets length 1
  base.initial_velocity = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
  b.add_hinge("base", kWorld, "hub", base);
  HingeSettings pin;
  pin.freedoms = {{.lower = -1.0, .upper = 2.0, .damping = 0.5}};
  pin.initial_position = {0.7};
  b.add_hinge("pin", "hub", "arm", pin);
  HingeSettings planar;
  planar.type = HingeType::planar;
  planar.freedoms = {{}, {.stiffness = 3.0}};  // the third has the defaults
  b.add_hinge("slide", "hub", "plate", planar);
  const Mechanism m = b.finish();
  const std::vector<std::string> q(m.position_names().begin(), m.position_names().end());
  const std::vector<std::string> v(m.velocity_names().begin(), m.velocity_names().end());
  EXPECT_EQ(
      q, (std::vector<std::string>{"base.qw", "base.qx", "base.qy", "base.qz", "base.x", "base.y",
                                   "base.z", "pin", "slide.angle", "slide.x", "slide.y"}));
  EXPECT_EQ(v, (std::vector<std::string>{"base.wx", "base.wy", "base.wz", "base.vx", "base.vy",
                                         "base.vz", "pin", "slide.angle", "slide.x", "slide.y"}));
  VectorXd expected_q(11), expected_v = VectorXd::Zero(10);
  expected_q << 1, 0, 0, 0, 1, 2, 3, 0.7, 0, 0, 0;
  expected_v.head<6>() << 0.1, 0.2, 0.3, 0.4, 0.5, 0.6;
  EXPECT_EQ(m.default_state().q, expected_q);
  EXPECT_EQ(m.default_state().v, expected_v);
  ASSERT_EQ(m.freedom_settings().size(), 10u);
  EXPECT_EQ(m.freedom_settings()[6].upper, 2.0);
  EXPECT_EQ(m.freedom_settings()[8].stiffness, 3.0);
  EXPECT_EQ(m.freedom_settings()[9].stiffness, 0.0);
  EXPECT_EQ(m.coordinate_of_freedom()[5], -1);
  EXPECT_EQ(m.coordinate_of_freedom()[6], 7);
  EXPECT_TRUE(m.has_free_base());
  EXPECT_EQ(m.total_mass(), 3.0);
}

TEST(Finish, UnknownNamesSuggestTheNearest) {
  MechanismBuilder b;
  b.add_body("forearm", ball()).add_hinge("elbow", kWorld, "forearm");
  const Mechanism m = b.finish();
  EXPECT_TRUE(m.has_body("forearm"));
  EXPECT_FALSE(m.has_hinge("forearm"));
  try {
    (void)m.hinge_index("elbo");
    FAIL();
  } catch (const NameError& error) {
    EXPECT_STREQ(error.what(), "no hinge is named 'elbo'; did you mean 'elbow'?");
  }
  EXPECT_THROW((void)m.body_index("wrist"), NameError);
  EXPECT_THROW((void)m.frame_index("tip"), NameError);
  EXPECT_THROW((void)m.position_index("x"), NameError);
  EXPECT_THROW((void)m.velocity_index("x"), NameError);
}

TEST(Finish, ACopyOutlivesItsOriginal) {
  auto original = std::make_unique<Mechanism>([] {
    MechanismBuilder b;
    b.add_body("body", ball())
        .add_hinge("hinge", kWorld, "body", Random().hinge(HingeType::custom));
    return b.finish();
  }());
  const Mechanism copy = *original;
  const Matrix4d before =
      body_pose(*original, node_poses(*original, original->default_state().q), "body");
  original.reset();
  EXPECT_EQ(body_pose(copy, node_poses(copy, copy.default_state().q), "body"), before);
  EXPECT_EQ(copy.hinge_index("hinge"), 0);
}

}  // namespace
}  // namespace catena
