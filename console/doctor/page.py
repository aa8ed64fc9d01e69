"""Owns how the doctor's lines read: on a terminal from 60 columns up, and as JSON. Refuses to judge."""

from collections.abc import Iterable, Iterator, Sequence

from console.doctor.meaning import Grade, Line
from console.reports.content import folded, shortened
from console.reports.text import wrapped
from console.view import State
from console.wording import SIGNS, count, in_ascii
from topology.model import NodeId

SIGN_OF = {Grade.BAD: SIGNS[State.FAIL], Grade.NOTE: SIGNS[State.WATCH], Grade.FINE: SIGNS[State.PASS]}
MOST = 4
"""Lines that the names of one sentence may take."""

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def page(lines: Iterable[Line], usable: int, asked: int, *, width: int, ascii_only: bool = False) -> Iterator[str]:
    """The lines of text: section by section, then whether every node can be used."""
    section = ""
    for line in lines:
        if line.section != section:
            section = line.section
            yield section
        for text in _line(line, width):
            yield in_ascii(text) if ascii_only else text
    if asked:
        yield ""
        yield f"{usable:,} of {count(asked, 'node')} can be used"


def _line(line: Line, width: int) -> Iterator[str]:
    yield from wrapped(shortened(line.text), width, f"  {SIGN_OF[line.grade].glyph} ")
    if line.nodes:
        number = f" ({len(line.nodes):,})" if len(line.nodes) > 1 else ""
        yield from wrapped(f"{folded(line.nodes)}{number}", width, "      ", most=MOST)


def document(lines: Sequence[Line], usable: Sequence[NodeId], asked: Sequence[NodeId]) -> dict[str, Json]:
    """The same as plain JSON values."""
    return {
        "asked": list(asked),
        "usable": list(usable),
        "lines": [
            {
                "section": line.section,
                "grade": line.grade.value,
                "text": shortened(line.text),
                "nodes": list(line.nodes),
            }
            for line in lines
        ],
    }
