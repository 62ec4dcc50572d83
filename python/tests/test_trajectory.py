"""Sensitivities along a motion: against closed forms and differences."""
import signal
import threading
import time

import numpy as np
import pytest

import catena
from conftest import MODELS, pendulum, relative
from test_optimal import slider


def test_a_mass_under_a_polygon_of_force():
    """x(T) = ∫ (T - t) u / m dt, and ∫ u² dt, of hat functions; Runge-Kutta is exact for them."""
    mechanism, mass, duration, spans = slider(2.0), 2.0, 3.0, 6
    n, h = spans + 1, duration / spans
    source = catena.SplineInput(mechanism, duration, [{"freedom": "rail", "degree": 1, "coefficients": n}])
    assert source.parameters == n
    cost = catena.QuadraticCost(mechanism, effort_weight=[0.7], position_weight={"rail": 5}, position_target=[1.0])
    motion = catena.TrajectorySensitivity(
        mechanism, source, cost, duration=duration, step=h, parameters=["body.block.mass"]
    )
    c = catena.random_vector(n, 3)
    arm = h * (duration - h * np.arange(n)) / mass
    arm[0], arm[-1] = (duration * h / 2 - h * h / 6) / mass, h * h / 6 / mass
    square = h / 6 * (np.diag([2] + [4] * (n - 2) + [2]) + np.diag([1] * (n - 1), 1) + np.diag([1] * (n - 1), -1))
    end = motion.simulate(mechanism.default_state(), c)[1].q[0]
    assert end == pytest.approx(arm @ c, rel=1e-12)
    found = motion.gradient(mechanism.default_state(), c)
    assert found.cost == pytest.approx(0.35 * c @ square @ c + 5 * (end - 1) ** 2, rel=1e-12)
    np.testing.assert_allclose(found.input, 0.7 * square @ c + 10 * (end - 1) * arm, rtol=1e-10)
    np.testing.assert_allclose(found.mechanism, [-10 * (end - 1) * end / mass], rtol=1e-10)
    np.testing.assert_allclose(found.initial_q, [10 * (end - 1)], rtol=1e-12)
    np.testing.assert_allclose(found.initial_v, [10 * (end - 1) * duration], rtol=1e-12)
    forward = motion.forward(mechanism.default_state(), c)
    np.testing.assert_allclose(forward.q, [arm], rtol=1e-12)
    np.testing.assert_allclose(forward.q_by_initial, [[1, duration]], rtol=1e-12)
    np.testing.assert_allclose(source.evaluate(h / 4, c).effort, [0.75 * c[0] + 0.25 * c[1]], rtol=1e-12)


class Costs:
    """The cost of QuadraticCost by functions of Python."""

    def __init__(self, effort_weight, velocity_weight):
        self.effort_weight, self.velocity_weight = effort_weight, velocity_weight

    def running(self, point, gradient):
        if gradient is not None:
            gradient.effort[:] = self.effort_weight * point.effort
        return 0.5 * np.sum(self.effort_weight * point.effort**2)

    def terminal(self, point, gradient):
        if gradient is not None:
            gradient.v = 2 * self.velocity_weight * point.state.v
        return np.sum(self.velocity_weight * point.state.v**2)


def test_gradients_are_differences():
    arm = catena.load(MODELS / "acrobot.yaml")
    source = catena.SplineInput(
        arm, 1.0, [{"freedom": "elbow", "coefficients": 5}, {"freedom": "shoulder", "coefficients": 4}]
    )
    weights = np.array([0.5, 2.0]), np.array([1.0, 3.0])
    cost = catena.QuadraticCost(arm, effort_weight=weights[0], velocity_weight=weights[1])
    motion = catena.TrajectorySensitivity(arm, source, cost, step=0.005)
    state = catena.State(arm, [0.3, -0.5], [0.2, 0.1])
    p = catena.random_vector(9, 4)
    found = motion.gradient(state, p)
    h, differences = 1e-5, np.zeros(9)
    for k in range(9):
        step = h * np.eye(9)[k]
        differences[k] = (motion.simulate(state, p + step)[0] - motion.simulate(state, p - step)[0]) / (2 * h)
    assert relative(found.input, differences) < 1e-8
    assert found.cost == motion.simulate(state, p)[0]
    # The same cost by functions of Python; the other adjoint.
    by_python = catena.TrajectorySensitivity(arm, source, Costs(*weights), step=0.005).gradient(state, p)
    assert by_python.cost == pytest.approx(found.cost, rel=1e-13)
    assert relative(by_python.input, found.input) < 1e-12
    continuous = catena.TrajectorySensitivity(
        arm, source, cost, method="dop853", relative_tolerance=1e-11, absolute_tolerance=1e-12
    ).gradient(state, p)
    assert relative(continuous.input, found.input) < 1e-6


def test_forward_sensitivities_are_differences():
    arm = catena.load(MODELS / "acrobot.yaml")
    source = catena.SplineInput(
        arm, 1.0, [{"freedom": "elbow", "motion": True, "coefficients": 7, "held_first": 2, "held_last": 2}]
    )
    motion = catena.TrajectorySensitivity(arm, source, catena.QuadraticCost(arm), step=0.01)
    state, p, h = catena.State(arm, [0.3, 0.0]), np.array([0.4, -0.2, 0.1]), 1e-6
    found = motion.forward(state, p)
    for k in range(3):
        ends = [motion.simulate(state, p + s * h * np.eye(3)[k])[1] for s in (1, -1)]
        # Rows are independent freedoms; the elbow is driven and ends at rest.
        np.testing.assert_allclose(
            found.q[:, k], catena.difference(arm, ends[1], ends[0])[: found.q.shape[0]] / (2 * h), atol=1e-7
        )


def test_errors_of_the_user_are_raised_as_they_were():
    mechanism = slider()

    class Broken:
        def running(self, point, gradient):
            raise ZeroDivisionError("mine")

    motion = catena.TrajectorySensitivity(mechanism, catena.ConstantInput(mechanism, [1.0]), Broken(), step=0.1)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match="mine"):
            motion.gradient(mechanism.default_state(), [])
    with pytest.raises(TypeError, match="running"):
        catena.TrajectorySensitivity(mechanism, catena.ConstantInput(mechanism), object())
    with pytest.raises(catena.NumericalError, match="2 parameters for an input of 0"):
        motion.simulate(mechanism.default_state(), [1, 2])
    with pytest.raises(catena.Error, match="rial"):
        catena.SplineInput(mechanism, 1.0, [{"freedom": "rial"}])
    with pytest.raises(catena.Error, match="another mechanism"):
        catena.TrajectorySensitivity(mechanism, catena.ConstantInput(mechanism), catena.QuadraticCost(slider()))


def test_lyapunov_exponents_of_an_upright_pendulum():
    """It stands: small deviations grow and fall with ±sqrt(m g l / J)."""
    m, l, j = 2.0, 0.75, 0.3
    upright = pendulum(m, l, j)
    rate = np.sqrt(m * 9.81 * l / (j + m * l * l))
    found = catena.lyapunov_exponents(upright, catena.State(upright, [np.pi]), duration=6.0, settle=2.0)
    np.testing.assert_allclose(found.exponents, [rate, -rate], rtol=1e-6)
    assert np.all(found.spread < 1e-5)
    one = catena.lyapunov_exponents(
        upright, catena.State(upright, [np.pi]), duration=6.0, settle=2.0, exponents=1
    )
    np.testing.assert_allclose(one.exponents, [rate], rtol=1e-6)


@pytest.mark.parametrize("what", ["gradient", "dop853", "simulate", "lyapunov", "check"])
def test_ctrl_c(what):
    arm = catena.load(MODELS / "acrobot.yaml")
    state = catena.State(arm, [0.3, -0.4], [0.1, 0.2])
    source = catena.ConstantInput(arm)
    method = "dop853" if what == "dop853" else "rk4"
    motion = catena.TrajectorySensitivity(arm, source, catena.QuadraticCost(arm), duration=1e5, method=method)
    calls = {
        "gradient": lambda: motion.gradient(state, []),
        "dop853": lambda: motion.gradient(state, []),
        "simulate": lambda: motion.simulate(state, []),
        "lyapunov": lambda: catena.lyapunov_exponents(arm, state, duration=1e5),
        "check": lambda: catena.check_derivatives(arm, states=1000000),
    }
    timer = threading.Timer(0.5, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        calls[what]()
    assert time.monotonic() - began < 5.0


def test_exponents_are_in_order():
    arm = catena.load(MODELS / "acrobot.yaml")
    state = catena.State(arm, [0.3, -0.4], [0.1, 0.2])
    found = catena.lyapunov_exponents(arm, state, duration=2.0)
    assert np.all(np.diff(found.exponents) <= 0)
    with pytest.raises(catena.NumericalError, match="4 states"):
        catena.lyapunov_exponents(arm, state, duration=1.0, exponents=5)
