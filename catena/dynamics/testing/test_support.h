// SPDX-License-Identifier: BSD-3-Clause
// What the tests of this room share: random trees, states and loads, and the distance between a
// result and the reference (reference.h).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/dynamics/forward.h"
#include "catena/dynamics/inverse.h"
#include "catena/dynamics/mass_matrix.h"
#include "catena/dynamics/testing/quad_reference.h"
#include "catena/model/configuration.h"
#include "catena/model/testing/test_support.h"

namespace catena::test {

using Eigen::MatrixXd;

// The precision in which the references of the comparisons are evaluated.
using Exact = long double;

template <class Real>
reference::Vector<Real> plain(const VectorXd& x) {
  reference::Vector<Real> y;
  for (Eigen::Index i = 0; i < x.size(); ++i) y.push_back(Real(x[i]));
  return y;
}

// Largest difference against the largest entry of the reference; infinity for NaN.
template <class Real>
double error(const VectorXd& actual, const reference::Vector<Real>& expected) {
  if (actual.size() != static_cast<Eigen::Index>(expected.size())) return kInfinity;
  double difference = 0.0, size = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double d = static_cast<double>(Real(actual[static_cast<Eigen::Index>(i)]) - expected[i]);
    if (!std::isfinite(d)) return kInfinity;
    difference = std::max(difference, std::abs(d));
    size = std::max(size, std::abs(static_cast<double>(expected[i])));
  }
  return difference == 0.0 ? 0.0 : difference / size;
}
inline double error(const VectorXd& actual, const VectorXd& expected) {
  return error(actual, plain<double>(expected));
}
template <class Real>
double error(const MatrixXd& actual, const reference::Matrix<Real>& expected) {
  VectorXd a(actual.size());
  reference::Vector<Real> e;
  Eigen::Index k = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (std::size_t j = 0; j < expected.size(); ++j) {
      a[k++] = actual(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
      e.push_back(expected[i][j]);
    }
  return error(a, e);
}

// The largest error of one algorithm in a test; NaN counts as infinite.
struct Worst {
  double value = 0.0;
  void take(double e) { value = std::max(value, std::isnan(e) ? kInfinity : e); }
};

struct TreeSettings {
  int bodies = 10;
  bool free_base = false;
  bool reversed = true;  // some hinges name their bodies the other way round
  bool welds = true;
  double chain_share = 0.5;  // of the bodies that hang on the one before
  // The others hang on a body between the one before and the ground, so that every branch of the
  // tree is one stretch of bodies.
  bool limb_after_limb = false;
  std::vector<HingeType> types = kMovingTypes;
};

inline std::string body_name(int i) { return i < 0 ? kWorld : "b" + std::to_string(i); }

// Axes of a universal or gimbal hinge far from lock, not quite perpendicular.
inline void spread_axes(Random& random, HingeSettings& hinge) {
  const Transformd frame = random.pose();
  for (std::size_t i = 0; i < hinge.axes.size(); ++i)
    hinge.axes[i] = frame.rotation.axis(static_cast<int>(i)) + 0.2 * random.vector();
}

// Hinge "h<i>" moves body "b<i>".
inline MechanismBuilder random_tree(Random& random, const TreeSettings& settings) {
  MechanismBuilder builder("random");
  builder.set_gravity(6.0 * random.vector());
  for (int i = 0; i < settings.bodies; ++i) builder.add_body(body_name(i), random.body());
  std::vector<int> parents;
  for (int i = 0; i < settings.bodies; ++i) {
    int parent = i - 1;
    if (settings.limb_after_limb) {
      while (parent >= 0 && random.number(0.0, 1.0) > settings.chain_share)
        parent = parents[index(parent)];
    } else if (random.number(0.0, 1.0) > settings.chain_share) {
      parent = random.below(i + 1) - 1;
    }
    if (i > 0 && settings.free_base && parent < 0) parent = 0;
    parents.push_back(parent);
    HingeType type = settings.types[index(random.below(static_cast<int>(settings.types.size())))];
    if (i > 0 && settings.welds && random.below(8) == 0) type = HingeType::weld;
    if (i == 0 && settings.free_base) type = HingeType::free;
    HingeSettings hinge = random.hinge(type);
    if (type == HingeType::custom) hinge.custom = reference::helix();
    if (type == HingeType::universal || type == HingeType::gimbal) spread_axes(random, hinge);
    const bool reversed = settings.reversed && random.below(4) == 0;
    builder.add_hinge("h" + std::to_string(i), body_name(reversed ? i : parent),
                      body_name(reversed ? parent : i), hinge);
  }
  return builder;
}

enum class Carrier { parent, anywhere };

// Drives with a rotor on about half of the hinges of one freedom.
inline void add_drives(Random& random, MechanismBuilder& builder,
                       Carrier carrier = Carrier::anywhere) {
  const Description& d = builder.description();
  for (const Hinge& hinge : d.hinges) {
    if (freedoms_of(hinge.type) != 1 || random.below(2) == 0) continue;
    DriveSettings drive;
    drive.rotor_inertia = random.number(0.001, 0.05);
    drive.gear_ratio = random.number(-5.0, 5.0);
    drive.armature_only = random.below(5) == 0;
    if (random.below(2) == 0) drive.rotor_axis = random.vector();
    if (carrier == Carrier::anywhere && random.below(2) == 0) {
      drive.carrier = body_name(random.below(static_cast<int>(d.bodies.size())));
      drive.rotor_axis = random.vector();
    }
    builder.hinge(hinge.name).drive = drive;
  }
}

// Damping, friction and stiffness at random freedoms, and springs between random points.
inline void add_passive_elements(Random& random, MechanismBuilder& builder) {
  const Description& d = builder.description();
  for (const Hinge& hinge : d.hinges) {
    HingeSettings& settings = builder.hinge(hinge.name);
    const int freedoms = hinge.type == HingeType::custom ? 2 : freedoms_of(hinge.type);
    for (int k = 0; k < freedoms; ++k) {
      FreedomSettings f;
      f.damping = random.number(0.0, 2.0);
      if (hinge.type != HingeType::spherical && hinge.type != HingeType::free) {
        f.stiffness = random.number(0.0, 3.0);
        f.rest = random.number();
      }
      if (random.below(2) == 0) f.friction = {0.7, 1.1, 0.4, 0.05};
      if (random.below(4) == 0) f.friction = {.sliding = 0.3, .transition_velocity = 0.2};
      settings.freedoms.push_back(f);
    }
  }
  const int bodies = static_cast<int>(d.bodies.size());
  for (int i = 0; i < 1 + bodies / 3; ++i) {
    SpringDamper spring;
    spring.name = "spring" + std::to_string(i);
    spring.body_a = body_name(random.below(bodies + 1) - 1);
    spring.body_b = body_name(random.below(bodies));
    if (spring.body_a == spring.body_b) spring.body_a = kWorld;
    spring.point_a = random.vector();
    spring.point_b = random.vector();
    spring.stiffness = random.number(0.0, 10.0);
    spring.rest_length = random.number(0.0, 1.0);
    spring.damping = random.number(0.0, 2.0);
    builder.add_spring(spring);
  }
}

// Everything a comparison needs.
struct Case {
  State state;
  VectorXd effort, acceleration;
  std::vector<ExternalWrench> external;
};

inline VectorXd random_values(Random& random, int n, double size = 1.0) {
  VectorXd x(n);
  for (double& value : x) value = random.number(-size, size);
  return x;
}

inline Case random_case(Random& random, const Mechanism& mechanism, int wrenches) {
  Case c;
  c.state.q = random_position(mechanism, static_cast<std::uint64_t>(random.below(1 << 30)));
  c.state.v = random_values(random, mechanism.freedoms(), 2.0);
  c.effort = random_values(random, mechanism.freedoms(), 5.0);
  c.acceleration = random_values(random, mechanism.freedoms(), 3.0);
  for (int i = 0; i < wrenches; ++i) {
    ExternalWrench e;
    e.body = random.below(static_cast<int>(mechanism.bodies().size()));
    e.wrench = {3.0 * random.vector(), 3.0 * random.vector()};
    e.point = random.vector();
    e.axes = random.below(2) == 0 ? ExternalWrench::Axes::body : ExternalWrench::Axes::ground;
    c.external.push_back(e);
  }
  return c;
}

// Some freedoms motion-driven; entries that are not to be read are NaN.
inline HybridInput random_hybrid(Random& random, const Case& c) {
  HybridInput input;
  input.effort = c.effort;
  input.acceleration = c.acceleration;
  for (Eigen::Index i = 0; i < c.effort.size(); ++i) {
    input.motion_driven.push_back(random.below(2) == 0 ? 1 : 0);
    (input.motion_driven.back() != 0 ? input.effort : input.acceleration)[i] =
        std::numeric_limits<double>::quiet_NaN();
  }
  return input;
}

// Hybrid dynamics through the dense mass matrix m and the bias of the reference.
template <class Real>
void reference_hybrid(const reference::Matrix<Real>& m, const reference::Vector<Real>& bias,
                      const HybridInput& input, reference::Vector<Real>& acceleration,
                      reference::Vector<Real>& effort) {
  const std::size_t n = bias.size();
  const auto given = [](const VectorXd& x, std::size_t i) {
    return Real(x[static_cast<Eigen::Index>(i)]);
  };
  std::vector<std::size_t> free;
  acceleration.assign(n, Real(0.0));
  effort.assign(n, Real(0.0));
  for (std::size_t i = 0; i < n; ++i) {
    if (input.motion_driven[i] != 0) {
      acceleration[i] = given(input.acceleration, i);
    } else {
      free.push_back(i);
      effort[i] = given(input.effort, i);
    }
  }
  reference::Matrix<Real> part;
  reference::Vector<Real> rest;
  for (const std::size_t i : free) {
    part.emplace_back();
    rest.push_back(effort[i] - bias[i]);
    for (std::size_t j = 0; j < n; ++j) rest.back() = rest.back() - m[i][j] * acceleration[j];
    for (const std::size_t j : free) part.back().push_back(m[i][j]);
  }
  rest = reference::solve(part, rest);
  for (std::size_t k = 0; k < free.size(); ++k) acceleration[free[k]] = rest[k];
  for (std::size_t i = 0; i < n; ++i) {
    if (input.motion_driven[i] == 0) continue;
    effort[i] = bias[i];
    for (std::size_t j = 0; j < n; ++j) effort[i] = effort[i] + m[i][j] * acceleration[j];
  }
}

// The errors of all algorithms of the room on one case.
struct Errors {
  Worst forward, dense, inverse, bias, mass, hybrid_acceleration, hybrid_effort, hybrid_back,
      interbody;
};

// Compares every algorithm with the reference. `recursive`: also the O(N) route by name.
inline void compare(const Mechanism& mechanism, const Case& c, const HybridInput& hybrid,
                    Errors& worst, bool recursive = true) {
  using reference::Vector;
  const reference::Engine<Exact> engine(mechanism);
  const Vector<Exact> q = plain<Exact>(c.state.q), v = plain<Exact>(c.state.v);
  const Vector<Exact> zero(v.size(), 0.0L);
  Vector<Exact> passive(v.size(), 0.0L);
  {
    const Vector<double> p =
        reference::passive_effort(mechanism, plain<double>(c.state.q), plain<double>(c.state.v));
    std::copy(p.begin(), p.end(), passive.begin());
  }
  const auto less_passive = [&](Vector<Exact> x) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] -= passive[i];
    return x;
  };
  const reference::Matrix<Exact> m = engine.mass_matrix(q);
  const Vector<Exact> bias = less_passive(engine.effort(q, v, zero, c.external));
  const Vector<Exact> needed =
      less_passive(engine.effort(q, v, plain<Exact>(c.acceleration), c.external));
  Vector<Exact> rest = plain<Exact>(c.effort);
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= bias[i];
  const Vector<Exact> moved = reference::solve(m, rest);

  Workspace w(mechanism);
  worst.forward.take(error(forward_dynamics(mechanism, c.state, c.effort, w, c.external), moved));
  if (recursive)
    worst.forward.take(error(
        forward_dynamics(mechanism, c.state, c.effort, w, c.external, Route::recursive), moved));
  worst.dense.take(
      error(forward_dynamics(mechanism, c.state, c.effort, w, c.external, Route::dense), moved));
  worst.bias.take(error(bias_effort(mechanism, c.state, w, c.external), bias));
  worst.mass.take(error(mass_matrix(mechanism, c.state.q, w), m));
  worst.inverse.take(
      error(inverse_dynamics(mechanism, c.state, c.acceleration, w, c.external), needed));

  Vector<Exact> acceleration, effort;
  reference_hybrid(m, bias, hybrid, acceleration, effort);
  HybridResult result;
  hybrid_dynamics(mechanism, c.state, hybrid, w, result, c.external);
  worst.hybrid_acceleration.take(error(result.acceleration, acceleration));
  worst.hybrid_effort.take(error(result.effort, effort));
  worst.hybrid_back.take(
      error(inverse_dynamics(mechanism, c.state, result.acceleration, w, c.external),
            plain<Exact>(result.effort)));
}

// Prints the largest error of each algorithm and holds it against the tolerance.
inline void expect_below(double tolerance, const Errors& e, const char* what) {
  printf(
      "    %-12s forward %.1e (dense %.1e)  inverse %.1e  bias %.1e  mass matrix %.1e  "
      "hybrid %.1e %.1e %.1e  interbody %.1e\n",
      what, e.forward.value, e.dense.value, e.inverse.value, e.bias.value, e.mass.value,
      e.hybrid_acceleration.value, e.hybrid_effort.value, e.hybrid_back.value, e.interbody.value);
  EXPECT_LT(e.forward.value, tolerance);
  EXPECT_LT(e.dense.value, tolerance);
  EXPECT_LT(e.inverse.value, tolerance);
  EXPECT_LT(e.bias.value, tolerance);
  EXPECT_LT(e.mass.value, tolerance);
  EXPECT_LT(e.hybrid_acceleration.value, tolerance);
  EXPECT_LT(e.hybrid_effort.value, tolerance);
  EXPECT_LT(e.hybrid_back.value, tolerance);
  EXPECT_LT(e.interbody.value, tolerance);
}

}  // namespace catena::test
