// SPDX-License-Identifier: BSD-3-Clause
#include "catena/model/with_coordinates.h"

#include <gtest/gtest.h>

#include "catena/base/index.h"
#include "catena/model/builder.h"

namespace catena {
namespace {

Transformd shift(double x) { return Transformd::from_translation({x, 0.0, 0.0}); }

MechanismBuilder four_bar() {
  MechanismBuilder b("four_bar");
  for (const char* name : {"crank", "coupler", "rocker"})
    b.add_body(name, {.mass = 1.0, .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)});
  b.add_hinge("A", kWorld, "crank", {});
  b.add_hinge("B", "crank", "coupler", {.frame_on_parent = shift(1.0)});
  b.add_hinge("C", "coupler", "rocker", {.frame_on_parent = shift(2.0)});
  b.add_hinge("D", "rocker", kWorld, {.frame_on_parent = shift(1.5), .frame_on_child = shift(2.0)});
  return b;
}

// Whatever is cut: the other coordinates stay where they are, the new one comes last.
TEST(WithCoordinates, OfAHingeThatIsCut) {
  const Mechanism m = four_bar().finish();
  ASSERT_EQ(m.freedoms(), 3);
  std::string cut;
  for (const HingePlace& hinge : m.hinges())
    if (hinge.node < 0) cut = hinge.name;
  ASSERT_FALSE(cut.empty());
  const std::vector<std::string> all{"A", "B", "C", "D"};
  const Mechanism with = with_coordinates(m, all);
  ASSERT_EQ(with.freedoms(), 4);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(with.velocity_names()[index(i)], m.velocity_names()[index(i)]);
  EXPECT_EQ(with.velocity_names()[3], cut);
  EXPECT_EQ(with.hinges()[index(with.hinge_index(cut))].role, HingePlace::Role::cut);
  EXPECT_EQ(with.loops().size(), 1u);
  EXPECT_EQ(with_coordinates(with, all).freedoms(), 4);
  for (const FreedomSettings& freedom : with.freedom_settings()) EXPECT_EQ(freedom.damping, 0.0);
}

TEST(WithCoordinates, NamesThatCannotHaveAny) {
  MechanismBuilder b = four_bar();
  b.add_body("plate", {.mass = 1.0, .inertia = SymMat3d::diagonal(0.1, 0.1, 0.1)});
  b.add_hinge("glue", "rocker", "plate", {.type = HingeType::weld});
  const Mechanism m = b.finish();
  EXPECT_THROW(with_coordinates(m, std::vector<std::string>{"glue"}), NameError);
  EXPECT_THROW(with_coordinates(m, std::vector<std::string>{"E"}), NameError);
}

}  // namespace
}  // namespace catena
