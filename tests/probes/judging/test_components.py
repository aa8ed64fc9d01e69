"""Which components hold a part, from the smallest; and which one owns parts that cannot be told apart."""

import pytest

from benchconsole.probes.judging.components import Component, ComponentKind, Components
from benchconsole.probes.judging.parts import Parts
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.routing.graph import Graph
from tests.probes.judging.named_parts import NamedParts
from tests.probes.judging.rounds import PAIRED, STAR


def name_parts(text: str) -> NamedParts:
    parts = Parts(Graph(load_text(text, "named.yaml")))
    return NamedParts(parts, Components(parts))


PAIR = name_parts(PAIRED)


def both(*names: str) -> set[str]:
    return {*names, *(">".join(reversed(name.split(">"))) for name in names)}


LEAF1 = ("switch", "leaf1", both("b1>leaf1", "b2>leaf1", "leaf1>spine1", "leaf1>leaf2"))
LEAF2 = ("switch", "leaf2", both("b1>leaf2", "b2>leaf2", "leaf2>spine1", "leaf1>leaf2"))
TOR = ("switch", "tor", both("s1>tor", "s2>tor", "s3>tor", "wide>tor", "tor>spine1", "tor>spine2"))
SPINE1 = ("switch", "spine1", both("leaf1>spine1", "leaf2>spine1", "tor>spine1"))
SPINE2 = ("switch", "spine2", both("tor>spine2"))


@pytest.mark.parametrize(
    ("part", "held"),
    [
        (
            "b1>leaf2",  # a leg of a bond
            [
                ("link", "b1", {"b1>leaf2"}),
                ("link", "b1", both("b1>leaf2")),
                ("nic", "b1", {"b1>leaf1", "b1>leaf2"}),
                ("nic", "b1", both("b1>leaf1", "b1>leaf2")),
                LEAF2,
            ],
        ),
        (
            "leaf1>b1",
            [
                ("link", "b1", {"leaf1>b1"}),
                ("link", "b1", both("b1>leaf1")),
                ("nic", "b1", {"leaf1>b1", "leaf2>b1"}),
                ("nic", "b1", both("b1>leaf1", "b1>leaf2")),
                LEAF1,
            ],
        ),
        (
            "s1>tor",  # the only cable of a NIC
            [("link", "s1", {"s1>tor"}), ("link", "s1", both("s1>tor")), TOR],
        ),
        (
            "tor>s1",
            [("link", "s1", {"tor>s1"}), ("link", "s1", both("s1>tor")), TOR],
        ),
        (
            "wide>tor/2",  # a member is in nothing but itself
            [("member", "wide", {"wide>tor/2"}), ("member", "wide", {"wide>tor/2", "tor>wide/2"})],
        ),
        (
            "spine1>tor/3",
            [("member", "tor", {"spine1>tor/3"}), ("member", "tor", {"tor>spine1/3", "spine1>tor/3"})],
        ),
        (
            "leaf2>spine1",  # one LAG of a pair
            [
                ("link", "leaf2", {"leaf2>spine1"}),
                ("link", "leaf2", both("leaf2>spine1")),
                ("uplinks", "leaf1", {"leaf1>spine1", "leaf2>spine1"}),
                ("uplinks", "leaf1", both("leaf1>spine1", "leaf2>spine1")),
                LEAF2,
                SPINE1,
            ],
        ),
        (
            "spine1>leaf1",
            [
                ("link", "leaf1", {"spine1>leaf1"}),
                ("link", "leaf1", both("leaf1>spine1")),
                ("uplinks", "leaf1", {"spine1>leaf1", "spine1>leaf2"}),
                ("uplinks", "leaf1", both("leaf1>spine1", "leaf2>spine1")),
                LEAF1,
                SPINE1,
            ],
        ),
        (
            "tor>spine1",  # a LAG that shares its traffic with no other
            [("link", "tor", {"tor>spine1"}), ("link", "tor", both("tor>spine1")), TOR, SPINE1],
        ),
        (
            "spine2>tor",
            [("link", "tor", {"spine2>tor"}), ("link", "tor", both("tor>spine2")), TOR, SPINE2],
        ),
        (
            "leaf2>leaf1",  # the peer link lies inside of the pair
            [
                ("link", "leaf1", {"leaf2>leaf1"}),
                ("link", "leaf1", both("leaf1>leaf2")),
                LEAF1,
                LEAF2,
            ],
        ),
    ],
)  # fmt: skip
def test_a_part_is_held_by_all_that_fails_with_it(part: str, held: list[tuple[str, str, set[str]]]) -> None:
    assert PAIR.holding(part) == held


def test_every_part_is_held_by_what_has_it() -> None:
    for part in range(PAIR.parts.size):
        assert all(part in each.parts for each in PAIR.components.holding(part))


def test_a_component_is_the_same_object_from_each_of_its_parts() -> None:
    met: dict[tuple[ComponentKind, frozenset[int]], Component] = {}
    for part in range(PAIR.parts.size):
        for each in PAIR.components.holding(part):
            assert met.setdefault((each.kind, each.parts), each) is each
            assert all(each in PAIR.components.holding(other) for other in each.parts)


def test_a_standby_leg_is_no_part_of_the_nic_while_the_other_is_up() -> None:
    named = name_parts(PAIRED.replace("bond: lacp", "bond: active-backup"))
    assert [kind for kind, *_ in named.holding("b1>leaf1")] == ["link", "link", "switch"]


def test_two_links_between_the_switches_of_a_pair_share_their_traffic() -> None:
    peer = "  - {from: leaf1, to: leaf2, speed: 8 Gb/s, LAG, network: flat}\n"
    both_links = peer.replace("LAG", "lag: po1") + peer.replace("LAG", "lag: po2")
    named = name_parts(PAIRED.replace(peer.replace("LAG, ", ""), both_links))
    links = [link for link in named.parts.graph.links if (link.a, link.b) == ("leaf1", "leaf2")]
    ways = {named.parts.graph.way(link, "leaf1") for link in links}
    assert len(ways) == 2
    for way in ways:
        (found,) = (
            each for each in named.components.holding(way) if each.kind is ComponentKind.UPLINKS and each.is_one_way
        )
        assert found.parts == ways


def test_cables_of_two_networks_are_two_nics() -> None:
    text = STAR.replace("{flat: {goodput: 100 %}}", "{flat: {goodput: 100 %}, slow: {goodput: 100 %}}")
    text = text.replace("leaf: {role: leaf}", "leaf: {role: leaf}, other: {role: leaf}")
    named = name_parts(text.replace("links: [", 'links: [{from: "n[1-8]", to: other, speed: 8 Gb/s, network: slow}, '))
    assert [kind for kind, *_ in named.holding("n1>leaf")] == ["link", "link", "switch"]


@pytest.mark.parametrize(
    ("part", "kind", "one_way"),
    [
        ("s1>tor", ComponentKind.LINK, True),
        ("s1>tor", ComponentKind.LINK, False),
        ("leaf1>b1", ComponentKind.NIC, True),
        ("leaf1>b1", ComponentKind.NIC, False),
        ("wide>tor/1", ComponentKind.MEMBER, True),
        ("spine1>leaf1", ComponentKind.UPLINKS, True),
        ("spine1>leaf1", ComponentKind.UPLINKS, False),
        ("spine2>tor", ComponentKind.SWITCH, False),
    ],
)
def test_each_kind_but_a_switch_is_one_way_or_both(part: str, kind: ComponentKind, one_way: bool) -> None:
    components = [each for each in PAIR.components.holding(PAIR.number(part)) if each.kind is kind]
    assert one_way in [each.is_one_way for each in components]
    assert not any(each.is_one_way for each in components if each.kind is ComponentKind.SWITCH)


LINK, NIC, MEMBER, UPLINKS = ComponentKind.LINK, ComponentKind.NIC, ComponentKind.MEMBER, ComponentKind.UPLINKS


@pytest.mark.parametrize(
    ("kind", "one_way", "parts", "joined"),
    [
        (LINK, True, ["b1>leaf1", "b1>leaf2"], ("nic", "b1", {"b1>leaf1", "b1>leaf2"})),
        (LINK, True, ["leaf1>b1", "leaf2>b1"], ("nic", "b1", {"leaf1>b1", "leaf2>b1"})),
        (LINK, False, ["b1>leaf1", "b1>leaf2"], ("nic", "b1", both("b1>leaf1", "b1>leaf2"))),
        (LINK, True, ["s1>tor", "tor>s1"], ("link", "s1", both("s1>tor"))),
        (LINK, True, ["leaf1>spine1", "leaf2>spine1"], ("uplinks", "leaf1", {"leaf1>spine1", "leaf2>spine1"})),
        (LINK, False, ["leaf1>spine1", "leaf2>spine1"], ("uplinks", "leaf1", both("leaf1>spine1", "leaf2>spine1"))),
        (MEMBER, True, ["wide>tor/1", "wide>tor/2"], ("link", "wide", {"wide>tor"})),
        (MEMBER, True, ["tor>spine1/1", "tor>spine1/3"], ("link", "tor", {"tor>spine1"})),
        (MEMBER, False, ["leaf1>spine1/1", "leaf1>spine1/2"], ("link", "leaf1", both("leaf1>spine1"))),
        (MEMBER, True, ["leaf1>spine1/1", "spine1>leaf1/1"], ("member", "leaf1", {"leaf1>spine1/1", "spine1>leaf1/1"})),
        (LINK, True, ["b1>leaf1", "b2>leaf1"], None),  # the legs of two nodes
        (LINK, True, ["b1>leaf1", "leaf2>b1"], None),  # one leg out, the other in
        (LINK, True, ["s1>tor", "tor>s2"], None),
        (LINK, True, ["leaf1>spine1", "tor>spine1"], None),
        (LINK, True, ["tor>spine1", "tor>spine2"], None),
        (MEMBER, True, ["leaf1>spine1/1", "leaf2>spine1/1"], None),
        (NIC, True, ["b1>leaf1", "leaf1>b2"], None),
        (UPLINKS, True, ["leaf1>spine1", "spine1>leaf1"], ("uplinks", "leaf1", both("leaf1>spine1", "leaf2>spine1"))),
    ],
)  # fmt: skip
def test_a_tie_belongs_to_what_has_just_its_parts(
    kind: ComponentKind, one_way: bool, parts: list[str], joined: tuple[str, str, set[str]] | None
) -> None:
    for names in (parts, parts[::-1]):
        found = PAIR.components.join([PAIR.find(name, kind, one_way=one_way) for name in names])
        assert (None if found is None else PAIR.tell(found)) == joined


def test_of_all_that_have_the_same_parts_the_smallest_owns_them() -> None:
    """A switch at the end of one cable has the same parts as both ways over the cable."""
    cable = PAIR.find("tor>spine2", LINK, one_way=False)
    (*_, spine2) = PAIR.components.holding(PAIR.number("tor>spine2"))
    assert (spine2.device, spine2.parts) == ("spine2", cable.parts)
    assert PAIR.components.join([cable, spine2]) is cable


def test_one_component_is_its_own_owner() -> None:
    for each in PAIR.components.holding(PAIR.number("leaf1>spine1")):
        assert PAIR.components.join([each]) is each


def test_unlike_components_have_no_owner() -> None:
    assert PAIR.components.join([PAIR.find("b1>leaf1", NIC), PAIR.find("wide>tor", LINK)]) is None


def test_the_nic_of_a_virtual_machine_is_that_of_its_host() -> None:
    text = """\
schema: 1
fabric: virtual
switches: {leaf: {}}
nodes: {"n[1-2]": {}, "vm[1-2]": {host: n1}}
links: [{from: "n[1-2]", to: leaf, speed: 8 Gb/s}]
"""
    fabric = load_text(text, "virtual.yaml")
    components = Components(Parts(Graph(fabric)))
    assert components.find_nic("vm1") == components.find_nic("n1")
    assert components.find_nic("vm1").device == "n1"
