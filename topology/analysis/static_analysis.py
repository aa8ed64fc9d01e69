"""The whole static report of a fabric: every analysis once, over shared tables, and all findings in order.

A new question is a file beside this one, a field and a line here.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from benchconsole.topology.analysis import (
    bisection,
    bottlenecks,
    connectivity,
    end_to_end,
    hashing,
    oversubscription,
    ports,
    redundancy,
    stated_vs_computed,
    storage_ceilings,
    vlans,
    wan,
)
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.tables.fabric_tables import make_tables


@dataclass(frozen=True, slots=True)
class StaticReport:
    """What each question found, and ``findings``: errors first, then warnings, then notes."""

    oversubscription: oversubscription.OversubscriptionReport
    end_to_end: end_to_end.EndToEndReport
    redundancy: redundancy.RedundancyReport
    bisection: bisection.BisectionReport
    ports: ports.PortsReport
    connectivity: connectivity.ConnectivityReport
    bottlenecks: bottlenecks.BottleneckReport
    vlans: vlans.VlanReport
    hashing: hashing.HashingReport
    wan: wan.WanReport
    storage: storage_ceilings.StorageReport
    claims: stated_vs_computed.ClaimsReport
    findings: tuple[StaticFinding, ...]


def make_static_report(fabric: Fabric, *, buffers: Mapping[NodeId, float] | None = None) -> StaticReport:
    """Everything that the description of ``fabric`` says before anything is measured.

    ``buffers`` are TCP windows in bytes that nodes were found to have (``topology.analysis.wan``).
    """
    cabled = make_tables(fabric)
    used = ports.analyse_ports(fabric, cabled=cabled)
    ratios = oversubscription.analyse_oversubscription(fabric, cabled=cabled, used=used)
    ways = end_to_end.analyse_end_to_end(fabric, cabled=cabled)
    lost = redundancy.analyse_redundancy(fabric, cabled=cabled)
    cuts = bisection.analyse_bisection(fabric, cabled=cabled)
    joined = connectivity.analyse_connectivity(fabric, cabled=cabled)
    narrow = bottlenecks.find_bottlenecks(fabric, cabled=cabled)
    split = vlans.analyse_vlans(fabric)
    hashed = hashing.analyse_hashing(fabric, cabled=cabled)
    lines = wan.analyse_wan(fabric, buffers=buffers)
    ceilings = storage_ceilings.compute_ceilings(fabric)
    said = stated_vs_computed.compare_claims(fabric, ratios=ratios, ways=ways, cuts=cuts)
    found: list[StaticFinding] = [
        *stated_vs_computed.list_findings(said),
        *connectivity.list_findings(joined),
        *bottlenecks.list_findings(narrow),
        *oversubscription.list_findings(ratios),
        *end_to_end.list_findings(ways),
        *redundancy.list_findings(lost),
        *ports.list_findings(used),
        *bisection.list_findings(cuts),
        *storage_ceilings.list_findings(ceilings),
        *vlans.list_findings(split),
        *hashing.list_findings(hashed),
        *wan.list_findings(lines),
    ]
    order = list(Severity)
    return StaticReport(
        ratios, ways, lost, cuts, used, joined, narrow, split, hashed, lines, ceilings, said,
        tuple(sorted(found, key=lambda each: order.index(each.severity))),
    )  # fmt: skip


def list_static_findings(fabric: Fabric) -> tuple[StaticFinding, ...]:
    """The findings of ``make_static_report``."""
    return make_static_report(fabric).findings
