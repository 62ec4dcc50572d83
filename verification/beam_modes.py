# SPDX-License-Identifier: BSD-3-Clause
"""Clamped-free bending modes of a uniform beam and their integrals, for the generators of references.

Units: EI = rho A = L = 1. A mode has the integral of phi^2 equal to 1 and a positive curvature at the clamped end, so that
its tip value is +2, -2, +2, ... Everything is computed with 30 digits (mpmath) from the closed form of the shapes; no code of
Catena is used. Integrals are those of Padilla and von Flotow (1989), equation (2).
"""
import mpmath as mp

mp.mp.dps = 30


def eigenvalue(k):
    """lambda_k of cos(x) cosh(x) + 1 = 0, k = 1, 2, ..."""
    return mp.findroot(lambda x: mp.cos(x) + 1 / mp.cosh(x), (2 * k - 1) * mp.pi / 2 + (0.3 if k == 1 else 0))


class Mode:
    def __init__(self, k):
        self.root = eigenvalue(k)
        a = self.root
        self.ratio = (mp.cosh(a) + mp.cos(a)) / (mp.sinh(a) + mp.sin(a))

    def value(self, x, derivative=0):
        """phi or one of its derivatives at x in 0..1."""
        a, s = self.root, self.ratio
        y = a * x
        hyperbolic = (mp.cosh(y), mp.sinh(y))
        c, d = mp.cos(y), mp.sin(y)
        # derivatives of cosh y - cos y and of sinh y - sin y
        first = [hyperbolic[0] - c, hyperbolic[1] + d, hyperbolic[0] + c, hyperbolic[1] - d]
        second = [hyperbolic[1] - d, hyperbolic[0] - c, hyperbolic[1] + d, hyperbolic[0] + c]
        return a**derivative * (first[derivative % 4] - s * second[derivative % 4])


def integral(function):
    """Over 0..1; twelve panels are enough for the first ten modes."""
    return mp.quad(function, [mp.mpf(i) / 12 for i in range(13)])


class Beam:
    """The first n modes with lists E, F, matrices G (the identity), H, mu, eta and S (foreshortening at the tip)."""

    def __init__(self, n):
        self.n = n
        self.modes = [Mode(k + 1) for k in range(n)]
        m = self.modes
        self.H = mp.diag([x.root**4 for x in m])
        self.G = mp.eye(n)
        self.E = mp.matrix([integral(lambda t, x=x: x.value(t)) for x in m])
        self.F = mp.matrix([integral(lambda t, x=x: t * x.value(t)) for x in m])
        self.mu = self._pairs(lambda t: 1 - t)
        self.eta = self._pairs(lambda t: (1 - t * t) / 2)
        self.S = self._pairs(lambda t: mp.mpf(1))
        self.tip = mp.matrix([x.value(1) for x in m])
        self.tip_slope = mp.matrix([x.value(1, 1) for x in m])

    def _pairs(self, weight):
        """Integrals of weight phi_i' phi_j'."""
        result = mp.matrix(self.n, self.n)
        for i, a in enumerate(self.modes):
            for j, b in enumerate(self.modes[: i + 1]):
                result[i, j] = result[j, i] = integral(lambda t: weight(t) * a.value(t, 1) * b.value(t, 1))
        return result


class Polynomials:
    """The same matrices for the shapes x^2, x^3, ...: n of them converge fast."""

    def __init__(self, n):
        self.n = n
        power = range(2, n + 2)
        build = lambda entry: mp.matrix([[entry(mp.mpf(i), mp.mpf(j)) for j in power] for i in power])
        self.G = build(lambda i, j: 1 / (i + j + 1))
        self.H = build(lambda i, j: i * (i - 1) * j * (j - 1) / (i + j - 3))
        slope = lambda i, j, k: i * j / (i + j - 1 + k)  # integral of x^k (x^i)' (x^j)'
        self.mu = build(lambda i, j: slope(i, j, 0) - slope(i, j, 1))
        self.eta = build(lambda i, j: (slope(i, j, 0) - slope(i, j, 2)) / 2)


def squares(mass, stiffness):
    """Eigenvalues of stiffness x = lambda mass x, lowest first."""
    factor = mp.cholesky(mass)
    inverse = factor**-1
    return sorted(mp.eigsy(inverse * stiffness * inverse.T, eigvals_only=True))


def spinning(shapes, spin, hub, flap=False):
    """Stiffness at a constant spin, hub radius `hub`; lag (in the plane of rotation) or flap."""
    stiffness = shapes.H + spin**2 * (hub * shapes.mu + shapes.eta)
    return stiffness if flap else stiffness - spin**2 * shapes.G


def text(x, digits=13):
    return mp.nstr(x, digits, strip_zeros=False)
