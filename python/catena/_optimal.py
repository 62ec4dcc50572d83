"""Optimal motions as runs."""
from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Optional

from . import _catena
from ._run import PathLike, Run, _recorded

if TYPE_CHECKING:  # a build may be without them
    from ._catena import MotionProblem, OptimalMotion


def record_motion(
    problem: MotionProblem,
    motion: OptimalMotion,
    *,
    output: Optional[PathLike] = None,
    overwrite: bool = False,
) -> Run:
    """The result of solve() as a Run: the simulator moves the mechanism again with its own
    integrator, which checks the search independently (`run.difference`).

        best = catena.solve(problem)
        run = catena.record_motion(problem, best)
        run.plot("q.shoulder", "guess.q.shoulder")

    The motion of the guess stands beside it in columns guess.q.NAME, guess.v.NAME and
    guess.effort.NAME, if it can be simulated.

    output: a file for the run (HDF5, or a table if it ends in .csv), as `catena optimize` writes
        it; None: memory.
    """
    settings_json = json.dumps({"result": json.loads(_catena.result_json(problem, motion))})
    path = "" if output is None else os.fspath(output)
    record = _catena.MemoryRecorder()
    result, difference = _catena._record_motion(
        problem, motion, path, overwrite, settings_json, record
    )
    return _recorded(
        record,
        path,
        mechanism=problem.mechanism,
        result=result,
        settings_json=settings_json,
        model_path=problem.model_path,
        kind="optimization",
        difference=difference,
    )
