"""Findings as rows that a filter looks at: measured ones, reasons why something is not judged, and described ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Generic, TypeVar

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.filtering import Fields, Filter, ReadRows
from benchconsole.console.tui.queries.finding_remarks import FindingRemarks
from benchconsole.console.tui.queries.static_findings import AlikeFindings
from benchconsole.console.tui.queries.unjudged_reasons import UnjudgedReason, describe_reason
from benchconsole.console.tui.rows.scales import Scale
from benchconsole.console.view.run_view import state_of_level
from benchconsole.console.view.severity_signs import SEVERITIES
from benchconsole.console.view.wording import SIGNS
from benchconsole.probes.model.judgement import Finding

COLUMNS: Mapping[str, Scale | None] = MappingProxyType(
    dict.fromkeys(("level", "suspect", "where", "what", "nodes", "confidence", "accepted"))
)
"""The columns that a filter of findings may name; all are words."""

Found = TypeVar("Found", bound=Finding | UnjudgedReason | AlikeFindings)


@dataclass(frozen=True)
class FindingRow(Fields, Generic[Found]):
    """One row of the findings, with everything that is said of it."""

    of: Found
    text: Mapping[str, str]

    def words(self, column: str) -> str:
        return self.text.get(column, "")

    @cached_property
    def everything(self) -> str:
        return "\n".join(self.text.values()).lower()


def keep_findings(chosen: Filter, every: Sequence[Found], said: FindingRemarks) -> Sequence[Found]:
    """Those that the filter keeps, in their order; ``said`` tells who accepts which.

    FilterError for an expression that takes too long.
    """
    if not chosen.tests:
        return every
    return [row.of for row in chosen.select(ReadRows([FindingRow(each, _describe(each, said)) for each in every]))]


def _describe(found: Finding | UnjudgedReason | AlikeFindings, said: FindingRemarks) -> dict[str, str]:
    """The text of each column. A folded row holds the words of all that it stands for."""
    accepted = ""
    if isinstance(found, Finding):
        accepted = said.name_accepting(found)
        made = (SIGNS[state_of_level(found.level)].word, found.suspect.value, found.where, found.what)
        names, confidence = " ".join(found.nodes), found.confidence.value
    elif isinstance(found, AlikeFindings):
        first = found.first
        where, what = (" ".join(getattr(each, name) for each in found.findings) for name in ("where", "text"))
        made, names, confidence = (SEVERITIES[first.severity].word, "description", where, what), "", ""
    else:
        reason = describe_reason(found)
        made = (SIGNS[reason.state].word, reason.kind, " ".join(reason.names), reason.why)
        names, confidence = made[2], ""
    return dict(zip(COLUMNS, map(sanitize, (*made, names, confidence, accepted)), strict=True))
