# SPDX-License-Identifier: BSD-3-Clause
"""Prints the references of the spin-up cases: a planar geometrically exact beam (Reissner's strains: extension, shear, bending)
on a driven hub.

Two-node elements with linear interpolation and one integration point, in the inertial frame; the average acceleration method
of Newmark with small steps, Newton's method in every step. The deflection of the tip across the line of the hub, u2, is
extrapolated over the mesh (errors of the order h^2). No code of Catena is used.
"""
import sys

import numpy as np

BEAMS = {
    # length, EA, GA, EI, rho A, rho I, final rate, time of spin-up
    "simo": (10.0, 2.8e7, 1.0e7, 1.4e4, 1.2, 6e-4, 6.0, 15.0),
    "wu_haug": (8.0, 6.8952e10 * 7.2968e-5, 6.8952e10 * 7.2968e-5 / 2.6 * 5 / 6, 6.8952e10 * 8.2189e-9,
                2766.67 * 7.2968e-5, 2766.67 * 8.2189e-9, 4.0, 15.0),  # fmt: skip
}


def angle(t, rate, end):
    k = 2 * np.pi / end
    if t >= end:
        return rate * t - rate * end / 2, rate, 0.0
    a = rate / end
    return a * (t * t / 2 + (np.cos(k * t) - 1) / k**2), a * (t - np.sin(k * t) / k), a * (1 - np.cos(k * t))


def forces(x, h, EA, GA, EI):
    """Nodal forces and stiffness, all elements at once: x is (nodes, 3) with positions and angles."""
    a, b = x[:-1], x[1:]
    th = 0.5 * (a[:, 2] + b[:, 2])
    c, s = np.cos(th), np.sin(th)
    d = (b[:, :2] - a[:, :2]) / h
    g1, g2 = c * d[:, 0] + s * d[:, 1] - 1, -s * d[:, 0] + c * d[:, 1]
    kappa = (b[:, 2] - a[:, 2]) / h
    n, v, m = EA * g1, GA * g2, EI * kappa
    count = len(th)
    zero, one = np.zeros(count), np.ones(count)
    # rows of the derivative of the strains by the six freedoms
    r1 = np.array([-c / h, -s / h, (1 + 0 * g1) * g2 / 2, c / h, s / h, g2 / 2]).T
    r2 = np.array([s / h, -c / h, -(1 + g1) / 2, -s / h, c / h, -(1 + g1) / 2]).T
    r3 = np.array([zero, zero, -one / h, zero, zero, one / h]).T
    f = h * (n[:, None] * r1 + v[:, None] * r2 + m[:, None] * r3)
    K = h * (EA * r1[:, :, None] * r1[:, None, :] + GA * r2[:, :, None] * r2[:, None, :] + EI * r3[:, :, None] * r3[:, None, :])
    # second derivatives: by angle and displacement, and by angle twice
    for i in (2, 5):
        for j, s1, s2 in ((0, s / h, c / h), (1, -c / h, s / h), (3, -s / h, -c / h), (4, c / h, -s / h)):
            value = h * 0.5 * (n * s1 + v * s2)
            K[:, i, j] += value
            K[:, j, i] += value
        for j in (2, 5):
            K[:, i, j] += h * 0.25 * (-n * (1 + g1) - v * g2)
    return f, K


def run(beam, elements, step, stops):
    L, EA, GA, EI, rhoA, rhoI, rate, end = BEAMS[beam]
    h, nodes = L / elements, elements + 1
    size = 3 * nodes
    x = np.zeros((nodes, 3))
    x[:, 0] = np.linspace(0, L, nodes)
    v, acc = np.zeros_like(x), np.zeros_like(x)
    mass = np.zeros((nodes, nodes))
    for e in range(elements):
        mass[e : e + 2, e : e + 2] += h / 6 * np.array([[2, 1], [1, 2]])
    M = np.zeros((size, size))
    for k, density in ((0, rhoA), (1, rhoA), (2, rhoI)):
        M[k::3, k::3] = density * mass
    index = 3 * np.arange(elements)[:, None] + np.arange(6)[None, :]
    found, deepest = {}, (0.0, 0.0)
    free = slice(3, size)
    history = []
    for k in range(1, int(round(max(stops) / step)) + 1):
        t = k * step
        th, w, al = angle(t, rate, end)
        guess = x + step * v + 0.25 * step**2 * 2 * acc
        guess[0] = (0.0, 0.0, th)
        for _ in range(12):
            now = 4 / step**2 * (guess - x - step * v) - acc
            now[0] = (0.0, 0.0, al)
            f, Ke = forces(guess, h, EA, GA, EI)
            residual = M @ now.ravel()
            K = 4 / step**2 * M
            np.add.at(residual, index, f)
            np.add.at(K, (index[:, :, None], index[:, None, :]), Ke)
            change = np.linalg.solve(K[free, free], -residual[free])
            guess.ravel()[free] += change
            if np.abs(change).max() < 1e-8:  # the next step of Newton's method is at rounding
                break
        now = 4 / step**2 * (guess - x - step * v) - acc
        now[0] = (0.0, 0.0, al)
        v = v + 0.5 * step * (acc + now)
        v[0] = (0.0, 0.0, w)
        x, acc = guess, now
        u2 = -np.sin(th) * x[-1, 0] + np.cos(th) * x[-1, 1]
        history.append((t, u2))
        for stop in stops:
            if abs(t - stop) < 0.5 * step:
                found[stop] = u2
    t, u = np.array(history).T
    i = np.argmin(u)
    p = np.polyfit(t[i - 2 : i + 3], u[i - 2 : i + 3], 2)
    at = -p[1] / (2 * p[0])
    return [found[s] for s in stops] + [np.polyval(p, at), at]


if __name__ == "__main__":
    for beam in sys.argv[1:] or BEAMS:
        rows = []
        for n in (8, 16, 32):
            rows.append(np.array(run(beam, n, 0.005, (5.0, 7.5))))
            print(beam, n, "elements: u2(5), u2(7.5), largest, at:", rows[-1], flush=True)
        print(beam, "extrapolated:", rows[1] + (rows[1] - rows[0]) / 3, rows[2] + (rows[2] - rows[1]) / 3, flush=True)
