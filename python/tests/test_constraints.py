"""Multipliers, switched constraints and chains that hold a body, against NumPy's own algebra."""
import numpy as np
import pytest

import catena
from conftest import four_bar, pendulum


def double_pendulum():
    builder = pendulum().edit()
    builder.attach(pendulum().description, "second_", "link", [0, 0, -1.5])
    return builder.finish()


def held(mechanism, state, effort, rows, bias):
    """M a + C = effort + Jᵀ λ, J a + J̇ v = 0, dense."""
    m, c = catena.mass_matrix(mechanism, state), catena.bias_effort(mechanism, state)
    k = len(rows)
    kkt = np.block([[m, -rows.T], [rows, np.zeros((k, k))]])
    solution = np.linalg.solve(kkt, np.concatenate([effort - c, -bias]))
    return solution[: len(m)], solution[len(m) :]


def test_multipliers_are_the_embedded_loops():
    bar = four_bar()
    state = catena.assemble_near(bar, bar.default_state())
    effort = np.array([0.7, -0.2, 0.4])
    report = catena.multiplier_dynamics(bar, state, effort)
    expected = catena.forward_dynamics(bar, state, effort, route="recursive")
    np.testing.assert_allclose(report.acceleration, expected, rtol=1e-9)
    np.testing.assert_allclose(
        catena.forward_dynamics(bar, state, effort, route="multipliers"), expected, rtol=1e-9
    )
    # Five rows of a revolute hinge in the plane: three say nothing new.
    assert (len(report.rows), report.rank, report.redundant) == (5, 2, 3)
    assert all("'C'" in row.constraint for row in report.rows)


def test_absolute_form():
    mechanism = double_pendulum()
    state = catena.State(mechanism, [0.5, -0.3], [0.4, 0.2])
    heap = catena.absolute_form(mechanism)
    assert heap.freedoms == 12
    there = catena.absolute_state(mechanism, state, heap)
    for body in ("link", "second_link"):
        np.testing.assert_allclose(
            catena.body_pose(heap, there, body).matrix(),
            catena.body_pose(mechanism, state, body).matrix(),
            atol=1e-14,
        )
    acceleration = catena.forward_dynamics(mechanism, state)
    found = catena.forward_dynamics(heap, there, route="multipliers")
    np.testing.assert_allclose(
        catena.body_acceleration(heap, there, "second_link", found),
        catena.body_acceleration(mechanism, state, "second_link", acceleration),
        atol=1e-8,
    )


def test_attachment_is_switched():
    mechanism = double_pendulum()
    state = catena.State(mechanism, [0.5, -0.3], [0.0, 0.0])
    constraints = catena.ConstraintSet(mechanism)
    constraints.add_attachment(
        "grip", "second_link", "world", frame_a=[0, 0, -1.5], type="spherical", as_it_is=True
    )
    free = catena.forward_dynamics(mechanism, state)
    np.testing.assert_allclose(constraints.forward(state), free, rtol=1e-12)
    constraints.activate("grip", state)
    assert constraints.active("grip") and constraints.names == ["grip"]
    # Both freedoms are needed for the point: nothing moves any more.
    np.testing.assert_allclose(constraints.forward(state), 0, atol=1e-9)
    constraints.release("grip")
    np.testing.assert_allclose(constraints.forward(state), free, rtol=1e-12)
    with pytest.raises(catena.UnknownNameError, match="'grip'"):
        constraints.activate("gripp", state)


def test_contact_slides_without_friction():
    mechanism = double_pendulum()
    state = catena.State(mechanism, [0.5, -0.3], [0.0, 0.0])
    tip = [0, 0, -1.5]
    height = catena.point_position(mechanism, state, "second_link", tip)[2]
    constraints = catena.ConstraintSet(mechanism)
    constraints.add_contact("floor", "second_link", center=tip, plane_point=[0, 0, height])
    constraints.look(state)
    assert constraints.contact_gap("floor") == pytest.approx(0.0, abs=1e-14)
    constraints.set_mode("floor", "sliding", [1, 0, 0])
    rows = catena.body_jacobian(mechanism, state, "second_link", tip)[[5]]
    bias = catena.jacobian_rate_times_velocity(mechanism, state, "second_link", tip)[[5]]
    acceleration, force = held(mechanism, state, np.zeros(2), rows, bias)
    np.testing.assert_allclose(constraints.forward(state), acceleration, rtol=1e-9)
    normal, friction = constraints.contact_force("floor")
    assert normal == pytest.approx(force[0], rel=1e-9)
    np.testing.assert_allclose(friction, 0, atol=1e-12)


def test_lock_takes_what_holds_it():
    mechanism = double_pendulum()
    state = catena.State(mechanism, [0.5, -0.3], [0.4, 0.0])
    constraints = catena.ConstraintSet(mechanism)
    constraints.add_lock("brake", "second_pivot")
    constraints.activate("brake", state)
    hybrid = catena.hybrid_dynamics(mechanism, state, ["second_pivot"])
    np.testing.assert_allclose(constraints.forward(state), hybrid.acceleration, atol=1e-9)
    assert constraints.effort("brake") == pytest.approx(hybrid.effort[1], rel=1e-9)


def test_servo_moves_the_tip():
    mechanism = double_pendulum()
    state = catena.State(mechanism, [0.5, -0.8], [0.3, -0.1])
    tip = [0, 0, -1.5]
    constraints = catena.ConstraintSet(mechanism)
    constraints.add_servo(
        "hand", "second_link", tip, [[1, 0, 0], [0, 0, 1]], actuators=["pivot", "second_pivot"]
    )
    position = catena.point_position(mechanism, state, "second_link", tip)[[0, 2]]
    velocity = catena.point_velocity(mechanism, state, "second_link", tip)[[0, 2]]
    constraints.set_target("hand", list(position), list(velocity), [0.5, -0.2])
    constraints.activate("hand", state)
    acceleration = constraints.forward(state)
    found = catena.point_acceleration(mechanism, state, "second_link", tip, acceleration)
    np.testing.assert_allclose(found[[0, 2]], [0.5, -0.2], atol=1e-9)
    np.testing.assert_allclose(
        constraints.servo_efforts(), catena.inverse_dynamics(mechanism, state, acceleration), rtol=1e-9
    )


def test_chains_on_a_body():
    """Two arms hold a box: against the dense equations with the same rows."""
    builder = catena.MechanismBuilder("grasp")
    builder.add_body("box", mass=2.0, inertia=[0.1, 0.2, 0.15])
    builder.add_hinge("float", "world", "box", type="free")
    for side in (-1, 1):
        parent = "world"
        for i in range(3):
            name = f"arm{side}_{i}"
            builder.add_body(name, mass=1.0, center_of_mass=[0, 0, 0.2], inertia=[0.02, 0.02, 0.01])
            at = [side * 1.0, 0, -0.3] if i == 0 else [0, 0, 0.4]
            axis = [[0, 1, 0], [1, 0, 0], [0, 1, 0]][i]
            builder.add_hinge(f"h{side}_{i}", parent, name, axes=[axis], frame_on_parent=at)
            parent = name
    grasp = builder.finish()
    state = catena.State(grasp)
    for side in (-1, 1):
        for i, angle in enumerate((0.3, 0.2, -0.4)):
            state[f"h{side}_{i}"] = side * angle
    contacts, rows, bias = [], [], []
    for side in (-1, 1):
        tip = catena.point_position(grasp, state, f"arm{side}_2", [0, 0, 0.4])
        contacts.append(
            catena.ChainContact(
                grasp, f"finger{side}", f"arm{side}_2", "box", frame=[0, 0, 0.4], on_other=tip,
                type="spherical",
            )
        )  # fmt: skip
        for j in range(3):
            rows.append(
                catena.body_jacobian(grasp, state, "box", tip)[3 + j]
                - catena.body_jacobian(grasp, state, f"arm{side}_2", [0, 0, 0.4])[3 + j]
            )
            bias.append(0.0)  # at rest
    chains = catena.ChainsOnBody(grasp, "box", contacts)
    effort = catena.random_vector(grasp.freedoms, 3)
    found = chains.forward(state, effort)
    expected, forces = held(grasp, state, effort, np.array(rows), np.array(bias))
    np.testing.assert_allclose(found.acceleration, expected, atol=1e-8)
    # On the box; the box is not turned here.
    np.testing.assert_allclose(found.wrenches[0][3:], forces[:3], atol=1e-8)
    chains.set_active("finger1", False)
    one, _ = held(grasp, state, effort, np.array(rows[:3]), np.zeros(3))
    np.testing.assert_allclose(chains.forward(state, effort).acceleration, one, atol=1e-8)


def test_chains_opened_from_a_closed_mechanism():
    """The same grasp as a closed mechanism: its own dynamics, by the other road."""
    builder = catena.MechanismBuilder("grasp")
    builder.add_body("box", mass=2.0, inertia=[0.1, 0.2, 0.15])
    builder.add_hinge("float", "world", "box", type="free")
    for side in (-1, 1):
        parent = "world"
        for i, axis in enumerate(([0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0])):
            name = f"arm{side}_{i}"
            builder.add_body(name, mass=1.0, center_of_mass=[0, 0, 0.2], inertia=[0.02, 0.02, 0.01])
            at = [side * 0.8, 0, -0.3] if i == 0 else [0, 0, 0.3]
            builder.add_hinge(f"h{side}_{i}", parent, name, axes=[axis], frame_on_parent=at)
            parent = name
        builder.add_hinge(
            f"finger{side}", parent, "box", type="spherical",
            frame_on_parent=[0, 0, 0.3], frame_on_child=[side * 0.25, 0, 0], cut="always",
        )  # fmt: skip
    grasp = builder.finish()
    guess = catena.State(grasp)
    for side in (-1, 1):
        for i, angle in enumerate((-0.6, 0.2, 0.1, -0.4)):
            guess[f"h{side}_{i}"] = side * angle
    state = catena.assemble(grasp, guess)
    effort = catena.random_vector(grasp.freedoms, 3)
    tree, contacts = catena.open_chains(grasp, "box")
    assert [c.name for c in contacts] == ["finger-1", "finger1"]
    opened = catena.State(tree, state.q, state.v)
    found = catena.ChainsOnBody(tree, "box", contacts).forward(opened, effort[: tree.freedoms])
    expected = catena.forward_dynamics(grasp, state, effort)
    np.testing.assert_allclose(found.acceleration, expected[: tree.freedoms], atol=1e-8)
