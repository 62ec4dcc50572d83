// SPDX-License-Identifier: BSD-3-Clause
// Internal: not part of the public interface; mechanism.h needs it.
//
// The graph of a mechanism: which rigid groups there are, which hinges form the spanning tree,
// which are cut, and which bodies belong to a common closed loop.
//
// Vertices are rigid groups (bodies joined by welds); the ground's is vertex 0. The spanning tree
// grows from the ground and prefers, in this order: hinges that must not be cut, few freedoms
// (so that the cut hinges have many, hence few constraint rows), the direction the author gave,
// short paths, the order of the description. A closed mechanism's loops are the biconnected
// components of this graph; they do not depend on which hinges are cut ([Jain 2009], choice of
// aggregates).
//
// Cost: O(n log n) for n bodies and hinges, no recursion.
#pragma once

#include <string>
#include <vector>

#include "catena/model/description.h"

namespace catena {

struct Topology {
  // Bodies are indices into Description::bodies; −1 is the world.
  std::vector<int> group_of_body;
  int world_group = 0;
  int group_count = 1;

  struct Edge {
    int hinge = -1;
    bool reversed = false;  // the hinge's child is the inner body
  };
  // For each group its inboard hinge; hinge −1 for the world and for groups without a path to it.
  std::vector<Edge> inboard;
  std::vector<int> parent_group;
  std::vector<int> order;        // groups parent first (the world left out), stable in file order
  std::vector<int> cut_hinges;   // hinges (welds included) that close a loop
  std::vector<int> weld_hinges;  // welds that hold the groups together
  std::vector<int> unreachable;  // bodies without a path to the world

  // A set of groups that move together: a biconnected component less the group nearest the
  // ground, joined with others by couplings.
  struct Loop {
    std::vector<int> groups;
    std::vector<int> cut_hinges;
    std::vector<int> rods;
    std::vector<int> couplings;
    int parent_group = 0;  // the one group outside that it hangs on
  };
  std::vector<Loop> loops;
};

// Between the bodies of which a flexible body is made.
bool is_internal(HingeType type);
// A weld, or locked.
bool is_rigid(const Hinge& hinge);
// A drive, a spring, damping or friction acts at it.
bool is_loaded(const Hinge& hinge);
// Whether a cut hinge keeps its coordinates: by its settings, or because something acts at it, it
// has limits, or it is a custom hinge.
bool keeps_coordinates_when_cut(const Hinge& hinge);
int freedoms_of(const Hinge& hinge);
int coordinates_of(const Hinge& hinge);

// The description must have valid names (validation.h).
Topology analyse_topology(const Description& description);

}  // namespace catena
