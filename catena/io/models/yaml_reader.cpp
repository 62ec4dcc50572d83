// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "catena/base/index.h"
#include "catena/base/text.h"
#include "catena/flexible/beam.h"
#include "catena/flexible/matrices_body.h"
#include "catena/io/models/yaml.h"
#include "catena/io/models/yaml_beam.h"
#include "catena/io/models/yaml_keys.h"
#include "catena/io/models/yaml_matrices.h"
#include "catena/io/models/yaml_things.h"
#include "catena/io/text_file.h"
#include "catena/model/validation.h"

namespace catena {
namespace {

using yaml::Entry;
using yaml::Node;
using yaml::Values;

constexpr int kVersion = 1;
// Bounds on the files that `from` and `attach` read: files may attach files that attach files.
constexpr int kMostFiles = 1000;
constexpr std::size_t kMostThings = 2'000'000;
constexpr const char* kBrought = " in the files of 'from' and 'attach'";

// The files that are being read, each one named by the one before.
struct Journey {
  std::vector<std::string> files;
  int count = 0;
};

Reading read_text(const std::string& text, const std::string& file, const LoadSettings& settings,
                  Journey& journey);

std::string canonical(const std::string& path) {
  std::error_code code;
  const std::filesystem::path full = std::filesystem::weakly_canonical(path, code);
  return code ? path : full.string();
}

bool is_yaml(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending == ".yaml" || ending == ".yml";
}

std::size_t things_in(const Description& d) {
  return d.bodies.size() + d.hinges.size() + d.frames.size() + d.rods.size() + d.couplings.size() +
         d.springs.size();
}

class YamlReader {
 public:
  YamlReader(const std::string& file, const LoadSettings& settings, Journey& journey)
      : settings_(settings), journey_(journey), values_(file, reading_.diagnostics) {
    reading_.strict = true;
  }

  Reading run(const std::string& text) {
    read(text);
    // Those of other files first, then ours by line.
    const auto place = [&](const Diagnostic& d) {
      return d.source.file == values_.file() ? std::pair(1, d.source.line) : std::pair(0, 0);
    };
    std::stable_sort(reading_.diagnostics.begin(), reading_.diagnostics.end(),
                     [&](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
    return std::move(reading_);
  }

 private:
  void read(const std::string& text) {
    if (!check_text(text, values_.file(), reading_.diagnostics)) return;
    const yaml::Tree tree = yaml::parse(text, values_.file(), reading_.diagnostics);
    if (tree.root == nullptr) {
      if (reading_.diagnostics.empty())
        values_.error(1, "is empty; a model starts with `catena: 1`");
      return;
    }
    if (!values_.map(*tree.root, "a model: a map that starts with `catena: 1`")) return;
    const Node& root = *tree.root;
    if (!check_version(root)) return;
    read_keys(root);
    read_base(root);
    section(root, "strict", [&](const Node& node) { values_.boolean(node, own_strict_); });
    reading_.strict = own_strict_;
    const int before = values_.errors();
    read_from(root);
    section(root, "attach", [&](const Node& node) { read_attach(node); });
    section(root, "remove", [&](const Node& node) { read_remove(node); });
    section(root, "change", [&](const Node& node) { read_change(node); });
    incomplete_ = incomplete_ || values_.errors() > before;
    read_settings(root);
    read_own(root);
    const int before_lock = values_.errors();
    section(root, "lock", [&](const Node& node) { read_lock(node); });
    lock_lost_ = values_.errors() > before_lock;
    finish();
  }

  // Calls read(node) for a section that is there and not empty.
  template <class Read>
  void section(const Node& root, const char* key, Read read) {
    const Entry* entry = root.find(key);
    if (entry == nullptr || entry->value->is_null()) return;
    const Values::Within within(values_, key);
    read(*entry->value);
  }

  bool check_version(const Node& root) {
    const Entry* entry = root.find("catena");
    if (entry == nullptr) {
      values_.error(root.line, "the version is missing; start the file with `catena: " +
                                   std::to_string(kVersion) + "`");
      return true;
    }
    const Values::Within within(values_, "catena");
    int version = 0;
    if (!values_.integer(*entry->value, version)) return true;
    if (version == kVersion) return true;
    values_.error(entry->line, "version " + std::to_string(version) +
                                   " of the format is not known; this program reads version " +
                                   std::to_string(kVersion));
    return false;
  }

  void read_keys(const Node& root) {
    const std::span<const std::string> known = yaml::keys_of("model");
    values_.unknown_keys(root, known);
    // A key that resembles a section or a known key may be a misspelling of it.
    for (const Entry& entry : root.entries) {
      if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
      const Node& value = *entry.value;
      if (value.is_map() || value.is_list() || value.text == "fixed" || value.text == "free" ||
          !nearest_name(entry.key, known).empty())
        incomplete_ = true;
    }
  }

  void read_base(const Node& root) {
    base_ = settings_.base;
    section(root, "base", [&](const Node& node) {
      static const std::vector<std::string> kWords{"fixed", "free"};
      std::size_t index = 0;  // also of a word that is neither: no body shall lack a path for it
      values_.choice(node, kWords, index);
      if (base_ == Base::as_written) base_ = index == 0 ? Base::fixed : Base::free;
    });
  }

  // Another file, named relative to this one. Nothing after an error.
  std::optional<Reading> read_other(const Node& node, Base base) {
    std::string name;
    if (!values_.text(node, name)) return std::nullopt;
    const std::filesystem::path folder = std::filesystem::path(values_.file()).parent_path();
    const std::string path = (folder / name).lexically_normal().string();
    const std::string full = canonical(path);
    if (std::find(journey_.files.begin(), journey_.files.end(), full) != journey_.files.end()) {
      values_.error(node.line, "'" + name + "' leads back to itself; a file cannot contain itself");
      return std::nullopt;
    }
    if (++journey_.count > kMostFiles) {
      values_.error(node.line, "more than " + std::to_string(kMostFiles) + " files are needed");
      return std::nullopt;
    }
    const LoadSettings settings{.base = base, .gravity = {}, .strict = settings_.strict};
    Reading other;
    if (is_yaml(path)) {
      std::vector<Diagnostic> problems;
      const std::optional<std::string> text = read_text_file(path, problems);
      if (!text) {
        values_.error(node.line, "'" + name + "': " + problems.front().message);
        return std::nullopt;
      }
      other = read_text(*text, path, settings, journey_);
    } else {
      std::error_code code;
      if (!std::filesystem::exists(path, code)) {
        values_.error(node.line, "'" + name + "': there is no such file");
        return std::nullopt;
      }
      other = read_description(path, settings);
    }
    const bool wrong = has_error(other.diagnostics);
    std::move(other.diagnostics.begin(), other.diagnostics.end(),
              std::back_inserter(reading_.diagnostics));
    reading_.strict = reading_.strict && other.strict;
    if (wrong) {
      values_.error(node.line, "'" + name + "' cannot be used before its errors are corrected");
      return std::nullopt;
    }
    return other;
  }

  void read_from(const Node& root) {
    section(root, "from", [&](const Node& node) {
      std::optional<Reading> other = read_other(node, base_);
      if (other) builder_ = MechanismBuilder(std::move(other->description));
    });
  }

  void read_settings(const Node& root) {
    Description& d = builder_.description();
    section(root, "name", [&](const Node& node) { values_.text(node, d.name); });
    section(root, "gravity", [&](const Node& node) { values_.vector(node, d.gravity); });
    if (settings_.gravity) d.gravity = *settings_.gravity;
  }

  void read_attach(const Node& node) {
    if (!values_.list(node, "a list of maps with file, prefix, onto, pose")) return;
    for (std::size_t i = 0; i < node.entries.size(); ++i) {
      const Values::Within within(values_, std::to_string(i + 1));
      const Node& item = *node.entries[i].value;
      if (!values_.map(item, "a map with file, prefix, onto, pose")) continue;
      values_.unknown_keys(item, yaml::keys_of("attach"));
      std::string prefix;
      std::string onto = kWorld;
      Transformd pose;
      if (const Entry* entry = item.find("prefix")) {
        const Values::Within key(values_, "prefix");
        values_.text(*entry->value, prefix);
      }
      if (const Entry* entry = item.find("onto")) {
        const Values::Within key(values_, "onto");
        values_.text(*entry->value, onto);
      }
      if (const Entry* entry = item.find("pose")) {
        const Values::Within key(values_, "pose");
        values_.pose(*entry->value, pose);
      }
      const Entry* file = item.find("file");
      if (file == nullptr) {
        values_.error(item.line, "needs 'file:'");
        continue;
      }
      const Values::Within key(values_, "file");
      const std::optional<Reading> other = read_other(*file->value, Base::fixed);
      if (!other) continue;
      builder_.attach(other->description, prefix, onto, pose);
      if (things_in(builder_.description()) > kMostThings) {
        values_.error(item.line, "more than " + std::to_string(kMostThings) + " things");
        return;
      }
    }
  }

  template <class Things>
  static std::unordered_map<std::string, std::size_t> index_of(const Things& things) {
    std::unordered_map<std::string, std::size_t> index;
    for (std::size_t i = 0; i < things.size(); ++i) index.emplace(things[i].name, i);
    return index;
  }

  template <class Things>
  std::string no_such(const std::string& what, const std::string& name, const Things& things) {
    constexpr int kMostSuggestions = 20;  // searches are slow
    std::vector<std::string> names;
    if (++suggestions_ <= kMostSuggestions)
      for (const auto& thing : things) names.push_back(thing.name);
    return "no " + what + " is named '" + name + "'" + did_you_mean(name, names);
  }

  void read_remove(const Node& node) {
    if (!values_.map(node, "a map of lists: bodies, hinges, ...")) return;
    values_.unknown_keys(node, yaml::keys_of("remove"));
    Description& d = builder_.description();
    const auto each = [&](const char* key, const char* kind, const auto& things, auto remove) {
      section(node, key, [&](const Node& list) {
        if (!values_.list(list, "a list of names")) return;
        for (const Entry& item : list.entries) {
          std::string name;
          if (!values_.text(*item.value, name)) continue;
          const bool known = std::any_of(things.begin(), things.end(),
                                         [&](const auto& thing) { return thing.name == name; });
          if (known)
            remove(name);
          else
            values_.error(item.line, no_such(std::string(kind) + kBrought, name, things));
        }
      });
    };
    const auto erase_from = [](auto& things) {
      return [&things](const std::string& name) {
        std::erase_if(things, [&](const auto& thing) { return thing.name == name; });
      };
    };
    each("hinges", "hinge", d.hinges, [&](const std::string& n) { builder_.remove_hinge(n); });
    each("frames", "frame", d.frames, erase_from(d.frames));
    each("rods", "rod", d.rods, erase_from(d.rods));
    each("couplings", "coupling", d.couplings, erase_from(d.couplings));
    each("springs", "spring", d.springs, erase_from(d.springs));
    each("bodies", "body", d.bodies, [&](const std::string& n) { builder_.remove_body(n); });
  }

  // Applies change(thing, node, line) to each thing named in the section.
  template <class Things, class Change>
  void change_each(const Node& map, const char* key, const char* kind, Things& things,
                   Change change) {
    section(map, key, [&](const Node& node) {
      if (!values_.map(node, std::string("a map from ") + kind + " names to settings")) return;
      const auto index = index_of(things);
      for (const Entry& entry : node.entries) {
        const auto found = index.find(entry.key);
        if (found == index.end()) {
          values_.error(entry.line, no_such(std::string(kind) + kBrought, entry.key, things));
          continue;
        }
        const Values::Within within(values_, entry.key);
        change(things[found->second], entry);
      }
    });
  }

  void read_change(const Node& node) {
    if (!values_.map(node, "a map with bodies and hinges")) return;
    values_.unknown_keys(node, yaml::keys_of("change"));
    Description& d = builder_.description();
    change_each(node, "bodies", "body", d.bodies, [&](Body& body, const Entry& entry) {
      yaml::read_body(values_, *entry.value, body);
      const Node& settings = *entry.value;
      if (settings.find("mass") || settings.find("center_of_mass") || settings.find("inertia") ||
          settings.find("inertia_axes"))
        body.source = values_.source(entry.line);  // messages name this file from now on
    });
    change_each(node, "hinges", "hinge", d.hinges, [&](Hinge& hinge, const Entry& entry) {
      yaml::read_hinge(values_, *entry.value, hinge);
      hinge.source = values_.source(entry.line);
    });
  }

  // Adds the entries of a section at the end.
  template <class Thing, class Read>
  void read_things(const Node& root, const char* key, const char* kind, std::vector<Thing>& things,
                   Read read) {
    const Entry* section = root.find(key);
    if (section == nullptr || section->value->is_null()) return;
    const Node& node = *section->value;
    if (!node.is_map()) {
      const Values::Within within(values_, key);
      values_.mismatch(node, std::string("a map from ") + kind + " names to settings");
      incomplete_ = true;
      return;
    }
    things.reserve(things.size() + node.entries.size());
    for (const Entry& entry : node.entries) {
      const Values::Thing thing(values_, std::string(kind) + " '" + entry.key + "'", entry.line);
      Thing& added = things.emplace_back();
      added.name = entry.key;
      added.source = values_.source(entry.line);
      read(*entry.value, added);
    }
  }

  void read_own(const Node& root) {
    Description& d = builder_.description();
    read_things(root, "bodies", "body", d.bodies, [&](const Node& node, Body& body) {
      yaml::read_body(values_, node, body);
      if (node.is_map())
        if (const Entry* entry = node.find("flexible")) read_flexible(*entry, body.name);
    });
    read_things(root, "hinges", "hinge", d.hinges, [&](const Node& node, Hinge& hinge) {
      yaml::read_hinge(values_, node, hinge);
      for (const char* key : {"type", "parent", "child"})
        if (node.is_map() && node.find(key) == nullptr)
          values_.error(hinge.source.line, std::string("needs '") + key + ":'");
    });
    read_things(root, "frames", "frame", d.frames,
                [&](const Node& node, Frame& frame) { yaml::read_frame(values_, node, frame); });
    read_things(root, "rods", "rod", d.rods,
                [&](const Node& node, Rod& rod) { yaml::read_rod(values_, node, rod); });
    read_things(root, "couplings", "coupling", d.couplings,
                [&](const Node& node, Coupling& c) { yaml::read_coupling(values_, node, c); });
    read_things(root, "springs", "spring", d.springs,
                [&](const Node& node, SpringDamper& s) { yaml::read_spring(values_, node, s); });
    make_flexible_bodies();
  }

  struct FlexiblePending {
    std::string body;
    int line;
    yaml::FlexibleWords words;
    bool failed = false;
  };

  void read_flexible(const Entry& entry, const std::string& body) {
    const Values::Within within(values_, "flexible");
    const int before = values_.errors();
    FlexiblePending pending{body, entry.line, {}, false};
    yaml::read_flexible(values_, *entry.value, pending.words);
    pending.failed = values_.errors() != before;
    flexible_.push_back(std::move(pending));
  }

  // After a mistake: a rigid body of unit mass with massless bodies in place of its attachments, so
  // that consequences of the mistake are not reported.
  void stand_in(const FlexiblePending& p) {
    BodySettings& frame = builder_.body(p.body);
    frame.mass = 1.0;
    frame.inertia = SymMat3d::diagonal(1.0, 1.0, 1.0);
    const auto weld = [&](const std::string& name) {
      const std::string part = p.body + "." + name;
      const std::vector<Body>& bodies = builder_.description().bodies;
      if (name.empty() ||
          std::any_of(bodies.begin(), bodies.end(), [&](const Body& b) { return b.name == part; }))
        return;
      builder_.add_body(part);
      builder_.add_hinge(part, p.body, part, {.type = HingeType::weld});
    };
    for (const BeamAttachment& a : p.words.beam.attachments) weld(a.name);
    if (p.words.matrices)
      for (const auto& a : p.words.matrices->attachments) weld(a.name);
  }

  std::shared_ptr<const FlexibleBody> make_flexible(const FlexiblePending& p) const {
    const Source source = values_.source(p.line);
    return p.words.matrices ? make_matrices_body(*p.words.matrices, p.body, source)
                            : make_beam(p.words.beam, p.body, source);
  }

  // Beams become modes and attachments. Equal words give one set of constants.
  void make_flexible_bodies() {
    std::map<std::string, std::shared_ptr<const FlexibleBody>> made;
    for (const FlexiblePending& p : flexible_) {
      if (p.failed) {
        stand_in(p);
        continue;
      }
      std::string words = write_beam(p.words.beam);
      if (p.words.matrices) words += yaml::write_matrices(*p.words.matrices);
      std::shared_ptr<const FlexibleBody>& constants = made[words];
      try {
        if (!constants) constants = make_flexible(p);
      } catch (const ModelError& e) {
        for (const Diagnostic& d : e.problems()) values_.error(p.line, d.message);
        stand_in(p);
        continue;
      }
      builder_.make_flexible(p.body, constants);
      HingeSettings& modes = builder_.hinge(modes_name(p.body));
      modes.initial_position = p.words.initial_position;
      modes.initial_velocity = p.words.initial_velocity;
    }
  }

  void read_lock(const Node& node) {
    if (!node.is_map() && !node.is_list()) {
      values_.mismatch(node, "a list of hinges, or a map from hinges to positions");
      return;
    }
    const Description& d = builder_.description();
    const auto index = index_of(d.hinges);
    for (const Entry& entry : node.entries) {
      std::string name = entry.key;
      if (node.is_list() && !values_.text(*entry.value, name)) continue;
      if (!index.contains(name)) {
        values_.error(entry.line, no_such("hinge", name, d.hinges));
        continue;
      }
      std::vector<double> position;
      const Values::Within within(values_, name);
      if (node.is_map() && !entry.value->is_null() &&
          !values_.number_or_list(*entry.value, position))
        continue;
      Hinge& hinge = builder_.description().hinges[index.at(name)];
      lock(hinge, std::move(position));
    }
  }

  // As MechanismBuilder::lock, without its search by name.
  static void lock(Hinge& hinge, std::vector<double> position) {
    if (hinge.type == HingeType::weld) return;
    if (position.empty()) {
      position.assign(to_size(coordinates_of(hinge.type)), 0.0);
      if (hinge.type == HingeType::spherical || hinge.type == HingeType::free) position[0] = 1.0;
    }
    hinge.locked_at = std::move(position);
  }

  void finish() {
    if (base_ != Base::as_written)
      builder_.connect_roots(base_ == Base::free ? HingeType::free : HingeType::weld);
    if (has_error(reading_.diagnostics)) {
      if (!incomplete_) foresee();
    } else if (own_strict_ && !reading_.strict) {
      // The files this one starts from are not read strictly, but it is.
      for (Diagnostic& problem : validate(builder_.description(), {.strict = true}))
        if (problem.severity == Severity::error && problem.source.file == values_.file())
          reading_.diagnostics.push_back(std::move(problem));
    }
    reading_.description = std::move(builder_.description());
  }

  // Adds the problems that finishing the model would find once the errors so far are corrected, so
  // that all are reported at once. Consequences of those errors are left out.
  void foresee() {
    const auto wrong = [&](const Source& source) {
      return source.file == values_.file() && values_.wrong_thing(source.line);
    };
    const auto erase_wrong = [&](auto& things) {
      return std::erase_if(things, [&](const auto& thing) { return wrong(thing.source); }) > 0;
    };
    const auto make_ball = [](Body& body) {
      const Source source = body.source;
      static_cast<BodySettings&>(body) = {.mass = 1.0,
                                          .inertia = SymMat3d::diagonal(1.0, 1.0, 1.0)};
      body.source = source;
    };
    MechanismBuilder builder(builder_.description());
    Description& d = builder.description();
    for (Body& body : d.bodies)
      if (wrong(body.source)) make_ball(body);
    std::unordered_set<std::string> wrong_hinges;
    for (const Hinge& hinge : d.hinges)
      if (wrong(hinge.source)) wrong_hinges.insert(hinge.name);
    bool restraints_lost = erase_wrong(d.hinges);
    restraints_lost = erase_wrong(d.rods) || restraints_lost;
    restraints_lost = erase_wrong(d.couplings) || restraints_lost;
    erase_wrong(d.frames);
    erase_wrong(d.springs);
    std::erase_if(d.couplings, [&](const Coupling& coupling) {
      return std::any_of(coupling.terms.begin(), coupling.terms.end(),
                         [&](const auto& term) { return wrong_hinges.contains(term.hinge); });
    });
    // Another file, which starts from this one, may connect its bodies and load them.
    const bool part = journey_.files.size() > 1;
    // A massless body may be valid as part of a loop, or locked, by a part that an error left out.
    if (restraints_lost || lock_lost_ || part)
      for (Body& body : d.bodies)
        if (body.mass == 0.0 && body.inertia.trace() == 0.0) make_ball(body);
    if (!wrong_hinges.empty() || part) connect(d);
    std::vector<Diagnostic> found;
    try {
      found = builder.finish({.strict = reading_.strict}).warnings();
    } catch (const ModelError& error) {
      found = error.problems();
    }
    std::move(found.begin(), found.end(), std::back_inserter(reading_.diagnostics));
  }

  // Welds every part without a path to the world to it. A hinge on an unknown parent, which is
  // reported elsewhere, counts as a path.
  static void connect(Description& d) {
    std::unordered_set<std::string> bodies{kWorld};
    for (const Body& body : d.bodies) bodies.insert(body.name);
    MechanismBuilder connected(d);
    for (Hinge& hinge : connected.description().hinges)
      if (!bodies.contains(hinge.parent)) hinge.parent = kWorld;
    const std::vector<Hinge>& hinges =
        connected.connect_roots(HingeType::weld).description().hinges;
    const std::size_t added = hinges.size() - d.hinges.size();  // they stand first
    d.hinges.insert(d.hinges.begin(), hinges.begin(),
                    hinges.begin() + static_cast<std::ptrdiff_t>(added));
  }

  const LoadSettings& settings_;
  Journey& journey_;
  Reading reading_;
  Values values_;
  std::vector<FlexiblePending> flexible_;
  MechanismBuilder builder_;
  Base base_ = Base::as_written;
  bool own_strict_ = true;
  bool incomplete_ = false;  // whole sections or files are missing after an error
  bool lock_lost_ = false;   // a hinge that should be locked is not
  int suggestions_ = 0;
};

Reading read_text(const std::string& text, const std::string& file, const LoadSettings& settings,
                  Journey& journey) {
  journey.files.push_back(canonical(file));
  Reading reading = YamlReader(file, settings, journey).run(text);
  journey.files.pop_back();
  return reading;
}

}  // namespace

Reading read_yaml_text(const std::string& text, const std::string& file_name,
                       const LoadSettings& settings) {
  Journey journey;
  return read_text(text, file_name, settings, journey);
}

Reading read_yaml(const std::string& path, const LoadSettings& settings) {
  Reading reading;
  reading.strict = true;
  const std::optional<std::string> text = read_text_file(path, reading.diagnostics);
  return text ? read_yaml_text(*text, path, settings) : reading;
}

}  // namespace catena
