// SPDX-License-Identifier: BSD-3-Clause
// A YAML text as a light tree that knows the line of everything. yaml-cpp does the parsing.
//
// Aliases share nodes, merge keys (`<<: *anchor`) are resolved, duplicate keys are reported.
// Depth, number of nodes and the size after expansion of all aliases are bounded.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "catena/base/error.h"

namespace catena::yaml {

struct Node;

struct Entry {
  std::string key;  // empty in a list
  int line = 0;     // of the key
  const Node* value = nullptr;
};

struct Node {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  bool quoted = false;  // a scalar in quotes is a text, never a number
  int line = 0;
  std::string text;            // of a scalar
  std::vector<Entry> entries;  // of a list or map

  bool is_null() const { return kind == Kind::null; }
  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_list() const { return kind == Kind::list; }
  bool is_map() const { return kind == Kind::map; }

  // The value of a key, or none. O(entries).
  const Entry* find(std::string_view key) const;
};

struct Tree {
  std::deque<Node> nodes;
  const Node* root = nullptr;  // none: the text is empty, or too wrong to have a tree
};

Tree parse(const std::string& text, const std::string& file, std::vector<Diagnostic>& diagnostics);

}  // namespace catena::yaml
