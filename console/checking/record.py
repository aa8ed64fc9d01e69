"""Owns the JSON of ``check``: network in bit/s (``_bps``), storage in byte/s (``_Bps``), null where nothing is known.

The keys are a promise to scripts; the schema is in ``docs/reference/check.schema.json``.
"""

import math
from collections.abc import Iterator

from topology.analysis.oversubscription import Failure
from topology.analysis.report import StaticReport
from topology.analysis.storage import Ceiling, GroupCeilings
from topology.model import Fabric

Record = dict[str, object]


def record(fabric: Fabric, report: StaticReport) -> Record:
    """Everything, ready for ``json.dumps(..., allow_nan=False)``."""
    return {
        "fabric": _fabric(fabric),
        "tiers": list(_tiers(report)),
        "switches": list(_switches(fabric, report)),
        "groups": list(_groups(report)),
        "end_to_end": list(_end_to_end(report)),
        "redundancy": list(_redundancy(report)),
        "peer_links": list(_peers(report)),
        "bisection": _bisection(report),
        "lags": list(_lags(report)),
        "vlans": list(_vlans(report)),
        "wan": list(_wan(report)),
        "storage": [_storage(group) for group in report.storage.groups],
        "claims": list(_claims(report)),
        "findings": [
            {"severity": each.severity.value, "code": each.code, "where": each.where, "text": each.text}
            for each in report.findings
        ],
    }


def _bits(value: float | None) -> float | None:
    return None if value is None or math.isinf(value) else value * 8


def _finite(value: float | None) -> float | None:
    return None if value is None or math.isinf(value) else value


def _fabric(fabric: Fabric) -> Record:
    return {
        "name": fabric.name,
        "nodes": len(fabric.nodes),
        "switches": len(fabric.switches),
        "links": len(fabric.links),
        "cables": sum(link.count for link in fabric.links.values()),
        "lags": sum(link.is_lag for link in fabric.links.values()),
        "mlags": len(fabric.mlags),
        "vlans": len(fabric.vlans),
        "storage": len(fabric.storage),
        "groups": {
            kind: sum(each.kind == kind for each in fabric.groups) for kind in ("chassis", "rack", "pod", "site")
        },
        "parameters": dict(fabric.parameters),
        "goodput": fabric.goodput,
    }


def _failure(failure: Failure | None) -> Record | None:
    return None if failure is None else {"element": failure.element, "ratio": _finite(failure.ratio)}


def _tiers(report: StaticReport) -> Iterator[Record]:
    for each in report.oversubscription.tiers:
        yield {
            "name": each.role.value,
            "switches": each.switches,
            "down_bps": _bits(each.down),
            "up_bps": _bits(each.up),
            "ratio": each.ratio,
            "least": each.least.ratio if each.least else None,
            "most": each.most.ratio if each.most else None,
            "ratio_filled": each.filled,
        }


def _switches(fabric: Fabric, report: StaticReport) -> Iterator[Record]:
    needed = {each.switch: each for each in report.ports.switches}
    for each in report.oversubscription:
        used = needed.get(each.switch)
        yield {
            "name": each.switch,
            "role": fabric.switches[each.switch].role.value,
            "down_bps": _bits(each.down),
            "up_bps": _bits(each.up),
            "side_bps": _bits(each.side),
            "ratio": each.ratio,
            "ratio_filled": each.filled,
            "worst_cable": _failure(each.cable),
            "worst_switch": _failure(each.switch_lost),
            "ports_needed": used.needed if used else 0,
            "ports_declared": used.declared if used else None,
        }


def _groups(report: StaticReport) -> Iterator[Record]:
    for each in report.oversubscription.groups:
        yield {
            "kind": each.kind,
            "name": each.name,
            "down_bps": _bits(each.down),
            "up_bps": _bits(each.up),
            "side_bps": _bits(each.side),
            "ratio": each.ratio,
            "worst_cable": _failure(each.cable),
            "worst_switch": _failure(each.switch_lost),
        }


def _end_to_end(report: StaticReport) -> Iterator[Record]:
    for each in report.end_to_end.networks:
        yield {
            "nodes": each.nodes,
            "top": list(each.top),
            "node": each.worst.node,
            "way": list(each.worst.switches),
            "ratio": _finite(each.worst.ratio),
            "fair_share_bps": _bits(each.share.fair),
            "nic_bps": _bits(each.share.legs),
            "share_ratio": _finite(each.share.ratio),
            "model": "fluid",
            "worst_cable": _failure(each.cable),
            "worst_switch": _failure(each.switch_lost),
        }


def _redundancy(report: StaticReport) -> Iterator[Record]:
    for each in report.redundancy.losses:
        yield {
            "kind": each.kind.value,
            "role": each.role,
            "elements": list(each.elements),
            "cut_off": each.effect.cut,
            "degraded": each.effect.degraded,
            "left": each.effect.left,
            "ratio": _finite(each.effect.ratio),
            "load_after": _finite(each.effect.load),
            "redundant": each.effect.redundant,
        }


def _peers(report: StaticReport) -> Iterator[Record]:
    for each in report.redundancy.peers:
        yield {
            "pairs": list(each.pairs),
            "role": each.role,
            "lost": each.lost,
            "nodes": each.nodes,
            "cut_off": each.cut,
            "offered_bps": _bits(each.offered),
            "capacity_bps": _bits(each.capacity),
            "share_bps": _bits(each.share),
            "leg_bps": _bits(each.leg),
            "enough": each.enough,
        }


def _bisection(report: StaticReport) -> Record:
    halves = report.bisection.halves
    return {
        "upper_bound_bps": None if halves is None else _bits(halves.bound),
        "nodes": None if halves is None else [halves.near, halves.far],
        "refused": report.bisection.refused,
        "tiers": [{"below": each.below, "upper_bound_bps": _bits(each.bound)} for each in report.bisection.tiers],
    }


def _lags(report: StaticReport) -> Iterator[Record]:
    for each in report.hashing.lags:
        yield {
            "links": list(each.links),
            "lower": each.lower,
            "upper": each.upper,
            "members": each.members,
            "member_bps": _bits(each.speed),
            "hash": each.policy.value,
            "nodes_below": each.nodes,
            "expected_use": each.use,
            "imbalance": each.imbalance,
            "flows_for_95_percent": each.flows_95,
            "model": "hash",
        }


def _vlans(report: StaticReport) -> Iterator[Record]:
    for split in report.vlans.split:
        for lane in split.lanes:
            yield {
                "link": split.link,
                "vlan": lane.vlan,
                "capacity_bps": _bits(lane.capacity),
                "members": [len(side.members) for side in lane.sides],
                "offered_bps": [_bits(side.offered) for side in lane.sides],
                "ratio": lane.oversubscription,
                "flows_that_fill": lane.fill,
            }


def _wan(report: StaticReport) -> Iterator[Record]:
    for line in report.wan.lines:
        yield {
            "link": line.link,
            "rtt_s": line.rtt,
            "capacity_bps": _bits(line.capacity),
            "in_flight_B": line.line_in_flight,
            "flow_in_flight_B": line.flow_in_flight,
            "loss_allowed": line.loss,
            "loss_allowed_at_bps": _bits(line.wanted),
            "windows": [
                {"nodes": each.nodes, "window_B": each.size, "stream_bps": _bits(each.rate), "streams": each.streams}
                for each in line.windows
            ],
        }


def _storage(group: GroupCeilings) -> Record:
    both = {"read": group.read, "write": group.write}
    return {
        "name": f"{group.storage}/{group.clients}" if group.clients else group.storage,
        "storage": group.storage,
        "clients": group.clients,
        "network_Bps": {name: each.network for name, each in both.items()},
        "disk_Bps": {name: each.disk for name, each in both.items()},
        "ceiling_Bps": {name: each.value for name, each in both.items()},
        "required_Bps": {name: each.required for name, each in both.items()},
        "target_Bps": {name: each.target for name, each in both.items()},
        "stated_Bps": {name: each.stated.rate if each.stated else None for name, each in both.items()},
        "limited_by": {name: each.limiting.name if each.limiting else None for name, each in both.items()},
        "layers": {name: list(_layers(each)) for name, each in both.items()},
    }


def _layers(ceiling: Ceiling) -> Iterator[Record]:
    for part in ceiling.parts:
        yield {
            "name": part.name,
            "rate_Bps": part.rate,
            "origin": part.origin.value,
            "model": part.model,
            "detail": part.detail,
        }


def _claims(report: StaticReport) -> Iterator[Record]:
    for each in report.claims.comparisons:
        yield {
            "what": each.claim.what,
            "of": each.claim.scope,
            "source": each.claim.source,
            "stated": each.claim.value if each.claim.what == "oversubscription" else _bits(each.claim.value),
            "computed": _finite(each.computed) if each.claim.what == "oversubscription" else _bits(each.computed),
            "outcome": each.outcome.value,
        }
