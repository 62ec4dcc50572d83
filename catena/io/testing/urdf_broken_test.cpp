// SPDX-License-Identifier: BSD-3-Clause
// Broken URDF files: each mistake gets a message with file, line, name and remedy, and no crash.
#include <gtest/gtest.h>

#include "catena/io/testing/broken_files.h"

namespace catena {
namespace {

const std::string kSound = R"(<?xml version="1.0"?>
<robot name="arm">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.15" rpy="0.1 0 0"/>
      <mass value="4.5"/>
      <inertia ixx="0.11" ixy="0" ixz="0" iyy="0.12" iyz="0" izz="0.13"/>
    </inertial>
    <visual name="tube">
      <origin xyz="0 0 0.3" rpy="0 0 0.2"/>
      <geometry><cylinder radius="0.05" length="0.31"/></geometry>
      <material name="red"/>
    </visual>
    <visual name="knob">
      <geometry><sphere radius="0.06"/></geometry>
      <material name="green"><color rgba="0 1 0 1"/></material>
    </visual>
    <visual name="case">
      <geometry><box size="0.1 0.2 0.3"/></geometry>
    </visual>
    <collision name="hull"><geometry><box size="1 1 1"/></geometry></collision>
  </link>
  <link name="lower">
    <inertial>
      <mass value="2.5"/>
      <inertia ixx="0.21" ixy="0" ixz="0" iyy="0.22" iyz="0" izz="0.23"/>
    </inertial>
  </link>
  <link name="slide">
    <inertial>
      <mass value="1.5"/>
      <inertia ixx="0.31" ixy="0" ixz="0" iyy="0.32" iyz="0" izz="0.33"/>
    </inertial>
  </link>
  <joint name="shoulder" type="continuous">
    <origin xyz="0 0 1" rpy="0 0 0.7"/>
    <parent link="base"/>
    <child link="upper"/>
    <axis xyz="0 1 0"/>
    <dynamics damping="0.4" friction="0.5"/>
  </joint>
  <joint name="elbow" type="revolute">
    <origin xyz="0 0 0.6" rpy="0 0.8 0"/>
    <parent link="upper"/>
    <child link="lower"/>
    <axis xyz="1 0 0"/>
    <limit lower="-1.5" upper="2.25" effort="30" velocity="8"/>
  </joint>
  <joint name="reach" type="prismatic">
    <parent link="lower"/>
    <child link="slide"/>
    <axis xyz="0 0 2"/>
    <limit lower="0" upper="0.5" effort="31" velocity="9"/>
    <mimic joint="elbow" multiplier="0.05" offset="0.01"/>
  </joint>
</robot>
)";

std::string only(const std::string& inside) { return "<robot name='r'>\n" + inside + "</robot>\n"; }

// From a place in the sound file to its end.
std::string from(const std::string& place) { return kSound.substr(kSound.find(place)); }

TEST(BrokenUrdf, TextThatIsNoXml) {
  expect_messages(
      kSound, ".urdf",
      {{"empty file", "", "", "no element in it"},
       {"white space alone", "", " \n\t\n", "no element in it"},
       {"declaration alone", "", "<?xml version='1.0'?>\n", "no element in it"},
       {"comment alone", "", "<!-- robot -->\n", "no element in it"},
       {"words", "", "just words\n", "malformed XML"},
       {"JSON", "", "{\"robot\": {\"name\": \"arm\"}}\n", "malformed XML"},
       {"YAML", "", "catena: 1\nbodies: {}\n", "malformed XML"},
       {"binary", "",
        std::string("\x7f"
                    "ELF\x02\x01\x01\0\0\0\0\0",
                    12),
        "plain UTF-8 text"},
       {"zero byte", "arm", std::string("ar\0m", 4), "control character"},
       {"UTF-16", "", std::string("\xff\xfe<\0r\0o\0b\0o\0t\0/\0>\0", 18), "UTF-16"},
       {"control character", "name=\"upper\"",
        "name=\"upp\x01"
        "er\"",
        "control character"},
       {"truncated in a tag", from("<axis xyz=\"1 0 0\"/>"), "<axis xyz", "malformed XML"},
       {"truncated in a value", from("-1.5"), "-1", "malformed XML"},
       {"truncated between tags", from("<joint name=\"elbow\""), "", "cut off", -42},
       {"truncated in a comment", from("<joint name=\"elbow\""), "<!-- elbow", "--"},
       {"tag never closed", "</inertial>\n    <visual name=\"tube\">", "<visual name=\"tube\">",
        "<inertial>, opened here, is not closed", -4},
       {"tag closed by another name", "</robot>", "</robto>", "<robot>, opened here, is not closed",
        -56},
       {"value without quotes", "type=\"continuous\"", "type=continuous", "name=\"value\""},
       {"value with one quote", "type=\"continuous\"", "type=\"continuous", "malformed XML"},
       {"attribute without a value", "type=\"continuous\"", "type", "name=\"value\""},
       {"comment never closed", "<link name=\"base\"/>", "<!-- <link name=\"base\"/>", "-->"},
       {"stray <", "<link name=\"base\"/>", "< <link name=\"base\"/>", "malformed XML"},
       {"two roots", "</robot>\n", "</robot>\n<robot name='b'/>\n", "a second root element <robot>",
        1},
       {"text after the root", "</robot>\n", "</robot>\nend\n", "text that no tag follows", 1},
       {"200,000 nested tags", "", repeated("<link>", 200'000), "nested more than"},
       {"200,000 nested tags, closed", "",
        only(repeated("<a>", 200'000) + repeated("</a>", 200'000)), "nested more than", 1},
       {"200,000 open tags without end", "", repeated("<a b='", 200'000), "malformed XML"}});
}

TEST(BrokenUrdf, Words) {
  expect_messages(
      kSound, ".urdf",
      {{"root of SDF", "", "<sdf version='1.9'/>\n", "a URDF file has <robot"},
       {"root of another kind", "", "<mujoco/>\n", "the root element is <mujoco>"},
       {"no link", "", only(""), "the robot has no <link>"},
       {"template of xacro", "", only("<xacro:arm name='a'/>\n"), "run xacro on it"},
       {"misspelt link", "<link name=\"base\"/>", "<lnik name=\"base\"/>", "did you mean <link>?"},
       {"misspelt joint", "<joint name=\"shoulder\" type=\"continuous\">",
        "<joint name=\"s\" type=\"fixed\"><parent link=\"base\"/><child link=\"upper\"/></joint>\n"
        "<jiont name=\"shoulder\"></jiont><joint name=\"shoulder\" type=\"continuous\">",
        "did you mean <joint>?", 1},
       {"misspelt inertial", "<inertial>\n      <mass value=\"2.5\"/>",
        "<inertal/><inertial>\n<mass value=\"2.5\"/>", "<inertal> in link 'lower'"},
       {"misspelt origin", "<origin xyz=\"0 0 0.6\"", "<orgin xyz=\"0 0 0.6\"",
        "did you mean <origin>?"},
       {"misspelt parent", "<parent link=\"upper\"/>", "<perent link=\"upper\"/>",
        "did you mean <parent>?"},
       {"misspelt child", "<child link=\"lower\"/>", "<chlid link=\"lower\"/>",
        "did you mean <child>?"},
       {"misspelt axis", "<axis xyz=\"1 0 0\"/>", "<axsi xyz=\"1 0 0\"/>", "did you mean <axis>?"},
       {"misspelt limit", "<limit lower=\"0\"", "<limits lower=\"0\"", "did you mean <limit>?"},
       {"misspelt dynamics", "<dynamics", "<dynamic", "did you mean <dynamics>?"},
       {"misspelt mimic", "<mimic", "<mimik", "did you mean <mimic>?"},
       {"tag in capitals", "<axis xyz=\"1 0 0\"/>", "<Axis xyz=\"1 0 0\"/>",
        "did you mean <axis>?"},
       {"misspelt mass", "<mass value=\"2.5\"/>", "<mas value=\"2.5\"/>", "did you mean <mass>?"},
       {"misspelt inertia", "<inertia ixx=\"0.21\"", "<inertai ixx=\"0.21\"",
        "did you mean <inertia>?"},
       {"misspelt visual",
        "<visual name=\"case\">\n      <geometry><box size=\"0.1 0.2 0.3\"/>"
        "</geometry>\n    </visual>",
        "<visul name=\"case\"/>", "did you mean <visual>?"},
       {"misspelt geometry", "<geometry><sphere radius=\"0.06\"/></geometry>",
        "<geometri><sphere radius=\"0.06\"/></geometri>", "did you mean <geometry>?"},
       {"misspelt shape", "<sphere radius=\"0.06\"/>", "<spere radius=\"0.06\"/>",
        "did you mean <sphere>?"},
       {"misspelt colour", "<color rgba=\"0 1 0 1\"/>", "<colour rgba=\"0 1 0 1\"/>",
        "did you mean <color>?"},
       {"misspelt attribute type", "type=\"continuous\"", "tpye=\"continuous\"",
        "did you mean 'type'?"},
       {"misspelt attribute xyz", "xyz=\"0 0 0.6\"", "xzy=\"0 0 0.6\"", "did you mean 'xyz'?"},
       {"misspelt attribute rpy", "rpy=\"0 0.8 0\"", "ryp=\"0 0.8 0\"", "did you mean 'rpy'?"},
       {"misspelt attribute value", "value=\"2.5\"", "vale=\"2.5\"", "did you mean 'value'?"},
       {"misspelt attribute ixx", "ixx=\"0.21\"", "ixxx=\"0.21\"", "did you mean"},
       {"misspelt attribute lower", "lower=\"-1.5\"", "lowr=\"-1.5\"", "did you mean 'lower'?"},
       {"misspelt attribute upper", "upper=\"2.25\"", "uper=\"2.25\"", "did you mean 'upper'?"},
       {"misspelt attribute effort", "effort=\"30\"", "efort=\"30\"", "did you mean 'effort'?"},
       {"misspelt attribute damping", "damping=\"0.4\"", "dampening=\"0.4\"",
        "did you mean 'damping'?"},
       {"misspelt attribute multiplier", "multiplier", "multiplyer", "did you mean 'multiplier'?"},
       {"attribute twice", "<mass value=\"2.5\"/>", "<mass value=\"2.5\" value=\"3\"/>",
        "<mass>: an attribute must"},
       {"link without a name", "<link name=\"base\"/>", "<link/>", "<link> has no name"},
       {"link with an empty name", "<link name=\"base\"/>", "<link name=\" \"/>",
        "<link> has no name"},
       {"joint without a name", "<joint name=\"reach\" ", "<joint ", "<joint> has no name"},
       {"joint without a type", " type=\"prismatic\"", "", "joint 'reach' has no type"},
       {"unknown type", "type=\"prismatic\"", "type=\"prismatik\"", "did you mean 'prismatic'?"},
       {"type of SDF", "type=\"prismatic\"", "type=\"ball\"", "URDF has revolute"},
       {"type in capitals", "type=\"prismatic\"", "type=\"Prismatic\"", "'Prismatic'"}});
}

TEST(BrokenUrdf, Names) {
  expect_messages(
      kSound, ".urdf",
      {{"unknown parent", "<parent link=\"upper\"/>", "<parent link=\"uper\"/>",
        "joint 'elbow': parent link 'uper' does not exist; did you mean 'upper'?"},
       {"unknown child", "<child link=\"lower\"/>", "<child link=\"lowre\"/>",
        "joint 'elbow': child link 'lowre' does not exist; did you mean 'lower'?"},
       {"empty parent", "<parent link=\"upper\"/>", "<parent link=\"\"/>", "joint 'elbow'"},
       {"no parent", "<parent link=\"upper\"/>", "", "joint 'elbow' has no <parent", -2},
       {"no child", "<child link=\"lower\"/>", "", "joint 'elbow' has no <child", -3},
       {"parent without a link", "<parent link=\"upper\"/>", "<parent/>",
        "joint 'elbow' has no <parent link"},
       {"parent as text", "<parent link=\"upper\"/>", "<parent>upper</parent>",
        "joint 'elbow' has no <parent link"},
       {"joint to itself", "<child link=\"lower\"/>", "<child link=\"upper\"/>",
        "the same link 'upper'", -3},
       {"two links of one name", "<link name=\"slide\">", "<link name=\"lower\">",
        "link 'lower' is defined twice (first in line 25)"},
       {"two joints of one name", "<joint name=\"reach\"", "<joint name=\"elbow\"",
        "joint 'elbow' is defined twice (first in line 44)"},
       {"mimic of an unknown joint", "joint=\"elbow\"", "joint=\"elbwo\"",
        "joint 'elbwo' does not exist; did you mean 'elbow'?"},
       {"mimic of itself", "joint=\"elbow\"", "joint=\"reach\"", "mimics itself"},
       {"mimic without a joint", " joint=\"elbow\"", "", "has no attribute 'joint'"},
       {"mimic of a link", "joint=\"elbow\"", "joint=\"upper\"", "joint 'upper' does not exist"},
       {"mimic of a fixed joint", "<joint name=\"elbow\" type=\"revolute\">",
        "<joint name=\"elbow\" type=\"fixed\">", "'elbow' is locked or a weld", 12},
       {"two mimics that follow each other", "<limit lower=\"-1.5\"",
        "<mimic joint=\"reach\"/><limit lower=\"-1.5\"",
        "leads back to the joint itself by way of 'reach'; break the circle"},
       {"link without a joint", "<link name=\"base\"/>",
        "<link name=\"base\"/><link name=\"lost\"/>",
        "link 'lost' has no path to 'base'; add a joint"},
       {"link without a joint beside the world", "<link name=\"base\"/>",
        "<link name=\"world\"/><link name=\"base\"/><joint name=\"j\" type=\"fixed\"><parent "
        "link=\"world\"/><child link=\"base\"/></joint><link name=\"lost\"/>",
        "link 'lost' has no path to 'world'"},
       {"two links in a circle without a root", "<link name=\"base\"/>",
        "<link name=\"base\"/><link name=\"p\"/><link name=\"q\"/><joint name=\"pq\" "
        "type=\"fixed\">"
        "<parent link=\"p\"/><child link=\"q\"/></joint><joint name=\"qp\" type=\"fixed\"><parent "
        "link=\"q\"/><child link=\"p\"/></joint>",
        "link 'p' has no path to 'base'"}});
}

TEST(BrokenUrdf, Numbers) {
  expect_messages(
      kSound, ".urdf",
      {{"zero axis", "xyz=\"1 0 0\"", "xyz=\"0 0 0\"", "<axis> of joint 'elbow' is zero"},
       {"tiny axis", "xyz=\"1 0 0\"", "xyz=\"1e-30 0 0\"", "<axis> of joint 'elbow' is zero"},
       {"axis of two numbers", "xyz=\"1 0 0\"", "xyz=\"1 0\"", "has 2 numbers, but 3 are needed"},
       {"axis of four numbers", "xyz=\"1 0 0\"", "xyz=\"1 0 0 0\"",
        "has 4 numbers, but 3 are needed"},
       {"empty axis", "xyz=\"1 0 0\"", "xyz=\"\"", "is empty, but 3 numbers are needed"},
       {"axis with commas", "xyz=\"1 0 0\"", "xyz=\"1, 0, 0\"", "separate numbers by spaces"},
       {"axis by letter", "xyz=\"1 0 0\"", "xyz=\"x\"", "'x' is not a number"},
       {"axis NaN", "xyz=\"1 0 0\"", "xyz=\"nan 0 0\"", "'nan' is not a finite number"},
       {"axis infinite", "xyz=\"1 0 0\"", "xyz=\"inf 0 0\"", "'inf' is not a finite number"},
       {"origin of two numbers", "xyz=\"0 0 0.6\"", "xyz=\"0 0.6\"",
        "<origin> of joint 'elbow', attribute 'xyz': '0 0.6' has 2 numbers"},
       {"origin not finite", "xyz=\"0 0 0.6\"", "xyz=\"0 0 -inf\"", "'-inf' is not a finite"},
       {"rotation as quaternion", "rpy=\"0 0.8 0\"", "rpy=\"0 0 0 1\"", "has 4 numbers"},
       {"rotation in units", "rpy=\"0 0.8 0\"", "rpy=\"0 45deg 0\"", "'45deg' is not a number"},
       {"rotation by an expression", "rpy=\"0 0.8 0\"", "rpy=\"0 ${pi/2} 0\"",
        "'${pi/2}' is not a number"},
       {"origin of a visual", "xyz=\"0 0 0.3\"", "xyz=\"0 0 z\"", "visual 'tube'"},
       {"negative mass", "value=\"2.5\"", "value=\"-2.5\"",
        "<mass> of link 'lower': mass -2.5 must not be negative"},
       {"mass in units", "value=\"2.5\"", "value=\"2.5kg\"", "'2.5kg' is not a number"},
       {"mass with a decimal comma", "value=\"2.5\"", "value=\"2,5\"", "use a decimal point"},
       {"mass NaN", "value=\"2.5\"", "value=\"NaN\"", "<mass> of link 'lower'"},
       {"mass infinite", "value=\"2.5\"", "value=\"inf\"", "'inf' is not a finite number"},
       {"mass too large", "value=\"2.5\"", "value=\"1e999\"", "'1e999' is too large"},
       {"mass of two numbers", "value=\"2.5\"", "value=\"2 5\"", "has 2 numbers, but 1 is needed"},
       {"empty mass", "value=\"2.5\"", "value=\"\"", "is empty, but 1 number is needed"},
       {"mass as text", "<mass value=\"2.5\"/>", "<mass>2.5</mass>", "has no attribute 'value'"},
       {"no mass", "<mass value=\"2.5\"/>", "", "<inertial> of link 'lower' has no <mass", -1},
       {"no inertia",
        "<inertia ixx=\"0.21\" ixy=\"0\" ixz=\"0\" iyy=\"0.22\" iyz=\"0\" "
        "izz=\"0.23\"/>",
        "", "<inertial> of link 'lower' has no <inertia", -2},
       {"no ixx", "ixx=\"0.21\" ", "", "has no attribute 'ixx'"},
       {"no izz", " izz=\"0.23\"", "", "has no attribute 'izz'"},
       {"inertia NaN", "iyy=\"0.22\"", "iyy=\"nan\"", "attribute 'iyy': 'nan'"},
       {"inertia in hexadecimal", "iyy=\"0.22\"", "iyy=\"0x1F\"", "'0x1F' is not a number"},
       {"hinge without inertia", "<link name=\"base\"/>",
        "<link name=\"base\"/><link name=\"ghost\"/><joint name=\"hook\" "
        "type=\"continuous\"><parent "
        "link=\"base\"/><child link=\"ghost\"/></joint>",
        "hinge 'hook': freedom 'hook' moves no inertia; give body 'ghost' mass"},
       {"limit NaN", "lower=\"-1.5\"", "lower=\"nan\"", "attribute 'lower': 'nan'"},
       {"limit is a word", "upper=\"2.25\"", "upper=\"none\"", "'none' is not a number"},
       {"negative effort limit", "effort=\"30\"", "effort=\"-30\"", "effort limit -30"},
       {"negative velocity limit", "velocity=\"8\"", "velocity=\"-8\"", "velocity limit -8"},
       {"negative damping", "damping=\"0.4\"", "damping=\"-0.4\"", "damping -0.4"},
       {"negative friction", "friction=\"0.5\"", "friction=\"-0.5\"", "friction -0.5"},
       {"damping infinite", "damping=\"0.4\"", "damping=\"inf\"", "'inf' is not a finite number"},
       {"multiplier NaN", "multiplier=\"0.05\"", "multiplier=\"nan\"", "<mimic> of joint 'reach'"},
       {"offset of two numbers", "offset=\"0.01\"", "offset=\"0 1\"", "has 2 numbers"},
       {"colour of three numbers", "rgba=\"0 1 0 1\"", "rgba=\"0 1 0\"",
        "<color> of material 'green', attribute 'rgba': '0 1 0' has 3 numbers, but 4 are needed"},
       {"colour by name", "rgba=\"1 0 0 1\"", "rgba=\"red\"", "'red' is not a number"},
       {"colour without a value", "<color rgba=\"0 1 0 1\"/>", "<color/>", "'rgba'"},
       {"box without a size", "<box size=\"0.1 0.2 0.3\"/>", "<box/>", "no attribute 'size'"},
       {"box of two numbers", "size=\"0.1 0.2 0.3\"", "size=\"0.1 0.2\"", "has 2 numbers"},
       {"sphere without a radius", "<sphere radius=\"0.06\"/>", "<sphere/>", "'radius'"},
       {"cylinder without a length", " length=\"0.31\"", "", "'length'"},
       {"mesh without a file", "<sphere radius=\"0.06\"/>", "<mesh/>", "'filename'"}});
}

}  // namespace
}  // namespace catena
