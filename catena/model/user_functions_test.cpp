// SPDX-License-Identifier: BSD-3-Clause
// Functions of users: what is wrong with them is named, and what is only steep is not.
#include "catena/model/user_functions.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "catena/model/testing/arm_model.h"

namespace catena {
namespace {

using namespace test;

// g = constants · q + square q1² of the two hinges, with a gradient and a second derivative that
// may be others.
Coupling coupled(std::array<double, 2> constants, std::array<double, 2> gradient,
                 double square = 0.0, double second = 0.0) {
  return {.name = "cam",
          .terms = {{"elbow", 0}, {"shoulder", 0}},
          .function = [=](std::span<const double> q, double& value, std::span<double> slope,
                          std::span<double> bend) {
            value = constants[0] * q[0] + constants[1] * q[1] + square * q[1] * q[1];
            slope[0] = gradient[0];
            slope[1] = gradient[1] + 2.0 * square * q[1];
            std::fill(bend.begin(), bend.end(), 0.0);
            bend[3] = second;
          }};
}

// A pin about z whose functions may be wrong.
class Pin : public CustomHinge {
 public:
  enum class Fault { none, throws, dependent };
  explicit Pin(Fault fault) : fault_(fault) {}
  int freedoms() const override { return fault_ == Fault::dependent ? 2 : 1; }
  Transformd transform(std::span<const double> q) const override {
    if (fault_ == Fault::throws) throw std::runtime_error("boom");
    return {Rotationd::about_z(std::accumulate(q.begin(), q.end(), 0.0)), {}};
  }
  void motion_map(std::span<const double>, std::span<Twistd> columns) const override {
    std::fill(columns.begin(), columns.end(), Twistd{Vec3d::unit_z(), {}});
  }
  void motion_map_rate(std::span<const double>, std::span<const double>,
                       std::span<Twistd> columns) const override {
    std::fill(columns.begin(), columns.end(), Twistd{});
  }

 private:
  Fault fault_;
};
void set_pin(MechanismBuilder& b, Pin::Fault fault) {
  set_type(b, HingeType::custom);
  b.hinge("elbow").custom = std::make_shared<Pin>(fault);
}

TEST(UserFunctions, ThatAreWrongAreNamed) {
  using B = MechanismBuilder&;
  struct Mistake {
    const char* name;
    std::function<void(MechanismBuilder&)> make;
    std::vector<std::string> words;
  };
  const std::vector<Mistake> mistakes = {
      {"CustomThatThrows",
       [](B b) { set_pin(b, Pin::Fault::throws); },
       {"'elbow'", "its transform failed at q = 0.1: boom"}},
      {"CustomWithDependentColumns",
       [](B b) { set_pin(b, Pin::Fault::dependent); },
       {"'elbow'", "columns", "dependent at q = (0.1, 0.17)"}},
      {"CouplingWithAWrongGradient",  // g = q0 - 2 q1
       [](B b) {
         b.add_coupling(coupled({1.0, -2.0}, {1.0, 5.0}));
       },
       {"'cam'", "gradient", "by 'shoulder' is not its derivative", "differ by 7"}},
      {"CouplingWithAWrongSecondDerivative",  // g = q0 + q1²: its second derivative is 2
       [](B b) {
         b.add_coupling(coupled({1.0, 0.0}, {1.0, 0.0}, 1.0, 0.0));
       },
       {"'cam'", "second derivative", "by 'shoulder' and by 'shoulder'", "differ by 2"}},
      {"CouplingThatThrows",
       [](B b) {
         Coupling cam = coupled({}, {});
         cam.function = [](std::span<const double>, double&, std::span<double>, std::span<double>) {
           throw std::runtime_error("no table\nfrom afar");
         };
         b.add_coupling(cam);
         b.hinge("elbow").initial_position = {0.5};
         b.hinge("shoulder").initial_position = {0.25};
       },
       {"'cam'", "failed at q = (0.5, 0.25): no table"}},
  };
  for (const Mistake& mistake : mistakes) {
    MechanismBuilder b = arm();
    mistake.make(b);
    const auto problems = problems_of(b);
    EXPECT_TRUE(mentions(problems, mistake.words)) << mistake.name << ": " << text(problems);
    EXPECT_EQ(problems.size(), 1u) << mistake.name << ": " << text(problems);
  }
}

// A user's function that throws takes no other mistake with it.
TEST(UserFunctions, ThatThrowHideNothing) {
  MechanismBuilder b = arm();
  set_pin(b, Pin::Fault::throws);
  b.add_body("hand", ball()).add_hinge("wrist", "lowr", "hand");
  const auto problems = problems_of(b);
  EXPECT_TRUE(mentions(problems, {"'elbow'", "boom"}));
  EXPECT_TRUE(mentions(problems, {"'wrist'", "'lowr'"}));
  EXPECT_EQ(problems.size(), 2u) << text(problems);
}

TEST(UserFunctions, ThatAreRightPass) {
  MechanismBuilder b = arm();
  set_pin(b, Pin::Fault::none);
  b.add_coupling(coupled({1.0, -2.0}, {1.0, -2.0}, 0.5, 1.0));
  EXPECT_TRUE(problems_of(b).empty()) << text(problems_of(b));
}

// g = q0 - f(q1) with f, f' and f'' of the user.
Coupling cam(std::function<std::array<double, 3>(double)> f) {
  return {.name = "cam",
          .terms = {{"elbow", 0}, {"shoulder", 0}},
          .function = [f](std::span<const double> q, double& value, std::span<double> gradient,
                          std::span<double> hessian) {
            const auto [profile, slope, bend] = f(q[1]);
            value = q[0] - profile;
            gradient[0] = 1.0;
            gradient[1] = -slope;
            std::fill(hessian.begin(), hessian.end(), 0.0);
            hessian[3] = -bend;
          }};
}

// What differences cannot see clearly is no mistake: ripples, kinks, far positions, ends of tables.
TEST(UserFunctions, ThatAreSteepOrKinkedPass) {
  const auto ripple = [](double size, double k) {
    return [=](double x) {
      return std::array{size * std::sin(k * x), size * k * std::cos(k * x),
                        -size * k * k * std::sin(k * x)};
    };
  };
  const auto step = [](double x) {
    const double t = std::tanh(x / 1e-3), s = 1.0 - t * t;
    return std::array{t, 1e3 * s, -2e6 * t * s};
  };
  const auto dwell = [](double x) {
    return x < 0.0 ? std::array{0.0, 0.0, 0.0} : std::array{x * x, 2.0 * x, 2.0};
  };
  const auto edge = [](double x) {
    return x < 0.0 ? std::array{-x, -1.0, 0.0} : std::array{x, 1.0, 0.0};
  };
  const auto line = [](double x) { return std::array{x / 3.0, 1.0 / 3.0, 0.0}; };
  const auto log_of = [](double x) {
    if (x <= 0.0) throw std::domain_error("log of a negative number");
    return std::array{std::log(x), 1.0 / x, -1.0 / (x * x)};
  };
  using Profile = std::function<std::array<double, 3>(double)>;
  const std::vector<std::pair<const char*, Profile>> profiles = {{"fine", ripple(1e-3, 628.0)},
                                                                 {"ripple", ripple(1e-4, 500.0)},
                                                                 {"step", step},
                                                                 {"dwell", dwell},
                                                                 {"edge", edge},
                                                                 {"line", line},
                                                                 {"log", log_of}};
  for (const auto& [name, profile] : profiles)
    for (const double start : {0.0, 1e-6, 3e-4, 0.17, 0.25, -0.4, 1e6}) {
      MechanismBuilder b = arm();
      b.add_coupling(cam(profile));
      b.hinge("shoulder").initial_position = {start};
      EXPECT_TRUE(problems_of(b).empty()) << name << " " << start << ": " << text(problems_of(b));
    }
  // Wrong by a percent.
  for (const auto& [name, profile] : profiles) {
    MechanismBuilder b = arm();
    b.add_coupling(cam([&profile = profile](double x) {
      auto [f, slope, bend] = profile(x);
      return std::array{f, 1.01 * slope, 1.01 * bend};
    }));
    b.hinge("shoulder").initial_position = {name == std::string("step") ? 3e-4 : 0.17};
    EXPECT_EQ(problems_of(b).size(), 1u) << name << text(problems_of(b));
  }
}

TEST(UserFunctions, CustomHingesMayStartInASingularPosition) {
  // x = cos q: at its dead point the column is zero. A rotor carries it through.
  class Crank : public CustomHinge {
   public:
    int freedoms() const override { return 1; }
    Transformd transform(std::span<const double> q) const override {
      return Transformd::from_translation({std::cos(q[0]), 0.0, 0.0});
    }
    void motion_map(std::span<const double> q, std::span<Twistd> columns) const override {
      columns[0] = {{}, {-std::sin(q[0]), 0.0, 0.0}};
    }
    void motion_map_rate(std::span<const double> q, std::span<const double> v,
                         std::span<Twistd> columns) const override {
      columns[0] = {{}, {-std::cos(q[0]) * v[0], 0.0, 0.0}};
    }
  };
  MechanismBuilder b = arm();
  set_type(b, HingeType::custom);
  b.hinge("elbow").custom = std::make_shared<Crank>();
  b.hinge("elbow").initial_position = {0.0};
  b.hinge("elbow").drive = {.rotor_inertia = 0.1, .armature_only = true};
  EXPECT_TRUE(problems_of(b).empty()) << text(problems_of(b));
}

}  // namespace
}  // namespace catena
