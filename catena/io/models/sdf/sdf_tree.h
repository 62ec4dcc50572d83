// SPDX-License-Identifier: BSD-3-Clause
// The tree of an SDF file: worlds, models, their links, joints and frames, with <include>s opened,
// names declared in their scopes, and every frame placed. Masses, axes and other properties are
// read later, by sdf.cpp and sdf_joint.cpp, which find elements and frames here.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "catena/io/models/sdf/sdf_frames.h"
#include "catena/io/models/xml.h"

namespace catena {

// The format's name in messages.
inline constexpr const char* kSdf = "SDF";

enum class SdfKind { link, joint, frame, model };

// A model (or the world, or the whole file): names in it are unique.
struct SdfScope {
  struct Name {
    int frame;
    SdfKind kind;
    Source source;
  };
  std::string name;                    // of the model, for messages
  std::string prefix;                  // of the names in the description, such as "arm::"
  bool prefixes = true;                // its models add their names to the prefix
  int version = 11;                    // the 7 of SDF 1.7
  int frame = SdfFrames::kWorldFrame;  // __model__
  bool is_static = false;
  bool is_world = false;
  SdfScope* names_in = nullptr;  // where its names stand: itself, or the scope it is merged into
  std::unordered_map<std::string, Name> names;
  std::unordered_map<std::string, SdfScope*> models;
};

struct SdfThing {
  xml::Element element;
  SdfScope* scope = nullptr;
  int frame = SdfFrames::kNoFrame;
  std::string name;                 // with the prefix
  int child = SdfFrames::kNoFrame;  // of a joint: the frame its <child> names
};

class SdfTree {
 public:
  explicit SdfTree(xml::Report& report) : report_(report) {}

  // False when an error left no sensible tree.
  bool read(xml::File file);

  std::string name;             // of the world, or of the model
  Source source;                // of <sdf>
  xml::Element world;           // if any
  std::vector<SdfThing> links;  // in the order of bodies; kept for visuals, too
  std::vector<SdfThing> joints;
  std::vector<SdfThing> frames;  // explicit <frame>s
  SdfFrames graph;

  // The frame that a name means in a scope ("tip", "arm::tip", "__model__", "world"), or kNoFrame
  // and an error that names the element.
  int find(const SdfScope& scope, const std::string& name, const xml::Element& named_by,
           const std::string& role);
  SdfKind kind(int frame) const { return kinds_[static_cast<std::size_t>(frame)]; }
  // X_relative_to_this of a <pose>, with all its attributes.
  Transformd read_pose(const xml::Element& pose);
  // The frame that `relative_to` (or the old `frame`) of the element's <pose> names.
  int relative_to(const xml::Element& pose, const SdfScope& scope, int otherwise);

 private:
  struct Model {
    xml::Element element;
    xml::Element include;  // that brought it, if any
    SdfScope* outer = nullptr;
    SdfScope* scope = nullptr;
    int first_link = SdfFrames::kNoFrame;
    int first_model = SdfFrames::kNoFrame;
  };

  int version_of(const xml::Element& sdf);
  SdfScope* new_scope();
  int new_frame(const xml::Element& element, SdfKind kind, const std::string& local_name);
  void declare(SdfScope& scope, const std::string& local_name, int frame, SdfKind kind,
               const xml::Element& element);
  void declare_contents(const xml::Element& element, SdfScope& scope, Model* model);
  // `around` is the model that contains it, if any.
  void declare_model(const xml::Element& element, SdfScope& outer, const xml::Element& include,
                     int version, Model* around);
  void open_include(const xml::Element& include, SdfScope& outer, Model* around);
  std::string include_path(const xml::Element& include);
  // The <sdf> of a file, read once; nothing after an error.
  xml::Element open_file(const std::string& path, const xml::Element& include);
  int look_up(const SdfScope& scope, std::string_view name) const;
  void place_models();
  void place_things();

  xml::Report& report_;
  std::deque<SdfScope> scopes_;
  std::deque<xml::File> files_;
  std::unordered_map<std::string, xml::Element> opened_;  // root elements by path
  std::vector<std::string> open_files_;                   // of the includes being read
  std::deque<Model> models_;                              // outer before inner
  std::vector<SdfKind> kinds_{SdfKind::frame};            // by frame; the world first
  int includes_ = 0;
};

}  // namespace catena
