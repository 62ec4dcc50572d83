// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/models/xml.h"

#include <cmath>

#include <gtest/gtest.h>

namespace catena::xml {
namespace {

std::string first_problem(const std::string& text) {
  Report report;
  const File file = File::parse(text, "a.xml", report);
  const std::vector<Diagnostic> found = report.take();
  EXPECT_EQ(found.empty(), static_cast<bool>(file.root()));
  return found.empty() ? "" : found.front().text();
}

TEST(Xml, ElementsKnowTheirLineAndNeighbours) {
  Report report;
  const File file = File::parse(
      "<?xml version='1.0'?>\n<!-- a > b -->\n<robot name='r'>\n <link name='a'/>\n"
      " <joint name='elbow'>\n  <origin xyz='1 2 3'/> </joint>\n</robot>\n",
      "r.urdf", report);
  const Element joint = file.root().child("joint");
  ASSERT_TRUE(joint);
  EXPECT_EQ(joint.source().file, "r.urdf");
  EXPECT_EQ(joint.source().line, 5);
  EXPECT_EQ(joint.child("origin").source().line, 6);
  EXPECT_EQ(joint.child("origin").description(), "<origin> of joint 'elbow'");
  EXPECT_EQ(joint.description(), "joint 'elbow'");
  EXPECT_EQ(file.root().children().size(), 2u);
  EXPECT_FALSE(joint.child("axis"));
  EXPECT_FALSE(joint.child("axis").child("xyz"));  // nothing inside nothing
  EXPECT_EQ(vector_of(joint.child("origin"), "xyz", {}, report), (Vec3d{1, 2, 3}));
  EXPECT_TRUE(report.take().empty());
}

TEST(Xml, MalformedTextIsRefusedWithItsLine) {
  EXPECT_EQ(first_problem(""), "a.xml:1: error: the file has no element in it");
  EXPECT_NE(first_problem("<a>\n<b>\n</a>\n").find("a.xml:2: error: malformed XML"),
            std::string::npos);
  EXPECT_NE(first_problem("<a>\n<b x=1/></a>").find("a.xml:2: error: malformed"),
            std::string::npos);
  EXPECT_NE(first_problem("<a></a>\n<b/>").find("a.xml:2: error: malformed XML: a second root"),
            std::string::npos);
  EXPECT_NE(first_problem("<a><!-- x </a>").find("error: malformed"), std::string::npos);
  EXPECT_EQ(first_problem(std::string("<a>\n\0</a>", 9)),
            "a.xml:2: error: has a control character; save it as plain UTF-8 text");
  EXPECT_NE(first_problem("just words").find("error"), std::string::npos);
  EXPECT_EQ(first_problem("<a/>"), "");
}

TEST(Xml, BytesThatAreNotUtf8AreReadAsLatin1) {
  Report report;
  const File file = File::parse("<a>\n<b name='caf\xe9 \xc3\xa9'/></a>", "a.xml", report);
  EXPECT_STREQ(file.root().child("b").attribute("name"), "caf\xc3\xa9 \xc3\xa9");
  const std::vector<Diagnostic> found = report.take();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(
      found[0].text(),
      "a.xml:2: warning: a byte that is not UTF-8 is read as Latin-1; save the file as UTF-8");
}

TEST(Xml, DeepNestingIsRefusedBeforeTheParserSeesIt) {
  std::string deep;
  for (int i = 0; i < 200000; ++i) deep += "<a>\n";
  EXPECT_NE(first_problem(deep).find("a.xml:91: error: tags are nested"), std::string::npos);
  for (int i = 0; i < 200000; ++i) deep += "</a>\n";
  EXPECT_NE(first_problem(deep).find("a.xml:91: error: tags are nested"), std::string::npos);
  // Closed elements, comments, attributes and CDATA do not count.
  std::string wide = "<a><!-- ";
  for (int i = 0; i < 500; ++i) wide += "<b>";
  wide += " --><![CDATA[";
  for (int i = 0; i < 500; ++i) wide += "<b>";
  wide += "]]>";
  for (int i = 0; i < 500; ++i) wide += "<b x='/>'/><c y=\"<c><c>\">1</c>";
  EXPECT_EQ(first_problem(wide + "</a>"), "");
}

TEST(Xml, UnreadableFilesAreNamed) {
  Report report;
  EXPECT_FALSE(File::read("/nonexistent/robot.urdf", report).root());
  EXPECT_FALSE(File::read("/", report).root());
  const std::vector<Diagnostic> found = report.take();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NE(found[0].text().find("/nonexistent/robot.urdf: error: "), std::string::npos);
}

std::optional<std::vector<double>> numbers(const std::string& text, std::size_t count,
                                           Report& report, Infinite infinite = Infinite::refused) {
  return parse_numbers(text, count, infinite, {"f", 1}, "x", report);
}

TEST(Xml, NumbersAreReadInEveryLocale) {
  Report report;
  EXPECT_EQ(numbers(" 1 -2.5e-3\t+4\n", 3, report), (std::vector<double>{1.0, -2.5e-3, 4.0}));
  EXPECT_EQ(numbers(".5", 1, report), std::vector<double>{0.5});
  EXPECT_EQ(numbers("1e-400", 1, report), std::vector<double>{0.0});
  EXPECT_EQ(numbers("-inf", 1, report, Infinite::allowed), std::vector<double>{-INFINITY});
  EXPECT_EQ(numbers("", 0, report), std::vector<double>{});
  EXPECT_FALSE(report.has_error());
}

TEST(Xml, WrongNumbersAreExplained) {
  const auto problem = [](const std::string& text, std::size_t count) {
    Report report;
    EXPECT_FALSE(numbers(text, count, report));
    const std::vector<Diagnostic> found = report.take();
    return found.empty() ? std::string("none") : found.front().text();
  };
  EXPECT_EQ(problem("1 2", 3), "f:1: error: x: '1 2' has 2 numbers, but 3 are needed");
  EXPECT_EQ(problem("", 1), "f:1: error: x: is empty, but 1 number is needed");
  EXPECT_EQ(problem("1 2 3 4", 3), "f:1: error: x: '1 2 3 4' has 4 numbers, but 3 are needed");
  EXPECT_EQ(problem("1,5", 1),
            "f:1: error: x: '1,5' is not a number; use a decimal point and separate numbers by "
            "spaces");
  EXPECT_EQ(problem("nan", 1), "f:1: error: x: 'nan' is not a finite number");
  EXPECT_EQ(problem("inf", 1), "f:1: error: x: 'inf' is not a finite number");
  EXPECT_EQ(problem("1e999", 1), "f:1: error: x: '1e999' is too large");
  EXPECT_EQ(problem("0x10", 1), "f:1: error: x: '0x10' is not a number");
  EXPECT_EQ(problem("${pi}", 1), "f:1: error: x: '${pi}' is not a number");
  EXPECT_EQ(problem("--1", 1), "f:1: error: x: '--1' is not a number");
}

TEST(Xml, WordsNearOursAreMistakesOthersAreForeign) {
  Report report;
  const File file = File::parse(
      "<link nmae='a'>\n<inertail/>\n<gz:sensor/>\n<plugin/>\n<something_else/>\n<visual/>\n"
      "<visual/>\n<inertial/>\n<inertial/></link>",
      "f", report);
  check_words(file.root(), {{"inertial"}, {"visual"}, {"name"}, {"plugin"}}, "URDF", report);
  const std::vector<Diagnostic> found = report.take();
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[0].text(),
            "f:2: error: unknown tag <inertail> in <link>; did you mean <inertial>?");
  EXPECT_EQ(found[1].text(),
            "f:3: warning: tags of the namespace 'gz' are not part of URDF and are ignored");
  EXPECT_EQ(found[2].text(),
            "f:5: warning: <something_else> in <link> is not part of URDF and is ignored");
  EXPECT_EQ(found[3].text(), "f:9: warning: a second <inertial>; only the first counts");
  EXPECT_EQ(found[4].text(),
            "f:1: error: <link> has an unknown attribute 'nmae'; did you mean 'name'?");
}

}  // namespace
}  // namespace catena::xml
