// SPDX-License-Identifier: BSD-3-Clause
// Two mechanisms with known numbers, for the tests of this room: a chain of seven bodies with
// seven types of hinge on a free base (A) and a tree of ten bodies (T). The numbers were computed
// from particles in 40-digit arithmetic, see the comments of the tests that use them.
#pragma once

#include <vector>

#include "catena/dynamics/loads.h"
#include "catena/model/builder.h"

namespace catena::test {

struct SpecCase {
  Mechanism mechanism;
  State state;
  Eigen::VectorXd effort;
  std::vector<ExternalWrench> external;
};

inline BodySettings spec_body(double mass, const Vec3d& center, double xx, double yy, double zz,
                              double xy, double xz, double yz) {
  BodySettings body;
  body.mass = mass;
  body.center_of_mass = center;
  body.inertia = {xx, xy, xz, yy, yz, zz};
  return body;
}

inline HingeSettings spec_hinge(HingeType type, const Rotationd& mounting, const Vec3d& place,
                                std::vector<Vec3d> axes = {}) {
  HingeSettings hinge;
  hinge.type = type;
  hinge.frame_on_parent = {mounting.inverse(), place};
  hinge.axes = std::move(axes);
  return hinge;
}

// The bodies of the chain A, b0 to b6.
inline std::vector<BodySettings> spec_bodies_a() {
  return {spec_body(12, {.1, -.05, .2}, 1.8, 2.1, 1.5, .1, -.2, .15),
          spec_body(4, {.25, .02, -.03}, .08, .30, .28, .01, .005, -.02),
          spec_body(3, {.02, .2, .05}, .15, .05, .16, .004, -.006, .008),
          spec_body(2.5, {.05, .1, .15}, .06, .07, .04, -.003, .002, .005),
          spec_body(2, {.15, -.02, .03}, .02, .05, .055, .002, -.001, .003),
          spec_body(1.5, {.04, .12, .02}, .03, .01, .032, -.001, .0005, .001),
          spec_body(1, {.06, .01, .08}, .008, .009, .005, .0005, -.0004, .0003)};
}

// The ball (h4) by Euler angles or as a spherical hinge.
inline Mechanism spec_mechanism_a(HingeType ball = HingeType::gimbal) {
  const Rotationd none;
  const Rotationd ea{{{{0.6, 0.8, 0.0}, {-0.8, 0.6, 0.0}, {0.0, 0.0, 1.0}}}};
  const Rotationd eb{{{{1.0, 0.0, 0.0}, {0.0, 0.8, 0.6}, {0.0, -0.6, 0.8}}}};
  MechanismBuilder b("case A");
  const std::vector<BodySettings> bodies = spec_bodies_a();
  for (std::size_t i = 0; i < bodies.size(); ++i) b.add_body("b" + std::to_string(i), bodies[i]);
  b.add_hinge("h0", kWorld, "b0", spec_hinge(HingeType::free, none, {}));
  b.add_hinge("h1", "b0", "b1", spec_hinge(HingeType::revolute, none, {.5, .1, -.2}));
  b.add_hinge("h2", "b1", "b2", spec_hinge(HingeType::universal, ea, {.5, 0, .1}));
  b.add_hinge("h3", "b2", "b3", spec_hinge(HingeType::prismatic, none, {0, .45, 0}, {{.6, 0, .8}}));
  b.add_hinge("h4", "b3", "b4", spec_hinge(ball, eb, {.1, .2, .3}));
  b.add_hinge("h5", "b4", "b5",
              spec_hinge(HingeType::planar, none, {.3, 0, .05}, {{0, 0, 1}, {1, 0, 0}}));
  HingeSettings screw = spec_hinge(HingeType::screw, none, {0, .25, .1});
  screw.pitch = .05;
  b.add_hinge("h6", "b5", "b6", screw);
  return b.finish();
}

inline SpecCase spec_case_a() {
  const Rotationd root{{{{0.36, 0.48, -0.8}, {-0.8, 0.6, 0.0}, {0.48, 0.64, 0.6}}}};  // C_0I
  SpecCase c{spec_mechanism_a(), {}, {}, {}};
  const Quaterniond q = to_quaternion(root.inverse());
  c.state.q.resize(18);
  c.state.q << q.w, q.x, q.y, q.z, .2, -.3, 1.0, .4, .5, -.6, .25, .3, -.7, .9, 1.1, .15, -.1, .8;
  c.state.v.resize(17);
  c.state.v << .1, .2, -.3, .5, -.2, .3, .7, .3, -.8, .4, .5, -.4, .6, -.9, .2, .35, 1.2;
  c.effort.resize(17);
  c.effort << .4, -.6, .8, 3, -2, 5, 1.5, -.7, .9, 6, -0.039897959256961, -.35, 0.288945578190577,
      .3, 2, -1, .1203;
  c.external = {{3, {{.2, -.1, .3}, {1, 2, -1}}, {}, ExternalWrench::Axes::body},
                {6, {{.05, .02, -.03}, {-.5, .4, .8}}, {}, ExternalWrench::Axes::body}};
  return c;
}

struct SpecRow {  // a body of the tree T and the hinge that carries it
  int parent;
  Vec3d axis;
  BodySettings body;
  Vec3d place;
  double angle, rate, effort;
};

inline std::vector<SpecRow> spec_rows_t() {
  return {{0,
           {0, 0, 1},
           spec_body(5.0, {.10, -.20, .05}, .40, .35, .30, .02, -.03, .01),
           {0, 0, 0},
           .3,
           .4,
           2.0},
          {1,
           {1, 0, 0},
           spec_body(1.2, {.15, .02, -.04}, .020, .030, .025, .002, .001, -.003),
           {.30, .10, -.15},
           -.5,
           -.6,
           -.4},
          {1,
           {0, 1, 0},
           spec_body(3.5, {-.05, .22, .08}, .16, .09, .14, -.01, .005, .012),
           {-.20, .35, .10},
           .8,
           .5,
           1.5},
          {3,
           {.6, .8, 0},
           spec_body(2.0, {.12, .06, -.10}, .050, .045, .060, .004, -.006, .002),
           {.15, .40, .05},
           -.4,
           .9,
           .3},
          {3,
           {0, .6, -.8},
           spec_body(1.8, {-.14, .03, .07}, .040, .055, .048, -.003, .005, .004),
           {-.25, .30, -.10},
           .6,
           -.3,
           -.6},
          {5,
           {2, 1, 2},
           spec_body(0.9, {.02, -.16, .05}, .015, .010, .018, .001, .0008, -.0012),
           {.10, -.35, .12},
           1.1,
           .7,
           .2},
          {4,
           {1, 2, -2},
           spec_body(1.1, {.09, .11, .01}, .022, .019, .025, -.0015, .002, .001),
           {.20, .15, -.22},
           -.9,
           -.8,
           .1},
          {7,
           {.8, 0, .6},
           spec_body(0.6, {-.03, .08, .12}, .008, .009, .006, .0004, -.0006, .0005),
           {-.12, .24, .16},
           .2,
           1.0,
           -.05},
          {1,
           {-6, 2, 3},
           spec_body(2.4, {.18, -.07, .02}, .070, .085, .060, .005, -.004, .006),
           {.35, -.30, .08},
           -.7,
           .2,
           .8},
          {9,
           {0, 0, 1},
           spec_body(1.3, {.04, .05, -.13}, .018, .020, .012, -.001, .0015, .0009),
           {.26, -.14, .18},
           .5,
           -.5,
           -.25}};
}

// Bodies b1 to b10 on hinges h1 to h10. With sliders h4 and h9 are prismatic (case TP).
inline Mechanism spec_mechanism_t(bool sliders = false) {
  const std::vector<SpecRow> rows = spec_rows_t();
  MechanismBuilder b("case T");
  b.set_gravity({0, -9.81, 0});
  const auto name = [](int i) { return i == 0 ? std::string(kWorld) : "b" + std::to_string(i); };
  for (int i = 1; i <= 10; ++i) b.add_body(name(i), rows[static_cast<std::size_t>(i - 1)].body);
  for (int i = 1; i <= 10; ++i) {
    const SpecRow& row = rows[static_cast<std::size_t>(i - 1)];
    const bool slides = sliders && (i == 4 || i == 9);
    b.add_hinge(
        "h" + std::to_string(i), name(row.parent), name(i),
        spec_hinge(slides ? HingeType::prismatic : HingeType::revolute, {}, row.place, {row.axis}));
  }
  return b.finish();
}

inline SpecCase spec_case_t() {
  const std::vector<SpecRow> rows = spec_rows_t();
  SpecCase c{spec_mechanism_t(), {}, {}, {}};
  c.state = {Eigen::VectorXd::Zero(10), Eigen::VectorXd::Zero(10)};
  c.effort = Eigen::VectorXd::Zero(10);
  for (int i = 1; i <= 10; ++i) {  // the order of the freedoms is the mechanism's own
    const SpecRow& row = rows[static_cast<std::size_t>(i - 1)];
    const int k = c.mechanism.velocity_index("h" + std::to_string(i));
    c.state.q[k] = row.angle;
    c.state.v[k] = row.rate;
    c.effort[k] = row.effort;
  }
  const auto load = [&](int i, const Vec3d& moment, const Vec3d& force, const Vec3d& point) {
    c.external.push_back({c.mechanism.body_index("b" + std::to_string(i)),
                          {moment, force},
                          point,
                          ExternalWrench::Axes::ground});
  };
  load(2, {0, 0, .3}, {1, 0, -2}, {.30, .05, -.08});
  load(6, {.1, -.2, 0}, {0, 3, .5}, {.04, -.32, .10});
  load(8, {0, .05, -.1}, {-1.5, .7, .2}, {-.06, .16, .24});
  load(10, {.2, 0, .1}, {.4, -.9, 1.1}, {.08, .10, -.26});
  return c;
}

}  // namespace catena::test
