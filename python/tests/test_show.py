"""What the prompt shows of results: names and numbers, arrays that are long by their shapes."""
import inspect

import numpy as np

import catena
from conftest import MODELS, four_bar, pendulum


def test_every_class_with_something_to_tell_tells_it():
    silent = [
        name
        for name, cls in vars(catena._catena).items()
        if inspect.isclass(cls)
        and not issubclass(cls, BaseException)
        and any(isinstance(member, property) for member in vars(cls).values())
        and cls.__repr__ is object.__repr__
    ]
    assert silent == []


def test_numbers_and_shapes():
    robot = pendulum()
    derivatives = catena.forward_dynamics_derivatives(robot, robot.default_state())
    text = repr(derivatives)
    assert text.startswith("ForwardDerivatives(acceleration=[") and "dq=[[" in text
    arm = catena.load(MODELS / "arm7.yaml")
    assert "dq=<array (7, 7)>" in repr(catena.forward_dynamics_derivatives(arm, arm.default_state()))


def test_results_of_a_loop():
    robot = four_bar()
    assert "mobility=1" in repr(catena.analyse_mobility(robot))
    found = catena.find_assembly(robot, robot.default_state())
    assert "closed=True" in repr(found) and f"gap={found.gap:.6g}" in repr(found)
    assert repr(robot.loops[0]).startswith("LoopPlace(bodies=[0, 1, 2]")


def test_what_is_not_there_is_left_out():
    """A workspace in which nothing was computed, runs with long texts."""
    robot = pendulum()
    assert "<Mechanism 'pendulum'>" in repr(catena.Workspace(robot))
    run = catena.simulate(robot, duration=0.1)
    assert "complete=True" in repr(run.result) and len(repr(run.result)) < 1000
    assert np.isfinite(run.audit.energy_drift)
