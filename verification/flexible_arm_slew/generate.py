# SPDX-License-Identifier: BSD-3-Clause
"""Prints the references of this case: states of the flexible arm after slews with the torques of the rigid arm, three models.

Rest to rest by a quintic, shoulder -45 to 45 degrees and elbow 135 to 0 in 4.25 s/alpha. The torques are those that the arm
with stiff links takes for that motion. Integrated with scipy's DOP853 and a relative tolerance of 1e-10.
"""
import sys
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "flexible_arm"))
from arm import LENGTH, arm  # noqa: E402

DURATION = 4.25
A, B, C = 21.480143778826, 2.393416949949, 2.115457157007  # M11 = A + 2 B cos, M12 = C + B cos, M22 = C


def torque(time, alpha):
    s, rate = alpha * time / DURATION, alpha / DURATION
    p = s**3 * (10 + s * (-15 + 6 * s))
    dp = rate * s**2 * (30 + s * (-60 + 30 * s))
    ddp = rate**2 * s * (60 + s * (-180 + 120 * s))
    d1, d2 = np.pi / 2, -3 * np.pi / 4
    elbow = 3 * np.pi / 4 + d2 * p
    c, sn = np.cos(elbow), np.sin(elbow)
    t1 = (A + 2 * B * c) * d1 * ddp + (C + B * c) * d2 * ddp - B * sn * (2 * d1 * d2 + d2 * d2) * dp**2
    t2 = (C + B * c) * d1 * ddp + C * d2 * ddp + B * sn * d1 * d1 * dp**2
    return t1, t2


def run(model, alpha):
    chain = arm(2, model)
    elbow = chain.links[1].angle
    start = np.zeros(2 * chain.size)
    start[0], start[elbow] = -np.pi / 4, 3 * np.pi / 4

    def rate(time, x):
        q, v = x[: chain.size], x[chain.size :]
        effort = np.zeros(chain.size)
        effort[0], effort[elbow] = torque(time, alpha)
        return np.concatenate([v, chain.acceleration(q, v, effort)])

    end = DURATION / alpha
    found = solve_ivp(rate, (0, end), start, "DOP853", rtol=1e-10, atol=1e-12)
    deflection = [np.abs(b["tip"] @ found.y[x.modes]).max() / LENGTH for x, b in ((x, x.beam) for x in chain.links)]
    joint_rate = max(np.abs(found.y[chain.size]).max(), np.abs(found.y[chain.size + elbow]).max())
    print(f"{model} alpha {alpha}: {found.message} t {found.t[-1]:.6f}")
    print("  q", np.array2string(found.y[: chain.size, -1], precision=12, max_line_width=200, separator=", "))
    print(f"  largest rate {joint_rate:.4f} rad/s, deflections {deflection[0]:.4f} {deflection[1]:.4f} of the length", flush=True)


if __name__ == "__main__":
    for alpha in [float(x) for x in sys.argv[1:]] or (1.0, 1.2, 0.1685):
        for model in ("consistent", "ruthless", "inconsistent"):
            run(model, alpha)
