# SPDX-License-Identifier: BSD-3-Clause
"""Prints the references of this case: flap and lag frequencies of a rotating cantilever, by 18 polynomials with 60 digits."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from beam_modes import Polynomials, mp, spinning, squares, text  # noqa: E402

mp.mp.dps = 60
shapes = Polynomials(18)
find = lambda spin, hub, flap: [text(mp.sqrt(x), 9) for x in squares(shapes.G, spinning(shapes, mp.mpf(spin), hub, flap))[:2]]
for spin in (0, 1, 2, 3, 4, 6, 8, 10, 12):
    print(f"spin {spin} flap {find(spin, 0, True)} lag {find(spin, 0, False)}")
print(f"spin 12, hub 1: flap {find(12, 1, True)} lag {find(12, 1, False)}")
