# SPDX-License-Identifier: BSD-3-Clause
"""Prints the references of this case: the integrals H, E, F, mu and eta of four clamped-free modes."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from beam_modes import Beam, text  # noqa: E402

beam = Beam(4)
rows = lambda m: "\n".join("  [" + ", ".join(text(m[i, j]) for j in range(4)) + "]" for i in range(4))
print("H", [text(beam.H[i, i]) for i in range(4)])
print("E", [text(x) for x in beam.E])
print("F", [text(x) for x in beam.F])
print("-mu = h2_x\n" + rows(-beam.mu))
print("2 (G - eta) = J2_zz\n" + rows(2 * (beam.G - beam.eta)))
