"""Pickles that the extension does not make itself.

Functions: by name, as those of Python, so that a pool of processes can be told to call them. (pybind11
alone would try to pickle a capsule that stands behind each.) Problems of optimal motions: by their
parts; costs and references by functions as Python pickles these.
"""
from __future__ import annotations

import copyreg
import importlib
from types import BuiltinFunctionType
from typing import Any, Dict

from . import _catena


def _named(name: str) -> Any:
    return getattr(importlib.import_module("catena._catena"), name)


def _reduce(function: Any) -> Any:
    if vars(_catena).get(function.__name__) is function:
        return _named, (function.__name__,)
    return function.__reduce__()  # of any other builtin function: what it says itself


copyreg.pickle(BuiltinFunctionType, _reduce)  # type: ignore[arg-type]

# What a problem is made of beside its mechanism and start.
_PARTS = (
    "controls", "bounds", "final_bounds", "final_costs", "final_points", "running_costs", "rate_costs",
    "custom_costs", "grid", "time_weight", "model_limits", "model_path",
)  # fmt: skip


def _problem(mechanism: Any, start: Any, duration: Any, parts: Dict[str, Any]) -> Any:
    problem = _catena.MotionProblem(mechanism, start, duration)
    for name, value in parts.items():
        setattr(problem, name, value)
    return problem


def _reduce_problem(problem: Any) -> Any:
    duration = problem.duration
    return _problem, (
        problem.mechanism,
        problem.start,
        (duration.guess, duration.lower, duration.upper),
        {name: getattr(problem, name) for name in _PARTS},
    )


if hasattr(_catena, "MotionProblem"):  # a build may be without them
    copyreg.pickle(_catena.MotionProblem, _reduce_problem)
