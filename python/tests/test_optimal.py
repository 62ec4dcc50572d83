"""Optimal motions: against closed forms and the command line; costs of the user, Ctrl-C, runs."""
import json
import os
import signal
import subprocess
import threading

import numpy as np
import pytest

import catena
from conftest import MODELS, SOURCE

PROBLEMS = SOURCE / "examples" / "problems"


def slider(mass=1.0):
    builder = catena.MechanismBuilder("slider")
    builder.add_body("block", mass=mass, inertia=[1, 1, 1])
    builder.add_hinge("rail", "world", "block", type="prismatic", axes=[[1, 0, 0]])
    return builder.finish()


def rest_to_rest(duration=1.0, **control):
    """A unit mass moves by 1 m. At least ½ ∫ u² dt the force is 6 - 12 t for 1 s, the cost 6 / T³."""
    problem = catena.MotionProblem(slider(), duration=duration)
    problem.add_control("rail", **control)
    problem.final_position("rail", 1.0)
    problem.final_velocity("rail", 0.0)
    return problem


@pytest.mark.parametrize("motion", [True, False])
def test_closed_form(motion):
    problem = rest_to_rest(motion=motion, degree=3 if motion else 1, coefficients=6)
    problem.effort_cost("rail")
    best = catena.solve(problem)
    assert best.converged and best.feasible and best.end == catena.SolverEnd.converged
    assert best.solver.name == ("levenberg_marquardt" if motion else "ipopt")
    assert best.cost == pytest.approx(6.0, rel=1e-9)
    assert list(best.part_names) == ["effort of rail"]
    np.testing.assert_allclose(best.parts, [6.0], rtol=1e-9)
    np.testing.assert_allclose(best.final_state.q, [1.0], atol=1e-8)
    run = catena.record_motion(problem, best)
    np.testing.assert_allclose(run["effort.rail"], 6 - 12 * run.time, atol=1e-5)


def test_free_duration():
    problem = rest_to_rest(duration=(1.0, 0.5, 5.0), motion=True, coefficients=6)
    problem.effort_cost("rail")
    problem.time_weight = 1.0
    assert problem.duration.free and problem.duration.upper == 5.0
    best = catena.solve(problem)
    assert best.duration == pytest.approx(18**0.25, rel=1e-6)  # of T + 6 / T³
    assert best.cost == pytest.approx(18**0.25 + 6 / 18**0.75, rel=1e-9)


def test_cost_of_the_user():
    """½ ∫ (u + 2 v)² dt is ½ ∫ a² + 4 v² dt here: x'''' = 4 x''."""
    functions = np.array([[1, 0, 1, 1], [0, 1, 2, -2], [1, 1, np.e**2, np.e**-2], [0, 1, 2 * np.e**2, -2 * np.e**-2]])
    c = np.linalg.solve(functions, [0, 0, 1, 0])
    t = np.linspace(0, 1, 20001)
    grow, fall = c[2] * np.exp(2 * t), c[3] * np.exp(-2 * t)
    cost = np.trapz(0.5 * (4 * (grow + fall)) ** 2 + 2 * (c[1] + 2 * (grow - fall)) ** 2, t)
    wanted = []

    def residual(point, gradient):
        wanted.append(gradient is not None)
        if gradient is not None:
            gradient.effort[0] = 1.0
            gradient.v = [2.0]
        assert point.state["v.rail"] == point.state.v[0] and 0 <= point.time <= 1
        assert point.effort[0] == pytest.approx(point.acceleration[0])
        return point.effort[0] + 2 * point.state["v.rail"]

    problem = rest_to_rest(motion=True, degree=5, coefficients=12)
    problem.add_custom_cost("drag", residual)
    best = catena.solve(problem)
    assert best.converged and any(wanted) and not all(wanted)
    assert best.cost == pytest.approx(cost, rel=1e-7)
    assert best.part_names == ["drag"] and problem.custom_costs[0].residual is residual


def test_references_by_function_and_by_expression():
    found = []
    for reference in ("sin(3*t)", lambda t: (np.sin(3 * t), 3 * np.cos(3 * t))):
        problem = rest_to_rest(duration=(1.0, 0.5, 2.0), motion=True, coefficients=8)
        problem.add_running_cost("rail", quantity="position", weight=100, reference=reference)
        problem.effort_cost("rail", 0.1)
        problem.time_weight = 0.5
        found.append(catena.solve(problem))
    assert found[0].converged
    assert found[1].cost == pytest.approx(found[0].cost, rel=1e-9)
    np.testing.assert_allclose(found[1].variables, found[0].variables, rtol=1e-5)
    problem.running_costs = [problem.running_costs[0].replace(reference=np.sin)]
    with pytest.raises(catena.Error, match="rate is needed"):
        catena.solve(problem)


def test_guesses():
    expected = catena.solve(with_effort(rest_to_rest(motion=True, coefficients=7, guess="t"))).guess
    for guess in (lambda t: t, expected):
        problem = with_effort(rest_to_rest(motion=True, coefficients=7, guess=guess))
        np.testing.assert_array_equal(catena.solve(problem).guess, expected)
    assert problem.controls[0].guess.tolist() == expected.tolist()


def with_effort(problem):
    problem.effort_cost("rail")
    return problem


def test_bounds_and_points():
    """Moved to x = 1 by a point, no force above 5: harder than the free optimum."""
    problem = catena.MotionProblem(slider(), duration=1.0)
    problem.add_control("rail", degree=1, coefficients=21)
    problem.add_final_point("block", position=[1.0, None, None])
    problem.final_velocity("rail", 0.0)
    problem.add_bound("rail", quantity="effort", lower=-5, upper=5)
    problem.effort_cost("rail")
    assert problem.final_points[0].coordinate == [True, False, False]
    best = catena.solve(problem)
    run = catena.record_motion(problem, best)
    assert best.converged and best.cost > 6.0
    assert np.abs(run["effort.rail"]).max() < 5 + 1e-6
    assert run["q.rail"][-1] == pytest.approx(1.0, abs=1e-6)


def acrobot():
    problem = catena.MotionProblem(catena.load(MODELS / "acrobot.yaml"), duration=3.0)
    problem.start["shoulder"], problem.start["elbow"] = -1.0, 0.0
    problem.add_control("elbow", motion=True, coefficients=12, guess=0)
    for name, value in (("shoulder", np.pi / 2), ("elbow", 0.0)):
        problem.final_position(name, value)
        problem.final_velocity(name, 0.0)
    problem.effort_cost("elbow")
    return problem


def test_the_same_bits_as_the_command_line(tmp_path):
    program = os.environ.get("CATENA_PROGRAM")
    if not program or not os.path.exists(program):
        pytest.skip("the program is not built")
    path = PROBLEMS / "two_link_arm.yaml"
    answer = subprocess.run(
        [program, "optimize", "--json", "--no-run", str(path)], capture_output=True, text=True, check=True
    )
    theirs = json.loads(answer.stdout)
    problem, settings = catena.read_problem(path)
    ours = json.loads(catena.result_json(problem, catena.solve(problem, settings)))
    for result in (theirs, ours):
        del result["wall_time"]
    assert ours == theirs


def test_problems_from_files_and_text():
    problem, settings = catena.read_problem(PROBLEMS / "acrobot_upright.yaml")
    by_code = acrobot()
    assert problem.model_path.endswith("acrobot.yaml")
    np.testing.assert_array_equal(problem.start.q, by_code.start.q)
    assert repr(problem.controls) == repr(by_code.controls)
    assert settings.tolerance == catena.SolverSettings().tolerance
    assert catena.mistakes(problem) == []
    text = (PROBLEMS / "acrobot_upright.yaml").read_text()
    with pytest.raises(catena.ModelError, match="elbo"):
        catena.read_problem_text(text.replace("elbow: {type", "elbo: {type"), str(PROBLEMS / "x.yaml"))


def test_runs_and_warm_starts(tmp_path):
    problem = with_effort(rest_to_rest(motion=True, coefficients=8, guess="t^5"))
    best = catena.solve(problem)
    memory = catena.record_motion(problem, best)
    assert memory.kind == "optimization" and memory.difference < 1e-6
    assert memory.settings["result"]["cost"] == best.cost
    file = catena.record_motion(problem, best, output=tmp_path / "a.h5")
    memory.save(tmp_path / "b.h5")
    for run in (file, catena.open_run(tmp_path / "a.h5"), catena.open_run(tmp_path / "b.h5")):
        assert run.kind == "optimization" and run.complete
        assert run.columns == memory.columns and "guess.q.rail" in run
        np.testing.assert_array_equal(run.values, memory.values)
        assert run.settings["result"] == memory.settings["result"]
    with pytest.raises(catena.Error, match="exists"):
        catena.record_motion(problem, best, output=tmp_path / "a.h5")
    table = catena.record_motion(problem, best, output=tmp_path / "a.csv")
    np.testing.assert_array_equal(table["q.rail"], memory["q.rail"])

    again = catena.solve(problem, variables=best.variables)
    assert again.iterations < best.iterations or again.iterations == 0
    catena.warm_start(tmp_path / "a.h5", problem)
    np.testing.assert_array_equal(problem.controls[0].guess, best.variables)
    assert catena.solve(problem).guess_cost == best.cost
    with pytest.raises(catena.Error, match="the warm start has 3 numbers"):
        catena.solve(problem, variables=[1, 2, 3])


def test_settings_and_progress():
    problem = acrobot()
    seen = []

    def progress(now):
        seen.append((now.iteration, now.cost))
        return len(seen) < 4

    stopped = catena.solve(problem, progress=progress)
    assert len(seen) == 4 and not stopped.converged
    assert stopped.end == catena.SolverEnd.stopped and "stopped" in stopped.message
    assert stopped.variables.shape == stopped.guess.shape
    few = catena.solve(problem, {"iterations": 3}, accuracy=0)
    assert few.end == catena.SolverEnd.iterations
    several = catena.solve(with_effort(rest_to_rest(motion=True, coefficients=6)), starts=3)
    assert sum(minimum.starts for minimum in several.minima) == 3
    with pytest.raises(TypeError, match="tolerance"):
        catena.solve(problem, tolerence=1e-3)


def test_errors_of_the_user_are_raised_as_they_were():
    class Mine(Exception):
        pass

    def raises(*arguments):
        raise Mine("here")

    for constrained in (False, True):  # Levenberg-Marquardt, IPOPT
        problem = with_effort(rest_to_rest(motion=True, coefficients=8))
        if constrained:
            problem.add_bound("rail", quantity="effort", lower=-7, upper=7)
        with pytest.raises(Mine, match="here"):
            catena.solve(problem, progress=raises)
        calls = []

        def later(point, gradient):
            calls.append(point.time)
            return raises() if len(calls) > 1000 else 0.0

        problem.add_custom_cost("mine", later)
        with pytest.raises(Mine, match="here"):
            catena.solve(problem)
    with pytest.raises(Mine):
        catena.solve(with_effort(rest_to_rest(motion=True, guess=raises)))


def test_ctrl_c_ends_the_search_with_the_best_motion():
    problem = acrobot()
    problem.final_bounds = [b for b in problem.final_bounds if b.freedom == "elbow"]
    problem.final_cost("shoulder", "position", np.pi / 2, 1000)
    timer = threading.Timer(0.5, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT))
    timer.start()
    best = catena.solve(problem, starts=10000)
    assert best.end == catena.SolverEnd.stopped or best.minima
    assert best.wall_time < 60 and np.isfinite(best.cost)
    assert catena.record_motion(problem, best).difference < 1e-3

    # It may hit a function of the user.
    hit = []

    def residual(point, gradient):
        hit.append(point.time)
        if len(hit) == 500:
            raise KeyboardInterrupt
        if gradient is not None:
            gradient.effort[0] = 1.0
        return point.effort[0]

    problem = rest_to_rest(motion=True, coefficients=8, guess="t^3")
    problem.add_custom_cost("effort", residual)
    best = catena.solve(problem)
    assert best.end == catena.SolverEnd.stopped and len(hit) > 500
    assert best.final_state.q[0] == pytest.approx(1.0) and best.cost >= 6.0 - 1e-6

    problem = acrobot()

    class Late(Exception):
        pass

    def late(number, frame):
        raise Late()

    before = signal.signal(signal.SIGALRM, late)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Late):
            catena.solve(problem, starts=10000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_mistakes_are_named():
    problem = rest_to_rest(motion=True)
    assert any("minimize" in text for text in catena.mistakes(problem))
    problem.effort_cost("rial")
    problem.add_bound("rail", lower=2, upper=1)
    texts = catena.mistakes(problem)
    assert any("'rial'" in text and "rail" in text for text in texts) and len(texts) >= 2
    with pytest.raises(catena.Error, match="rial"):
        catena.solve(problem)
    with pytest.raises(TypeError, match="coefficients"):
        problem.add_control("rail", coeficients=3)
    with pytest.raises(TypeError, match="three numbers"):
        problem.add_final_point("block", position=[1, 2])
    with pytest.raises(AttributeError):
        problem.controls.append(None)  # a tuple: nothing is swallowed
    with pytest.raises(catena.UnknownNameError, match="velocity"):
        problem.add_bound("rail", quantity="velocty")
    with pytest.raises(ValueError, match="guess, least"):
        problem.duration = (1, 2)
