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

import os
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ._catena import _control

_HERE = ["state_space", "verify", "hermite_form", "bezout", "coprime_fraction"]  # below
__all__ = sorted([name for name in dir(_control) if not name.startswith("_")] + _HERE)
globals().update({name: getattr(_control, name) for name in __all__ if name not in _HERE})

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


def verify(
    model: Any,
    controller: Any,
    *,
    delay: float = 0.0,
    lower: Any = (),
    upper: Any = (),
    tolerance: float = 0.01,
    motion: float = 1e-3,
    margins: bool = True,
) -> dict:
    """Every claim of a linear design beside the nonlinear mechanism: poles, step responses, H-infinity norm
    and margins, measured on simulations around the operating point of a LinearModel (an equilibrium).

    controller: a StateSpace, u = K y, or the path of a controller file, whose delay and limits count then.
    Returns dict: stable, passed, claims (list of dict: name, unit, linear, nonlinear, difference, passed).
    """
    if not hasattr(controller, "A"):
        controller = os.fspath(controller)
    return _control._verify(
        model.mechanism,
        model.state,
        model.effort,
        model.inputs,
        model.outputs,
        model.freedoms,
        controller,
        delay,
        list(lower),
        list(upper),
        tolerance,
        motion,
        margins,
    )


def _texts(matrix: Any) -> list:
    """Rows of entries, each a number, or coefficients with the lowest power first."""

    def text(entry: Any) -> str:
        if isinstance(entry, str):
            return entry
        return " ".join(str(Fraction(c)) for c in (entry if hasattr(entry, "__iter__") else [entry]))

    return [[text(entry) for entry in row] for row in matrix]


def _fractions(texts: list) -> list:
    return [[[Fraction(word) for word in entry.split()] for entry in row] for row in texts]


def hermite_form(a: Any) -> tuple:
    """(H, U) with U a = H exactly, U unimodular, H upper triangular. Matrices of polynomials are lists of rows;
    an entry is a list of coefficients (int, Fraction, float), lowest power first. Results are Fractions."""
    return tuple(map(_fractions, _control._hermite_form(_texts(a))))


def bezout(N: Any, D: Any) -> dict:
    """X N + Y D = G exactly, G the greatest common right divisor; N = N1 G, D = D1 G. As hermite_form()."""
    return dict(zip(("X", "Y", "G", "N1", "D1"), map(_fractions, _control._bezout(_texts(N), _texts(D)))))


def coprime_fraction(system: Any) -> tuple:
    """(N, D, degree): C (s - A)^-1 B + D = N D^-1, right coprime, exactly; degree is the number of states of a
    minimal realization, decided without a tolerance. As hermite_form()."""
    N, D, degree = _control._coprime_fraction(system)
    return _fractions(N), _fractions(D), degree
