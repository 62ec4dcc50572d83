// SPDX-License-Identifier: BSD-3-Clause
#include "catena/linear/frequency_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/base/testing/temporary_folder.h"
#include "catena/linear/algebra.h"
#include "catena/linear/freqresp.h"
#include "catena/linear/testing/systems.h"

namespace catena {
namespace {

using Complex = std::complex<double>;

TEST(FrequencyData, InterpolatesSlopesAndDelaysExactly) {
  // 5 e^{−0.01 jω}/(jω)²: a straight line in the Bode plot, and nearly one in its phase.
  std::vector<Eigen::MatrixXcd> samples;
  const Eigen::VectorXd omega = logspace(1.0, 100.0, 201);
  const auto g = [](double w) { return 5.0 * std::exp(Complex(0.0, -0.001 * w)) / (-w * w); };
  for (const double w : omega) samples.push_back(Eigen::MatrixXcd::Constant(1, 1, g(w)));
  const FrequencyData data = frequency_data(omega, samples);
  for (const double w : {1.0, 1.337, 42.0, 99.9})
    EXPECT_LT(std::abs(data.at(w)(0) - g(w)), 1e-5 * std::abs(g(w)));
  EXPECT_THROW(data.at(0.5), Error);
  EXPECT_THROW(data.at(101.0), Error);
}

TEST(FrequencyData, ReadsTablesInEveryForm) {
  const FrequencyData hz =
      read_frequency_text("frequency,tip/torque.mag,tip/torque.phase\n1,2,90\n2,4,-180\n", "a.csv");
  EXPECT_NEAR(hz.omega[0], 2.0 * M_PI, 1e-14);
  EXPECT_LT(std::abs(hz.value(0, 0, 0) - Complex(0.0, 2.0)), 1e-14);
  EXPECT_THAT(hz.outputs, testing::ElementsAre("tip"));
  EXPECT_THAT(hz.inputs, testing::ElementsAre("torque"));
  const FrequencyData db = read_frequency_text("omega;db;phase\n1;20;0\n", "b.csv");
  EXPECT_LT(std::abs(db.value(0, 0, 0) - 10.0), 1e-13);
  const FrequencyData mimo =
      read_frequency_text("omega,y1/u1.re,y1/u1.im,y1/u2.re,y1/u2.im\n1,1,2,3,4\n", "c.csv");
  EXPECT_EQ(mimo.value(0, 1, 0), Complex(3.0, 4.0));
}

TEST(FrequencyData, MistakesHaveFileAndLine) {
  const auto complaint = [](const char* text) -> std::string {
    try {
      read_frequency_text(text, "shaker.csv");
    } catch (const ModelError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(complaint("re,im\n1,2\n"), testing::HasSubstr("shaker.csv:1"));
  EXPECT_THAT(complaint("omega,y/u.re\n1,2\n"), testing::HasSubstr("needs two columns"));
  EXPECT_THAT(complaint("omega,y/u.foo\n1,2\n"), testing::HasSubstr("'foo'"));
  EXPECT_THAT(complaint("omega,re,im\n2,1,1\n1,1,1\n"), testing::HasSubstr("ascend"));
  EXPECT_THAT(complaint("omega,re,im\n1,1\n"), testing::HasSubstr("shaker.csv:2"));
}

TEST(FrequencyData, WrittenAndReadBack) {
  const StateSpace g = test::random_system(1, 3, 2, 2);
  const FrequencyData data = freqresp(g, logspace(0.1, 10.0, 20));
  const test::TemporaryFolder folder;
  const std::string path = folder.path("response.csv");
  write_frequency_data(data, path);
  const FrequencyData back = read_frequency_data(path);
  EXPECT_EQ((back.values - data.values).norm(), 0.0);
  EXPECT_EQ(back.outputs, data.outputs);
}

TEST(FrequencyData, ConnectionsAsOfSystems) {
  const StateSpace g = test::random_system(2, 3, 2, 2), k = test::random_system(3, 2, 2, 2);
  const Eigen::VectorXd omega = logspace(0.1, 10.0, 9);
  const FrequencyData G = freqresp(g, omega), K = freqresp(k, omega);
  EXPECT_LT((series(G, K).values - freqresp(series(g, k), omega).values).norm(), 1e-11);
  EXPECT_LT((parallel(G, K).values - freqresp(parallel(g, k), omega).values).norm(), 1e-11);
  EXPECT_LT((feedback(G, K).values - freqresp(feedback(g, k), omega).values).norm(), 1e-11);
  EXPECT_THROW(series(G, freqresp(k, 2.0 * omega)), Error);
}

}  // namespace
}  // namespace catena
