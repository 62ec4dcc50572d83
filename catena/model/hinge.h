// SPDX-License-Identifier: BSD-3-Clause
// Joint types (a hinge is a joint), the sizes and names of their coordinates; joints defined by the
// user.
//
// A hinge lets a child move relative to a parent: X_parentside_childside = J(q), and the twist of
// the child relative to the parent, in the child-side frame, is H(q) v.
//
//   type         q                        v            J(q)
//   weld         -                        -            1
//   revolute     angle                    q̇            Rot(axis, q)
//   prismatic    distance                 q̇            Trans(axis · q)
//   screw        angle                    q̇            Rot(axis, q) Trans(axis · pitch q)
//   cylindrical  angle, distance          q̇            Rot(axis, q1) Trans(axis · q2)
//   universal    angle, angle             q̇            Rot(axis1, q1) Rot(axis2, q2)
//   planar       angle, x, y              q̇            Trans(x, y in the plane) Rot(normal, angle)
//   spherical    quaternion (w, x, y, z)  ω            Rot(quaternion)
//   gimbal       three angles             q̇            Rot(axis1, q1) Rot(axis2, q2) Rot(axis3, q3)
//   translation  x, y, z                  q̇            Trans(x, y, z)
//   free         quaternion, x, y, z      (ω, v)       Trans(x, y, z) Rot(quaternion)
//   custom       1 to 6 coordinates       q̇            by the user
//
// ω and v of spherical and free hinges are in the child-side frame. H is the motion subspace matrix
// S of [Featherstone 2008], chapter 4.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catena/model/node.h"
#include "catena/spatial/dual.h"
#include "catena/spatial/transform.h"

namespace catena {

enum class HingeType {
  weld,
  revolute,
  prismatic,
  screw,
  cylindrical,
  universal,
  planar,
  spherical,
  gimbal,
  translation,
  free,
  custom,
  // Internal: between the bodies that make up a flexible body (builder.h: add_flexible_body).
  modes,
  attachment
};

std::string_view to_string(HingeType type);
std::optional<HingeType> hinge_type_from(std::string_view name);
std::vector<std::string> hinge_type_names();

// Freedoms (length of v) and coordinates (length of q); a custom hinge has its own numbers.
int freedoms_of(HingeType type);
int coordinates_of(HingeType type);

// Suffixes that follow the hinge's name in the names of coordinates: {""} for one freedom,
// {".angle", ".x", ".y"} for planar, and so on.
std::vector<std::string> position_suffixes(HingeType type, int coordinates);
std::vector<std::string> velocity_suffixes(HingeType type, int freedoms);

// A hinge defined by the user, for 1 to 6 freedoms with v = q̇. H may depend on q and need not be
// orthonormal. Derive from this class, or give the transform alone to make_custom_hinge().
class CustomHinge {
 public:
  virtual ~CustomHinge() = default;
  virtual int freedoms() const = 0;
  virtual Transformd transform(std::span<const double> q) const = 0;
  // The columns of H(q), in the child-side frame.
  virtual void motion_map(std::span<const double> q, std::span<Twistd> columns) const = 0;
  // The columns of Ḣ at q and q̇ = v.
  virtual void motion_map_rate(std::span<const double> q, std::span<const double> v,
                               std::span<Twistd> columns) const = 0;
  // The columns of the derivative of Ḣ(q, v) by q along w. Only derivatives of the dynamics need
  // it. Unless it is overridden: extrapolated central differences of motion_map_rate(), which are
  // right to about ten digits.
  virtual void motion_map_rate_derivative(std::span<const double> q, std::span<const double> v,
                                          std::span<const double> w,
                                          std::span<Twistd> columns) const;
};

// X⁻¹ dX as a twist, from a transform of dual numbers and the direction k.
template <class Value, int N>
Twist<Value> body_twist(const Transform<Dual<Value, N>>& x, int k) {
  Mat3<Value> r, dr;
  Vec3<Value> dp;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      r.m[i][j] = x.rotation.matrix.m[i][j].value;
      dr.m[i][j] = x.rotation.matrix.m[i][j].derivative[k];
    }
    dp[i] = x.translation[i].derivative[k];
  }
  const Mat3<Value> w = transpose(r) * dr;  // skew(ω)
  const Value half(0.5);
  return {{half * (w.m[2][1] - w.m[1][2]), half * (w.m[0][2] - w.m[2][0]),
           half * (w.m[1][0] - w.m[0][1])},
          transpose_times(r, dp)};
}

// A custom hinge from its transform alone: `transform(q)` must accept a pointer to Freedoms
// values of any scalar and return Transform<Scalar>. H, Ḣ and its derivative follow exactly by dual
// numbers.
template <int Freedoms, class F>
std::shared_ptr<const CustomHinge> make_custom_hinge(F transform_function) {
  static_assert(1 <= Freedoms && Freedoms <= kMaxFreedoms);
  class Derived final : public CustomHinge {
   public:
    explicit Derived(F f) : f_(std::move(f)) {}
    int freedoms() const override { return Freedoms; }
    Transformd transform(std::span<const double> q) const override { return f_(q.data()); }
    void motion_map(std::span<const double> q, std::span<Twistd> columns) const override {
      using D = Dual<double, Freedoms>;
      D x[Freedoms];
      for (int k = 0; k < Freedoms; ++k) x[k] = D::variable(q[static_cast<std::size_t>(k)], k);
      const Transform<D> t = f_(static_cast<const D*>(x));
      for (int k = 0; k < Freedoms; ++k) columns[static_cast<std::size_t>(k)] = body_twist(t, k);
    }
    void motion_map_rate(std::span<const double> q, std::span<const double> v,
                         std::span<Twistd> columns) const override {
      using T = Dual<double, 1>;  // along time
      using D = Dual<T, Freedoms>;
      D x[Freedoms];
      for (int k = 0; k < Freedoms; ++k) {
        T along;
        along.value = q[static_cast<std::size_t>(k)];
        along.derivative[0] = v[static_cast<std::size_t>(k)];
        x[k] = D::variable(along, k);
      }
      const Transform<D> t = f_(static_cast<const D*>(x));
      for (int k = 0; k < Freedoms; ++k) {
        const Twist<T> column = body_twist(t, k);
        for (int i = 0; i < 6; ++i)
          columns[static_cast<std::size_t>(k)][i] = column[i].derivative[0];
      }
    }
    void motion_map_rate_derivative(std::span<const double> q, std::span<const double> v,
                                    std::span<const double> w,
                                    std::span<Twistd> columns) const override {
      using W = Dual<double, 1>;  // along w
      using T = Dual<W, 1>;       // along time
      using D = Dual<T, Freedoms>;
      D x[Freedoms];
      for (int k = 0; k < Freedoms; ++k) {
        const std::size_t i = static_cast<std::size_t>(k);
        T along;
        along.value.value = q[i];
        along.value.derivative[0] = w[i];
        along.derivative[0].value = v[i];
        along.derivative[0].derivative[0] = 0.0;
        x[k] = D::variable(along, k);
      }
      const Transform<D> t = f_(static_cast<const D*>(x));
      for (int k = 0; k < Freedoms; ++k) {
        const Twist<T> column = body_twist(t, k);
        for (int i = 0; i < 6; ++i)
          columns[static_cast<std::size_t>(k)][i] = column[i].derivative[0].derivative[0];
      }
    }

   private:
    F f_;
  };
  return std::make_shared<const Derived>(std::move(transform_function));
}

}  // namespace catena
