"""The whole static report of a fabric: every analysis once, over shared tables, and all findings in order.

A new question is a file beside this one, a field and a line here.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from benchconsole.topology.analysis import (
    bisection,
    bottlenecks,
    class_arithmetic,
    connectivity,
    device_ceilings,
    end_to_end,
    hashing,
    link_contradictions,
    networks,
    oversubscription,
    peer_links,
    ports,
    rails,
    redundancy,
    reported_results,
    stated_vs_computed,
    storage_ceilings,
    uncounted_cables,
    virtual_hosts,
    vlans,
    wan,
)
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.tables.fabric_tables import Tables, make_tables


@dataclass(frozen=True, slots=True)
class StaticReport:
    """The answer to each question; ``findings``: errors first, then warnings, then notes. ``cabled``: the tables."""

    cabled: Tables
    oversubscription: oversubscription.OversubscriptionReport
    end_to_end: tuple[end_to_end.EndToEnd, ...]
    losses: tuple[redundancy.ElementLoss, ...]
    peers: tuple[peer_links.PeerCheck, ...]
    bisection: bisection.BisectionReport
    rails: tuple[rails.RailSet, ...]
    ports: tuple[ports.SwitchPorts, ...]
    vlans: tuple[vlans.SplitLink, ...]
    lags: tuple[hashing.LagKind, ...]
    wan: tuple[wan.WanLine, ...]
    storage: tuple[storage_ceilings.GroupCeilings, ...]
    claims: tuple[stated_vs_computed.Comparison, ...]
    findings: tuple[StaticFinding, ...]


def make_static_report(fabric: Fabric, *, buffers: Mapping[NodeId, float] | None = None) -> StaticReport:
    """All that ``fabric`` says before anything is measured. ``buffers``: bytes of TCP windows that nodes have."""
    cabled = make_tables(fabric)
    used = ports.analyse_ports(cabled)
    ratios = oversubscription.analyse_oversubscription(cabled, used=used)
    ways = end_to_end.analyse_end_to_end(cabled)
    losses = redundancy.analyse_redundancy(cabled)
    peers = peer_links.check_peer_links(cabled)
    cuts = bisection.analyse_bisection(cabled)
    parallel = rails.analyse_rails(fabric)
    split = vlans.analyse_vlans(fabric)
    lags = hashing.analyse_hashing(cabled)
    lines = wan.analyse_wan(fabric, buffers=buffers)
    ceilings = storage_ceilings.compute_ceilings(fabric)
    narrow = bottlenecks.find_bottlenecks(cabled)
    uncounted = uncounted_cables.find_uncounted(fabric)
    if uncounted:
        ratios = uncounted_cables.keep_known(fabric, uncounted, ratios)
        cuts = uncounted_cables.leave_bisection_open(fabric, uncounted)
        ways, losses, peers, ceilings, narrow, parallel = (), (), (), (), [], ()
    claims = stated_vs_computed.compare_claims(cabled, ratios, ways, cuts)
    found = (
        *uncounted_cables.list_findings(fabric, uncounted),
        *stated_vs_computed.list_findings(fabric, claims),
        *link_contradictions.list_findings(fabric),
        *class_arithmetic.list_findings(fabric),
        *device_ceilings.list_findings(fabric),
        *virtual_hosts.list_findings(fabric),
        *networks.list_findings(fabric),
        *reported_results.list_findings(fabric),
        *connectivity.check_connectivity(cabled),
        *narrow,
        *oversubscription.list_findings(ratios),
        *end_to_end.list_findings(ways),
        *redundancy.list_findings(losses),
        *rails.list_findings(parallel),
        *peer_links.list_findings(peers),
        *ports.list_findings(used),
        *([] if uncounted else bisection.list_findings(cuts)),
        *storage_ceilings.list_findings(ceilings),
        *vlans.list_findings(fabric, split),
        *hashing.list_findings(lags),
        *hashing.find_repeated_hashes(fabric),
        *wan.list_findings(lines),
    )
    order = list(Severity)
    findings = tuple(sorted(found, key=lambda each: order.index(each.severity)))
    return StaticReport(
        cabled, ratios, ways, losses, peers, cuts, parallel, used, split, lags, lines, ceilings, claims, findings
    )  # fmt: skip
