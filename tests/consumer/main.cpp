// SPDX-License-Identifier: BSD-3-Clause
// A user's program: a double pendulum, built without a file.
#include <cstdio>

#include <catena/model/builder.h>

int main() {
  catena::MechanismBuilder b("double pendulum");
  const catena::BodySettings rod{.mass = 1.5,
                                 .center_of_mass = {0.0, 0.0, -0.5},
                                 .inertia = catena::SymMat3d::diagonal(0.125, 0.125, 0.0)};
  b.add_body("upper", rod).add_body("lower", rod);
  b.add_hinge("shoulder", "world", "upper", {.axes = {{0, 1, 0}}});
  b.add_hinge("elbow", "upper", "lower",
              {.axes = {{0, 1, 0}},
               .frame_on_parent = catena::Transformd::from_translation({0.0, 0.0, -1.0})});
  const catena::Mechanism pendulum = b.finish();
  std::printf("%s: %d freedoms, %.1f kg\n", pendulum.name().c_str(), pendulum.freedoms(),
              pendulum.total_mass());
}
