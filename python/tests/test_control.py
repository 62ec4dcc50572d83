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


def test_verification_on_the_mechanism(tmp_path, source):
    robot = catena.load(source / "models/cart_pendulum.yaml")
    upright = robot.default_state()
    upright.q = [0.0, np.pi]
    upright.v = [0.0, 0.0]
    model = catena.linearize(robot, upright, inputs=["rail"], outputs=["q.rail", "q.pivot"])
    plant = control.state_space(model)
    K = control.lqg(plant, plant.C.T @ plant.C, [[0.1]], [[1.0]], 1e-4 * np.eye(2), G=plant.B).controller
    proof = control.verify(model, K)
    assert proof["stable"] and proof["passed"]
    poles = [c for c in proof["claims"] if c["name"].startswith("pole")]
    exact = control.poles(control.feedback(plant, K, +1))
    for claim in poles:
        assert np.min(abs(exact.real - claim["nonlinear"])) < 1e-4
    assert any(c["name"].startswith("H-infinity norm") for c in proof["claims"])
    sampled = control.controller_for(plant, control.c2d(K, 0.01, "tustin"))
    path = tmp_path / "K.yaml"
    control.save_controller(sampled, str(path), delay=0.004, upper=[500.0], lower=[-500.0])
    assert control.verify(model, path)["passed"]
    assert not control.verify(model, -K)["stable"]


def test_descriptor_form_and_delays():
    s = control.dss([[-1.0, 0], [0, 1]], [[1.0], [1.0]], [[1.0, 1.0]], [[0.0]], [[1.0, 0], [0, 0]])
    explicit = control.explicit_form(s)
    assert explicit.order == 1 and explicit(0.7j)[0, 0] == pytest.approx(1 / (0.7j + 1) - 1)
    late = control.with_delays(control.ss([[-1.0]], [[1.0]], [[1.0]]), inputs=[0.3])
    assert control.freqresp(late, np.array([2.0]))[0, 0, 0] == pytest.approx(np.exp(-0.6j) / (2j + 1))
    assert control.absorb_delays(control.c2d(late, 0.1)).order == 4
    X = control.lyap([[-1.0, 1.0], [0.0, -2.0]], np.eye(2))
    assert [[-1.0, 1.0], [0.0, -2.0]] @ X + X @ np.array([[-1.0, 0.0], [1.0, -2.0]]) == pytest.approx(-np.eye(2))


def test_levels_of_the_loop():
    P = control.ss([[1.0]], [[1.0, 0.0, 1.0]], [[1.0], [0.0], [1.0]], [[0, 0, 0], [0, 0, 1.0], [0, 1.0, 0]])
    assert control.hinf_tests(P, 1, 1, 2.74)[0] and control.hinfsyn_at(P, 1, 1, 2.74).gamma <= 2.74
    exists, tests, blame = control.hinf_tests(P, 1, 1, 2.72)
    assert not exists and not all(tests.values()) and blame
    with pytest.raises(catena.Error, match="test 4"):
        control.hinfsyn_at(P, 1, 1, 2.72)


def test_measured_responses(tmp_path, oscillator):
    omega = np.array([0.5, 1.0, 3.0])
    samples = control.freqresp(oscillator, omega)
    path = str(tmp_path / "shaker.csv")
    control.write_frequency_data(path, omega, samples, inputs=["force"], outputs=["place"])
    back = control.read_frequency_data(path)
    assert back[0] == pytest.approx(omega) and back[1] == pytest.approx(samples)
    assert back[2] == ["force"] and back[3] == ["place"]


def test_polynomials_are_exact():
    b = control.bezout([[[2, 1]]], [[[2, 3, 1]]])  # s + 2 and (s + 1)(s + 2)
    assert b["G"] == [[[2, 1]]] and b["D1"] == [[[1, 1]]]
    H, U = control.hermite_form([[[0, 1], [1]], [[1], [0, 1]]])  # [s 1; 1 s]
    assert H == [[[1], [0, 1]], [[0], [-1, 0, 1]]]
    third = control.ss([[-1 / 4, 0.0], [0.0, -2.0]], [[1.0], [0.0]], [[1.0, 1.0]])  # one mode is not reached
    N, D, degree = control.coprime_fraction(third)
    assert degree == 1 and len(D[0][0]) == 2 and D[0][0][0] / D[0][0][1] == 1 / 4


def test_wiener_hopf_of_an_unstable_plant():
    plant = control.ss([[0.5]], [[1.0]], [[1.0]])
    d = control.wiener_hopf(plant, lambda w: 3 / (1 + w * w), lambda w: 1.0, 0.5, nodes=2048)
    assert d["stable"]
    loop = control.feedback(control.series(d["realized"], plant), None)
    assert np.max(control.poles(loop).real) < 0


def test_mistakes_are_named(oscillator):
    with pytest.raises(catena.Error, match="B"):
        control.ss([[1.0]], [[1.0], [2.0]], [[1.0]])
    with pytest.raises(catena.UnknownNameError, match="tustin"):
        control.c2d(oscillator, 0.1, "tustn")
    with pytest.raises(catena.UnknownNameError):
        control.select(oscillator, ["y2"], ["u1"])
    with pytest.raises(catena.Error):
        control.ss([[np.nan]], [[1.0]], [[1.0]])


# The names of docs/control.md that users of python-control and ControlSystems.jl know.
NAMES = """ss zpk tf series parallel feedback lft connect append freqresp bode nyquist sigma nichols step
impulse initial lsim stepinfo rlocus poles zeros damp dcgain gram hsvd minreal balreal h2norm hinfnorm linfnorm
hankelnorm nugap margin diskmargin ncfmargin lqr lqry lqrd lqe lqg lqi kalman ltr place place_output h2syn hinfsyn
mixsyn ncfsyn augw makeweight reduce reduce_controller c2d d2c pade care dare wiener_hopf attainable_error
controllability observability characteristic_loci maximize_weight load_structure save_structure structure_modes
structure_response reduce_structure SecondOrder rational_fit dss explicit_form similarity transpose absorb_delays
with_delays is_stabilizable is_detectable lyap dlyap margin_loop_at_a_time hinfsyn_at hinf_tests verify save_controller
read_frequency_data write_frequency_data hermite_form bezout coprime_fraction""".split()


@pytest.mark.parametrize("name", NAMES)
def test_the_names_are_there(name):
    assert callable(getattr(control, name))
    assert name in control.__all__


def test_transfer_functions():
    g = control.zpk([-1.0], [-2 + 3j, -2 - 3j], 5.0)
    s = 0.3 + 0.7j
    assert g(s)[0, 0] == pytest.approx(5 * (s + 1) / ((s + 2) ** 2 + 9))
    h = control.tf([5.0, 5.0], [1.0, 4.0, 13.0])
    assert h(s)[0, 0] == pytest.approx(g(s)[0, 0])
    zeros, poles, gain = control.zpkdata(h)
    assert zeros == pytest.approx([-1]) and gain == pytest.approx(5)
    assert sorted(p.imag for p in poles) == pytest.approx([-3, 3])
    lag = control.tf([1.0, 3.0], [1.0, 1.0])
    assert control.inverse(lag)(s)[0, 0] == pytest.approx((s + 1) / (s + 3))


def test_curves(oscillator):
    gain, phase, omega = control.nichols(oscillator)
    g = 1 / (4 - omega**2 + 0.4j * omega)
    assert gain[0] == pytest.approx(20 * np.log10(abs(g)), abs=1e-9)
    assert phase[0] == pytest.approx(np.degrees(np.angle(g)), abs=1e-9)
    loci, omega = control.characteristic_loci(oscillator)
    assert loci[0] == pytest.approx(1 / (4 - omega**2 + 0.4j * omega))
    poles, gains = control.rlocus(oscillator, np.array([0.0, 5.0]))
    assert np.sort(poles[:, 1].imag) == pytest.approx([-np.sqrt(9 - 0.04), np.sqrt(9 - 0.04)])
    t, y = control.initial(oscillator, [1.0, 0.0], np.linspace(0, 3, 31))
    w = np.sqrt(3.96)
    assert y[0] == pytest.approx(np.exp(-0.2 * t) * (np.cos(w * t) + 0.2 / w * np.sin(w * t)), abs=1e-12)


def test_riccati_equations():
    X, K, poles, residual = control.care([[0, 1], [0, 0]], [[0], [1]], np.eye(2), [[1.0]])
    assert X == pytest.approx(np.array([[np.sqrt(3), 1], [1, np.sqrt(3)]]))
    assert K == pytest.approx(np.array([[1, np.sqrt(3)]]))
    X, K, poles, residual = control.dare([[1.0]], [[1.0]], [[1.0]], [[1.0]])
    assert X[0, 0] == pytest.approx((1 + np.sqrt(5)) / 2)
    r = control.lqe([[0, 1], [0, 0]], np.eye(2), [[1.0, 0.0]], np.eye(2), [[1.0]])
    assert r.P == pytest.approx(np.array([[np.sqrt(3), 1], [1, np.sqrt(3)]]))


def test_sampled_regulator_and_recovery(oscillator):
    Q, R = np.eye(2), np.eye(1)
    continuous = control.lqr(oscillator, Q, R).K
    errors = [abs(control.lqrd(oscillator, Q, R, dt).K - continuous).max() for dt in (1e-3, 1e-4)]
    assert errors[0] < 3e-3 and errors[0] / errors[1] == pytest.approx(10, rel=0.01)  # first order
    steps, target, certificate = control.ltr(
        oscillator, Q, R, 1e-3 * np.eye(2), 1e-3 * np.eye(1), [1.0, 1e4, 1e8]
    )
    errors = [error for _, _, error in steps]
    assert errors[0] > errors[1] > errors[2] and certificate.passed


def test_reduction_of_a_controller(oscillator):
    r = control.lqg(oscillator, np.eye(2), [[1.0]], [[1.0]], [[0.01]], G=oscillator.B)
    extra = control.ss([[-800.0]], [[1e-3]], [[1.0]])
    big = r.controller + extra
    small, error, certificate = control.reduce_controller(oscillator, big, 2)
    assert small.order == 2 and error < 1 and certificate.passed


def test_wiener_hopf_in_closed_form():
    # G = 1/(s + 1), disturbance 3/(1 - s^2), noise 1, mu = 1/3: C = 1/(s + 3), J = 4/3.
    d = control.wiener_hopf(
        lambda w: 1 / (1 + 1j * w), lambda w: 3 / (1 + w * w), lambda w: 1.0, 1 / 3, nodes=1024
    )
    assert d["cost"] == pytest.approx(4 / 3, rel=1e-6)
    assert d["controller"] == pytest.approx(1 / (3 + 1j * d["omega"]), abs=1e-8)
    assert d["winding"] == 0


def test_largest_weight():
    # V1.2: the largest factor on W1 is 3.160423.
    plant = control.tf([400.0], [1.0, 2.0, 400.0])
    w1 = control.tf([2.5e-3, 1.0, 100.0], [0.04, 0.4, 1.0])
    rho, fails, controller = control.maximize_weight(
        plant, w1, w3=control.polynomial_weight([0.0, 0.0, 1 / 40000])
    )
    assert rho == pytest.approx(3.160423, abs=1e-4) and fails > rho


def chain(count, damping=0.01):
    """Masses of 1 kg between springs of 1 N/m, both ends held."""
    K = 2 * np.eye(count) - np.eye(count, k=1) - np.eye(count, k=-1)
    B = np.zeros((count, 1))
    B[count // 3] = 1.0
    return control.SecondOrder(np.eye(count), K, B, D=damping * K, Cq=B.T, inputs=["force"], outputs=["place"])


def test_modes_of_a_structure():
    frequency, shapes = control.structure_modes(chain(300), count=8)
    exact = 2 * np.sin(np.arange(1, 9) * np.pi / (2 * 301))
    assert frequency == pytest.approx(exact, rel=1e-9)
    assert shapes.shape == (300, 8)


def test_reduction_of_a_structure(tmp_path):
    s = chain(300)
    r = control.reduce_structure(s, order=40)
    omega = np.linspace(0.02, 0.99, 25) * r.band[1]
    full = control.structure_response(s, omega)[0, 0]
    dense = control.freqresp(s.state_space(), omega)[0, 0]
    small = control.freqresp(r.system, omega)[0, 0]
    assert full == pytest.approx(dense, rel=1e-8)
    assert np.max(abs(small - full) / abs(full)) < 1e-3
    assert r.error_between < 1e-3 and r.certificate.passed
    for name in ("chain.yaml", "chain.h5"):
        control.save_structure(s, str(tmp_path / name))
        again = control.load_structure(str(tmp_path / name))
        assert again.freedom_count == 300 and again.inputs == ["force"]
    with pytest.raises(catena.UnknownNameError, match="interpolation"):
        control.reduce_structure(s, method="krylov")


def test_structure_of_sparse_matrices():
    sparse = pytest.importorskip("scipy.sparse")
    K = sparse.diags([[2.0] * 50, [-1.0] * 49, [-1.0] * 49], [0, 1, -1], format="csc")
    s = control.SecondOrder(sparse.identity(50), K, np.eye(50)[:, :1], Cq=np.eye(50)[:1])
    frequency, _ = control.structure_modes(s, count=3)
    assert frequency == pytest.approx(2 * np.sin(np.arange(1, 4) * np.pi / 102), rel=1e-9)


def test_rational_fit(oscillator):
    omega = np.logspace(-1, 1.5, 80)
    samples = control.freqresp(oscillator, omega)
    fit, error = control.rational_fit(omega, samples, tolerance=1e-10)
    assert error < 1e-8
    fresh = np.array([0.33, 1.9, 7.7])
    assert control.freqresp(fit, fresh) == pytest.approx(control.freqresp(oscillator, fresh), rel=1e-6)
    delayed, error = control.rational_fit(omega, np.exp(-0.05j * omega) / (1 + 1j * omega))
    assert error < 1e-5 and np.max(control.poles(delayed).real) < 0
