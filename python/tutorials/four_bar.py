"""A four-bar from SDF: a closed loop, its mobility, the motor that turns it and its bearing forces.

    python3 python/tutorials/four_bar.py [FOLDER OF MODELS]
"""
import sys
from pathlib import Path

import numpy as np

import catena

models = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "models"

# ---- Four links, four joints, no spanning tree, no extra tags. ----
linkage = catena.load(models / "four_bar.sdf")
mobility = catena.analyse_mobility(linkage)
loop = mobility.loops[0]
print(f"mobility {mobility.mobility}; by counting it would be {loop.gruebler}")
print(f"{loop.redundant} of the {loop.constraints} constraints at the cut say nothing new")

# ---- A position in which the loop is closed, with the crank where we want it. ----
state = linkage.default_state()
state["A"] = 0.3
state = catena.assemble(linkage, state, fixed=["A"])
state.v = catena.consistent_velocity(linkage, state, {"A": 2.0}, fixed=["A"])
print(f"closed to {catena.closure_gap(linkage, state):.1e}:", state)

# ---- Which torque at the crank keeps it turning at constant speed here? The crank is motion-driven,
#      its acceleration zero; the others follow. ----
result = catena.hybrid_dynamics(linkage, state, motion_driven=["A"], acceleration={"A": 0.0})
torque = result.effort[linkage.velocity_index("A")]
print(f"a torque of {torque:.4f} N m keeps the crank at 2 rad/s")

# ---- What the pins carry. Components that redundant constraints leave open are marked. ----
forces = catena.InterbodyForces(linkage)
forces.compute(state, result.acceleration, effort=result.effort)
for hinge in linkage.hinges:
    at = forces.at(hinge.name, axes="ground")
    unknown = forces.undetermined(hinge.name, axes="ground")[3:]
    shown = ["?" if u else f"{x:.3f}" for x, u in zip(at.force, unknown)]
    print(f"  pin {hinge.name}: {', '.join(shown)} N")

# ---- Is it right? The pins to the ground carry the weight and what accelerates the masses. ----
masses = [b.inertia[3, 3] for b in linkage.bodies]
centers = [b.center_of_mass for b in linkage.description.bodies]
accelerations = [
    catena.point_acceleration(linkage, state, b.name, c, result.acceleration)
    for b, c in zip(linkage.bodies, centers)
]
needed = sum(m * (a - linkage.gravity) for m, a in zip(masses, accelerations))
ground = [h for h in linkage.hinges if h.parent_body < 0]
carried = sum(forces.at(h.name, "ground").force for h in ground)
print("needed ", needed[:2], "N\ncarried", carried[:2], "N")
assert np.allclose(carried[:2], needed[:2], rtol=1e-9)

# ---- One turn of the crank at that speed: the torque all the way. ----
run = catena.simulate(linkage, state, duration=np.pi, motions={"A": "0.3 + 2*t"})
effort = run["effort.A"]
print(f"over a turn the torque is between {effort.min():.2f} and {effort.max():.2f} N m")
print(f"the loop stays closed to {run.audit.closure_residual:.1e}")
assert abs(effort[0] - torque) < 1e-6 * abs(torque)
assert run.audit.closure_residual < 1e-9
