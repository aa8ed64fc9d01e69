"""Whether least hops are the plain way to route a fabric: its switches stand in layers, or lie in rings and meshes."""

from benchconsole.topology.model.fabric import Fabric, SwitchId


def is_layered(fabric: Fabric) -> bool:
    """Whether links inside a tier close no ring: a tree, a Clos fabric, or one with cross-links, and no torus.

    The two switches of an MLAG pair are one, and so are parallel links.
    """
    leader: dict[str, str] = {}

    def find(switch: str) -> str:
        while switch in leader:
            switch = leader[switch]
        return switch

    joined = set()
    for link in fabric.links.values():
        if link.a not in fabric.switches or link.b not in fabric.switches:
            continue
        if fabric.switches[SwitchId(link.a)].role is not fabric.switches[SwitchId(link.b)].role:
            continue
        ends = [fabric.mlag_of[end].switches[0] if end in fabric.mlag_of else end for end in (link.a, link.b)]
        if ends[0] != ends[1]:
            joined.add((min(ends), max(ends)))
    for here, there in sorted(joined):
        one, other = find(here), find(there)
        if one == other:
            return False
        leader[one] = other
    return True
