"""Cases of a source: a transcript and facts of it that were worked out by hand; and the output of the script."""

from collections.abc import Iterable

import pytest

from benchconsole.probes.api import Fact, ProbeOutputError
from benchconsole.probes.tools.inventory.script import Answer
from benchconsole.probes.tools.inventory.sources import SOURCES
from tests.probes.tools.captures import text

Expected = dict[tuple[str, str], str | float | None]
"""Name and labels, joined in their order, to the value; None for what must not be told."""

Case = tuple[str, str, Expected]
"""Source, transcript, and what is told of it."""


def parsed(source: str, name: str) -> dict[tuple[str, str], Fact]:
    """Name and labels, joined in their order, to the fact."""
    found = SOURCES[source](text(f"inventory/{name}"))
    return {(one.fact, " ".join(value for _, value in one.labels)): one for one in found}


def check(case: Case) -> None:
    """The transcript gives what was worked out."""
    source, name, expected = case
    found = parsed(source, name)
    assert {key: found[key].value if key in found else None for key in expected} == expected


def check_refused(source: str, said: str) -> None:
    """The source takes no fact from ``said``."""
    with pytest.raises(ProbeOutputError):
        SOURCES[source](said)


def format_answers(word: str, answers: Iterable[Answer]) -> str:
    """The text that the command prints for these answers; ``find_answers`` reads it."""
    return "".join(
        f"benchconsole-{word} begin {answer.source}\n{answer.text}\n"
        f"benchconsole-{word} end {answer.source} {answer.status}\n"
        for answer in answers
    )
