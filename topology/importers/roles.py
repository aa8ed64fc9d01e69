"""Infers the role of a device that its source does not state: from its name first, then from the cabling.

Every answer comes with its reason, which is written beside it.
"""

import re
from collections import deque
from collections.abc import Iterable, Mapping

from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import SwitchRole

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_SWITCHES = {
    "chassis": SwitchRole.CHASSIS,
    "leaf": SwitchRole.LEAF, "borderleaf": SwitchRole.LEAF,
    "leafs": SwitchRole.LEAF, "leaves": SwitchRole.LEAF, "tor": SwitchRole.LEAF,
    "access": SwitchRole.LEAF, "edge": SwitchRole.LEAF,
    "spine": SwitchRole.SPINE, "spines": SwitchRole.SPINE, "aggregation": SwitchRole.SPINE, "agg": SwitchRole.SPINE,
    "distribution": SwitchRole.SPINE, "dist": SwitchRole.SPINE,
    "core": SwitchRole.CORE, "superspine": SwitchRole.CORE, "backbone": SwitchRole.CORE, "border": SwitchRole.CORE,
}  # fmt: skip
_FORWARDERS = {"switch", "switches", "router", "routers", "bridge", "sw"}
_NODES = {
    "compute": {"compute", "computes", "worker", "workers", "cn", "gpu"},
    "storage": {
        "storage", "stor", "st", "oss", "osts", "osd", "osds", "ost", "mds", "mdt", "mgs", "nas", "nfs", "ceph",
        "lustre", "beegfs", "gpfs",
    },
    "management": {
        "management", "mgmt", "admin", "head", "master", "masters", "control", "controller", "controllers", "service",
        "slurmctld",
    },
    "login": {"login", "logins", "front", "frontend", "submit"},
    "gateway": {"gateway", "gateways", "gw", "lnet", "dtn"},
}  # fmt: skip
_HOSTS = {
    "server", "servers", "srv", "host", "hosts", "client", "clients", "pc", "vm", "vms", "desktop", "laptop",
    "workstation", "tester", "iperf", "netshoot", "multitool",
}  # fmt: skip
_MEMBERS = {"node", "nodes"}
"""Words that name a machine beside switches, and any device where there is no other word."""
_APART = {
    "client", "clients", "exporter", "exporters", "monitoring", "metrics", "grafana", "prometheus", "mount", "mounts",
    "user", "users", "consumer", "consumers", "proxy", "dashboard",
}  # fmt: skip
"""Words of what uses or watches a service: with one of them the word beside it names no role."""
_LETTERS = {"r", "rt", "rtr", "p", "pe", "ce", "rr", "br", "abr", "asbr", "s", "ls", "as", "isp", "fw", "firewall"}
"""Words that name a router where a device has several neighbours."""
_ROUTER_IMAGES = {
    *_FORWARDERS, "frr", "frrouting", "quagga", "holo", "bird", "sonic", "openbgpd", "vyos", "openswitch", "ovs",
    "openvswitch", "bmv", "cumulus", "vpp", "freertr", "xorp", "babel", "babeld", "srlinux", "ceos", "crpd",
    "routeros", "openwrt", "stratum", "xrd",
}  # fmt: skip
"""Words in the names of container images whose programs forward for others."""


def split_words(text: str) -> list[str]:
    """The words in a name, in lower case: ``dc1-Leaf01`` gives ``dc`` and ``leaf``, ``leafA`` ``leaf`` and ``a``."""
    return [word.lower() for word in _WORD.findall(text)]


def find_switch_role(text: str) -> SwitchRole | None:
    """The role that a word of ``text`` names, if one does."""
    return next((_SWITCHES[word] for word in split_words(text) if word in _SWITCHES), None)


def find_node_role(text: str) -> str | None:
    """The role of a node that a word of ``text`` names, if one does."""
    found = split_words(text)
    if _APART.intersection(found):
        return None
    return next((role for role, known in _NODES.items() if known.intersection(found)), None)


def is_switch(text: str) -> bool | None:
    """Whether the words of ``text`` (a role in an inventory) mean a switch; None when they do not say."""
    found = set(split_words(text))
    if found & (_FORWARDERS | _SWITCHES.keys()):
        return True
    return False if found & (_HOSTS | _MEMBERS) or find_node_role(text) else None


def is_host(name: str) -> bool:
    """Whether a word of ``name`` means a machine and none a switch: labs have hosts that run a system of switches."""
    words = set(split_words(name))
    return bool(words & (_HOSTS | {"h"})) and not words & (_FORWARDERS | _SWITCHES.keys())


def guess_switch(name: str, image: str, neighbours: int) -> tuple[bool | None, str]:
    """Whether a container that may be anything is a switch, and by what; None where only its place could tell.

    ``neighbours`` is how many devices it is cabled to. Words of ``name`` go before those of ``image``; a word for a
    switch and one for a host in one name leave it to the number of neighbours.
    """
    words = set(split_words(name))
    switch, host = bool(words & (_FORWARDERS | _SWITCHES.keys())), bool(words & (_HOSTS | {"h"}))
    if switch and host:
        return neighbours > 1, "its name and its cables"
    if switch or host:
        return switch, "its name"
    program = next((word for word in split_words(image.partition("@")[0]) if word in _ROUTER_IMAGES), None)
    if program is not None:
        return True, f"its image ({program})"
    if words & _LETTERS and neighbours > 1:
        return True, "its name and its cables"
    return (False, "its name") if words & _MEMBERS or find_node_role(name) else (None, "")


def is_any_device(name: str) -> bool:
    """Whether the only word of ``name`` that says something is one for any device, as in ``node1-1``."""
    words = set(split_words(name))
    return bool(words & _MEMBERS) and not words & (_HOSTS | {"h"}) and find_node_role(name) is None


def infer_switch_roles(
    switches: Iterable[str], links: Iterable[tuple[str, str]]
) -> Mapping[str, tuple[str | None, str]]:
    """Each of ``switches`` with its role and the reason; ``links`` are pairs of devices.

    Whatever is in ``links`` and no switch is a node. A switch that no word gives a role gets it
    from its distance to the nearest node: 1 is a leaf, then spine, core; with four distances,
    or where a name says chassis, 1 is a chassis switch. None for one that no node reaches.
    """
    named = {name: find_switch_role(name) for name in switches}
    distance = _measure_distances(named, links)
    chassis = max(distance.values(), default=0) >= len(SwitchRole) or SwitchRole.CHASSIS in named.values()
    ladder = list(SwitchRole)[0 if chassis else 1 :]
    return {name: _infer_role(role, distance.get(name), ladder) for name, role in named.items()}


def _infer_role(named: SwitchRole | None, hops: int | None, ladder: list[SwitchRole]) -> tuple[str | None, str]:
    if named is not None:
        return named.value, "role inferred from its name"
    if hops is None:
        return None, "role not known: no cable leads from it to a node"
    cables = "1 cable" if hops == 1 else f"{hops} cables"
    return ladder[min(hops, len(ladder)) - 1].value, f"role inferred from the cabling: {cables} from the nearest node"


def _measure_distances(switches: Mapping[str, object], links: Iterable[tuple[str, str]]) -> dict[str, int]:
    beside = group_by_key(ends for a, b in links for ends in ((a, b), (b, a)))
    found = dict.fromkeys((name for name in beside if name not in switches), 0)
    queue = deque(found)
    while queue:
        here = queue.popleft()
        for there in beside[here]:
            if there not in found:
                found[there] = found[here] + 1
                queue.append(there)
    return {name: hops for name, hops in found.items() if hops}
