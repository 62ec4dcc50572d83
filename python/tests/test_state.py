"""States: by name, and as views that never dangle."""
import gc

import numpy as np
import pytest

import catena
from conftest import MODELS, four_bar, pendulum


@pytest.fixture
def craft():
    return catena.load(MODELS / "quadruped.yaml")


def test_by_name():
    state = pendulum().default_state()
    state["pivot"] = 0.6
    state["v.pivot"] = 1.4
    assert state["pivot"] == state["q.pivot"] == state.q[0] == 0.6
    assert state["v.pivot"] == state.v[0] == 1.4
    assert repr(state) == "State(q.pivot=0.6, v.pivot=1.4)"


def test_hinges_with_several_coordinates(craft):
    free = next(h for h in craft.hinges if h.type == catena.HingeType.free)
    state = craft.default_state()
    pose = state[free.name]
    assert pose.shape == (7,) and state["v." + free.name].shape == (6,)
    pose[4:] = [1, 2, 3]  # a view
    assert state[free.name + ".z"] == 3.0
    state["v." + free.name] = np.arange(6)
    assert state["v." + free.name + ".wy"] == 1.0


def test_views(craft):
    state = craft.default_state()
    q = state.q
    q[-1] = 0.25
    assert state.q[-1] == 0.25
    state.q = np.roll(np.asarray(q), 0)
    assert np.shares_memory(q, state.q)
    del state
    gc.collect()
    assert q[-1] == 0.25  # the memory lives as long as the view


def test_sizes_and_names_are_checked():
    state = pendulum().default_state()
    with pytest.raises(catena.NumericalError, match="2 entries"):
        state.q = [1, 2]
    with pytest.raises(catena.UnknownNameError, match="'pivot'"):
        state["pivvot"]
    with pytest.raises(catena.NumericalError, match="1 entries"):
        state["pivot"] = [1, 2]
    with pytest.raises(TypeError, match="numbers"):
        state["pivot"] = "fast"
    with pytest.raises(catena.UnknownNameError, match="closes a loop"):
        four_bar().default_state()["C"]


def test_integrate_and_difference_are_inverse(craft):
    q = catena.random_position(craft, 5)
    v = 0.3 * catena.random_vector(craft.freedoms, 6)
    there = catena.integrate(craft, q, v)
    np.testing.assert_allclose(catena.difference(craft, q, there), v, atol=1e-14)
    # A turn by |w| about w: the quaternion by its textbook formula.
    free = next(h for h in craft.hinges if h.type == catena.HingeType.free)
    start = catena.zero_position(craft)
    w = np.array([0.1, -0.2, 0.3])
    moved = catena.integrate(craft, start, {free.name: [*w, 0, 0, 0]})
    angle = np.linalg.norm(w)
    expected = [np.cos(angle / 2), *(np.sin(angle / 2) * w / angle)]
    np.testing.assert_allclose(moved[free.q_index : free.q_index + 4], expected, atol=1e-15)


def test_transform():
    x = catena.Transform([1, 2, 3], [np.cos(0.2), 0, 0, np.sin(0.2)])  # 0.4 rad about z
    c, s = np.cos(0.4), np.sin(0.4)
    np.testing.assert_allclose(x.rotation, [[c, -s, 0], [s, c, 0], [0, 0, 1]], atol=1e-15)
    y = catena.Transform.from_rpy(0.1, -0.2, 0.3, [0, 1, 0])
    np.testing.assert_allclose((x @ y).matrix(), x.matrix() @ y.matrix(), atol=1e-15)
    np.testing.assert_allclose(x.inverse().matrix(), np.linalg.inv(x.matrix()), atol=1e-15)
    points = np.random.default_rng(1).normal(size=(5, 3))
    np.testing.assert_allclose(
        x.apply(points), points @ x.rotation.T + x.translation, atol=1e-15
    )
    np.testing.assert_array_equal(np.asarray(x), x.matrix())
    np.testing.assert_allclose(x.quaternion, [np.cos(0.2), 0, 0, np.sin(0.2)], atol=1e-15)


def test_a_state_file(tmp_path):
    arm = catena.load(MODELS / "arm7.yaml")
    names = [h.name for h in arm.hinges][:3]
    path = tmp_path / "state.yaml"
    path.write_text(
        f"q: {{{names[0]}: 0.3}}\nv: {{{names[1]}: -2}}\neffort: {{{names[2]}: 5}}\nmotion_driven: [{names[0]}]\n"
    )
    state, said = catena.read_state_file(path, arm)
    assert state[names[0]] == 0.3 and state["v." + names[1]] == -2.0
    assert said.effort[arm.velocity_index(names[2])] == 5.0 and sum(abs(said.effort)) == 5.0
    assert said.motion_driven[arm.velocity_index(names[0])] and sum(said.motion_driven) == 1
    path.write_text("q: {sholder: 1}\n")
    with pytest.raises(catena.ModelError, match="state.yaml:1"):
        catena.read_state_file(path, arm)


def test_a_state_file_closes_loops(tmp_path):
    path = tmp_path / "state.yaml"
    path.write_text("q: {A: -0.8}\n")
    bar = four_bar()
    state, _ = catena.read_state_file(path, bar)
    assert state["A"] == pytest.approx(-0.8, abs=1e-14)
    assert catena.closure_gap(bar, state) < 1e-12


def test_the_processor():
    report = catena.cpu_report()
    assert report.used in report.built and "sse2" in report.built and report.hardware_threads >= 1
