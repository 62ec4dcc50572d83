// SPDX-License-Identifier: BSD-3-Clause
// Wrong YAML: each mistake with its line, its name and the remedy, all mistakes at once.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/base/testing/temporary_folder.h"
#include "catena/io/models/yaml.h"
#include "catena/io/testing/broken_files.h"
#include "catena/model/validation.h"

namespace catena {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

// All that is wrong with a text, from reading and finishing.
std::vector<std::string> all_problems(const std::string& text) {
  Reading reading = read_yaml_text(text, "m.yaml");
  std::vector<Diagnostic> found = std::move(reading.diagnostics);
  if (!has_error(found)) {
    try {
      MechanismBuilder(std::move(reading.description)).finish({.strict = reading.strict});
    } catch (const ModelError& error) {
      found.insert(found.end(), error.problems().begin(), error.problems().end());
    }
  }
  std::vector<std::string> texts;
  texts.reserve(found.size());
  for (const Diagnostic& problem : found) texts.push_back(problem.text());
  return texts;
}

TEST(YamlErrors, Malformed) {
  EXPECT_THAT(all_problems("catena: 1\nbodies:\n  a: {mass: 1\nb: 3\n"),
              ElementsAre(StartsWith("m.yaml:4: error: malformed YAML: ")));
  EXPECT_THAT(all_problems("catena: 1\nname: \"a\n"),
              ElementsAre(StartsWith("m.yaml:2: error: malformed YAML: ")));
  EXPECT_THAT(all_problems("catena: 1\nbodies:\n\ta: 3\n"),
              ElementsAre("m.yaml:3: error: malformed YAML: illegal map value; indent with spaces, "
                          "not with tabs"));
  EXPECT_THAT(all_problems("catena: 1\nbodies: *link\n"),
              ElementsAre("m.yaml:2: error: malformed YAML: the referenced anchor is not defined"));
  EXPECT_THAT(all_problems("catena: 1\nname: a\x01\n"),
              ElementsAre("m.yaml:2: error: has a control character; save it as plain UTF-8 text"));
  EXPECT_THAT(all_problems("catena: 1\n\nname: a\xff\n"),
              ElementsAre("m.yaml:3: error: has a byte that is not UTF-8; save it as plain UTF-8 "
                          "text"));
  EXPECT_THAT(all_problems("catena: 1\n---\ncatena: 1\n"),
              ElementsAre(HasSubstr("a second document starts here")));
  EXPECT_THAT(all_problems("catena: 1\n[a]: 1\n"),
              ElementsAre("m.yaml:2: error: the key before ':' is missing or not a text"));
  EXPECT_THAT(all_problems("catena: 1\nname: !!float a\n"),
              ElementsAre(StartsWith("m.yaml:2: error: tag <tag:yaml.org,2002:float>")));
}

TEST(YamlErrors, NotAModel) {
  EXPECT_THAT(all_problems(""),
              ElementsAre("m.yaml:1: error: is empty; a model starts with `catena: 1`"));
  EXPECT_THAT(all_problems("# nothing\n"), SizeIs(1));
  EXPECT_THAT(all_problems("- 1\n- 2\n"),
              ElementsAre("m.yaml:1: error: needs a model: a map that starts with `catena: 1`, not "
                          "a list of 2"));
  EXPECT_THAT(all_problems("just words\n"), SizeIs(1));
}

TEST(YamlErrors, Version) {
  EXPECT_THAT(
      all_problems("name: a\n"),
      ElementsAre("m.yaml:1: error: the version is missing; start the file with `catena: 1`"));
  EXPECT_THAT(all_problems("# a comment\ncatena: 7\nnew_key: 1\n"),
              ElementsAre("m.yaml:2: error: catena: version 7 of the format is not known; this "
                          "program reads version 1"));
  EXPECT_THAT(all_problems("catena: one\n"),
              ElementsAre("m.yaml:1: error: catena: needs a whole number, not 'one'"));
}

TEST(YamlErrors, UnknownKeys) {
  EXPECT_THAT(all_problems(R"(catena: 1
gravty: [0, 0, 0]
bodies:
  link:
    mas: 1
    inertia: {xx: 1, yy: 1, zz: 1, zx: 0}
hinges:
  pin:
    type: revolute
    parent: world
    child: link
    limit: [0, 1]
    at: {xzy: [0, 0, 0]}
    drive: {ratio: 3}
    freedoms: [{dampin: 1}]
)"),
              ElementsAre("m.yaml:2: error: unknown key 'gravty'; did you mean 'gravity'?",
                          "m.yaml:5: error: body 'link': unknown key 'mas'; did you mean 'mass'?",
                          StartsWith("m.yaml:6: error: body 'link': inertia: unknown key 'zx'"),
                          "m.yaml:12: error: hinge 'pin': unknown key 'limit'; did you mean "
                          "'limits'?",
                          "m.yaml:13: error: hinge 'pin': at: unknown key 'xzy'; did you mean "
                          "'xyz'?",
                          StartsWith("m.yaml:14: error: hinge 'pin': drive: unknown key 'ratio'"),
                          "m.yaml:15: error: hinge 'pin': freedoms: 1: unknown key 'dampin'; did "
                          "you mean 'damping'?"));
}

TEST(YamlErrors, CommasUnitsAndQuotes) {
  EXPECT_THAT(all_problems(R"(catena: 1
bodies:
  a: {mass: 1, inertia: [1, 1, 1]}
hinges:
  h: {type: revolute, parent: world, child: a, axis: z, initial_position: 30 deg}
)"),
              ElementsAre(HasSubstr("not '30 deg'; angles are in radians, write 30*pi/180")));
  EXPECT_THAT(
      all_problems(R"(catena: 1
bodies:
  a: {mass: 1, inertia: [1, 1, 1]}
hinges:
  h: {type: revolute, parent: world, child: a, axis: z, initial_position: max(1, 4)}
)"),
      ElementsAre(HasSubstr("unknown key '4)'; a comma ends an entry inside { } and [ ], so "
                            "quote the whole text"),
                  HasSubstr("not 'max(1'; a comma ends")));
  const Reading quoted = read_yaml_text(R"(catena: 1
bodies:
  a: {mass: "3", inertia: [1, 1, 1]}
hinges:
  h: {type: revolute, parent: world, child: a, axis: z, initial_position: "pi/2"}
)",
                                        "m.yaml");
  EXPECT_TRUE(quoted.diagnostics.empty());
  EXPECT_EQ(quoted.description.bodies.at(0).mass, 3.0);
  EXPECT_DOUBLE_EQ(quoted.description.hinges.at(0).initial_position.at(0), std::acos(0.0));
}

TEST(YamlErrors, WrongTypesAndCounts) {
  EXPECT_THAT(
      all_problems(R"(catena: 1
gravity: 9.81
bodies:
  a: {mass: heavy}
  b: {center_of_mass: [0, 0]}
  c: {mass: "1 kg"}
  d: 5
  e: {inertia: 3}
  f: {visuals: [{shape: bax}]}
hinges:
  h: {type: revolut, parent: world, child: a}
  i: {type: revolute, parent: [b], child: b}
  j: {type: revolute, parent: b, child: c, axis: up}
  k: {type: revolute, parent: b, child: c, at: {rpy: [0, 1]}}
  l: {type: revolute, parent: b, child: c, limits: [1]}
  m: {type: weld, parent: b, child: d, damping: 1}
  n: {type: revolute, parent: b, child: e, freedoms: [{}, {}]}
  o: {type: revolute, child: e}
  p:
)"),
      ElementsAre(
          "m.yaml:2: error: gravity: needs a list of 3 numbers, not '9.81'",
          "m.yaml:4: error: body 'a': mass: needs a number, not 'heavy'",
          "m.yaml:5: error: body 'b': center_of_mass: needs a list of 3 numbers, not a "
          "list of 2",
          "m.yaml:6: error: body 'c': mass: needs a number, not \"1 kg\"; numbers are in SI units "
          "(m, kg, s, rad, N) and stand alone",
          StartsWith("m.yaml:7: error: body 'd': needs a map with mass"),
          StartsWith("m.yaml:8: error: body 'e': inertia: needs [xx, yy, zz] or a map"),
          "m.yaml:9: error: body 'f': visuals: 1: shape: cannot be 'bax'; did you mean "
          "'box'?",
          "m.yaml:11: error: hinge 'h': type: cannot be 'revolut'; did you mean 'revolute'?",
          "m.yaml:12: error: hinge 'i': parent: needs a text, not a list of 1",
          StartsWith("m.yaml:13: error: hinge 'j': axis: needs three numbers, or x, y"),
          "m.yaml:14: error: hinge 'k': at: rpy: needs a list of 3 numbers, not a list of 2",
          "m.yaml:15: error: hinge 'l': limits: needs a list of 2 numbers, not a list of 1",
          StartsWith("m.yaml:16: error: hinge 'm': a weld has no freedoms"),
          "m.yaml:17: error: hinge 'n': freedoms: 2 maps, but a revolute hinge has 1 "
          "freedom",
          "m.yaml:18: error: hinge 'o': needs 'parent:'",
          StartsWith("m.yaml:19: error: hinge 'p': needs a map with type")));
}

TEST(YamlErrors, NumbersThatAreNotFinite) {
  EXPECT_THAT(all_problems(R"(catena: 1
bodies:
  a: {mass: .nan}
  b: {inertia: [1, .inf, 1]}
  c: {mass: 1e999}
  d: {mass: 1/0}
base: fixed
)"),
              ElementsAre("m.yaml:3: error: body 'a': mass: needs a number, not '.nan'",
                          "m.yaml:4: error: body 'b': inertia: needs a finite number, not '.inf'",
                          "m.yaml:5: error: body 'c': mass: needs a finite number, not '1e999'",
                          "m.yaml:6: error: body 'd': mass: needs a finite number, not '1/0'"));
}

TEST(YamlErrors, Contradictions) {
  EXPECT_THAT(
      all_problems(R"(catena: 1
bodies: {a: , b: }
hinges:
  h: {type: revolute, parent: a, child: b, at: [0, 0, 0], frame_on_child: [0, 0, 0]}
  i: {type: revolute, parent: a, child: b, axis: x, axes: [x]}
  j: {type: revolute, parent: a, child: b, at: {rpy: [0, 0, 1], quaternion: [1, 0, 0, 0]}}
  k: {type: revolute, parent: a, child: b, at: {quaternion: [1, 1, 0, 0]}}
  l: {type: revolute, parent: a, child: b, at: {rotation: [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}}
  m: {type: custom, parent: a, child: b}
couplings:
  c: {ratio: 2, constant: 3}
  d: {}
)"),
      ElementsAre(
          HasSubstr("m.yaml:4: error: hinge 'h': 'at' is the frame on the parent"),
          "m.yaml:5: error: hinge 'i': axis and axes say the same; give one of them",
          HasSubstr("m.yaml:6: error: hinge 'j': at: rpy, quaternion and rotation say"),
          HasSubstr("m.yaml:7: error: hinge 'k': at: quaternion: (w, x, y, z) needs length"),
          HasSubstr("m.yaml:8: error: hinge 'l': at: rotation: is not a rotation"),
          HasSubstr("m.yaml:9: error: hinge 'm': type: custom hinges are code"),
          HasSubstr("m.yaml:11: error: coupling 'c': mixes the keys of a gear"),
          HasSubstr("m.yaml:12: error: coupling 'd': needs follower, leader and ratio")));
}

TEST(YamlErrors, Duplicates) {
  EXPECT_THAT(all_problems(R"(catena: 1
bodies:
  a: {mass: 1, inertia: [1, 1, 1]}
  a: {mass: 2}
base: fixed
base: free
)"),
              ElementsAre("m.yaml:4: error: 'a' is given twice (first in line 3); remove or rename "
                          "one",
                          "m.yaml:6: error: 'base' is given twice (first in line 5); remove or "
                          "rename one"));
}

// Mistakes that only the model's check can find, with their lines, beside those of the reader.
TEST(YamlErrors, OfTheModelAtOnceWithThoseOfTheText) {
  EXPECT_THAT(all_problems(R"(catena: 1
bodies:
  a: {mass: 1, inertia: [1, 1, 5]}
  b: {mass: -1}
  c: {mess: 1}
hinges:
  h: {type: revolute, parent: wrold, child: a, axis: [0, 0, 0]}
  i: {type: revolute, parent: a, child: b, limits: [2, 1]}
  j: {type: revolute, parent: a, child: c}
)"),
              ElementsAre(HasSubstr("m.yaml:3: error: body 'a'"),
                          "m.yaml:4: error: body 'b': mass -1 must not be negative",
                          HasSubstr("m.yaml:5: error: body 'c': unknown key 'mess'"),
                          HasSubstr("m.yaml:7: error: hinge 'h': parent 'wrold' does not exist"),
                          HasSubstr("m.yaml:7: error: hinge 'h': axis (0, 0, 0) is zero"),
                          HasSubstr("m.yaml:8: error: hinge 'i': lower limit 2 is above upper")));
  EXPECT_THAT(all_problems("catena: 1\nbodies:\n  a: {mass: 1, inertia: [1, 1, 1]}\n"),
              ElementsAre(StartsWith("m.yaml:3: error: body 'a' has no path to the world")));
}

// A mistake that spoils nothing else hides nothing else, wherever it stands.
TEST(YamlErrors, HideNoOthers) {
  const std::string model = R"(catena: 1
bodies:
  a: {mass: -1, inertia: [1, 1, 1]}
  b: {mass: 1, inertia: [1, 1, 1]}
  c:
hinges:
  h: {type: revolute, parent: world, child: a, axis: [0, 0, 0], limits: [2, 1]}
  i: {type: revolute, parent: a, child: bb}
  j: {type: revolute, parent: a, child: c}
)";
  const auto others = {HasSubstr("m.yaml:3: error: body 'a': mass -1"),
                       HasSubstr("m.yaml:4: error: body 'b' has no path to the world"),
                       HasSubstr("m.yaml:7: error: hinge 'h': axis (0, 0, 0) is zero"),
                       HasSubstr("m.yaml:7: error: hinge 'h': lower limit 2"),
                       HasSubstr("m.yaml:8: error: hinge 'i': child 'bb' does not exist"),
                       HasSubstr("m.yaml:9: error: hinge 'j': freedom 'j' moves no inertia")};
  EXPECT_THAT(all_problems(model), testing::UnorderedElementsAreArray(others));
  for (const auto& [line, message] : {std::pair{"nonsense: 3", "unknown key 'nonsense'"},
                                      std::pair{"gravity: [0, 0]", "a list of 3 numbers"}}) {
    std::vector<testing::Matcher<std::string>> all(others.begin(), others.end());
    all.emplace_back(HasSubstr(message));
    EXPECT_THAT(all_problems(model + line + "\n"), testing::UnorderedElementsAreArray(all)) << line;
  }
}

TEST(YamlErrors, LocksThatAreLostHideNoOthers) {
  const std::string model = R"(catena: 1
bodies:
  a: {mass: -1, inertia: [1, 1, 1]}
  b:
hinges:
  h: {type: revolute, parent: world, child: a}
  i: {type: revolute, parent: a, child: b}
)";
  const auto mass = HasSubstr("m.yaml:3: error: body 'a': mass -1");
  // That b moves no inertia may follow from it.
  for (const char* lock : {"lock: {h99: 3}", "lock: [ii]", "lock: {i: abc}", "lock: i"})
    EXPECT_THAT(all_problems(model + lock + "\n"),
                ElementsAre(mass, HasSubstr("m.yaml:8: error: lock:")))
        << lock;
  EXPECT_THAT(all_problems(model), ElementsAre(mass, HasSubstr("freedom 'i' moves no inertia")));
}

TEST(YamlErrors, UnknownKeysOfAThingHideNoneOfItsMistakes) {
  EXPECT_THAT(all_problems(R"(catena: 1
bodies:
  a: {mass: -1, inertia: [1, 1, 1], colour: red}
  b:
hinges:
  h: {type: revolute, parent: world, child: a, colour: 3}
  i: {type: revolute, parent: a, child: b}
)"),
              ElementsAre(HasSubstr("m.yaml:3: error: body 'a': unknown key 'colour'"),
                          HasSubstr("m.yaml:3: error: body 'a': mass -1"),
                          HasSubstr("m.yaml:6: error: hinge 'h': unknown key 'colour'"),
                          HasSubstr("m.yaml:7: error: hinge 'i': freedom 'i' moves no inertia")));
}

// Nothing is told that only follows from another mistake.
TEST(YamlErrors, ConsequencesAreNotTold) {
  const std::string bodies = "catena: 1\nbodies:\n  a: {mass: 1, inertia: [1, 1, 1]}\n  b:\n";
  // No path for want of a hinge or a base; no inertia for want of a coupling or a mass.
  EXPECT_THAT(all_problems(bodies + "hinges:\n  h: {type: revolut, parent: world, child: a}\n"
                                    "  i: {type: revolute, parent: a}\n"),
              ElementsAre(HasSubstr("hinge 'h': type"), HasSubstr("hinge 'i': needs 'child:'")));
  EXPECT_THAT(all_problems(bodies + "base: fixd\n"),
              ElementsAre(HasSubstr("base: cannot be 'fixd'")));
  EXPECT_THAT(all_problems(bodies + "joints:\n  h: {type: revolute, parent: world, child: a}\n"),
              ElementsAre(HasSubstr("unknown key 'joints'")));
  const std::string hinges =
      "hinges:\n  h: {type: revolute, parent: world, child: a}\n"
      "  i: {type: revolute, parent: world, child: b}\n";
  EXPECT_THAT(
      all_problems(bodies + hinges + "couplings:\n  g: {follower: i, leader: h, ratio: no}\n"),
      ElementsAre(HasSubstr("coupling 'g': ratio")));
  EXPECT_THAT(all_problems("catena: 1\nbodies:\n  a: {mas: 1}\nhinges:\n"
                           "  h: {type: revolute, parent: world, child: a}\n"),
              ElementsAre(HasSubstr("unknown key 'mas'")));
  // A loop that is closed only because h is wrong and k's parent unknown.
  EXPECT_THAT(all_problems("catena: 1\nbodies: {a: &ball {mass: 1, inertia: [1, 1, 1]}, b: *ball}\n"
                           "hinges:\n  h: {type: revolute, parent: world, child: a, at: [1]}\n"
                           "  k: {type: revolute, parent: c, child: b}\n"
                           "couplings: {g: {terms: [{hinge: k, coefficient: 1}], constant: 1}}\n"),
              ElementsAre(HasSubstr("hinge 'h': at"), HasSubstr("hinge 'k': parent 'c'")));
  EXPECT_THAT(all_problems(bodies + "joints: [a]\n"),
              ElementsAre(HasSubstr("unknown key 'joints'")));
  EXPECT_THAT(all_problems(bodies + "root: fixed\n"), ElementsAre(HasSubstr("unknown key 'root'")));
  EXPECT_THAT(all_problems("catena: 1\nbodies:\n  a: {weight: 3, inertia: [1, 1, 1]}\nhinges:\n"
                           "  h: {type: revolute, parent: world, child: a}\n"),
              ElementsAre(HasSubstr("unknown key 'weight'")));
}

TEST(YamlErrors, Edits) {
  EXPECT_THAT(all_problems(R"(catena: 1
change: {bodies: {a: {mass: 1}}}
remove: {hinges: [h]}
lock: {i: 1}
)"),
              ElementsAre("m.yaml:2: error: change: bodies: no body in the files of 'from' and "
                          "'attach' is named 'a'",
                          "m.yaml:3: error: remove: hinges: no hinge in the files of 'from' and "
                          "'attach' is named 'h'",
                          "m.yaml:4: error: lock: no hinge is named 'i'"));
}

TEST(YamlErrors, LimitsWithoutEffectAreAWarning) {
  const Reading reading = read_yaml_text(
      "catena: 1\nbodies: {a: }\nhinges:\n"
      "  h: {type: spherical, parent: world, child: a, limits: [0, 1]}\n",
      "m.yaml");
  ASSERT_THAT(reading.diagnostics, SizeIs(1));
  EXPECT_EQ(reading.diagnostics[0].severity, Severity::warning);
  EXPECT_THAT(reading.diagnostics[0].text(), StartsWith("m.yaml:4: warning: hinge 'h': limits"));
}

class YamlFileErrors : public testing::Test {
 protected:
  std::vector<std::string> problems_of(const std::string& name) const {
    std::vector<std::string> texts;
    const std::string before = folder_.path("");
    for (const Diagnostic& d : read_yaml(folder_.path(name)).diagnostics)
      texts.push_back(d.text().substr(d.text().starts_with(before) ? before.size() : 0));
    return texts;
  }
  void write(const std::string& name, const std::string& text) const { folder_.write(name, text); }

  test::TemporaryFolder folder_;
};

TEST_F(YamlFileErrors, Unreadable) {
  EXPECT_THAT(problems_of("none.yaml"), ElementsAre("none.yaml: error: there is no such file"));
  std::filesystem::create_directory(folder_.path("folder.yaml"));
  EXPECT_THAT(problems_of("folder.yaml"),
              ElementsAre("folder.yaml: error: is a folder; give a file"));
  EXPECT_THAT(read_yaml("/dev/zero").diagnostics, SizeIs(1));
}

// Bodies that the file which starts from this one connects and loads.
TEST_F(YamlFileErrors, OfAPart) {
  write("part.yaml", "catena: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1], colour: 3}, b: }\n");
  write("whole.yaml",
        "catena: 1\nfrom: part.yaml\nhinges: {g: {type: revolute, parent: world, child: a},\n"
        "  h: {type: weld, parent: a, child: b}}\n");
  EXPECT_THAT(problems_of("whole.yaml"),
              ElementsAre(HasSubstr("part.yaml:2: error: body 'a': unknown key 'colour'"),
                          HasSubstr("whole.yaml:2: error: from: 'part.yaml' cannot be used")));
}

TEST_F(YamlFileErrors, CycleOfFrom) {
  write("a.yaml", "catena: 1\n\nfrom: b.yaml\n");
  write("b.yaml", "catena: 1\nattach: [{file: ./a.yaml}]\n");
  EXPECT_THAT(
      problems_of("a.yaml"),
      ElementsAre(
          "b.yaml:2: error: attach: 1: file: './a.yaml' leads back to itself; a file "
          "cannot contain itself",
          "a.yaml:3: error: from: 'b.yaml' cannot be used before its errors are corrected"));
  write("c.yaml", "catena: 1\nfrom: c.yaml\n");
  EXPECT_THAT(problems_of("c.yaml"), ElementsAre(HasSubstr("leads back to itself")));
}

TEST_F(YamlFileErrors, FilesThatAreWrongOrMissing) {
  write("a.yaml", "catena: 1\nfrom: none.yaml\nattach: [{prefix: x}, {file: none.urdf}]\n");
  EXPECT_THAT(problems_of("a.yaml"),
              ElementsAre("a.yaml:2: error: from: 'none.yaml': there is no such file",
                          "a.yaml:3: error: attach: 1: needs 'file:'",
                          "a.yaml:3: error: attach: 2: file: 'none.urdf': there is no such file"));
}

// Files that attach files that attach files ... would need 10^9 readings.
TEST_F(YamlFileErrors, FilesThatMultiply) {
  for (int i = 0; i < 9; ++i) {
    const std::string next = "{file: f" + std::to_string(i + 1) + ".yaml}";
    write("f" + std::to_string(i) + ".yaml",
          "catena: 1\nattach: [" + repeated(next + ", ", 9) + next + "]\n");
  }
  write("f9.yaml", "catena: 1\n");
  EXPECT_THAT(problems_of("f0.yaml").front(), HasSubstr("more than 1000 files are needed"));
}

TEST(YamlAttacks, DeepNesting) {
  constexpr int kLevels = 200'000;
  for (const std::string level : {"[", "{a: ", "- ", "? ", "[\n", "{", "[{a: ", "- - ? "}) {
    const std::vector<std::string> found =
        all_problems("catena: 1\nname:\n  " + repeated(level, kLevels));
    ASSERT_THAT(found, SizeIs(1)) << level;
    EXPECT_THAT(found[0], HasSubstr("nested more than 64 levels deep")) << level;
  }
  std::string stairs = "catena: 1\nbodies:\n";
  for (int i = 1; i < 1000; ++i) stairs += std::string(to_size(i), ' ') + "a:\n";
  EXPECT_THAT(all_problems(stairs),
              ElementsAre(HasSubstr("m.yaml:66: error: nested more than 64")));
}

TEST(YamlAttacks, AliasBombs) {
  std::string bomb = "catena: 1\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" +
            repeated(alias + ", ", 9) + alias + "]\n";
  }
  EXPECT_THAT(all_problems(bomb), ElementsAre(HasSubstr("aliases expand to more than")));
  // One level, but wide: every body with the same ten thousand shapes.
  std::string wide = "catena: 1\nbodies:\n  a:\n    visuals: &v\n";
  wide += repeated("      - {shape: sphere, radius: 1}\n", 10'000);
  for (int i = 0; i < 1000; ++i) wide += "  b" + std::to_string(i) + ": {visuals: *v}\n";
  EXPECT_THAT(all_problems(wide), ElementsAre(HasSubstr("aliases expand to more than")));
  EXPECT_THAT(all_problems("catena: 1\nbodies: &a\n  x: *a\n"),
              ElementsAre("m.yaml:3: error: an alias refers to the thing that it is part of"));
}

}  // namespace
}  // namespace catena
