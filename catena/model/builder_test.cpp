// SPDX-License-Identifier: BSD-3-Clause
// Editing a mechanism without a file.
#include "catena/model/builder.h"

#include "catena/base/index.h"
#include "catena/model/configuration.h"
#include "catena/model/testing/test_support.h"

namespace catena {
namespace {

using namespace test;

// A gripper on a wrist: two fingers coupled by a gear, a driven wrist, a rod, a spring, a frame.
MechanismBuilder gripper() {
  Random random(31);
  MechanismBuilder b("gripper");
  b.set_gravity({0, 0, -1.62});
  for (const char* name : {"palm", "left", "right"}) b.add_body(name, random.body());
  HingeSettings wrist = random.hinge(HingeType::revolute);
  wrist.drive =
      DriveSettings{.rotor_inertia = 1e-3, .gear_ratio = 9.0, .rotor_axis = Vec3d{0, 1, 0}};
  b.add_hinge("wrist", kWorld, "palm", wrist);
  b.add_hinge("left_finger", "palm", "left", random.hinge(HingeType::revolute));
  b.add_hinge("right_finger", "palm", "right", random.hinge(HingeType::prismatic));
  b.add_gear("sync", "right_finger", "left_finger", -0.1, 0.05);
  b.add_frame("tip", "left", random.pose()).add_frame("mount", kWorld, random.pose());
  b.add_spring({.name = "return",
                .body_a = "left",
                .body_b = kWorld,
                .point_b = {1, 2, 3},
                .stiffness = 5.0});
  return b;
}

TEST(Builder, GearIsAMimicJoint) {
  const MechanismBuilder b = gripper();
  const Coupling& gear = b.description().couplings[0];
  // q(right) = −0.1 q(left) + 0.05
  EXPECT_EQ(gear.terms[0].hinge, "right_finger");
  EXPECT_DOUBLE_EQ(
      gear.terms[0].coefficient * (-0.1 * 2.0 + 0.05) + gear.terms[1].coefficient * 2.0,
      gear.constant);
}

TEST(Builder, AddJointIsAddHinge) {
  MechanismBuilder b("arm");
  b.add_body("link", {.mass = 1.0, .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)})
      .add_joint("elbow", "world", "link", {.type = HingeType::prismatic});
  const Hinge& elbow = b.description().hinges.at(0);
  EXPECT_EQ(elbow.name, "elbow");
  EXPECT_EQ(elbow.parent, "world");
  EXPECT_EQ(elbow.child, "link");
  EXPECT_EQ(elbow.type, HingeType::prismatic);
}

TEST(Builder, EditGivesTheSameMechanismAgain) {
  const Mechanism m = gripper().finish();
  const Mechanism again = m.edit().finish();
  EXPECT_EQ(again.name(), "gripper");
  EXPECT_EQ(again.gravity(), (Vec3d{0, 0, -1.62}));
  EXPECT_EQ(again.freedoms(), m.freedoms());
  EXPECT_EQ(again.loops().size(), m.loops().size());
  const VectorXd q = random_position(m, 2);
  for (const BodyPlace& body : m.bodies())
    EXPECT_EQ(body_pose(m, node_poses(m, q), body.name),
              body_pose(again, node_poses(again, q), body.name));
  const Mechanism heavier = m.edit().set_mass("palm", 42.0).finish();
  EXPECT_EQ(heavier.bodies()[0].inertia.mass, 42.0);
  EXPECT_NE(m.bodies()[0].inertia.mass, 42.0);
}

TEST(Builder, LockAndUnlock) {
  MechanismBuilder b = gripper();
  const int freedoms = b.finish().freedoms();
  b.lock("wrist", {0.3});
  EXPECT_EQ(b.finish().freedoms(), freedoms - 1);
  b.unlock("wrist");
  EXPECT_EQ(b.finish().freedoms(), freedoms);
  for (const HingeType type : kMovingTypes) {
    MechanismBuilder one;
    one.add_body("body", ball()).add_hinge("hinge", kWorld, "body", Random().hinge(type));
    const Matrix4d zero =
        body_pose(one.finish(), node_poses(one.finish(), zero_position(one.finish())), "body");
    one.lock("hinge");  // at its zero
    const Mechanism m = one.finish();
    EXPECT_EQ(m.freedoms(), 0);
    EXPECT_LT((body_pose(m, {}, "body") - zero).norm(), 1e-13) << to_string(type);
  }
  EXPECT_THROW(b.lock("knee"), NameError);
  EXPECT_THROW(b.unlock("knee"), NameError);
}

TEST(Builder, RemoveTakesAllThatNamesIt) {
  MechanismBuilder b = gripper();
  b.remove_body("left");
  const Description& d = b.description();
  EXPECT_EQ(d.bodies.size(), 2u);
  EXPECT_EQ(d.hinges.size(), 2u);
  EXPECT_TRUE(d.couplings.empty());
  EXPECT_TRUE(d.springs.empty());
  EXPECT_EQ(d.frames.size(), 1u);
  EXPECT_NO_THROW(b.finish());
  EXPECT_THROW(b.remove_body("left"), NameError);

  MechanismBuilder c = gripper();
  c.remove_hinge("left_finger");
  EXPECT_TRUE(c.description().couplings.empty());
  EXPECT_TRUE(mentions(problems_of(c), {"'left'", "no path"}));

  // Names taken from the description itself, and a drive carried by what goes.
  MechanismBuilder e = gripper();
  e.hinge("wrist").drive->carrier = "right";
  e.remove_body(e.description().bodies[2].name);
  EXPECT_FALSE(e.description().hinges[0].drive.has_value());
  e.remove_hinge(e.description().hinges[1].name).remove_body("left");
  EXPECT_NO_THROW(e.finish());
}

TEST(Builder, AttachPutsTheOtherWhereItIsTold) {
  Random random(33);
  const Transformd pose = random.pose();
  const MechanismBuilder tool = gripper();
  MechanismBuilder b;
  b.add_body("arm", random.body())
      .add_hinge("shoulder", kWorld, "arm", random.hinge(HingeType::gimbal));
  b.attach(tool.description(), "l_", "arm", pose).attach(tool.description(), "r_");
  const Mechanism m = b.finish();
  const Mechanism alone = tool.finish();
  EXPECT_EQ(m.bodies().size(), 7u);
  EXPECT_EQ(m.loops().size(), 2u);
  EXPECT_EQ(m.gravity(), (Vec3d{0, 0, -9.81}));

  VectorXd q = random_position(m, 4);
  VectorXd own(alone.coordinates());
  for (int k = 0; k < alone.coordinates(); ++k)
    own[k] = q[m.position_index("l_" + alone.position_names()[index(k)])];
  const auto nodes = node_poses(m, q), own_nodes = node_poses(alone, own);
  const Matrix4d arm = body_pose(m, nodes, "arm");
  for (const char* name : {"palm", "left", "right"})
    EXPECT_LT((body_pose(m, nodes, std::string("l_") + name) -
               arm * matrix(pose) * body_pose(alone, own_nodes, name))
                  .norm(),
              1e-13);
  const auto world_frame = [&](const Mechanism& of, const auto& poses, const std::string& name) {
    const FramePlace& f = of.frames()[index(of.frame_index(name))];
    return f.node < 0 ? matrix(f.X_node_frame)
                      : Matrix4d(matrix(poses[index(f.node)] * f.X_node_frame));
  };
  EXPECT_LT((world_frame(m, nodes, "l_mount") -
             arm * matrix(pose) * world_frame(alone, own_nodes, "mount"))
                .norm(),
            1e-13);
  // The wrist's rotor axis was given in the world, which is now the arm at `pose`.
  const DrivePlace& drive = m.drives()[0];
  const Vector3d axis =
      matrix(nodes[index(drive.carrier_node)]).topLeftCorner<3, 3>() * to_eigen(drive.rotor_axis);
  EXPECT_LT((axis - (arm * matrix(pose)).topLeftCorner<3, 3>() * Vector3d::UnitY()).norm(), 1e-13);
  const SpringPlace& spring = m.springs()[0];
  EXPECT_EQ(spring.b.body, m.body_index("arm"));
  EXPECT_EQ(b.description().springs[0].point_b, (pose * Vec3d{1, 2, 3}));
}

TEST(Builder, AttachedTwiceWithoutPrefixIsAnError) {
  MechanismBuilder b = gripper();
  b.attach(b.description(), "");  // its own description too
  EXPECT_EQ(b.description().bodies.size(), 6u);
  EXPECT_TRUE(mentions(problems_of(b), {"'palm'", "twice"}));
  MechanismBuilder c = gripper();
  c.attach(c.description(), "second_", "palm");
  EXPECT_EQ(c.finish().bodies().size(), 6u);
}

TEST(Builder, ConnectRootsGivesEveryIslandAPath) {
  const auto islands = [] {
    MechanismBuilder b;
    for (const char* name : {"tip", "root", "fixed", "ring1", "ring2", "alone", "cut"})
      b.add_body(name, ball());
    b.add_hinge("h", "root", "tip").add_hinge("f", kWorld, "fixed");
    b.add_hinge("r1", "ring1", "ring2").add_hinge("r2", "ring2", "ring1");
    b.add_hinge("base", "fixed", "cut", {.cut = Cut::always});
    return b;
  };
  MechanismBuilder b = islands();
  const Mechanism m = b.connect_roots(HingeType::free).finish();
  std::vector<std::string> children, names;
  for (const Hinge& hinge : m.description().hinges)
    if (hinge.type == HingeType::free) {
      children.push_back(hinge.child);
      names.push_back(hinge.name);
    }
  EXPECT_EQ(children, (std::vector<std::string>{"root", "alone", "cut", "ring1"}));
  EXPECT_EQ(names[0], "base_");  // "base" is taken
  EXPECT_TRUE(m.has_free_base());
  EXPECT_EQ(m.position_names()[0], "base_.qw");
  EXPECT_FALSE(islands().connect_roots(HingeType::weld).finish().has_free_base());
  // Nothing to do.
  MechanismBuilder whole = gripper();
  EXPECT_EQ(whole.connect_roots(HingeType::free).description().hinges.size(), 3u);
}

TEST(Builder, ChangesOfUnknownThingsSuggestTheNearest) {
  MechanismBuilder b = gripper();
  try {
    b.set_mass("plam", 1.0);
    FAIL();
  } catch (const NameError& error) {
    EXPECT_STREQ(error.what(), "no body is named 'plam'; did you mean 'palm'?");
  }
  EXPECT_THROW(b.hinge("x"), NameError);
  EXPECT_THROW(b.remove_hinge("x"), NameError);
}

}  // namespace
}  // namespace catena
