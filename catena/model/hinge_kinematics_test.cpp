// SPDX-License-Identifier: BSD-3-Clause
#include "catena/model/hinge_kinematics.h"

#include "catena/base/index.h"
#include "catena/model/testing/test_support.h"
#include "catena/spatial/pack.h"

namespace catena {
namespace {

using namespace test;

// One body on one hinge with identity frames; reversed: the world is the child.
Mechanism one_hinge(HingeSettings settings, bool reversed) {
  settings.frame_on_parent = settings.frame_on_child = {};
  MechanismBuilder b;
  Random random;
  b.add_body("body", random.body());
  b.add_hinge("hinge", reversed ? "body" : kWorld, reversed ? kWorld : "body", settings);
  return b.finish();
}

HingeMotion<double> motion_of(const Mechanism& m, const VectorXd& q, const VectorXd& v) {
  HingeMotion<double> motion;
  evaluate_hinge(m.nodes()[0], m.screws().data(), m.customs()[0], q.data(), v.data(), motion);
  return motion;
}

VectorXd random_q(HingeType type, int n, Random& random) {
  VectorXd q(n);
  for (double& x : q) x = random.number(-1.5, 1.5);
  if (type == HingeType::spherical || type == HingeType::free) q.head<4>().normalize();
  return q;
}

// The coordinates after moving at the constant user's velocity v for the time t (to second order).
VectorXd moved(HingeType type, const VectorXd& q, const VectorXd& v, double t) {
  if (type != HingeType::spherical && type != HingeType::free) return q + t * v;
  const Vector3d w = t * v.head<3>();
  const Eigen::Quaterniond a(q[0], q[1], q[2], q[3]);
  const Eigen::Quaterniond b =
      a * Eigen::Quaterniond(Eigen::AngleAxisd(
              w.norm(), w.norm() > 0 ? Vector3d(w.normalized()) : Vector3d::UnitX()));
  VectorXd next = q;
  next.head<4>() << b.w(), b.x(), b.y(), b.z();
  if (type == HingeType::free) {
    const Vector3d u = t * v.tail<3>();
    next.tail<3>() += a * Vector3d(u + 0.5 * w.cross(u));
  }
  return next;
}

// The twist ω, v of X⁻¹ Ẋ.
Vector6d vee(const Matrix4d& m) {
  return (Vector6d() << m(2, 1), m(0, 2), m(1, 0), m.topRightCorner<3, 1>()).finished();
}

class EveryHinge : public testing::TestWithParam<std::tuple<HingeType, bool>> {
 protected:
  void SetUp() override {
    const auto [type, reversed] = GetParam();
    type_ = type;
    reversed_ = reversed;
  }
  HingeType type_{};
  bool reversed_ = false;
  Random random_;
};

TEST_P(EveryHinge, DisplacementIsTheProductOfElementaryMatrices) {
  for (int trial = 0; trial < 20; ++trial) {
    const HingeSettings settings = random_.hinge(type_);
    const Mechanism m = one_hinge(settings, reversed_);
    ASSERT_EQ(m.nodes().size(), 1u);
    EXPECT_EQ(m.hinges()[0].reversed, reversed_);
    const VectorXd q = random_q(type_, m.coordinates(), random_);
    const Matrix4d j = displacement(settings, q.data());
    const Matrix4d expected = reversed_ ? Matrix4d(j.inverse()) : j;
    EXPECT_LT((body_pose(m, node_poses(m, q), "body") - expected).norm(), 1e-13);
  }
}

TEST_P(EveryHinge, MotionMapIsTheDerivativeOfTheDisplacement) {
  constexpr double kStep = 1e-5;
  for (int trial = 0; trial < 10; ++trial) {
    const Mechanism m = one_hinge(random_.hinge(type_), reversed_);
    const VectorXd q = random_q(type_, m.coordinates(), random_);
    const VectorXd zero = VectorXd::Zero(m.freedoms());
    const HingeMotion<double> here = motion_of(m, q, zero);
    for (int k = 0; k < m.freedoms(); ++k) {
      const VectorXd e = VectorXd::Unit(m.freedoms(), k);
      const Matrix4d ahead = matrix(motion_of(m, moved(type_, q, e, kStep), zero).displacement);
      const Matrix4d behind = matrix(motion_of(m, moved(type_, q, e, -kStep), zero).displacement);
      const Matrix4d rate = matrix(here.displacement).inverse() * (ahead - behind) / (2.0 * kStep);
      EXPECT_LT((vee(rate) - to_eigen(here.map[k])).norm(), 1e-8) << k;
    }
  }
}

TEST_P(EveryHinge, BiasIsTheRateOfTheMotionMap) {
  constexpr double kStep = 1e-5;
  for (int trial = 0; trial < 10; ++trial) {
    const Mechanism m = one_hinge(random_.hinge(type_), reversed_);
    const VectorXd q = random_q(type_, m.coordinates(), random_);
    VectorXd v(m.freedoms());
    for (double& x : v) x = random_.number(-2.0, 2.0);
    const auto twist_at = [&](double t) {
      const HingeMotion<double> motion = motion_of(m, moved(type_, q, v, t), v);
      Vector6d sum = Vector6d::Zero();
      for (int k = 0; k < m.freedoms(); ++k) sum += to_eigen(motion.map[k]) * v[k];
      return sum;
    };
    const Vector6d rate = (twist_at(kStep) - twist_at(-kStep)) / (2.0 * kStep);
    EXPECT_LT((rate - to_eigen(motion_of(m, q, v).bias)).norm(), 1e-7 * (1.0 + rate.norm()));
  }
}

TEST_P(EveryHinge, ReversedIsTheInverse) {
  const HingeSettings settings = random_.hinge(type_);
  const Mechanism forward = one_hinge(settings, false);
  const Mechanism backward = one_hinge(settings, true);
  const VectorXd q = random_q(type_, forward.coordinates(), random_);
  const Matrix4d product = body_pose(forward, node_poses(forward, q), "body") *
                           body_pose(backward, node_poses(backward, q), "body");
  EXPECT_LT((product - Matrix4d::Identity()).norm(), 1e-13);
}

TEST_P(EveryHinge, DualNumbersAndPacksAgreeWithDouble) {
  if (type_ == HingeType::custom) return;  // serves double only
  using D = Dual<double, 1>;
  const Mechanism m = one_hinge(random_.hinge(type_), reversed_);
  const Node& node = m.nodes()[0];
  const VectorXd q = random_q(type_, m.coordinates(), random_);
  VectorXd v(m.freedoms());
  for (double& x : v) x = random_.number();
  const HingeMotion<double> expected = motion_of(m, q, v);

  constexpr double kStep = 1e-6;
  const VectorXd rate = (moved(type_, q, v, kStep) - moved(type_, q, v, -kStep)) / (2.0 * kStep);
  D dual_q[kMaxCoordinates], dual_v[kMaxFreedoms];
  for (int k = 0; k < m.coordinates(); ++k) {
    dual_q[k] = D(q[k]);
    dual_q[k].derivative[0] = rate[k];
  }
  for (int k = 0; k < m.freedoms(); ++k) dual_v[k] = D(v[k]);
  HingeMotion<D> dual;
  evaluate_hinge(node, m.screws().data(), nullptr, static_cast<const D*>(dual_q),
                 static_cast<const D*>(dual_v), dual);
  Vector6d twist = Vector6d::Zero(), twist_rate = Vector6d::Zero();
  for (int k = 0; k < m.freedoms(); ++k)
    for (int i = 0; i < 6; ++i) {
      EXPECT_NEAR(dual.map[k][i].value, expected.map[k][i], 1e-15);
      twist[i] += expected.map[k][i] * v[k];
      twist_rate[i] += dual.map[k][i].derivative[0] * v[k];
    }
  EXPECT_LT((to_eigen(body_twist(dual.displacement, 0)) - twist).norm(), 1e-8);
  EXPECT_LT((twist_rate - to_eigen(expected.bias)).norm(), 1e-8);

  // A different state in every lane.
  std::vector<VectorXd> qs, vs;
  for (int lane = 0; lane < Pack::kLanes; ++lane) {
    qs.push_back(random_q(type_, m.coordinates(), random_));
    vs.emplace_back(v * (1.0 + lane));
  }
  Pack pack_q[kMaxCoordinates], pack_v[kMaxFreedoms];
  const auto gather = [](const std::vector<VectorXd>& from, int k) {
    double lanes[Pack::kLanes];
    for (int lane = 0; lane < Pack::kLanes; ++lane) lanes[lane] = from[index(lane)][k];
    return Pack::load(lanes);
  };
  for (int k = 0; k < m.coordinates(); ++k) pack_q[k] = gather(qs, k);
  for (int k = 0; k < m.freedoms(); ++k) pack_v[k] = gather(vs, k);
  HingeMotion<Pack> pack;
  evaluate_hinge(node, m.screws().data(), nullptr, static_cast<const Pack*>(pack_q),
                 static_cast<const Pack*>(pack_v), pack);
  for (int lane = 0; lane < Pack::kLanes; ++lane) {
    const std::size_t l = to_size(lane);
    const HingeMotion<double> one = motion_of(m, qs[l], vs[l]);
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(pack.displacement.translation[i].lane(lane), one.displacement.translation[i],
                  1e-14);
      for (int j = 0; j < 3; ++j)
        EXPECT_NEAR(pack.displacement.rotation.matrix(i, j).lane(lane),
                    one.displacement.rotation.matrix(i, j), 1e-14);
    }
    for (int i = 0; i < 6; ++i) {
      EXPECT_NEAR(pack.bias[i].lane(lane), one.bias[i], 1e-13);
      for (int k = 0; k < m.freedoms(); ++k)
        EXPECT_NEAR(pack.map[k][i].lane(lane), one.map[k][i], 1e-14);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, EveryHinge,
                         testing::Combine(testing::ValuesIn(kMovingTypes), testing::Bool()),
                         [](const auto& param) {
                           return std::string(to_string(std::get<0>(param.param))) +
                                  (std::get<1>(param.param) ? "_reversed" : "");
                         });

TEST(HingeKinematics, PlanarWithoutAnXDirectionTurnsTheFrameShortestOntoTheNormal) {
  // Normal x: the shortest turn of z onto x is about y, it takes x to −z and y to y.
  HingeSettings settings;
  settings.type = HingeType::planar;
  settings.axes = {{1, 0, 0}};
  const Mechanism m = one_hinge(settings, false);
  const VectorXd q = Eigen::Vector3d(0.0, 2.0, 3.0);
  const Matrix4d pose = body_pose(m, node_poses(m, q), "body");
  EXPECT_LT((pose.topRightCorner<3, 1>() - Vector3d(0.0, 3.0, -2.0)).norm(), 1e-15);
}

TEST(HingeKinematics, GimbalTakesAnyEulerSequence) {
  HingeSettings settings;
  settings.type = HingeType::gimbal;
  settings.axes = {{0, 0, 1}, {1, 0, 0}, {0, 0, 1}};
  const Mechanism m = one_hinge(settings, false);
  const VectorXd q = Eigen::Vector3d(0.3, 1.1, -0.7);
  const Matrix3d expected =
      (Eigen::AngleAxisd(0.3, Vector3d::UnitZ()) * Eigen::AngleAxisd(1.1, Vector3d::UnitX()) *
       Eigen::AngleAxisd(-0.7, Vector3d::UnitZ()))
          .toRotationMatrix();
  const Matrix4d pose = body_pose(m, node_poses(m, q), "body");
  EXPECT_LT((Matrix3d(pose.topLeftCorner<3, 3>()) - expected).norm(), 1e-14);
}

// A pin in a parabolic slot, z = q²/2, that stays tangent to it: everything by hand.
class Slot : public CustomHinge {
 public:
  int freedoms() const override { return 1; }
  Transformd transform(std::span<const double> q) const override {
    return {Rotationd::about_y(-std::atan(q[0])), {q[0], 0.0, 0.5 * q[0] * q[0]}};
  }
  void motion_map(std::span<const double> q, std::span<Twistd> columns) const override {
    const double s = 1.0 + q[0] * q[0];
    columns[0] = {{0.0, -1.0 / s, 0.0}, {std::sqrt(s), 0.0, 0.0}};
  }
  void motion_map_rate(std::span<const double> q, std::span<const double> v,
                       std::span<Twistd> columns) const override {
    const double s = 1.0 + q[0] * q[0];
    columns[0] = {{0.0, 2.0 * q[0] * v[0] / (s * s), 0.0}, {q[0] * v[0] / std::sqrt(s), 0.0, 0.0}};
  }
};

TEST(CustomHinge, ByClassAndByItsTransformAloneAreTheSame) {
  const Slot by_hand;
  const auto by_transform = make_custom_hinge<1>([](const auto* q) {
    using Scalar = std::decay_t<decltype(*q)>;
    using std::atan2;
    const Scalar one(1.0);
    return Transform<Scalar>{Rotation<Scalar>::about_y(-atan2(q[0], one)),
                             {q[0], Scalar(0.0), Scalar(0.5) * q[0] * q[0]}};
  });
  for (const double q : {-2.0, -0.3, 0.0, 0.4, 3.0}) {
    const double v = 1.7;
    Twistd h1, h2, r1, r2;
    by_hand.motion_map({&q, 1}, {&h1, 1});
    by_transform->motion_map({&q, 1}, {&h2, 1});
    by_hand.motion_map_rate({&q, 1}, {&v, 1}, {&r1, 1});
    by_transform->motion_map_rate({&q, 1}, {&v, 1}, {&r2, 1});
    EXPECT_LT(
        (matrix(by_hand.transform({&q, 1})) - matrix(by_transform->transform({&q, 1}))).norm(),
        1e-15);
    EXPECT_LT((to_eigen(h1) - to_eigen(h2)).norm(), 1e-14);
    EXPECT_LT((to_eigen(r1) - to_eigen(r2)).norm(), 1e-14);
  }
}

TEST(CustomHinge, SixFreedomsThatAreNotOrthonormal) {
  const auto hinge = make_custom_hinge<6>([](const auto* q) {
    using Scalar = std::decay_t<decltype(*q)>;
    return Transform<Scalar>{Rotation<Scalar>::from_rpy(q[0], Scalar(2.0) * q[1], q[2] + q[3]),
                             {q[3] * q[4], q[4] + Scalar(3.0) * q[5], q[5] - q[0] * q[0]}};
  });
  MechanismBuilder b;
  b.add_body("body", ball());
  HingeSettings settings;
  settings.type = HingeType::custom;
  settings.custom = hinge;
  b.add_hinge("six", kWorld, "body", settings);
  const Mechanism m = b.finish();  // checks H and its rate against differences
  EXPECT_EQ(m.freedoms(), 6);
  EXPECT_EQ(m.position_names()[5], "six.6");
}

// Dual numbers carry the derivatives of what the user's functions give; against differences of it.
TEST(CustomHinge, DualNumbersDifferentiateIt) {
  const Mechanism m = one_hinge(Random().hinge(HingeType::custom), false);
  using D = Dual<double, 1>;
  const double dq[2] = {1.0, -0.5}, dv[2] = {0.3, 0.7};
  D q[2] = {D(0.1), D(0.2)}, v[2] = {D(0.6), D(-0.4)};
  for (int k = 0; k < 2; ++k) {
    q[k].derivative[0] = dq[k];
    v[k].derivative[0] = dv[k];
  }
  HingeMotion<D> motion;
  evaluate_hinge(m.nodes()[0], m.screws().data(), m.customs()[0], q, v, motion);
  constexpr double kStep = 1e-5;
  HingeMotion<double> side[2];
  for (int i = 0; i < 2; ++i) {
    const double h = i == 0 ? -kStep : kStep;
    const double at[2] = {0.1 + h * dq[0], 0.2 + h * dq[1]};
    const double rate[2] = {0.6 + h * dv[0], -0.4 + h * dv[1]};
    evaluate_hinge(m.nodes()[0], m.screws().data(), m.customs()[0], at, rate, side[i]);
  }
  const auto expect_rate = [&](const D& found, double before, double after) {
    EXPECT_NEAR(found.derivative[0], (after - before) / (2.0 * kStep), 1e-8);
    EXPECT_NEAR(found.value, 0.5 * (before + after), 1e-8);
  };
  for (int i = 0; i < 6; ++i) {
    expect_rate(motion.bias[i], side[0].bias[i], side[1].bias[i]);
    for (int k = 0; k < 2; ++k) expect_rate(motion.map[k][i], side[0].map[k][i], side[1].map[k][i]);
  }
  for (int i = 0; i < 3; ++i) {
    expect_rate(motion.displacement.translation[i], side[0].displacement.translation[i],
                side[1].displacement.translation[i]);
    for (int j = 0; j < 3; ++j)
      expect_rate(motion.displacement.rotation.matrix.m[i][j],
                  side[0].displacement.rotation.matrix.m[i][j],
                  side[1].displacement.rotation.matrix.m[i][j]);
  }
}

// A wrong sign in H, or in its rate.
class WrongSlot : public Slot {
 public:
  explicit WrongSlot(bool wrong_rate) : wrong_rate_(wrong_rate) {}
  void motion_map(std::span<const double> q, std::span<Twistd> columns) const override {
    Slot::motion_map(q, columns);
    if (!wrong_rate_) columns[0].angular = -columns[0].angular;
  }
  void motion_map_rate(std::span<const double> q, std::span<const double> v,
                       std::span<Twistd> columns) const override {
    Slot::motion_map_rate(q, v, columns);
    if (wrong_rate_) columns[0] = -columns[0];
    if (!wrong_rate_) columns[0].angular = -columns[0].angular;
  }

 private:
  bool wrong_rate_;
};

TEST(CustomHinge, MotionMapAndItsRateAreChecked) {
  for (const bool wrong_rate : {false, true}) {
    MechanismBuilder b;
    b.add_body("pin", ball());
    HingeSettings settings;
    settings.type = HingeType::custom;
    settings.custom = std::make_shared<WrongSlot>(wrong_rate);
    b.add_hinge("slot", kWorld, "pin", settings);
    const auto problems = problems_of(b);
    EXPECT_EQ(problems.size(), 1u) << text(problems);
    EXPECT_TRUE(mentions(problems, {"slot", "column 1",
                                    wrong_rate ? "motion map rate is not" : "motion map is not"}));
    settings.custom = std::make_shared<Slot>();
    static_cast<HingeSettings&>(b.hinge("slot")) = settings;
    EXPECT_NO_THROW(b.finish());
  }
}

TEST(HingeType, NamesAndSizes) {
  for (const std::string& name : hinge_type_names()) {
    const auto type = hinge_type_from(name);
    ASSERT_TRUE(type.has_value());
    EXPECT_EQ(to_string(*type), name);
    if (*type == HingeType::custom) continue;
    EXPECT_EQ(position_suffixes(*type, coordinates_of(*type)).size(),
              to_size(coordinates_of(*type)));
    EXPECT_EQ(velocity_suffixes(*type, freedoms_of(*type)).size(), to_size(freedoms_of(*type)));
  }
  EXPECT_EQ(hinge_type_from("ball"), std::nullopt);
}

}  // namespace
}  // namespace catena
