// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/sdf/sdf_body.h"

#include <cctype>
#include <numbers>

#include "catena/base/text.h"

namespace catena {
namespace {

using xml::Element;
using xml::Vocabulary;

constexpr double kDensityOfWater = 1000.0;  // kg/m³, SDF's default

const Vocabulary kLinkWords{{"pose", "inertial", "gravity", "enable_wind", "self_collide",
                             "kinematic", "must_be_base_link", "velocity_decay"},
                            {"visual", "collision", "sensor", "projector", "audio_sink",
                             "audio_source", "battery", "light", "particle_emitter"},
                            {"name"},
                            {"frame", "origin", "damping", "plugin", "self_collide_", "static",
                             "material", "gui", "link", "turnGravityOff", "selfCollide"}};
const Vocabulary kInertialWords{
    {"pose", "mass", "inertia", "density", "auto_inertia_params", "fluid_added_mass"},
    {},
    {"auto"},
    {"frame", "origin"}};
const Vocabulary kInertiaWords{{"ixx", "ixy", "ixz", "iyy", "iyz", "izz"}, {}, {}, {}};
const Vocabulary kVisualWords{{"pose", "geometry", "material", "cast_shadows", "laser_retro",
                               "transparency", "visibility_flags", "meta"},
                              {"plugin"},
                              {"name"},
                              {"frame", "origin", "cast_shadow", "static"}};
const Vocabulary kCollisionWords{{"pose", "geometry", "surface", "laser_retro", "max_contacts",
                                  "density", "auto_inertia_params"},
                                 {"plugin"},
                                 {"name"},
                                 {"frame", "origin", "material", "static"}};
const Vocabulary kGeometryWords{{"box", "capsule", "cone", "cylinder", "ellipsoid", "empty",
                                 "heightmap", "image", "mesh", "plane", "polyline", "sphere"},
                                {},
                                {},
                                {}};

class BodyReader {
 public:
  BodyReader(SdfTree& tree, const SdfThing& link, xml::Report& report)
      : tree_(tree), link_(link), report_(report) {}

  Body read() {
    const Element& e = link_.element;
    check_words(e, kLinkWords, kSdf, report_);
    body_.name = link_.name;
    body_.source = e.source();
    read_inertial(e.child("inertial"));
    warn_of_physics();
    for (Element v = e.child("visual"); v; v = v.next("visual")) read_visual(v);
    for (Element c = e.child("collision"); c; c = c.next("collision")) read_collision(c);
    return std::move(body_);
  }

 private:
  // What other programs do with a link and this one does not.
  void warn_of_physics() {
    const Element& e = link_.element;
    const Element gravity = e.child("gravity");
    if (gravity && !text_bool(gravity, true, report_))
      report_.warning(gravity.source(),
                      gravity.description() + " is ignored: gravity acts on every link here");
    if (text_bool(e.child("kinematic"), false, report_))
      report_.warning(
          e.child("kinematic").source(),
          e.child("kinematic").description() +
              " is ignored: the link moves by its dynamics; prescribe the motion of its "
              "joint (`motions:`) instead");
    for (const char* tag : {"linear", "angular"})
      if (const Element decay = e.child("velocity_decay").child(tag);
          decay && text_number(decay, 0.0, report_) != 0.0)
        report_.warning_once(decay.source(),
                             "<velocity_decay> is ignored: give the joints <damping> instead");
    if (text_bool(e.child("enable_wind"), false, report_))
      report_.warning_once(e.source(), "<enable_wind> is ignored: there is no wind here");
  }

  void read_inertial(const Element& inertial) {
    if (!inertial) {
      // The format's defaults.
      body_.mass = 1.0;
      body_.inertia = SymMat3d::diagonal(1.0, 1.0, 1.0);
      report_.warning_once(body_.source, "links without <inertial>, such as '" + body_.name +
                                             "', have 1 kg and 1 kg m² as SDF says");
      return;
    }
    check_words(inertial, kInertialWords, kSdf, report_);
    if (bool_of(inertial, "auto", false, report_)) {
      read_automatic(inertial);
      return;
    }
    const Transformd pose = tree_.read_pose(inertial.child("pose"));
    body_.center_of_mass = pose.translation;
    body_.inertia_axes = pose.rotation;
    const Element mass = inertial.child("mass");
    body_.mass = text_number(mass, 1.0, report_);
    if (body_.mass < 0.0)
      report_.error(mass.source(),
                    mass.description() + ": mass " + number(body_.mass) + " must not be negative");
    const Element inertia = inertial.child("inertia");
    if (inertia) check_words(inertia, kInertiaWords, kSdf, report_);
    const auto entry = [&](const char* tag, double otherwise) {
      return text_number(inertia.child(tag), otherwise, report_);
    };
    body_.inertia = {entry("ixx", 1.0), entry("ixy", 0.0), entry("ixz", 0.0),
                     entry("iyy", 1.0), entry("iyz", 0.0), entry("izz", 1.0)};
    if (inertial.child("fluid_added_mass"))
      report_.warning_once(inertial.source(), "<fluid_added_mass> is ignored");
  }

  // <inertial auto="true">: from the collision shapes and their density; a <mass> scales them.
  void read_automatic(const Element& inertial) {
    const double density = text_number(inertial.child("density"), kDensityOfWater, report_);
    SpatialInertiad sum;
    bool any = false;
    for (Element c = link_.element.child("collision"); c; c = c.next("collision")) {
      const Element shape = c.child("geometry").child();
      if (!shape || shape.tag() == "empty" || shape.tag() == "plane") continue;
      double mass = 0.0;
      SymMat3d inertia;
      if (!solid(shape, text_number(c.child("density"), density, report_), mass, inertia)) {
        report_.error(inertial.source(), inertial.description() + ": the inertia of <" +
                                             std::string(shape.tag()) +
                                             "> cannot be computed; give <mass> and <inertia> "
                                             "instead of auto=\"true\"");
        return;
      }
      const Transformd pose = pose_in_link(c);
      sum += SpatialInertiad::from_central(mass, pose.translation,
                                           congruence(pose.rotation.matrix, inertia));
      any = true;
    }
    if (!any || !(sum.mass > 0.0)) {
      report_.error(inertial.source(), inertial.description() +
                                           ": auto=\"true\" needs a <collision> shape; give "
                                           "<mass> and <inertia> instead");
      return;
    }
    body_.mass = sum.mass;
    body_.center_of_mass = (1.0 / sum.mass) * sum.mass_moment;
    body_.inertia = central(sum, body_.center_of_mass);
    if (const Element mass = inertial.child("mass")) {
      const double wanted = text_number(mass, 1.0, report_);
      if (!(wanted > 0.0)) report_.error(mass.source(), mass.description() + " must be positive");
      body_.inertia = (wanted / body_.mass) * body_.inertia;
      body_.mass = wanted;
    }
  }

  static SymMat3d central(const SpatialInertiad& inertia, const Vec3d& center) {
    const Vec3d& c = center;
    const double m = inertia.mass;
    SymMat3d shift = m * outer(c);
    const double square = m * squared_norm(c);
    return inertia.inertia + shift - SymMat3d::diagonal(square, square, square);
  }

  // Mass and central inertia of a solid shape in its own axes.
  bool solid(const Element& shape, double density, double& mass, SymMat3d& inertia) {
    using std::numbers::pi;
    const auto value = [&](const char* tag) { return text_number(shape.child(tag), 1.0, report_); };
    const std::string_view tag = shape.tag();
    if (tag == "box" || tag == "ellipsoid") {
      const bool box = tag == "box";
      const Vec3d s = text_vector(shape.child(box ? "size" : "radii"), {1.0, 1.0, 1.0}, report_);
      mass = density * s.x * s.y * s.z * (box ? 1.0 : 4.0 / 3.0 * pi);
      const double k = mass / (box ? 12.0 : 5.0);
      inertia = SymMat3d::diagonal(k * (s.y * s.y + s.z * s.z), k * (s.x * s.x + s.z * s.z),
                                   k * (s.x * s.x + s.y * s.y));
      return true;
    }
    if (tag == "sphere") {
      const double r = value("radius");
      mass = density * 4.0 / 3.0 * pi * r * r * r;
      const double i = 0.4 * mass * r * r;
      inertia = SymMat3d::diagonal(i, i, i);
      return true;
    }
    if (tag == "cylinder" || tag == "capsule") {
      const double r = value("radius"), l = value("length");
      const double tube = density * pi * r * r * l;
      double across = tube * (3.0 * r * r + l * l) / 12.0;
      double along = 0.5 * tube * r * r;
      mass = tube;
      if (tag == "capsule") {  // two half spheres, each with its centre 3r/8 above the end face
        const double caps = density * 4.0 / 3.0 * pi * r * r * r;
        mass += caps;
        across += caps * (0.4 * r * r + 0.375 * r * l + 0.25 * l * l);
        along += 0.4 * caps * r * r;
      }
      inertia = SymMat3d::diagonal(across, across, along);
      return true;
    }
    return false;
  }

  // Of a visual or collision, whose pose may be relative to any frame of the model.
  Transformd pose_in_link(const Element& element) {
    const Element pose = element.child("pose");
    const Transformd own = tree_.read_pose(pose);
    const int base = tree_.relative_to(pose, *link_.scope, link_.frame);
    return base == link_.frame ? own : tree_.graph.pose(base, link_.frame) * own;
  }

  void read_visual(const Element& element) {
    check_words(element, kVisualWords, kSdf, report_);
    Visual visual;
    if (const char* name = element.attribute("name")) visual.name = name;
    visual.pose = pose_in_link(element);
    read_material(element.child("material"), visual);
    if (const Element transparency = element.child("transparency"))
      visual.colour[3] *= 1.0 - text_number(transparency, 0.0, report_);
    if (read_geometry(element, "drawn", visual)) body_.visuals.push_back(std::move(visual));
  }

  void read_collision(const Element& element) {
    check_words(element, kCollisionWords, kSdf, report_);
    Collision collision;
    if (const char* name = element.attribute("name")) collision.name = name;
    collision.pose = pose_in_link(element);
    // The first of the engines that the file names; SDF's default is 1.
    const Element surface = element.child("surface");
    const Element friction = surface.child("friction");
    for (const auto& [engine, tag] :
         {std::pair{"ode", "mu"}, std::pair{"bullet", "friction"}, std::pair{"dart", "mu"}})
      if (const Element mu = friction.child(engine).child(tag); mu && !collision.friction)
        collision.friction = text_number(mu, 1.0, report_);
    if (const Element bounce = surface.child("bounce").child("restitution_coefficient"))
      collision.restitution = text_number(bounce, 0.0, report_);
    if (read_geometry(element, "used for collisions", collision))
      body_.collisions.push_back(std::move(collision));
  }

  // The shape of a visual or a collision, if it is one that is known.
  template <class Solid>
  bool read_geometry(const Element& element, const char* use, Solid& visual) {
    const Element geometry = element.child("geometry");
    if (!geometry) {
      report_.doubtful(element.source(),
                       element.description() + " has no <geometry>; nothing is " + use + " for it");
      return false;
    }
    check_words(geometry, kGeometryWords, kSdf, report_);
    const Element shape = geometry.child();
    if (!shape) return false;
    const auto value = [&](const char* tag) {
      const Element e = shape.child(tag);
      if (!e) report_.error(shape.source(), shape.description() + " has no <" + tag + ">");
      return text_number(e, 1.0, report_);
    };
    const std::string_view tag = shape.tag();
    if (tag == "box") {
      visual.shape = Solid::Shape::box;
      visual.size = text_vector(shape.child("size"), {1.0, 1.0, 1.0}, report_);
    } else if (tag == "cylinder" || tag == "capsule") {
      visual.shape = tag == "cylinder" ? Solid::Shape::cylinder : Solid::Shape::capsule;
      visual.radius = value("radius");
      visual.length = value("length");
    } else if (tag == "sphere") {
      visual.shape = Solid::Shape::sphere;
      visual.radius = value("radius");
    } else if (tag == "mesh") {
      visual.shape = Solid::Shape::mesh;
      visual.mesh = shape.child("uri").text();
      visual.size = text_vector(shape.child("scale"), {1.0, 1.0, 1.0}, report_);
      if (visual.mesh.empty()) report_.error(shape.source(), shape.description() + " has no <uri>");
    } else {
      if (tag != "plane" && tag != "empty")
        report_.warning_once(shape.source(),
                             "shapes like <" + std::string(tag) + "> are not " + use);
      return false;
    }
    return true;
  }

  void read_material(const Element& material, Visual& visual) {
    const Element colour =
        material.child("diffuse") ? material.child("diffuse") : material.child("ambient");
    if (!colour) return;
    // Opacity may be left out.
    const std::string text = colour.text();
    std::size_t words = 0;
    for (std::size_t i = 0; i < text.size(); ++i)
      if (!std::isspace(static_cast<unsigned char>(text[i])) &&
          (i == 0 || std::isspace(static_cast<unsigned char>(text[i - 1]))))
        ++words;
    const auto v = xml::parse_numbers(text, words == 3 ? 3 : 4, xml::Infinite::refused,
                                      colour.source(), colour.description(), report_);
    if (!v) return;
    visual.colour = {(*v)[0], (*v)[1], (*v)[2], words == 3 ? 1.0 : (*v)[3]};
  }

  SdfTree& tree_;
  const SdfThing& link_;
  xml::Report& report_;
  Body body_;
};

}  // namespace

Body read_sdf_body(SdfTree& tree, const SdfThing& link, xml::Report& report) {
  return BodyReader(tree, link, report).read();
}

}  // namespace catena
