"""Regulators against closed forms and NumPy's own Riccati iteration."""
import numpy as np
import pytest

import catena
from conftest import MODELS, pendulum


def block(mass=2.0):
    builder = catena.MechanismBuilder("block")
    builder.set_gravity([0, 0, 0])
    builder.add_body("block", mass=mass)
    builder.add_hinge("rail", "world", "block", type="prismatic", axes=[[1, 0, 0]])
    return builder.finish()


def sampled_gain(mass, q, v, r, h):
    """The best gain of a double integrator whose input is held over h: integrals of the cost over
    an interval in closed form, then the Riccati iteration to its end."""
    a = np.array([[1, h], [0, 1]])
    b = np.array([[h * h / 2], [h]]) / mass
    # x(s) = (1 s; 0 1) x + (s²/2; s)/m u.
    cost = np.zeros((3, 3))
    cost[0, 0] = q * h
    cost[0, 1] = q * h**2 / 2
    cost[1, 1] = q * h**3 / 3 + v * h
    cost[0, 2] = q * h**3 / 6 / mass
    cost[1, 2] = (q * h**4 / 8 + v * h**2 / 2) / mass
    cost[2, 2] = (q * h**5 / 20 + v * h**3 / 3) / mass**2 + r * h
    cost = cost + np.triu(cost, 1).T
    p = np.eye(2)
    for _ in range(20000):
        s = cost[2:, 2:] + b.T @ p @ b
        t = cost[2:, :2] + b.T @ p @ a
        p = cost[:2, :2] + a.T @ p @ a - t.T @ np.linalg.solve(s, t)
    return np.linalg.solve(s, t)


def test_hold_is_the_best_sampled_gain():
    robot = block()
    weights = {"q.rail": 4.0, "v.rail": 1.0}
    regulator = catena.hold(
        robot,
        robot.default_state(),
        actuators=["rail"],
        interval=0.01,
        state_weights=weights,
        input_weights={"rail": 0.25},
    )
    assert regulator.stationary and regulator.states == ["q.rail", "v.rail"]
    expected = sampled_gain(2.0, 4.0, 1.0, 0.25, 0.01)
    np.testing.assert_allclose(regulator.gains[0], expected, rtol=1e-8)

    state = robot.default_state()
    stay = catena.RecordedMotion(robot, [0, 10], [state, state])
    run = catena.simulate_regulated(robot, stay, regulator, offsets={"q.rail": 0.1})
    assert run.kind == "regulation" and run["deviation.q.rail"][0] == pytest.approx(0.1)
    # The poles of the loop are fast enough for 10 s.
    assert abs(run["q.rail"][-1]) < 1e-4 and run.regulation.final_distance < 1e-3
    effort = -expected[0] @ np.array([run["q.rail"], run["v.rail"]])
    np.testing.assert_allclose(run["actuator.rail"], effort, atol=1e-8)


def test_track_keeps_a_motion_that_departs_without_it():
    acrobot = catena.load(MODELS / "acrobot.yaml")
    start = acrobot.default_state()
    for k, name in enumerate(acrobot.velocity_names):
        start[name] = 0.3 * (k + 1)
    torque = {"elbow": "1.5*sin(3*t)"}
    run = catena.simulate(acrobot, start, duration=2.0, inputs=torque, output_interval=0.01)
    regulator = catena.track(acrobot, run, actuators=["elbow"])
    assert regulator.gain_at(1.0).shape == (1, 4)
    motion = catena.recorded_motion(run)
    np.testing.assert_allclose(motion.effort_at(0.5)[1], 1.5 * np.sin(1.5), rtol=1e-4)
    offsets = {"q.shoulder": 0.05}
    ends = []
    for feedback in (False, True):
        found = catena.simulate_regulated(
            acrobot, motion, regulator, offsets=offsets, feedback=feedback
        )
        ends.append(found.regulation.final_distance)
        last = catena.State(
            acrobot,
            [found["q." + n][-1] for n in acrobot.velocity_names],
            [found["v." + n][-1] for n in acrobot.velocity_names],
        )
        x = regulator.deviation(motion.state_at(2.0), last)
        np.testing.assert_allclose(x, found.regulation.final_deviation, atol=1e-9)
    assert ends[1] < 0.5 * ends[0]


def test_mistakes():
    robot = block()
    with pytest.raises(catena.UnknownNameError, match="rail"):
        catena.hold(robot, robot.default_state(), actuators=["rial"])
    state = robot.default_state()
    with pytest.raises(catena.Error):
        catena.RecordedMotion(robot, [1, 0], [state, state])
    other = pendulum()
    with pytest.raises(catena.Error, match="another mechanism"):
        catena.hold(other, state, actuators=["pivot"])
