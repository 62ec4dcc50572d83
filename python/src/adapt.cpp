// SPDX-License-Identifier: BSD-3-Clause
// Coordinates of other libraries (model/peer_coordinates.h); catena.adapt makes these.
#include "support/arguments.h"

#include "catena/model/peers/peer_coordinates.h"

namespace catena::python {
namespace {

struct PythonPeer {
  PythonPeer(MechanismPointer of, PeerLibrary library, std::vector<PeerHinge> order)
      : mechanism(std::move(of)), peer(*mechanism, library, std::move(order)) {}
  MechanismPointer mechanism;
  PeerCoordinates peer;
};

Eigen::VectorXd position(const PythonPeer& p, const PositionVector& q) {
  Eigen::VectorXd buffer;
  return read_position(q, *p.mechanism, buffer);
}

// Row by row; `convert` takes and gives a State.
template <class Convert>
std::pair<Eigen::MatrixXd, Eigen::MatrixXd> rows(const Eigen::MatrixXd& q, const Eigen::MatrixXd& v,
                                                 int coordinates, int freedoms, Convert convert) {
  if (q.rows() != v.rows())
    throw py::value_error("q has " + std::to_string(q.rows()) + " rows and v has " +
                          std::to_string(v.rows()) + ": one for each state is expected");
  std::pair<Eigen::MatrixXd, Eigen::MatrixXd> to{Eigen::MatrixXd(q.rows(), coordinates),
                                                 Eigen::MatrixXd(q.rows(), freedoms)};
  for (Eigen::Index i = 0; i < q.rows(); ++i) {
    const State state = convert(State{q.row(i), v.row(i)});
    to.first.row(i) = state.q;
    to.second.row(i) = state.v;
  }
  return to;
}

}  // namespace

void bind_adapt(py::module_& m) {
  bind_enum<PeerLibrary>(m, "PeerLibrary", "Another library of rigid-body dynamics.",
                         {{"pinocchio", PeerLibrary::pinocchio},
                          {"drake", PeerLibrary::drake},
                          {"mujoco", PeerLibrary::mujoco}});
  Struct<PeerHinge>(m, "PeerHinge", "A joint of the other library, in its order.")
      .field("name", &PeerHinge::name, "Of our hinge, or of one of its coordinates.")
      .field("q_index", &PeerHinge::q_index, "None: right after the joint before.")
      .field("v_index", &PeerHinge::v_index, "None: right after the joint before.")
      .field("coordinates", &PeerHinge::coordinates,
             "2: revolute by cosine and sine, 1: by its angle, 0: as usual.")
      .done();
  using P = PythonPeer;
  py::class_<P>(m, "PeerCoordinates",
                "q, v, v̇ and efforts in the orders and frames of another library, and back; power "
                "is the same number. Made by catena.adapt.pinocchio, .drake and .mujoco.")
      .def(py::init([](MechanismPointer mechanism, Choice<PeerLibrary> library,
                       const std::vector<PeerHinge>& order) {
             return std::make_unique<P>(std::move(mechanism), library, order);
           }),
           py::arg("mechanism"), py::arg("library"), py::arg("order") = std::vector<PeerHinge>{})
      .def_property_readonly(
          "mechanism", [](const P& p) { return p.mechanism; }, "Ours.")
      .def_property_readonly(
          "coordinates", [](const P& p) { return p.peer.coordinates(); }, "Length of q there.")
      .def_property_readonly(
          "freedoms", [](const P& p) { return p.peer.freedoms(); }, "Length of v there.")
      .def(
          "position_to_peer",
          [](const P& p, const PositionVector& q) {
            return p.peer.position_to_peer(position(p, q));
          },
          py::arg("q"), "Our q (coordinates,), or a State, to theirs, (peer.coordinates,).")
      .def(
          "position_from_peer",
          [](const P& p, const Eigen::VectorXd& q) { return p.peer.position_from_peer(q); },
          py::arg("q"), "Their q (peer.coordinates,) to ours, (coordinates,).")
      .def(
          "velocity_to_peer",
          [](const P& p, const PositionVector& q, const FreedomVector& v) {
            return p.peer.velocity_to_peer(position(p, q), read_freedoms(v, *p.mechanism, "v"));
          },
          py::arg("q"), py::arg("v"), "Our v, at our q, to theirs, (peer.freedoms,).")
      .def(
          "velocity_from_peer",
          [](const P& p, const PositionVector& q, const Eigen::VectorXd& v) {
            return p.peer.velocity_from_peer(position(p, q), v);
          },
          py::arg("q"), py::arg("v"), "Their v, at our q, to ours, (freedoms,).")
      .def(
          "effort_to_peer",
          [](const P& p, const PositionVector& q, const FreedomVector& effort) {
            return p.peer.effort_to_peer(position(p, q),
                                         read_freedoms(effort, *p.mechanism, "effort"));
          },
          py::arg("q"), py::arg("effort"),
          "Our efforts, at our q, to theirs, (peer.freedoms,), N m or N.")
      .def(
          "effort_from_peer",
          [](const P& p, const PositionVector& q, const Eigen::VectorXd& effort) {
            return p.peer.effort_from_peer(position(p, q), effort);
          },
          py::arg("q"), py::arg("effort"),
          "Their efforts, at our q, to ours, (freedoms,), N m or N.")
      .def(
          "acceleration_to_peer",
          [](const P& p, const NamedState& state, const FreedomVector& acceleration) {
            return p.peer.acceleration_to_peer(
                state.of(*p.mechanism), read_freedoms(acceleration, *p.mechanism, "acceleration"));
          },
          py::arg("state"), py::arg("acceleration"),
          "Our v̇, at our state, to theirs, (peer.freedoms,).")
      .def(
          "acceleration_from_peer",
          [](const P& p, const NamedState& state, const Eigen::VectorXd& acceleration) {
            return p.peer.acceleration_from_peer(state.of(*p.mechanism), acceleration);
          },
          py::arg("state"), py::arg("acceleration"), "Their v̇, at our state, to ours, (freedoms,).")
      .def(
          "velocity_map",
          [](const P& p, const PositionVector& q) { return p.peer.velocity_map(position(p, q)); },
          py::arg("q"),
          "(peer.freedoms, freedoms), J of v_peer = J v: mass_matrix = Jᵀ mass_matrix_peer J.")
      .def(
          "to_peer",
          [](const P& p, const NamedState& state) {
            State theirs = p.peer.to_peer(state.of(*p.mechanism));
            return std::make_pair(std::move(theirs.q), std::move(theirs.v));
          },
          py::arg("state"), "(q, v) there, of our State.")
      .def(
          "from_peer",
          [](const P& p, const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
            return NamedState{p.mechanism, p.peer.from_peer({q, v})};
          },
          py::arg("q"), py::arg("v"), "Our State, of (q, v) there.")
      .def(
          "batch_to_peer",
          [](const P& p, const Eigen::MatrixXd& q, const Eigen::MatrixXd& v) {
            return rows(q, v, p.peer.coordinates(), p.peer.freedoms(),
                        [&](const State& ours) { return p.peer.to_peer(ours); });
          },
          py::arg("q"), py::arg("v"), "(q, v) there of many states, one in each row.")
      .def(
          "batch_from_peer",
          [](const P& p, const Eigen::MatrixXd& q, const Eigen::MatrixXd& v) {
            return rows(q, v, p.mechanism->coordinates(), p.mechanism->freedoms(),
                        [&](const State& theirs) { return p.peer.from_peer(theirs); });
          },
          py::arg("q"), py::arg("v"), "Our (q, v) of many of theirs, one in each row.");
}

}  // namespace catena::python
