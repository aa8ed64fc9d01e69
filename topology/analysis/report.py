"""Owns the whole static report of a fabric: every question asked once, over shared tables, and all findings in order.

A new question is a file beside this one, a field and a line here.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from topology.analysis import (
    bisection,
    bottlenecks,
    claims,
    connectivity,
    end_to_end,
    hashing,
    oversubscription,
    ports,
    redundancy,
    storage,
    vlans,
    wan,
)
from topology.analysis.finding import Finding, Severity
from topology.model import Fabric, NodeId
from topology.tables import tables


@dataclass(frozen=True, slots=True)
class StaticReport:
    """What each question found, and ``findings``: errors first, then warnings, then notes."""

    oversubscription: oversubscription.Report
    end_to_end: end_to_end.Report
    redundancy: redundancy.Report
    bisection: bisection.Report
    ports: ports.Ports
    connectivity: connectivity.Report
    bottlenecks: bottlenecks.Report
    vlans: vlans.VlanReport
    hashing: hashing.HashingReport
    wan: wan.WanReport
    storage: storage.StorageReport
    claims: claims.ClaimsReport
    findings: tuple[Finding, ...]


def static_report(fabric: Fabric, *, buffers: Mapping[NodeId, float] | None = None) -> StaticReport:
    """Everything that the description of ``fabric`` says before anything is measured.

    ``buffers`` are TCP windows in bytes that nodes were found to have (``topology.analysis.wan``).
    """
    cabled = tables(fabric)
    used = ports.ports(fabric, cabled=cabled)
    ratios = oversubscription.oversubscription(fabric, cabled=cabled, used=used)
    ways = end_to_end.end_to_end(fabric, cabled=cabled)
    lost = redundancy.redundancy(fabric, cabled=cabled)
    cuts = bisection.bisection(fabric, cabled=cabled)
    joined = connectivity.connectivity(fabric, cabled=cabled)
    narrow = bottlenecks.bottlenecks(fabric, cabled=cabled)
    split = vlans.vlans(fabric)
    hashed = hashing.hashing(fabric, cabled=cabled)
    lines = wan.wan(fabric, buffers=buffers)
    ceilings = storage.storage(fabric)
    said = claims.claims(fabric, ratios=ratios, ways=ways, cuts=cuts)
    found: list[Finding] = [
        *claims.findings(fabric, said),
        *connectivity.findings(fabric, joined),
        *bottlenecks.findings(fabric, narrow),
        *oversubscription.findings(fabric, ratios),
        *end_to_end.findings(fabric, ways),
        *redundancy.findings(fabric, lost),
        *ports.findings(fabric, used),
        *bisection.findings(fabric, cuts),
        *storage.findings(fabric, ceilings),
        *vlans.findings(fabric, split),
        *hashing.findings(fabric, hashed),
        *wan.findings(fabric, lines),
    ]
    order = list(Severity)
    return StaticReport(
        ratios, ways, lost, cuts, used, joined, narrow, split, hashed, lines, ceilings, said,
        tuple(sorted(found, key=lambda each: order.index(each.severity))),
    )  # fmt: skip


def static_findings(fabric: Fabric) -> tuple[Finding, ...]:
    """The findings of ``static_report``."""
    return static_report(fabric).findings
