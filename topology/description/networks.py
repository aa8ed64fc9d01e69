"""Resolves ``network`` and ``networks``: what each is made of and for, its MTU, its payload share and its hash."""

from benchconsole.topology.description import raw
from benchconsole.topology.description.document import Location, ProblemReport
from benchconsole.topology.errors import find_near
from benchconsole.topology.model.fabric import HashPolicy
from benchconsole.topology.model.network import (
    DATA,
    KINDS_IN_WORDS,
    Network,
    NetworkKind,
    NetworkRole,
    Parallel,
    compute_goodput,
    find_ip_mtu,
    find_kind,
    infer_role,
    is_called_by_signals,
)
from benchconsole.topology.model.routing_rule import RoutingRule

_LEAST_ETHERNET_MTU = 576
_NAMES = [kind.value for kind in NetworkKind if kind is not NetworkKind.OTHER]


def resolve_networks(written: raw.RawTopology, report: ProblemReport) -> dict[str, Network]:
    """The data network first, then every other; the name of each is that of the file."""
    found = {DATA: _resolve(DATA, written.network or raw.RawNetwork(), ("network",), report)}
    for name, each in written.networks.items():
        here: Location = ("networks", name)
        if name == DATA:
            report.add_key(here, f"a network named {name!r}", "another name (data is the one of 'network')")
        found.setdefault(name, _resolve(name, each, here, report))
    return found


def list_hashes(written: raw.RawTopology) -> dict[str, HashPolicy]:
    """The hash of links of each network that say none of their own; ``network`` says it for all."""
    common = (written.network.hash if written.network else None) or "unknown"
    own = {name: each.hash or common for name, each in written.networks.items()}
    return {name: HashPolicy(policy) for name, policy in {**own, DATA: common}.items()}


def _resolve(name: str, written: raw.RawNetwork, here: Location, report: ProblemReport) -> Network:
    kind = find_kind(written.type)
    if kind is not NetworkKind.INFINIBAND and written.mtu is not None and written.mtu < _LEAST_ETHERNET_MTU:
        report.add((*here, "mtu"), str(written.mtu), f"{_LEAST_ETHERNET_MTU} or more (less is an MTU of infiniband)")
    mtu = find_ip_mtu(kind, written.mtu)
    stated = report.share(written.goodput, (*here, "goodput"))
    goodput, basis = (stated, "as stated") if stated else _compute(kind, mtu, written, here, report)
    role = NetworkRole(written.role) if written.role else infer_role(name)
    inferred = written.role is None and role is not NetworkRole.DATA
    rule = RoutingRule(written.routing) if written.routing else None
    legs = Parallel(written.legs) if written.legs else None
    return Network(name, mtu, goodput, written.type, kind, role, inferred, basis, rule, legs)


def _compute(
    kind: NetworkKind, mtu: int, written: raw.RawNetwork, here: Location, report: ProblemReport
) -> tuple[float, str]:
    """The payload share by the rule of the kind; a problem where there is none."""
    place = (*here, "type")
    if kind is NetworkKind.INFINIBAND and is_called_by_signals(written.type) and written.goodput is None:
        expected = "a goodput beside it, for the code of its wire takes a part (8b/10b of SDR, DDR and QDR leaves 80 %)"
        report.add(place, f"{written.type!r} without a goodput", expected)
    found = compute_goodput(kind, mtu)
    if found is None and written.goodput is None:
        if kind is NetworkKind.OTHER:
            report.add(place, f"unknown type {written.type!r}", KINDS_IN_WORDS, _find_meant(str(written.type)))
        else:
            report.add(place, f"{written.type!r} without a goodput", "a goodput, the payload share of its wire")
    return found or (1.0, "not known")


def _find_meant(text: str) -> str | None:
    """The kind that one of the words may stand for."""
    near = (find_near(word, _NAMES) for word in text.casefold().split())
    return next(filter(None, near), None)
