// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; dynamics/kernels/scratch.h needs it.
//
// The rows of the closure equations of an aggregate, for any scalar: Y v = 0 and Y v̇ = −Ẏ v.
//
// Everything is in the aggregate's frame with its base at rest (structure.h). A row is a covector ρ
// on the twist of the child's side relative to the parent's: its element in the column of a freedom
// with twist S is ± ρ · S. A pair's rows are fixed in the frame on the parent's side, hence
//
//   Ẏ v = ρ · (A_child − A_parent − [V_parent, V_child − V_parent]),
//
// A the accelerations at v̇ = 0. ([Jain 2009], section 5.3; rods and universal hinges are our
// own.)
#pragma once

#include "catena/closure/structure.h"
#include "catena/model/hinge_kinematics.h"

namespace catena {
inline namespace CATENA_ISA {

// A member of an aggregate, relative to its base.
template <class Scalar>
struct MemberMotion {
  Transform<Scalar> pose;
  Twist<Scalar> twist;
  Twist<Scalar> bias;  // acceleration at v̇ = 0
};

// Either side of a closure.
template <class Scalar>
struct ClosureMotion {
  MemberMotion<Scalar> parent;
  MemberMotion<Scalar> child;
};

template <class Scalar>
inline Transform<Scalar> load_side(const ClosureSide& side) {
  const double* r = side.rotation;
  return {{Mat3<Scalar>::from_rows(load_vec3<Scalar>(r), load_vec3<Scalar>(r + 3),
                                   load_vec3<Scalar>(r + 6))},
          load_vec3<Scalar>(side.translation)};
}

template <class Scalar>
inline void move_side(const ClosureSide& side, const MemberMotion<Scalar>* members,
                      MemberMotion<Scalar>& motion) {
  if (side.member < 0) {
    motion = {load_side<Scalar>(side), Twist<Scalar>::zero(), Twist<Scalar>::zero()};
    return;
  }
  const MemberMotion<Scalar>& member = members[side.member];
  motion = {member.pose * load_side<Scalar>(side), member.twist, member.bias};
}

template <class Scalar>
inline Vec3<Scalar> velocity_of(const MemberMotion<Scalar>& m) {
  return m.twist.linear + cross(m.twist.angular, m.pose.translation);
}
template <class Scalar>
inline Vec3<Scalar> acceleration_of(const MemberMotion<Scalar>& m) {
  return m.bias.linear + cross(m.bias.angular, m.pose.translation) +
         cross(m.twist.angular, velocity_of(m));
}

// ρ of a row of a pair, universal hinge or rod.
template <class Scalar>
inline Wrench<Scalar> row_covector(const Closure& c, int row, const ClosureMotion<Scalar>& m) {
  if (c.kind == ClosureKind::rod) {
    const Vec3<Scalar> d =
        Scalar(1.0 / c.length) * (m.child.pose.translation - m.parent.pose.translation);
    return {cross(m.parent.pose.translation, d), d};
  }
  if (c.kind == ClosureKind::universal && row == 0)
    return {cross(m.parent.pose.rotation * load_vec3<Scalar>(c.axis),
                  m.child.pose.rotation * load_vec3<Scalar>(c.child_axis)),
            Vec3<Scalar>::zero()};
  return Ad_star_inverse(m.parent.pose, Wrench<Scalar>{load_vec3<Scalar>(c.covector[row]),
                                                       load_vec3<Scalar>(c.covector[row] + 3)});
}

// Ẏ v of the row.
template <class Scalar>
inline Scalar row_bias(const Closure& c, int row, const Wrench<Scalar>& covector,
                       const ClosureMotion<Scalar>& m) {
  if (c.kind == ClosureKind::rod) {
    const Vec3<Scalar> rate = velocity_of(m.child) - velocity_of(m.parent);
    return dot(covector.force, acceleration_of(m.child) - acceleration_of(m.parent)) +
           Scalar(1.0 / c.length) * squared_norm(rate);
  }
  const Twist<Scalar> relative = m.child.twist - m.parent.twist;
  if (c.kind == ClosureKind::universal && row == 0) {
    const Vec3<Scalar> a = m.parent.pose.rotation * load_vec3<Scalar>(c.axis);
    const Vec3<Scalar> b = m.child.pose.rotation * load_vec3<Scalar>(c.child_axis);
    const Vec3<Scalar> rate =
        cross(cross(m.parent.twist.angular, a), b) + cross(a, cross(m.child.twist.angular, b));
    return dot(covector.moment, m.child.bias.angular - m.parent.bias.angular) +
           dot(rate, relative.angular);
  }
  return dot(covector, m.child.bias - m.parent.bias - ad(m.parent.twist, relative));
}

// Places a member: `own` and `own_bias` are H v and Ḣ v in its frame, `columns` its H in and S out.
template <class Scalar>
inline void move_member(const Aggregate& a, const Transform<Scalar>& to_parent,
                        const MemberMotion<Scalar>* parent, const Twist<Scalar>& own,
                        const Twist<Scalar>& own_bias, int freedoms, Twist<Scalar>* columns,
                        MemberMotion<Scalar>& m) {
  if (parent == nullptr) {
    m.pose = to_parent;
    m.pose.translation = m.pose.translation - load_vec3<Scalar>(a.origin);
    m.twist = Ad(m.pose, own);
    m.bias = Ad(m.pose, own_bias);
  } else {
    m.pose = parent->pose * to_parent;
    const Twist<Scalar> relative = Ad(m.pose, own);
    m.twist = parent->twist + relative;
    m.bias = parent->bias + ad(parent->twist, relative) + Ad(m.pose, own_bias);
  }
  for (int k = 0; k < freedoms; ++k) columns[k] = Ad(m.pose, columns[k]);
}

}  // namespace CATENA_ISA
}  // namespace catena
