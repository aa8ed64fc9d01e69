"""The page of the doctor: its lines for a terminal from 60 columns up, and as JSON."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from benchconsole.console.doctor.diagnosis import DiagnosisLine, Grade
from benchconsole.console.text.cells import to_ascii, wrap_names, wrap_text
from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import shorten_text
from benchconsole.console.view.run_view import State
from benchconsole.console.view.wording import SIGNS
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import counted as count

SIGN_OF = {Grade.BAD: SIGNS[State.FAIL], Grade.NOTE: SIGNS[State.WATCH], Grade.FINE: SIGNS[State.PASS]}
MOST = 4
"""Lines that the names of one sentence may take."""

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def format_page(
    lines: Iterable[DiagnosisLine], usable: int, asked: int, *, width: int, ascii_only: bool = False
) -> Iterator[str]:
    """The lines of text: section by section, then whether every node can be used."""
    section = ""
    for line in lines:
        if line.section != section:
            section = line.section
            yield section
        for text in _format_line(line, width):
            yield to_ascii(text) if ascii_only else text
    if asked:
        yield ""
        yield f"{usable:,} of {count(asked, 'node')} can be used"


def _format_line(line: DiagnosisLine, width: int) -> Iterator[str]:
    yield from wrap_text(shorten_text(line.text), width, f"  {SIGN_OF[line.grade].glyph} ")
    if line.nodes:
        number = f" ({len(line.nodes):,})" if len(line.nodes) > 1 else ""
        yield from wrap_names(f"{fold_names(line.nodes)}{number}", width, "      ", MOST)


def make_document(lines: Sequence[DiagnosisLine], usable: Sequence[NodeId], asked: Sequence[NodeId]) -> dict[str, Json]:
    """The same as plain JSON values."""
    return {
        "asked": list(asked),
        "usable": list(usable),
        "lines": [
            {**asdict(line), "grade": line.grade.value, "text": shorten_text(line.text), "nodes": list(line.nodes)}
            for line in lines
        ],
    }
