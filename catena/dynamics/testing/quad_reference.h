// SPDX-License-Identifier: BSD-3-Clause
// The reference of the tests of this room: dynamics by a route that shares no recursion, no spatial
// algebra and no table of nodes with the library.
//
// It works on the user's description. The positions of all bodies are written down as functions of
// time along q(t) = q ⊕ (v t + ½ v̇ t²), in second-order series, so that velocities and
// accelerations are exact derivatives of positions. D'Alembert's principle then gives, with the
// partial velocities ∂v_c/∂v_k and ∂ω/∂v_k (velocities along unit v_k),
//
//   effort_k = Σ_bodies ∂v_c/∂v_k · (m a_c − m g − F) + ∂ω/∂v_k · (I α + ω × I ω − moment),
//   M_kl     = Σ_bodies m ∂v_c/∂v_k · ∂v_c/∂v_l + ∂ω/∂v_k · I ∂ω/∂v_l,
//
// and rotors as gyrostats. Dense and slow: O(n² N) for M, O(n³) to solve.
//
// Real: double, long double, a 113-bit number (Quad), or a dual number, with which reference_test
// checks the reference itself against Lagrange's equations.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "catena/dynamics/loads.h"
#include "catena/model/builder.h"

namespace catena::reference {

#if defined(__SIZEOF_FLOAT128__)
using Quad = __float128;
#else
using Quad = long double;
#endif

template <class Real>
using Vector = std::vector<Real>;
template <class Real>
using Matrix = std::vector<std::vector<Real>>;

// A value and its first and second derivatives with respect to time.
template <class Real>
struct Series {
  Real x{}, d{}, dd{};
};

template <class S>
using V3 = std::array<S, 3>;
template <class S>
using M3 = std::array<V3<S>, 3>;

// Orientation and origin of a frame in another: x_outer = r x_inner + p.
template <class S>
struct Pose {
  M3<S> r{};
  V3<S> p{};
};

// A body in the ground frame.
template <class Real>
struct Motion {
  M3<Real> r{};                 // orientation
  V3<Real> origin{}, center{};  // positions of its frame and of its mass centre
  V3<Real> center_velocity{}, angular_velocity{};
  V3<Real> center_acceleration{}, angular_acceleration{};
};

template <class Real>
class Engine {
 public:
  // Copies the description; takes nothing else from the mechanism but the places of the hinges'
  // coordinates in q and v. Trees only. A custom hinge must be helix() below.
  explicit Engine(const Mechanism& mechanism);

  int freedoms() const { return freedoms_; }
  std::vector<Motion<Real>> motion(const Vector<Real>& q, const Vector<Real>& v,
                                   const Vector<Real>& acceleration) const;
  Matrix<Real> mass_matrix(const Vector<Real>& q) const;
  // Inverse dynamics without passive elements.
  Vector<Real> effort(const Vector<Real>& q, const Vector<Real>& v,
                      const Vector<Real>& acceleration,
                      std::span<const ExternalWrench> external = {}) const;
  // Forward dynamics without passive elements.
  Vector<Real> acceleration(const Vector<Real>& q, const Vector<Real>& v,
                            const Vector<Real>& effort,
                            std::span<const ExternalWrench> external = {}) const;
  // Kinetic energy, rotors included.
  Real kinetic_energy(const Vector<Real>& q, const Vector<Real>& v) const;
  // What a hinge transmits to everything beyond it, seen from the ground: moment and force, in
  // the frame and at the origin of `body`, which must be beyond it. Without rotors.
  std::array<Real, 6> wrench_through(std::string_view hinge, std::string_view body,
                                     const Vector<Real>& q, const Vector<Real>& v,
                                     const Vector<Real>& acceleration,
                                     std::span<const ExternalWrench> external = {}) const;

 private:
  struct Step {  // places one more body
    int hinge, from, to;
    bool inverse;
  };
  struct Partial {  // of one body along one freedom
    int body;
    V3<Real> center, angular;
  };
  std::vector<Pose<Series<Real>>> poses(const Vector<Real>& q, const Vector<Real>& v,
                                        const Vector<Real>& acceleration) const;
  static V3<Real> rotor_axis(const Hinge& hinge);  // in the carrier's frame
  std::vector<std::vector<Partial>> partials(const Vector<Real>& q) const;
  void body_loads(const std::vector<Motion<Real>>& motion, std::span<const ExternalWrench> external,
                  std::vector<V3<Real>>& forces, std::vector<V3<Real>>& moments) const;

  Description description_;
  std::vector<Step> steps_;
  std::vector<int> q_index_, v_index_;  // by hinge; −1: no freedoms
  std::vector<int> driven_, carrier_;   // hinges with a drive and the bodies of the rotors
  int freedoms_ = 0;
};

extern template class Engine<double>;
extern template class Engine<long double>;
extern template class Engine<Dual<double, 1>>;
#if defined(__SIZEOF_FLOAT128__)
extern template class Engine<__float128>;
#endif

// x of A x = b for a positive definite A.
template <class Real>
Vector<Real> solve(Matrix<Real> a, Vector<Real> b);

// The efforts of damping, friction and stiffness of the hinges and of the springs between points.
Vector<double> passive_effort(const Mechanism& mechanism, const Vector<double>& q,
                              const Vector<double>& v);

// The custom hinge that the tests use: along a helix of slope q[1].
std::shared_ptr<const CustomHinge> helix();

}  // namespace catena::reference
