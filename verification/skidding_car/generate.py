# SPDX-License-Identifier: BSD-3-Clause
"""Prints the references of this case: a car on four wheels that skids and is driven at the friction limit.

A regularized model, integrated by RK4 with a fixed step. The car is a gyrostat: one rigid body (chassis and wheels, which are
symmetric about their axles) and four spins s_k relative to the chassis, with J the moment of inertia of a wheel about its axle,

  H = I w + e_y J sum s_k,   dH/dt + w x H = sum r_k x F_k,   J (dw_y/dt + ds_k/dt) = torque_k + e_y . (rho_k x F_k),

r_k from the mass centre to the point of contact, rho_k from the middle of the wheel to it. Normal force: a spring K and a damper
that only push, with the car at rest in the springs at the start. Friction: -mu N v_t / sqrt(v_t^2 + V^2). The motion with rigid
contact and Coulomb's law is the limit V -> 0, K -> infinity. Errors are of first order in V and 1/K: runs with 2 V and V, and
with K/4 and K, are extrapolated; what that changes is printed below. Takes some minutes (plain Python).

  generate.py [V, default 1e-4 m/s] [K, default 4e7 N/m] [step, default 4e-6 s]
"""
import sys
from math import cos, sin, sqrt

GRAVITY, MU, RADIUS = 9.81, 0.8, 0.1
CHASSIS, WHEEL = 20.0, 1.0
MASS = CHASSIS + 4 * WHEEL
J = 0.005
HEIGHT = CHASSIS * 0.05 / MASS  # of the mass centre above the axles
AXLES = [(0.25, 0.2), (0.25, -0.2), (-0.25, 0.2), (-0.25, -0.2)]  # fl, fr, rl, rr
IX = 0.4 + CHASSIS * (0.05 - HEIGHT) ** 2 + 4 * (0.003 + WHEEL * (0.2**2 + HEIGHT**2))
IY = 0.8 + CHASSIS * (0.05 - HEIGHT) ** 2 + 4 * (J + WHEEL * (0.25**2 + HEIGHT**2))
IZ = 1.0 + 4 * (0.003 + WHEEL * (0.25**2 + 0.2**2))


def rates(t, x, v_slip, k, c):
    """x: mass centre (3), quaternion w x y z, its velocity (3), turning rate in the body (3), spins (4)."""
    px, py, pz, qw, qx, qy, qz, vx, vy, vz, wx, wy, wz, s0, s1, s2, s3 = x
    r00 = 1 - 2 * (qy * qy + qz * qz)
    r01 = 2 * (qx * qy - qw * qz)
    r02 = 2 * (qx * qz + qw * qy)
    r10 = 2 * (qx * qy + qw * qz)
    r11 = 1 - 2 * (qx * qx + qz * qz)
    r12 = 2 * (qy * qz - qw * qx)
    r20 = 2 * (qx * qz - qw * qy)
    r21 = 2 * (qy * qz + qw * qx)
    r22 = 1 - 2 * (qx * qx + qy * qy)
    # Below the middle of a wheel, in the body: rho = -RADIUS (r20, r21, r22).
    dx, dy, dz = -RADIUS * r20, -RADIUS * r21, -RADIUS * r22
    spins = (s0, s1, s2, s3)
    torques = (3.0, 3.0 * cos(t), 5.0 * sin(t), -5.0 * sin(2 * t))
    fx = fy = fz = mx = my = mz = turn = 0.0
    ds = [0.0] * 4
    for i in range(4):
        ax, ay = AXLES[i]
        own = torques[i]
        gap = pz + r20 * ax + r21 * ay - r22 * HEIGHT - RADIUS
        if gap < 0.0:
            lx, ly, lz = ax + dx, ay + dy, dz - HEIGHT
            s = spins[i]
            # Velocity of the point in the body's frame: w x r + s e_y x rho.
            bx = wy * lz - wz * ly + s * dz
            by = wz * lx - wx * lz
            bz = wx * ly - wy * lx - s * dx
            ux = vx + r00 * bx + r01 * by + r02 * bz
            uy = vy + r10 * bx + r11 * by + r12 * bz
            # The gap's rate is that of the middle of the wheel.
            hx, hy, hz = -wy * HEIGHT - wz * ay, wz * ax + wx * HEIGHT, wx * ay - wy * ax
            rate = vz + r20 * hx + r21 * hy + r22 * hz
            n = -k * gap - c * rate
            if n > 0.0:
                slip = MU * n / sqrt(ux * ux + uy * uy + v_slip * v_slip)
                gx, gy = -slip * ux, -slip * uy
                fx += gx
                fy += gy
                fz += n
                # Into the body's frame.
                ex = r00 * gx + r10 * gy + r20 * n
                ey = r01 * gx + r11 * gy + r21 * n
                ez = r02 * gx + r12 * gy + r22 * n
                mx += ly * ez - lz * ey
                my += lz * ex - lx * ez
                mz += lx * ey - ly * ex
                own += dz * ex - dx * ez
        ds[i] = own / J
        turn += own
    hx, hy, hz = IX * wx, IY * wy + J * (s0 + s1 + s2 + s3), IZ * wz
    ax = (mx - (wy * hz - wz * hy)) / IX
    ay = (my - (wz * hx - wx * hz) - turn) / (IY - 4 * J)
    az = (mz - (wx * hy - wy * hx)) / IZ
    return (vx, vy, vz,
            0.5 * (-qx * wx - qy * wy - qz * wz), 0.5 * (qw * wx + qy * wz - qz * wy),
            0.5 * (qw * wy + qz * wx - qx * wz), 0.5 * (qw * wz + qx * wy - qy * wx),
            fx / MASS, fy / MASS, fz / MASS - GRAVITY, ax, ay, az,
            ds[0] - ay, ds[1] - ay, ds[2] - ay, ds[3] - ay)


def energy(x):
    vx, vy, vz, wx, wy, wz = x[7:13]
    inner = sum(J * s * (wy + 0.5 * s) for s in x[13:])
    return (0.5 * MASS * (vx * vx + vy * vy + vz * vz + 2 * GRAVITY * x[2]) +
            0.5 * (IX * wx * wx + IY * wy * wy + IZ * wz * wz) + inner)


def run(v_slip, k, h, ends):
    c = 2.0 * sqrt(k * MASS / 4)
    # The chassis turns about the vertical with 2 rad/s, and its origin moves with (0.5, 1, 0) m/s.
    x = [0.0, 0.0, RADIUS - MASS * GRAVITY / (4 * k) + HEIGHT, 1.0, 0.0, 0.0, 0.0,
         0.5, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0]
    found, n = [], 0
    for end in ends:
        while n < round(end / h):
            t = n * h
            k1 = rates(t, x, v_slip, k, c)
            k2 = rates(t + h / 2, [a + h / 2 * b for a, b in zip(x, k1)], v_slip, k, c)
            k3 = rates(t + h / 2, [a + h / 2 * b for a, b in zip(x, k2)], v_slip, k, c)
            k4 = rates(t + h, [a + h * b for a, b in zip(x, k3)], v_slip, k, c)
            x = [a + h / 6 * (p + 2 * (q + r) + s) for a, p, q, r, s in zip(x, k1, k2, k3, k4)]
            size = sqrt(sum(a * a for a in x[3:7]))
            x[3:7] = [a / size for a in x[3:7]]
            n += 1
        qw, qx, qy, qz = x[3:7]
        up = (2 * (qx * qz + qw * qy), 2 * (qy * qz - qw * qx), 1 - 2 * (qx * qx + qy * qy))
        found.append([energy(x), *(x[i] - HEIGHT * up[i] for i in range(3)), *x[13:]])
    return found


def main():
    v = float(sys.argv[1]) if len(sys.argv) > 1 else 1e-4
    k = float(sys.argv[2]) if len(sys.argv) > 2 else 4e7
    h = float(sys.argv[3]) if len(sys.argv) > 3 else 4e-6
    ends = (1.0, 2.0, 4.0)
    fine, slower, softer = run(v, k, h, ends), run(2 * v, k, h, ends), run(v, k / 4, h, ends)
    print("time, energy (J), chassis x y z (m), spins fl fr rl rr (rad/s); below: changed by V, by K")
    for end, a, b, c in zip(ends, fine, slower, softer):
        by_v = [x - y for x, y in zip(a, b)]
        by_k = [(x - y) / 3 for x, y in zip(a, c)]
        print(end, " ".join(f"{x + y + z:.9g}" for x, y, z in zip(a, by_v, by_k)))
        print("    V", " ".join(f"{y:.1e}" for y in by_v))
        print("    K", " ".join(f"{y:.1e}" for y in by_k))


if __name__ == "__main__":
    main()
