"""Collision shapes against each other: distances, and a run with them."""
import numpy as np
import pytest

import catena

MODEL = """
catena: 1
bodies:
  table: {mass: 1, inertia: [1, 1, 1], collisions: [{shape: box, size: [1, 1, 0.2]}]}
  ball: {mass: 2, inertia: [0.008, 0.008, 0.008], collisions: [{shape: sphere, radius: 0.1, friction: 0.5}]}
hinges:
  W: {type: weld, parent: world, child: table}
  B: {type: free, parent: world, child: ball}
"""


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "scene.yaml"
    path.write_text(MODEL)
    return catena.load(str(path))


def at_height(mechanism, z):
    q = np.array(mechanism.default_state().q)
    q[6] = z
    return q


def test_distance(scene):
    (contact,) = catena.shape_contacts(scene, at_height(scene, 0.25), 0.1)
    assert {contact.shape_a, contact.shape_b} == {"table.collision", "ball.collision"}
    assert contact.distance == pytest.approx(0.05, abs=1e-14)
    np.testing.assert_allclose(np.abs(contact.normal), [0, 0, 1], atol=1e-14)
    assert catena.shape_contacts(scene, at_height(scene, 0.35), 0.1) == []
    assert catena.shape_contacts(scene, at_height(scene, 0.25), 0.1, ignore=[("ball", "world")]) == []
    with pytest.raises(catena.UnknownNameError, match="bal"):
        catena.shape_contacts(scene, at_height(scene, 0.25), 0.1, ignore=[("bal", "world")])


def test_ball_comes_to_rest_on_the_table(scene):
    state = scene.default_state()
    state.q = at_height(scene, 0.3)
    run = catena.simulate(scene, state, duration=0.5, settings={"collisions": {"friction": 0.4}})
    assert run.state().q[6] == pytest.approx(0.2, abs=1e-6)
