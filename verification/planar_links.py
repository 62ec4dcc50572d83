# SPDX-License-Identifier: BSD-3-Clause
"""Planar chains of rigid and flexible links by dense Lagrange equations, for the generators of references.

A link has a frame that a hinge turns, a beam along its x axis with clamped-free modes (beam_modes.py), and point masses with
inertia at its frame and beyond the tip of its beam. The kinetic energy of a beam is that of a body with kinematics of second
order whose mass matrix is kept to first order in the deflection; positions and slopes of the tip are exact:

    T = J w^2/2 + m |v|^2/2 + w (hx vy - hy vx) + (w F + vy E - vx mu q).q' + q' G q'/2
    J = J0 + q (G - eta) q,   h = (h0 - q mu q/2, E q),   tip at (L - q S q/2, phi(L) q), turned by phi'(L) q

inconsistent: mu = eta = S = 0. ruthless: everything at q = q' = 0 but the stiffness and the damping. The mass matrix is
differentiated by complex steps, which are exact to rounding. No code of Catena is used.
"""
import numpy as np

import beam_modes

_SHAPES = {}


def shapes(n):
    """Matrices of the unit beam as arrays."""
    if n not in _SHAPES:
        beam = beam_modes.Beam(n)
        array = lambda m: np.array([[float(m[i, j]) for j in range(m.cols)] for i in range(m.rows)])
        _SHAPES[n] = {k: array(getattr(beam, k)) for k in ("H", "mu", "eta", "S")}
        for k in ("E", "F", "tip", "tip_slope"):
            _SHAPES[n][k] = np.array([float(x) for x in getattr(beam, k)])
    return _SHAPES[n]


class Link:
    """parent: a link, or None for the ground. at: point of its frame, or of the frame at its tip (from_tip)."""

    def __init__(self, parent=None, at=(0.0, 0.0), from_tip=False, turned=0.0):
        self.parent, self.at, self.from_tip, self.turned = parent, np.array(at), from_tip, turned
        self.beam, self.masses = None, []

    def add_beam(self, start, length, density, stiffness, modes, damping=0.0, model="consistent"):
        s, mass = shapes(modes), density * length
        keep = 0.0 if model == "inconsistent" else 1.0
        self.beam = {
            "n": modes, "start": start, "length": length, "mass": mass, "model": model,
            "K": s["H"] * stiffness / length**3, "G": mass, "E": mass * s["E"], "F": mass * length * s["F"],
            "mu": keep * mass / length * s["mu"], "eta": keep * mass * s["eta"], "S": keep / length * s["S"],
            "tip": s["tip"], "slope": s["tip_slope"] / length,
        }  # fmt: skip
        roots = np.sqrt(np.diag(self.beam["K"]) / mass)
        self.beam["D"] = np.diag(2.0 * damping * roots * mass)
        return self

    def add_mass(self, mass, inertia, at=(0.0, 0.0), on_tip=False):
        self.masses.append((mass, inertia, np.array(at), on_tip))
        return self


def turn(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]]), np.array([[-s, -c], [c, -s]])


class Chain:
    """Coordinates: for each link its angle, then its modes. `gap` (optional): a point whose motion is asked for."""

    def __init__(self, links):
        self.links, self.size = links, 0
        for link in links:
            link.angle = self.size
            self.size += 1
            count = link.beam["n"] if link.beam else 0
            link.modes = slice(self.size, self.size + count)
            self.size += count
        self.ruthless = any(x.beam and x.beam["model"] == "ruthless" for x in links)
        self.elastic = np.concatenate([np.arange(x.modes.start, x.modes.stop) for x in links]).astype(int)
        self.K, self.D = np.zeros((2, self.size, self.size))
        for x in links:
            if x.beam:
                self.K[x.modes, x.modes], self.D[x.modes, x.modes] = x.beam["K"], x.beam["D"]

    def frames(self, q):
        """For each link its frame and that at its tip: angle, position, and their Jacobians."""
        n, made = self.size, {}
        for link in self.links:
            if link.parent is None:
                a, r, Ja, Jr = 0.0, link.at.astype(q.dtype), np.zeros(n, q.dtype), np.zeros((2, n), q.dtype)
            else:
                a, r, Ja, Jr = self.point(made[link.parent][1 if link.from_tip else 0], link.at)
            Ja = Ja.copy()
            Ja[link.angle] += 1.0
            frame = (a + link.turned + q[link.angle], r, Ja, Jr)
            made[link] = (frame, self.tip(link, frame, q) if link.beam else None)
        return made

    def point(self, frame, at, dat=None):
        a, r, Ja, Jr = frame
        R, dR = turn(a)
        J = Jr + np.outer(dR @ at, Ja)
        if dat is not None:
            J = J + R @ dat
        return a, r + R @ at, Ja, J

    def tip(self, link, frame, q):
        b, y = link.beam, q[link.modes]
        at = np.array([b["start"] + b["length"] - 0.5 * y @ b["S"] @ y, b["tip"] @ y])
        dat = np.zeros((2, self.size), q.dtype)
        dat[:, link.modes] = np.array([-b["S"] @ y, b["tip"] + 0.0 * y])
        a, r, Ja, Jr = self.point(frame, at, dat)
        Ja = Ja.copy()
        Ja[link.modes] += b["slope"]
        return a + b["slope"] @ y, r, Ja, Jr

    def mass(self, q):
        if self.ruthless:
            q = q.copy()
            q[self.elastic] = 0.0
        return self.deformed_mass(q)

    def deformed_mass(self, q):
        M = np.zeros((self.size, self.size), q.dtype)
        for link, (frame, tip) in self.frames(q).items():
            for m, inertia, at, on_tip in link.masses:
                _, _, Ja, Jr = self.point(tip if on_tip else frame, at)
                M += m * Jr.T @ Jr + inertia * np.outer(Ja, Ja)
            if link.beam:
                b, y = link.beam, q[link.modes]
                a, _, w, Jr = self.point(frame, np.array([b["start"], 0.0]))
                vx, vy = turn(a)[0].T @ Jr
                L, m = b["length"], b["mass"]
                J = m * L**2 / 3 + y @ (b["G"] * y - b["eta"] @ y)
                hx, hy = m * L / 2 - 0.5 * y @ b["mu"] @ y, b["E"] @ y
                both = lambda u, v: np.outer(u, v) + np.outer(v, u)
                M += J * np.outer(w, w) + m * Jr.T @ Jr + hx * both(w, vy) - hy * both(w, vx)
                rate = np.zeros((b["n"], self.size), q.dtype)
                rate[:, link.modes] = np.eye(b["n"])
                M += both(w, b["F"] @ rate) + both(vy, b["E"] @ rate) - both(vx, (b["mu"] @ y) @ rate)
                M += b["G"] * rate.T @ rate
        return M

    def bias(self, q, v):
        """Terms with products of rates, without stiffness and damping."""
        if self.ruthless:
            q, v = q.copy(), v.copy()
            q[self.elastic] = v[self.elastic] = 0.0
        h, total, power = 1e-30, np.zeros(self.size), np.zeros(self.size)
        for k in range(self.size):
            step = q.astype(complex)
            step[k] += 1j * h
            dM = self.deformed_mass(step).imag / h
            total += v[k] * (dM @ v)
            power[k] = 0.5 * v @ dM @ v
        return total - power

    def acceleration(self, q, v, effort):
        return np.linalg.solve(self.mass(q), effort - self.bias(q, v) - self.K @ q - self.D @ v)

    def effort(self, q, v, a):
        return self.mass(q) @ a + self.bias(q, v) + self.K @ q + self.D @ v

    def energy(self, q, v):
        return 0.5 * v @ self.mass(q) @ v + 0.5 * q @ self.K @ q

    def locked_frequencies(self, q):
        """Of the modes with all hinges held, at rest."""
        e = self.elastic
        values = np.linalg.eigvals(np.linalg.solve(self.mass(q)[np.ix_(e, e)], self.K[np.ix_(e, e)]))
        return np.sqrt(np.sort(values.real))
