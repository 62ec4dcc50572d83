"""Ctrl-C ends long calls soon."""
import signal
import threading
import time

import numpy as np
import pytest

import catena
from conftest import MODELS


def interrupted(call, after=0.4):
    """Seconds from Ctrl-C to the KeyboardInterrupt that it raises."""
    sent = []

    def send():
        sent.append(time.monotonic())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    timer = threading.Timer(after, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
    finally:
        timer.cancel()
    return time.monotonic() - sent[0]


def test_inverse_kinematics():
    arm = catena.load(MODELS / "arm6.yaml")
    far = catena.PointGoal(arm, arm.bodies[-1].name, [100.0, 0.0, 0.0])
    assert (
        interrupted(
            lambda: catena.inverse_kinematics(
                arm, arm.default_state(), points=[far], restarts=10_000_000
            )
        )
        < 5.0
    )


def test_verification(source):
    if not (source / "verification").is_dir():
        pytest.skip("no verification cases here")
    assert interrupted(lambda: catena.run_verification(source / "verification"), 0.2) < 10.0


def test_lyapunov_exponents_report_their_progress():
    double = catena.load(MODELS / "double_pendulum.yaml")
    start = catena.State(double, [2.0, 1.0])
    seen = []

    def progress(t):
        seen.append(t)
        return len(seen) < 3

    with pytest.raises(catena.NumericalError):
        catena.lyapunov_exponents(double, start, duration=1e6, progress=progress)
    assert len(seen) == 3 and np.all(np.diff(seen) > 0)

    def failing(t):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        catena.lyapunov_exponents(double, start, duration=1e6, progress=failing)


def test_trajectories_report_their_progress():
    double = catena.load(MODELS / "double_pendulum.yaml")
    seen = []
    cost = catena.QuadraticCost(double, position_weight=np.ones(2))
    problem = catena.TrajectorySensitivity(
        double, catena.ConstantInput(double), cost, duration=1e6,
        progress=lambda t: seen.append(t) or len(seen) < 2,
    )
    with pytest.raises(catena.NumericalError):
        problem.simulate(catena.State(double, [2.0, 1.0]), [])
    assert len(seen) == 2
