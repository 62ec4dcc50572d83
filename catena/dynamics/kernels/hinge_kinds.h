// SPDX-License-Identifier: BSD-3-Clause
// The kinds of hinge, and the switch between them. A closed loop's members go through it too:
// they have a hinge like other nodes, and only their elimination is the loop's (loop_node.h).
#pragma once

#include "catena/dynamics/kernels/axis_node.h"
#include "catena/dynamics/kernels/flexible_node.h"
#include "catena/dynamics/kernels/general_node.h"
#include "catena/dynamics/kernels/rotor_node.h"

namespace catena {
inline namespace CATENA_ISA {

// Calls f(hinge) with the struct of that kind.
template <class F>
[[gnu::always_inline]] inline auto with_hinge(NodeKind kind, F f) {
  if (kind == NodeKind::revolute) return f(RevoluteNode());  // most of them
  switch (kind) {
    case NodeKind::prismatic:
      return f(PrismaticNode());
    case NodeKind::revolute_rotor:
      return f(RotorNode<AboutZ>());
    case NodeKind::prismatic_rotor:
      return f(RotorNode<AlongZ>());
    case NodeKind::modes:
      return f(ModesNode());
    case NodeKind::attachment:
      return f(AttachmentNode());
    case NodeKind::revolute:
    case NodeKind::general:
    case NodeKind::member:
    case NodeKind::loop:
    case NodeKind::gear_pair:
      break;
  }
  return f(GeneralNode());
}

}  // namespace CATENA_ISA
}  // namespace catena
