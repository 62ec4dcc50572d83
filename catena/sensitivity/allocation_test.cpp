// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of trees, and products, allocate nothing after their first call: malloc is counted.
#include <gtest/gtest.h>

#include "catena/base/testing/allocation_counter.h"
#include "catena/model/builder.h"
#include "catena/model/configuration.h"
#include "catena/sensitivity/products.h"

#ifdef CATENA_COUNTS_ALLOCATIONS
namespace catena {
namespace {

TEST(Allocations, DerivativesMakeNone) {
  MechanismBuilder b("robot");
  std::string parent = kWorld;
  for (int i = 0; i < 6; ++i) {
    const std::string name = "b" + std::to_string(i);
    b.add_body(name, {.mass = 1.0,
                      .center_of_mass = {0.1, 0.02, 0.01},
                      .inertia = SymMat3d::diagonal(0.02, 0.09, 0.08)});
    HingeSettings hinge{.type = i == 0   ? HingeType::free
                                : i == 2 ? HingeType::universal
                                         : HingeType::revolute,
                        .frame_on_parent = Transformd::from_translation({0.3, 0.0, 0.0})};
    hinge.freedoms = {{.damping = 0.1}};
    b.add_hinge("h" + std::to_string(i), parent, name, hinge);
    parent = name;
  }
  const Mechanism m = b.finish();
  const State s{random_position(m, 1), random_vector(m.freedoms(), 2)};
  const Eigen::VectorXd x = random_vector(m.freedoms(), 3);
  SensitivityWorkspace w(m);
  DynamicsProducts products(m);
  const auto all = [&] {
    inverse_dynamics_derivatives(m, s, x, w);
    forward_dynamics_derivatives(m, s, x, w);
    products.evaluate(s, x);
    products.forward_product(x, x, x);
    products.forward_adjoint(x);
  };
  all();
  EXPECT_EQ(test::allocations_of(all), 0);
  EXPECT_GT(test::allocations_of([] { Eigen::VectorXd counted(7); }), 0);  // that the count works
}

}  // namespace
}  // namespace catena
#endif
