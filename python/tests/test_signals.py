"""Inputs, targets and motions from arrays and from functions with derivatives."""
import json

import numpy as np
import pytest

import catena
from conftest import four_bar, pendulum

TIMES = np.array([0.0, 0.3, 0.55, 1.0])
VALUES = np.array([0.0, 2.0, -1.0, 0.5])


def written(path):
    """The same table as a file, whose numbers are read to the bit."""
    lines = ["time,u"] + [f"{float(t)!r},{float(x)!r}" for t, x in zip(TIMES, VALUES)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("how", ["hold", "linear", "spline"])
def test_arrays_are_the_table_of_a_file(how, tmp_path):
    file = written(tmp_path / "table.csv")
    table = {"times": TIMES, "values": list(VALUES), "interpolation": how}
    from_file = {"table": file, "interpolation": how}
    pivot = pendulum()
    run = catena.simulate(pivot, duration=1.5, inputs={"pivot": table})
    other = catena.simulate(pivot, duration=1.5, inputs={"pivot": from_file})
    np.testing.assert_array_equal(run.values, other.values)
    last = {"hold": VALUES[1], "linear": -0.4, "spline": None}[how]  # at 0.48 s
    if last is not None:
        at = np.argmin(np.abs(run.time - 0.48))
        assert run["effort.pivot"][at] == pytest.approx(
            last if how == "hold" else np.interp(run.time[at], TIMES, VALUES), abs=1e-12
        )
    assert json.loads(json.dumps(run.settings))["code"] == ["inputs.pivot"]


def test_a_smoothed_table_and_a_motion(tmp_path):
    file = written(tmp_path / "table.csv")
    for extra in ({"interpolation": "spline"}, {"interpolation": "spline", "cutoff": 5.0}):
        runs = [
            catena.simulate(pendulum(), duration=0.9, motions={"pivot": {**table, **extra}})
            for table in ({"times": TIMES, "values": VALUES}, {"table": file})
        ]
        np.testing.assert_array_equal(runs[0].values, runs[1].values)


def sine(t):
    return 0.3 * np.sin(2 * t), 0.6 * np.cos(2 * t), -1.2 * np.sin(2 * t)


@pytest.mark.parametrize("make, freedom", [(pendulum, "pivot"), (four_bar, "A")])
def test_motion_by_a_function(make, freedom):
    """As by an expression, whose derivatives the library takes itself."""
    robot = make()
    start = robot.default_state()
    start[freedom] = 0.0
    if robot.loops:
        start = catena.assemble(robot, start, fixed=[freedom])
    run = catena.simulate(robot, start, duration=1.0, motions={freedom: sine})
    other = catena.simulate(robot, start, duration=1.0, motions={freedom: "0.3*sin(2*t)"})
    np.testing.assert_allclose(run.values, other.values, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(run[f"q.{freedom}"], 0.3 * np.sin(2 * run.time), atol=1e-9)


def test_target_by_a_function_and_an_array():
    """kd acts on the rate of the target: at t = 0 the effort is kp 0 + kd 0.6."""
    gains = {"kp": 40.0, "kd": 8.0}
    run = catena.simulate(pendulum(), duration=1.0, controllers={"pivot": {**gains, "target": sine}})
    other = catena.simulate(
        pendulum(), duration=1.0, controllers={"pivot": {**gains, "target": "0.3*sin(2*t)"}}
    )
    np.testing.assert_allclose(run["q.pivot"], other["q.pivot"], atol=1e-9)
    assert run["effort.pivot"][0] == pytest.approx(8.0 * 0.6)
    line = {"times": [0, 1], "values": [0, 0.5]}
    run = catena.simulate(pendulum(), duration=0.5, controllers={"pivot": {**gains, "target": line}})
    assert run["effort.pivot"][0] == pytest.approx(8.0 * 0.5)


def test_what_is_wrong():
    def simulate(**settings):
        return catena.simulate(pendulum(), duration=0.1, **settings)

    with pytest.raises(TypeError, match=r"motion of 'pivot' gave 0.5; .*\(value, rate, acceleration\)"):
        simulate(motions={"pivot": lambda t: 0.5})
    with pytest.raises(ZeroDivisionError):
        simulate(motions={"pivot": lambda t: 1 / 0})
    with pytest.raises(ValueError, match="both times and values"):
        simulate(inputs={"pivot": {"times": [0, 1]}})
    with pytest.raises(catena.Error, match="pivot"):
        simulate(inputs={"pivot": {"times": [0, 1, 0.5], "values": [1, 2, 3]}})
    with pytest.raises(catena.Error, match="pivot"):
        simulate(inputs={"pivot": {"times": [0, 1], "values": [1, 2, 3]}})
    with pytest.raises(ValueError, match="a table by themselves"):
        simulate(inputs={"pivot": {"times": [0, 1], "values": [1, 2], "expression": "t"}})
    with pytest.raises(TypeError, match="vlues.*values"):
        simulate(inputs={"pivot": {"times": [0, 1], "vlues": [1, 2]}})


def test_a_table_for_an_optimal_motion_is_read_back():
    problem = catena.MotionProblem(pendulum(), duration=1.0)
    table = {"times": TIMES, "values": VALUES, "interpolation": "spline"}
    problem.add_running_cost("pivot", quantity="position", reference=table)
    assert problem.running_costs[0].reference is table


def test_given_again_to_resume(tmp_path):
    """A run of half the time goes on to the same bits when its table or its function comes with it."""
    table = {"times": TIMES, "values": VALUES, "interpolation": "spline"}
    for code in ({"motions": {"pivot": sine}}, {"inputs": {"pivot": table}}):
        (kind,) = code
        times = {"interval": 0.01, "checkpoint": 0.25}
        whole = catena.simulate(pendulum(), duration=1.0, **times, **code)
        part = tmp_path / f"{kind}.h5"
        assert catena.simulate(pendulum(), duration=0.5, output=part, **times, **code).time[-1] == 0.5
        with pytest.raises(catena.Error, match="pivot"):
            catena.resume_simulation(part, duration=1.0)
        run = catena.resume_simulation(part, duration=1.0, **code)
        assert run.complete and run.time[-1] == 1.0
        np.testing.assert_array_equal(run.values, whole.values)


def test_a_table_as_a_guess():
    """The coefficients of the guess are those of the table's values at the knots, for straight lines."""
    problem = catena.MotionProblem(pendulum(), duration=1.0)
    problem.add_control("pivot", degree=1, coefficients=3, guess={"times": [0, 1], "values": [1.0, 3.0]})
    problem.effort_cost("pivot")
    np.testing.assert_allclose(catena.Transcription(problem).guess, [1.0, 2.0, 3.0], atol=1e-12)
