"""Linear models along a motion."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, List, Optional, Sequence, Union

import numpy as np

from . import _catena
from ._run import Run

if TYPE_CHECKING:  # a build may be without them
    from ._catena import LinearModel, Mechanism, State


def linearize_along(
    mechanism: Mechanism,
    states: Union[Run, Iterable[State]],
    efforts: Optional[Iterable[Any]] = None,
    *,
    inputs: Union[str, Sequence[str]] = (),
    outputs: Union[str, Sequence[str]] = (),
    independent: Any = None,
) -> List[LinearModel]:
    """list of LinearModel, at each of the states (and efforts) of a motion: a schedule. The independent
    freedoms are those of the first state as long as they can be.

    states: a sequence of State, or a Run: its rows, with the efforts that it has columns for.
    efforts: numbers by freedom for each; None: those of the Run, or zeros.
    inputs, outputs, independent: as in linearize().
    """
    if isinstance(states, Run):
        run = states
        q = np.column_stack([run[f"q.{name}"] for name in mechanism.position_names])
        v = np.column_stack([run[f"v.{name}"] for name in mechanism.velocity_names])
        states = [_catena.State(mechanism, q[row], v[row]) for row in range(run.rows)]
        if efforts is None:
            columns = {
                name: run[f"effort.{name}"]
                for name in mechanism.velocity_names
                if f"effort.{name}" in run
            }
            efforts = [
                {name: column[row] for name, column in columns.items()} for row in range(run.rows)
            ]
    return _catena._linearize_along(
        mechanism,
        states,
        efforts,
        inputs=inputs if isinstance(inputs, str) else list(inputs),
        outputs=outputs if isinstance(outputs, str) else list(outputs),
        independent=independent,
    )
