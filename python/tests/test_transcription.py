"""A motion problem as a nonlinear program: closed forms, differences, a solver of SciPy."""
import numpy as np
import pytest

import catena

MASS = 2.0


def cart():
    builder = catena.MechanismBuilder("cart")
    builder.add_body("box", mass=MASS, inertia=[0.1, 0.1, 0.1])
    builder.add_hinge("rail", "world", "box", type="prismatic", axes=[[1, 0, 0]])
    return builder.finish()


def push(coefficients=4, degree=1, duration=2.0):
    """By an effort that is a spline; to 3 m, and at rest there."""
    problem = catena.MotionProblem(cart(), duration=duration)
    problem.add_control("rail", degree=degree, coefficients=coefficients)
    problem.effort_cost("rail")
    problem.final_position("rail", 3.0)
    problem.final_velocity("rail", 0.0)
    return problem


def swing():
    """A pendulum with a bound on its way, and a free duration."""
    builder = catena.MechanismBuilder("pendulum")
    builder.add_body("link", mass=2.0, center_of_mass=[0, 0, -0.75], inertia=[0.3, 0.3, 0.01])
    builder.add_hinge("pivot", "world", "link", axes="y")
    problem = catena.MotionProblem(builder.finish(), duration=(1.0, 0.5, 2.0))
    problem.add_control("pivot", coefficients=5, guess=1.0)
    problem.effort_cost("pivot")
    problem.add_final_cost("pivot", quantity="position", target=0.7, weight=30.0)
    problem.final_velocity("pivot", 0.0)
    problem.add_bound("pivot", quantity="velocity", lower=-1.5, upper=1.5)
    problem.time_weight = 0.3
    return problem


def test_constant_effort():
    """x(T) = u T² / 2 m, v(T) = u T / m and the cost ½ u² T."""
    program = catena.Transcription(push())
    assert program.variables == program.guess.size == 4
    u = 1.7
    found = program.evaluate(np.full(4, u))
    assert found.cost == pytest.approx(0.5 * u**2 * 2.0, rel=1e-12)
    assert found.parts.sum() == pytest.approx(found.cost, rel=1e-14)
    end = found.constraints - program.constraint_lower + [3.0, 0.0]
    assert end == pytest.approx([u * 4.0 / (2 * MASS), u * 2.0 / MASS], rel=1e-12)
    assert program.violation(np.full(4, u), found.constraints) == pytest.approx(
        max(abs(end[0] - 3.0), abs(end[1]))
    )
    assert "rail" in program.constraint_name(0, 2.0)
    assert program.refined_cost(np.full(4, u)) == pytest.approx(found.cost, rel=1e-12)


def test_the_motion_itself():
    program = catena.Transcription(push())
    x = np.array([1.0, 0.5, -0.2, -1.0])
    for finer in (1, 3):
        time, q, v, acceleration, effort = program.motion(x, finer=finer)
        knots = np.linspace(0, 2, 4)
        assert effort[:, 0] == pytest.approx(np.interp(time, knots, x), abs=1e-12)
        assert acceleration[:, 0] == pytest.approx(effort[:, 0] / MASS, abs=1e-12)
        assert v[0, 0] == 0 and time[-1] == pytest.approx(2.0)
        assert q.shape == v.shape == (time.size, 1)
    end = program.evaluate(x, derivatives=False)
    assert q[-1, 0] - 3.0 == pytest.approx(end.constraints[0] - program.constraint_lower[0], abs=1e-9)
    assert end.gradient.size == 0


@pytest.mark.parametrize("make", [push, swing])
def test_derivatives_are_those_of_the_numbers(make):
    program = catena.Transcription(make())
    x = program.guess + catena.random_vector(program.variables, 5) * 0.1
    found = program.evaluate(x)
    assert found.jacobian.shape == (program.constraints, program.variables)
    assert found.hessian.shape == (program.variables, program.variables)
    for i in range(program.variables):
        h = 1e-5
        up, down = x.copy(), x.copy()
        up[i] += h
        down[i] -= h
        a, b = program.evaluate(up, derivatives=False), program.evaluate(down, derivatives=False)
        assert found.gradient[i] == pytest.approx((a.cost - b.cost) / (2 * h), rel=1e-6, abs=1e-6)
        rows = (a.constraints - b.constraints) / (2 * h)
        assert found.jacobian[:, i] == pytest.approx(rows, rel=1e-6, abs=1e-6)


def test_a_solver_of_scipy_finds_the_least_effort():
    """From rest to rest over d in T: the effort is linear in t and costs 6 m² d² / T³."""
    optimize = pytest.importorskip("scipy.optimize")
    program = catena.Transcription(push())
    result = optimize.minimize(
        lambda x: (lambda e: (e.cost, e.gradient))(program.evaluate(x)),
        program.guess,
        jac=True,
        method="SLSQP",
        constraints={
            "type": "eq",
            "fun": lambda x: program.evaluate(x, derivatives=False).constraints
            - program.constraint_lower,
            "jac": lambda x: program.evaluate(x).jacobian,
        },
    )
    assert result.success
    assert result.fun == pytest.approx(6 * MASS**2 * 3.0**2 / 2.0**3, rel=1e-7)


def test_what_is_wrong():
    program = catena.Transcription(push())
    with pytest.raises(ValueError, match="4 variables, not 3"):
        program.evaluate([1, 2, 3])
    with pytest.raises(IndexError, match="no constraint 7"):
        program.constraint_name(7, 1.0)
    with pytest.raises(catena.Error):
        catena.Transcription(catena.MotionProblem(cart()))

    def angry(point, gradient):
        raise KeyError("mine")

    problem = catena.MotionProblem(cart(), duration=2.0)
    problem.add_control("rail", degree=1, coefficients=4, guess=lambda t: 1 / 0)
    problem.effort_cost("rail")
    with pytest.raises(ZeroDivisionError):  # as it was, not in our words
        catena.Transcription(problem)

    problem = push()
    problem.add_custom_cost("angry", angry)
    program = catena.Transcription(problem)
    for _ in range(2):  # and it goes on being asked
        with pytest.raises(KeyError, match="mine"):
            program.evaluate(program.guess)
