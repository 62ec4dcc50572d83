"""A batch of 10,000 states: how strong must the motors of an arm be to hold it, wherever it is?

    python3 python/tutorials/batch_of_states.py [FOLDER OF MODELS]
"""
import sys
import time
from pathlib import Path

import numpy as np

import catena

models = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "models"
arm = catena.load(models / "arm6.yaml")

# ---- One state is one row: q (B, coordinates), v and accelerations (B, freedoms). ----
states = 10_000
random = np.random.default_rng(1)
q = random.uniform(-np.pi, np.pi, (states, arm.coordinates))

workspace = catena.BatchWorkspace(arm)
efforts = np.empty((states, arm.freedoms))
catena.batch_inverse_dynamics(arm, q, workspace=workspace, out=efforts)
print(f"on {workspace.threads} threads, {workspace.lanes} states at a time; failed: {workspace.failures}")
for name, largest in zip(arm.velocity_names, np.abs(efforts).max(axis=0)):
    print(f"  {name:12s} needs up to {largest:7.2f} N m to stand still")

# ---- Where is the hand? Poses of all bodies at once. ----
poses, _ = catena.batch_kinematics(arm, q, workspace=workspace)
hand = poses[:, arm.body_index("flange"), :3, 3]
print(f"the flange is between {hand[:, 2].min():.2f} and {hand[:, 2].max():.2f} m high")

# ---- Is it right? A row is the call for one state; and it is faster. ----
start = time.perf_counter()
catena.batch_forward_dynamics(arm, q, workspace=workspace, out=efforts)
batch_time = time.perf_counter() - start
single = catena.Workspace(arm)
start = time.perf_counter()
rows = np.array([catena.forward_dynamics(arm, catena.State(arm, row), None, single) for row in q])
loop_time = time.perf_counter() - start
print(f"forward dynamics: {1e6 * batch_time / states:.2f} µs a state, {loop_time / batch_time:.0f} times as fast as a loop")
assert np.max(np.abs(rows - efforts)) < 1e-9 * np.max(np.abs(rows))
