// SPDX-License-Identifier: BSD-3-Clause
#include "catena/dynamics/kinematics.h"

#include "catena/base/index.h"
#include "catena/dynamics/forward.h"
#include "catena/dynamics/published/published_cases.h"
#include "catena/dynamics/testing/test_support.h"

namespace catena::test {
namespace {

using reference::Motion;
using reference::V3;

template <class Real>
Vector3d eigen(const V3<Real>& a) {
  return {static_cast<double>(a[0]), static_cast<double>(a[1]), static_cast<double>(a[2])};
}

// A point of a body by the reference: its motion from that of the mass centre.
struct PointMotion {
  Vector3d position, velocity, acceleration, angular_velocity, angular_acceleration;
  Matrix3d rotation;
};

PointMotion point_motion(const Mechanism& m, const std::vector<Motion<Exact>>& all, int body,
                         const Vec3d& point) {
  const Motion<Exact>& at = all[index(body)];
  PointMotion p;
  for (std::size_t i = 0; i < 3; ++i) p.rotation.row(static_cast<int>(i)) = eigen(at.r[i]);
  p.angular_velocity = eigen(at.angular_velocity);
  p.angular_acceleration = eigen(at.angular_acceleration);
  const Vec3d& center = m.description().bodies[index(body)].center_of_mass;
  const Vector3d r = p.rotation * to_eigen(point - center), &w = p.angular_velocity;
  p.position = eigen(at.center) + r;
  p.velocity = eigen(at.center_velocity) + w.cross(r);
  p.acceleration =
      eigen(at.center_acceleration) + p.angular_acceleration.cross(r) + w.cross(w.cross(r));
  return p;
}

Vector6d six(const Vector3d& angular, const Vector3d& linear) {
  return (Vector6d() << angular, linear).finished();
}
Vector6d in_axes(const Matrix3d& r, const Vector6d& x) {
  return six(r.transpose() * x.head<3>(), r.transpose() * x.tail<3>());
}
double error_of(const Twistd& actual, const Vector6d& expected) {
  return (to_eigen(actual) - expected).norm() / (1.0 + expected.norm());
}
double error_of(const Vec3d& actual, const Vector3d& expected) {
  return (to_eigen(actual) - expected).norm() / (1.0 + expected.norm());
}

// Every hinge type by itself, then mixed trees; welded, reversed, free and fixed base.
std::vector<Mechanism> zoo(unsigned seed) {
  Random random(seed);
  std::vector<Mechanism> all;
  all.reserve(kMovingTypes.size());
  for (const HingeType type : kMovingTypes)
    all.push_back(random_tree(random, {.bodies = 4, .welds = false, .types = {type}}).finish());
  for (int i = 0; i < 12; ++i)
    all.push_back(random_tree(random, {.bodies = 3 + 2 * i, .free_base = i % 2 == 0}).finish());
  return all;
}

TEST(Kinematics, AgreesWithTheReference) {
  Random random(11);
  Worst pose, velocity, acceleration, jacobian, rate;
  for (const Mechanism& m : zoo(1)) {
    const Case c = random_case(random, m, 0);
    const reference::Engine<Exact> engine(m);
    const auto q = plain<Exact>(c.state.q), v = plain<Exact>(c.state.v);
    const reference::Vector<Exact> zero(v.size(), 0.0L);
    const auto moving = engine.motion(q, v, plain<Exact>(c.acceleration));
    const auto coasting = engine.motion(q, v, zero);
    std::vector<std::vector<Motion<Exact>>> unit;
    for (std::size_t k = 0; k < v.size(); ++k) {
      reference::Vector<Exact> e = zero;
      e[k] = 1.0L;
      unit.push_back(engine.motion(q, e, zero));
    }
    Workspace w(m);
    update_accelerations(m, c.state, c.acceleration, w);
    for (int b = 0; b < static_cast<int>(m.bodies().size()); ++b) {
      const Vec3d point = random.vector();
      const PointMotion p = point_motion(m, moving, b, point);
      const PointMotion origin = point_motion(m, moving, b, {});
      const Matrix3d& r = p.rotation;
      pose.take((to_eigen(body_pose(m, w, b).rotation) - r).norm());
      pose.take(error_of(body_pose(m, w, b).translation, origin.position));
      pose.take(error_of(point_position(m, w, b, point), p.position));

      const Vector6d twist = six(origin.angular_velocity, origin.velocity);
      velocity.take(error_of(body_twist(m, w, b, Axes::ground), twist));
      velocity.take(error_of(body_twist(m, w, b, Axes::body), in_axes(r, twist)));
      velocity.take(error_of(point_velocity(m, w, b, point), p.velocity));
      velocity.take(
          error_of(point_velocity(m, w, b, point, Axes::body), r.transpose() * p.velocity));

      const Vector6d a = six(origin.angular_acceleration, origin.acceleration);
      acceleration.take(error_of(body_acceleration(m, w, b), a));
      acceleration.take(error_of(body_acceleration(m, w, b, Axes::body), in_axes(r, a)));
      acceleration.take(error_of(point_acceleration(m, w, b, point), p.acceleration));
      acceleration.take(
          error_of(point_acceleration(m, w, b, point, Axes::body), r.transpose() * p.acceleration));

      const MatrixXd j = body_jacobian(m, w, b, point, Axes::ground);
      const MatrixXd own = body_jacobian(m, w, b, point, Axes::body);
      for (std::size_t k = 0; k < v.size(); ++k) {
        const PointMotion u = point_motion(m, unit[k], b, point);
        const Vector6d column = six(u.angular_velocity, u.velocity);
        const Eigen::Index i = static_cast<Eigen::Index>(k);
        jacobian.take((j.col(i) - column).norm() / (1.0 + column.norm()));
        jacobian.take((own.col(i) - in_axes(r, column)).norm() / (1.0 + column.norm()));
      }

      const PointMotion coast = point_motion(m, coasting, b, point);
      const Vector6d jv = six(coast.angular_acceleration, coast.acceleration);
      rate.take(error_of(jacobian_rate_times_velocity(m, w, b, point), jv));
      const Vector6d relative =
          jv - six(Vector3d::Zero(), coast.angular_velocity.cross(coast.velocity));
      rate.take(
          error_of(jacobian_rate_times_velocity(m, w, b, point, Axes::body), in_axes(r, relative)));
    }
  }
  // Rounding of a few dozen additions per body, up to 25 bodies deep.
  EXPECT_LT(pose.value, 1e-13);
  EXPECT_LT(velocity.value, 1e-13);
  EXPECT_LT(acceleration.value, 1e-12);
  EXPECT_LT(jacobian.value, 1e-13);
  EXPECT_LT(rate.value, 1e-12);
}

TEST(Kinematics, JacobiansAreDerivativesOfPositions) {
  Random random(12);
  // Central differences of order h²: h² times third derivatives, and rounding 1e-16 / h.
  const double h = 1e-5;
  for (const Mechanism& m : zoo(2)) {
    const Case c = random_case(random, m, 0);
    const VectorXd& v = c.state.v;
    const int b = random.below(static_cast<int>(m.bodies().size()));
    const Vec3d point = random.vector();
    const MatrixXd j = body_jacobian(m, c.state.q, b, point);
    for (int k = 0; k < m.freedoms(); ++k) {
      const VectorXd step = h * VectorXd::Unit(m.freedoms(), k);
      const Vector3d slope =
          (to_eigen(point_position(m, integrate(m, c.state.q, step), b, point)) -
           to_eigen(point_position(m, integrate(m, c.state.q, -step), b, point))) /
          (2.0 * h);
      EXPECT_LT((slope - j.col(k).tail<3>()).norm(), 1e-8 * (1.0 + slope.norm()))
          << m.velocity_names()[index(k)];
    }
    for (const Axes axes : {Axes::ground, Axes::body}) {
      const Vector6d slope =
          (body_jacobian(m, integrate(m, c.state.q, h * v), b, point, axes) * v -
           body_jacobian(m, integrate(m, c.state.q, -h * v), b, point, axes) * v) /
          (2.0 * h);
      const Twistd rate = jacobian_rate_times_velocity(m, c.state, b, point, axes);
      EXPECT_LT((slope - to_eigen(rate)).norm(), 1e-6 * (1.0 + slope.norm()));
    }
  }
}

// J v̇ + J̇ v is the acceleration, also as the dynamics leave it.
TEST(Kinematics, AccelerationsAfterDynamics) {
  Random random(13);
  for (const Mechanism& m : zoo(3)) {
    const Case c = random_case(random, m, 2);
    Workspace w(m), fresh(m);
    const auto check = [&](const VectorXd& acceleration) {
      update_kinematics(m, c.state.q, c.state.v, fresh);
      for (int b = 0; b < static_cast<int>(m.bodies().size()); ++b) {
        const Vec3d point{0.3, -0.2, 0.5};
        const Vector6d expected = body_jacobian(m, fresh, b, point) * acceleration +
                                  to_eigen(jacobian_rate_times_velocity(m, fresh, b, point));
        const double size = 1.0 + expected.norm();
        EXPECT_LT((to_eigen(point_acceleration(m, w, b, point)) - expected.tail<3>()).norm(),
                  1e-10 * size);
        EXPECT_LT((to_eigen(body_acceleration(m, w, b).angular) - expected.head<3>()).norm(),
                  1e-10 * size);
      }
    };
    check(forward_dynamics(m, c.state, c.effort, w, c.external));
    update_poses(m, w);
    for (int b = 0; b < static_cast<int>(m.bodies().size()); ++b) {
      EXPECT_LT((matrix(body_pose(m, w, b)) - matrix(body_pose(m, c.state.q, b))).norm(), 1e-13);
      EXPECT_LT((to_eigen(body_twist(m, w, b, Axes::ground)) -
                 to_eigen(body_twist(m, c.state, b, Axes::ground)))
                    .norm(),
                1e-12);
    }
    inverse_dynamics(m, c.state, c.acceleration, w, c.external);
    check(c.acceleration);
    HybridResult result;
    hybrid_dynamics(m, c.state, random_hybrid(random, c), w, result, c.external);
    check(result.acceleration);
  }
}

TEST(Kinematics, FramesAndTheGround) {
  Random random(14);
  MechanismBuilder builder = random_tree(random, {.bodies = 6});
  const Transformd pose = random.pose();
  builder.add_frame("tool", "b5", pose).add_frame("desk", kWorld, pose);
  builder.add_body("pedestal", random.body());
  const HingeSettings weld = random.hinge(HingeType::weld);
  builder.add_hinge("bolts", kWorld, "pedestal", weld);
  const Mechanism m = builder.finish();
  const Case c = random_case(random, m, 0);
  Workspace w(m);
  update_accelerations(m, c.state, c.acceleration, w);
  const auto frame = [&](const char* name) {
    return matrix(frame_pose(m, w, m.frame_index(name)));
  };
  EXPECT_LT((frame("tool") - matrix(body_pose(m, w, m.body_index("b5")) * pose)).norm(), 1e-14);
  EXPECT_LT((frame("desk") - matrix(pose)).norm(), 1e-15);

  const int pedestal = m.body_index("pedestal");
  EXPECT_LT((matrix(body_pose(m, w, pedestal)) -
             matrix(weld.frame_on_parent * weld.frame_on_child.inverse()))
                .norm(),
            1e-15);
  EXPECT_EQ(matrix(body_pose(m, w, -1)), Matrix4d::Identity());
  for (const int fixed_body : {-1, pedestal}) {
    EXPECT_EQ(to_eigen(body_twist(m, w, fixed_body, Axes::ground)), Vector6d::Zero());
    EXPECT_EQ(to_eigen(body_acceleration(m, w, fixed_body)), Vector6d::Zero());
    EXPECT_EQ(to_eigen(point_acceleration(m, w, fixed_body, {1, 2, 3})), Vector3d::Zero());
    EXPECT_EQ(body_jacobian(m, w, fixed_body, {1, 2, 3}), MatrixXd::Zero(6, m.freedoms()));
    EXPECT_EQ(to_eigen(jacobian_rate_times_velocity(m, w, fixed_body, {1, 2, 3})),
              Vector6d::Zero());
  }
}

// The message of the NumericalError that f throws, or "".
template <class F>
std::string complaint(F f) {
  try {
    f();
  } catch (const NumericalError& error) {
    return error.what();
  }
  return "";
}

TEST(Kinematics, RefusesWhatItCannotAnswer) {
  Random random(15);
  const Mechanism m = random_tree(random, {.bodies = 3, .welds = false}).finish();
  const Case c = random_case(random, m, 0);
  Workspace w(m);
  const auto contains = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  update_kinematics(m, c.state.q, w);
  EXPECT_TRUE(contains(complaint([&] { body_pose(m, w, 3); }), "body 3 does not exist"));
  EXPECT_TRUE(contains(complaint([&] { body_jacobian(m, w, -2); }), "body -2 does not exist"));
  EXPECT_TRUE(contains(complaint([&] { frame_pose(m, w, 0); }), "frame 0 does not exist"));
  EXPECT_TRUE(contains(complaint([&] { body_twist(m, w, 0); }), "velocities"));
  EXPECT_TRUE(contains(complaint([&] { jacobian_rate_times_velocity(m, w, 0); }), "velocities"));
  update_kinematics(m, c.state.q, c.state.v, w);
  EXPECT_TRUE(contains(complaint([&] { body_acceleration(m, w, 0); }), "accelerations"));
  MatrixXd small(3, 2);
  EXPECT_TRUE(
      contains(complaint([&] { body_jacobian(m, w, 0, {}, Axes::ground, small); }), "3 x 2"));
  VectorXd wrong = c.state.v;
  wrong[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(contains(complaint([&] { update_kinematics(m, c.state.q, wrong, w); }), "velocity"));
  EXPECT_TRUE(contains(complaint([&] { update_kinematics(m, VectorXd(1), w); }), "position"));
  EXPECT_TRUE(contains(complaint([&] { update_accelerations(m, c.state, VectorXd(1), w); }),
                       "acceleration"));
}

// Hinge position, ω, hinge velocity; ω̇, hinge acceleration of the tree T in ground axes.
TEST(Kinematics, SpecCaseT) {
  SpecCase c = spec_case_t();
  const double known[10][15] = {
      {0, 0, 0, 0, 0, 0.4, 0, 0, 0, 0, 0, 0.655532785070888, 0, 0, 0},
      {0.257048926071548, 0.184189710910962, -0.15, -0.573201893475364, -0.177312123996804, 0.4,
       -0.073675884364385, 0.102819570428619, 0, -40.7447403111289, -12.8550455435318,
       0.655532785070888, -0.161870222346313, 0.139033644661408, 0},
      {-0.29449937015659, 0.275263729861694, 0.1, -0.14776010333067, 0.477668244562803, 0.4,
       -0.110105491944678, -0.117799748062636, 0, -1.41714555301704, 3.90447364068594,
       0.655532785070888, -0.133324500240182, -0.237096189098243, 0},
      {-0.278603229105789, 0.698881623132849, 0.0272319218324299, -0.00111640763152775,
       1.27669160852669, 0.0126277109142577, -0.314311649411652, -0.12219351039153,
       -0.0701869054735255, -3.01006165468112, -2.02381444554175, 3.34218688133637,
       -0.726909511708013, -0.421851993252117, -0.564202257807251},
      {-0.618084412502768, 0.489192626893982, 0.209668351790164, 0.0699094817082479,
       0.356586049375969, 0.56720961024332, -0.143291961673889, -0.231029158008488,
       0.122956143213372, 6.22473933004292, -0.163301622582282, 6.34123942842127, 0.258659291928553,
       -0.288907351533911, 0.992843795322207},
      {-0.459170373335248, 0.155127155587108, 0.309901026282968, 0.692209270992257,
       0.504416267776379, 0.2827993453358, 0.0819347575176099, -0.147898802114111,
       0.0429352698405628, 1.13446844417903, -0.955650678045485, 8.37140912559699, 2.28499360800354,
       0.228227325686429, -1.13517686819946},
      {-0.253113638488215, 0.813443253929896, -0.284418384631834, 0.19072896345965,
       0.913496872799138, 0.699129668326384, -0.71363963162492, -0.122219563990393,
       -0.102857149398664, 0.190684823013103, -6.41221461327387, 11.3985412095539,
       -0.520782996352946, -1.27982672666613, -0.347634915036376},
      {-0.554147274447791, 0.835895012124876, -0.203953059336326, 0.394434510616095,
       1.73476210893693, 1.23207193721602, -0.655831498858909, -0.348028178141952,
       0.176418336226138, 0.600414167531403, -4.3674873927863, 12.6695210929858, -0.879674437802315,
       -4.73936509113151, -2.36952177650709},
      {0.423023833192364, -0.183168874406213, 0.08, -0.180658838516466, 0.00393004966523356,
       0.485714285714286, 0.0732675497624852, 0.169209533276946, 0, 17.7155156743021,
       -0.457680795548182, -7.75040809838373, 0.0523893890670262, 0.306613011428947, 0},
      {0.666101952139977, -0.412301768276761, 0.169505000058087, -0.12881145834424,
       0.293898902610754, 0.0816970664144945, 0.184912428737981, 0.303445917546268,
       0.0404395733925742, 19.707736405454, 11.4330558342777, -24.437118014851, -1.82949036679586,
       -3.10143556265553, -3.97264494518958}};
  const Mechanism& m = c.mechanism;
  Workspace w(m);
  forward_dynamics(m, c.state, c.effort, w, c.external);
  update_poses(m, w);
  for (int i = 0; i < 10; ++i) {
    const int b = m.body_index("b" + std::to_string(i + 1));
    const auto entry = [&](int at) {
      return Vector3d(known[i][at], known[i][at + 1], known[i][at + 2]);
    };
    EXPECT_LT(error_of(body_pose(m, w, b).translation, entry(0)), 1e-13);
    EXPECT_LT(error_of(body_twist(m, w, b, Axes::ground), six(entry(3), entry(6))), 1e-13);
    EXPECT_LT(error_of(body_acceleration(m, w, b), six(entry(9), entry(12))), 1e-13);
  }
}

// The rate of the components of the twist of the last body of the chain A (ω̇, v̇).
TEST(Kinematics, SpecCaseA) {
  SpecCase c = spec_case_a();
  const Mechanism& m = c.mechanism;
  Workspace w(m);
  forward_dynamics(m, c.state, c.effort, w, c.external);
  const Vector6d v = six({-1.40428733748056, 0.316728930550915, 0.576705120709366},
                         {-0.0468678502082815, -1.05411232545195, 1.2945404301821});
  const Vector6d rate = six({-3.22178192974603, 7.78297458925799, 18.1361220253673},
                            {-8.82739093643941, 3.10333604894798, 3.32490159522713});
  EXPECT_LT(error_of(body_twist(m, w, 6, Axes::body), v), 1e-13);
  const Vector6d classical = rate + six(Vector3d::Zero(), v.head<3>().cross(v.tail<3>()));
  EXPECT_LT(error_of(body_acceleration(m, w, 6, Axes::body), classical), 1e-13);
}

}  // namespace
}  // namespace catena::test
