"""Linear systems and control design against closed forms and NumPy."""
import numpy as np
import pytest

import catena
from catena import control


@pytest.fixture
def oscillator():
    """x'' + 0.4 x' + 4 x = u."""
    return control.ss([[0, 1], [-4, -0.4]], [[0], [1]], [[1, 0]])


def test_poles_and_responses(oscillator):
    assert sorted(control.poles(oscillator).imag) == pytest.approx([-np.sqrt(3.96), np.sqrt(3.96)])
    assert control.dcgain(oscillator)[0, 0] == pytest.approx(0.25)
    omega = np.array([0.5, 2.0, 7.0])
    g = control.freqresp(oscillator, omega)
    assert g.shape == (1, 1, 3)
    assert g[0, 0] == pytest.approx(1 / (4 - omega**2 + 0.4j * omega))
    peak = control.hinfnorm(oscillator)
    assert peak["value"] == pytest.approx(1 / (0.4 * np.sqrt(4 - 0.04)), rel=1e-8)
    assert peak["lower"] <= peak["value"] <= peak["upper"]
    assert control.h2norm(oscillator) == pytest.approx(1 / np.sqrt(2 * 0.4 * 4))


def test_step_is_exact(oscillator):
    t, y = control.step(oscillator, np.linspace(0, 5, 51))
    w = np.sqrt(3.96)
    exact = 0.25 * (1 - np.exp(-0.2 * t) * (np.cos(w * t) + 0.2 / w * np.sin(w * t)))
    assert y.shape == (1, 1, 51)
    assert y[0, 0] == pytest.approx(exact, abs=1e-12)


def test_lqr_of_a_double_integrator():
    plant = control.ss([[0, 1], [0, 0]], [[0], [1]], [[1, 0]])
    result = control.lqr(plant, np.diag([4.0, 0.0]), [[0.25]])
    assert result.K == pytest.approx(np.array([[4.0, np.sqrt(8.0)]]))  # sqrt(q/r), sqrt(2 sqrt(q/r))
    assert result.certificate.passed
    assert "residual" in str(result.certificate).lower()


def test_lqg_separates(oscillator):
    Q, R, W, V = np.eye(2), [[1.0]], [[1.0]], [[0.01]]
    design = control.lqg(oscillator, Q, R, W, V, G=oscillator.B)
    loop = control.feedback(oscillator, design.controller, +1)
    L = design.filter.L
    expected = np.concatenate(
        [
            np.linalg.eigvals(oscillator.A - oscillator.B @ design.regulator.K),
            np.linalg.eigvals(oscillator.A - L @ oscillator.C),
        ]
    )
    assert np.sort_complex(control.poles(loop)) == pytest.approx(np.sort_complex(expected), rel=1e-8)


def test_hinf_norm_is_what_it_says():
    # z = (x, u), w = (force, noise) of x' = x + w1 + u, y = x + w2.
    P = control.ss(
        [[1.0]], [[1.0, 0.0, 1.0]], [[1.0], [0.0], [1.0]], [[0, 0, 0], [0, 0, 1.0], [0, 1.0, 0]]
    )
    r = control.hinfsyn(P, 1, 1, tolerance=1e-3)
    loop = control.lft(P, r.controller)
    omega = np.logspace(-3, 4, 3000)
    g = np.moveaxis(control.freqresp(loop, omega), 2, 0)
    assert np.linalg.norm(g, 2, axis=(1, 2)).max() <= r.gamma * (1 + 1e-9)
    # By hand: x_inf = y_inf = g (g + sqrt(2 g^2 - 1)) / (g^2 - 1); they couple at g^2: g = 1 + sqrt 3.
    assert r.gamma == pytest.approx(1 + np.sqrt(3), rel=2e-3)
    assert r.gamma >= (1 + np.sqrt(3)) * (1 - 1e-9)


def test_place_and_reduce(oscillator):
    K = control.place(oscillator, [-3, -4])
    assert np.sort(np.linalg.eigvals(oscillator.A - oscillator.B @ K)) == pytest.approx([-4, -3])
    fast = control.series(oscillator, control.ss([[-500.0]], [[500.0]], [[1.0]]))
    small, error, certificate = control.reduce(fast, order=2)
    assert small.order == 2 and certificate.passed
    assert control.hinfnorm(fast - small)["value"] == pytest.approx(error, rel=1e-6)


def test_from_a_mechanism_to_a_run(tmp_path, source):
    robot = catena.load(source / "models/cart_pendulum.yaml")
    upright = robot.default_state()
    upright.q = [0.0, np.pi]
    upright.v = [0.0, 0.0]
    plant = control.state_space(catena.linearize(robot, upright, inputs=["rail"], outputs=["q.rail", "q.pivot"]))
    assert control.poles(plant).real.max() > 1  # it falls
    design = control.lqg(plant, plant.C.T @ plant.C, [[0.1]], [[1.0]], 1e-4 * np.eye(2), G=plant.B)
    path = str(tmp_path / "K.yaml")
    control.save_system(control.controller_for(plant, design.controller), path)
    back = control.load_controller(path)
    assert (back.A == design.controller.A).all()
    assert back.inputs == ["q.rail", "q.pivot"] and (back.q == upright.q).all()
    (tmp_path / "run.yaml").write_text("controller_files: {balance: K.yaml}")
    start = robot.default_state()
    start.q = [0.0, np.pi + 0.05]
    start.v = [0.0, 0.0]
    run = catena.simulate(robot, start, duration=20.0, settings=tmp_path / "run.yaml")
    assert run["q.pivot"][-1] == pytest.approx(np.pi, abs=1e-3)


def test_mistakes_are_named(oscillator):
    with pytest.raises(catena.Error, match="B"):
        control.ss([[1.0]], [[1.0], [2.0]], [[1.0]])
    with pytest.raises(catena.UnknownNameError, match="tustin"):
        control.c2d(oscillator, 0.1, "tustn")
    with pytest.raises(catena.UnknownNameError):
        control.select(oscillator, ["y2"], ["u1"])
    with pytest.raises(catena.Error):
        control.ss([[np.nan]], [[1.0]], [[1.0]])
