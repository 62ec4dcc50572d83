# SPDX-License-Identifier: BSD-3-Clause
"""Prints the references of this case: H - g mu by modes, where its smallest eigenvalue is zero, and the closed form of that."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from beam_modes import Beam, mp, squares, text  # noqa: E402

for n in (1, 2, 4):
    beam = Beam(n)
    inverse = squares(beam.H, beam.mu)[-1]
    print(f"modes {n}: critical g {text(1 / inverse, 15)}")
    for g in (-8, 4, 7):
        print(f"  g {g}: squared frequencies {[text(x) for x in squares(beam.G, beam.H - g * beam.mu)]}")
# Exact: theta'' + g (1 - x) theta = 0 has Bessel functions of order -1/3, J_{-1/3}(2/3 sqrt(g)) = 0.
print("exact critical g", text(mp.findroot(lambda g: mp.besselj(-mp.mpf(1) / 3, 2 * mp.sqrt(g) / 3), 7.8), 15))
