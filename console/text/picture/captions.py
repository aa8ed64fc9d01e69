"""The words of the picture of a fabric: in a box, beside a line, below it all. All are made plain here."""

import re
from collections.abc import Iterator, Sequence

from benchconsole.console.text.cells import clip_text, wrap_text
from benchconsole.console.text.sanitize import sanitize
from benchconsole.topology.outline.boxes import Box, Edge, Outline

NAME = 20
"""Columns of a name that only tells one line from another."""
_TOGETHER = re.compile(
    r"(?<=\d) (?=[kMGTP]?[bB](?:/s)?\b|[mµ]?s\b|x \d|cables)"  # 40 Gb/s, 50 ms, 2 x, 16 cables
    r"|(?<=\d x) (?=\d)|(?<=\bof|\bup) (?=\d)|(?<=\bdown) (?=\d)"  # x 40, of 2, up 160, down 320
    r"|(?<=◂) "
)
"""Blanks that do not end a line: within a quantity, a multiplicity, a share."""


class Captions:
    """The words for one outline."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        self._boxes = {box.id: box for box in outline.boxes}

    def box(self, id_: str) -> Box:
        return self._boxes[id_]

    def is_worst(self, box: Box) -> bool:
        return box.worst is not None and box.worst == self.outline.worst

    def facts(self, box: Box) -> Iterator[str]:
        """The lines of a box: what it is, where it stands, what joins its devices, what it carries."""
        yield sanitize(box.sort)
        if not box.exact:
            yield "not all alike"
        yield from map(sanitize, box.notes)
        for edge in self.outline.edges:
            if edge.lower == edge.upper == box.id:
                yield f"= {between(edge)}"
        *first, last = box.carried or ("",)
        yield from first
        if last:
            yield f"{last} ◂ worst" if self.is_worst(box) else last

    def notes(self) -> Iterator[str]:
        """The notes on the whole picture."""
        if self.outline.islands > 1:
            yield f"{self.outline.islands:,} parts that no cable joins."
        if not all(box.exact for box in self.outline.boxes):
            yield "Ranges are least to most: a box that says so holds devices that differ, or are cabled differently."


def entry(edges: Sequence[Edge], upper: Box | None = None) -> Iterator[str]:
    """The lines beside a line that enters a box; ``upper`` where it must be told from others."""
    head = "" if upper is None else f"{clip_text(sanitize(upper.name), NAME)}: "
    for edge in edges:
        yield head + ", ".join(word for word in (edge.cabling, edge.fan_in) if word)
        if edge.totals:
            yield edge.totals
        if edge.notes:
            yield sanitize(", ".join(edge.notes))


def between(edge: Edge) -> str:
    """Everything about an edge in one text."""
    return sanitize(", ".join(edge.words))


def wrap_caption(text: str, width: int) -> list[str]:
    """``text`` in lines of at most ``width`` columns; a number stays beside its unit."""
    lines = wrap_text(_TOGETHER.sub("\N{NO-BREAK SPACE}", text), width)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
