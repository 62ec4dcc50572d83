"""How the first bending frequency of a beam changes when it spins, by three models of the deformation.

The inconsistent model, which leaves out that a bent beam gets shorter, loses its stiffness and diverges where the
spin reaches the first frequency.
"""
import numpy as np

import catena


def rotor(model):
    beam = catena.make_beam(
        length=10.0,
        section={"values": {"bending_z": 1.4e4, "mass_per_length": 1.2}},
        modes={"set": "clamped_free", "count": 4},
        model=model,
    )
    b = catena.MechanismBuilder("rotor")
    b.set_gravity([0, 0, 0])
    b.add_flexible_body("beam", beam)
    b.add_hinge("spin", "world", "beam", axes="z")
    return b.finish(), beam.frequencies[0]


def frequency(mechanism, spin):
    """Of the modes, with the hub driven at a constant rate; nan: it diverges."""
    state = mechanism.default_state()
    state["v.spin"] = spin
    d = catena.inverse_dynamics_derivatives(mechanism, state, np.zeros(mechanism.freedoms))
    squares = np.linalg.eigvals(np.linalg.solve(d.da[1:, 1:], d.dq[1:, 1:])).real
    return np.sqrt(squares.min()) if squares.min() > 0 else np.nan


rotors = {model: rotor(model) for model in ("consistent", "ruthless", "inconsistent")}
first = rotors["consistent"][1]
print(f"first frequency at rest: {first:.4f} rad/s")
print("spin/first  " + "  ".join(f"{model:>12}" for model in rotors))
for ratio in (0.0, 0.5, 0.9, 1.1, 2.0, 5.0):
    found = [frequency(mechanism, ratio * first) / first for mechanism, _ in rotors.values()]
    print(f"{ratio:10.1f}  " + "  ".join(f"{x:12.6f}" for x in found))
