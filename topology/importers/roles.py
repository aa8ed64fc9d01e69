"""Infers the role of a device that its source does not state: from its name first, then from the cabling.

Every answer comes with its reason, which is written beside it.
"""

import re
from collections import deque
from collections.abc import Iterable, Mapping

from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import SwitchRole

_WORD = re.compile(r"[a-z]+")
_SWITCHES = {
    "chassis": SwitchRole.CHASSIS,
    "leaf": SwitchRole.LEAF, "leafs": SwitchRole.LEAF, "leaves": SwitchRole.LEAF, "tor": SwitchRole.LEAF,
    "access": SwitchRole.LEAF, "edge": SwitchRole.LEAF,
    "spine": SwitchRole.SPINE, "spines": SwitchRole.SPINE, "aggregation": SwitchRole.SPINE, "agg": SwitchRole.SPINE,
    "distribution": SwitchRole.SPINE, "dist": SwitchRole.SPINE,
    "core": SwitchRole.CORE, "superspine": SwitchRole.CORE, "backbone": SwitchRole.CORE, "border": SwitchRole.CORE,
}  # fmt: skip
_FORWARDERS = {"switch", "switches", "router", "routers", "bridge", "sw"}
_NODES = {
    "compute": {"compute", "computes", "worker", "workers", "cn", "gpu"},
    "storage": {
        "storage", "stor", "st", "oss", "ost", "mds", "mdt", "mgs", "nas", "nfs", "ceph", "lustre", "beegfs", "gpfs",
    },
    "management": {"management", "mgmt", "admin", "head", "master", "control", "controller", "service", "slurmctld"},
    "login": {"login", "logins", "front", "frontend", "submit"},
    "gateway": {"gateway", "gateways", "gw", "lnet", "dtn"},
}  # fmt: skip
_HOSTS = {"server", "servers", "host", "hosts", "node", "nodes", "vm", "client", "clients"}


def split_words(text: str) -> list[str]:
    """The words in a name, in lower case: ``dc1-Leaf01`` gives ``dc`` and ``leaf``."""
    return _WORD.findall(text.lower())


def find_switch_role(text: str) -> SwitchRole | None:
    """The role that a word of ``text`` names, if one does."""
    return next((_SWITCHES[word] for word in split_words(text) if word in _SWITCHES), None)


def find_node_role(text: str) -> str | None:
    """The role of a node that a word of ``text`` names, if one does."""
    found = split_words(text)
    return next((role for role, known in _NODES.items() if known.intersection(found)), None)


def is_switch(text: str) -> bool | None:
    """Whether the words of ``text`` (a role in an inventory) mean a switch; None when they do not say."""
    found = set(split_words(text))
    if found & (_FORWARDERS | _SWITCHES.keys()):
        return True
    return False if found & _HOSTS or find_node_role(text) else None


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
