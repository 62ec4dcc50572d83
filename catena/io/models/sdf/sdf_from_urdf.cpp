// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/sdf/sdf_from_urdf.h"

#include <algorithm>
#include <unordered_map>

#include "catena/base/text.h"
#include "catena/io/models/urdf.h"
#include "catena/model/validation.h"

namespace catena {
namespace {

std::string xml_attribute(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '\'')
      result += "&apos;";
    else
      result += c;
  }
  return result;
}

std::string tagged(const std::string& tag, const std::string& inside) {
  return "<" + tag + ">" + inside + "</" + tag + ">";
}
std::string tagged(const std::string& tag, double value) { return tagged(tag, number(value)); }
std::string tagged(const std::string& tag, const Vec3d& v) {
  return tagged(tag, number(v.x) + " " + number(v.y) + " " + number(v.z));
}

std::string pose(const Transformd& x, const std::string& relative_to = "") {
  const Quaterniond q = to_quaternion(x.rotation);
  std::string text = "<pose rotation_format='quat_xyzw'";
  if (!relative_to.empty()) text += " relative_to='" + xml_attribute(relative_to) + "'";
  text += ">";
  for (const double value : {x.translation.x, x.translation.y, x.translation.z, q.x, q.y, q.z})
    text += number(value) + " ";
  return text + number(q.w) + "</pose>";
}

// Of a visual or a collision.
template <class Solid>
std::string geometry(const Solid& visual) {
  switch (visual.shape) {
    case Solid::Shape::box:
      return tagged("box", tagged("size", visual.size));
    case Solid::Shape::sphere:
      return tagged("sphere", tagged("radius", visual.radius));
    case Solid::Shape::mesh:
      return tagged("mesh",
                    tagged("uri", xml_attribute(visual.mesh)) + tagged("scale", visual.size));
    default:
      return tagged(visual.shape == Solid::Shape::cylinder ? "cylinder" : "capsule",
                    tagged("radius", visual.radius) + tagged("length", visual.length));
  }
}

class Translator {
 public:
  Translator(const Description& urdf, xml::Report& report) : d_(urdf), report_(report) {
    for (const Coupling& mimic : d_.couplings) mimic_of_.emplace(mimic.terms[0].hinge, &mimic);
    for (const Hinge& hinge : d_.hinges) places_.try_emplace(hinge.child, &hinge);
  }

  // Empty after an error.
  std::string text() {
    struct Item {
      int line;
      std::string text;
    };
    std::vector<Item> items;
    items.reserve(d_.bodies.size());
    for (const Body& body : d_.bodies) items.push_back({body.source.line, link(body)});
    for (const Hinge& hinge : d_.hinges) items.push_back({hinge.source.line, joint(hinge)});
    std::stable_sort(items.begin(), items.end(),
                     [](const Item& a, const Item& b) { return a.line < b.line; });
    // 1.6: as in URDF, a joint may have the name of a link.
    std::string all = "<sdf version='1.6'><model name='" + xml_attribute(d_.name) + "'>";
    int line = 1;
    for (const Item& item : items) {
      for (; line < item.line; ++line) all += '\n';
      all += item.text;
    }
    return sound_ ? all + "</model></sdf>" : "";
  }

 private:
  std::string link(const Body& body) {
    std::string text = "<link name='" + xml_attribute(body.name) + "'>";
    if (const auto found = places_.find(body.name); found != places_.end()) {
      const Hinge& hinge = *found->second;
      text += pose(hinge.frame_on_parent, hinge.parent == kWorld ? "" : hinge.parent);
    }
    const SymMat3d& i = body.inertia;
    text += tagged(
        "inertial",
        pose({body.inertia_axes, body.center_of_mass}) + tagged("mass", body.mass) +
            tagged("inertia", tagged("ixx", i.xx) + tagged("ixy", i.xy) + tagged("ixz", i.xz) +
                                  tagged("iyy", i.yy) + tagged("iyz", i.yz) + tagged("izz", i.zz)));
    for (const Visual& visual : body.visuals) {
      std::string colour;
      for (const double part : visual.colour) colour += (colour.empty() ? "" : " ") + number(part);
      text += "<visual name='" + xml_attribute(visual.name) + "'>" + pose(visual.pose) +
              tagged("geometry", geometry(visual)) + tagged("material", tagged("diffuse", colour)) +
              "</visual>";
    }
    for (const Collision& c : body.collisions) {
      text += "<collision name='" + xml_attribute(c.name) + "'>" + pose(c.pose) +
              tagged("geometry", geometry(c));
      if (c.friction)
        text +=
            tagged("surface", tagged("friction", tagged("ode", tagged("mu", number(*c.friction)))));
      text += "</collision>";
    }
    return text + "</link>";
  }

  std::string joint(const Hinge& hinge) {
    if (hinge.type == HingeType::free) return {};
    if (hinge.type == HingeType::planar) {
      sound_ = false;
      report_.error(hinge.source, "joint '" + hinge.name +
                                      "' is planar, which SDF does not have; instead of including "
                                      "this URDF, attach it in a YAML file");
      return {};
    }
    const bool continuous = !hinge.freedoms.empty() && hinge.freedoms[0].lower == -kInfinity;
    const std::string type = hinge.type == HingeType::weld        ? "fixed"
                             : hinge.type == HingeType::prismatic ? "prismatic"
                             : continuous                         ? "continuous"
                                                                  : "revolute";
    std::string before, parent = hinge.parent;
    if (places_.at(hinge.child) != &hinge) {  // closes a loop
      parent = hinge.name + "__on_parent";
      before = "<frame name='" + xml_attribute(parent) + "' attached_to='" +
               xml_attribute(hinge.parent) + "'>" +
               pose(hinge.frame_on_parent, hinge.parent == kWorld ? "__model__" : hinge.parent) +
               "</frame>";
    }
    std::string text = before + "<joint name='" + xml_attribute(hinge.name) + "' type='" + type +
                       "'>" + tagged("parent", xml_attribute(parent)) +
                       tagged("child", xml_attribute(hinge.child));
    if (!hinge.axes.empty()) {
      std::string axis = tagged("xyz", hinge.axes[0]);
      if (!hinge.freedoms.empty()) axis += freedom(hinge.freedoms[0]);
      if (const auto found = mimic_of_.find(hinge.name); found != mimic_of_.end()) {
        const Coupling& mimic = *found->second;
        axis += "<mimic joint='" + xml_attribute(mimic.terms[1].hinge) + "'>" +
                tagged("multiplier", -mimic.terms[1].coefficient) +
                tagged("offset", mimic.constant) + "</mimic>";
      }
      text += tagged("axis", axis);
    }
    return text + "</joint>";
  }

  static std::string freedom(const FreedomSettings& f) {
    std::string limits;
    const auto limit = [&](const char* tag, double value) {
      if (value != kInfinity && value != -kInfinity) limits += tagged(tag, value);
    };
    limit("lower", f.lower);
    limit("upper", f.upper);
    limit("effort", f.effort_limit);
    limit("velocity", f.velocity_limit);
    return tagged("limit", limits) + tagged("dynamics", tagged("damping", f.damping) +
                                                            tagged("friction", f.friction.sliding));
  }

  const Description& d_;
  xml::Report& report_;
  bool sound_ = true;
  std::unordered_map<std::string, const Coupling*> mimic_of_;  // by follower
  std::unordered_map<std::string, const Hinge*> places_;  // by child: the first that leads to it
};

}  // namespace

xml::File sdf_from_urdf(const std::string& path, xml::Report& report) {
  const Reading urdf = read_urdf(path, {.base = Base::free, .strict = report.strict()});
  for (const Diagnostic& d : urdf.diagnostics)
    d.severity == Severity::error ? report.error(d.source, d.message)
                                  : report.warning(d.source, d.message);
  if (has_error(urdf.diagnostics)) return {};
  const std::string text = Translator(urdf.description, report).text();
  return text.empty() ? xml::File() : xml::File::parse(text, path, report);
}

}  // namespace catena
