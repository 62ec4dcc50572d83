"""Linearize and design: a pole on a cart, upright, held by a linear-quadratic regulator.

    python3 python/tutorials/linearize_and_design.py [FOLDER OF MODELS]
"""
import sys
from pathlib import Path

import numpy as np

import catena

models = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "models"
cart = catena.load(models / "cart_pendulum.yaml")

# ---- Upright is an equilibrium, and not a stable one. ----
upright = catena.State(cart, [0.0, np.pi], [0.0, 0.0])
model = catena.linearize(cart, upright, inputs=["rail"], outputs=["q.rail", "q.pivot"])
print(model)
print("accelerations there:", model.acceleration)
for mode in catena.modes(model).modes:
    print(f"  eigenvalue {mode.eigenvalue:.4f} 1/s")

# ---- Is the model right? The equations of a pole on a cart, linearized by hand: with u the push,
#      (M + m) x'' - m l a'' = u and (J + m l²) a'' - m l x'' = m g l a, a measured from upright. ----
big, m, l, j, g = 3.0, 1.5, 0.8, 0.12, 9.81
mass = np.array([[big + m, -m * l], [-m * l, j + m * l * l]])
by_hand = np.linalg.solve(mass, np.array([[0.0, 0.0], [0.0, m * g * l]]))
assert np.allclose(model.A[2:, :2], by_hand, atol=1e-12)
assert np.allclose(model.B[2:, 0], np.linalg.solve(mass, [1.0, 0.0]), atol=1e-12)

# ---- A regulator: min ∫ xᵀ Q x + uᵀ R u. (A, B, C, D) are arrays as python-control and SciPy take
#      them; NumPy alone does here: the stable subspace of the Hamiltonian matrix. ----
a, b, _, _ = catena.adapt.control(model)
weight, price = np.diag([10.0, 10.0, 1.0, 1.0]), np.array([[0.1]])
hamiltonian = np.block([[a, -b @ np.linalg.solve(price, b.T)], [-weight, -a.T]])
values, vectors = np.linalg.eig(hamiltonian)
stable = vectors[:, values.real < 0]
riccati = np.real(stable[4:] @ np.linalg.inv(stable[:4]))
gain = np.linalg.solve(price, b.T @ riccati)[0]
print("gain", gain)
closed = np.linalg.eigvals(a - np.outer(b, gain))
assert closed.real.max() < 0

# ---- And on the real, nonlinear mechanism, from 20 degrees off: ----
def push(t, state):
    error = np.concatenate([catena.difference(cart, upright, state), state.v])
    return -gain @ error


start = upright.copy()
start["pivot"] = np.pi + np.deg2rad(20)
run = catena.simulate(cart, start, duration=12.0, inputs={"rail": push})
print(f"pushed with up to {np.abs(run['effort.rail']).max():.1f} N; the cart went {np.abs(run['q.rail']).max():.2f} m")
print(f"after {run.time[-1]:.0f} s the pole is {np.rad2deg(run['q.pivot'][-1] - np.pi):.1e} degrees off")
assert abs(run["q.pivot"][-1] - np.pi) < 1e-3 and abs(run["q.rail"][-1]) < 1e-2
