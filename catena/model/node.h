// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; hinge.h needs it.
//
// The tables that the sweeps run over: one Node for each moving rigid group of bodies, parent
// first, in plain numbers.
//
// Plain numbers, not spatial types, because kernels compiled for another instruction set see the
// spatial types in another namespace (scalar.h) but must read the same tables.
//
// The frame of a node is the child-side frame of its inboard hinge, turned so that the axis of a
// one-freedom hinge is the local z axis: its motion map is then a unit vector, a hinge inertia is
// one matrix element and a gain one column.
#pragma once

#include <cstdint>

namespace catena {

inline constexpr int kMaxFreedoms = 6;
inline constexpr int kMaxCoordinates = 7;

// A user's hinge in plain numbers: displacement (rotation row by row, then translation), columns
// of the motion map, and Ḣ v. Compiled once, for all instruction sets of the calling kernels.
class CustomHinge;
void evaluate_custom(const CustomHinge& hinge, int freedoms, const double* q, const double* v,
                     double* displacement, double* map, double* bias);
// Its variation: `map_by_q`, 6 numbers for each direction l and column m (l outermost), is
// ∂H_m/∂q_l; `bias_by_q`, 6 for each direction, is ∂(Ḣ v)/∂q_l.
void differentiate_custom(const CustomHinge& hinge, int freedoms, const double* q, const double* v,
                          double* map_by_q, double* bias_by_q);

// How a sweep treats the hinge of a node.
enum class NodeHinge : std::uint8_t {
  revolute,   // about z
  prismatic,  // along z
  screw,      // about and along z, with a pitch
  screws,     // a product of turns and shifts about fixed axes; H depends on q
  spherical,  // quaternion, H = (1; 0)
  free,       // quaternion and position, H = 1
  custom,     // by the user
  modes,      // freedoms of a flexible body: no motion of its own, n coordinates
  attachment  // of a flexible body: moved by the modes of its parent, no freedom of its own
};

// One factor of a hinge made of screws: a turn about, or a shift along, a fixed axis through the
// hinge point by q[coordinate].
struct NodeScrew {
  double axis[3];
  bool rotation;
  int coordinate;
};

struct Node {
  int parent = -1;  // −1: the ground
  NodeHinge hinge = NodeHinge::revolute;
  // The file names the bodies the other way round: J(q) is the inverse of the hinge's own
  // displacement and the motion map is −Ad(J) H. Coordinates keep the meaning the user gave them.
  // (Hinges made of screws need no flag: their screws are reversed when the mechanism is finished.)
  bool reversed = false;
  std::uint16_t coordinates = 1;  // length of q
  std::uint16_t freedoms = 1;     // length of v
  int q_index = 0;
  int v_index = 0;
  int first_screw = 0;  // of `coordinates` screws in the table of screws
  int hinge_index = -1;
  // Of modes and attachments: which one in the mechanism's tables. The q_index and v_index of an
  // attachment are those of the modes.
  int flexible = -1;
  double pitch = 0.0;

  // X_parentnode_hinge: constant displacement to the parent-side frame of the hinge.
  double rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double translation[3] = {0, 0, 0};

  // Inertia of everything that is rigidly part of the node: about its origin, in its axes.
  double mass = 0.0;
  double mass_moment[3] = {0, 0, 0};
  double inertia[6] = {0, 0, 0, 0, 0, 0};  // xx, xy, xz, yy, yz, zz
};

}  // namespace catena
