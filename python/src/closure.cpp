// SPDX-License-Identifier: BSD-3-Clause
// Closed loops: assembly, charts, mobility.
#include "support/arguments.h"

#include "catena/closure/aggregate_tables.h"
#include "catena/closure/assembly.h"
#include "catena/closure/chart.h"
#include "catena/closure/mobility.h"

namespace catena::python {
namespace {

AssemblySettings settings(const Mechanism& m, const Freedoms& fixed, bool keep_limits,
                          bool closest) {
  return {.fixed = read_mask(fixed, m), .keep_limits = keep_limits, .closest = closest};
}

const char* const kSettings =
    "\n\nfixed: freedoms that stay as given: names, indices or a mask.\nkeep_limits: of the "
    "hinges.\nclosest: the closed position nearest to the guess that several starts lead to, not "
    "just any near it.";

std::string with_settings(const char* text) { return std::string(text) + kSettings; }

void bind_assembly(py::module_& m) {
  using L = LoopAssembly;
  py::class_<L> loop(m, "LoopAssembly",
                     "One loop of an Assembly. Gaps are radians, or fractions of its size.");
  loop.def_readonly("given_gap", &LoopAssembly::given_gap, "Of the guess.")
      .def_readonly("gap", &LoopAssembly::gap, "Of what was found.")
      .def_readonly("closed", &LoopAssembly::closed, "Whether the gap is closed.")
      .def_readonly("remains", &LoopAssembly::remains, "What is open, in words.");
  picklable(loop, &L::given_gap, &L::gap, &L::closed, &L::remains);
  py::class_<Assembly> assembly(m, "Assembly", "What find_assembly() found.");
  assembly.def_readonly("q", &Assembly::q, "(coordinates,): the best position found.")
      .def_readonly("closed", &Assembly::closed, "Whether all loops are.")
      .def_readonly("loops", &Assembly::loops, "list of LoopAssembly, as mechanism.loops.")
      .def_property_readonly("gap", &Assembly::gap, "The largest.");
  picklable(assembly, &Assembly::q, &Assembly::closed, &Assembly::loops);
  m.def(
      "find_assembly",
      [](const Mechanism& x, const PositionVector& guess, const Freedoms& fixed, bool keep_limits,
         bool closest) {
        Eigen::VectorXd buffer;
        const Eigen::VectorXd q = read_position(guess, x, buffer);
        const AssemblySettings s = settings(x, fixed, keep_limits, closest);
        const py::gil_scoped_release release;
        return find_assembly(x, q, s);
      },
      py::arg("mechanism"), py::arg("guess"), py::kw_only(), py::arg("fixed") = py::none(),
      py::arg("keep_limits") = true, py::arg("closest") = false,
      with_settings("A position near the guess that closes all loops, or the best that was found.")
          .c_str());
  m.def(
      "assemble",
      [](const MechanismPointer& x, const NamedState& guess, const Freedoms& fixed,
         bool keep_limits, bool closest) {
        const AssemblySettings s = settings(*x, fixed, keep_limits, closest);
        const py::gil_scoped_release release;
        return NamedState{x, assemble(*x, guess.of(*x), s)};
      },
      py::arg("mechanism"), py::arg("guess"), py::kw_only(), py::arg("fixed") = py::none(),
      py::arg("keep_limits") = true, py::arg("closest") = false,
      with_settings(
          "The State near a guess whose position closes all loops and whose velocity keeps them "
          "so. NumericalError, with the open joint, if they cannot be closed.")
          .c_str());
  m.def(
      "assemble",
      [](const Mechanism& x, const PositionVector& guess, const Freedoms& fixed, bool keep_limits,
         bool closest) {
        Eigen::VectorXd buffer;
        const Eigen::VectorXd q = read_position(guess, x, buffer);
        const AssemblySettings s = settings(x, fixed, keep_limits, closest);
        const py::gil_scoped_release release;
        return assemble(x, q, s);
      },
      py::arg("mechanism"), py::arg("guess"), py::kw_only(), py::arg("fixed") = py::none(),
      py::arg("keep_limits") = true, py::arg("closest") = false,
      "The same for a position (coordinates,) alone.");
  m.def(
      "assemble_near",
      [](const MechanismPointer& x, const NamedState& guess, const Freedoms& position,
         const Freedoms& velocity) {
        GivenFreedoms given = given_by_state(*x, guess.of(*x));
        if (position.given()) given.position = read_mask(position, *x);
        if (velocity.given()) given.velocity = read_mask(velocity, *x);
        const py::gil_scoped_release release;
        return NamedState{x, assemble_near(*x, guess.of(*x), given)};
      },
      py::arg("mechanism"), py::arg("guess"), py::arg("position") = py::none(),
      py::arg("velocity") = py::none(),
      "A State near a guess: keeps the freedoms `position` and `velocity` (default: those that the "
      "model gives, or in which the guess differs from the default state) if the loops can be "
      "closed that way, and otherwise moves everything. A state "
      "that is closed to rounding is returned as it is.");
  m.def(
      "outside_limits",
      [](const Mechanism& x, const PositionVector& q) {
        Eigen::VectorXd buffer;
        return outside_limits(x, read_position(q, x, buffer));
      },
      py::arg("mechanism"), py::arg("q"),
      "The freedoms that q has outside the limits of their hinges, in words.");
  m.def(
      "consistent_velocity",
      [](const Mechanism& x, const PositionVector& q, const FreedomVector& v,
         const Freedoms& fixed) {
        Eigen::VectorXd buffer;
        return consistent_velocity(x, read_position(q, x, buffer), read_freedoms(v, x, "v"),
                                   read_mask(fixed, x));
      },
      py::arg("mechanism"), py::arg("q"), py::arg("v"), py::arg("fixed") = py::none(),
      "The velocity (freedoms,) nearest to v that keeps the loops of q closed.");
  m.def(
      "closure_gap",
      [](const Mechanism& x, const PositionVector& q) {
        Eigen::VectorXd buffer;
        return closure_gap(x, read_position(q, x, buffer));
      },
      py::arg("mechanism"), py::arg("q"),
      "The largest residual of all loops, radians or fractions of a loop's size.");
  m.def(
      "closure_rate",
      [](const Mechanism& x, const NamedState& state) { return closure_rate(x, state.of(x)); },
      py::arg("mechanism"), py::arg("state"), "The largest residual of the velocities.");
}

void bind_chart(py::module_& m) {
  py::class_<LoopChart>(m, "LoopChart", "The independent freedoms of one loop.")
      .def_readonly("independent", &LoopChart::independent, "list of int, indices into v.")
      .def_readonly("dependent", &LoopChart::dependent, "list of int, in the order of the pivots.")
      .def_readonly("rank", &LoopChart::rank, "Of the closure: how many freedoms follow.")
      .def_readonly("redundant", &LoopChart::redundant, "Rows that say nothing new.")
      .def_readonly("quality", &LoopChart::quality, "1 is best.");
  py::class_<Chart>(m, "Chart", "Which freedoms of closed loops are independent.")
      .def_readonly("loops", &Chart::loops, "list of LoopChart, as mechanism.loops.")
      .def("independent", &Chart::independent, py::arg("freedoms"),
           "All independent freedoms of the mechanism, indices into v.")
      .def("is_independent", &Chart::is_independent, py::arg("freedom"),
           "Whether this freedom, an index into v, is independent.");
  m.def(
      "choose_chart",
      [](const Mechanism& x, const PositionVector& q, const Freedoms& pinned,
         const Chart* previous) {
        Eigen::VectorXd buffer;
        return choose_chart(x, read_position(q, x, buffer),
                            {.pinned = read_mask(pinned, x), .previous = previous});
      },
      py::arg("mechanism"), py::arg("q"), py::arg("pinned") = py::none(),
      py::arg("previous") = py::none(),
      "The best independent freedoms at a closed position. pinned: freedoms that must be among "
      "them. previous: keeps the ranks of this Chart.");
  m.def(
      "chart_quality",
      [](const Mechanism& x, const Chart& chart, const PositionVector& q) {
        Eigen::VectorXd buffer;
        return chart_quality(x, chart, read_position(q, x, buffer));
      },
      py::arg("mechanism"), py::arg("chart"), py::arg("q"),
      "Conditioning of the chart at q, relative to the best choice there.");
}

void bind_mobility(py::module_& m) {
  using L = LoopMobility;
  py::class_<L> loop(m, "LoopMobility", "One loop of a MobilityReport.");
  loop.def_readonly("freedoms", &LoopMobility::freedoms, "Of the spanning tree inside the loop.")
      .def_readonly("constraints", &LoopMobility::constraints, "Scalar rows of its closure.")
      .def_readonly("gruebler", &LoopMobility::gruebler, "freedoms - constraints.")
      .def_readonly("given_gap", &LoopMobility::given_gap,
                    "Where it began; radians, or fractions of the loop's size.")
      .def_readonly("closed_gap", &LoopMobility::closed_gap, "Where it was closed.")
      .def_readonly("closed", &LoopMobility::closed, "Whether it can be closed.")
      .def_readonly("mobility", &LoopMobility::mobility, "The freedoms that it really has.")
      .def_readonly("redundant", &LoopMobility::redundant, "Rows that say nothing new.")
      .def_readonly("singular", &LoopMobility::singular,
                    "Whether the closed position has more freedoms than those near it.")
      .def_readonly("instantaneous", &LoopMobility::instantaneous,
                    "Freedoms less the rank at the closed position itself.")
      .def_readonly("shaky", &LoopMobility::shaky,
                    "Infinitesimally mobile: it moves instantaneously, but no other closed "
                    "position was found near it.")
      .def_readonly("nearly_redundant", &LoopMobility::nearly_redundant,
                    "Rows that would be redundant if what should be parallel or equal were off by "
                    "less.")
      .def_readonly("off", &LoopMobility::off, "By how much; rad or lengths of the loop.")
      .def_readonly("trouble", &LoopMobility::trouble,
                    "str: why it moves less than its author probably expects; usually empty.");
  picklable(loop, &L::freedoms, &L::constraints, &L::gruebler, &L::given_gap, &L::closed_gap,
            &L::closed, &L::mobility, &L::redundant, &L::singular, &L::instantaneous, &L::shaky,
            &L::nearly_redundant, &L::off, &L::trouble);
  using R = MobilityReport;
  py::class_<R> report(m, "MobilityReport", "What analyse_mobility() found.");
  report
      .def_readonly("mobility", &MobilityReport::mobility,
                    "Of the whole mechanism; None if some loop cannot be closed.")
      .def_readonly("loops", &MobilityReport::loops, "list of LoopMobility, as mechanism.loops.")
      .def_readonly("q", &MobilityReport::q, "(coordinates,): a closed position.")
      .def_readonly("warnings", &MobilityReport::warnings, "list of str.");
  picklable(report, &R::mobility, &R::loops, &R::q, &R::warnings);
  m.def(
      "analyse_mobility",
      [](const Mechanism& x, const PositionVector& q) {
        Eigen::VectorXd buffer;
        const Eigen::VectorXd position = read_position(q, x, buffer);
        const py::gil_scoped_release release;
        return analyse_mobility(x, position);
      },
      py::arg("mechanism"), py::arg("q") = py::none(),
      "Mobility: the degrees of freedom that a closed mechanism really has, and its redundant "
      "constraints. Starts from q (default: the default state's).");
}

}  // namespace

void bind_closure(py::module_& m) {
  bind_assembly(m);
  bind_chart(m);
  bind_mobility(m);
}

}  // namespace catena::python
