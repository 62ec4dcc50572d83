"""Optimize a swing-up: an acrobot, one motor at its elbow and none at its shoulder, comes up and stands.

    python3 python/tutorials/optimize_a_swing_up.py [FOLDER OF MODELS]
"""
import sys
from pathlib import Path

import numpy as np

import catena

models = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "models"
acrobot = catena.load(models / "acrobot.yaml")

# ---- The problem: from a radian below the horizontal to upright and at rest, in three seconds, with
#      the least ½ ∫ τ² dt. The motion of the elbow is a spline; the shoulder moves as it must. ----
problem = catena.MotionProblem(acrobot, duration=3.0)
problem.start["shoulder"] = -1.0
problem.start["elbow"] = 0.0
problem.add_control("elbow", motion=True, coefficients=12, guess=0)
for name, angle in (("shoulder", np.pi / 2), ("elbow", 0.0)):
    problem.final_position(name, angle)
    problem.final_velocity(name, 0.0)
problem.effort_cost("elbow")
assert catena.mistakes(problem) == []
print(problem)


# ---- The search: first it approaches, being upright as a cost; then the conditions are kept, on
#      finer and finer grids. Ctrl-C would end it with the best motion so far. ----
def progress(now):
    if now.iteration % 20 == 0:
        print(f"  iteration {now.iteration:3d}: cost {now.cost:10.5g}")


best = catena.solve(problem, progress=progress)
print(best.message)
print(f"cost {best.cost:.6f} N² m² s (guess: {best.guess_cost:.3g}) after {best.iterations} iterations")
assert best.converged

# ---- It is a motion like any other: the simulator moves the acrobot again, with its own integrator,
#      and what the guess did stands beside it. ----
run = catena.record_motion(problem, best)
print(f"simulated again, it ends {run.difference:.1e} away")
end = run.state()
print(f"at the end: {end}")
assert abs(end["shoulder"] - np.pi / 2) < 1e-5 and abs(end["elbow"]) < 1e-5
assert np.max(np.abs(end.v)) < 1e-5

# ---- The motor is the only one that works: the energy that the acrobot has gained is its work, and
#      the cost is the integral of its effort. ----
effort, speed = run["effort.elbow"], run["v.elbow"]
work = np.trapz(effort * speed, run.time)
gained = run["energy.total"][-1] - run["energy.total"][0]
print(f"the motor gave {work:.3f} J; the acrobot gained {gained:.3f} J")
assert abs(work - gained) < 1e-3 * abs(gained)
assert abs(0.5 * np.trapz(effort**2, run.time) - best.cost) < 1e-3 * best.cost
assert np.max(np.abs(run["effort.shoulder"])) < 1e-9

# ---- Guess and optimum, with matplotlib if it is there, else as SVG. ----
names = ("q.shoulder", "guess.q.shoulder", "q.elbow", "guess.q.elbow")
try:
    axes = run.plot(*names)
    axes.axhline(np.pi / 2, color="gray", linewidth=0.5)
    print("a plot with", len(axes.lines) - 1, "curves (axes.figure.savefig to keep it)")
except ImportError:
    print("a plot as SVG,", len(run.svg(*names)), "characters")
