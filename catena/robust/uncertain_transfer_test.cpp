// SPDX-License-Identifier: BSD-3-Clause
// The three examples of [Belcastro, Chang & Fischl 1989]: 11, 6 and 3 entries, the second with 5 if
// a stable pole is added; each beside its transfer function.
#include "catena/robust/uncertain_transfer.h"

#include <complex>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "catena/base/error.h"

namespace catena {
namespace {

using Complex = std::complex<double>;
using Values = std::map<std::string, double>;

UncertainMatrix coefficient(const std::string& name, double nominal) {
  return constant(nominal) + parameter(name);
}

void expect_transfer(const UncertainTransfer& g, const std::vector<std::string>& names,
                     const std::function<Complex(Complex, const Values&)>& expected) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(-0.4, 0.4);
  for (int i = 0; i < 200; ++i) {
    Values values;
    for (const std::string& name : names) values[name] = uniform(random);
    const Complex s(0.3 + uniform(random), 2.0 * uniform(random));
    const Complex wanted = expected(s, values);
    EXPECT_LT(std::abs(g.value(s, values) - wanted), 1e-12 * (1.0 + std::abs(wanted)));
  }
}

TEST(UncertainTransfer, ElevenCoefficientsAreElevenEntries) {
  const double nominal[] = {1.1, 2.3, 1.4, 3.7, 0.7, 1.9, 1.2, 0.6, 0.9, 1.6, 2.2};
  const std::vector<std::string> names{"al1", "al2", "a1", "a2", "be1", "be2",
                                       "be3", "be4", "b1", "b2", "b3"};
  std::vector<UncertainMatrix> c;
  for (std::size_t i = 0; i < names.size(); ++i) c.push_back(coefficient(names[i], nominal[i]));
  const UncertainMatrix one = constant(1.0);
  const UncertainTransfer g = uncertain_transfer({{{c[4], c[5]}, {one, c[0]}},
                                                  {{c[6], c[7]}, {one, c[1]}},
                                                  {{c[8], c[9], c[10]}, {one, c[2], c[3]}}});
  EXPECT_EQ(g.order, 4);
  EXPECT_EQ(g.form.entries(), 11);
  EXPECT_EQ(g.repeats, 0);
  EXPECT_EQ(g.longest, 4);  // products of up to four coefficients: D⁴ = 0
  expect_transfer(g, names, [&](Complex s, const Values& v) {
    const auto x = [&](int i) { return nominal[i] + v.at(names[static_cast<std::size_t>(i)]); };
    return (x(4) * s + x(5)) * (x(6) * s + x(7)) * (x(8) * s * s + x(9) * s + x(10)) /
           ((s + x(0)) * (s + x(1)) * (s * s + x(2) * s + x(3)));
  });
}

TEST(UncertainTransfer, FiveEntriesWithAnAddedPole) {
  const double th1 = 1.3, th2 = 2.1, b1 = 0.8, b2 = 1.7, b3 = 0.9, c = 1.5;
  const UncertainMatrix one = constant(1.0);
  const UncertainTransfer g =
      uncertain_transfer({{{coefficient("b1", b1), coefficient("b2", b2), coefficient("b3", b3)},
                           {one, constant(2.0 * c), constant(c * c)}},
                          {{one, constant(c)}, {one, coefficient("th1", th1)}},
                          {{one, constant(c)}, {one, coefficient("th2", th2)}}});
  EXPECT_EQ(g.form.entries(), 5);
  EXPECT_EQ(g.repeats, 0);
  expect_transfer(g, {"th1", "th2", "b1", "b2", "b3"}, [&](Complex s, const Values& v) {
    return ((b1 + v.at("b1")) * s * s + (b2 + v.at("b2")) * s + b3 + v.at("b3")) /
           ((s + th1 + v.at("th1")) * (s + th2 + v.at("th2")));
  });
}

// With two states a repeat is needed: (s + th1)(s + th2) = s² + (th1 + th2) s + th1 th2.
TEST(UncertainTransfer, TwoStatesNeedARepeat) {
  const double th1 = 1.3, th2 = 2.1;
  const UncertainMatrix one = constant(1.0), first = coefficient("th1", th1),
                        second = coefficient("th2", th2);
  const UncertainTransfer g =
      uncertain_transfer({{{coefficient("b1", 0.8), coefficient("b2", 1.7), coefficient("b3", 0.9)},
                           {one, first + second, first * second}}});
  EXPECT_EQ(g.order, 2);
  EXPECT_GE(g.form.entries(), 6);
  EXPECT_LE(g.form.entries(), 7);
  expect_transfer(g, {"th1", "th2", "b1", "b2", "b3"}, [&](Complex s, const Values& v) {
    return ((0.8 + v.at("b1")) * s * s + (1.7 + v.at("b2")) * s + 0.9 + v.at("b3")) /
           ((s + th1 + v.at("th1")) * (s + th2 + v.at("th2")));
  });
}

TEST(UncertainTransfer, SquareOfAFrequency) {
  const double sigma = 0.2, omega = 3.0;
  const UncertainMatrix one = constant(1.0), w = coefficient("omega", omega);
  const UncertainTransfer g =
      uncertain_transfer({{{one}, {one, 2.0 * coefficient("sigma", sigma), w * w}}});
  EXPECT_EQ(g.form.entries(), 3);
  EXPECT_EQ(g.form.entries_of("omega"), 2);
  expect_transfer(g, {"sigma", "omega"}, [&](Complex s, const Values& v) {
    const double ww = omega + v.at("omega");
    return 1.0 / (s * s + 2.0 * (sigma + v.at("sigma")) * s + ww * ww);
  });
}

TEST(UncertainTransfer, MistakesAreNamed) {
  const UncertainMatrix one = constant(1.0);
  EXPECT_THROW(uncertain_transfer({{{one, one}, {one}}}), Error);
  EXPECT_THROW(uncertain_transfer({{{one}, {parameter("x"), one}}}), NumericalError);
}

}  // namespace
}  // namespace catena
