"""Closed loops: assembly, mobility, charts, inverse kinematics."""
import json
import os
import subprocess

import numpy as np
import pytest

import catena
from conftest import MODELS, four_bar


def circle_angles(crank):
    """Where coupler and rocker of conftest.four_bar stand: two circles of radius 2 meet."""
    # Turning by +q about y takes x to (cos q, -sin q) in (x, z).
    b = np.array([np.cos(crank), -np.sin(crank)])
    d = np.array([2.0, 0.0])
    middle, across = (b + d) / 2, d - b
    height = np.sqrt(4.0 - across @ across / 4)
    normal = np.array([-across[1], across[0]]) / np.linalg.norm(across)
    return [middle + s * height * normal for s in (1, -1)]


def test_assembly_is_where_the_circles_meet():
    mechanism = four_bar()
    guess = mechanism.default_state()
    assert catena.closure_gap(mechanism, guess) > 0.1
    state = catena.assemble(mechanism, guess, fixed=["A"])
    assert state["A"] == -1.0
    found = catena.point_position(mechanism, state, "coupler", [2, 0, 0])[[0, 2]]
    assert min(np.linalg.norm(found - c) for c in circle_angles(-1.0)) < 1e-9
    assert catena.closure_gap(mechanism, state) < 1e-12
    report = catena.find_assembly(mechanism, guess.q)
    assert report.closed and report.gap < 1e-12 and report.loops[0].given_gap > 0.1


def test_what_cannot_be_closed_is_named():
    builder = four_bar().edit()
    builder.hinge("D", frame_on_parent=[20, 0, 0])
    with pytest.raises(catena.NumericalError, match="C"):
        catena.assemble(builder.finish(), builder.finish().default_state())


def test_mobility():
    report = catena.analyse_mobility(catena.load(MODELS / "four_bar.sdf"))
    # Three revolute hinges in the tree, five rows of the fourth, of which three say nothing new.
    assert report.mobility == 1
    loop = report.loops[0]
    assert (loop.freedoms, loop.constraints, loop.gruebler, loop.redundant) == (3, 5, -2, 3)


def test_charts():
    mechanism = four_bar()
    state = catena.assemble_near(mechanism, mechanism.default_state())
    chart = catena.choose_chart(mechanism, state, pinned=["D"])
    assert chart.independent(3) == [mechanism.velocity_index("D")]
    workspace = catena.Workspace(mechanism)
    workspace.set_chart(chart, pinned=True)
    assert catena.mass_matrix(mechanism, state, workspace).shape == (1, 1)
    assert workspace.independent == [mechanism.velocity_index("D")]
    # Accelerations do not depend on the chart.
    np.testing.assert_allclose(
        catena.forward_dynamics(mechanism, state, None, workspace),
        catena.forward_dynamics(mechanism, state),
        rtol=1e-10,
    )
    assert catena.chart_quality(mechanism, chart, state) > 0.0


def test_velocities():
    mechanism = four_bar()
    state = catena.assemble_near(mechanism, mechanism.default_state())
    v = catena.consistent_velocity(mechanism, state, {"A": 1.0}, "A")
    assert v[0] == 1.0
    # The same point as a point of the coupler and of the rocker.
    moving = catena.State(mechanism, state.q, v)
    np.testing.assert_allclose(
        catena.point_velocity(mechanism, moving, "coupler", [2, 0, 0]),
        catena.point_velocity(mechanism, moving, "rocker", [2, 0, 0]),
        atol=1e-12,
    )
    assert catena.closure_rate(mechanism, moving) < 1e-12


def test_inverse_kinematics():
    arm = catena.load(MODELS / "arm6.yaml")
    tip = arm.bodies[-1].name
    wanted = catena.body_pose(arm, 0.3 * catena.random_position(arm, 4), tip)
    goal = catena.FrameGoal(arm, tip, wanted)
    found = catena.inverse_kinematics(arm, arm.default_state(), frames=[goal])
    assert found.reached
    np.testing.assert_allclose(
        catena.body_pose(arm, found.q, tip).matrix(), wanted.matrix(), atol=1e-8
    )
    bar = four_bar()
    target = catena.point_position(bar, catena.assemble(bar, bar.default_state()), "coupler", [1, 0, 0])
    points = [catena.PointGoal(bar, "coupler", target, [1, 0, 0])]
    assert catena.inverse_kinematics(bar, bar.default_state(), points=points).reached


def closed_crank(velocity=0.0):
    linkage = four_bar()
    state = linkage.default_state()
    state["v.A"] = velocity
    return linkage, catena.assemble(linkage, state, fixed=["A"])


@pytest.mark.parametrize("velocity", [0.0, 1.5])
@pytest.mark.parametrize("driven", ["A", "B", "D"])
def test_accelerations_by_name_are_heard(driven, velocity):
    linkage, state = closed_crank(velocity)
    i = linkage.velocity_index(driven)
    effort = catena.inverse_dynamics(linkage, state, {driven: 1.0})
    assert np.flatnonzero(effort).tolist() == [i]
    assert abs(catena.forward_dynamics(linkage, state, effort)[i] - 1.0) < 1e-9
    # One after the other with the same workspace.
    workspace = catena.Workspace(linkage)
    for name in ("A", "D", "B", driven):
        found = catena.inverse_dynamics(linkage, state, {name: 2.0}, workspace)
        k = linkage.velocity_index(name)
        assert abs(catena.forward_dynamics(linkage, state, found)[k] - 2.0) < 1e-9
    batch = catena.batch_inverse_dynamics(linkage, [state.q], [state.v], {driven: 1.0})
    np.testing.assert_allclose(batch[0], effort, rtol=1e-9, atol=1e-9)
    derivatives = catena.inverse_dynamics_derivatives(linkage, state, {driven: 1.0})
    e, step = [], 1e-5
    for sign in (1, -1):
        moved = catena.displaced(linkage, state, [i], [0.0], [sign * step])
        e.append(catena.inverse_dynamics(linkage, moved, {driven: 1.0})[i])
    np.testing.assert_allclose(derivatives.dv[0, 0], (e[0] - e[1]) / (2 * step), rtol=1e-5, atol=1e-6)


def test_accelerations_that_open_the_loop_are_refused():
    linkage, state = closed_crank(1.5)
    right = catena.forward_dynamics(linkage, state, {"A": 3.0})
    effort = catena.inverse_dynamics(linkage, state, right)
    np.testing.assert_allclose(
        catena.forward_dynamics(linkage, state, effort), right, rtol=1e-9, atol=1e-9
    )
    by_name = dict(zip(linkage.velocity_names, right))
    np.testing.assert_allclose(catena.inverse_dynamics(linkage, state, by_name), effort)
    wrong = right + [0.0, 1e-3, 0.0]
    with pytest.raises(catena.NumericalError, match="'[ABD]' is given as .* by name"):
        catena.inverse_dynamics(linkage, state, wrong)
    with pytest.raises(catena.NumericalError, match="state 1: .*is given as"):
        catena.batch_inverse_dynamics(linkage, [state.q] * 2, [state.v] * 2, [right, wrong])
    with pytest.raises(catena.NumericalError, match="is given as"):
        catena.inverse_dynamics_derivatives(linkage, state, wrong)
    workspace = catena.Workspace(linkage)
    workspace.set_chart(catena.choose_chart(linkage, state.q, pinned=["A"]), pinned=True)
    with pytest.raises(catena.NumericalError, match="'D'.*pinned"):
        catena.inverse_dynamics(linkage, state, {"D": 1.0}, workspace)


def test_command_line_and_python_agree(tmp_path):
    program = os.environ.get("CATENA_PROGRAM")
    if not program:
        pytest.skip("no program catena in this build")
    linkage, state = closed_crank(1.5)
    catena.save_yaml(linkage, tmp_path / "linkage.yaml")
    names = linkage.velocity_names
    said = {
        "q": dict(zip(linkage.position_names, state.q.tolist())),
        "v": dict(zip(names, state.v.tolist())),
        "acceleration": {"D": 1.0},
    }
    (tmp_path / "state.yaml").write_text(json.dumps(said))
    out = subprocess.run(
        [program, "dynamics", "linkage.yaml", "--what", "inverse", "--state", "state.yaml", "--json"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )
    assert out.returncode == 0, out.stderr
    theirs = json.loads(out.stdout)
    ours = catena.inverse_dynamics(linkage, state, {"D": 1.0})
    assert json.dumps(theirs).count("effort") > 0
    effort = theirs["effort"]
    effort = [effort[n] for n in names] if isinstance(effort, dict) else effort
    np.testing.assert_allclose(effort, ours, rtol=1e-9, atol=1e-9)


def test_goals_by_name():
    """Of bodies and of frames of the model; where a position puts them is asked of forward kinematics."""
    arm = catena.load(MODELS / "arm7.yaml")
    builder = arm.edit()
    last = arm.bodies[-1].name
    builder.add_frame("tip", last, catena.Transform.from_rpy(0.1, 0.2, 0.3, [0.02, 0.03, 0.1]))
    arm = builder.finish()
    there = catena.random_position(arm, 3) * 0.3
    body, tip = catena.body_pose(arm, there, last), catena.frame_pose(arm, there, "tip")

    by_name = catena.inverse_kinematics(arm, arm.default_state(), points={last: body.translation})
    goal = catena.PointGoal(arm, last, body.translation)
    same = catena.inverse_kinematics(arm, arm.default_state(), points=[goal])
    assert by_name.reached
    np.testing.assert_array_equal(by_name.q, same.q)
    assert goal.body == arm.body_index(last)

    found = catena.inverse_kinematics(arm, arm.default_state(), frames={"tip": tip})
    assert found.reached
    np.testing.assert_allclose(catena.frame_pose(arm, found.q, "tip").matrix(), tip.matrix(), atol=1e-8)

    point = [0.05, 0.0, 0.0]
    wanted = {"body": "tip", "target": tip.apply(point), "point": point}
    found = catena.inverse_kinematics(arm, arm.default_state(), points=[wanted])
    got = catena.frame_pose(arm, found.q, "tip").apply(point)
    np.testing.assert_allclose(got, tip.apply(point), atol=1e-8)

    def search(**goals):
        return catena.inverse_kinematics(arm, arm.default_state(), **goals)

    with pytest.raises(catena.UnknownNameError, match="tipp"):
        search(points={"tipp": [0, 0, 1]})
    with pytest.raises(catena.Error, match="fixed to the ground"):
        search(points={"world": [0, 0, 1]})
    with pytest.raises(ValueError, match='"body" and "target"'):
        search(points=[{"body": "tip"}])
    with pytest.raises(TypeError, match="tarhet.*target"):
        search(points=[{"body": "tip", "tarhet": [0, 0, 1]}])
    with pytest.raises(ValueError, match=r"\(3,\)"):
        search(points={"tip": [0, 1]})


def test_the_hinge_that_is_cut_can_have_coordinates():
    linkage = catena.load(str(MODELS / "four_bar.sdf"))
    whole = linkage.with_coordinates(["C"])
    assert whole.freedoms == linkage.freedoms + 1
    state, open_state = whole.default_state(), linkage.default_state()
    state, open_state = catena.assemble(whole, state), catena.assemble(linkage, open_state)
    # A torque at C is one between its two bodies: at the hinges on the way from one to the other.
    a = catena.forward_dynamics(whole, state, {"C": 2.0})
    rest = catena.forward_dynamics(linkage, open_state)
    named = dict(zip(whole.velocity_names, a))
    assert abs(named["A"] - rest[0]) > 1e-3
    # Virtual work: the same power at the crank, through the rate of C.
    rates = catena.consistent_velocity(whole, state.q, {"A": 1.0}, fixed=["A"])
    ratio = dict(zip(whole.velocity_names, rates))["C"]
    alike = catena.forward_dynamics(linkage, open_state, {"A": 2.0 * ratio})
    assert named["A"] == pytest.approx(dict(zip(linkage.velocity_names, alike))["A"], rel=1e-9)
    with pytest.raises(catena.UnknownNameError):
        linkage.with_coordinates(["nobody"])


def test_limits_that_a_position_leaves_are_named():
    builder = catena.MechanismBuilder("arm")
    builder.add_body("link", mass=1.0, inertia=[0.1, 0.1, 0.1])
    builder.add_hinge("A", "world", "link", freedoms=[{"lower": -0.2, "upper": 0.3}])
    arm = builder.finish()
    assert catena.outside_limits(arm, [0.25]) == []
    (said,) = catena.outside_limits(arm, [0.5])
    assert "'A'" in said and "0.5" in said and "0.3" in said
