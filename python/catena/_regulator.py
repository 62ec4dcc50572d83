"""Regulators: feedback that keeps a mechanism on a recorded motion, and runs with it."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional, Union

from . import _catena
from ._run import PathLike, Run, Signal, _recorded

if TYPE_CHECKING:  # a build may be without them
    from ._catena import Mechanism, RecordedMotion, Regulator


def recorded_motion(
    run: Run, mechanism: Optional[Mechanism] = None, *, efforts: bool = True
) -> RecordedMotion:
    """The motion of a Run, from its columns time, q.*, v.* and effort.*.

    mechanism: the one with the names of the columns; None: that of the run.
    efforts: True if every effort column is required; otherwise missing ones are zero.
    """
    if not isinstance(run, Run):
        raise TypeError(f"a Run is expected, not {type(run).__name__}")
    robot = run.mechanism if mechanism is None else mechanism
    return _catena._recorded_motion(robot, run.columns, run.values, efforts)


def track(
    mechanism: Mechanism, motion: Union[Run, RecordedMotion], settings: Any = None, **fields: Any
) -> Regulator:
    """The linear feedback that keeps a mechanism on a motion: best for a quadratic cost, by a
    Riccati sweep along it.

        run = catena.record_motion(problem, catena.solve(problem))
        regulator = catena.track(run.mechanism, run, state_weights={"q.elbow": 100.0})
        regulator.gain_at(0.5)

    Keywords are the fields of RegulatorSettings, and `external`: wrenches that act all along.
    """
    if isinstance(motion, Run):
        motion = recorded_motion(motion, mechanism)
    return _catena._track(mechanism, motion, settings, **fields)


def simulate_regulated(
    mechanism: Mechanism,
    motion: Union[Run, RecordedMotion],
    regulator: Regulator,
    *,
    feedback: bool = True,
    offsets: Optional[Mapping[str, float]] = None,
    random: float = 0.0,
    seed: int = 1,
    efforts: Optional[Mapping[str, Signal]] = None,
    masses: Optional[Mapping[str, float]] = None,
    effort_limits: Optional[Mapping[str, float]] = None,
    external: Any = None,
    output_interval: Optional[float] = None,
    method: Any = None,
    relative_tolerance: Optional[float] = None,
    step: Optional[float] = None,
    progress: Optional[Callable[[float], Optional[bool]]] = None,
    output: Optional[PathLike] = None,
    overwrite: bool = False,
    model_path: str = "",
) -> Run:
    """The mechanism under disturbances, with its regulator or without (feedback=False), as a Run;
    `run.regulation` is a RegulatedResult.

    offsets: of the state at the start, {"q.elbow": 0.05}.
    random, seed: a random offset on top, standard deviation in units of the allowed deviation.
    efforts: added to those of the actuators, by freedom: {"elbow": "0.5*sin(3*t)"}.
    masses: factors on mass and inertia of bodies; the regulator is designed without them.
    effort_limits: of actuators, by freedom.
    The rest as in simulate(); the duration is that of the motion.

    Beside the columns of a simulation there are nominal.q.NAME, nominal.v.NAME,
    nominal.effort.NAME, actuator.NAME, deviation.q.NAME and deviation.v.NAME.
    """
    if isinstance(motion, Run):
        motion = recorded_motion(motion, mechanism)
    path = "" if output is None else os.fspath(output)
    record = _catena.MemoryRecorder()
    moved, result, regulation, settings_json = _catena._simulate_regulated(
        mechanism,
        motion,
        regulator,
        feedback,
        dict(offsets or {}),
        random,
        seed,
        efforts,
        dict(masses or {}),
        dict(effort_limits or {}),
        external,
        output_interval,
        method,
        relative_tolerance,
        step,
        progress,
        path,
        overwrite,
        model_path,
        record,
    )
    return _recorded(
        record,
        path,
        mechanism=moved,
        result=result,
        settings_json=settings_json,
        model_path=model_path,
        kind="regulation",
        regulation=regulation,
    )
