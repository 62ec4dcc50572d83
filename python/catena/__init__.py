"""Catena: dynamics and control of articulated mechanisms.

    import catena

    robot = catena.load("robot.urdf")
    state = robot.default_state()
    state["elbow"] = 0.3
    acceleration = catena.forward_dynamics(robot, state, {"elbow": 2.0})
    run = catena.simulate(robot, state, duration=5.0)
    run.plot("q.elbow")

The names are those of the C++ library; C++ functions without arguments that read a value are
properties here. Vectors are NumPy arrays of float64, six-vectors have their angular part first,
units are SI, and angles are radians. Conventions: docs/notation.md; guide: docs/python.md.
"""
from . import _catena
from ._catena import *  # noqa: F401,F403
from ._catena import __version__, rooms
from . import adapt
from ._linear import linearize_along
from ._optimal import record_motion
from ._regulator import recorded_motion, simulate_regulated, track
from ._run import Run, compare_runs, open_run, resume_simulation, simulate, view
from ._show import show_results
from . import _pickle  # noqa: F401  for what it does

show_results(_catena)

# What the extension has but a user does not call begins with an underscore.
__all__ = sorted(
    {name for name in dir(_catena) if not name.startswith("_")}
    | {"Run", "adapt", "compare_runs", "open_run", "record_motion", "resume_simulation", "simulate"}
    | {"linearize_along", "recorded_motion", "simulate_regulated", "track", "view"}
)
