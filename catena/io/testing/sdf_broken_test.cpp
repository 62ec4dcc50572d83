// SPDX-License-Identifier: BSD-3-Clause
// Broken SDF files: each mistake gets a message with file, line, name and remedy, and no crash.
#include <gtest/gtest.h>

#include "catena/io/testing/broken_files.h"

namespace catena {
namespace {

// A four-bar with a hand on its coupler: loops, frames, a nested model, a mimic, gears.
const std::string kSound = R"(<?xml version="1.0"?>
<sdf version="1.11">
  <world name="shop">
    <gravity>0 0 -9.81</gravity>
    <model name="linkage">
      <pose>0 0 0.5 0 0 0</pose>
      <link name="crank">
        <inertial>
          <pose>0.1 0 0 0 0 0</pose>
          <mass>1.25</mass>
          <inertia><ixx>0.11</ixx><iyy>0.12</iyy><izz>0.13</izz></inertia>
        </inertial>
        <visual name="bar">
          <geometry><box><size>0.4 0.05 0.06</size></box></geometry>
          <material><diffuse>1 0 0 1</diffuse></material>
        </visual>
        <visual name="pin">
          <geometry><cylinder><radius>0.02</radius><length>0.08</length></cylinder></geometry>
        </visual>
      </link>
      <link name="coupler">
        <pose relative_to="crank_tip">0 0 0 0 0 0.3</pose>
        <inertial>
          <mass>2.25</mass>
          <inertia><ixx>0.21</ixx><iyy>0.22</iyy><izz>0.23</izz></inertia>
        </inertial>
      </link>
      <link name="nut">
        <pose>3 0 0 0 0 0</pose>
        <inertial>
          <mass>3.25</mass>
          <inertia><ixx>0.31</ixx><iyy>0.32</iyy><izz>0.33</izz></inertia>
        </inertial>
      </link>
      <frame name="crank_tip" attached_to="crank">
        <pose>0.4 0 0 0 0 0</pose>
      </frame>
      <joint name="A" type="revolute">
        <parent>world</parent>
        <child>crank</child>
        <axis>
          <xyz expressed_in="__model__">0 0 1</xyz>
          <limit><lower>-1.5</lower><upper>2.25</upper></limit>
          <dynamics><damping>0.4</damping><friction>0.5</friction></dynamics>
        </axis>
      </joint>
      <joint name="B" type="revolute">
        <parent>crank</parent>
        <child>coupler</child>
        <axis>
          <xyz>0 0 2</xyz>
          <mimic joint="A"><multiplier>0.7</multiplier><offset>0.1</offset></mimic>
        </axis>
      </joint>
      <joint name="C" type="screw">
        <parent>world</parent>
        <child>nut</child>
        <axis><xyz>0 1 0</xyz></axis>
        <screw_thread_pitch>0.02</screw_thread_pitch>
      </joint>
      <model name="hand">
        <pose relative_to="coupler">0.3 0 0 0 0 0</pose>
        <link name="palm">
          <inertial>
            <mass>0.25</mass>
            <inertia><ixx>0.01</ixx><iyy>0.02</iyy><izz>0.025</izz></inertia>
          </inertial>
        </link>
      </model>
      <joint name="wrist" type="universal">
        <parent>coupler</parent>
        <child>hand::palm</child>
        <axis><xyz>1 0 0</xyz></axis>
        <axis2><xyz>0 1 0.5</xyz></axis2>
      </joint>
    </model>
  </world>
</sdf>
)";

// From a place in the sound file to its end.
std::string from(const std::string& place) { return kSound.substr(kSound.find(place)); }

TEST(BrokenSdf, TextThatIsNoXml) {
  expect_messages(
      kSound, ".sdf",
      {{"empty file", "", "", "no element in it"},
       {"words", "", "just words\n", "malformed XML"},
       {"JSON", "", "[1, 2]\n", "malformed XML"},
       {"binary", "", std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16), "plain UTF-8 text", 1},
       {"zero byte", "linkage", std::string("link\0age", 8), "control character"},
       {"UTF-16", "", std::string("\xff\xfe<\0s\0d\0f\0/\0>\0", 14), "UTF-16"},
       {"UTF-16, big end first", "", std::string("\xfe\xff\0<\0s\0d\0f\0/\0>", 14), "UTF-16"},
       {"control character", "coupler\">\n        <pose relative", "coup\x02ler\">\n<pose relative",
        "control character"},
       {"truncated in a tag", from("<mimic joint"), "<mimic joi", "malformed XML"},
       {"truncated in a number", from("2.25</upper>"), "2.2", "malformed XML"},
       {"truncated between tags", from("<joint name=\"C\""), "", "cut off", -50},
       {"tag never closed", "</axis>\n      </joint>\n      <joint name=\"B\"",
        "</joint>\n      <joint name=\"B\"", "<axis>, opened here, is not closed", -4},
       {"tag closed by another name", "</world>", "</wolrd>", "<world>, opened here, is not closed",
        -74},
       {"value without quotes", "type=\"screw\"", "type=screw", "name=\"value\""},
       {"comment never closed", "<frame name", "<!-- <frame name", "-->"},
       {"two roots", "</sdf>\n", "</sdf>\n<sdf version='1.9'/>\n", "a second root element <sdf>",
        1},
       {"200,000 nested tags", "", repeated("<model>", 200'000), "nested more than"},
       {"200,000 nested models", "",
        "<sdf version='1.9'>" + repeated("<model name='m'>", 200'000) +
            repeated("</model>", 200'000) + "</sdf>",
        "nested more than"}});
}

TEST(BrokenSdf, Words) {
  expect_messages(
      kSound, ".sdf",
      {{"root of URDF", "", "<robot name='r'/>\n", "an SDF file has <sdf version"},
       {"version of another format", "version=\"1.11\"", "version=\"2.0\"", "not a version of SDF"},
       {"version is a word", "version=\"1.11\"", "version=\"latest\"", "not a version of SDF"},
       {"empty version", "version=\"1.11\"", "version=\"\"", "not a version of SDF"},
       {"nothing in it", "", "<sdf version='1.9'/>\n", "no <model> and no <world>"},
       {"model without links", "", "<sdf version='1.9'><model name='m'/></sdf>\n", "no <link>"},
       {"world without models", "", "<sdf version='1.9'><world name='w'/></sdf>\n", "no <link>"},
       {"link outside of a model", "<gravity>0 0 -9.81</gravity>", "<link name='lost'/>",
        "link 'lost' must stand inside a <model>"},
       {"misspelt world", "", "<sdf version='1.9'>\n<wrold name='w'/></sdf>\n",
        "did you mean <world>?", 1},
       {"misspelt gravity", "<gravity>0 0 -9.81</gravity>", "<gravty>0 0 -9.81</gravty>",
        "did you mean <gravity>?"},
       {"misspelt model", "<model name=\"hand\">", "<modle name=\"x\"/><model name=\"hand\">",
        "did you mean <model>?"},
       {"misspelt link", "<link name=\"palm\">", "<lnik name=\"x\"/><link name=\"palm\">",
        "did you mean <link>?"},
       {"misspelt frame", "<frame name=\"crank_tip\"", "<fram name='x'/><frame name=\"crank_tip\"",
        "did you mean <frame>?"},
       {"misspelt joint", "<joint name=\"A\"", "<jont name='x'/><joint name=\"A\"",
        "did you mean <joint>?"},
       {"misspelt pose", "<pose>3 0 0 0 0 0</pose>", "<poes>3 0 0 0 0 0</poes>",
        "did you mean <pose>?"},
       {"misspelt inertial", "<link name=\"palm\">", "<link name=\"palm\"><inertail/>",
        "did you mean <inertial>?"},
       {"misspelt mass", "<mass>2.25</mass>", "<mas>2.25</mas>", "did you mean <mass>?"},
       {"misspelt inertia", "<link name=\"palm\">\n          <inertial>",
        "<link name=\"palm\">\n<inertial><inerta/>", "did you mean <inertia>?", 1},
       {"misspelt ixx", "<ixx>0.21</ixx>", "<ixxx>0.21</ixxx>", "did you mean <ixx>?"},
       {"misspelt parent", "<parent>crank</parent>", "<parant>crank</parant>",
        "did you mean <parent>?"},
       {"misspelt child", "<child>coupler</child>", "<chidl>coupler</chidl>",
        "did you mean <child>?"},
       {"misspelt axis", "<axis><xyz>0 1 0</xyz></axis>", "<axes><xyz>0 1 0</xyz></axes>",
        "did you mean <axis>?"},
       {"misspelt xyz", "<xyz>0 1 0</xyz>", "<xzy>0 1 0</xzy>", "did you mean <xyz>?"},
       {"misspelt limit", "<limit><lower>-1.5</lower><upper>2.25</upper></limit>", "<limits/>",
        "did you mean <limit>?"},
       {"misspelt lower", "<lower>-1.5</lower>", "<lowre>-1.5</lowre>", "did you mean <lower>?"},
       {"misspelt damping", "<damping>0.4</damping>", "<dampin>0.4</dampin>",
        "did you mean <damping>?"},
       {"misspelt mimic",
        "<mimic joint=\"A\"><multiplier>0.7</multiplier><offset>0.1</offset>"
        "</mimic>",
        "<mimick joint=\"A\"/>", "did you mean <mimic>?"},
       {"misspelt multiplier", "<multiplier>0.7</multiplier>", "<multiplyer>0.7</multiplyer>",
        "did you mean <multiplier>?"},
       {"misspelt pitch", "<screw_thread_pitch>0.02</screw_thread_pitch>",
        "<screw_thread_pich>0.02</screw_thread_pich>", "did you mean <screw_thread_pitch>?"},
       {"misspelt geometry", "<geometry><box><size>0.4 0.05 0.06</size></box></geometry>",
        "<geometrie/>", "did you mean <geometry>?"},
       {"misspelt shape", "<box><size>0.4 0.05 0.06</size></box>", "<boxx/>",
        "did you mean <box>?"},
       {"misspelt relative_to", "<pose relative_to=\"crank_tip\">",
        "<pose relativ_to=\"crank_tip\">", "did you mean 'relative_to'?"},
       {"misspelt attached_to", "attached_to=\"crank\"", "atached_to=\"crank\"",
        "did you mean 'attached_to'?"},
       {"misspelt expressed_in", "expressed_in=\"__model__\"", "expresed_in=\"__model__\"",
        "did you mean 'expressed_in'?"},
       {"misspelt type", "type=\"screw\"", "tipe=\"screw\"", "did you mean 'type'?"},
       {"model without a name", "<model name=\"hand\">", "<model>", "<model> has no name"},
       {"link without a name", "<link name=\"nut\">", "<link>", "<link> has no name"},
       {"joint without a name", "<joint name=\"C\" ", "<joint ", "<joint> has no name"},
       {"frame without a name", "<frame name=\"crank_tip\" ", "<frame ", "<frame> has no name"},
       {"joint without a type", " type=\"screw\"", "", "joint 'C' has no type"},
       {"unknown type", "type=\"screw\"", "type=\"scrwe\"", "did you mean 'screw'?"},
       {"type of URDF", "type=\"screw\"", "type=\"floating\"", "SDF has revolute"}});
}

TEST(BrokenSdf, NamesAndFrames) {
  expect_messages(
      kSound, ".sdf",
      {{"unknown parent", "<parent>crank</parent>", "<parent>crnk</parent>",
        "parent 'crnk' does not exist in model 'linkage'; did you mean 'crank'?"},
       {"unknown child", "<child>coupler</child>", "<child>cupler</child>",
        "child 'cupler' does not exist in model 'linkage'; did you mean 'coupler'?"},
       {"link of a nested model without its name", "<child>hand::palm</child>",
        "<child>palm</child>", "child 'palm' does not exist in model 'linkage'"},
       {"link of an unknown model", "<child>hand::palm</child>", "<child>foot::palm</child>",
        "child 'foot::palm' does not exist"},
       {"child is the world", "<child>coupler</child>", "<child>world</child>",
        "joint 'B': SDF does not allow the world as a child", -2},
       {"no parent", "<parent>crank</parent>", "", "joint 'B' has no <parent>", -1},
       {"empty child", "<child>coupler</child>", "<child/>", "joint 'B' has no <child>", -2},
       {"parent as attribute", "<parent>crank</parent>", "<parent link='crank'/>",
        "joint 'B' has no <parent>", -1},
       {"joint to itself", "<child>coupler</child>", "<child>crank</child>",
        "the same body 'crank'", -2},
       {"joint to a frame of its parent", "<child>coupler</child>", "<child>crank_tip</child>",
        "the same body 'crank'", -2},
       {"two links of one name", "<link name=\"nut\">", "<link name=\"crank\">",
        "the name is taken by the link in line 7"},
       {"joint with the name of a link", "<joint name=\"C\"", "<joint name=\"nut\"",
        "the name is taken by the link in line"},
       {"frame with the name of a link", "<frame name=\"crank_tip\"", "<frame name=\"nut\"",
        "the name is taken by the link in line"},
       {"two joints of one name", "<joint name=\"C\"", "<joint name=\"B\"",
        "the name is taken by the joint in line"},
       {"two models of one name", "</model>\n  </world>",
        "</model>\n<model name='linkage'/>\n  </world>", "the name is taken by the model", 1},
       {"reserved name world", "<link name=\"nut\">", "<link name=\"world\">", "reserved"},
       {"reserved name __model__", "<link name=\"nut\">", "<link name=\"__model__\">", "reserved"},
       {"unknown relative_to", "<pose relative_to=\"crank_tip\">",
        "<pose relative_to=\"cranktip\">",
        "relative_to 'cranktip' does not exist in model 'linkage'; did you mean 'crank_tip'?"},
       {"unknown attached_to", "attached_to=\"crank\"", "attached_to=\"crnk\"",
        "attached_to 'crnk' does not exist"},
       {"unknown expressed_in", "expressed_in=\"__model__\"", "expressed_in=\"__modell__\"",
        "expressed_in '__modell__' does not exist"},
       {"unknown placement frame", "<model name=\"hand\">",
        "<model name=\"hand\" placement_frame=\"plam\">", "placement_frame 'plam' does not exist"},
       {"unknown canonical link", "<model name=\"hand\">",
        "<model name=\"hand\" canonical_link=\"plam\">", "canonical_link 'plam' does not exist"},
       {"frame attached to itself", "attached_to=\"crank\"", "attached_to=\"crank_tip\"",
        "frame 'crank_tip' is attached to itself"},
       {"link relative to itself", "<pose relative_to=\"crank_tip\">",
        "<pose relative_to=\"coupler\">", "link 'coupler' is placed relative to itself", -1},
       {"frames in a circle", "<pose>0.4 0 0 0 0 0</pose>",
        "<pose relative_to=\"coupler\">0.4 0 0 0 0 0</pose>", "leads back to it", -15},
       {"mimic of an unknown joint", "<mimic joint=\"A\">", "<mimic joint=\"E\">",
        "joint 'E' does not exist"},
       {"mimic of a link", "<mimic joint=\"A\">", "<mimic joint=\"crank\">",
        "'crank' is not a joint"},
       {"mimic of itself", "<mimic joint=\"A\">", "<mimic joint=\"B\">", "mimics itself"},
       {"two mimics that follow each other", "<xyz expressed_in=\"__model__\">0 0 1</xyz>",
        "<xyz expressed_in=\"__model__\">0 0 1</xyz><mimic joint=\"B\"/>",
        "leads back to the joint itself by way of 'B'; break the circle"},
       {"mimic without a joint", "<mimic joint=\"A\">", "<mimic>", "has no attribute 'joint'"},
       {"mimic of an axis that is not there", "<mimic joint=\"A\">",
        "<mimic joint=\"A\" axis=\"axis2\">", "joint 'A' has no <axis2>"},
       {"mimic of a third axis", "<mimic joint=\"A\">", "<mimic joint=\"A\" axis=\"axis3\">",
        "must be axis or axis2"},
       {"included file is not there", "<model name=\"hand\">",
        "<include><uri>nowhere.sdf</uri></include><model name=\"hand\">",
        "'nowhere.sdf' is not found"},
       {"included file on the web", "<model name=\"hand\">",
        "<include><uri>https://example.org/a.sdf</uri></include><model name=\"hand\">",
        "download it"},
       {"include without a file", "<model name=\"hand\">", "<include/><model name=\"hand\">",
        "<include> has no <uri>"},
       {"file that includes itself", "<model name=\"hand\">",
        "<include><uri>broken.sdf</uri></include><model name=\"hand\">",
        "leads back to the same file"},
       {"gearbox without a reference", "type=\"universal\"", "type=\"gearbox\"",
        "joint 'wrist' has no <gearbox_reference_body>"},
       {"gearbox without wheels", "type=\"universal\">",
        "type=\"gearbox\"><gearbox_reference_body>crank</gearbox_reference_body>",
        "there is no revolute joint between 'hand::palm' and the reference body"}});
}

TEST(BrokenSdf, Numbers) {
  expect_messages(
      kSound, ".sdf",
      {{"zero axis", "<xyz>0 0 2</xyz>", "<xyz>0 0 0</xyz>",
        "<xyz> of joint 'B': the axis is zero"},
       {"zero second axis", "<xyz>0 1 0.5</xyz>", "<xyz>0 0 0</xyz>", "<xyz> of joint 'wrist'"},
       {"parallel axes", "<xyz>0 1 0.5</xyz>", "<xyz>2 0 0</xyz>", "axes 1 and 2 are parallel", -4},
       {"axis of two numbers", "<xyz>0 0 2</xyz>", "<xyz>0 2</xyz>", "has 2 numbers, but 3"},
       {"empty axis", "<xyz>0 0 2</xyz>", "<xyz/>", "is empty, but 3 numbers are needed"},
       {"axis NaN", "<xyz>0 0 2</xyz>", "<xyz>0 0 nan</xyz>", "'nan' is not a finite number"},
       {"axis infinite", "<xyz>0 0 2</xyz>", "<xyz>0 0 inf</xyz>", "'inf' is not a finite number"},
       {"axis with commas", "<xyz>0 0 2</xyz>", "<xyz>0, 0, 2</xyz>", "separate numbers by spaces"},
       {"pose of five numbers", "<pose>3 0 0 0 0 0</pose>", "<pose>3 0 0 0 0</pose>",
        "<pose> of link 'nut': '3 0 0 0 0' has 5 numbers, but 6 are needed"},
       {"pose of seven numbers", "<pose>3 0 0 0 0 0</pose>", "<pose>3 0 0 0 0 0 1</pose>",
        "has 7 numbers, but 6 are needed"},
       {"pose with a quaternion of length zero", "<pose>3 0 0 0 0 0</pose>",
        "<pose rotation_format='quat_xyzw'>3 0 0 0 0 0 0</pose>", "its quaternion is zero"},
       {"pose in an unknown format", "<pose>3 0 0 0 0 0</pose>",
        "<pose rotation_format='matrix'>3 0 0 0 0 0</pose>", "must be euler_rpy or quat_xyzw"},
       {"pose in degrees, misspelt", "<pose>3 0 0 0 0 0</pose>",
        "<pose degree='true'>3 0 0 0 0 0</pose>", "did you mean 'degrees'?"},
       {"pose in degrees, neither true nor false", "<pose>3 0 0 0 0 0</pose>",
        "<pose degrees='yes'>3 0 0 0 0 0</pose>", "'yes' must be true or false"},
       {"pose NaN", "<pose>3 0 0 0 0 0</pose>", "<pose>nan 0 0 0 0 0</pose>", "'nan'"},
       {"pose of the model", "<pose>0 0 0.5 0 0 0</pose>", "<pose>0 0 up 0 0 0</pose>",
        "<pose> of model 'linkage': 'up' is not a number"},
       {"negative mass", "<mass>2.25</mass>", "<mass>-2.25</mass>",
        "<mass> of link 'coupler': mass -2.25 must not be negative"},
       {"mass in units", "<mass>2.25</mass>", "<mass>2.25 kg</mass>", "has 2 numbers"},
       {"mass is a word", "<mass>2.25</mass>", "<mass>heavy</mass>", "'heavy' is not a number"},
       {"mass NaN", "<mass>2.25</mass>", "<mass>nan</mass>", "<mass> of link 'coupler'"},
       {"mass too large", "<mass>2.25</mass>", "<mass>1e400</mass>", "'1e400' is too large"},
       {"empty mass", "<mass>2.25</mass>", "<mass></mass>", "is empty, but 1 number is needed"},
       {"mass as attribute", "<mass>2.25</mass>", "<mass value='2.25'/>", "is empty"},
       {"inertia infinite", "<izz>0.23</izz>", "<izz>inf</izz>", "<izz> of link 'coupler'"},
       {"limit NaN", "<lower>-1.5</lower>", "<lower>nan</lower>", "<lower> of joint 'A'"},
       {"negative damping", "<damping>0.4</damping>", "<damping>-0.4</damping>",
        "<damping> of joint 'A': -0.4 must not be negative"},
       {"negative friction", "<friction>0.5</friction>", "<friction>-0.5</friction>",
        "<friction> of joint 'A': -0.5 must not be negative"},
       {"zero pitch", "<screw_thread_pitch>0.02</screw_thread_pitch>",
        "<screw_thread_pitch>0</screw_thread_pitch>", "<screw_thread_pitch> of joint 'C' is zero"},
       {"zero old pitch", "<screw_thread_pitch>0.02</screw_thread_pitch>",
        "<thread_pitch>0</thread_pitch>", "<thread_pitch> of joint 'C' is zero"},
       {"multiplier NaN", "<multiplier>0.7</multiplier>", "<multiplier>nan</multiplier>",
        "<multiplier> of joint 'B'"},
       {"gravity of one number", "<gravity>0 0 -9.81</gravity>", "<gravity>-9.81</gravity>",
        "<gravity> of world 'shop': '-9.81' has 1 number, but 3 are needed"},
       {"static, neither true nor false", "<pose>0 0 0.5 0 0 0</pose>", "<static>maybe</static>",
        "<static> of model 'linkage': 'maybe' must be true or false"},
       {"colour by name", "<diffuse>1 0 0 1</diffuse>", "<diffuse>red</diffuse>",
        "<diffuse> of visual 'bar': 'red' is not a number"},
       {"box of two numbers", "<size>0.4 0.05 0.06</size>", "<size>0.4 0.05</size>",
        "<size> of visual 'bar'"},
       {"cylinder without a radius", "<radius>0.02</radius>", "", "has no <radius>"},
       {"mesh without a file", "<cylinder><radius>0.02</radius><length>0.08</length></cylinder>",
        "<mesh/>", "has no <uri>"},
       {"hinge without inertia",
        "<mass>3.25</mass>\n          <inertia><ixx>0.31</ixx><iyy>0.32</iyy><izz>0.33</izz>"
        "</inertia>",
        "<mass>0</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia>", "hinge 'C'", 23}});
}

}  // namespace
}  // namespace catena
