// SPDX-License-Identifier: BSD-3-Clause
// For tests: are two descriptions the same, to the bit? Where they were read does not count.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "catena/base/error.h"
#include "catena/model/description.h"

namespace catena {

// All that a description says, as text with every number as its bits.
class BitPrint {
 public:
  explicit BitPrint(const Description& d) {
    add(d.name, d.gravity);
    for (const Body& b : d.bodies) add_body(b);
    for (const Hinge& h : d.hinges) add_hinge(h);
    for (const Frame& f : d.frames) add("\nframe", f.name, f.body, f.pose);
    for (const Rod& r : d.rods)
      add("\nrod", r.name, r.body_a, r.point_a, r.body_b, r.point_b, r.length);
    for (const Coupling& c : d.couplings) {
      add("\ncoupling", c.name, c.constant);
      for (const Coupling::Term& t : c.terms) add(t.hinge, t.freedom, t.coefficient);
    }
    for (const SpringDamper& s : d.springs)
      add("\nspring", s.name, s.body_a, s.point_a, s.body_b, s.point_b, s.stiffness, s.rest_length,
          s.damping);
  }

  const std::string& text() const { return text_; }

 private:
  template <class... Values>
  void add(const Values&... values) {
    (put(values), ...);
  }
  void put(double x) { text_ += std::to_string(std::bit_cast<std::uint64_t>(x)) + ' '; }
  void put(int x) { text_ += std::to_string(x) + ' '; }
  void put(const std::string& x) { text_ += '\'' + x + "' "; }
  void put(const char* x) { text_ += x + std::string(" "); }
  void put(const Vec3d& x) { add(x.x, x.y, x.z); }
  void put(const Rotationd& x) {
    for (int i = 0; i < 3; ++i) put(x.matrix.row(i));
  }
  void put(const Transformd& x) { add(x.rotation, x.translation); }
  void put(const std::vector<double>& x) {
    put(static_cast<int>(x.size()));
    for (const double value : x) put(value);
  }
  void put(const FreedomSettings& f) {
    add(f.lower, f.upper, f.velocity_limit, f.effort_limit, f.damping, f.stiffness, f.rest,
        f.friction.sliding, f.friction.breakaway, f.friction.stribeck_velocity,
        f.friction.transition_velocity);
  }

  void add_body(const Body& b) {
    add("\nbody", b.name, b.mass, b.center_of_mass, b.inertia.xx, b.inertia.xy, b.inertia.xz,
        b.inertia.yy, b.inertia.yz, b.inertia.zz, b.inertia_axes);
    for (const Visual& v : b.visuals) {
      add("\n  visual", static_cast<int>(v.shape), v.pose, v.size, v.radius, v.length, v.mesh,
          v.name);
      for (const double c : v.colour) put(c);
    }
  }

  void add_hinge(const Hinge& h) {
    add("\nhinge", h.name, h.parent, h.child, static_cast<int>(h.type), h.pitch, h.frame_on_parent,
        h.frame_on_child, static_cast<int>(h.cut), static_cast<int>(h.keeps_coordinates),
        h.locked_at, h.initial_position, h.initial_velocity);
    for (const Vec3d& axis : h.axes) put(axis);
    // Missing freedoms have the defaults.
    const std::size_t count = static_cast<std::size_t>(freedoms_of(h.type));
    for (std::size_t i = 0; i < count; ++i)
      put(i < h.freedoms.size() ? h.freedoms[i] : FreedomSettings{});
    if (!h.drive) return;
    add("drive", h.drive->rotor_inertia, h.drive->gear_ratio, h.drive->carrier,
        static_cast<int>(h.drive->armature_only));
    if (h.drive->rotor_axis) put(*h.drive->rotor_axis);
  }

  std::string text_;
};

inline void expect_same(const Description& a, const Description& b) {
  EXPECT_EQ(BitPrint(a).text(), BitPrint(b).text());
}

// The hinge of this name.
inline const Hinge& hinge(const Description& d, const std::string& name) {
  for (const Hinge& h : d.hinges)
    if (h.name == name) return h;
  throw NameError("no hinge " + name);
}

}  // namespace catena
