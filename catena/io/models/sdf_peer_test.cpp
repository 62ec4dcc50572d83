// SPDX-License-Identifier: BSD-3-Clause
// Our SDF reader against libsdformat, the format's own library, on files that use its frame
// semantics in every way; and on the files that CATENA_PEER_SDF lists, separated by colons.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <queue>
#include <sstream>
#include <unordered_map>

#include <gtest/gtest.h>
#include <sdf/sdf.hh>

#include "catena/io/models/sdf.h"

namespace catena {
namespace {

constexpr double kTolerance = 1e-12;

Transformd to_catena(const auto& pose) {
  const auto& q = pose.Rot();
  return {Rotationd::from_quaternion(normalized(Quaterniond{q.W(), q.X(), q.Y(), q.Z()})),
          {pose.Pos().X(), pose.Pos().Y(), pose.Pos().Z()}};
}
Vec3d vector_of(const auto& v) { return {v.X(), v.Y(), v.Z()}; }

// The world poses of our bodies when all coordinates have their initial values.
std::unordered_map<std::string, Transformd> poses_of(const Description& d) {
  std::unordered_map<std::string, Transformd> poses{{kWorld, {}}};
  std::queue<std::string> open({std::string(kWorld)});
  while (!open.empty()) {
    const std::string body = open.front();
    open.pop();
    for (const Hinge& h : d.hinges) {
      Transformd moved;
      if (h.initial_position.size() == 7) {
        const std::vector<double>& q = h.initial_position;
        moved = {Rotationd::from_quaternion({q[0], q[1], q[2], q[3]}), {q[4], q[5], q[6]}};
      }
      const Transformd X = h.frame_on_parent * moved * h.frame_on_child.inverse();
      if (h.parent == body && poses.emplace(h.child, poses[body] * X).second) open.push(h.child);
      if (h.child == body && poses.emplace(h.parent, poses[body] * X.inverse()).second)
        open.push(h.parent);
    }
  }
  return poses;
}

class Comparison {
 public:
  Comparison(const Description& d, std::string file)
      : d_(d), file_(std::move(file)), poses_(poses_of(d)) {
    for (const Body& body : d_.bodies) bodies_.emplace(body.name, &body);
    for (const Hinge& hinge : d_.hinges) hinges_.emplace(hinge.name, &hinge);
  }

  void model(const sdf::Model& m, const Transformd& X_world_scope, const std::string& prefix) {
    auto own = m.RawPose();
    ASSERT_TRUE(m.SemanticPose().Resolve(own).empty()) << file_ << " " << m.Name();
    const Transformd X_world_model = X_world_scope * to_catena(own);
    for (std::uint64_t i = 0; i < m.LinkCount(); ++i)
      link(*m.LinkByIndex(i), X_world_model, prefix);
    if (!m.Static())
      for (std::uint64_t i = 0; i < m.JointCount(); ++i) joint(*m.JointByIndex(i), prefix);
    for (std::uint64_t i = 0; i < m.ModelCount(); ++i)
      model(*m.ModelByIndex(i), X_world_model, prefix + m.ModelByIndex(i)->Name() + "::");
  }

  std::size_t links = 0;

 private:
  void expect_near(const Vec3d& a, const Vec3d& b, const std::string& what) {
    EXPECT_LE(norm(a - b), kTolerance * (1.0 + norm(a))) << file_ << " " << what;
  }
  void expect_near(const Transformd& a, const Transformd& b, const std::string& what) {
    expect_near(a.translation, b.translation, what);
    EXPECT_LE(norm(log(a.rotation.inverse() * b.rotation)), kTolerance) << file_ << " " << what;
  }
  void expect_equal(double a, double b, const std::string& what) {
    if (a == b) return;  // infinities
    EXPECT_LE(std::abs(a - b), kTolerance * (1.0 + std::abs(a))) << file_ << " " << what;
  }

  void link(const sdf::Link& link, const Transformd& X_world_model, const std::string& prefix) {
    ++links;
    const std::string name = prefix + link.Name();
    ASSERT_TRUE(bodies_.contains(name)) << file_ << " " << name;
    const Body& body = *bodies_.at(name);
    auto pose = link.RawPose();
    ASSERT_TRUE(link.SemanticPose().Resolve(pose, "__model__").empty()) << name;
    ASSERT_TRUE(poses_.contains(name)) << file_ << " " << name;
    expect_near(X_world_model * to_catena(pose), poses_.at(name), name);
    const auto& inertial = link.Inertial();
    expect_equal(inertial.MassMatrix().Mass(), body.mass, name);
    expect_near(to_catena(inertial.Pose()), {body.inertia_axes, body.center_of_mass}, name);
    expect_near(vector_of(inertial.MassMatrix().DiagonalMoments()),
                {body.inertia.xx, body.inertia.yy, body.inertia.zz}, name);
    expect_near(vector_of(inertial.MassMatrix().OffDiagonalMoments()),
                {body.inertia.xy, body.inertia.xz, body.inertia.yz}, name);
  }

  void joint(const sdf::Joint& joint, const std::string& prefix) {
    if (joint.Type() == sdf::JointType::GEARBOX) return;
    const std::string name = prefix + joint.Name();
    ASSERT_TRUE(hinges_.contains(name)) << file_ << " " << name;
    const Hinge& hinge = *hinges_.at(name);
    std::string parent, child;
    ASSERT_TRUE(joint.ResolveParentLink(parent).empty()) << name;
    ASSERT_TRUE(joint.ResolveChildLink(child).empty()) << name;
    EXPECT_EQ(hinge.parent, parent == "world" ? parent : prefix + parent) << file_;
    EXPECT_EQ(hinge.child, prefix + child) << file_;
    auto pose = joint.RawPose();
    ASSERT_TRUE(joint.SemanticPose().Resolve(pose, child).empty()) << name;
    expect_near(to_catena(pose), hinge.frame_on_child, name);
    for (unsigned i = 0; i < hinge.axes.size(); ++i) {
      const sdf::JointAxis* axis = joint.Axis(i);
      if (!axis) continue;
      auto xyz = axis->Xyz();
      ASSERT_TRUE(axis->ResolveXyz(xyz).empty()) << name;
      expect_near(vector_of(xyz), normalized(hinge.axes[i]), name);
      const FreedomSettings& f = hinge.freedoms[i];
      const auto limit = [](double value) {
        return std::abs(value) >= 1e16 ? std::copysign(kInfinity, value) : value;
      };
      if (joint.Type() != sdf::JointType::CONTINUOUS) {
        expect_equal(limit(axis->Lower()), f.lower, name);
        expect_equal(limit(axis->Upper()), f.upper, name);
      }
      expect_equal(axis->Effort() < 0.0 ? kInfinity : axis->Effort(), f.effort_limit, name);
      expect_equal(axis->MaxVelocity() < 0.0 ? kInfinity : axis->MaxVelocity(), f.velocity_limit,
                   name);
      expect_equal(axis->Damping(), f.damping, name);
      expect_equal(axis->Friction(), f.friction.sliding, name);
      expect_equal(axis->SpringReference(), f.rest, name);
      expect_equal(axis->SpringStiffness(), f.stiffness, name);
    }
  }

  const Description& d_;
  std::string file_;
  std::unordered_map<std::string, Transformd> poses_;
  std::unordered_map<std::string, const Body*> bodies_;
  std::unordered_map<std::string, const Hinge*> hinges_;
};

// False when either of the two refuses the file.
bool compare(const sdf::Root& root, const sdf::Errors& errors, const Reading& reading,
             const std::string& file) {
  for (const Diagnostic& d : reading.diagnostics)
    if (d.severity == Severity::error) return false;
  if (!errors.empty()) return false;
  const Description& d = reading.description;
  Comparison comparison(d, file);
  const sdf::World* world = root.WorldByIndex(0);
  if (world) {
    EXPECT_LE(norm(vector_of(world->Gravity()) - d.gravity), kTolerance) << file;
    const bool several = world->ModelCount() > 1 || world->FrameCount() > 0;
    for (std::uint64_t i = 0; i < world->ModelCount(); ++i) {
      const sdf::Model& m = *world->ModelByIndex(i);
      comparison.model(m, {}, several ? m.Name() + "::" : "");
    }
  } else if (root.Model()) {
    comparison.model(*root.Model(), {}, "");
  }
  EXPECT_EQ(comparison.links, d.bodies.size()) << file;
  return true;
}

const char* const kFiles[] = {
    // Frames, attached and relative to each other, and a rotated axis.
    R"(<sdf version='1.9'><model name='m' canonical_link='b'><pose>1 2 3 0.1 0.2 0.3</pose>
      <link name='a'><pose>0 0 1 0.3 0 0</pose><inertial><pose>0.1 0.2 0.3 0.4 0.5 0.6</pose>
        <mass>3</mass><inertia><ixx>1</ixx><ixy>0.1</ixy><ixz>0.2</ixz><iyy>2</iyy><iyz>0.3</iyz>
        <izz>2.5</izz></inertia></inertial></link>
      <frame name='f' attached_to='a'><pose>0 1 0 0 0.5 0</pose></frame>
      <frame name='g'><pose relative_to='f'>1 0 0 0 0 -0.7</pose></frame>
      <link name='b'><pose relative_to='g'>0.5 0.6 0.7 1 2 3</pose></link>
      <link name='c'><pose relative_to='k'/></link>
      <joint name='j' type='revolute'><pose>0.1 0 0 0 0 0.2</pose><parent>f</parent><child>b</child>
        <axis><xyz expressed_in='f'>1 2 3</xyz><limit><lower>-1</lower><upper>2</upper>
        <effort>5</effort></limit><dynamics><damping>0.1</damping><friction>0.2</friction>
        <spring_reference>0.3</spring_reference><spring_stiffness>4</spring_stiffness></dynamics>
        </axis></joint>
      <joint name='k' type='prismatic'><pose relative_to='b'>0 0 1 0.5 0 0</pose><parent>b</parent>
        <child>c</child><axis><xyz expressed_in='__model__'>0 1 0</xyz></axis></joint>
      </model></sdf>)",
    // Several models in a world, nested ones, placement frames, a joint to the world.
    R"(<sdf version='1.8'><world name='w'><gravity>0 1 -2</gravity>
      <frame name='corner'><pose>5 5 0 0 0 1</pose></frame>
      <model name='one' placement_frame='tip'><pose relative_to='corner'>1 0 0 0 0 0</pose>
        <link name='l'><pose>0 0 0.5 0.1 0.2 0.3</pose></link>
        <frame name='tip' attached_to='l'><pose>0 0 2 0 1 0</pose></frame>
        <model name='in'><pose relative_to='tip'>0.1 0.2 0.3 0 0 2</pose>
          <link name='l'><pose>1 1 1 0 0 0</pose></link></model>
        <joint name='j' type='ball'><parent>l</parent><child>in::l</child></joint></model>
      <model name='two'><pose>1 2 3 0.4 0.5 0.6</pose><link name='l'/>
        <joint name='anchor' type='universal'><pose>0 0 1 0 0 0.5</pose><parent>world</parent>
        <child>l</child><axis><xyz>1 0 0</xyz></axis><axis2><xyz expressed_in='__model__'>0 1 0</xyz>
        </axis2></joint></model>
      <model name='wall'><static>true</static><link name='l'><pose>1 0 0 0 0 0</pose></link></model>
      </world></sdf>)",
    // The old meaning of axes.
    R"(<sdf version='1.4'><model name='m'><link name='a'><pose>0 0 1 0.3 0.2 0.1</pose></link>
      <link name='b'><pose>1 0 1 0.5 0 1</pose></link><joint name='j' type='revolute'>
      <pose>0 0 0 0.2 0 0</pose><parent>a</parent><child>b</child><axis><xyz>1 0 1</xyz><limit>
      <lower>-1e16</lower><upper>1e16</upper></limit></axis></joint></model></sdf>)",
    R"(<sdf version='1.6'><model name='m'><link name='a'><pose>0 0 1 0.3 0.2 0.1</pose></link>
      <link name='b'><pose>1 0 1 0.5 0 1</pose></link><joint name='j' type='revolute2'>
      <parent>a</parent><child>b</child><axis><xyz>1 0 1</xyz><use_parent_model_frame>true
      </use_parent_model_frame></axis><axis2><xyz>0 1 0</xyz></axis2></joint></model></sdf>)"};

TEST(SdfPeer, FramesInEveryWay) {
  for (const char* text : kFiles) {
    sdf::Root root;
    const sdf::Errors errors = root.LoadSdfString(text);
    for (const sdf::Error& error : errors) ADD_FAILURE() << error.Message();
    EXPECT_TRUE(compare(root, errors, read_sdf_text(text, "m.sdf"), text));
  }
}

TEST(SdfPeer, GivenFiles) {
  const char* list = std::getenv("CATENA_PEER_SDF");
  if (!list) GTEST_SKIP() << "CATENA_PEER_SDF lists no files";
  std::istringstream paths(list);
  int both = 0, neither = 0;
  for (std::string path; std::getline(paths, path, ':');) {
    sdf::Root root;
    const sdf::Errors errors = root.Load(path);
    const Reading reading = read_sdf(path);
    if (compare(root, errors, reading, path)) {
      ++both;
      continue;
    }
    ++neither;
    std::string ours = "read";
    for (const Diagnostic& d : reading.diagnostics)
      if (d.severity == Severity::error) ours = d.text();
    if ((ours == "read") != !errors.empty() || errors.empty())
      std::printf("%s\n  ours: %s\n  peer: %s\n", path.c_str(), ours.c_str(),
                  errors.empty() ? "read" : errors[0].Message().c_str());
  }
  std::printf("%d files compared, %d not\n", both, neither);
}

}  // namespace
}  // namespace catena
