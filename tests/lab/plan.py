"""Everything about a laboratory that follows from its spec: names, addresses, cables.

Owned here: the address plan, interface and namespace names, who hangs on what.
Refused here: touching the machine; a plan is frozen data and can be made by anyone.

Address plan, with the default networks:
  management  10.213.0.1 root, 10.213.(0..).11-210 compute, 10.213.200.11-250 storage
  data        10.214.LEAF.11-250 compute, 10.214.(200+SPINE).11-250 storage, .1 the gateway
  trunks      10.214.(240..255) in /31 pairs
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tests.lab.host import LabError
from tests.lab.spec import LabSpec

FIRST_HOST = 11
_NODES_PER_MANAGEMENT_SEGMENT = 200
_STORAGE_SEGMENT = 200
_TRUNK_SEGMENT = 240


@dataclass(frozen=True)
class NodePlan:
    """One node: where it hangs and how it is reached."""

    name: str
    role: str
    switch: str
    management: str
    data: str
    gateway: str
    mbit: int
    management_port: str  # its end in the root namespace


@dataclass(frozen=True)
class SwitchPlan:
    """One switch: its namespace, and the subnet behind its bridge if there is one."""

    name: str
    role: str
    namespace: str
    seed: int
    gateway: str
    subnet: str


@dataclass(frozen=True)
class Member:
    """One cable of the trunk between a leaf and a spine, counted from 1."""

    leaf: str
    spine: str
    member: int
    leaf_address: str
    spine_address: str
    mbit: int

    def port(self, switch: str) -> str:
        """The port on this switch, named after the far end."""
        return f"{self.far(switch)}-{self.member}"

    def far(self, switch: str) -> str:
        """The switch at the other end."""
        return self.spine if switch == self.leaf else self.leaf

    def address(self, switch: str) -> str:
        """The address of this end."""
        return self.leaf_address if switch == self.leaf else self.spine_address


class Plan:
    """A spec worked out; lookups only."""

    def __init__(self, spec: LabSpec) -> None:
        self.spec = spec

    @cached_property
    def switches(self) -> dict[str, SwitchPlan]:
        """All switches by name, spines first."""
        spec = self.spec
        with_storage = {server.spine for server in spec.storage}
        spines = [self._switch("spine", i, 200 + i if i in with_storage else None) for i in range(1, spec.spines + 1)]
        leaves = [self._switch("leaf", i, i) for i in range(1, spec.leaves + 1)]
        return {switch.name: switch for switch in spines + leaves}

    def _switch(self, role: str, number: int, segment: int | None) -> SwitchPlan:
        name = f"{role}{number}"
        seed = 7919 * number + (104729 if role == "spine" else 0)
        base = f"{self.spec.data}.{segment}"
        gateway, subnet = (f"{base}.1", f"{base}.0/24") if segment is not None else ("", "")
        return SwitchPlan(name, role, f"{self.spec.prefix}-{name}", seed, gateway, subnet)

    @cached_property
    def nodes(self) -> dict[str, NodePlan]:
        """All nodes by name, compute first, in their natural order."""
        return {node.name: node for node in self._compute() + self._storage()}

    def _compute(self) -> list[NodePlan]:
        spec, found = self.spec, []
        for index in range(spec.leaves * spec.nodes_per_leaf):
            leaf, place = divmod(index, spec.nodes_per_leaf)
            segment, host = divmod(index, _NODES_PER_MANAGEMENT_SEGMENT)
            address = f"{spec.management}.{segment}.{FIRST_HOST + host}"
            switch = self.switches[f"leaf{leaf + 1}"]
            found.append(self._node(f"n{index + 1}", "compute", switch, place, address))
        return found

    def _storage(self) -> list[NodePlan]:
        spec, found = self.spec, []
        places: dict[int, int] = {}
        for index, server in enumerate(spec.storage):
            place = places.get(server.spine, 0)
            places[server.spine] = place + 1
            address = f"{spec.management}.{_STORAGE_SEGMENT}.{FIRST_HOST + index}"
            switch = self.switches[f"spine{server.spine}"]
            found.append(self._node(server.name, "storage", switch, place, address))
        return found

    def _node(self, name: str, role: str, switch: SwitchPlan, place: int, management: str) -> NodePlan:
        return NodePlan(
            name=name,
            role=role,
            switch=switch.name,
            management=management,
            data=switch.gateway[:-1] + str(FIRST_HOST + place),
            gateway=switch.gateway,
            mbit=self.spec.storage_mbit if role == "storage" else self.spec.node_mbit,
            management_port=f"{self.spec.prefix}-{name}",
        )

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """Every trunk cable."""
        spec = self.spec
        found: list[Member] = []
        for leaf in range(1, spec.leaves + 1):
            for spine in range(1, spec.spines + 1):
                for member in range(1, spec.members + 1):
                    segment, low = divmod(2 * len(found), 256)
                    base = f"{spec.data}.{_TRUNK_SEGMENT + segment}"
                    ends = f"{base}.{low}", f"{base}.{low + 1}"
                    found.append(Member(f"leaf{leaf}", f"spine{spine}", member, *ends, spec.member_mbit))
        return tuple(found)

    def members_of(self, switch: str) -> list[Member]:
        """The trunk cables that end on this switch."""
        return [m for m in self.members if switch in (m.leaf, m.spine)]

    def member(self, switch_a: str, switch_b: str, member: int) -> Member:
        """One cable, its switches given in either order."""
        for found in self.members:
            if {found.leaf, found.spine} == {switch_a, switch_b} and found.member == member:
                return found
        raise LabError(f"there is no member {member} between {switch_a} and {switch_b}")

    def node(self, name: str) -> NodePlan:
        """One node, or an error that names it."""
        try:
            return self.nodes[name]
        except KeyError:
            raise LabError(f"there is no node {name!r} in this laboratory") from None

    def nodes_on(self, switch: str) -> list[NodePlan]:
        """The nodes that hang on this switch."""
        return [node for node in self.nodes.values() if node.switch == switch]
