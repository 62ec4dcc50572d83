"""Linear-quadratic problems, and a chain as one."""
import numpy as np
import pytest

import catena
from conftest import MODELS, random_state, relative


def test_against_the_dense_solution():
    rng = np.random.default_rng(3)
    sizes, inputs, stages = [3, 3, 2, 4], [2, 1, 2], []
    for k in range(3):
        n, m, i = sizes[k], sizes[k + 1], inputs[k]
        root = rng.normal(size=(n + i, n + i))
        whole = root @ root.T
        stages.append(
            catena.LqStage(
                A=rng.normal(size=(m, n)), B=rng.normal(size=(m, i)), c=rng.normal(size=m),
                Q=whole[:n, :n], R=whole[n:, n:], S=whole[n:, :n], q=rng.normal(size=n), r=rng.normal(size=i),
            )
        )  # fmt: skip
    start = rng.normal(size=3)
    problem = catena.LqProblem(stages=stages, final_Q=np.eye(4), final_q=rng.normal(size=4), start=start)
    solution = catena.solve_lq(problem)

    # The cost is quadratic in all inputs together: its minimum from values at points.
    def cost(u):
        x, total, at = start, 0.0, 0
        for s in stages:
            w = u[at : at + s.B.shape[1]]
            at += s.B.shape[1]
            total += x @ s.Q @ x / 2 + s.q @ x + w @ s.R @ w / 2 + w @ s.S @ x + s.r @ w
            x = s.A @ x + s.B @ w + s.c
        return total + x @ problem.final_Q @ x / 2 + problem.final_q @ x

    n = sum(inputs)
    unit = np.eye(n)
    gradient = np.array([(cost(e) - cost(-e)) / 2 for e in unit])
    # cost(a + b) − cost(a − b) = 2 (gradient + hessian a)·b
    hessian = np.array([[(cost(a + b) - cost(a - b)) / 2 - gradient @ b for a in unit] for b in unit])
    best = np.linalg.solve(hessian, -gradient)
    assert relative(np.concatenate(solution.u), best) < 1e-10
    assert solution.cost == pytest.approx(cost(best), rel=1e-11)
    assert catena.lq_cost(problem, solution.u) == pytest.approx(cost(best), rel=1e-11)


def test_a_chain_is_one():
    arm = catena.load(MODELS / "arm7.yaml")
    state = random_state(arm)
    effort = catena.random_vector(arm.freedoms, 5)
    solution = catena.solve_lq(catena.chain_as_lq(arm, state, effort))
    assert relative(np.concatenate(solution.u), catena.forward_dynamics(arm, state, effort)) < 1e-9


def test_what_has_no_minimum():
    stage = catena.LqStage(A=[[1.0]], B=[[1.0]], R=[[-2.0]])
    with pytest.raises(catena.NumericalError):
        catena.lq_policy(catena.LqProblem(stages=[stage], start=[1.0]))
    with pytest.raises(catena.Error):
        catena.solve_lq(catena.LqProblem(stages=[stage.replace(B=[[1.0], [2.0]])], start=[1.0]))
