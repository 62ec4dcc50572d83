# SPDX-License-Identifier: BSD-3-Clause
"""Prints the references of this case: a hub with four booms under one period of a sine torque.

The booms bend alike, so a quarter of the hub with one boom, pinned at the centre, moves as the whole does. Integrated with
scipy's DOP853 and a relative tolerance of 1e-12; energy and momentum are four times those of the quarter.
"""
import sys
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from planar_links import Chain, Link  # noqa: E402

TORQUE, PERIOD = 20.0, 5.0
np.set_printoptions(precision=12, linewidth=160)


def quarter(model):
    hub = Link().add_beam(0.5, 4.0, 0.5, 100.0, 2, 0.0, model)
    return Chain([hub.add_mass(0.0, 20.0 / 4)])


for model in ("consistent", "ruthless"):
    chain = quarter(model)
    n = chain.size

    def rate(t, x):
        effort = np.zeros(n)
        effort[0] = TORQUE / 4 * np.sin(2 * np.pi * t / PERIOD) if t < PERIOD else 0.0
        return np.concatenate([x[n:], chain.acceleration(x[:n], x[n:], effort)])

    state = np.zeros(2 * n)
    for begin, end in ((0.0, 2.5), (2.5, 5.0), (5.0, 10.0)):  # a new start where the torque ends
        state = solve_ivp(rate, (begin, end), state, "DOP853", rtol=1e-12, atol=1e-14).y[:, -1]
        q, v = state[:n], state[n:]
        momentum = 4 * (chain.mass(q) @ v)[0]
        print(f"{model} t {end}: q {q} v {v} momentum {momentum:.12g} energy {4 * chain.energy(q, v):.12g}")
