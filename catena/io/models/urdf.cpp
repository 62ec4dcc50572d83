// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/urdf.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "catena/base/text.h"
#include "catena/io/models/mimic_circles.h"
#include "catena/io/models/unit_hints.h"
#include "catena/io/models/uri.h"
#include "catena/io/models/xml.h"
#include "catena/model/usable_numbers.h"

namespace catena {
namespace {

using xml::Element;
using xml::Infinite;
using xml::Vocabulary;

constexpr const char* kUrdf = "URDF";

const Vocabulary kUrdfRobotWords{
    {},
    {"link", "joint", "material"},
    {"name", "version"},
    {"gazebo", "transmission", "ros2_control", "sensor", "group", "group_state", "end_effector",
     "virtual_joint", "disable_collisions", "passive_joint", "plugin", "mujoco", "static",
     "actuator"}};
const Vocabulary kUrdfLinkWords{{"inertial"},
                                {"visual", "collision"},
                                {"name", "type"},
                                {"gazebo", "sensor", "contact", "self_collision_checking",
                                 "verbose", "turnGravityOff", "material"}};
const Vocabulary kUrdfInertialWords{{"origin", "mass", "inertia"}, {}, {"name"}, {}};
const Vocabulary kUrdfOriginWords{{}, {}, {"xyz", "rpy"}, {}};
const Vocabulary kUrdfJointWords{{"origin", "parent", "child", "axis", "limit", "dynamics", "mimic",
                                  "calibration", "safety_controller"},
                                 {},
                                 {"name", "type"},
                                 {"gazebo", "hardwareInterface", "joint_properties"}};
const Vocabulary kUrdfLimitWords{{}, {}, {"lower", "upper", "effort", "velocity"}, {}};
const Vocabulary kUrdfDynamicsWords{{}, {}, {"damping", "friction"}, {}};
const Vocabulary kUrdfMimicWords{{}, {}, {"joint", "multiplier", "offset"}, {}};
const Vocabulary kUrdfVisualWords{
    {"origin", "geometry", "material"}, {}, {"name"}, {"verbose", "meterial"}};
const Vocabulary kUrdfCollisionWords{{"origin", "geometry"},
                                     {},
                                     {"name", "group"},
                                     {"verbose", "contact_coefficients", "material", "surface",
                                      "drake:proximity_properties", "mujoco", "safety_margin"}};
const Vocabulary kUrdfGeometryWords{
    {"box", "cylinder", "sphere", "capsule", "mesh"}, {}, {"name"}, {}};
const Vocabulary kUrdfMaterialWords{{"color", "texture"}, {}, {"name"}, {"script"}};

const std::vector<std::string> kUrdfJointTypes{"revolute", "continuous", "prismatic",
                                               "fixed",    "floating",   "planar"};

class UrdfReader {
 public:
  explicit UrdfReader(const LoadSettings& settings)
      : settings_(settings), report_(settings.strict) {}

  xml::Report& report() { return report_; }

  Reading read(const xml::File& file) {
    if (const Element robot = file.root()) read_robot(robot);
    if (settings_.gravity) d_.gravity = *settings_.gravity;
    return {std::move(d_), report_.take(), settings_.strict};
  }

 private:
  using Colour = std::array<double, 4>;

  void read_robot(const Element& robot) {
    if (robot.tag() != "robot") {
      report_.error(robot.source(), "the root element is <" + std::string(robot.tag()) +
                                        ">, but a URDF file has <robot name=\"...\">");
      return;
    }
    check_words(robot, kUrdfRobotWords, kUrdf, report_);
    if (const char* name = robot.attribute("name")) d_.name = name;
    read_materials(robot);
    for (Element e = robot.child("link"); e; e = e.next("link")) read_link(e);
    if (link_line_.empty()) {
      const std::vector<Element> tags = robot.children();
      const bool template_tags = std::any_of(
          tags.begin(), tags.end(), [](const Element& e) { return e.tag().starts_with("xacro:"); });
      report_.error(robot.source(),
                    template_tags ? "the robot is a xacro template; run xacro on it and read the "
                                    "URDF that it prints"
                                  : "the robot has no <link>; a mechanism needs a body");
    }
    for (Element e = robot.child("joint"); e; e = e.next("joint")) read_joint(e);
    for (const Element& e : mimics_) read_mimic(e);
    for (const Coupling* mimic : mimic_circles(d_.couplings))
      report_.error(mimic->source, "<mimic> of joint '" + mimic->name +
                                       "' leads back to the joint itself by way of '" +
                                       mimic->terms[1].hinge + "'; break the circle");
    for (Element e = robot.child("gazebo"); e; e = e.next("gazebo"))
      if (const Element hidden = e.child("joint"))
        report_.doubtful(hidden.source(), hidden.description() +
                                              " inside <gazebo> is ignored; put it outside as a "
                                              "URDF joint (loops are welcome)");
    for (Element e = robot.child("gazebo"); e; e = e.next("gazebo")) read_gazebo(e);
    for (Element e = robot.child("transmission"); e; e = e.next("transmission"))
      warn_of_reduction(e);
    if (report_.has_error()) return;
    hint_units(d_, report_);
    connect();
    std::vector<std::string> meshes;
    for (const Body& body : d_.bodies)
      for (const Visual& visual : body.visuals)
        if (visual.shape == Visual::Shape::mesh) meshes.push_back(visual.mesh);
    const std::string file = robot.source().file;
    if (std::string message = missing_meshes(meshes, folder_of(file)); !message.empty())
      report_.warning({file, 0}, std::move(message));
  }

  // Named materials may be defined at the top or inside any visual, and used everywhere.
  void read_materials(const Element& robot) {
    const auto define = [this](const Element& material, xml::Report& report) {
      const char* name = material.attribute("name");
      const Element color = material.child("color");
      if (!name || !color) return;
      if (const auto rgba = read_colour(color, report)) materials_.emplace(name, *rgba);
    };
    for (Element m = robot.child("material"); m; m = m.next("material")) {
      check_words(m, kUrdfMaterialWords, kUrdf, report_);
      define(m, report_);
    }
    xml::Report told_later;  // by the visual
    for (Element link = robot.child("link"); link; link = link.next("link"))
      for (Element v = link.child("visual"); v; v = v.next("visual"))
        if (const Element m = v.child("material")) define(m, told_later);
  }

  std::optional<Colour> read_colour(const Element& color, xml::Report& report) {
    const char* text = color.attribute("rgba");
    if (!text) {
      report.error(color.source(), color.description() + " has no attribute 'rgba'");
      return std::nullopt;
    }
    const auto v = xml::parse_numbers(text, 4, Infinite::refused, color.source(),
                                      color.description() + ", attribute 'rgba'", report);
    if (!v) return std::nullopt;
    return Colour{(*v)[0], (*v)[1], (*v)[2], (*v)[3]};
  }

  Transformd read_origin(const Element& parent) {
    const Element origin = parent.child("origin");
    if (!origin) return {};
    check_words(origin, kUrdfOriginWords, kUrdf, report_);
    const Vec3d xyz = vector_of(origin, "xyz", {}, report_);
    const Vec3d rpy = vector_of(origin, "rpy", {}, report_);
    return {Rotationd::from_rpy(rpy.x, rpy.y, rpy.z), xyz};
  }

  void read_link(const Element& link) {
    check_words(link, kUrdfLinkWords, kUrdf, report_);
    Body body;
    body.name = name_of(link, report_);
    if (body.name.empty()) return;
    body.source = link.source();
    const auto [earlier, fresh] = link_line_.emplace(body.name, body.source.line);
    if (!fresh) {
      report_.error(body.source, "link '" + body.name + "' is defined twice (first in line " +
                                     std::to_string(earlier->second) +
                                     "); give one of them another name");
      return;
    }
    link_names_.push_back(body.name);
    if (const Element inertial = link.child("inertial")) read_inertial(inertial, body);
    for (Element v = link.child("visual"); v; v = v.next("visual")) read_visual(v, body);
    for (Element c = link.child("collision"); c; c = c.next("collision")) read_collision(c, body);
    if (body.name != kWorld)
      d_.bodies.push_back(std::move(body));
    else if (body.mass != 0.0)
      report_.warning(body.source, "link 'world' is the ground; its <inertial> is ignored");
  }

  void read_inertial(const Element& inertial, Body& body) {
    check_words(inertial, kUrdfInertialWords, kUrdf, report_);
    const Transformd origin = read_origin(inertial);
    body.center_of_mass = origin.translation;
    body.inertia_axes = origin.rotation;
    const Element mass = inertial.child("mass");
    if (mass) {
      check_words(mass, {{}, {}, {"value"}, {}}, kUrdf, report_);
      body.mass = number_of(mass, "value", {}, report_);
      if (body.mass < 0.0)
        report_.error(mass.source(),
                      mass.description() + ": mass " + number(body.mass) + " must not be negative");
    } else {
      report_.error(inertial.source(), inertial.description() + " has no <mass value=\"...\"/>");
    }
    const Element inertia = inertial.child("inertia");
    if (inertia) {
      check_words(inertia, {{}, {}, {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}, {}}, kUrdf,
                  report_);
      const auto entry = [&](const char* name) { return number_of(inertia, name, {}, report_); };
      body.inertia = {entry("ixx"), entry("ixy"), entry("ixz"),
                      entry("iyy"), entry("iyz"), entry("izz")};
    } else {
      report_.error(inertial.source(),
                    inertial.description() + " has no <inertia ixx=\"...\" ixy=\"...\" ...>");
    }
  }

  void read_visual(const Element& element, Body& body) {
    check_words(element, kUrdfVisualWords, kUrdf, report_);
    Visual visual;
    if (const char* name = element.attribute("name")) visual.name = name;
    visual.pose = read_origin(element);
    if (const Element material = element.child("material")) {
      check_words(material, kUrdfMaterialWords, kUrdf, report_);
      const char* name = material.attribute("name");
      if (const Element color = material.child("color")) {
        if (const auto rgba = read_colour(color, report_)) visual.colour = *rgba;
      } else if (name && materials_.contains(name)) {
        visual.colour = materials_.at(name);
      } else if (name && *name && !material.child()) {
        report_.warning_once(material.source(),
                             std::string("material '") + name + "' is not defined; grey is used");
      }
    }
    if (read_geometry(element, "nothing is drawn for it", visual))
      body.visuals.push_back(std::move(visual));
  }

  void read_collision(const Element& element, Body& body) {
    check_words(element, kUrdfCollisionWords, kUrdf, report_);
    Collision collision;
    if (const char* name = element.attribute("name")) collision.name = name;
    collision.pose = read_origin(element);
    if (read_geometry(element, "nothing collides there", collision))
      body.collisions.push_back(std::move(collision));
  }

  // The shape of a visual or a collision.
  template <class Solid>
  bool read_geometry(const Element& element, const char* without, Solid& visual) {
    const Element geometry = element.child("geometry");
    if (!geometry) {
      report_.doubtful(element.source(), element.description() + " has no <geometry>; " + without);
      return false;
    }
    check_words(geometry, kUrdfGeometryWords, kUrdf, report_);
    const Element shape = geometry.child();
    if (!shape) {
      report_.doubtful(geometry.source(), geometry.description() + " is empty");
      return false;
    }
    const std::string_view tag = shape.tag();
    if (tag == "box") {
      visual.shape = Solid::Shape::box;
      if (!shape.attribute("size"))
        report_.error(shape.source(), shape.description() + " has no attribute 'size'");
      visual.size = vector_of(shape, "size", {}, report_);
    } else if (tag == "cylinder" || tag == "capsule") {
      visual.shape = tag == "cylinder" ? Solid::Shape::cylinder : Solid::Shape::capsule;
      visual.radius = number_of(shape, "radius", {}, report_);
      visual.length = number_of(shape, "length", {}, report_);
    } else if (tag == "sphere") {
      visual.shape = Solid::Shape::sphere;
      visual.radius = number_of(shape, "radius", {}, report_);
    } else if (tag == "mesh") {
      visual.shape = Solid::Shape::mesh;
      if (const char* file = shape.attribute("filename"))
        visual.mesh = file;
      else
        report_.error(shape.source(), shape.description() + " has no attribute 'filename'");
      visual.size = vector_of(shape, "scale", {1.0, 1.0, 1.0}, report_);
    } else {
      return false;  // reported by check_words
    }
    return true;
  }

  // <gazebo reference="LINK"><mu1>0.6</mu1></gazebo>: where URDF files have friction, and springs
  // of joints. Older ones write <mu1 value="0.6"/>.
  void read_gazebo(const Element& gazebo) {
    const char* reference = gazebo.attribute("reference");
    if (!reference) return;
    const auto value_of = [&](const Element& e) {
      return e.attribute("value") ? number_of(e, "value", 0.0, report_)
                                  : text_number(e, 0.0, report_);
    };
    if (const Element mu = gazebo.child("mu1"))
      for (Body& body : d_.bodies)
        if (body.name == reference)
          for (Collision& collision : body.collisions) collision.friction = value_of(mu);
    if (const Element off = gazebo.child("turnGravityOff"))
      if (off.text() == "true" || off.text() == "1")
        report_.warning(off.source(), "<turnGravityOff> of link '" + std::string(reference) +
                                          "' is ignored: gravity acts on every link here");
    for (Hinge& hinge : d_.hinges)
      if (hinge.name == reference && hinge.freedoms.size() == 1) {
        if (const Element e = gazebo.child("springStiffness"))
          hinge.freedoms[0].stiffness = value_of(e);
        if (const Element e = gazebo.child("springReference")) hinge.freedoms[0].rest = value_of(e);
      }
  }

  // <transmission><joint name="JOINT"/><actuator><mechanicalReduction>: URDF has no rotor that it
  // could turn.
  void warn_of_reduction(const Element& transmission) {
    for (const Element& part : transmission.children()) {
      Element reduction = part.child("mechanicalReduction");
      if (part.tag() == "mechanicalReduction") reduction = part;
      if (!reduction || text_number(reduction, 1.0, report_) == 1.0) continue;
      const Element joint = transmission.child("joint");
      const char* name = joint ? joint.attribute("name") : nullptr;
      report_.warning(
          reduction.source(),
          "the reduction " + reduction.text() + " of " +
              (name ? "joint '" + std::string(name) + "'" : "a transmission") +
              " is ignored: efforts are those of the joint. For the inertia of the rotor "
              "give the joint a drive (gear_ratio, rotor_inertia) in a YAML file that "
              "starts from this one");
    }
  }

  // The link that <parent> or <child> names; an error when there is none.
  std::string read_end(const Element& joint, const char* role) {
    const Element end = joint.child(role);
    const char* link = end.attribute("link");
    if (!link) {
      report_.error(end ? end.source() : joint.source(),
                    joint.description() + " has no <" + role + " link=\"...\"/>");
      return {};
    }
    if (!link_line_.contains(link) && std::string_view(link) == kWorld) {
      report_.doubtful(end.source(),
                       joint.description() + ": there is no link 'world'; the ground is meant");
      link_line_.emplace(kWorld, 0);
    }
    if (!link_line_.contains(link))
      report_.error(end.source(), joint.description() + ": " + role + " link '" + link +
                                      "' does not exist" + report_.suggestion(link, link_names_));
    return link;
  }

  void read_joint(const Element& joint) {
    check_words(joint, kUrdfJointWords, kUrdf, report_);
    Hinge hinge;
    hinge.name = name_of(joint, report_);
    hinge.source = joint.source();
    if (!hinge.name.empty()) {
      const auto [earlier, fresh] = joint_line_.emplace(hinge.name, hinge.source.line);
      if (fresh)
        joint_names_.push_back(hinge.name);
      else
        report_.error(hinge.source, "joint '" + hinge.name + "' is defined twice (first in line " +
                                        std::to_string(earlier->second) +
                                        "); give one of them another name");
    }
    hinge.parent = read_end(joint, "parent");
    hinge.child = read_end(joint, "child");
    if (!hinge.parent.empty() && hinge.parent == hinge.child)
      report_.error(hinge.source, joint.description() + ": parent and child are the same link '" +
                                      hinge.child + "'");
    hinge.frame_on_parent = read_origin(joint);
    read_type(joint, hinge);
    if (const Element mimic = joint.child("mimic")) {
      if (hinge.type == HingeType::revolute || hinge.type == HingeType::prismatic)
        mimics_.push_back(mimic);
      else
        report_.doubtful(mimic.source(),
                         mimic.description() +
                             " is ignored: the joint does not have exactly one degree of freedom");
    }
    d_.hinges.push_back(std::move(hinge));
  }

  void read_type(const Element& joint, Hinge& hinge) {
    const char* type_text = joint.attribute("type");
    if (!type_text) {
      report_.error(joint.source(), joint.description() +
                                        " has no type; write type=\"revolute\", "
                                        "or one of " +
                                        listed(kUrdfJointTypes));
      return;
    }
    const std::string type = type_text;
    if (type == "revolute" || type == "continuous") {
      hinge.type = HingeType::revolute;
    } else if (type == "prismatic") {
      hinge.type = HingeType::prismatic;
    } else if (type == "fixed") {
      hinge.type = HingeType::weld;
    } else if (type == "floating") {
      hinge.type = HingeType::free;
    } else if (type == "planar") {
      hinge.type = HingeType::planar;
    } else {
      report_.error(joint.source(), joint.description() + ": unknown type '" + type + "'" +
                                        report_.suggestion(type, kUrdfJointTypes) + " (URDF has " +
                                        listed(kUrdfJointTypes) + ")");
      return;
    }
    if (hinge.type == HingeType::weld || hinge.type == HingeType::free) return;

    hinge.axes = {read_axis(joint)};
    if (hinge.type == HingeType::planar) return;
    FreedomSettings freedom;
    read_limit(joint, type == "continuous", freedom);
    if (const Element dynamics = joint.child("dynamics")) {
      check_words(dynamics, kUrdfDynamicsWords, kUrdf, report_);
      const auto coefficient = [&](const char* name) {
        const double value = number_of(dynamics, name, 0.0, report_);
        if (value < 0.0)
          report_.error(dynamics.source(), dynamics.description() + ": " + name + " " +
                                               number(value) + " must not be negative");
        return value;
      };
      freedom.damping = coefficient("damping");
      freedom.friction.sliding = coefficient("friction");
    }
    hinge.freedoms = {freedom};
  }

  Vec3d read_axis(const Element& joint) {
    const Vec3d x{1.0, 0.0, 0.0};  // the format's default
    const Element axis = joint.child("axis");
    if (!axis) return x;
    check_words(axis, {{}, {}, {"xyz"}, {}}, kUrdf, report_);
    const Vec3d xyz = vector_of(axis, "xyz", x, report_);
    if (norm(xyz) < kShortestAxis) {
      report_.error(axis.source(), axis.description() +
                                       " is zero; give it a direction, such as "
                                       "xyz=\"0 0 1\"");
      return x;
    }
    return xyz;
  }

  void read_limit(const Element& joint, bool continuous, FreedomSettings& freedom) {
    const Element limit = joint.child("limit");
    if (!limit) {
      if (!continuous)
        report_.doubtful(joint.source(), joint.description() +
                                             " has no <limit>, which its type demands; it is taken "
                                             "as unlimited");
      return;
    }
    check_words(limit, kUrdfLimitWords, kUrdf, report_);
    if (!continuous) {
      freedom.lower = number_of(limit, "lower", 0.0, report_, Infinite::allowed);
      freedom.upper = number_of(limit, "upper", 0.0, report_, Infinite::allowed);
      if (freedom.lower > freedom.upper) leave_out_limits(limit, freedom);
    }
    const auto bound = [&](const char* name) {
      if (!limit.attribute(name)) {
        report_.doubtful(limit.source(), limit.description() + " has no attribute '" + name +
                                             "', which URDF demands; there is no such limit");
        return kInfinity;
      }
      const double value = number_of(limit, name, kInfinity, report_, Infinite::allowed);
      if (value < 0.0)
        report_.error(limit.source(), limit.description() + ": " + name + " limit " +
                                          number(value) + " must not be negative");
      return value;
    };
    freedom.effort_limit = bound("effort");
    freedom.velocity_limit = bound("velocity");
  }

  void leave_out_limits(const Element& limit, FreedomSettings& freedom) {
    report_.doubtful(limit.source(), limit.description() + ": lower limit " +
                                         number(freedom.lower) + " is above upper limit " +
                                         number(freedom.upper) +
                                         "; the joint has no limits until they are swapped");
    freedom.lower = -kInfinity;
    freedom.upper = kInfinity;
  }

  void read_mimic(const Element& mimic) {
    check_words(mimic, kUrdfMimicWords, kUrdf, report_);
    const std::string follower =
        mimic.parent().attribute("name") ? mimic.parent().attribute("name") : "";
    const char* leader = mimic.attribute("joint");
    if (!leader) {
      report_.error(mimic.source(), mimic.description() + " has no attribute 'joint'");
      return;
    }
    if (!joint_line_.contains(leader)) {
      report_.error(mimic.source(), mimic.description() + ": joint '" + leader +
                                        "' does not exist" +
                                        report_.suggestion(leader, joint_names_));
      return;
    }
    if (follower == leader) {
      report_.error(mimic.source(), mimic.description() + ": the joint mimics itself");
      return;
    }
    Coupling coupling;
    coupling.name = follower;
    const double multiplier = number_of(mimic, "multiplier", 1.0, report_);
    coupling.terms = {{follower, 0, 1.0}, {leader, 0, -multiplier}};
    coupling.constant = number_of(mimic, "offset", 0.0, report_);
    coupling.source = mimic.source();
    d_.couplings.push_back(std::move(coupling));
  }

  // Gives the root a hinge to the ground. The format requires one root (since loops are
  // supported: one connected graph); a second root is a link without a joint.
  void connect() {
    const bool grounded = link_line_.contains(kWorld);
    const std::size_t before = d_.hinges.size();
    MechanismBuilder builder(std::move(d_));
    builder.connect_roots(settings_.base == Base::free ? HingeType::free : HingeType::weld);
    d_ = std::move(builder.description());
    const std::size_t added = d_.hinges.size() - before;
    for (std::size_t i = grounded ? 0 : 1; i < added; ++i)
      report_.error(d_.hinges[i].source, "link '" + d_.hinges[i].child + "' has no path to '" +
                                             (grounded ? kWorld : d_.hinges[0].child) +
                                             "'; add a joint that leads to it");
  }

  const LoadSettings& settings_;
  xml::Report report_;
  Description d_;
  std::unordered_map<std::string, Colour> materials_;
  std::unordered_map<std::string, int> link_line_;
  std::unordered_map<std::string, int> joint_line_;
  std::vector<std::string> link_names_;
  std::vector<std::string> joint_names_;
  std::vector<Element> mimics_;
};

}  // namespace

Reading read_urdf(const std::string& path, const LoadSettings& settings) {
  UrdfReader reader(settings);
  const xml::File file = xml::File::read(path, reader.report());
  return reader.read(file);
}

Reading read_urdf_text(const std::string& text, const std::string& file_name,
                       const LoadSettings& settings) {
  UrdfReader reader(settings);
  const xml::File file = xml::File::parse(text, file_name, reader.report());
  return reader.read(file);
}

}  // namespace catena
