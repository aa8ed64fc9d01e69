"""The place of a fact in the output of one inventory, for who looks at that output."""

from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

from benchconsole.probes.api import Fact, Output
from benchconsole.probes.readers.lines import join_lines, read_lines
from benchconsole.probes.tools.inventory import script
from benchconsole.probes.tools.inventory.probe import read_answer, read_source


class FactLine(NamedTuple):
    """The number of a line, from 0. ``is_heading``: the fact was read from the answer below it, as a whole."""

    number: int
    is_heading: bool


def find_line(output: Output, is_meant: Callable[[Fact], bool]) -> FactLine | None:
    """The line that completed the fact that is meant, in the first source that told one; None where none did.

    The heading of the source where it told several such facts (of two ports, say), where it is read as a whole (JSON),
    and where its last line completes the fact.
    """
    word = script.find_word(output.argv, output.text)
    if word is None:
        return None
    lines, at = read_lines(output.text), 0
    for answer in script.find_answers(output.text, word):
        at = lines.index(f"benchconsole-{word} begin {answer.source}", at)
        meant = [fact for fact in read_answer(answer) if is_meant(fact)]
        if meant:
            return _complete(answer, meant[0], at) if len(meant) == 1 else FactLine(at, True)
        at += 1
    return None


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
