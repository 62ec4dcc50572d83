# SPDX-License-Identifier: BSD-3-Clause
"""Prints the references of this case: frequencies with locked hinges, condition numbers and entries of the mass matrix."""
import numpy as np
from arm import EI, LENGTH, arm

np.set_printoptions(precision=12, linewidth=200, suppress=False)


def locked_by_polynomials(elbow, n):
    """First two frequencies with locked hinges; coordinates: coefficients of (x/L)^2, (x/L)^3, ... of link 1, then of link 2."""
    c, s, L = np.cos(elbow), np.sin(elbow), LENGTH
    p = np.arange(2, n + 2)
    total = p[:, None] + p[None, :]
    bend = np.outer(p * (p - 1), p * (p - 1)) / (total - 3)
    K, M = np.zeros((2, 2 * n, 2 * n))
    one, two = slice(0, n), slice(n, 2 * n)
    K[one, one], K[two, two] = EI[0] / L**3 * bend, EI[1] / L**3 * bend
    M[one, one] += 1.33937 * L / (total + 1)
    # Link 1: tip displacement (across) and slope; the elbow's mass is 0.0762 beyond.
    zero = np.zeros(2 * n)
    slope, hinge = zero.copy(), zero.copy()
    slope[one], hinge[one] = p / L, 1 + 0.0762 * p / L
    M += 14.0 * np.outer(hinge, hinge) + 0.03 * np.outer(slope, slope)
    # Link 2, axes turned by the elbow: its hinge moves by (s, c) hinge along and across it, and it turns by the slope.
    along, across = s * hinge, c * hinge
    nodes, weights = np.polynomial.legendre.leggauss(20)
    for x, w in zip(0.5 * (nodes + 1), 0.5 * weights):
        v = across + (0.0127 + x * L) * slope
        v[two] += x**p
        M += w * 0.669685 * L * (np.outer(v, v) + np.outer(along, along))
    end, turn = across + (0.0127 + L + 0.0508) * slope, slope.copy()
    end[two] += 1 + 0.0508 * p / L
    turn[two] += p / L
    M += 2.0 * (np.outer(end, end) + np.outer(along, along)) + 0.01 * np.outer(turn, turn)
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)
    return np.sqrt(squares[:2])


for modes in (1, 2, 4, 10):
    chain = arm(modes)
    for degrees in (0, 45, 90, 135):
        q = np.zeros(chain.size)
        q[chain.links[1].angle] = np.radians(degrees)
        M = chain.mass(q)
        print(f"modes {modes} elbow {degrees}: {chain.locked_frequencies(q)[:2]} condition {np.linalg.cond(M):.8g}")
        if modes == 2:
            r = [0, chain.links[1].angle]
            print("  rigid", M[np.ix_(r, r)].ravel())
            if degrees == 90:
                print("  mass matrix\n", M)
# Deflected: first-mode tip deflections of 4 % of the length, up on link 1 and down on link 2.
for model in ("consistent", "inconsistent", "ruthless"):
    chain = arm(2, model)
    for degrees in (45, 90, 135):
        q = np.zeros(chain.size)
        q[chain.links[1].angle] = np.radians(degrees)
        q[chain.links[0].modes.start], q[chain.links[1].modes.start] = 0.02 * LENGTH, -0.02 * LENGTH
        M = chain.mass(q)
        print(f"{model} elbow {degrees} deflected: determinant {np.linalg.det(M):.12g} eigenvalues {np.linalg.eigvalsh(M)}")
# Converged: both links by polynomials x^2, x^3, ... in place of modes.
for degrees in (0, 45, 90, 135):
    print(f"converged elbow {degrees}:", [locked_by_polynomials(np.radians(degrees), n) for n in (5, 6, 7)])
