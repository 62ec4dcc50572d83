# SPDX-License-Identifier: BSD-3-Clause
"""Prints the references of this case: a rigid and a flexible link whose point A, 1.8 m along the second link, follows a line
in one second. Torques of the rigid arm; generalized forces of the conventional constraint on the flexible one; eigenvalues of
the zero dynamics with cantilever and with pinned-free modes."""
import sys
from pathlib import Path

import mpmath as mp
import numpy as np
from scipy.integrate import solve_ivp

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from beam_modes import Mode, integral  # noqa: E402
from planar_links import Chain, Link  # noqa: E402

L1, L2, A, MASS, EI = 1.0, 2.7, 1.8, 15.0, 68.95e9 * 0.0005**2 / 12
START = np.radians([80.0, -160.0])
X0 = L1 * np.cos(START[0]) + A * np.cos(START.sum())
Y0 = L1 * np.sin(START[0]) + A * np.sin(START.sum())
np.set_printoptions(precision=12, linewidth=160)


def links(modes, model="consistent"):
    first = Link().add_mass(30.0, 2.5, (0.5, 0.0))
    second = Link(first, (L1, 0.0))
    if modes:
        second.add_beam(0.0, L2, MASS / L2, EI, modes, 0.0, model)
    else:
        second.add_mass(MASS, MASS * L2**2 / 12, (L2 / 2, 0.0))
    return Chain([first, second])


class Task:
    """Point A on the line x_A(t): its Jacobian and the acceleration of the path."""

    def __init__(self, modes, model="consistent"):
        self.chain = links(modes, model)
        self.shape = np.array([float(Mode(k + 1).value(mp.mpf(A) / mp.mpf(L2))) for k in range(modes)])
        keep = 1.0 if model == "consistent" else 0.0
        self.S = keep / L2 * np.array(
            [[float(integral_to(A / L2, i, j)) for j in range(modes)] for i in range(modes)]).reshape(modes, modes)  # fmt: skip

    def jacobian(self, q):
        link = self.chain.links[1]
        frame = self.chain.frames(q)[link][0]
        y = q[link.modes]
        dat = np.zeros((2, self.chain.size), q.dtype)
        dat[:, link.modes] = np.array([-self.S @ y, self.shape + 0.0 * y]) if len(y) else np.zeros((2, 0))
        at = np.array([A - 0.5 * y @ self.S @ y, self.shape @ y])
        return self.chain.point(frame, at, dat)[3]

    def acceleration(self, time, q, v):
        """v' and the generalized forces B' lambda."""
        h = 1e-30
        B = self.jacobian(q.astype(complex)).real
        drift = self.jacobian(q + 1j * h * v).imag / h @ v
        wanted = np.array([1.5 * 2 * np.pi * np.sin(2 * np.pi * time), 0.0]) - drift
        M = self.chain.mass(q)
        right = -self.chain.bias(q, v) - self.chain.K @ q
        n = len(q)
        both = np.block([[M, -B.T], [B, np.zeros((2, 2))]])
        found = np.linalg.solve(both, np.concatenate([right, wanted]))
        return found[:n], B.T @ found[n:]

    def run(self, times):
        n = self.chain.size
        start = np.concatenate([START, np.zeros(n - 2), np.zeros(n)])
        rate = lambda t, x: np.concatenate([x[n:], self.acceleration(t, x[:n], x[n:])[0]])
        return solve_ivp(rate, (0, times[-1]), start, "DOP853", rtol=1e-12, atol=1e-14, t_eval=times).y.T


_DONE = {}


def integral_to(x, i, j):
    """Of phi_i' phi_j' from 0 to x."""
    if (x, i, j) not in _DONE:
        a, b = Mode(i + 1), Mode(j + 1)
        _DONE[x, i, j] = x * integral(lambda t: a.value(x * t, 1) * b.value(x * t, 1))
    return _DONE[x, i, j]


def pinned_free(count):
    """Shapes of a pinned-free beam less their slope at the hinge, as a frame tangent there sees them: callables of x/L."""
    shapes = []
    for k in range(1, count + 1):
        a = mp.findroot(lambda x: mp.tan(x) - mp.tanh(x), (k + mp.mpf(1) / 4) * mp.pi)
        w = lambda x, a=a: mp.sin(a * x) + mp.sin(a) / mp.sinh(a) * mp.sinh(a * x)
        d = lambda x, a=a: a * (mp.cos(a * x) + mp.sin(a) / mp.sinh(a) * mp.cosh(a * x))
        c = lambda x, a=a: a * a * (-mp.sin(a * x) + mp.sin(a) / mp.sinh(a) * mp.sinh(a * x))
        slope = d(0)
        shapes.append((lambda x, w=w, slope=slope: w(x) - slope * x, c))
    return shapes


def clamped(count):
    return [(lambda x, m=Mode(k): m.value(x), lambda x, m=Mode(k): m.value(x, 2)) for k in range(1, count + 1)]


def zero_dynamics(shapes, directions=None):
    """Eigenvalues of A_z at the start. Coordinates th1, th2 (of the tangent frame) and the shapes; dense and to first order."""
    n = len(shapes)
    one = lambda f: float(integral(f))
    E = MASS * np.array([one(s[0]) for s in shapes])
    F = MASS * L2 * np.array([one(lambda x, s=s: x * s[0](x)) for s in shapes])
    G = MASS * np.array([[one(lambda x, s=s, r=r: s[0](x) * r[0](x)) for r in shapes] for s in shapes])
    K = EI / L2**3 * np.array([[one(lambda x, s=s, r=r: s[1](x) * r[1](x)) for r in shapes] for s in shapes])
    c, s = np.cos(START[1]), np.sin(START[1])
    M = np.zeros((n + 2, n + 2))
    I2, h = MASS * L2**2 / 3, MASS * L2 / 2
    M[0, 0] = 10 + MASS * L1**2 + 2 * L1 * h * c + I2
    M[0, 1] = M[1, 0] = I2 + L1 * h * c
    M[1, 1] = I2
    M[0, 2:] = M[2:, 0] = F + L1 * c * E
    M[1, 2:] = M[2:, 1] = F
    M[2:, 2:] = G
    stiff = np.zeros_like(M)
    stiff[2:, 2:] = K
    a1, a2 = START[0], START.sum()
    B = np.zeros((2, n + 2))
    B[:, 0] = [-L1 * np.sin(a1) - A * np.sin(a2), L1 * np.cos(a1) + A * np.cos(a2)]
    B[:, 1] = [-A * np.sin(a2), A * np.cos(a2)]
    at = np.array([float(s[0](mp.mpf(A) / L2)) for s in shapes])
    B[:, 2:] = np.outer([-np.sin(a2), np.cos(a2)], at)
    left = np.zeros((n, n + 2))
    left[:, 2:] = np.eye(n)  # rows in which no motor acts
    null = np.linalg.svd(B)[2][2:].T
    return np.sort(np.linalg.eigvals(np.linalg.solve(left @ M @ null, left @ stiff @ null)).real)


if __name__ == "__main__":
    times = np.round(np.arange(1, 11) * 0.1, 10)
    rigid = Task(0)
    for t, x in zip(times, rigid.run(times)):
        a, force = rigid.acceleration(t, x[:2], x[2:])
        print(f"rigid t {t:.1f} q {x[:2]} v {x[2:]} a {a} torque {force}")
    for model in ("inconsistent", "consistent"):
        flexible = Task(2, model)
        for t, x in zip(times, flexible.run(times)):
            if t in (0.2, 0.5, 0.8):
                a, force = flexible.acceleration(t, x[:4], x[4:])
                print(f"{model} t {t} q {x[:4]}\n  v {x[4:]}\n  a {a}\n  force {force}")
    for count in (1, 2):
        print("cantilever", count, zero_dynamics(clamped(count)))
    print("pinned-free 2", zero_dynamics(pinned_free(2)))
