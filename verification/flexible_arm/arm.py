# SPDX-License-Identifier: BSD-3-Clause
"""The two-link flexible arm of Padilla and von Flotow (1989), table 1, with the bending stiffnesses that its line densities
imply: 3 in wide aluminium strips of 1/4 and 1/8 in. The elbow's mass is at the hinge, its inertia half on either side."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from planar_links import Chain, Link  # noqa: E402

LENGTH, EI = 0.9144, (112.106, 14.0133)


def arm(modes, model="consistent", damping=0.01):
    upper = Link().add_beam(0.0762, LENGTH, 1.33937, EI[0], modes, damping, model)
    upper.add_mass(20.0, 0.01).add_mass(7.0, 0.015, (0.0762, 0.0), on_tip=True)
    fore = Link(upper, (0.0762, 0.0), from_tip=True).add_beam(0.0127, LENGTH, 0.669685, EI[1], modes, damping, model)
    fore.add_mass(7.0, 0.015).add_mass(2.0, 0.01, (0.0508, 0.0), on_tip=True)
    return Chain([upper, fore])
