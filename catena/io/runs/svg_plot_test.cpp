// SPDX-License-Identifier: BSD-3-Clause
#include "catena/io/runs/svg_plot.h"

#include <cmath>
#include <limits>
#include <regex>

#include <gmock/gmock.h>
#include <tinyxml2.h>

#include "catena/base/error.h"

namespace catena {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(RoundTicks, AreRoundAndInside) {
  EXPECT_THAT(round_ticks(0.0, 10.0, 5), ElementsAre(0.0, 2.0, 4.0, 6.0, 8.0, 10.0));
  EXPECT_THAT(round_ticks(-0.3, 0.3, 3), ElementsAre(-0.2, 0.0, 0.2));
  EXPECT_TRUE(round_ticks(1.0, 1.0, 5).empty());
  for (const double low : {-1e6, -3.7, 0.0, 1e-9, 123.4})
    for (const double span : {1e-7, 0.02, 1.0, 37.0, 1e8}) {
      const auto ticks = round_ticks(low, low + span, 6);
      ASSERT_GE(ticks.size(), 2U) << low << " " << span;
      EXPECT_LE(ticks.size(), 8U);
      const double step = ticks[1] - ticks[0];
      const double mantissa = step / std::pow(10.0, std::floor(std::log10(step) + 1e-3));
      const double nearest = mantissa < 1.5 ? 1.0 : mantissa < 3.5 ? 2.0 : 5.0;
      EXPECT_NEAR(mantissa, nearest, 1e-2 * nearest) << low << " " << span;
      EXPECT_GE(ticks.front(), low - 1e-6 * span);
      EXPECT_LE(ticks.back(), low + span + 1e-6 * span);
    }
}

SvgPlot plot(int points) {
  SvgPlot made{.title = "a < b", .times = Eigen::VectorXd::LinSpaced(points, 0.0, 2.0)};
  made.curves.push_back({"q.elbow", "rad", made.times.array().sin()});
  made.curves.push_back({"q.wrist", "rad", made.times.array().cos()});
  made.curves.push_back({"energy", "J", made.times});
  return made;
}

TEST(SvgPlot, HasTitleLegendUnitsAndOneFrameForEachUnit) {
  const std::string svg = svg_plot(plot(50));
  tinyxml2::XMLDocument document;
  ASSERT_EQ(document.Parse(svg.c_str()), tinyxml2::XML_SUCCESS);
  for (const char* text :
       {"a &lt; b", ">q.elbow<", ">q.wrist<", ">energy<", ">rad<", ">J<", "time [s]"})
    EXPECT_THAT(svg, HasSubstr(text));
  int frames = 0;
  for (std::size_t at = 0; (at = svg.find("class=\"axis\"", at)) != std::string::npos; ++at)
    ++frames;
  EXPECT_EQ(frames, 2);
}

// The highest point of a curve is on the picture where its value says.
TEST(SvgPlot, PeaksSurviveManyPoints) {
  SvgPlot made{.times = Eigen::VectorXd::LinSpaced(200001, 0.0, 1.0)};
  Eigen::VectorXd values = Eigen::VectorXd::Zero(200001);
  values[77777] = 1.0;  // one row in 200,001
  made.curves.push_back({"spike", "", values});
  const std::string svg = svg_plot(made);
  EXPECT_LT(svg.size(), 100000U);
  const std::size_t curve = svg.find("fill=\"none\" stroke=\"#4c78a8\"");
  ASSERT_NE(curve, std::string::npos);
  const std::size_t first = svg.find("d=\"", curve) + 3;
  const std::string path = svg.substr(first, svg.find('"', first) - first);
  double top = 1e9, at = 0.0, bottom = 0.0;
  const std::regex point("([0-9.]+),([0-9.]+)");
  for (std::sregex_iterator i(path.begin(), path.end(), point), end; i != end; ++i) {
    const double y = std::stod((*i)[2]);
    if (y < top) at = std::stod((*i)[1]);
    top = std::min(top, y);
    bottom = std::max(bottom, y);
  }
  EXPECT_NEAR(bottom - top, made.frame_height / 1.1, 0.2);  // margins of 5 % above and below
  EXPECT_NEAR(at, 74.0 + 77777.0 / 200000.0 * (made.width - 74.0 - 18.0), 1.0);
}

TEST(SvgPlot, GapsAtNaN) {
  SvgPlot made{.times = Eigen::VectorXd::LinSpaced(5, 0.0, 1.0)};
  Eigen::VectorXd values = Eigen::VectorXd::Ones(5);
  values[2] = std::numeric_limits<double>::quiet_NaN();
  made.curves.push_back({"x", "", values});
  const std::string svg = svg_plot(made);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_TRUE(std::regex_search(svg, std::regex("stroke=\"#4c78a8\"[^>]*d=\"M[^M]*M[^M]*\"")));
}

TEST(SvgPlot, RefusesNothingAndWrongLengths) {
  EXPECT_THROW(svg_plot({}), Error);
  SvgPlot wrong = plot(10);
  wrong.curves[1].values.conservativeResize(9);
  EXPECT_THROW(svg_plot(wrong), Error);
}

}  // namespace
}  // namespace catena
