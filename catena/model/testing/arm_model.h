// SPDX-License-Identifier: BSD-3-Clause
// The arm in which tests make mistakes.
#pragma once

#include <utility>
#include <vector>

#include "catena/model/testing/test_support.h"

namespace catena::test {

// upper on the world, lower on upper; both pins about z.
inline MechanismBuilder arm() {
  MechanismBuilder b("arm");
  b.add_body("upper", ball()).add_body("lower", ball());
  b.add_hinge("shoulder", kWorld, "upper").add_hinge("elbow", "upper", "lower");
  return b;
}

// Of its elbow.
inline void set_type(MechanismBuilder& b, HingeType type, std::vector<Vec3d> axes = {}) {
  b.hinge("elbow").type = type;
  b.hinge("elbow").axes = std::move(axes);
}

}  // namespace catena::test
