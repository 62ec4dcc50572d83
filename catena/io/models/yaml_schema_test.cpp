// SPDX-License-Identifier: BSD-3-Clause
// docs/model.schema.json has exactly the keys that the reader knows, and docs/model-format.md
// explains each of them. (JSON is YAML: our own tree reads the schema.)
#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/io/models/yaml.h"
#include "catena/io/models/yaml_keys.h"
#include "catena/io/models/yaml_tree.h"
#include "catena/model/hinge.h"

namespace catena::yaml {
namespace {

std::string content(const std::string& name) {
  std::ifstream stream(CATENA_SOURCE_DIR "/" + name);
  std::ostringstream text;
  text << stream.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

// The first map under "properties" in the schema of a kind, which may stand among alternatives.
const Node* properties(const Node& schema) {
  if (const Entry* entry = schema.find("properties")) return entry->value;
  if (const Entry* entry = schema.find("oneOf"))
    for (const Entry& item : entry->value->entries)
      if (const Node* found = properties(*item.value)) return found;
  return nullptr;
}

class Schema : public testing::Test {
 protected:
  Schema() : tree_(parse(content("docs/model.schema.json"), "model.schema.json", diagnostics_)) {
    for (const Diagnostic& problem : diagnostics_) ADD_FAILURE() << problem.text();
  }
  const Node& kind(const std::string& name) const {
    if (name == "model") return *tree_.root;
    return *tree_.root->find("$defs")->value->find(name)->value;
  }

  std::vector<Diagnostic> diagnostics_;
  Tree tree_;
};

TEST_F(Schema, HasTheKeysOfTheReader) {
  ASSERT_NE(tree_.root, nullptr);
  for (const auto& [name, keys] : key_table()) {
    SCOPED_TRACE(name);
    if (name != "model") {
      ASSERT_NE(tree_.root->find("$defs")->value->find(name), nullptr);
    }
    const Node* found = properties(kind(name));
    ASSERT_NE(found, nullptr);
    std::set<std::string> in_schema;
    for (const Entry& entry : found->entries) in_schema.insert(entry.key);
    EXPECT_EQ(in_schema, std::set<std::string>(keys.begin(), keys.end()));
  }
}

// Every map in the schema is of a kind that the reader knows (or a map from names to things).
TEST_F(Schema, HasNoOtherMaps) {
  for (const Entry& entry : tree_.root->find("$defs")->value->entries)
    EXPECT_EQ(properties(*entry.value) != nullptr, key_table().contains(entry.key)) << entry.key;
}

TEST_F(Schema, HasAllHingeTypes) {
  const Node& type = *properties(kind("hinge"))->find("type")->value;
  std::set<std::string> in_schema;
  for (const Entry& entry : type.find("enum")->value->entries) in_schema.insert(entry.value->text);
  std::vector<std::string> names = hinge_type_names();
  std::erase(names, "custom");
  EXPECT_EQ(in_schema, std::set<std::string>(names.begin(), names.end()));
}

TEST(Documentation, ExplainsEveryKey) {
  const std::string text = content("docs/model-format.md");
  for (const auto& [name, keys] : key_table())
    for (const std::string& key : keys)
      EXPECT_TRUE(text.find("`" + key + "`") != text.npos || text.find(key + ":") != text.npos)
          << name << ": " << key;
  for (const std::string& type : hinge_type_names())
    EXPECT_NE(text.find("`" + type + "`"), text.npos) << type;
}

// Each ```yaml block of the documentation that is a whole file is read without a complaint.
TEST(Documentation, ExamplesAreRight) {
  std::istringstream text(content("docs/model-format.md"));
  std::string line, block;
  bool inside = false;
  int read = 0;
  for (int number = 1; std::getline(text, line); ++number) {
    if (line == "```yaml") {
      inside = true;
      block.clear();
    } else if (line == "```" && inside) {
      inside = false;
      if (!block.starts_with("catena: 1") || block.find(".urdf") != block.npos) continue;
      ++read;
      const Reading reading = read_yaml_text(block, CATENA_SOURCE_DIR "/models/example.yaml");
      for (const Diagnostic& problem : reading.diagnostics)
        ADD_FAILURE() << "block that ends in line " << number << ": " << problem.text();
      EXPECT_NO_THROW(MechanismBuilder(reading.description).finish()) << "line " << number;
    } else if (inside) {
      block += line + "\n";
    }
  }
  EXPECT_GE(read, 5);
}

}  // namespace
}  // namespace catena::yaml
