// SPDX-License-Identifier: BSD-3-Clause
// Against the C library in extended precision, for every instruction set of this build.
#include "catena/spatial/trig.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "catena/base/cpu.h"
#include "catena/spatial/dual.h"
#include "catena/spatial/pack.h"

namespace catena::test {

#ifdef CATENA_TEST_AVX2
void sincos_of_all_avx2(const double* angle, int count, double* sine, double* cosine);
#endif

namespace {

using Function = void (*)(const double*, int, double*, double*);

void sincos_of_all_portable(const double* angle, int count, double* sine, double* cosine) {
  sincos_of_all(angle, count, sine, cosine);
}

bool has_avx2() {
  for (const std::string& set : cpu_report().available)
    if (set == "avx2") return true;
  return false;
}

class Trig : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "portable") {
      all_ = sincos_of_all_portable;
      return;
    }
#ifdef CATENA_TEST_AVX2
    if (has_avx2()) all_ = sincos_of_all_avx2;
#endif
    if (!all_) GTEST_SKIP() << "no AVX2 in this build or on this processor";
  }

  void evaluate(const std::vector<double>& angles) {
    sine_.assign(angles.size(), 0.0);
    cosine_.assign(angles.size(), 0.0);
    all_(angles.data(), static_cast<int>(angles.size()), sine_.data(), cosine_.data());
  }

  // The largest error of a list of angles, absolute and relative to the exact value.
  struct Error {
    double absolute = 0.0;
    double relative = 0.0;
  };
  Error error(const std::vector<double>& angles) {
    evaluate(angles);
    Error e;
    const auto add = [&e](double got, long double exact) {
      const double gap = static_cast<double>(std::abs(got - exact));
      e.absolute = std::max(e.absolute, gap);
      if (exact != 0.0L)
        e.relative = std::max(e.relative, gap / static_cast<double>(std::abs(exact)));
    };
    for (std::size_t i = 0; i < angles.size(); ++i) {
      add(sine_[i], std::sin(static_cast<long double>(angles[i])));
      add(cosine_[i], std::cos(static_cast<long double>(angles[i])));
    }
    return e;
  }

  Function all_ = nullptr;
  std::vector<double> sine_, cosine_;
};

// What trig.h promises.
constexpr double kAbsolute = 3e-16;
// The last bit of the result may be wrong, and the polynomials add half of one.
constexpr double kRelative = 1.5 * std::numeric_limits<double>::epsilon();

TEST_P(Trig, RandomAnglesOfEverySize) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  for (const double size : {1e-3, 0.8, 4.0, 100.0, 0.999 * kLargestFastAngle}) {
    std::vector<double> angles(20'000);
    for (double& angle : angles) angle = size * unit(random);
    const Error e = error(angles);
    EXPECT_LT(e.absolute, kAbsolute) << size;
    EXPECT_LT(e.relative, kRelative) << size;
  }
}

// Where one of the two vanishes, and where two quadrants meet.
TEST_P(Trig, MultiplesOfAnEighthTurn) {
  std::vector<double> angles;
  const long double quarter = std::acos(-1.0L) / 4.0L;
  for (int k = -125'000; k <= 125'000; k += 3) {
    const double angle = static_cast<double>(quarter * k);
    angles.push_back(angle);
    angles.push_back(std::nextafter(angle, 1e9));
    angles.push_back(std::nextafter(angle, -1e9));
  }
  const Error e = error(angles);
  EXPECT_LT(e.absolute, kAbsolute);
  EXPECT_LT(e.relative, kRelative);
}

TEST_P(Trig, TinyAndHugeAngles) {
  const double tiny = std::numeric_limits<double>::denorm_min();
  evaluate({0.0, -0.0, tiny, -tiny, 1e-300, -1e-20});
  EXPECT_EQ(sine_, (std::vector<double>{0.0, -0.0, tiny, -tiny, 1e-300, -1e-20}));
  EXPECT_EQ(cosine_, std::vector<double>(6, 1.0));
  // Beyond the fast range, alone and beside ordinary angles.
  const Error e = error({kLargestFastAngle, -3e5, 1e10, 1e22, 1.7e308, 0.5, -2.0});
  EXPECT_LT(e.absolute, kAbsolute);
}

TEST_P(Trig, NotANumberStaysInItsPlace) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double wrong : {kNan, kInfinity, -kInfinity}) {
    for (std::size_t place = 0; place < 9; ++place) {
      std::vector<double> angles{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
      angles[place] = wrong;
      evaluate(angles);
      for (std::size_t i = 0; i < angles.size(); ++i) {
        EXPECT_EQ(std::isnan(sine_[i]), i == place);
        EXPECT_EQ(std::isnan(cosine_[i]), i == place);
      }
    }
  }
}

TEST_P(Trig, NothingIsDoneForNothing) {
  double untouched = 7.0;
  all_(nullptr, 0, &untouched, &untouched);
  EXPECT_EQ(untouched, 7.0);
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, Trig, testing::Values("portable", "avx2"),
                         [](const auto& set) { return std::string(set.param); });

TEST(TrigOfOtherScalars, PacksLaneByLane) {
  constexpr int kCount = 3;
  Pack angle[kCount], sine[kCount], cosine[kCount];
  for (int i = 0; i < kCount; ++i) {
    double lanes[Pack::kLanes];
    for (int k = 0; k < Pack::kLanes; ++k) lanes[k] = 0.3 + 1.7 * i - 2.1 * k;
    angle[i] = Pack::load(lanes);
  }
  sincos_of_all(angle, kCount, sine, cosine);
  for (int i = 0; i < kCount; ++i)
    for (int k = 0; k < Pack::kLanes; ++k) {
      const long double exact = angle[i].lane(k);
      EXPECT_NEAR(sine[i].lane(k), static_cast<double>(std::sin(exact)), kAbsolute);
      EXPECT_NEAR(cosine[i].lane(k), static_cast<double>(std::cos(exact)), kAbsolute);
    }
}

TEST(TrigOfOtherScalars, DualNumbersCarryTheDerivative) {
  Dual<> angle = Dual<>::variable(0.7, 0);
  angle.derivative[0] = 2.0;
  Dual<> sine, cosine;
  sincos_of_all(&angle, 1, &sine, &cosine);
  EXPECT_NEAR(sine.value, std::sin(0.7), kAbsolute);
  EXPECT_NEAR(sine.derivative[0], 2.0 * std::cos(0.7), 2.0 * kAbsolute);
  EXPECT_NEAR(cosine.value, std::cos(0.7), kAbsolute);
  EXPECT_NEAR(cosine.derivative[0], -2.0 * std::sin(0.7), 2.0 * kAbsolute);
}

}  // namespace
}  // namespace catena::test
