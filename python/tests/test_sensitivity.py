"""Derivatives and linear models, against differences of the dynamics and closed forms."""
import numpy as np
import pytest

import catena
from conftest import MODELS, four_bar, pendulum, random_state, relative

# Central differences of order four with steps h: truncation h⁴ and rounding 1e-16/h, both times the
# derivatives' own scale, some hundred.
STEP, AGREE = 1e-3, 1e-6


def derivative(f):
    """Of f at zero."""
    return (8 * (f(STEP) - f(-STEP)) - (f(2 * STEP) - f(-2 * STEP))) / (12 * STEP)


def check(found, expected):
    scale = max(1.0, np.max(np.abs(expected)))
    np.testing.assert_allclose(found, expected, atol=AGREE * scale)


def test_forward(tree):
    state = random_state(tree)
    n = tree.freedoms
    effort = catena.random_vector(n, 9)
    d = catena.forward_dynamics_derivatives(tree, state, effort)
    np.testing.assert_allclose(
        d.acceleration, catena.forward_dynamics(tree, state, effort), rtol=1e-12
    )
    for k in (0, n // 2, n - 1):
        unit = np.eye(n)[k]
        moved = lambda e: catena.State(tree, catena.integrate(tree, state, e * unit), state.v)  # noqa: B023,E731
        check(d.dq[:, k], derivative(lambda e: catena.forward_dynamics(tree, moved(e), effort)))
        faster = lambda e: catena.State(tree, state.q, state.v + e * unit)  # noqa: B023,E731
        check(d.dv[:, k], derivative(lambda e: catena.forward_dynamics(tree, faster(e), effort)))
    check(d.deffort, np.linalg.inv(catena.mass_matrix(tree, state)))


def test_inverse(tree):
    state = random_state(tree)
    n = tree.freedoms
    a = catena.random_vector(n, 9)
    workspace = catena.SensitivityWorkspace(tree)
    d = catena.inverse_dynamics_derivatives(tree, state, a, workspace)
    k = n - 1
    unit = np.eye(n)[k]
    moved = lambda e: catena.State(tree, catena.integrate(tree, state, e * unit), state.v)  # noqa: E731
    check(d.dq[:, k], derivative(lambda e: catena.inverse_dynamics(tree, moved(e), a)))
    check(d.da, catena.mass_matrix(tree, state))


def test_linear_pendulum():
    mechanism = pendulum()
    inertia = 0.3 + 2.0 * 0.75**2
    frequency = np.sqrt(2.0 * 9.81 * 0.75 / inertia)
    model = catena.linearize(mechanism, mechanism.default_state())
    np.testing.assert_allclose(model.A, [[0, 1], [-(frequency**2), 0]], atol=1e-12)
    np.testing.assert_allclose(model.B, [[0], [1 / inertia]], atol=1e-14)
    mode = catena.modes(model).modes[0]
    assert mode.frequency == pytest.approx(frequency, rel=1e-12)
    assert catena.modes(model).stability == catena.Stability.marginal
    assert catena.modes([[0, 1], [1, 0]]).stability == catena.Stability.unstable
    compared = catena.linearize_by_perturbation(model)
    assert compared.difference_A < 1e-6 and compared.difference_B < 1e-6
    position, velocity = catena.decoupling_gains(model, [3.0], [0.7])
    closed = model.A - model.B @ np.hstack([position, velocity])
    np.testing.assert_allclose(np.abs(np.linalg.eigvals(closed)), 3.0, rtol=1e-12)


def test_control_arrays():
    arm = catena.load(MODELS / "arm6.yaml")
    model = catena.linearize(arm, random_state(arm), inputs=["elbow"], outputs=["q.elbow", "v.lift"])
    a, b, c, d = catena.adapt.control(model)
    assert a.shape == (12, 12) and b.shape == (12, 1) and c.shape == (2, 12) and d.shape == (2, 1)
    assert all(x.dtype == np.float64 and x.flags.c_contiguous for x in (a, b, c, d))
    with pytest.raises(catena.UnknownNameError, match="elbow"):
        catena.linearize(arm, random_state(arm), inputs=["elbwo"])


def test_equilibrium():
    mechanism = pendulum()
    guess = catena.State(mechanism, [0.4])
    found = catena.find_equilibrium(mechanism, guess)
    assert found.found and abs(found.state["pivot"]) < 1e-8
    held = catena.find_equilibrium(mechanism, guess, held=["pivot"])
    assert held.effort[0] == pytest.approx(2.0 * 9.81 * 0.75 * np.sin(0.4), rel=1e-12)
    pushed = catena.find_equilibrium(mechanism, guess, {"pivot": 5.0})
    assert np.sin(pushed.state["pivot"]) == pytest.approx(5.0 / (2.0 * 9.81 * 0.75), rel=1e-9)


def test_closed():
    bar = four_bar()
    state = catena.assemble_near(bar, bar.default_state())
    model = catena.linearize(bar, state)
    assert model.A.shape == (2, 2)  # one independent freedom
    compared = catena.linearize_by_perturbation(model)
    assert compared.difference_A < 1e-6
    report = catena.check_derivatives(bar, states=2)
    assert report.worst < 1e-7


def test_products_are_those_with_the_matrices(tree):
    state = random_state(tree)
    n = tree.freedoms
    effort = catena.random_vector(n, 9)
    d = catena.forward_dynamics_derivatives(tree, state, effort)
    products = catena.DynamicsProducts(tree)
    np.testing.assert_allclose(products.evaluate(state, effort), d.acceleration, rtol=1e-10)
    dq, dv, de, w = (catena.random_vector(n, k) for k in (1, 2, 3, 4))
    expected = d.dq @ dq + d.dv @ dv + d.deffort @ de
    np.testing.assert_allclose(
        products.forward_product(dq, dv, de), expected, atol=1e-9 * np.max(np.abs(expected))
    )
    by_q, by_v, by_effort = products.forward_adjoint(w)
    for found, matrix in ((by_q, d.dq), (by_v, d.dv), (by_effort, d.deffort)):
        np.testing.assert_allclose(found, matrix.T @ w, atol=1e-9 * np.max(np.abs(matrix)))


def test_the_adjoint_of_hybrid_dynamics(tree):
    n = tree.freedoms
    state = random_state(tree)
    driven = [k for k in range(n) if k % 2 == 1]
    mask = np.zeros(n, dtype=bool)
    mask[driven] = True
    effort, acceleration, w, x = (catena.random_vector(n, seed) for seed in (21, 22, 23, 24))
    products = catena.DynamicsProducts(tree)
    result = products.evaluate_hybrid(state, driven, effort, acceleration)
    direct = catena.hybrid_dynamics(tree, state, driven, effort, acceleration)
    assert relative(result.acceleration, direct.acceleration) < 1e-12
    by_q, by_v, by_input = products.hybrid_adjoint(w, x)

    def value(dq, dv, du):
        moved = catena.State(tree, catena.integrate(tree, state.q, dq), state.v + dv)
        r = catena.hybrid_dynamics(tree, moved, driven, effort + du, acceleration + du)
        return w[~mask] @ r.acceleration[~mask] + x[mask] @ r.effort[mask]

    dq, dv, du = (catena.random_vector(n, seed) for seed in (31, 32, 33))
    h = 1e-6
    slope = (value(h * dq, h * dv, h * du) - value(-h * dq, -h * dv, -h * du)) / (2 * h)
    assert by_q @ dq + by_v @ dv + by_input @ du == pytest.approx(slope, rel=1e-6)


def test_parameters(tree):
    state = random_state(tree)
    a = catena.random_vector(tree.freedoms, 5)
    body = tree.bodies[-1].name
    names = [f"body.{body}.mass", f"body.{body}.com.x", "gravity.z"]
    parameters = catena.ParameterSet(tree, names)
    found = parameters.effort_derivatives(state, a)
    values = parameters.values()
    for k in range(3):

        def effort(e):
            other = parameters.with_values(values + e * np.eye(3)[k])  # noqa: B023
            return catena.inverse_dynamics(other, catena.State(other, state.q, state.v), a)

        check(found[:, k], derivative(effort))
    assert names[0] in catena.ParameterSet.all_names(tree)
    with pytest.raises(catena.UnknownNameError, match="mass"):
        catena.ParameterSet(tree, [f"body.{body}.mas"])


def test_regressor():
    """Without damping, friction, springs and drives efforts are linear in the inertias."""
    arm = catena.load(MODELS / "tree10.yaml")
    state = random_state(arm)
    a = catena.random_vector(arm.freedoms, 5)
    found = catena.regressor(arm, state, a) @ catena.inertial_parameters(arm)
    np.testing.assert_allclose(found, catena.inverse_dynamics(arm, state, a), atol=1e-9)


def test_second_derivatives(tree):
    state = random_state(tree)
    n = tree.freedoms
    effort = catena.random_vector(n, 9)
    forward = catena.forward_second_derivatives(tree, state, effort)
    inverse = catena.inverse_second_derivatives(tree, state, effort)
    k = n - 1
    unit = np.eye(n)[k]
    moved = lambda e: catena.State(tree, catena.integrate(tree, state, e * unit), state.v)  # noqa: E731
    first = lambda e: catena.forward_dynamics_derivatives(tree, moved(e), effort)  # noqa: E731
    check(forward.qq[k], derivative(lambda e: first(e).dq))
    check(forward.vq[k], derivative(lambda e: first(e).dv))
    check(forward.uq[k], derivative(lambda e: first(e).deffort))
    check(inverse.aq[k], derivative(lambda e: catena.mass_matrix(tree, moved(e))))


def test_by_a_wrench(tree):
    state = random_state(tree)
    where = {"body": tree.bodies[-1].name, "point": [0.1, -0.2, 0.3], "axes": "ground"}
    efforts, accelerations = catena.external_wrench_derivatives(tree, state.q, where)
    for k in range(6):
        load = {**where, "moment": np.eye(6)[k][:3], "force": np.eye(6)[k][3:]}
        difference = catena.forward_dynamics(tree, state, external=load) - catena.forward_dynamics(tree, state)
        check(accelerations[:, k], difference)  # linear
        difference = catena.inverse_dynamics(tree, state, external=load) - catena.inverse_dynamics(tree, state)
        check(efforts[:, k], difference)


def test_parameters_of_linear_models_and_hybrid_dynamics():
    mechanism = pendulum()  # mass 2, centre at 0.75, inertia 0.3
    state = catena.State(mechanism, [0.4], [0.7])
    model = catena.linearize(mechanism, state, inputs="pivot")  # one name may be a plain str
    assert model.inputs == ["effort.pivot"]
    names = ["body.link.mass"]
    matrix = catena.parameter_matrix(model, names)
    # v̇ = -m g l sin q / (J + m l²).
    inertia = 0.3 + 2.0 * 0.75**2
    expected = -9.81 * 0.75 * np.sin(0.4) * (1 / inertia - 2.0 * 0.75**2 / inertia**2)
    np.testing.assert_allclose(matrix, [[0], [expected]], rtol=1e-12)
    parameters = catena.ParameterSet(mechanism, names)
    accelerations, efforts = parameters.hybrid_derivatives(state, ["pivot"], acceleration=[1.5])
    np.testing.assert_allclose(accelerations, [[0]], atol=1e-15)
    np.testing.assert_allclose(efforts, [[0.75**2 * 1.5 + 9.81 * 0.75 * np.sin(0.4)]], rtol=1e-12)


def test_independent_freedoms_are_chosen():
    bar = four_bar()
    state = catena.assemble_near(bar, bar.default_state())
    models = {name: catena.linearize(bar, state, independent=[name]) for name in "ABD"}
    for name, model in models.items():
        assert model.states == [f"q.{name}", f"v.{name}"]
    # At rest the accelerations of two freedoms differ by how fast the two turn against each other.
    rate = catena.consistent_velocity(bar, state, {"A": 1.0}, fixed=["A"])
    b = [models[name].B[1] for name in "AD"]
    np.testing.assert_allclose(b[1], rate[bar.velocity_index("D")] * b[0], rtol=1e-9)
    with pytest.raises(catena.NumericalError):
        catena.linearize(bar, state, independent=["A", "D"])
    states = []
    for angle in np.linspace(-1.0, 1.5, 12):
        state["A"] = angle
        state = catena.assemble_near(bar, state)
        states.append(state.copy())
    schedule = catena.linearize_along(bar, states, independent="A")
    assert all(model.states == ["q.A", "v.A"] for model in schedule)
    np.testing.assert_allclose(schedule[3].A, catena.linearize(bar, states[3], independent="A").A, rtol=1e-9)


def test_gear_ratios_are_parameters():
    builder = catena.MechanismBuilder("geared")
    for name in ("arm", "motor"):
        builder.add_body(name, mass=1.0, inertia=[0.1, 0.2, 0.3])
        builder.add_hinge(name, "world", name)
    builder.add_gear("gear", "motor", "arm", 5.0)
    mechanism = builder.finish()
    parameters = catena.ParameterSet(mechanism, ["coupling.gear.ratio"])
    assert parameters.values() == [5.0]
    state = mechanism.default_state()
    # Of the arm with the motor turning five times as fast: τ / (J + r² J).
    model = catena.linearize(mechanism, state, {"arm": 2.0}, independent=["arm"])
    matrix = catena.parameter_matrix(model, ["coupling.gear.ratio"])
    np.testing.assert_allclose(matrix[1], [-2.0 / 0.3 * 2 * 5.0 / 26.0**2], rtol=1e-9)
    state["arm"], state["motor"] = 0.1, 0.5
    state.v = [1.0, 4.0]
    with pytest.raises(catena.NumericalError, match="velocities do not keep"):
        catena.forward_dynamics(mechanism, state)


def test_names_and_shapes_that_are_wrong():
    with pytest.raises(catena.NumericalError, match="square"):
        catena.modes(np.zeros((2, 4)))
    builder = catena.MechanismBuilder("ball")
    builder.add_body("ball", mass=1.0, inertia=[1, 1, 1])
    builder.add_hinge("ball", "world", "ball", type="spherical")
    with pytest.raises(catena.UnknownNameError, match="several freedoms"):
        builder.finish().velocity_index("ball")
