# SPDX-License-Identifier: BSD-3-Clause
"""Prints the references of this case: in-plane frequencies of the L-shaped beam at rest and at a spin of 6 rad/s about the
normal of its plane, by planar finite elements (cubic bending, linear extension, consistent mass, geometric stiffness of the
axial forces that the centrifugal load causes, spin softening and Coriolis terms), extrapolated over the mesh."""
import numpy as np

SPIN = 6.0
LEGS = [((1, 0), 2.0, 70e9, 3000.0, 0.009, 0.009), ((0, 1), 0.4, 210e9, 7895.0, 0.009, 0.0095)]  # height, width


def frequencies(count, spin):
    nodes, elements = [np.zeros(2)], []
    for direction, length, young, density, height, width in LEGS:
        for _ in range(count):
            nodes.append(nodes[-1] + np.array(direction) * length / count)
            area, inertia = height * width, height * width**3 / 12
            elements.append((len(nodes) - 2, direction, length / count, young * area, young * inertia, density * area))
    size = 3 * len(nodes)
    K, M, coupling, prestress = np.zeros((4, size, size))
    bend, along = [1, 2, 4, 5], [0, 3]
    where, forces = [], np.zeros(size)
    for i, (c, s), L, EA, EI, rho in elements:
        k, m = np.zeros((2, 6, 6))
        k[np.ix_(along, along)] = EA / L * np.array([[1, -1], [-1, 1]])
        k[np.ix_(bend, bend)] = EI / L**3 * np.array(
            [[12, 6 * L, -12, 6 * L], [6 * L, 4 * L * L, -6 * L, 2 * L * L],
             [-12, -6 * L, 12, -6 * L], [6 * L, 2 * L * L, -6 * L, 4 * L * L]])  # fmt: skip
        m[np.ix_(along, along)] = rho * L / 6 * np.array([[2, 1], [1, 2]])
        m[np.ix_(bend, bend)] = rho * L / 420 * np.array(
            [[156, 22 * L, 54, -13 * L], [22 * L, 4 * L * L, 13 * L, -3 * L * L],
             [54, 13 * L, 156, -22 * L], [-13 * L, -3 * L * L, -22 * L, 4 * L * L]])  # fmt: skip
        # Coriolis: integral of rho (u dv - v du), u along and v across
        g = np.zeros((6, 6))
        g[np.ix_(along, bend)] = rho * L / 60 * np.array([[21, 3 * L, 9, -2 * L], [9, 2 * L, 21, -3 * L]])
        g -= g.T
        T = np.kron(np.eye(2), np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]))
        d = np.arange(3 * i, 3 * i + 6)
        place = np.concatenate([nodes[i], [0], nodes[i + 1], [0]])  # straight: no slopes
        load = spin**2 * (m @ (T @ place))
        where.append((d, T, L, EA))
        forces[d] += T.T @ load
        K[np.ix_(d, d)] += T.T @ k @ T
        M[np.ix_(d, d)] += T.T @ m @ T
        coupling[np.ix_(d, d)] += T.T @ g @ T
    free = slice(3, size)
    rest = np.zeros(size)
    rest[free] = np.linalg.solve(K[free, free], forces[free])
    for (d, T, L, EA) in where:
        u = T @ rest[d]
        tension = EA * (u[3] - u[0]) / L
        p = np.zeros((6, 6))
        p[np.ix_(bend, bend)] = tension / (30 * L) * np.array(
            [[36, 3 * L, -36, 3 * L], [3 * L, 4 * L * L, -3 * L, -L * L],
             [-36, -3 * L, 36, -3 * L], [3 * L, -L * L, -3 * L, 4 * L * L]])  # fmt: skip
        prestress[np.ix_(d, d)] += T.T @ p @ T
    n = size - 3
    stiff = (K + prestress - spin**2 * M)[free, free]
    # T = |u' + spin J (x + u)|^2/2 gives the Coriolis force 2 spin (integral of rho (u dv - v du))
    A = np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    A[n:, :n] = -np.linalg.solve(M[free, free], stiff)
    A[n:, n:] = np.linalg.solve(M[free, free], 2 * spin * coupling[free, free])
    found = np.linalg.eigvals(A).imag
    return np.sort(found[found > 1e-6])[:3]


for spin in (0.0, SPIN):
    for count in (10, 20, 40):
        print(f"spin {spin} elements {count}: {frequencies(count, spin)} rad/s, {frequencies(count, spin) / 2 / np.pi} Hz")
