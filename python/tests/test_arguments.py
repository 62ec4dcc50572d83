"""What a user gives by mistake gets an error with words, and what is natural is taken."""
import subprocess
import sys

import numpy as np
import pytest

import catena
from conftest import MODELS, four_bar, pendulum, random_state

# Each call in a process of its own would take minutes: one process, which says what it tries.
TRY_NONE = """
import inspect, catena
mistakes = []
for name in catena.__all__:
    f = getattr(catena, name)
    if not callable(f) or name in {"view"} or (inspect.isclass(f) and issubclass(f, BaseException)):
        continue
    for others in ([], [None], [None, None], [None, None, None]):
        print(name, len(others), flush=True)
        try:
            f(None, *others)
        except (TypeError, ValueError, catena.Error):
            continue
        except Exception as error:
            mistakes.append((name, others, type(error).__name__, str(error)))
print("mistakes", mistakes, flush=True)
assert not mistakes
"""


def test_none_is_no_mechanism(tmp_path):
    tried = subprocess.run(
        [sys.executable, "-c", TRY_NONE], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert tried.returncode == 0, (tried.stdout[-300:], tried.stderr[-500:])


def test_none_is_no_mechanism_in_words():
    arm = catena.load(MODELS / "arm6.yaml")
    for call in (
        lambda: catena.State(None),
        lambda: catena.Workspace(None),
        lambda: catena.batch_forward_dynamics(None, np.zeros((2, 6))),
        lambda: catena.absolute_state(arm, arm.default_state(), None),
        lambda: catena.linearize(None, arm.default_state()),
    ):
        with pytest.raises(TypeError):
            call()


def test_none_is_no_workspace_where_it_is_kept():
    arm = catena.load(MODELS / "arm6.yaml")
    forces = catena.InterbodyForces(arm)
    with pytest.raises(TypeError, match="Workspace"):
        forces.collect(arm.default_state(), None, None)
    space = catena.OperationalSpace(arm, [catena.TaskFrame(arm, 0)])
    with pytest.raises(TypeError, match="Workspace"):
        space.update(None)


def test_fresh_workspace_says_what_to_call():
    arm = catena.load(MODELS / "arm6.yaml")
    n = arm.freedoms
    for call, remedy in (
        (lambda w: catena.body_pose(arm, w, 2), "update_kinematics"),
        (lambda w: catena.center_of_mass(arm, w), "update_kinematics"),
        (lambda w: catena.body_jacobian(arm, w, 2), "update_kinematics"),
        (lambda w: catena.body_twist(arm, w, 2), "update_kinematics"),
        (lambda w: catena.momentum(arm, w), "update_kinematics"),
        (lambda w: catena.body_acceleration(arm, w, 2), "update_accelerations"),
        (lambda w: catena.update_poses(arm, w), "update_kinematics"),
        (lambda w: catena.apply_mass_matrix(w, np.ones(n)), "update_kinematics"),
        (lambda w: catena.apply_inverse_mass_matrix(w, np.ones(n)), "articulate"),
        (lambda w: catena.determinant_mass_matrix(w), "articulate"),
        (lambda w: catena.inverse_mass_matrix(w), "articulate"),
        (lambda w: catena.dense_operators(w), "articulate"),
    ):
        with pytest.raises(catena.Error, match=remedy):
            call(catena.Workspace(arm))
    with pytest.raises(catena.Error, match="evaluate"):
        catena.DynamicsProducts(arm).forward_product(np.ones(n), np.ones(n), np.ones(n))


def test_prepared_workspace_serves_its_queries():
    arm = catena.load(MODELS / "arm6.yaml")
    state = random_state(arm)
    workspace = catena.Workspace(arm)
    effort = catena.inverse_dynamics(arm, state, np.zeros(arm.freedoms), workspace)
    catena.update_poses(arm, workspace)
    np.testing.assert_allclose(
        catena.body_pose(arm, workspace, 3).matrix(),
        catena.body_pose(arm, state, 3).matrix(),
        atol=1e-15,
    )
    np.testing.assert_allclose(
        catena.body_acceleration(arm, workspace, 3),
        catena.body_acceleration(arm, state, 3, acceleration=np.zeros(arm.freedoms)),
        atol=1e-12,
    )
    catena.forward_dynamics(arm, state, effort, workspace)
    x = np.arange(1.0, 1.0 + arm.freedoms)
    np.testing.assert_allclose(
        catena.apply_inverse_mass_matrix(workspace, x),
        np.linalg.solve(catena.mass_matrix(arm, state), x),
        rtol=1e-9,
    )
    products = catena.DynamicsProducts(arm)
    products.evaluate(state, effort)
    zero = np.zeros(arm.freedoms)
    np.testing.assert_allclose(
        products.forward_product(zero, zero, x),
        np.linalg.solve(catena.mass_matrix(arm, state), x),
        rtol=1e-9,
    )


def test_a_state_belongs_to_its_names():
    arm = catena.load(MODELS / "arm6.yaml")
    builder = arm.edit()
    builder.freedom(arm.velocity_names[0], damping=2.0)
    edited = builder.finish()  # the same names
    state = random_state(arm)
    own = catena.forward_dynamics(edited, catena.State(edited, state.q, state.v))
    assert np.array_equal(catena.forward_dynamics(edited, state), own)
    double = catena.load(MODELS / "double_pendulum.yaml")
    cart = catena.load(MODELS / "cart_pendulum.yaml")
    assert double.freedoms == cart.freedoms
    with pytest.raises(catena.Error, match="another mechanism"):
        catena.forward_dynamics(double, cart.default_state())
    with pytest.raises(catena.Error, match="another mechanism"):
        catena.body_pose(double, cart.default_state(), 0)
    with pytest.raises(catena.Error, match="another mechanism"):
        catena.simulate(double, cart.default_state(), duration=0.1)


def test_state_by_name():
    arm = catena.load(MODELS / "arm6.yaml")
    name = arm.velocity_names[1]
    state = catena.State(arm, {name: 0.3}, {name: 1.5})
    assert state.q[1] == 0.3 and state.v[1] == 1.5 and np.count_nonzero(state.v) == 1
    view = state.v
    state.v = {f"v.{name}": 2.0}
    assert state.v[1] == 2.0 and view[1] == 2.0
    assert name in state and f"v.{name}" in state and "nothing" not in state and 3 not in state
    assert list(state) == [f"q.{n}" for n in arm.position_names] + [
        f"v.{n}" for n in arm.velocity_names
    ]
    with pytest.raises(catena.UnknownNameError):
        state.v = {"nothing": 1.0}
    with pytest.raises(TypeError):
        state.v = {1: 1.0}
    quadruped = catena.load(MODELS / "quadruped.yaml")
    base = next(h for h in quadruped.hinges if h.freedoms == 6)
    moving = catena.State(quadruped, None, {base.name: np.arange(6.0)})
    assert np.array_equal(moving.v[base.v_index : base.v_index + 6], np.arange(6.0))


def test_masks_may_be_lists_of_booleans():
    arm = catena.load(MODELS / "arm6.yaml")
    state = random_state(arm)
    mask = [True, False] * 3
    by_list = catena.hybrid_dynamics(arm, state, mask)
    by_array = catena.hybrid_dynamics(arm, state, np.array(mask))
    by_index = catena.hybrid_dynamics(arm, state, [0, 2, 4])
    assert np.array_equal(by_list.effort, by_array.effort)
    assert np.array_equal(by_list.effort, by_index.effort)
    with pytest.raises(catena.NumericalError, match="mask"):
        catena.hybrid_dynamics(arm, state, [True])


def test_batches_by_name():
    arm = catena.load(MODELS / "arm6.yaml")
    q = np.random.default_rng(1).uniform(-1, 1, (5, arm.coordinates))
    first, last = arm.velocity_names[0], arm.velocity_names[-1]
    effort = np.zeros((5, arm.freedoms))
    effort[:, 0] = 2.0
    effort[:, -1] = np.arange(5)
    named = {first: 2.0, last: np.arange(5)}
    assert np.array_equal(
        catena.batch_forward_dynamics(arm, q, None, named),
        catena.batch_forward_dynamics(arm, q, None, effort),
    )
    assert np.array_equal(
        catena.batch_forward_dynamics(arm, q, v=named), catena.batch_forward_dynamics(arm, q, v=effort)
    )
    with pytest.raises(catena.NumericalError, match=last):
        catena.batch_forward_dynamics(arm, q, None, {last: np.arange(4)})


def test_numbers_are_real():
    arm = catena.load(MODELS / "arm6.yaml")
    n = arm.freedoms
    for wrong in (np.ones(n) * 1j, [1j] * n, ["1"] * n, [None] * n):
        with pytest.raises(TypeError):
            catena.forward_dynamics(arm, arm.default_state(), wrong)
        with pytest.raises(TypeError):
            catena.State(arm, wrong)
    with pytest.raises(TypeError):
        catena.batch_forward_dynamics(arm, np.ones((2, n)) * 1j)


def test_out_says_what_is_wrong():
    arm = catena.load(MODELS / "arm6.yaml")
    n = arm.freedoms
    q = np.zeros((5, arm.coordinates))
    with pytest.raises(ValueError, match="C order"):
        catena.batch_forward_dynamics(arm, q, out=np.empty((5, n), order="F"))
    fixed = np.empty((5, n))
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        catena.batch_forward_dynamics(arm, q, out=fixed)
    with pytest.raises(ValueError, match=r"\(5, 6\), not \(4, 6\)"):
        catena.batch_forward_dynamics(arm, q, out=np.empty((4, n)))
    with pytest.raises(ValueError, match="float32"):
        catena.forward_dynamics(arm, arm.default_state(), out=np.empty(n, np.float32))
    with pytest.raises(ValueError, match="read-only"):
        catena.forward_dynamics(arm, arm.default_state(), out=fixed[0])
    empty = np.empty((0, n))
    assert catena.batch_forward_dynamics(arm, q[:0], out=empty) is empty


def test_wrong_types_are_type_errors_in_words():
    arm = catena.load(MODELS / "arm6.yaml")
    state = arm.default_state()
    for call, words in (
        (lambda: catena.forward_dynamics(arm, state, {1: 2.0}), "names as its keys"),
        (lambda: catena.forward_dynamics(arm, state, {"lift": None}), "numbers are expected"),
        (lambda: catena.forward_dynamics(arm, state, external=3), "ExternalWrench"),
        (lambda: catena.forward_dynamics(arm, state, external=[3]), "ExternalWrench"),
        (lambda: catena.forward_dynamics(arm, state, external={"body": None}), "body"),
        (lambda: catena.body_pose(arm, state, 1.5), "body"),
        (lambda: catena.hybrid_dynamics(arm, state, 3), "names, indices or a mask"),
        (lambda: catena.RecordedMotion(arm, [0, 1], [1, 2]), "State"),
        (lambda: catena.SplineInput(arm, 1.0, [3]), "Spline is expected"),
        (lambda: catena.write_yaml(3), "Mechanism or a Description"),
        (lambda: catena.simulate(arm, inputs={"lift": "0"}, stop_settings={"lift": "x"}), "number"),
    ):
        with pytest.raises(TypeError, match=words):
            call()


def test_assemble_names_what_is_not_finite():
    linkage = four_bar()
    guess = linkage.default_state()
    guess["B"] = np.nan
    with pytest.raises(catena.NumericalError, match="'B'.*nan"):
        catena.assemble(linkage, guess.q)


def test_equilibrium_settings():
    robot = pendulum()
    guess = catena.State(robot, [0.4])
    found = catena.find_equilibrium(robot, guess)
    assert found.found and found.iterations > 1 and abs(found.acceleration) < 1e-8
    short = catena.find_equilibrium(robot, guess, iterations=1)
    assert not short.found and short.iterations <= 1
    assert catena.find_equilibrium(robot, guess, tolerance=1e-2).iterations < found.iterations


def test_texts_and_validation(source):
    urdf = next((source / "models").glob("**/*.urdf"), None)
    sdf = (source / "models" / "four_bar.sdf").read_text()
    description = catena.read_sdf_text(sdf, "four_bar.sdf")
    loaded = catena.load(source / "models" / "four_bar.sdf")
    assert [b.name for b in description.bodies] == [b.name for b in loaded.description.bodies]
    small = (
        '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    )
    robot = catena.MechanismBuilder(catena.read_urdf_text(small)).finish()
    assert robot.velocity_names == ["j"]
    with pytest.raises(catena.ModelError):
        catena.read_urdf_text("<robot")
    assert catena.validate(loaded) == []
    wrong = catena.Description(name="x", bodies=[catena.Body(name="b", mass=-1.0)])
    assert any("mass" in d.message for d in catena.validate(wrong))
    if urdf is not None:
        catena.read_urdf_text(urdf.read_text(), str(urdf))


def test_attach_takes_a_mechanism():
    robot = pendulum()
    builder = catena.MechanismBuilder("two")
    builder.attach(robot, "left_").attach(robot.description, "right_", pose=[1, 0, 0])
    assert builder.finish().freedoms == 2


def test_spatial_maps():
    twist = np.array([0.3, -0.2, 0.5, 1.0, 2.0, -1.0])
    x = catena.Transform.exp(twist)
    np.testing.assert_allclose(x.log(), twist, atol=1e-12)
    # exp by its series, in 4 x 4.
    w, u = twist[:3], twist[3:]
    a = np.zeros((4, 4))
    a[:3, :3] = [[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]]
    a[:3, 3] = u
    term, series = np.eye(4), np.eye(4)
    for k in range(1, 30):
        term = term @ a / k
        series = series + term
    np.testing.assert_allclose(x.matrix(), series, atol=1e-12)
    v, y = np.arange(1.0, 7.0), np.array([2.0, 1.0, -1.0, 0.5, 0.0, 3.0])
    bracket = np.concatenate(
        [np.cross(v[:3], y[:3]), np.cross(v[:3], y[3:]) + np.cross(v[3:], y[:3])]
    )
    np.testing.assert_allclose(catena.ad(v, y), bracket)
    # power: (ad* f) . y = f . ad(y)
    np.testing.assert_allclose(catena.ad_star(v, y) @ np.ones(6), y @ catena.ad(v, np.ones(6)))


def test_positions_by_name(models):
    """Everywhere a position is asked for; the rest is that of the default state, not zero."""
    arm = catena.load(models / "arm6.yaml")
    full = arm.default_state()
    full["lift"] = 0.3
    for name in ("lift", "q.lift"):
        np.testing.assert_array_equal(catena.mass_matrix(arm, {name: 0.3}), catena.mass_matrix(arm, full))
        pose = catena.body_pose(arm, {name: 0.3}, "flange")
        np.testing.assert_array_equal(pose.matrix(), catena.body_pose(arm, full, "flange").matrix())
    dog = catena.load(models / "quadruped.yaml")
    turned = {"base": [0.6, 0.0, 0.8, 0.0, 1.0, 2.0, 3.0]}
    position = dog.default_state().q.copy()
    position[:7] = turned["base"]
    np.testing.assert_array_equal(catena.center_of_mass(dog, turned), catena.center_of_mass(dog, position))
    with pytest.raises(catena.UnknownNameError, match="lfit.*lift"):
        catena.mass_matrix(arm, {"lfit": 0.3})
    with pytest.raises(catena.NumericalError, match="q of 'base' has 2 entries, but 7 are expected"):
        catena.center_of_mass(dog, {"base": [1, 0]})
    with pytest.raises(TypeError, match="names as its keys"):
        catena.mass_matrix(arm, {0: 0.3})


def test_a_hinge_that_closes_a_loop_has_no_freedom():
    bar = four_bar()
    state = catena.assemble(bar, bar.default_state(), fixed=["A"])
    for call in (
        lambda: catena.forward_dynamics(bar, state, {"C": 1.0}),
        lambda: catena.inverse_dynamics(bar, state, {"C": 1.0}),
        lambda: catena.assemble(bar, state, fixed=["C"]),  # was passed over
        lambda: catena.closure_gap(bar, {"C": 0.1}),
    ):
        with pytest.raises(catena.UnknownNameError, match="'C' .*closes a loop"):
            call()


def test_transforms_act_on_points():
    x = catena.Transform.from_rpy(0.1, 0.2, 0.3, [1, 2, 3])
    points = np.arange(6.0).reshape(2, 3)
    expected = points @ x.rotation.T + x.translation
    np.testing.assert_allclose(x @ points, expected, atol=1e-15)
    np.testing.assert_allclose(x @ [0, 1, 2], expected[0], atol=1e-15)
    np.testing.assert_allclose((x @ x.inverse()).matrix(), np.eye(4), atol=1e-15)
    with pytest.raises(ValueError, match=r"\(3,\) or \(n, 3\)"):
        x @ np.ones(4)
