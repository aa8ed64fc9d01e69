"""A report of a run with planted faults, held against them.

``exact``: every fault is named alone, with the right kind and part, and no healthy element is. ``located``: findings
hold every fault, among others or as another kind. ``wrong``: a finding holds healthy elements only, or a failure is
booked on another node than the planted one. ``told``: nothing names a fault, and the report says that one of its kind
would not have been seen everywhere. ``missed``: nothing names a fault, and nothing says so. A LAG is exact without the
number of its member, which no throughput tells.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from benchconsole.probes.model.judgement import Confidence, Finding, Level, Suspect
from benchconsole.topology.model.fabric import Fabric
from benchmarks.attribution.scoring import Grade, score
from benchmarks.laboratory.planting import Expected, PlantedFault


class Outcome(StrEnum):
    """The grade of the report of a faulty run."""

    EXACT = "exact"
    LOCATED = "located"
    WRONG = "wrong"
    TOLD = "told"
    MISSED = "missed"


def read_finding(record: Mapping[str, Any]) -> Finding:
    """A finding of a JSON report, which has no field for the members that are up: its words say how many."""
    told = re.search(r"(\d+) of \d+ members carr(?:y|ies)", record["what"])
    return Finding(
        suspect=Suspect(record["suspect"]),
        element=record["element"],
        where=record["where"],
        what=record["what"],
        level=Level(record["level"]),
        confidence=Confidence(record["confidence"]),
        nodes=tuple(record["nodes"]),
        tests=tuple(record["tests"]),
        cannot_tell=record["cannot_tell"] or "",
        means=record["means"] or "",
        members_up=int(told[1]) if told else None,
    )


def grade_report(
    fabric: Fabric,
    planted: PlantedFault,
    findings: Sequence[Finding],
    failures: Iterable[Mapping[str, Any]],
    losses: Iterable[Mapping[str, Any]] = (),
) -> Outcome:
    """The outcome of a report with these findings, failures and detectable losses, where these faults were planted."""
    failed = list(failures)
    if any(each["node"] != planted.node for each in failed):
        return Outcome.WRONG
    if planted.node:
        return _grade_node(planted, findings, failed)
    told = score(fabric, [each.cables for each in planted.expected], findings)
    if told.located < told.placed:
        return Outcome.WRONG
    if Grade.MISSED in told.grades:
        unseen = {each["fault"] for each in losses if each["seen"] < each["elements"]}
        return Outcome.TOLD if planted.as_detectable in unseen else Outcome.MISSED
    is_exact = all(_is_named_alone(fabric, each, findings) for each in planted.expected)
    return Outcome.EXACT if is_exact else Outcome.LOCATED


def _grade_node(planted: PlantedFault, findings: Iterable[Finding], failures: Sequence[Mapping[str, Any]]) -> Outcome:
    """A node that gives no numbers is told by its failures; no finding may name another element."""
    if any(each.suspect is not Suspect.FABRIC and each.element != planted.node for each in findings):
        return Outcome.WRONG
    if not failures:
        return Outcome.MISSED
    has_words = any(re.search(planted.words, f"{each['stage']}: {each['detail']}") for each in failures)
    return Outcome.EXACT if has_words else Outcome.LOCATED


def _is_named_alone(fabric: Fabric, expected: Expected, findings: Iterable[Finding]) -> bool:
    alone = [each for each in findings if score(fabric, [expected.cables], [each]).grades[0] <= Grade.LAG]
    return any(re.search(expected.words, f"{each.where} {each.what} {each.means}") for each in alone)
