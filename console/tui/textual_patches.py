"""Owns what is changed inside Textual: one override, for the versions it was measured with, else nothing.

Textual 8.2 repaints a changed span from the left edge of its widget, so that one cell at
column 199 sends 200 cells. Cropped at both ends, a live map sends a seventieth of the bytes.
The override ends with the release that crops by itself.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from rich.console import Console
from rich.control import Control
from textual.strip import Strip

_KNOWN = ("8.2.",)


class Update(Protocol):
    """What the override reads of Textual's ``ChopsUpdate``."""

    chops: Sequence[Mapping[int, Strip | None]]
    spans: list[tuple[int, int, int]]
    chop_ends: list[list[int]]


def apply() -> bool:
    """Put the override in place; False when this Textual is not one it is known to fit."""
    import textual

    if not textual.__version__.startswith(_KNOWN):
        return False
    from textual._compositor import ChopsUpdate

    if not {"chops", "spans", "chop_ends"} <= set(ChopsUpdate.__init__.__code__.co_varnames):
        return False
    ChopsUpdate.render_segments = _cropped_on_both_sides  # type: ignore[method-assign]
    return True


def _cropped_on_both_sides(self: Update, console: Console) -> str:
    """Move to the first changed cell of each span and send no more than the span."""
    sent: list[str] = []
    for y, first, last in self.spans:
        for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
            if strip is None or x >= last or end <= first:
                continue
            start, stop = max(x, first), min(end, last)
            sent.append(Control.move_to(start, y).segment.text)
            sent.append(strip.crop(start - x, stop - x).render(console))
    return "".join(sent)
