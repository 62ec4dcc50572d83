// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/yaml_tree.h"

#include <algorithm>
#include <sstream>
#include <unordered_map>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

namespace catena::yaml {
namespace {

// The format itself needs 8 levels. yaml-cpp recurses, so this also bounds its stack.
constexpr std::size_t kDeepest = 64;
// One million values describe some 20,000 bodies.
constexpr std::size_t kMostNodes = 10'000'000;
// Aliases may make a text ten times as large as it is written, and any text this large.
constexpr std::size_t kFreeExpansion = 1'000'000;
constexpr std::size_t kExpansion = 10;

// Ends the parse: the text has no tree.
struct Stop {
  int line;
  std::string message;
};

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& file, std::vector<Diagnostic>& diagnostics, Tree& tree)
      : file_(file), diagnostics_(diagnostics), tree_(tree) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0)
      throw Stop{line_of(mark), "a second document starts here; a file describes one mechanism"};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(make(Node::Kind::null, mark, anchor), 1);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(mark, tag);
    Node* node = make(Node::Kind::scalar, mark, anchor);
    node->text = value;
    node->quoted = tag == "!";
    add(node, 1);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw Stop{line_of(mark), "alias of an unknown anchor"};
    if (std::any_of(open_.begin(), open_.end(),
                    [&](const Open& open) { return open.node == found->second.node; }))
      throw Stop{line_of(mark), "an alias refers to the thing that it is part of"};
    add(found->second.node, found->second.size, line_of(mark));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    check_tag(mark, tag);
    open(Node::Kind::list, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    check_tag(mark, tag);
    open(Node::Kind::map, mark, anchor);
  }
  void OnMapEnd() override {
    finish_map(*open_.back().node);
    close();
  }

 private:
  struct Open {
    Node* node;
    YAML::anchor_t anchor;
    std::size_t size;  // nodes in it so far, aliases expanded
    bool key_pending = true;
  };
  struct Anchored {
    Node* node;
    std::size_t size;
  };

  static int line_of(const YAML::Mark& mark) { return std::max(0, mark.line) + 1; }

  void error(int line, std::string message) {
    diagnostics_.push_back({Severity::error, {file_, line}, std::move(message)});
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    error(line_of(mark), "tag <" + tag + "> has no meaning here; remove it");
  }

  Node* make(Node::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (tree_.nodes.size() >= kMostNodes)
      throw Stop{line_of(mark), "more than " + std::to_string(kMostNodes) + " values"};
    Node& node = tree_.nodes.emplace_back();
    node.kind = kind;
    node.line = line_of(mark);
    if (anchor != 0) anchors_[anchor] = {&node, 1};
    return &node;
  }

  void open(Node::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (open_.size() >= kDeepest)
      throw Stop{line_of(mark), "nested more than " + std::to_string(kDeepest) +
                                    " levels deep; a model needs 8 at most"};
    Node* node = make(kind, mark, anchor);
    open_.push_back({node, anchor, 1});
  }

  void close() {
    const Open closed = open_.back();
    open_.pop_back();
    if (closed.anchor != 0) anchors_[closed.anchor].size = closed.size;
    add(closed.node, closed.size);
  }

  void add(Node* node, std::size_t size, int alias_line = 0) {
    if (open_.empty()) {
      tree_.root = node;
      return;
    }
    Open& parent = open_.back();
    parent.size += size;
    const int line = alias_line > 0 ? alias_line : node->line;
    if (parent.size > kFreeExpansion + kExpansion * tree_.nodes.size())
      throw Stop{line, "aliases expand to more than " + std::to_string(parent.size - size) +
                           " values; write fewer of them"};
    std::vector<Entry>& entries = parent.node->entries;
    if (parent.node->is_list()) {
      entries.push_back({{}, line, node});
    } else if (parent.key_pending) {
      if (!node->is_scalar()) throw Stop{line, "the key before ':' is missing or not a text"};
      entries.push_back({node->text, line, nullptr});
      parent.key_pending = false;
    } else {
      if (node->is_null()) node->line = entries.back().line;
      entries.back().value = node;
      parent.key_pending = true;
    }
  }

  void finish_map(Node& map) {
    std::vector<Entry> kept;
    std::unordered_map<std::string_view, int> first;
    kept.reserve(map.entries.size());
    first.reserve(map.entries.size());
    bool merges = false;
    for (Entry& entry : map.entries) {
      if (entry.key == "<<") {
        merges = true;
        continue;
      }
      const auto [earlier, fresh] = first.emplace(entry.key, entry.line);
      if (!fresh) {
        error(entry.line, "'" + entry.key + "' is given twice (first in line " +
                              std::to_string(earlier->second) + "); remove or rename one");
        continue;
      }
      kept.push_back(entry);  // a copy: `first` looks at the original
    }
    if (merges) {
      for (const Entry& entry : map.entries)
        if (entry.key == "<<") merge(entry, kept, first);
    }
    map.entries = std::move(kept);
  }

  // Adds the entries of the map (or maps) under `<<` that are not there yet.
  void merge(const Entry& entry, std::vector<Entry>& kept,
             std::unordered_map<std::string_view, int>& first) {
    const Node& value = *entry.value;
    const auto add_map = [&](const Node& map) {
      if (!map.is_map()) {
        error(entry.line, "'<<' needs the alias of a map");
        return;
      }
      for (const Entry& other : map.entries)
        if (first.emplace(other.key, other.line).second) kept.push_back(other);
    };
    if (value.is_list())
      for (const Entry& item : value.entries) add_map(*item.value);
    else
      add_map(value);
  }

  const std::string& file_;
  std::vector<Diagnostic>& diagnostics_;
  Tree& tree_;
  int documents_ = 0;
  std::vector<Open> open_;
  std::unordered_map<YAML::anchor_t, Anchored> anchors_;
};

// True if the indentation of this line has a tab.
bool starts_with_tab(std::string_view text, int line) {
  for (int i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n');
    if (end == text.npos) return false;
    text.remove_prefix(end + 1);
  }
  const std::size_t first = text.find_first_not_of(' ');
  return first != text.npos && text[first] == '\t';
}

}  // namespace

const Entry* Node::find(std::string_view key) const {
  for (const Entry& entry : entries)
    if (entry.key == key) return &entry;
  return nullptr;
}

Tree parse(const std::string& text, const std::string& file, std::vector<Diagnostic>& diagnostics) {
  Tree tree;
  TreeBuilder builder(file, diagnostics, tree);
  const auto fail = [&](int line, const std::string& message) {
    tree.root = nullptr;
    diagnostics.push_back({Severity::error, {file, line}, message});
  };
  try {
    // Without the line ends at the end: after one, yaml-cpp accepts an open quote.
    std::istringstream stream(text.substr(0, text.find_last_not_of("\n\r") + 1));
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop& stop) {
    fail(stop.line, stop.message);
  } catch (const YAML::Exception& exception) {
    const int line = exception.mark.is_null() ? 1 : exception.mark.line + 1;
    fail(line, "malformed YAML: " + exception.msg +
                   (starts_with_tab(text, line) ? "; indent with spaces, not with tabs" : ""));
  }
  return tree;
}

}  // namespace catena::yaml
