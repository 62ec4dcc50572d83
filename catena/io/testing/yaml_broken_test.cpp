// SPDX-License-Identifier: BSD-3-Clause
// Broken YAML files: each mistake gets a message with file, line, name and remedy, and no crash.
// yaml_error_test.cpp has the exact words of many; this one has the breadth.
#include <gtest/gtest.h>

#include "catena/io/testing/broken_files.h"

namespace catena {
namespace {

const std::string kSound = R"(catena: 1
name: arm
gravity: [0, 0, -9.81]
bodies:
  upper:
    mass: 4.5
    center_of_mass: [0, 0, 0.2]
    inertia: [0.11, 0.12, 0.13]
    inertia_axes: {rpy: [0, 0, pi/4]}
    visuals:
      - {shape: box, size: [0.1, 0.2, 0.3], colour: [1, 0, 0]}
      - {shape: cylinder, radius: 0.05, length: 0.4}
  lower: {mass: 2.5, inertia: {xx: 0.21, yy: 0.22, zz: 0.23, xy: 0.01}}
  wheel: {mass: 1.5, inertia: [0.31, 0.32, 0.33]}
hinges:
  shoulder:
    type: universal
    parent: world
    child: upper
    axes: [x, y]
    freedoms:
      - {limits: [-0.5, 0.6], damping: 0.1}
      - {limits: [-1, 2]}
    initial_position: [0, 0.3]
  elbow:
    type: revolute
    parent: upper
    child: lower
    axis: y
    at: {xyz: [0, 0, 0.6], rpy: [0, 0.8, 0]}
    limits: [-1.5, 2.25]
    velocity_limit: 8
    effort_limit: 30
    friction: {sliding: 0.3, breakaway: 0.4}
    drive: {rotor_inertia: 1e-4, gear_ratio: 50}
  axle: {type: revolute, parent: lower, child: wheel, at: [0, 0, 1]}
frames:
  tip: {body: lower, pose: [0, 0, 0.5]}
rods:
  stay: {body_a: upper, point_a: [0.1, 0, 0], body_b: wheel, length: 1.7}
couplings:
  gear: {follower: axle, leader: elbow, ratio: -2.5, offset: 0.1}
springs:
  coil: {body_a: world, point_a: [1, 0, 0], body_b: lower, stiffness: 100, rest_length: 0.5}
)";

// From a place in the sound file to its end.
std::string from(const std::string& place) { return kSound.substr(kSound.find(place)); }

TEST(BrokenYaml, TextThatIsNoYaml) {
  expect_messages(
      kSound, ".yaml",
      {{"empty file", "", "", "is empty; a model starts with `catena: 1`"},
       {"comment alone", "", "# a model\n", "is empty"},
       {"words", "", "just words\n", "a map that starts with `catena: 1`"},
       {"list", "", "- 1\n- 2\n", "a map that starts with `catena: 1`"},
       {"URDF", "", "<robot name='r'>\n<link name='a'/>\n</robot>\n", "catena: 1"},
       {"binary", "",
        std::string("\x7f"
                    "ELF\x02\x01\x01\0\0\0\0\0",
                    12),
        "plain UTF-8 text"},
       {"zero byte", "arm", std::string("ar\0m", 4), "control character"},
       {"UTF-16", "",
        std::string("\xff\xfe"
                    "c\0a\0t\0",
                    8),
        "UTF-16"},
       {"byte that is not UTF-8", "name: arm", "name: \xe4rm", "not UTF-8"},
       {"control character", "name: arm", "name: a\x01rm", "control character"},
       {"truncated in a list", from("0.6], rpy"), "0.6", "malformed YAML"},
       {"truncated in a text", "name: arm", "name: \"arm", "malformed YAML", 42},
       {"bracket never closed", "axes: [x, y]", "axes: [x, y", "malformed YAML", 1},
       {"brace never closed", "zz: 0.23, xy: 0.01}}", "zz: 0.23, xy: 0.01}", "malformed YAML", 1},
       {"closed by the wrong bracket", "axes: [x, y]", "axes: [x, y}", "malformed YAML"},
       {"indented by a tab", "    mass: 4.5", "\tmass: 4.5", "not with tabs"},
       {"indented less", "    mass: 4.5", "   mass: 4.5", "malformed YAML", 1},
       {"colon without a space", "parent: upper", "parent:upper", "malformed YAML", 1},
       {"unknown alias", "mass: 4.5", "mass: *m", "anchor is not defined"},
       {"tag", "mass: 4.5", "mass: !!float 4.5", "tag <tag:yaml.org,2002:float>"},
       {"two documents", "frames:", "---\nframes:", "a second document"},
       {"list as a key", "frames:", "[frames]:", "not a text"},
       {"200,000 lists", "name: arm", "name: " + repeated("[", 200'000) + repeated("]", 200'000),
        "nested more than 64"},
       {"200,000 maps", "name: arm", "name: " + repeated("{a: ", 200'000), "nested more than 64"},
       {"200,000 dashes", "name: arm", "name:\n  " + repeated("- ", 200'000), "nested more than 64",
        1}});
}

TEST(BrokenYaml, Keys) {
  expect_messages(
      kSound, ".yaml",
      {{"no version", "catena: 1\n", "", "start the file with `catena: 1`"},
       {"unknown version", "catena: 1", "catena: 2", "version 2 of the format is not known"},
       {"version is a word", "catena: 1", "catena: one", "needs a whole number, not 'one'"},
       {"misspelt version", "catena: 1", "cantena: 1", "start the file with `catena: 1`"},
       {"misspelt gravity", "gravity:", "gravty:", "did you mean 'gravity'?"},
       {"misspelt bodies", "bodies:", "boddies:", "did you mean 'bodies'?"},
       {"misspelt hinges", "hinges:", "hingse:", "did you mean 'hinges'?"},
       {"joints of URDF", "hinges:", "joints:", "unknown key 'joints'"},
       {"misspelt frames", "frames:", "frame:", "did you mean 'frames'?"},
       {"misspelt rods", "rods:", "rod:", "did you mean 'rods'?"},
       {"misspelt couplings", "couplings:", "coupling:", "did you mean 'couplings'?"},
       {"misspelt springs", "springs:", "sprigs:", "did you mean 'springs'?"},
       {"misspelt mass", "mass: 4.5", "mas: 4.5", "body 'upper': unknown key 'mas'"},
       {"misspelt center_of_mass",
        "center_of_mass:", "centre_of_mass:", "did you mean 'center_of_mass'?"},
       {"misspelt inertia", "inertia: [0.11", "inertai: [0.11", "did you mean 'inertia'?"},
       {"misspelt element of the inertia", "xy: 0.01", "yx: 0.01", "unknown key 'yx'"},
       {"misspelt shape", "shape: box", "shape: bax", "did you mean 'box'?"},
       {"misspelt type", "type: revolute\n", "tpye: revolute\n", "did you mean 'type'?"},
       {"misspelt hinge type", "type: revolute\n", "type: revolut\n", "did you mean 'revolute'?"},
       {"type of URDF", "type: revolute\n", "type: continuous\n", "cannot be 'continuous'"},
       {"misspelt parent", "parent: upper", "perent: upper", "did you mean 'parent'?"},
       {"misspelt limits", "limits: [-1.5", "limit: [-1.5", "did you mean 'limits'?"},
       {"misspelt xyz", "xyz: [0, 0, 0.6]", "xzy: [0, 0, 0.6]", "did you mean 'xyz'?"},
       {"misspelt sliding", "sliding: 0.3", "slidng: 0.3", "did you mean 'sliding'?"},
       {"misspelt gear_ratio", "gear_ratio: 50", "gear_ration: 50", "did you mean 'gear_ratio'?"},
       {"misspelt follower", "follower: axle", "folower: axle", "did you mean 'follower'?"},
       {"misspelt length", "length: 1.7", "lenght: 1.7", "did you mean 'length'?"},
       {"misspelt stiffness", "stiffness: 100", "stifness: 100", "did you mean 'stiffness'?"},
       {"key twice", "    effort_limit: 30\n", "    effort_limit: 30\n    effort_limit: 31\n",
        "'effort_limit' is given twice", 1},
       {"hinge without a type", "    type: revolute\n", "", "hinge 'elbow': needs 'type:'", -1},
       {"hinge without a parent", "    parent: upper\n", "", "hinge 'elbow': needs 'parent:'", -2},
       {"hinge without a child", "    child: lower\n", "", "hinge 'elbow': needs 'child:'", -3},
       {"rod without a length", ", length: 1.7", "", "rod 'stay': needs 'length:'"},
       {"rod without a body", ", body_b: wheel", "", "rod 'stay': needs 'body_b:'"},
       {"coupling without a leader", "leader: elbow, ", "", "coupling 'gear'"},
       {"frame without a body", "body: lower, pose: [0", "pose: [0", "frame 'tip': needs 'body:'"},
       {"custom hinge", "type: revolute\n", "type: custom\n", "custom hinges are code"},
       {"cut is neither", "    effort_limit: 30\n", "    cut: maybe\n", "cut: cannot be 'maybe'"},
       {"base is neither", "name: arm", "base: floating", "base: cannot be 'floating'"},
       {"axis and axes", "    axis: y\n", "    axis: y\n    axes: [x]\n", "give one of them", -3},
       {"at and frame_on_parent", "    axis: y\n", "    frame_on_parent: [0, 0, 1]\n",
        "'at' is the frame on the parent", 1},
       {"damping of a weld", "type: revolute\n", "type: weld\n", "a weld has no freedoms"}});
}

TEST(BrokenYaml, Names) {
  expect_messages(
      kSound, ".yaml",
      {{"unknown parent", "parent: upper", "parent: uper",
        "hinge 'elbow': parent 'uper' does not exist; did you mean 'upper'?", -2},
       {"unknown child", "child: lower\n", "child: lowre\n",
        "hinge 'elbow': child 'lowre' does not exist; did you mean 'lower'?", -3},
       {"child is the world", "child: lower\n", "child: world\n", "body 'lower'", -15},
       {"joint to itself", "child: lower\n", "child: upper\n", "the same body 'upper'", -3},
       {"two bodies of one name", "  wheel: {", "  lower: {", "'lower' is given twice"},
       {"two hinges of one name", "  axle: {", "  elbow: {", "'elbow' is given twice"},
       {"body named world", "  wheel: {", "  world: {mass: 1}\n  wheel: {",
        "body 'world' is the ground"},
       {"body without a path to the world", "  wheel: {", "  lost: {mass: 1}\n  wheel: {",
        "body 'lost' has no path to the world"},
       {"frame on an unknown body", "body: lower, pose: [0", "body: lowr, pose: [0",
        "frame 'tip': body 'lowr' does not exist; did you mean 'lower'?"},
       {"rod on an unknown body", "body_b: wheel", "body_b: whel",
        "rod 'stay': body 'whel' does not exist"},
       {"rod with both ends on one body", "body_b: wheel", "body_b: upper",
        "both of its ends are on body 'upper'"},
       {"spring on an unknown body", "body_b: lower, stiffness", "body_b: lowr, stiffness",
        "spring 'coil': body 'lowr' does not exist"},
       {"gear of an unknown hinge", "leader: elbow", "leader: elbwo",
        "coupling 'gear': hinge 'elbwo' does not exist; did you mean 'elbow'?"},
       {"gear of a hinge with itself", "leader: elbow", "leader: axle", "'axle' occurs twice"},
       {"drive on an unknown carrier", "gear_ratio: 50", "gear_ratio: 50, carrier: uper",
        "carrier 'uper' does not exist", -10},
       {"change of an unknown body",
        "frames:", "change: {bodies: {a: {mass: 1}}}\nframes:", "is named 'a'"},
       {"removal of an unknown hinge", "frames:", "remove: {hinges: [a]}\nframes:", "is named 'a'"},
       {"lock of an unknown hinge", "frames:", "lock: [elbo]\nframes:", "'elbo'"},
       {"gear of a locked hinge", "frames:", "lock: [elbow]\nframes:", "'elbow' is locked", 6},
       {"from a file that is not there", "name: arm", "from: nowhere.urdf",
        "'nowhere.urdf': there is no such file"},
       {"from itself", "name: arm", "from: broken.yaml", "leads back to itself"},
       {"attached to itself", "name: arm", "attach: [{file: broken.yaml}]", "leads back to itself"},
       {"attachment without a file", "name: arm", "attach: [{prefix: a}]", "needs 'file:'"}});
}

TEST(BrokenYaml, Numbers) {
  expect_messages(
      kSound, ".yaml",
      {{"zero axis", "axis: y", "axis: [0, 0, 0]", "hinge 'elbow': axis (0, 0, 0) is zero", -4},
       {"axis of two numbers", "axis: y", "axis: [0, 1]", "hinge 'elbow': axis"},
       {"axis by a wrong letter", "axis: y", "axis: w", "needs three numbers, or x, y"},
       {"axis NaN", "axis: y", "axis: [.nan, 0, 1]", "hinge 'elbow': axis"},
       {"parallel axes", "axes: [x, y]", "axes: [x, -x]", "axes 1 and 2 are parallel", -4},
       {"one axis too few", "axes: [x, y]", "axes: [x]", "takes 2 axes, not 1", -4},
       {"three settings for two freedoms", "- {limits: [-1, 2]}",
        "- {limits: [-1, 2]}\n      - {damping: 1}", "3 maps, but a universal hinge has 2", -1},
       {"limits reversed", "limits: [-1.5, 2.25]", "limits: [2.25, -1.5]",
        "hinge 'elbow': lower limit 2.25 is above upper limit -1.5; swap them", -6},
       {"limits of one number", "limits: [-1.5, 2.25]", "limits: [1.5]",
        "needs a list of 2 numbers"},
       {"limits NaN", "limits: [-1.5, 2.25]", "limits: [.nan, 1]", "limits"},
       {"negative velocity limit", "velocity_limit: 8", "velocity_limit: -8",
        "velocity limit -8 must not be negative", -7},
       {"negative effort limit", "effort_limit: 30", "effort_limit: -30",
        "effort limit -30 must not be negative", -8},
       {"negative damping", "damping: 0.1", "damping: -0.1", "damping -0.1 must not be", -6},
       {"breakaway below sliding", "breakaway: 0.4", "breakaway: 0.2",
        "breakaway friction 0.2 is below sliding friction 0.3", -9},
       {"negative rotor inertia", "rotor_inertia: 1e-4", "rotor_inertia: -1",
        "rotor inertia -1 must not be negative", -10},
       {"gear ratio zero", "gear_ratio: 50", "gear_ratio: 0", "gear ratio 0", -10},
       {"initial position of three numbers", "initial_position: [0, 0.3]",
        "initial_position: [0, 0, 0]", "hinge 'shoulder'", -8},
       {"negative mass", "mass: 4.5", "mass: -4.5", "mass -4.5 must not be negative", -1},
       {"mass is a word", "mass: 4.5", "mass: heavy", "needs a number, not 'heavy'"},
       {"mass in units", "mass: 4.5", "mass: 4.5 kg", "needs a number, not '4.5 kg'"},
       {"mass with a decimal comma", "mass: 4.5", "mass: 4,5",
        "not '4,5'; the decimal sign is a point"},
       {"mass with its unit", "mass: 4.5", "mass: \"4.5 kg\"", "and stand alone"},
       {"mass NaN", "mass: 4.5", "mass: .nan", "body 'upper': mass"},
       {"mass infinite", "mass: 4.5", "mass: .inf", "needs a finite number"},
       {"mass too large", "mass: 4.5", "mass: 1e999", "needs a finite number"},
       {"mass by an unknown constant", "mass: 4.5", "mass: 2*tau", "needs a number"},
       {"mass is a list", "mass: 4.5", "mass: [4.5]", "needs a number, not a list of 1"},
       {"empty mass", "mass: 4.5", "mass:", "body 'upper': mass"},
       {"inertia of two numbers", "inertia: [0.11, 0.12, 0.13]", "inertia: [0.11, 0.12]",
        "body 'upper': inertia"},
       {"inertia without zz", "zz: 0.23, xy: 0.01", "xy: 0.01", "body 'lower': inertia"},
       {"inertia against the triangle inequality", "inertia: [0.11, 0.12, 0.13]",
        "inertia: [0.11, 0.12, 0.9]", "triangle inequality", -3},
       {"negative inertia", "inertia: [0.11, 0.12, 0.13]", "inertia: [-0.11, 0.12, 0.13]",
        "must not be negative", -3},
       {"inertia without mass", "mass: 4.5", "mass: 0", "it has an inertia but no mass", -1},
       {"hinge without inertia", "  wheel: {mass: 1.5, inertia: [0.31, 0.32, 0.33]}\nhinges:\n",
        "  wheel: {mass: 1.5, inertia: [0.31, 0.32, 0.33]}\n  ghost:\nhinges:\n"
        "  hook: {type: revolute, parent: world, child: ghost}\n",
        "hinge 'hook': freedom 'hook' moves no inertia; give body 'ghost' mass", 3},
       {"gravity of one number", "gravity: [0, 0, -9.81]", "gravity: -9.81",
        "needs a list of 3 numbers"},
       {"position of two numbers", "xyz: [0, 0, 0.6]", "xyz: [0, 0.6]",
        "needs a list of 3 numbers"},
       {"two rotations", "rpy: [0, 0.8, 0]", "rpy: [0, 0.8, 0], quaternion: [1, 0, 0, 0]",
        "rpy, quaternion and rotation say"},
       {"quaternion of the wrong length", "rpy: [0, 0.8, 0]", "quaternion: [1, 1, 0, 0]",
        "needs length"},
       {"matrix that is no rotation", "rpy: [0, 0.8, 0]",
        "rotation: [[1, 0, 0], [0, 1, 0], [0, 0, 2]]", "is not a rotation"},
       {"box without a size", "size: [0.1, 0.2, 0.3], ", "", "visuals: 1"},
       {"cylinder without a length", ", length: 0.4", "", "visuals: 2"},
       {"colour of two numbers", "colour: [1, 0, 0]", "colour: [1, 0]", "visuals: 1: colour"},
       {"colour by name", "colour: [1, 0, 0]", "colour: red", "visuals: 1: colour"},
       {"rod of length zero", "length: 1.7", "length: 0", "rod 'stay': length 0 must be positive"},
       {"negative spring", "stiffness: 100", "stiffness: -100", "stiffness -100 must not be"},
       {"gear ratio is a word", "ratio: -2.5", "ratio: two", "ratio: needs a number, not 'two'"},
       {"hinge is a number", "axle: {type: revolute, parent: lower, child: wheel, at: [0, 0, 1]}",
        "axle: 5", "hinge 'axle': needs a map"},
       {"bodies are a list", "bodies:\n  upper:\n", "bodies:\n  - upper:\n", "malformed YAML", 9}});
}

}  // namespace
}  // namespace catena
