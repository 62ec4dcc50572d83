"""Batches: every row is the single call to rounding, whatever threads and neighbours; no copies."""
import numpy as np
import pytest

import catena
from conftest import MODELS, four_bar

# Sines and the order of sums differ between the kernels (batch.h).
AGREE = 1e-11


def rows(mechanism, count):
    q = np.array([catena.random_position(mechanism, k) for k in range(count)])
    v = np.array([catena.random_vector(mechanism.freedoms, k + 7) for k in range(count)])
    effort = np.array([catena.random_vector(mechanism.freedoms, k + 9) for k in range(count)])
    return q, v, effort


def test_rows_are_the_single_calls(tree):
    q, v, effort = rows(tree, 37)
    found = catena.batch_forward_dynamics(tree, q, v, effort)
    back = catena.batch_inverse_dynamics(tree, q, v, found)
    masses = catena.batch_mass_matrix(tree, q)
    poses, twists = catena.batch_kinematics(tree, q, v)
    assert found.shape == (37, tree.freedoms)
    for k in range(0, 37, 5):
        state = catena.State(tree, q[k], v[k])
        one = catena.forward_dynamics(tree, state, effort[k])
        np.testing.assert_allclose(found[k], one, atol=AGREE * np.max(np.abs(one)))
        np.testing.assert_allclose(back[k], effort[k], atol=1e-9)
        m = catena.mass_matrix(tree, q[k])
        np.testing.assert_allclose(masses[k], m, atol=AGREE * np.max(np.abs(m)))
        for b, body in enumerate(tree.bodies):
            np.testing.assert_allclose(
                poses[k, b], catena.body_pose(tree, q[k], body.name).matrix(), atol=1e-12
            )
            np.testing.assert_allclose(
                twists[k, b], catena.body_twist(tree, state, body.name), atol=1e-11
            )


def test_the_same_bits_for_any_number_of_threads_and_neighbours():
    arm = catena.load(MODELS / "arm7.yaml")
    q, v, effort = rows(arm, 101)
    whole = catena.batch_forward_dynamics(arm, q, v, effort)
    for threads in (1, 2):
        workspace = catena.BatchWorkspace(arm, threads=threads)
        np.testing.assert_array_equal(
            catena.batch_forward_dynamics(arm, q, v, effort, workspace), whole
        )
    np.testing.assert_array_equal(
        catena.batch_forward_dynamics(arm, q[50:53], v[50:53], effort[50:53]), whole[50:53]
    )


def test_out_and_layouts():
    arm = catena.load(MODELS / "arm7.yaml")
    q, v, effort = rows(arm, 20)
    expected = catena.batch_forward_dynamics(arm, q, v, effort)
    out = np.empty((20, 7))
    assert catena.batch_forward_dynamics(arm, q, v, effort, out=out) is out
    np.testing.assert_array_equal(out, expected)
    wide = np.zeros((20, 30))
    wide[:, 3:10] = q
    np.testing.assert_array_equal(
        catena.batch_forward_dynamics(arm, wide[:, 3:10], np.asfortranarray(v), effort.tolist()),
        expected,
    )
    np.testing.assert_array_equal(
        catena.batch_forward_dynamics(arm, q), catena.batch_forward_dynamics(arm, q, 0 * v, 0 * v)
    )


def test_hybrid():
    arm = catena.load(MODELS / "arm7.yaml")
    q, v, effort = rows(arm, 12)
    wanted = np.ones((12, 7))
    driven = [arm.velocity_names[0], arm.velocity_names[3]]
    acceleration, found = catena.batch_hybrid_dynamics(arm, q, v, driven, effort, wanted)
    for k in (0, 11):
        one = catena.hybrid_dynamics(arm, catena.State(arm, q[k], v[k]), driven, effort[k], wanted[k])
        np.testing.assert_allclose(acceleration[k], one.acceleration, atol=1e-9)
        np.testing.assert_allclose(found[k], one.effort, atol=1e-9)


def test_external_wrenches():
    """Those of one state at a time, constant or a row for each."""
    arm = catena.load(MODELS / "arm7.yaml")
    q, v, effort = rows(arm, 11)
    last = arm.bodies[-1].name
    forces = np.array([catena.random_vector(3, k + 20) for k in range(11)])
    moments = np.array([catena.random_vector(3, k + 40) for k in range(11)])
    point, constant = [0.1, 0.2, -0.1], [0.0, 3.0, -1.0]

    def of(k):
        return [
            {"body": last, "force": forces[k], "point": point, "axes": "ground"},
            {"body": arm.bodies[2].name, "moment": moments[k], "force": constant},
        ]

    external = [
        {"body": last, "force": forces, "point": point, "axes": "ground"},
        {"body": arm.bodies[2].name, "moment": moments, "force": constant},
    ]
    found = catena.batch_forward_dynamics(arm, q, v, effort, external=external)
    back = catena.batch_inverse_dynamics(arm, q, v, found, external=external)
    driven = [arm.velocity_names[1]]
    hybrid, _ = catena.batch_hybrid_dynamics(arm, q, v, driven, effort, 0 * effort, external=external)
    for k in range(11):
        state = catena.State(arm, q[k], v[k])
        one = catena.forward_dynamics(arm, state, effort[k], external=of(k))
        np.testing.assert_allclose(found[k], one, atol=AGREE * np.max(np.abs(one)))
        np.testing.assert_allclose(back[k], effort[k], atol=1e-9)
        one = catena.hybrid_dynamics(arm, state, driven, effort[k], external=of(k)).acceleration
        np.testing.assert_allclose(hybrid[k], one, atol=AGREE * np.max(np.abs(one)))
    # An ExternalWrench, or one dictionary, is the same for all states.
    wrench = catena.ExternalWrench(arm, last, force=constant)
    np.testing.assert_array_equal(
        catena.batch_forward_dynamics(arm, q, v, effort, external=wrench),
        catena.batch_forward_dynamics(arm, q, v, effort, external={"body": last, "force": [constant] * 11}),
    )
    assert "force" in external[0]  # the caller's dictionaries are left alone
    with pytest.raises(ValueError, match=r"\(3,\) or \(11, 3\)"):
        catena.batch_forward_dynamics(arm, q, external={"body": last, "force": forces[:5]})
    with pytest.raises(catena.UnknownNameError, match="nobody"):
        catena.batch_forward_dynamics(arm, q, external={"body": "nobody", "force": forces})


def test_a_state_that_fails_is_named_and_the_others_are_there():
    arm = catena.load(MODELS / "arm7.yaml")
    q, v, effort = rows(arm, 9)
    good = catena.batch_forward_dynamics(arm, q, v, effort)
    q[4, 2] = np.nan
    with pytest.raises(catena.NumericalError, match="1 of 9 states failed; the first is 4"):
        catena.batch_forward_dynamics(arm, q, v, effort)
    workspace = catena.BatchWorkspace(arm)
    found = catena.batch_forward_dynamics(arm, q, v, effort, workspace)
    assert workspace.failures == 1 and list(np.flatnonzero(workspace.failed)) == [4]
    assert arm.position_names[2] in workspace.message(4) and workspace.message(3) == ""
    assert np.all(np.isnan(found[4]))
    np.testing.assert_array_equal(np.delete(found, 4, 0), np.delete(good, 4, 0))


def test_closed():
    bar = four_bar()
    states = [
        catena.assemble(bar, catena.State(bar, [a, 0, 0]), fixed=["A"]) for a in (-1.2, -1.0, -0.8)
    ]
    q = np.array([s.q for s in states])
    found = catena.batch_forward_dynamics(bar, q)
    for k, state in enumerate(states):
        np.testing.assert_allclose(found[k], catena.forward_dynamics(bar, state), rtol=1e-8)


def test_mistakes_are_named():
    arm = catena.load(MODELS / "arm7.yaml")
    q, v, effort = rows(arm, 3)
    with pytest.raises(catena.NumericalError, match=r"q has the shape \(3, 6\), but \(B, 7\)"):
        catena.batch_forward_dynamics(arm, q[:, :6])
    with pytest.raises(catena.NumericalError, match=r"v has the shape \(2, 7\), but \(3, 7\)"):
        catena.batch_forward_dynamics(arm, q, v[:2])
    with pytest.raises(ValueError, match="shape"):
        catena.batch_forward_dynamics(arm, q, out=np.zeros((2, 7)))


def test_derivatives_of_many_states(tree):
    n = tree.freedoms
    q, v, effort = rows(tree, 13)
    batch = catena.BatchDerivatives(tree)
    acceleration, dq, dv, deffort = batch.forward(q, v, effort)
    assert dq.shape == dv.shape == deffort.shape == (13, n, n)
    tau_dq, tau_dv, masses = batch.inverse(q, v, acceleration)
    assert batch.failures == 0
    for k in range(0, 13, 4):
        one = catena.forward_dynamics(tree, catena.State(tree, q[k], v[k]), effort[k])
        np.testing.assert_allclose(acceleration[k], one, atol=AGREE * np.max(np.abs(one)))
        np.testing.assert_allclose(deffort[k] @ masses[k], np.eye(n), atol=1e-8)
        # ∂v̇/∂x = −M⁻¹ ∂τ/∂x, and a difference along a random direction.
        for forward, inverse in ((dq[k], tau_dq[k]), (dv[k], tau_dv[k])):
            scale = np.max(np.abs(forward))
            np.testing.assert_allclose(-deffort[k] @ inverse, forward, atol=1e-9 * scale)
        direction = catena.random_vector(n, k)
        step = 1e-5
        ahead, behind = (
            catena.forward_dynamics(
                tree,
                catena.State(tree, catena.integrate(tree, q[k], s * step * direction), v[k]),
                effort[k],
            )
            for s in (1.0, -1.0)
        )
        difference = (ahead - behind) / (2 * step)
        scale = np.max(np.abs(dq[k])) * np.max(np.abs(direction))
        np.testing.assert_allclose(dq[k] @ direction, difference, atol=1e-6 * scale)


def test_derivatives_of_bad_states():
    arm = catena.load(MODELS / "arm7.yaml")
    q, v, effort = rows(arm, 5)
    q[3, 2] = np.nan
    batch = catena.BatchDerivatives(arm)
    acceleration, dq, _, _ = batch.forward(q, v, effort)
    assert list(batch.failed) == [False, False, False, True, False]
    assert np.isnan(dq[3]).all() and np.isfinite(dq[4]).all() and np.isfinite(acceleration[2]).all()
    assert batch.message(3) != "" and batch.message(4) == ""


def test_derivatives_of_closed_mechanisms():
    bar = four_bar()
    angles = (-1.2, -1.0, -0.8)
    guesses = [catena.State(bar, [a, 0, 0]) for a in angles]
    q = np.array([catena.assemble(bar, guess, fixed=["A"]).q for guess in guesses])
    batch = catena.BatchDerivatives(bar)
    acceleration, dq, _, deffort = batch.forward(q)
    assert batch.failures == 0 and acceleration.shape == (3, 3)
    (own,) = batch.independent
    others = [i for i in range(3) if i != own]
    assert not dq[:, others].any() and not dq[:, :, others].any()
    name = bar.velocity_names[own]
    for k in range(3):

        def at(step, k=k):
            moved = q[k].copy()
            moved[own] += step
            state = catena.assemble(bar, catena.State(bar, moved), fixed=[name])
            return catena.forward_dynamics(bar, state)[own]

        step = 1e-4
        difference = (8 * (at(step) - at(-step)) - (at(2 * step) - at(-2 * step))) / (12 * step)
        np.testing.assert_allclose(dq[k, own, own], difference, rtol=1e-6)
        for i in range(3):
            effort = np.zeros(3)
            effort[i] = 1.0
            state = catena.State(bar, q[k])
            change = catena.forward_dynamics(bar, state, effort) - acceleration[k]
            np.testing.assert_allclose(deffort[k, own, i], change[own], rtol=1e-6, atol=1e-9)
