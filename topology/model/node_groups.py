"""Groups of nodes that a node set may name."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from benchconsole.topology.grouping import group_by_key

if TYPE_CHECKING:
    from benchconsole.topology.model.fabric import Fabric


def list_groups(fabric: "Fabric") -> Mapping[str, Sequence[str]]:
    """Group name to members, none of them empty: ``all``, each role, ``production``, ``class:NAME``, ``switch:NAME``,
    ``chassis:NAME``, ``rack:NAME``, ``site:NAME``, ``vlan:NUMBER``.
    """
    nodes = fabric.nodes
    members: dict[str, list[str]] = {"all": list(nodes)}
    roles = group_by_key((each.role, str(each.id)) for each in nodes.values())
    members.update((role.value, names) for role, names in roles.items())
    classes = group_by_key((each.hardware.name, str(each.id)) for each in nodes.values())
    members.update((f"class:{name}", names) for name, names in classes.items())
    switches = group_by_key((link.b, link.a) for link in fabric.links.values() if link.a in nodes)
    members.update((f"switch:{name}", names) for name, names in switches.items())
    for group in fabric.groups:
        members[f"{group.kind}:{group.name}"] = [name for name in group.members if name in nodes]
    members["production"] = [node.id for node in nodes.values() if node.production]
    members.update((f"vlan:{vlan.id}", sorted(vlan.members)) for vlan in fabric.vlans.values())
    return MappingProxyType({group: names for group, names in members.items() if names})
