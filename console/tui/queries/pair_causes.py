"""The causes of pairs that are not well: the pattern that they make in the matrix, or the finding behind them."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from benchconsole.console.view.result_rows import ResultRow
from benchconsole.console.view.run_view import RunView, State, state_of_level
from benchconsole.probes.model.judgement import Finding
from benchconsole.topology.units import counted

WELL = (State.PASS, State.MEASURED)
"""States of pairs that need no cause."""

_PATTERN = "pattern "
"""The beginning of the reason of a finding that names a pattern (``probes.judging.pattern_text``)."""


class PairCause(NamedTuple):
    """The finding at ``place`` of the session's, with the ``pairs`` that it explains; ``words`` name its pattern."""

    place: int
    state: State
    where: str
    words: str
    pairs: int


class PairCauses(NamedTuple):
    """The causes, worst first, and how many pairs are not well that none of them explains."""

    causes: tuple[PairCause, ...] = ()
    unexplained: int = 0


def find_pair_causes(view: RunView, rows: Iterable[ResultRow]) -> PairCauses:
    """The causes of those of ``rows``, judged pairs, that are not well."""
    low = {row.test for row in rows if row.state not in WELL}
    found = tuple(
        PairCause(place, state_of_level(each.level), each.where, _name_pattern(each), len(own))
        for place, each in enumerate(view.findings)
        if (own := low.intersection(each.tests))
    )
    return PairCauses(found, len(low.difference(*(each.tests for each in view.findings))))


def find_cause(view: RunView, tests: frozenset[str]) -> int | None:
    """The place of the first finding that explains one of ``tests``; None where none does."""
    return next((place for place, each in enumerate(view.findings) if not tests.isdisjoint(each.tests)), None)


def name_causes(view: RunView, rows: Iterable[ResultRow]) -> Mapping[str, str]:
    """The first finding that explains the test of each of ``rows`` that is not well, in words, by the test."""
    low = {row.test for row in rows if row.state not in WELL}
    found: dict[str, str] = {}
    for each in view.findings:
        words = f"{each.where}: {_name_pattern(each)}"
        for test in low.intersection(each.tests):
            found.setdefault(test, words)
    return found


def describe_pair_causes(found: PairCauses) -> str:
    """The causes with their pairs in one sentence; empty where every pair is well."""
    known = [f"{each.where}, {counted(each.pairs, 'pair')}" for each in found.causes]
    unknown = [f"no known cause, {counted(found.unexplained, 'pair')}"] if found.unexplained else []
    return f"causes: {'; '.join((*known, *unknown))}" if known or unknown else ""


def _name_pattern(finding: Finding) -> str:
    """The pattern that it makes in the matrix of pairs, else what it is."""
    told = next((line.removeprefix(_PATTERN) for line in finding.because if line.startswith(_PATTERN)), "")
    return told or finding.what
