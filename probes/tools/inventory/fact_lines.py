"""The place of a fact in the output of one inventory, for who looks at that output."""

from bisect import bisect_left
from typing import NamedTuple

from benchconsole.probes.api import Fact, Labels, Output
from benchconsole.probes.readers.lines import join_lines, read_lines
from benchconsole.probes.tools.inventory import script
from benchconsole.probes.tools.inventory.probe import read_source
from benchconsole.probes.tools.inventory.sources import SOURCES


class FactLine(NamedTuple):
    """The number of a line, from 0. ``is_heading``: the fact was read from the answer below it, as a whole."""

    number: int
    is_heading: bool


def find_line(output: Output, name: str, labels: Labels = ()) -> FactLine | None:
    """The line that completed a fact; None where no source told it.

    The heading of its source where that is read as a whole (JSON), or its last line completes the fact. With
    ``labels``, that of the part so labelled is preferred to the first of the name.
    """
    word = script.find_word(output.argv, output.text)
    if word is None:
        return None
    lines, at, first = read_lines(output.text), 0, None
    for answer in script.find_answers(output.text, word):
        at = lines.index(f"benchconsole-{word} begin {answer.source}", at)
        source = SOURCES.get(answer.source)
        told = (
            read_source(answer.source, answer.text) if source is not None and answer.status in source.answered else ()
        )
        of_name = [fact for fact in told if fact.fact == name]
        labelled = next((fact for fact in of_name if fact.labels == labels), None)
        if labelled is not None:
            return _complete(answer, labelled, at)
        if of_name and first is None:
            first = _complete(answer, of_name[0], at)
        at += 1
    return first


def _complete(answer: script.Answer, fact: Fact, heading: int) -> FactLine:
    """The line of an answer below ``heading`` with which the text so far tells ``fact``."""
    lines = read_lines(answer.text)
    needed = 1 + bisect_left(
        range(1, len(lines)), True, key=lambda number: fact in read_source(answer.source, join_lines(lines[:number]))
    )
    if needed >= len(lines):
        return FactLine(heading, True)
    while needed > 1 and not lines[needed - 1].strip():
        needed -= 1
    return FactLine(heading + needed, False)
