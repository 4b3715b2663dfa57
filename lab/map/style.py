"""How each state looks: a colour, a kind of line and a sign, so that no state is told by colour alone.

The colours are Okabe and Ito's, chosen for people with any colour vision (jfly.uni-koeln.de/color, 2008); grey is ours.
"""

from typing import NamedTuple

from fleet.map_state import State

PAPER = "#ffffff"
"""The picture has a ground of its own, so that it reads on a white page and on a dark one."""
INK = "#1a1a1a"
FAINT = "#8a8a8a"
FONT = "DejaVu Sans Mono, Menlo, Consolas, Liberation Mono, monospace"


class Look(NamedTuple):
    """One state's look."""

    colour: str
    tint: str
    """The colour of its cards; ink reads on it."""
    dashes: str | None
    """Lengths of strokes and gaps; None is a whole line."""
    sign: str
    """An SVG path about its middle, ten pixels wide."""


LOOKS = {
    State.AS_DESIRED: Look("#009e73", "#e3f4ee", None, "M-4 0 L-1 3.5 L4 -3.5"),
    State.DECLARED: Look("#0072b2", "#e4f0f8", None, "M0 -4 L4 0 L0 4 L-4 0 Z"),
    State.ONLY_NAMED: Look("#707070", "#ffffff", "6 5", "M-3.5 0 A3.5 3.5 0 1 1 3.5 0 A3.5 3.5 0 1 1 -3.5 0 Z"),
    State.PENDING: Look("#b87a00", "#fdf3dc", "12 5", "M0 -4 L4.3 3.5 L-4.3 3.5 Z"),
    State.NOT_OBSERVED: Look("#a6488a", "#f8e9f3", "2 4", "M-2.5 -2 A2.5 2.5 0 1 1 0 0.5 L0 2 M0 4 L0 4.4"),
    State.REFUSED: Look("#d55e00", "#fbe9dd", "12 4 2 4", "M-3.5 -3.5 L3.5 3.5 M3.5 -3.5 L-3.5 3.5"),
}
"""Pending and not observed are darker than in the palette (#e69f00, #cc79a7): a thin line must show on white."""
