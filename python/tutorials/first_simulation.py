"""First simulation: a double pendulum by code, by name, through time, and is it right?

    python3 python/tutorials/first_simulation.py [report.html]
"""
import sys

import numpy as np

import catena

# ---- A mechanism: bodies, and hinges between them. Units are SI, angles radians. ----
builder = catena.MechanismBuilder("double pendulum")
for name in ("upper", "lower"):
    builder.add_body(
        name,
        mass=1.0,
        center_of_mass=[0.0, 0.0, -0.5],
        inertia=[1 / 12, 1 / 12, 1e-3],  # about the mass centre
        visuals=[{"shape": "box", "size": [0.05, 0.05, 1.0], "pose": [0, 0, -0.5]}],
    )
builder.add_hinge("shoulder", "world", "upper", axes=[[0, 1, 0]])
builder.add_hinge("elbow", "upper", "lower", axes=[[0, 1, 0]], frame_on_parent=[0, 0, -1.0])
pendulum = builder.finish()  # or catena.load("robot.urdf")
print(pendulum)

# ---- A state, by name. ----
state = pendulum.default_state()
state["shoulder"] = 1.2
state["elbow"] = 0.4
print("it starts to fall with", catena.forward_dynamics(pendulum, state), "rad/s^2")
print("to hold it takes", catena.inverse_dynamics(pendulum, state), "N m")

# ---- Ten seconds of motion, with a damper of our own at the elbow from the fifth second on. ----
run = catena.simulate(
    pendulum,
    state,
    duration=10.0,
    inputs={"elbow": lambda t, s: -0.3 * s["v.elbow"] if t > 5.0 else 0.0},
    events={"elbow straight": "q.elbow"},
)
print(run)
print("the elbow was straight", sum(e.name == "elbow straight" for e in run.events), "times")
print(f"energy is balanced to {run.audit.energy_drift:.1e}")

# ---- Is it right? Without our damper the energy stays what it was: ----
free = catena.simulate(pendulum, state, duration=5.0)
energy = free["energy.total"]
drift = np.max(np.abs(energy - energy[0])) / np.max(free["energy.kinetic"])
print(f"and without the damper it stays within {drift:.1e}")

# ---- Look at it. In a notebook the run shows itself; run.plot("q.*") needs matplotlib. ----
if len(sys.argv) > 1:
    print("the report is", run.report(sys.argv[1]))

assert drift < 1e-6
assert run.complete and abs(run["q.shoulder"][0] - 1.2) < 1e-15
