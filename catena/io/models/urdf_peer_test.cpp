// SPDX-License-Identifier: BSD-3-Clause
// Our URDF reader against urdfdom, the format's own library, on random robots; and on the files
// that CATENA_PEER_URDF lists, separated by colons.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include <gtest/gtest.h>
#include <urdf_parser/urdf_parser.h>

#include "catena/io/models/urdf.h"

namespace catena {
namespace {

constexpr double kTolerance = 1e-12;

Transformd to_catena(const urdf::Pose& pose) {
  const urdf::Rotation& q = pose.rotation;
  return {Rotationd::from_quaternion(normalized(Quaterniond{q.w, q.x, q.y, q.z})),
          {pose.position.x, pose.position.y, pose.position.z}};
}

void expect_near(const Vec3d& a, const Vec3d& b, const std::string& what) {
  EXPECT_LE(norm(a - b), kTolerance * (1.0 + norm(a))) << what;
}
void expect_near(double a, double b, const std::string& what) {
  EXPECT_LE(std::abs(a - b), kTolerance * (1.0 + std::abs(a))) << what;
}
void expect_near(const Transformd& a, const Transformd& b, const std::string& what) {
  expect_near(a.translation, b.translation, what);
  EXPECT_LE(norm(log(a.rotation.inverse() * b.rotation)), kTolerance) << what;
}

void compare(const std::string& text, const std::string& name) {
  const urdf::ModelInterfaceSharedPtr peer = urdf::parseURDF(text);
  const Reading reading = read_urdf_text(text, name);
  const bool failed =
      std::any_of(reading.diagnostics.begin(), reading.diagnostics.end(),
                  [](const Diagnostic& d) { return d.severity == Severity::error; });
  if (!peer || failed) {
    // We refuse more than urdfdom does (a mimic of an unknown joint), never less.
    EXPECT_TRUE(failed) << name;
    return;
  }
  const Description& d = reading.description;
  EXPECT_EQ(d.name, peer->getName());
  EXPECT_EQ(d.bodies.size() + (peer->getLink(kWorld) ? 1 : 0), peer->links_.size()) << name;
  for (const Body& body : d.bodies) {
    const auto link = peer->getLink(body.name);
    ASSERT_TRUE(link) << body.name;
    const auto inertial = link->inertial;
    if (!inertial) {
      EXPECT_EQ(body.mass, 0.0);
      continue;
    }
    expect_near(inertial->mass, body.mass, body.name);
    const Transformd origin = to_catena(inertial->origin);
    expect_near(origin, {body.inertia_axes, body.center_of_mass}, body.name);
    expect_near(Vec3d{inertial->ixx, inertial->iyy, inertial->izz},
                Vec3d{body.inertia.xx, body.inertia.yy, body.inertia.zz}, body.name);
    expect_near(Vec3d{inertial->ixy, inertial->ixz, inertial->iyz},
                Vec3d{body.inertia.xy, body.inertia.xz, body.inertia.yz}, body.name);
  }
  std::size_t compared = 0;
  for (const Hinge& hinge : d.hinges) {
    const auto joint = peer->getJoint(hinge.name);
    if (!joint) {
      EXPECT_TRUE(hinge.name.starts_with("base")) << hinge.name;  // to the ground
      continue;
    }
    ++compared;
    EXPECT_EQ(hinge.parent, joint->parent_link_name);
    EXPECT_EQ(hinge.child, joint->child_link_name);
    expect_near(to_catena(joint->parent_to_joint_origin_transform), hinge.frame_on_parent,
                hinge.name);
    expect_near(Transformd{}, hinge.frame_on_child, hinge.name);
    if (!hinge.axes.empty())
      expect_near(Vec3d{joint->axis.x, joint->axis.y, joint->axis.z}, hinge.axes[0], hinge.name);
    if (hinge.freedoms.empty()) continue;
    const FreedomSettings& freedom = hinge.freedoms[0];
    if (joint->limits) {
      if (joint->type != urdf::Joint::CONTINUOUS) {
        expect_near(joint->limits->lower, freedom.lower, hinge.name);
        expect_near(joint->limits->upper, freedom.upper, hinge.name);
      }
      expect_near(joint->limits->effort, freedom.effort_limit, hinge.name);
      expect_near(joint->limits->velocity, freedom.velocity_limit, hinge.name);
    }
    if (joint->dynamics) {
      expect_near(joint->dynamics->damping, freedom.damping, hinge.name);
      expect_near(joint->dynamics->friction, freedom.friction.sliding, hinge.name);
    }
    if (joint->mimic) {
      const auto coupling =
          std::find_if(d.couplings.begin(), d.couplings.end(),
                       [&](const Coupling& c) { return c.terms[0].hinge == hinge.name; });
      ASSERT_NE(coupling, d.couplings.end()) << hinge.name;
      EXPECT_EQ(coupling->terms[1].hinge, joint->mimic->joint_name);
      expect_near(joint->mimic->multiplier, -coupling->terms[1].coefficient, hinge.name);
      expect_near(joint->mimic->offset, coupling->constant, hinge.name);
    }
  }
  EXPECT_EQ(compared, peer->joints_.size()) << name;
}

std::string random_robot(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-3.0, 3.0);
  const auto x = [&] {
    std::ostringstream out;
    out.precision(17);
    out << uniform(random);
    return out.str();
  };
  const auto three = [&] { return x() + " " + x() + " " + x(); };
  const char* types[] = {"revolute", "continuous", "prismatic", "fixed", "floating", "planar"};
  std::string text = "<robot name='random" + std::to_string(seed) + "'>\n";
  for (int i = 0; i < 20; ++i) {
    const std::string name = "l" + std::to_string(i);
    text += "<link name='" + name + "'><inertial><origin xyz='" + three() + "' rpy='" + three() +
            "'/><mass value='2.5e-1'/><inertia ixx='2' ixy='" + x() + "' ixz='" + x() +
            "' iyy='2' iyz='" + x() + "' izz='2'/></inertial></link>\n";
    if (i == 0) continue;
    text += "<joint name='j" + std::to_string(i) + "' type='" + types[random() % 6] +
            "'><parent link='l" + std::to_string(random() % static_cast<unsigned>(i)) +
            "'/><child link='" + name + "'/><origin xyz='" + three() + "' rpy='" + three() +
            "'/><axis xyz='" + three() +
            "'/><limit lower='-1.5' upper='0.25' effort='10' velocity='2e1'/>"
            "<dynamics damping='0.1' friction='0.2'/></joint>\n";
  }
  text +=
      "<link name='m'/><joint name='jm' type='continuous'><parent link='l0'/>"
      "<child link='m'/><mimic joint='jn' multiplier='-1.5' offset='0.3'/></joint>\n"
      "<link name='n'/><joint name='jn' type='prismatic'><parent link='l0'/><child link='n'/>"
      "<limit effort='1' velocity='1'/></joint>\n";
  return text + "</robot>\n";
}

TEST(UrdfPeer, RandomRobots) {
  for (unsigned seed = 1; seed <= 20; ++seed) compare(random_robot(seed), "random.urdf");
}

TEST(UrdfPeer, GivenFiles) {
  const char* list = std::getenv("CATENA_PEER_URDF");
  if (!list) GTEST_SKIP() << "CATENA_PEER_URDF lists no files";
  std::istringstream paths(list);
  for (std::string path; std::getline(paths, path, ':');) {
    std::ifstream stream(path);
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    compare(text, path);
  }
}

}  // namespace
}  // namespace catena
