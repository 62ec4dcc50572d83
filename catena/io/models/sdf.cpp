// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/sdf.h"

#include <unordered_map>
#include <unordered_set>

#include "catena/base/index.h"
#include "catena/io/models/sdf/sdf_body.h"
#include "catena/io/models/sdf/sdf_joint.h"
#include "catena/io/models/sdf/sdf_tree.h"
#include "catena/io/models/unit_hints.h"
#include "catena/io/models/uri.h"

namespace catena {
namespace {

using xml::Element;

constexpr double kWorldGravity = 9.8;  // of a <world> that does not say

class SdfReader {
 public:
  explicit SdfReader(const LoadSettings& settings)
      : settings_(settings), report_(settings.strict), tree_(report_) {}

  xml::Report& report() { return report_; }

  Reading read(xml::File file) {
    const Source whole{file.name(), 0};
    if (tree_.read(std::move(file))) read_things();
    if (!report_.has_error()) {
      hint_units(d_, report_);
      connect();
      warn_of_meshes(whole);
    }
    return {std::move(d_), report_.take(), settings_.strict};
  }

 private:
  void read_things() {
    d_.name = tree_.name.empty() ? "mechanism" : tree_.name;
    d_.gravity = settings_.gravity ? *settings_.gravity : read_gravity();
    for (const SdfThing& link : tree_.links)
      d_.bodies.push_back(read_sdf_body(tree_, link, report_));
    read_sdf_joints(tree_, d_, report_);
    for (const SdfThing& frame : tree_.frames) {
      const int body = tree_.graph.body(frame.frame);
      if (body == SdfFrames::kNoBody) {
        report_.doubtful(
            frame.element.source(),
            frame.element.description() + " is attached to a model without links; it is left out");
        continue;
      }
      const SdfThing* link = body == SdfFrames::kWorldBody ? nullptr : &tree_.links[index(body)];
      d_.frames.push_back(
          {frame.name, link ? link->name : kWorld,
           tree_.graph.pose(frame.frame, link ? link->frame : SdfFrames::kWorldFrame),
           frame.element.source()});
    }
    if (d_.bodies.empty() && !report_.has_error())
      report_.error(tree_.source, "there is no <link> in the file");
  }

  // Until 1.5 it was a part of <physics>.
  Vec3d read_gravity() {
    if (!tree_.world) return d_.gravity;
    Element gravity = tree_.world.child("gravity");
    if (!gravity) gravity = tree_.world.child("physics").child("gravity");
    return text_vector(gravity, {0.0, 0.0, -kWorldGravity}, report_);
  }

  Transformd pose_of(std::size_t link) const {
    return tree_.graph.pose(tree_.links[link].frame, SdfFrames::kWorldFrame);
  }

  // Welds static models to the ground, and hangs every part without a path to it there.
  void connect() {
    std::unordered_set<std::string> hinge_names;
    for (const Hinge& hinge : d_.hinges) hinge_names.insert(hinge.name);
    for (std::size_t i = 0; i < tree_.links.size(); ++i) {
      if (!tree_.links[i].scope->is_static) continue;
      Hinge weld;
      weld.name = tree_.links[i].name + "_static";
      while (!hinge_names.insert(weld.name).second) weld.name += "_";
      weld.type = HingeType::weld;
      weld.parent = kWorld;
      weld.child = tree_.links[i].name;
      weld.frame_on_parent = pose_of(i);
      weld.source = d_.bodies[i].source;
      d_.hinges.push_back(std::move(weld));
    }

    std::unordered_map<std::string, std::size_t> link_of;
    for (std::size_t i = 0; i < tree_.links.size(); ++i) link_of.emplace(tree_.links[i].name, i);
    const std::size_t before = d_.hinges.size();
    const bool fixed = settings_.base == Base::fixed;
    MechanismBuilder builder(std::move(d_));
    builder.connect_roots(fixed ? HingeType::weld : HingeType::free);
    d_ = std::move(builder.description());
    for (std::size_t i = 0; i < d_.hinges.size() - before; ++i) {
      Hinge& hinge = d_.hinges[i];
      const Transformd pose = pose_of(link_of.at(hinge.child));
      if (fixed) {
        hinge.frame_on_parent = pose;
        continue;
      }
      const Quaterniond q = to_quaternion(pose.rotation);
      const Vec3d& p = pose.translation;
      hinge.initial_position = {q.w, q.x, q.y, q.z, p.x, p.y, p.z};
    }
  }

  void warn_of_meshes(const Source& whole) {
    std::unordered_map<std::string, std::vector<std::string>> meshes;  // by folder
    std::vector<std::string> folders;
    for (const Body& body : d_.bodies)
      for (const Visual& visual : body.visuals)
        if (visual.shape == Visual::Shape::mesh) {
          const std::string folder = folder_of(body.source.file);
          if (!meshes.contains(folder)) folders.push_back(folder);
          meshes[folder].push_back(visual.mesh);
        }
    for (const std::string& folder : folders)
      if (std::string message = missing_meshes(meshes[folder], folder); !message.empty())
        report_.warning(whole, std::move(message));
  }

  const LoadSettings& settings_;
  xml::Report report_;
  SdfTree tree_;
  Description d_;
};

}  // namespace

Reading read_sdf(const std::string& path, const LoadSettings& settings) {
  SdfReader reader(settings);
  return reader.read(xml::File::read(path, reader.report()));
}

Reading read_sdf_text(const std::string& text, const std::string& file_name,
                      const LoadSettings& settings) {
  SdfReader reader(settings);
  return reader.read(xml::File::parse(text, file_name, reader.report()));
}

}  // namespace catena
