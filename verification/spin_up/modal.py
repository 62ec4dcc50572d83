# SPDX-License-Identifier: BSD-3-Clause
"""Prints references of the spin-up case for the three models with two modes and no rotary inertia: at a prescribed spin
Omega(t) the equations of the modes are linear,

    G q'' + (H + s1 Omega^2 eta - s2 Omega^2 G) q = -Omega' F,

consistent s1 = s2 = 1, inconsistent s1 = 0, ruthless s1 = s2 = 0; the tip is at phi(L) q. Integrals of the closed-form modes,
scipy's DOP853 with a relative tolerance of 1e-12."""
import sys
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from planar_links import Link  # noqa: E402

RATE, END = 6.0, 15.0
b = Link().add_beam(0.0, 10.0, 1.2, 1.4e4, 2).beam
for model, s1, s2 in (("consistent", 1, 1), ("inconsistent", 0, 1), ("ruthless", 0, 0)):

    def rate(t, x):
        spin = RATE / END * (t - END / (2 * np.pi) * np.sin(2 * np.pi * t / END))
        alpha = RATE / END * (1 - np.cos(2 * np.pi * t / END))
        q = x[:2]
        force = -alpha * b["F"] - b["K"] @ q - spin**2 * (s1 * b["eta"] @ q - s2 * b["G"] * q)
        return np.concatenate([x[2:], force / b["G"]])

    found = solve_ivp(rate, (0, 14), np.zeros(4), "DOP853", rtol=1e-12, atol=1e-14, t_eval=[5, 7.5, 12, 14]).y
    print(model, [f"{x:.10g}" for x in b["tip"] @ found[:2]])
