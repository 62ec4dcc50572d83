"""Dynamics, against closed forms, NumPy's own linear algebra, and the program to the bit."""
import json
import os
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

import catena
from conftest import MODELS, four_bar, pendulum, random_state, relative

# Sums of some hundred products, and condition numbers of mass matrices up to 1e4.
ROUNDING = 1e-10


def test_pendulum():
    mechanism = pendulum()
    state = catena.State(mechanism, [0.6], [1.4])
    gravity = 2.0 * 9.81 * 0.75 * np.sin(0.6)
    inertia = 0.3 + 2.0 * 0.75**2
    assert catena.forward_dynamics(mechanism, state)[0] == pytest.approx(-gravity / inertia, rel=1e-14)
    assert catena.inverse_dynamics(mechanism, state)[0] == pytest.approx(gravity, rel=1e-14)
    assert catena.mass_matrix(mechanism, state)[0, 0] == pytest.approx(inertia, rel=1e-14)
    energy = catena.energy(mechanism, state)
    assert energy.kinetic == pytest.approx(0.5 * inertia * 1.4**2, rel=1e-14)
    assert energy.gravity == pytest.approx(-2.0 * 9.81 * 0.75 * np.cos(0.6), rel=1e-14)


def test_forward_is_the_solution_with_the_mass_matrix(tree):
    state = random_state(tree)
    effort = catena.random_vector(tree.freedoms, 9)
    m = catena.mass_matrix(tree, state.q)
    expected = np.linalg.solve(m, effort - catena.bias_effort(tree, state))
    found = catena.forward_dynamics(tree, state, effort)
    assert relative(found, expected) < ROUNDING
    assert relative(catena.inverse_dynamics(tree, state, found), effort) < ROUNDING
    assert relative(catena.forward_dynamics(tree, state, effort, route="dense"), expected) < ROUNDING
    assert relative(catena.inverse_mass_matrix(tree, state.q), np.linalg.inv(m)) < ROUNDING


def test_with_and_without_workspace_and_out_to_the_bit(tree):
    state = random_state(tree)
    effort = catena.random_vector(tree.freedoms, 9)
    workspace = catena.Workspace(tree)
    expected = catena.forward_dynamics(tree, state, effort)
    out = np.full(tree.freedoms, np.nan)
    result = catena.forward_dynamics(tree, state, effort, workspace, out=out)
    assert result is out
    np.testing.assert_array_equal(out, expected)
    strided = np.zeros(2 * tree.freedoms)[::2]
    catena.forward_dynamics(tree, state, list(effort), workspace, out=strided)
    np.testing.assert_array_equal(strided, expected)
    named = dict(zip(tree.velocity_names, effort))
    np.testing.assert_array_equal(catena.forward_dynamics(tree, state, named), expected)
    matrix = np.zeros((tree.freedoms, tree.freedoms))
    catena.mass_matrix(tree, state, workspace, out=matrix)
    np.testing.assert_array_equal(matrix, catena.mass_matrix(tree, state.q))


def test_hybrid(tree):
    state = random_state(tree)
    n = tree.freedoms
    effort, acceleration = catena.random_vector(n, 9), catena.random_vector(n, 10)
    driven = np.arange(n) % 2 == 1
    result = catena.hybrid_dynamics(tree, state, driven, effort, acceleration)
    np.testing.assert_array_equal(result.acceleration[driven], acceleration[driven])
    np.testing.assert_array_equal(result.effort[~driven], effort[~driven])
    # The equations of motion hold for what was found.
    m, bias = catena.mass_matrix(tree, state), catena.bias_effort(tree, state)
    assert relative(m @ result.acceleration + bias, result.effort) < ROUNDING
    names = [name for name, d in zip(tree.velocity_names, driven) if d]
    again = catena.hybrid_dynamics(tree, state, names, effort, acceleration)
    np.testing.assert_array_equal(again.acceleration, result.acceleration)


def test_external_wrench(tree):
    """Jᵀ f is what a force at a point adds to the efforts."""
    state = random_state(tree)
    body = tree.bodies[-1].name
    point, force, moment = [0.1, 0.2, -0.1], np.array([3.0, -2.0, 5.0]), np.array([0.4, 0.1, 0.2])
    load = {"body": body, "force": force, "moment": moment, "point": point, "axes": "ground"}
    with_load = catena.inverse_dynamics(tree, state, external=load)
    without = catena.inverse_dynamics(tree, state)
    jacobian = catena.body_jacobian(tree, state, body, point)
    expected = -jacobian.T @ np.concatenate([moment, force])
    np.testing.assert_allclose(with_load - without, expected, atol=1e-10)
    wrench = catena.ExternalWrench(tree, body, force=force, moment=moment, point=point, axes="ground")
    np.testing.assert_array_equal(catena.inverse_dynamics(tree, state, external=[wrench]), with_load)


def test_gibbs_has_its_minimum_at_the_motion(tree):
    state = random_state(tree)
    effort = catena.random_vector(tree.freedoms, 9)
    motion = catena.forward_dynamics(tree, state, effort)
    step = catena.random_vector(tree.freedoms, 11)
    at = catena.gibbs_function(tree, state, effort, motion).reduced
    beside = catena.gibbs_function(tree, state, effort, motion + step).reduced
    expected = 0.5 * step @ catena.mass_matrix(tree, state) @ step
    assert beside - at == pytest.approx(expected, rel=1e-8)


def test_impulse(tree):
    state = random_state(tree)
    impulse = catena.random_vector(tree.freedoms, 12)
    result = catena.apply_impulse(tree, state, impulse)
    jump = np.linalg.solve(catena.mass_matrix(tree, state), impulse)
    assert relative(result.jump, jump) < ROUNDING
    locked = tree.velocity_names[-1]
    stopped = catena.lock_freedom(tree, state, locked)
    assert stopped.velocity[-1] == pytest.approx(0.0, abs=1e-13)
    assert stopped.energy_change <= 0.0
    other = catena.apply_impulse(tree, state, locked=[locked])
    np.testing.assert_array_equal(other.velocity, stopped.velocity)


def test_operators(tree):
    state = random_state(tree)
    workspace = catena.Workspace(tree)
    m = catena.mass_matrix(tree, state)
    catena.articulate(tree, state, workspace)
    x = catena.random_vector(tree.freedoms, 3)
    assert relative(catena.apply_mass_matrix(workspace, x), m @ x) < ROUNDING
    assert relative(catena.apply_inverse_mass_matrix(workspace, x), np.linalg.solve(m, x)) < ROUNDING
    assert relative(catena.inverse_mass_matrix(workspace), np.linalg.inv(m)) < ROUNDING
    nu = catena.normalized_velocity(workspace, state.v)
    assert 0.5 * nu @ nu == pytest.approx(catena.kinetic_energy(tree, state), rel=1e-10)
    sign, log = np.linalg.slogdet(m)
    assert sign == 1 and catena.log_determinant_mass_matrix(workspace) == pytest.approx(log, rel=1e-10)
    dense = catena.dense_operators(workspace)
    d = dense.factor.T @ dense.hinge_inertia @ dense.factor
    assert relative(d, m) < ROUNDING


def test_wrong_input_is_named():
    mechanism = pendulum()
    state = mechanism.default_state()
    workspace = catena.Workspace(mechanism)
    cases = [
        (lambda: catena.forward_dynamics(mechanism, state, [1, 2]), catena.NumericalError, "2 entries"),
        (lambda: catena.forward_dynamics(mechanism, state, [np.nan]), catena.NumericalError, "pivot"),
        (lambda: catena.forward_dynamics(mechanism, state, {"pivt": 1}), catena.UnknownNameError, "'pivot'"),
        (lambda: catena.forward_dynamics(mechanism, state, "x"), TypeError, "numbers"),
        (lambda: catena.forward_dynamics(mechanism, state, route="dens"), catena.UnknownNameError, "dense"),
        (lambda: catena.forward_dynamics(mechanism, state, out=np.zeros(3)), ValueError, "shape"),
        (lambda: catena.forward_dynamics(mechanism, state, out=np.zeros(1, int)), ValueError, "float64"),
        (lambda: catena.forward_dynamics(pendulum(), state, None, workspace), catena.Error, "another mechanism"),
        (
            lambda: catena.inverse_dynamics(mechanism, state, external={"body": "lnk", "force": [1, 0, 0]}),
            catena.UnknownNameError,
            "'link'",
        ),
        (lambda: catena.inverse_dynamics(mechanism, state, external={"bdy": 1}), TypeError, "'body'"),
        (lambda: catena.point_position(mechanism, state, 7, [0, 0, 0]), catena.UnknownNameError, "body 7"),
        (lambda: catena.body_twist(mechanism, state.q, "link"), TypeError, "State"),
    ]  # fmt: skip
    for mistake, error, said in cases:
        with pytest.raises(error, match=said):
            mistake()


def test_read_only_out_is_refused():
    mechanism = pendulum()
    out = np.zeros(1)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        catena.forward_dynamics(mechanism, mechanism.default_state(), out=out)


def test_kinematics_by_differences(tree):
    state = random_state(tree)
    body, point = tree.bodies[-1].name, [0.2, -0.1, 0.3]
    # Central differences: truncation h² and rounding 1e-16/h, of numbers up to some ten.
    h = 1e-5
    ahead, behind = (catena.integrate(tree, state.q, s * h * state.v) for s in (1, -1))
    position = lambda q: catena.point_position(tree, q, body, point)  # noqa: E731
    velocity = (position(ahead) - position(behind)) / (2 * h)
    np.testing.assert_allclose(catena.point_velocity(tree, state, body, point), velocity, atol=1e-7)
    jacobian = catena.body_jacobian(tree, state.q, body, point)
    np.testing.assert_allclose(jacobian[3:] @ state.v, velocity, atol=1e-7)
    rotation = lambda q: catena.body_pose(tree, q, body).rotation  # noqa: E731
    spin = (rotation(ahead) - rotation(behind)) @ rotation(state.q).T / (2 * h)
    twist = catena.body_twist(tree, state, body, axes="ground")
    np.testing.assert_allclose(twist[:3], [spin[2, 1], spin[0, 2], spin[1, 0]], atol=1e-7)
    np.testing.assert_allclose(jacobian[:3] @ state.v, twist[:3], atol=1e-12)


def test_workspace_queries_after_an_update(tree):
    state = random_state(tree)
    workspace = catena.Workspace(tree)
    body = tree.bodies[-1].name
    catena.update_kinematics(tree, state, workspace)
    np.testing.assert_array_equal(
        catena.body_pose(tree, workspace, body).matrix(), catena.body_pose(tree, state, body).matrix()
    )
    acceleration = catena.forward_dynamics(tree, state, None, workspace)
    catena.update_accelerations(tree, state, acceleration, workspace)
    expected = catena.body_jacobian(tree, state, body) @ acceleration
    expected += catena.jacobian_rate_times_velocity(tree, state, body)
    np.testing.assert_allclose(catena.body_acceleration(tree, workspace, body), expected, atol=1e-9)
    np.testing.assert_array_equal(
        catena.body_acceleration(tree, state, body, acceleration),
        catena.body_acceleration(tree, workspace, body),
    )


def test_momentum(tree):
    state = random_state(tree)
    momentum = catena.momentum(tree, state)
    matrix = catena.momentum_matrix(tree, state)
    np.testing.assert_allclose(
        matrix @ state.v, np.concatenate([momentum.angular, momentum.linear]), atol=1e-10
    )
    velocity = catena.center_of_mass_velocity(tree, state)
    np.testing.assert_allclose(momentum.linear, tree.total_mass * velocity, atol=1e-10)
    central = catena.centroidal_momentum(tree, state).angular
    shift = np.cross(catena.center_of_mass(tree, state), momentum.linear)
    np.testing.assert_allclose(central, momentum.angular - shift, atol=1e-10)
    assert catena.mass_properties(tree, state).mass == pytest.approx(tree.total_mass, rel=1e-13)


def test_operational_space(tree):
    state = random_state(tree)
    body, point = tree.bodies[-1].name, [0.1, 0.0, 0.2]
    space = catena.OperationalSpace(tree, [catena.TaskFrame(tree, body, point, rows=[3, 4, 5])])
    workspace = catena.Workspace(tree)
    catena.articulate(tree, state, workspace)
    space.update(workspace)
    jacobian = catena.body_jacobian(tree, state, body, point)[3:]
    expected = jacobian @ np.linalg.inv(catena.mass_matrix(tree, state)) @ jacobian.T
    assert relative(space.inverse_inertia(), expected) < ROUNDING
    np.testing.assert_allclose(space.apply_jacobian(state.v), jacobian @ state.v, atol=1e-10)


def test_interbody_forces_hold_the_weight():
    """At rest, what holds the first body is the weight of all."""
    tree = catena.load(MODELS / "arm6.yaml")
    state = catena.State(tree, catena.random_position(tree, 1))
    forces = catena.InterbodyForces(tree)
    forces.compute(state, np.zeros(tree.freedoms))
    moving = sum(b.inertia[3, 3] for b in tree.bodies if b.node >= 0)
    first = next(h for h in tree.hinges if h.node == 0)
    np.testing.assert_allclose(
        forces.at(first.name, "ground").force, [0, 0, 9.81 * moving], atol=1e-9
    )
    effort = catena.inverse_dynamics(tree, state)
    for hinge in tree.hinges:
        if hinge.node >= 0:
            np.testing.assert_allclose(
                forces.at(hinge.name).effort, effort[[hinge.v_index]], atol=1e-9
            )
    with pytest.raises(catena.Error, match="first"):
        catena.InterbodyForces(tree).at(first.name)


def test_threads_share_a_mechanism_but_not_a_workspace():
    builder = catena.MechanismBuilder("chain")
    parent = "world"
    for i in range(300):
        builder.add_body(f"b{i}", mass=1.0, center_of_mass=[0.1, 0, 0], inertia=[0.1, 0.1, 0.1])
        builder.add_hinge(f"h{i}", parent, f"b{i}", axes=[[0, i % 2, 1 - i % 2]], frame_on_parent=[0.2, 0, 0])
        parent = f"b{i}"
    chain = builder.finish()
    state = random_state(chain)
    expected = catena.forward_dynamics(chain, state)
    wrong, refused = [], []
    shared = catena.Workspace(chain)

    def work(workspace):
        for _ in range(300):
            try:
                found = catena.forward_dynamics(chain, state, None, workspace)
                if not np.array_equal(found, expected):
                    wrong.append(found)
            except catena.Error as error:
                refused.append(str(error))

    threads = [threading.Thread(target=work, args=(catena.Workspace(chain),)) for _ in range(3)]
    threads += [threading.Thread(target=work, args=(shared,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert all("every thread its own" in message for message in refused)


PROGRAM = Path(os.environ.get("CATENA_PROGRAM", "no program"))


@pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built")
@pytest.mark.parametrize("name", ["arm7.yaml", "quadruped.yaml", "four_bar.yaml", "slider_crank.sdf"])
def test_the_same_bits_as_the_program(name, tmp_path):
    mechanism = catena.load(MODELS / name)
    state = mechanism.default_state()
    for i in range(mechanism.freedoms):
        if mechanism.velocity_names[i] in mechanism.position_names and not mechanism.loops:
            state[mechanism.velocity_names[i]] = 0.1 + 0.05 * i
            state["v." + mechanism.velocity_names[i]] = 0.3 - 0.1 * i
    state = catena.assemble_near(mechanism, state)
    effort = 0.5 + np.arange(mechanism.freedoms)
    file = tmp_path / "state.yaml"
    listed = lambda x: json.dumps([float(value) for value in x])  # noqa: E731
    file.write_text(f"q: {listed(state.q)}\nv: {listed(state.v)}\neffort: {listed(effort)}\n")
    answer = subprocess.run(
        [PROGRAM, "dynamics", MODELS / name, "--what", "forward", "--state", file, "--json"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    theirs = json.loads(answer.stdout)
    ours = catena.forward_dynamics(mechanism, state, effort)
    found = theirs["acceleration"]
    assert list(found) == mechanism.velocity_names
    np.testing.assert_array_equal(ours, list(found.values()))


def test_four_bar_against_the_spanning_tree():
    """Newton's law in the tree with a multiplier: M a + C = effort + Yᵀ λ, Y a + Ẏ v = 0."""
    mechanism = four_bar()
    state = catena.assemble_near(mechanism, mechanism.default_state())
    assert state["A"] == -1.0
    v = catena.consistent_velocity(mechanism, state, [2.0, 0, 0], ["A"])
    state.v = v
    # The tree with the hinge C taken away.
    opened = mechanism.edit().remove_hinge("C").finish()
    tree = catena.State(opened, state.q, state.v)
    end = lambda q, body: catena.point_position(opened, q, body, [2, 0, 0])  # noqa: E731
    np.testing.assert_allclose(end(tree.q, "coupler"), end(tree.q, "rocker"), atol=1e-9)
    rows = (
        catena.body_jacobian(opened, tree, "coupler", [2, 0, 0])
        - catena.body_jacobian(opened, tree, "rocker", [2, 0, 0])
    )[[3, 5]]
    bias = (
        catena.jacobian_rate_times_velocity(opened, tree, "coupler", [2, 0, 0])
        - catena.jacobian_rate_times_velocity(opened, tree, "rocker", [2, 0, 0])
    )[[3, 5]]
    np.testing.assert_allclose(rows @ v, 0, atol=1e-9)
    m, c = catena.mass_matrix(opened, tree), catena.bias_effort(opened, tree)
    effort = np.array([0.7, -0.2, 0.4])
    kkt = np.block([[m, -rows.T], [rows, np.zeros((2, 2))]])
    expected = np.linalg.solve(kkt, np.concatenate([effort - c, -bias]))
    found = catena.forward_dynamics(mechanism, state, effort)
    np.testing.assert_allclose(found, expected[:3], rtol=1e-8)
    # The bearing force at C is the multiplier.
    forces = catena.InterbodyForces(mechanism)
    forces.compute(state, found, effort=effort)
    at_c = forces.at("C", "ground").force
    np.testing.assert_allclose(at_c[[0, 2]], -expected[3:], rtol=1e-8)


def test_operators_of_a_closed_mechanism():
    bar = four_bar()
    state = catena.assemble_near(bar, bar.default_state())
    workspace = catena.Workspace(bar)
    m = catena.mass_matrix(bar, state, workspace)
    catena.articulate(bar, state, workspace)
    np.testing.assert_allclose(catena.apply_mass_matrix(workspace, [2.0]), 2.0 * m[0], rtol=1e-12)
    np.testing.assert_allclose(catena.inverse_mass_matrix(workspace), 1.0 / m, rtol=1e-12)
    with pytest.raises(catena.NumericalError, match="1 independent"):
        catena.apply_mass_matrix(workspace, [1, 2, 3])
