"""Linear systems and control design, with the names of docs/control.md and NumPy arrays.

    import catena
    from catena import control

    robot = catena.load("models/cart_pendulum.yaml")
    upright = robot.default_state()
    upright["pivot"] = np.pi
    model = catena.linearize(robot, upright, inputs=["rail"], outputs=["q.rail", "q.pivot"])
    plant = control.state_space(model)
    design = control.lqg(plant, Q=plant.C.T @ plant.C, R=[[1.0]], W=[[1.0]], V=1e-4 * np.eye(2), G=plant.B)
    control.save_system(control.controller_for(plant, design.controller), "K.yaml")

Controllers are in positive feedback, u = K y, unless said otherwise.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._catena import _control

__all__ = sorted([name for name in dir(_control) if not name.startswith("_")] + ["state_space"])
globals().update({name: getattr(_control, name) for name in __all__ if name != "state_space"})

if TYPE_CHECKING:  # the names above are those of the extension

    def __getattr__(name: str) -> Any: ...


def state_space(model: Any) -> Any:
    """The StateSpace of a LinearModel (linearize()), with names of its signals and operating point."""
    names = model.mechanism.velocity_names
    effort = dict(zip(names, model.effort)) if len(model.effort) else {}
    return _control.StateSpace(
        model.A,
        model.B,
        model.C,
        model.D,
        states=model.states,
        inputs=model.inputs,
        outputs=model.outputs,
        mechanism=model.mechanism.name,
        q=model.state.q,
        v=model.state.v,
        u0=[effort.get(name.removeprefix("effort."), 0.0) for name in model.inputs],
    )
