"""Values go to other processes and come back, and copies are values of their own."""
import copy
import multiprocessing
import pickle

import numpy as np
import pytest

import catena
from conftest import MODELS, four_bar, pendulum, random_state


def again(x):
    return pickle.loads(pickle.dumps(x))


def test_errors_keep_their_diagnostics():
    builder = catena.MechanismBuilder("wrong")
    builder.add_body("link", mass=-1.0)
    with pytest.raises(catena.ModelError) as caught:
        builder.finish()
    error = again(caught.value)
    assert type(error) is catena.ModelError and str(error) == str(caught.value)
    assert [d.text() for d in error.problems] == [d.text() for d in caught.value.problems]
    assert error.problems[0].severity == catena.Severity.error


def test_settings():
    body = catena.BodySettings(mass=2.0, center_of_mass=[0, 1, 2], inertia=[1, 2, 3])
    hinge = catena.HingeSettings(
        type="prismatic", axes=[[0, 0, 1]], freedoms=[{"damping": 0.5, "friction": {"sliding": 2}}]
    )
    grid = catena.MotionGrid(steps=4)
    stage = catena.LqStage(A=np.eye(2), B=np.ones((2, 1)))
    for value in (body, hinge, grid, stage, catena.Visual(shape="sphere", radius=0.5)):
        for made in (again(value), copy.copy(value), copy.deepcopy(value)):
            assert type(made) is type(value) and repr(made) == repr(value)
    description = catena.load(MODELS / "quadruped.yaml").description
    assert catena.write_yaml(again(description)) == catena.write_yaml(description)


def test_results():
    arm = catena.load(MODELS / "arm6.yaml")
    state = random_state(arm)
    hybrid = again(catena.hybrid_dynamics(arm, state, [0]))
    assert np.array_equal(hybrid.effort, catena.hybrid_dynamics(arm, state, [0]).effort)
    assert again(catena.energy(arm, state)).total == catena.energy(arm, state).total
    mass = catena.mass_properties(arm, state)
    assert np.array_equal(again(mass).inertia, mass.inertia)
    wrench = catena.ExternalWrench(arm, 2, force=[1, 2, 3], axes="ground")
    assert np.array_equal(again(wrench).wrench, wrench.wrench) and again(wrench).axes == wrench.axes
    derivatives = catena.forward_dynamics_derivatives(arm, state)
    assert np.array_equal(again(derivatives).deffort, derivatives.deffort)
    run = catena.simulate(pendulum(), catena.State(pendulum(), [1.0]), duration=0.1)
    result = again(run.result)
    assert repr(result.audit) == repr(run.result.audit) and result.rows == run.result.rows
    assert result.state == run.result.state and result.steps.steps == run.result.steps.steps
    linkage = four_bar()
    assembly = catena.find_assembly(linkage, linkage.default_state())
    assert np.array_equal(again(assembly).q, assembly.q) and again(assembly).loops[0].closed


def test_linear_models_and_modes():
    cart = catena.load(MODELS / "cart_pendulum.yaml")
    model = catena.linearize(cart, catena.State(cart, [0, np.pi]), inputs=["rail"])
    copied = again(model)
    assert np.array_equal(copied.A, model.A) and np.array_equal(copied.B, model.B)
    assert copied.inputs == ["effort.rail"] and np.array_equal(copied.state.q, model.state.q)
    names = ["body.pole.mass"] if "body.pole.mass" in catena.ParameterSet.all_names(cart) else []
    if names:  # needs the settings it was made with
        assert np.array_equal(
            catena.parameter_matrix(copied, names), catena.parameter_matrix(model, names)
        )
    modes = catena.modes(model)
    assert again(modes).stability == modes.stability
    assert np.array_equal(again(modes).modes[0].shape, modes.modes[0].shape)


def test_functions_of_the_extension_for_pools_of_processes():
    """As functions of Python: by their names, from any module."""
    for function in (catena.forward_dynamics, catena.mass_matrix, catena.assemble, catena.simulate):
        assert pickle.loads(pickle.dumps(function)) is function
    for other in (len, "text".upper, np.array, [1].append):  # as before
        copied = pickle.loads(pickle.dumps(other))
        assert copied is other or copied.__name__ == other.__name__


def test_a_pool():
    arm = catena.load(MODELS / "arm6.yaml")
    states = [random_state(arm, seed) for seed in range(3)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.starmap(catena.forward_dynamics, [(arm, state) for state in states])
    for state, acceleration in zip(states, found):
        np.testing.assert_array_equal(acceleration, catena.forward_dynamics(arm, state))


def test_runs_come_back_from_other_processes(tmp_path):
    events = {"low": "q.pivot + 0.2"}
    start = catena.State(pendulum(), {"pivot": 0.5})
    run = catena.simulate(pendulum(), start, duration=1.0, events=events)
    back = again(run)
    np.testing.assert_array_equal(back.values, run.values)
    assert back.columns == run.columns and back.units == run.units
    assert [e.time for e in back.events] == [e.time for e in run.events] and run.events
    assert back.audit.energy_drift == run.audit.energy_drift and back.complete
    assert back.settings == run.settings and back.state() == catena.State(back.mechanism, run.state().q, run.state().v)
    np.testing.assert_array_equal(again(back)["q.pivot"], run["q.pivot"])
    file = catena.simulate(pendulum(), start, duration=0.2, output=tmp_path / "run.h5")
    np.testing.assert_array_equal(again(file).values, file.values)


def test_mobility():
    report = catena.analyse_mobility(four_bar())
    back = again(report)
    assert back.mobility == 1 and back.loops[0].redundant == report.loops[0].redundant


def reach():
    """To 0.4 rad and at rest; 6 coefficients of effort."""
    problem = catena.MotionProblem(pendulum(), duration=(1.0, 0.8, 1.5))
    problem.start["pivot"] = 0.1
    problem.add_control("pivot", coefficients=6, guess="0.2*t")
    problem.effort_cost("pivot", 2.0)
    problem.add_running_cost("pivot", quantity="velocity", weight=0.1)
    problem.final_position("pivot", 0.4)
    problem.final_velocity("pivot", 0.0)
    problem.time_weight = 0.7
    problem.grid = {"steps": 30}
    return problem


def test_problems_and_optimal_motions():
    problem = reach()
    copied = again(problem)
    assert copied.duration.lower == 0.8 and copied.time_weight == 0.7 and copied.grid.steps == 30
    assert copied.start["pivot"] == 0.1 and len(copied.final_bounds) == len(problem.final_bounds)
    best, other = catena.solve(problem), catena.solve(copied)
    np.testing.assert_array_equal(best.variables, other.variables)
    back = again(best)
    assert back.cost == best.cost and back.converged and back.end == best.end
    assert back.final_state["pivot"] == best.final_state["pivot"]
    np.testing.assert_array_equal(back.parts, best.parts)
    assert catena.record_motion(copied, back).difference < 1e-5


def test_problem_of_a_file_keeps_its_model(tmp_path):
    """The runs that are recorded of it name the model."""
    (tmp_path / "pendulum.yaml").write_text(catena.write_yaml(pendulum()))
    file = tmp_path / "reach.yaml"
    file.write_text(
        "model: pendulum.yaml\nduration: 1\ncontrols: {pivot: {type: effort, coefficients: 5}}\n"
        "cost: {effort: {pivot: 1}}\n"
    )
    problem, _ = catena.read_problem(file)
    assert problem.model_path == str(tmp_path / "pendulum.yaml")
    assert again(problem).model_path == problem.model_path


def test_regulators_and_recorded_motions():
    cart = catena.load(MODELS / "cart_pendulum.yaml")
    upright = catena.State(cart, [0, np.pi], [0, 0])
    regulator = catena.hold(cart, upright, actuators=["rail"])
    stay = catena.RecordedMotion(cart, [0.0, 0.5, 1.0], [upright] * 3)
    kept, motion = again(regulator), again(stay)  # each with a mechanism of its own
    np.testing.assert_array_equal(kept.gains[0], regulator.gains[0])
    assert motion.rows == 3 and motion.duration == 1.0 and motion.time(1) == motion.time(-2) == 0.5
    np.testing.assert_array_equal(motion.state(-1).q, upright.q)
    np.testing.assert_array_equal(motion.effort(0), [0, 0])
    with pytest.raises(IndexError, match="no row 3 of 3"):
        motion.state(3)
    run, other = (
        catena.simulate_regulated(cart, m, r, offsets={"q.pivot": 0.05}) for m, r in ((stay, regulator), (motion, kept))
    )
    np.testing.assert_array_equal(run.values, other.values)
    assert again(run).regulation.final_distance == run.regulation.final_distance
    with pytest.raises(catena.Error, match="another mechanism"):
        catena.simulate_regulated(pendulum(), motion, kept)


def test_equilibria_and_multipliers():
    robot = pendulum()
    found = catena.find_equilibrium(robot, catena.State(robot, {"pivot": 0.2}))
    back = again(found)
    assert back.found and back.state["pivot"] == found.state["pivot"]
    assert back.modes.modes[0].eigenvalue == found.modes.modes[0].eigenvalue
    bar = four_bar()
    report = catena.multiplier_dynamics(bar, catena.assemble(bar, bar.default_state()))
    back = again(report)
    assert [row.force for row in back.rows] == [row.force for row in report.rows]
    assert back.redundant_residual == report.redundant_residual
