"""What the tests share: where the source tree is, and mechanisms to try."""
import os
from pathlib import Path

import numpy as np
import pytest

import catena

SOURCE = Path(os.environ.get("CATENA_SOURCE_DIR", Path(__file__).resolve().parents[2]))
MODELS = SOURCE / "models"
TREES = ["arm6.yaml", "arm7.yaml", "quadruped.yaml", "spacecraft.yaml", "tree10.yaml"]


@pytest.fixture
def models():
    return MODELS


@pytest.fixture
def source():
    return SOURCE


@pytest.fixture(params=TREES)
def tree(request):
    return catena.load(MODELS / request.param)


def random_state(mechanism, seed=1):
    q = catena.random_position(mechanism, seed)
    return catena.State(mechanism, q, catena.random_vector(mechanism.freedoms, seed + 1))


def pendulum(mass=2.0, length=0.75, inertia=0.3):
    builder = catena.MechanismBuilder("pendulum")
    builder.add_body(
        "link", mass=mass, center_of_mass=[0, 0, -length], inertia=[inertia, inertia, 0.01]
    )
    builder.add_hinge("pivot", "world", "link", axes=[[0, 1, 0]])
    return builder.finish()


def four_bar():
    """Crank 1, coupler 2, rocker 2, ground 2, by code, in the plane y = 0."""
    builder = catena.MechanismBuilder("four_bar")
    for name, length in (("crank", 1.0), ("coupler", 2.0), ("rocker", 2.0)):
        builder.add_body(
            name,
            mass=length,
            center_of_mass=[length / 2, 0, 0],
            inertia=[0.01, length**3 / 12, length**3 / 12],
        )
    axes = {"axes": [[0, 1, 0]]}
    builder.add_hinge("A", "world", "crank", initial_position=[-1.0], **axes)
    builder.add_hinge("B", "crank", "coupler", frame_on_parent=[1, 0, 0], **axes)
    builder.add_hinge("D", "world", "rocker", frame_on_parent=[2, 0, 0], **axes)
    builder.add_hinge("C", "coupler", "rocker", frame_on_parent=[2, 0, 0], frame_on_child=[2, 0, 0], cut="always", **axes)
    return builder.finish()


def relative(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return np.max(np.abs(a - b)) / max(1e-300, np.max(np.abs(b)))
