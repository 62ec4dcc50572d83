# SPDX-License-Identifier: BSD-3-Clause
"""Prints the references of this case: the first bending frequency at spin from 18 polynomials with 60 digits, and from 16."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from beam_modes import Polynomials, eigenvalue, mp, spinning, squares, text  # noqa: E402

mp.mp.dps = 60
first = eigenvalue(1) ** 2
for n in (16, 18):
    shapes = Polynomials(n)
    for hub in (mp.mpf(0), mp.mpf(1) / 2, mp.mpf(1)):
        found = [
            text(mp.sqrt(squares(shapes.G, spinning(shapes, ratio * first, hub))[0]), 10)
            for ratio in (mp.mpf(1) / 2, 1, 2, 5, 10)
        ]
        print(f"polynomials {n} hub {mp.nstr(hub)}: {', '.join(found)}")
