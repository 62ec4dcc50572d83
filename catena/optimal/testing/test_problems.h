// SPDX-License-Identifier: BSD-3-Clause
// The problems of [Sohl & Bobrow 2001] with the data that its reference solutions fill in (section
// 4): unit rods in the plane, gravity 9.81 along −y.
#pragma once

#include <numbers>
#include <string>
#include <vector>

#include "catena/model/builder.h"
#include "catena/optimal/solve.h"

namespace catena {

inline Mechanism unit_rods(const std::vector<std::string>& hinges) {
  MechanismBuilder b("rods");
  b.set_gravity({0.0, -9.81, 0.0});
  for (std::size_t i = 0; i < hinges.size(); ++i) {
    const std::string body = "rod " + std::to_string(i);
    b.add_body(body, {.mass = 1.0,
                      .center_of_mass = {0.5, 0.0, 0.0},
                      .inertia = SymMat3d::diagonal(0.0, 1.0 / 12.0, 1.0 / 12.0)});
    HingeSettings hinge{.axes = {{0.0, 0.0, 1.0}}};
    if (i > 0) hinge.frame_on_parent.translation = {1.0, 0.0, 0.0};
    b.add_hinge(hinges[i], i == 0 ? kWorld : "rod 0", body, hinge);
  }
  return b.finish();
}

// From rest to rest with both hinges driven.
inline MotionProblem two_rod_problem(const Mechanism& m, double duration, int coefficients) {
  MotionProblem p(m);
  p.duration = duration;
  for (const std::string name : {"shoulder", "elbow"}) {
    p.controls.push_back(
        {.freedom = name, .motion = true, .degree = 3, .coefficients = coefficients});
    p.final_position(name, name == "shoulder" ? std::numbers::pi / 2.0 : 0.0);
    p.final_velocity(name, 0.0);
    p.effort_cost(name);
  }
  return p;
}

// The pivot is free, everything on the first rod is driven from 0 to 0.
inline MotionProblem swing_up_problem(const Mechanism& m, const std::vector<std::string>& driven,
                                      double start, double duration, int coefficients, int steps) {
  MotionProblem p(m);
  p.start.q.setZero();
  p.start.q[0] = start;
  p.duration = duration;
  for (const std::string& name : driven) {
    p.controls.push_back(
        {.freedom = name, .motion = true, .degree = 3, .coefficients = coefficients});
    p.final_position(name, 0.0);
    p.final_velocity(name, 0.0);
    p.effort_cost(name);
  }
  const std::string pivot(m.velocity_names()[0]);
  p.final_cost(pivot, MotionQuantity::position, std::numbers::pi / 2.0, 1000.0);
  p.final_cost(pivot, MotionQuantity::velocity, 0.0, 1000.0);
  p.grid.steps = steps;
  return p;
}

}  // namespace catena
