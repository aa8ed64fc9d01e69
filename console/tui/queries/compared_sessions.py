"""Both sessions of a comparison side by side in cells of words, and in how far they were run otherwise. Pure."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from benchconsole.console.reports.comparison_page import ComparisonReport
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.rows.clock import lasting
from benchconsole.console.view.run_view import State
from benchconsole.console.view.session_verdict import STATES
from benchconsole.console.view.wording import NOT_MEASURED
from benchconsole.topology.units import counted

_LONGEST = 24
"""Characters of a value of the record up to which it is written out."""


class SessionCells(NamedTuple):
    """One session: ``letter`` is that of the comparison, ``state`` and ``verdict`` are its own."""

    letter: str
    state: State
    verdict: str
    name: str
    began: str
    lasted: str
    tested: str
    reasons: str
    nodes: str


def list_session_cells(report: ComparisonReport) -> list[SessionCells]:
    """A and B; none for parts of one session."""
    made = []
    for letter, each in zip("AB", report.sessions, strict=False):
        state = STATES[each.outcome]
        made.append(
            SessionCells(
                letter,
                state,
                each.outcome.value,
                f"{sanitize(each.label)} {each.key}" if each.label else each.key,
                time.strftime("%Y-%m-%d %H:%M", time.localtime(each.started)) if each.started else "not started",
                NOT_MEASURED if each.seconds is None else lasting(each.seconds),
                f"{each.tested:,} of {counted(each.planned, 'test')}",
                each.reasons,
                counted(each.nodes, "node"),
            )
        )
    return made


def list_differences(report: ComparisonReport) -> list[str]:
    """The differences beside the numbers: options and record with both values, then criteria, then facts of nodes."""
    found = [_tell_both(each.what, each.before, each.after) for each in report.record]
    if report.criteria:
        found.append("1 criterion" if len(report.criteria) == 1 else f"{len(report.criteria):,} criteria")
    if report.facts.shared:
        found.append(f"{counted(len(report.facts.shared), 'fact')} of nodes")
    return found


def describe_alike(report: ComparisonReport) -> str:
    """The sentence where nothing differs, facts that were not compared named."""
    facts = ", facts of nodes" if report.facts.nodes else ""
    unknown = "" if report.facts.nodes else "; facts of nodes are not compared"
    return f"nothing: options, topology file, criteria{facts} are alike{unknown}"


def _tell_both(what: str, before: str, after: str) -> str:
    """``suite quick → full``; the name alone where the values are long."""
    values = [sanitize(value) for value in (before, after)]
    return f"{what} {values[0]} → {values[1]}" if max(map(len, values)) <= _LONGEST else what


def join_fitting(parts: Sequence[str], room: int) -> str:
    """As many of ``parts`` as fit into ``room`` characters, then how many more there are."""
    for most in range(len(parts), 0, -1):
        more = f", and {len(parts) - most:,} more" if most < len(parts) else ""
        text = ", ".join(parts[:most]) + more
        if len(text) <= room:
            return text
    return f"{len(parts):,} differences"
