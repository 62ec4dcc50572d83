"""Coordinates of other libraries (Pinocchio, Drake, MuJoCo), and linear models for control.

    peer = catena.adapt.pinocchio(robot, pinocchio_model)
    q, v = peer.to_peer(state)              # for pinocchio.aba(model, data, q, v, tau)
    state = peer.from_peer(q, v)
    peer.acceleration_from_peer(state, a)   # and back

Joints are matched by name, since each library numbers them in its own way. The second argument is
the other library's model, from which names and places are read, or the names of its joints in their
order, or None: our order. None of these libraries is imported here.
"""
from __future__ import annotations

from typing import Any, Iterable, List, Tuple, Union

import numpy as np
import numpy.typing as npt

from .. import _catena
from .._catena import Mechanism, PeerCoordinates, PeerHinge

Array = npt.NDArray[np.float64]
# The other library's model, or names of its joints in their order, or None.
Names = Any


def _listed(names: Iterable[Union[str, PeerHinge]]) -> List[PeerHinge]:
    return [name if isinstance(name, PeerHinge) else PeerHinge(name=name) for name in names]


def pinocchio(mechanism: Mechanism, model: Names = None) -> PeerCoordinates:
    """q and v as Pinocchio has them.

    model: a pinocchio.Model, or names of its joints in its order. A revolute hinge without limits
    is (cos, sin) there, as Pinocchio's reader of URDF makes it; the model tells if it is not.
    """
    if model is not None and hasattr(model, "names") and hasattr(model, "nqs"):
        order = [
            PeerHinge(
                name=_our_name(mechanism, str(name), int(model.nvs[i]) == 6),
                q_index=int(model.idx_qs[i]),
                v_index=int(model.idx_vs[i]),
                coordinates=int(model.nqs[i]),
            )
            for i, name in enumerate(model.names)
            if int(model.nvs[i]) > 0
        ]
        return PeerCoordinates(mechanism, "pinocchio", order)
    return PeerCoordinates(mechanism, "pinocchio", [] if model is None else _listed(model))


def drake(mechanism: Mechanism, plant: Names = None) -> PeerCoordinates:
    """q and v as Drake has them.

    plant: a finalized MultibodyPlant with this one model, or names of its joints in its order.
    """
    if plant is not None and hasattr(plant, "GetJointIndices"):
        order = []
        for index in plant.GetJointIndices():
            joint = plant.get_joint(index)
            if joint.num_velocities() > 0:
                order.append(
                    PeerHinge(
                        name=_our_name(mechanism, str(joint.name()), joint.num_velocities() == 6),
                        q_index=int(joint.position_start()),
                        v_index=int(joint.velocity_start()),
                    )
                )
        return PeerCoordinates(mechanism, "drake", order)
    return PeerCoordinates(mechanism, "drake", [] if plant is None else _listed(plant))


def mujoco(mechanism: Mechanism, model: Names = None) -> PeerCoordinates:
    """q and v as MuJoCo has them.

    model: a mujoco.MjModel, or names of its joints in its order. Where MuJoCo has several joints
    for one of our hinges, they are named as our coordinates are: "table.x", "table.y",
    "table.angle".
    """
    if model is not None and hasattr(model, "jnt_qposadr"):
        order = [
            PeerHinge(
                name=_our_name(mechanism, str(model.joint(i).name), int(model.jnt_type[i]) == 0),
                q_index=int(model.jnt_qposadr[i]),
                v_index=int(model.jnt_dofadr[i]),
            )
            for i in range(int(model.njnt))
        ]
        return PeerCoordinates(mechanism, "mujoco", order)
    return PeerCoordinates(mechanism, "mujoco", [] if model is None else _listed(model))


def control(model: _catena.LinearModel) -> Tuple[Array, Array, Array, Array]:
    """(A, B, C, D) of a LinearModel of linearize(), as python-control and SciPy take them:

        control.ss(*catena.adapt.control(model))
        scipy.signal.StateSpace(*catena.adapt.control(model))
    """
    return model.A, model.B, model.C, model.D


def _our_name(mechanism: Mechanism, name: str, floating: bool) -> str:
    """Our name of a joint. A floating base has a name of the library's own there ("root_joint",
    "$world_base"): it is our free hinge, if there is one."""
    free = [h.name for h in mechanism.hinges if h.type == _catena.HingeType.free and h.node >= 0]
    if floating and not mechanism.has_hinge(name) and len(free) == 1:
        return free[0]
    return name
