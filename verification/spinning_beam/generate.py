# SPDX-License-Identifier: BSD-3-Clause
"""Prints the references of this case: bending frequencies at spin, by hub radius and number of modes."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from beam_modes import Beam, mp, spinning, squares, text  # noqa: E402

for n in (1, 2, 4):
    beam = Beam(n)
    first = beam.modes[0].root ** 2
    for hub in (mp.mpf(0), mp.mpf(1) / 2, mp.mpf(1)):
        for ratio in (mp.mpf(1) / 2, 1, 2, 5, 10):
            found = [text(mp.sqrt(x)) for x in squares(beam.G, spinning(beam, ratio * first, hub))]
            print(f"hub {mp.nstr(hub)} modes {n} spin {text(ratio * first)}: {', '.join(found)}")
