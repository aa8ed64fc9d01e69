"""The JSON of ``check``: network in bit/s (``_bps``), storage in byte/s (``_Bps``), null where nothing is known.

The keys are a promise to scripts; the schema is in ``docs/reference/check.schema.json``.
"""

from benchconsole.console.static_report.json_values import Record, encode_record, encode_value, select_fields
from benchconsole.topology.analysis.class_totals import TOTALS, count_classes, list_parts
from benchconsole.topology.analysis.oversubscription import Oversubscription
from benchconsole.topology.analysis.ports import SwitchPorts
from benchconsole.topology.analysis.static_analysis import StaticReport
from benchconsole.topology.analysis.static_finding import fold_names
from benchconsole.topology.analysis.storage_ceilings import GroupCeilings
from benchconsole.topology.model.fabric import Fabric

_TIER = {
    "name": "role", "networks": "networks", "switches": "switches", "down_bps": "down", "up_bps": "up",
    "ratio": "ratio", "least": "least.ratio", "most": "most.ratio", "ratio_filled": "filled",
}  # fmt: skip
_SWITCH = {
    "name": "switch", "role": "role", "down_bps": "down", "up_bps": "up", "side_bps": "side", "ratio": "ratio",
    "ratio_filled": "filled", "worst_cable": "cable", "worst_switch": "switch_lost",
}  # fmt: skip
_GROUP = {
    "kind": "kind", "name": "name", "down_bps": "down", "up_bps": "up", "side_bps": "side", "ratio": "ratio",
    "worst_cable": "cable", "worst_switch": "switch_lost",
}  # fmt: skip
_NETWORK = {
    "nodes": "nodes", "top": "top", "node": "worst.node", "way": "worst.switches", "ratio": "ratio",
    "fair_share_bps": "told_share.fair", "nic_bps": "told_share.legs", "share_ratio": "told_share.ratio",
    "model": "model", "worst_cable": "cable", "worst_switch": "switch_lost", "flat": "flat",
}  # fmt: skip
_LOSS = {
    "kind": "kind", "role": "role", "networks": "networks", "elements": "elements",
    "cut_off": "effect.cut", "degraded": "effect.degraded",
    "left": "effect.left", "ratio": "effect.ratio", "load_after": "effect.load", "redundant": "redundant",
    "sides": "sides", "flows_before_bps": "flows.before", "flows_after_bps": "flows.after",
    "flows_share": "flows.share", "flows_degraded": "flows.degraded", "lacks_peer_link": "flows.lacks_peer_link",
    "cut_before_bps": "flows.cut_before", "cut_after_bps": "flows.cut_after",
}  # fmt: skip
_PEER_LINK = {
    "pairs": "pairs", "role": "role", "lost": "lost", "nodes": "nodes", "cut_off": "cut", "offered_bps": "offered",
    "capacity_bps": "capacity", "share_bps": "share", "leg_bps": "leg", "enough": "enough",
}  # fmt: skip
_RAIL = {
    "name": "name", "nodes": "nodes", "switches": "switches", "lacking": "lacking", "ports_bps": "capacity",
    "left": "left", "bisection_upper_bound_bps": "halves.bound",
}  # fmt: skip
_TIER_CUT = {"below": "below", "upper_bound_bps": "bound"}
_LAG = {
    "links": "links", "lower": "lower", "upper": "upper", "members": "members", "member_bps": "speed",
    "hash": "policy", "nodes_below": "nodes", "expected_use": "use", "imbalance": "imbalance",
    "flows_for_95_percent": "flows_95",
}  # fmt: skip
_LINE = {
    "link": "link", "rtt_s": "rtt", "capacity_bps": "capacity", "in_flight_B": "line_in_flight",
    "flow_in_flight_B": "flow_in_flight", "loss_allowed": "loss", "loss_allowed_at_bps": "flow",
}  # fmt: skip
_WINDOW = {"nodes": "nodes", "window_B": "size", "stream_bps": "rate", "streams": "streams"}
_CEILING = {
    "network_Bps": "network", "disk_Bps": "disk", "ceiling_Bps": "value", "required_Bps": "required",
    "target_Bps": "target", "stated_Bps": "stated.rate", "limited_by": "limiting.name",
}  # fmt: skip
_LAYER = {"name": "name", "rate_Bps": "rate", "origin": "origin", "model": "model", "detail": "detail"}
_TOTAL = {
    "nodes": "nodes", "sockets": "sockets", "cores": "cores", "memory": "memory_B", "disk": "disk_B",
    "peak": "peak_FLOP_per_s",
}  # fmt: skip
_FINDING = {"severity": "severity", "code": "code", "where": "where", "text": "text"}


def make_check_record(fabric: Fabric, report: StaticReport) -> Record:
    """Everything, ready for ``json.dumps(..., allow_nan=False)``."""
    ports = {each.switch: each for each in report.ports}
    return encode_record(
        {
            "fabric": _describe_fabric(fabric),
            "tiers": [select_fields(each, _TIER) for each in report.oversubscription.tiers],
            "switches": [_describe_switch(fabric, each, ports.get(each.switch)) for each in report.oversubscription],
            "groups": [select_fields(each, _GROUP) for each in report.oversubscription.groups],
            "end_to_end": [select_fields(each, _NETWORK, model="fluid") for each in report.end_to_end],
            "redundancy": [select_fields(each, _LOSS) for each in report.losses],
            "peer_links": [select_fields(each, _PEER_LINK) for each in report.peers],
            "bisection": _describe_bisection(report),
            "rails": [
                {
                    "network": each.network,
                    "kind": each.kind,
                    "inferred": each.is_inferred,
                    "parts": [select_fields(rail, _RAIL) for rail in each.rails],
                }
                for each in report.rails
            ],
            "lags": [{**select_fields(each, _LAG), "model": "hash"} for each in report.lags],
            "vlans": _list_lanes(report),
            "wan": [
                {**select_fields(line, _LINE), "windows": [select_fields(each, _WINDOW) for each in line.windows]}
                for line in report.wan
            ],
            "storage": [_describe_storage(group) for group in report.storage],
            "totals": _list_totals(fabric),
            "claims": _list_claims(report),
            "findings": [select_fields(each, _FINDING) for each in report.findings],
        }
    )


def _describe_fabric(fabric: Fabric) -> Record:
    kinds = ("chassis", "rack", "pod", "site")
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
        "groups": {kind: sum(each.kind == kind for each in fabric.groups) for kind in kinds},
        "parameters": fabric.parameters,
        "goodput": fabric.goodput,
    }


def _describe_switch(fabric: Fabric, each: Oversubscription, ports: SwitchPorts | None) -> Record:
    return {
        **select_fields(each, _SWITCH, role=fabric.switches[each.switch].role),
        "ports_needed": ports.needed if ports else 0,
        "ports_declared": ports.declared if ports else None,
    }


def _describe_bisection(report: StaticReport) -> Record:
    halves = report.bisection.halves
    return {
        "upper_bound_bps": None if halves is None else halves.bound,
        "nodes": None if halves is None else [halves.near, halves.far],
        "halves": None if halves is None else [fold_names(side) for side in halves.sides],
        "exact": None if halves is None else halves.exact,
        "refused": report.bisection.refused,
        "tiers": [select_fields(each, _TIER_CUT) for each in report.bisection.tiers],
    }


def _list_lanes(report: StaticReport) -> list[Record]:
    return [
        {
            "link": split.link.id,
            "vlan": lane.vlan,
            "capacity_bps": lane.capacity,
            "members": [len(side.members) for side in lane.sides],
            "offered_bps": [side.offered for side in lane.sides],
            "ratio": lane.oversubscription,
            "flows_that_fill": lane.fill,
        }
        for split in report.vlans
        for lane in split.lanes
    ]


def _describe_storage(group: GroupCeilings) -> Record:
    both = {"read": group.read, "write": group.write}
    return {
        "name": f"{group.storage}/{group.clients}" if group.clients else group.storage,
        "storage": group.storage,
        "clients": group.clients,
        **{key: {name: select_fields(each, _CEILING)[key] for name, each in both.items()} for key in _CEILING},
        "layers": {name: [select_fields(part, _LAYER) for part in each.parts] for name, each in both.items()},
    }


def _list_totals(fabric: Fabric) -> list[Record]:
    """The totals of the nodes of each class; null where the class does not say."""
    classes = count_classes(fabric.nodes.values())
    parts = {what: list_parts(what, classes) for what in TOTALS}
    return [
        {"class": part.name, **{_TOTAL[what]: parts[what][index].value for what in TOTALS}}
        for index, part in enumerate(parts["nodes"])
    ]


def _list_claims(report: StaticReport) -> list[Record]:
    return [
        {
            "what": each.claim.what,
            "of": each.claim.scope,
            "source": each.claim.source,
            "stated": encode_value(each.claim.value, bits=each.claim.what == "bisection"),
            "computed": encode_value(each.computed, bits=each.claim.what == "bisection"),
            "outcome": each.outcome,
        }
        for each in report.claims
    ]
