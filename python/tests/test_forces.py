"""Rods and couplings by name, and what redundancy leaves open of them."""
import numpy as np
import pytest

import catena

MASS, WEIGHT = 3.0, 3.0 * 9.81


def hung(rods):
    """A ball on rods of 0.5 m straight below their point; it hangs still."""
    builder = catena.MechanismBuilder("hung")
    builder.add_body("ball", mass=MASS, inertia=[0.01, 0.01, 0.01])
    builder.add_hinge("way", "world", "ball", type="translation", initial_position=[0, 0, -0.5])
    for name in rods:
        builder.add_rod(name=name, body_a="world", body_b="ball", length=0.5)
    return builder.finish()


def forces_at_rest(robot):
    state = robot.default_state()
    forces = catena.InterbodyForces(robot)
    forces.compute(state, catena.forward_dynamics(robot, state), effort=np.zeros(robot.freedoms))
    return forces


def test_a_rod_by_its_name():
    forces = forces_at_rest(hung(["cord"]))
    assert forces.rod_tension("cord") == pytest.approx(WEIGHT, rel=1e-12)
    assert forces.rod_tension(0) == forces.rod_tension("cord")
    assert not forces.undetermined_rod("cord")
    with pytest.raises(catena.UnknownNameError, match="no rod 'crd'.*cord"):
        forces.rod_tension("crd")
    with pytest.raises(catena.UnknownNameError, match="no rod 1"):
        forces.undetermined_rod(1)
    with pytest.raises(TypeError, match="name or index"):
        forces.rod_tension(0.5)


def test_two_rods_at_one_place_share_the_weight_openly():
    forces = forces_at_rest(hung(["left", "right"]))
    assert forces.undetermined_rod("left") and forces.undetermined_rod("right")
    assert forces.rod_tension("left") + forces.rod_tension("right") == pytest.approx(WEIGHT)


def test_a_gear_by_its_name():
    """Wheels of inertias a and b, b = -2 a turned: the torque 1 at a gives α = 1 / (a + 4 b); the
    gear takes b 2 α from wheel b, which is λ times its coefficient there."""
    builder = catena.MechanismBuilder("gear")
    for name, inertia in (("a", 0.3), ("b", 0.1)):
        builder.add_body(name, mass=1.0, inertia=[inertia, inertia, inertia])
        builder.add_hinge(name, "world", name, axes="z")
    builder.add_gear("mesh", "b", "a", ratio=-2.0)
    robot = builder.finish()
    state = robot.default_state()
    acceleration = catena.forward_dynamics(robot, state, {"a": 1.0})
    alpha = 1.0 / (0.3 + 4 * 0.1)
    assert acceleration[robot.velocity_index("a")] == pytest.approx(alpha)
    forces = catena.InterbodyForces(robot)
    forces.compute(state, acceleration, effort={"a": 1.0})
    coupling = robot.description.couplings[0]
    assert coupling.name == "mesh" and not forces.undetermined_coupling("mesh")
    at_b = next(term.coefficient for term in coupling.terms if term.hinge == "b")
    assert forces.coupling_multiplier("mesh") * at_b == pytest.approx(-2 * 0.1 * alpha)
    with pytest.raises(catena.UnknownNameError, match="no coupling 'mush'.*mesh"):
        forces.coupling_multiplier("mush")
