"""The cables that nodes saw, held against the described ones: every kind of miscabling, told once and as what it is."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.copying import replace
from benchconsole.topology.wire.cabling import CableOutcome, list_cables
from benchconsole.topology.wire.comparison import WireCoverage, compare
from benchconsole.topology.wire.observations import BondSeen, HeardNeighbour, Member, Observed, ObservedPort
from tests.fabrics import fabric
from tests.topology.wire.played import LAG, LEGS, PLAIN, PORTS, Seen, healthy, only, plugged, port


@pytest.mark.parametrize("text", [PLAIN, PORTS, LEGS, LAG])
def test_a_machine_as_described_has_no_difference(tmp_path: Path, text: str) -> None:
    described = fabric(tmp_path, text)
    report = compare(described, healthy(described))
    assert report.differences == ()
    assert set(report.coverage.values()) == {WireCoverage.EQUAL}
    assert report.complete
    assert {state.kind for state in report.states} == {CableOutcome.CONFIRMED}


def test_links_between_switches_are_counted_as_not_seen(tmp_path: Path) -> None:
    described = fabric(tmp_path, PLAIN)
    report = compare(described, healthy(described))
    assert (report.links, report.visible) == (12, 9)


def test_links_of_another_kind_of_network_are_not_asked_of_lldp(tmp_path: Path) -> None:
    elan = PLAIN.replace("to: leaf3, speed", "to: leaf3, network: elan, speed").replace(
        "switches:\n", "networks: {elan: {type: Quadrics Elan3, goodput: 90 %}}\nswitches:\n"
    )
    described = fabric(tmp_path, elan)
    report = compare(described, healthy(described))
    assert report.visible == 8
    assert report.coverage["n9"] is WireCoverage.NOT_DESCRIBED


# -- swaps


@pytest.mark.fault("F49")
def test_two_swapped_nodes_are_one_finding(tmp_path: Path) -> None:
    described = fabric(tmp_path, PLAIN)
    seen = healthy(described)
    seen["n3"], seen["n7"] = seen["n7"], seen["n3"]
    report = compare(described, seen)
    found = only(report)
    assert (found.kind, found.nodes) == (CableOutcome.SWAPPED, ("n3", "n7"))
    assert found.text == "n3 and n7 are swapped"
    assert found.described == "n3 at leaf1; n7 at leaf2"
    assert found.seen == "n3 at leaf2; n7 at leaf1"
    assert report.nodes(WireCoverage.DIFFERS) == ("n3", "n7")


def test_switches_whose_nodes_are_all_found_at_the_other_are_swapped(tmp_path: Path) -> None:
    described = fabric(tmp_path, PLAIN)
    seen = healthy(described)
    for one, other in zip(("n1", "n2", "n3", "n4"), ("n5", "n6", "n7", "n8"), strict=True):
        seen[one], seen[other] = seen[other], seen[one]
    found = only(compare(described, seen))
    assert found.text == "leaf1 and leaf2 are swapped: each node cabled to one is found at the other"
    assert len(found.nodes) == 8


def test_three_nodes_in_a_ring_are_one_finding(tmp_path: Path) -> None:
    described = fabric(tmp_path, PLAIN)
    seen = healthy(described)
    seen["n1"], seen["n5"], seen["n9"] = seen["n5"], seen["n9"], seen["n1"]
    found = only(compare(described, seen))
    assert found.text == "n[1,5,9] are in the places of each other"


def test_two_nodes_swapped_at_one_switch_are_known_by_their_ports(tmp_path: Path) -> None:
    described = fabric(tmp_path, PORTS)
    seen = healthy(described)
    seen["n1"], seen["n3"] = seen["n3"], seen["n1"]
    found = only(compare(described, seen))
    assert (found.kind, found.text) == (CableOutcome.SWAPPED, "n1 and n3 are swapped")
    assert found.described == "n1 at leaf2:Eth1; n3 at leaf2:Eth3"


def test_swapped_nodes_with_two_legs_are_one_finding_and_a_swapped_leg_is_a_cable(tmp_path: Path) -> None:
    described = fabric(tmp_path, LEGS)
    seen = healthy(described)
    seen["n1"], seen["n3"] = seen["n3"], seen["n1"]
    assert only(compare(described, seen)).text == "n1 and n3 are swapped"
    seen = healthy(described)
    seen["n1"] = plugged(described, "n1", "leaf1", "leaf4")
    seen["n3"] = plugged(described, "n3", "leaf3", "leaf2")
    assert only(compare(described, seen)).text == "cables of n[1,3] are swapped"


@given(order=st.permutations(range(1, 9)))
@settings(max_examples=60, deadline=None)
def test_however_nodes_are_exchanged_each_is_told_once_and_as_a_swap(
    tmp_path_factory: pytest.TempPathFactory, order: Sequence[int]
) -> None:
    described = fabric(tmp_path_factory.getbasetemp(), PORTS)
    right = healthy(described)
    seen: Seen = {f"n{node}": right[f"n{place}"] for node, place in zip(range(1, 9), order, strict=True)}
    report = compare(described, seen)
    told = [node for difference in report.differences for node in difference.nodes]
    moved = [f"n{node}" for node, place in zip(range(1, 9), order, strict=True) if node != place]
    assert sorted(told) == sorted(moved)
    assert {difference.kind for difference in report.differences} <= {CableOutcome.SWAPPED}
    assert set(report.nodes(WireCoverage.EQUAL)).isdisjoint(moved)


@given(order=st.permutations(range(1, 10)))
@settings(max_examples=60, deadline=None)
def test_without_ports_whoever_is_not_told_of_stands_at_his_switch(
    tmp_path_factory: pytest.TempPathFactory, order: Sequence[int]
) -> None:
    described = fabric(tmp_path_factory.getbasetemp(), PLAIN)
    right = healthy(described)
    seen: Seen = {f"n{node}": right[f"n{place}"] for node, place in zip(range(1, 10), order, strict=True)}
    report = compare(described, seen)
    told = [node for difference in report.differences for node in difference.nodes]
    assert len(told) == len(set(told))
    assert set(told) == {node for node in seen if seen[node] != right[node]}


# -- one cable


@pytest.mark.fault("F49")
def test_a_node_at_another_switch_is_told_with_whose_place_it_has(tmp_path: Path) -> None:
    described = fabric(tmp_path, PORTS)
    seen = healthy(described)
    seen["n2"] = plugged(described, "n2", "leaf2:Eth1")
    seen["n1"] = None
    found = only(compare(described, seen))
    assert (found.kind, found.places, found.seen) == (CableOutcome.WRONG_SWITCH, ("leaf1:Eth2",), "leaf2:Eth1")
    assert found.text == "the place of n1"


def test_without_ports_those_who_are_missing_there_are_named(tmp_path: Path) -> None:
    described = fabric(tmp_path, PLAIN)
    seen = healthy(described)
    seen["n2"] = plugged(described, "n2", "leaf2")
    seen["n5"] = Observed((ObservedPort("eth0", carrier=False),))
    found = {difference.kind: difference for difference in compare(described, seen).differences}
    assert found[CableOutcome.WRONG_SWITCH].text == "where n5 should be"
    assert found[CableOutcome.MISSING].text == "no carrier on eth0"


def test_a_neighbour_that_is_not_forgotten_yet_does_not_hide_a_pulled_cable(tmp_path: Path) -> None:
    described = fabric(tmp_path, PLAIN)
    seen = healthy(described)
    seen["n2"] = Observed((replace(port(list_cables(described, "n2")[0], 0), carrier=False),))
    found = only(compare(described, seen))
    assert (found.kind, found.text) == (CableOutcome.MISSING, "no carrier on eth0")


def test_a_wrong_port_of_the_right_switch(tmp_path: Path) -> None:
    described = fabric(tmp_path, PORTS)
    seen = healthy(described)
    seen["n2"] = plugged(described, "n2", "leaf1:Ethernet33")
    found = only(compare(described, seen))
    assert (found.kind, found.places, found.seen) == (CableOutcome.WRONG_PORT, ("leaf1:Eth2",), "leaf1:Ethernet33")


def test_own_ports_that_are_crossed_are_wrong_ports(tmp_path: Path) -> None:
    text = LEGS.replace('"n[1-2]", to', '"n[1-2]:eth[0-1]", to')
    described = fabric(tmp_path, text)
    seen = healthy(described)
    one = seen["n1"]
    assert one is not None
    seen["n1"] = Observed(
        tuple(
            replace(each, neighbours=other.neighbours) for each, other in zip(one.ports, one.ports[::-1], strict=True)
        )
    )
    found = compare(described, seen).differences
    assert [(each.kind, each.described, each.seen) for each in found] == [
        (CableOutcome.WRONG_PORT, "on eth0", "on eth1"),
        (CableOutcome.WRONG_PORT, "on eth1", "on eth0"),
    ]


@pytest.mark.parametrize("speed", [1e9 / 8, 25e9 / 8])
def test_another_speed_is_a_difference(tmp_path: Path, speed: float) -> None:
    described = fabric(tmp_path, PLAIN)
    seen = healthy(described)
    for name in ("n1", "n2"):
        one = seen[name]
        assert one is not None
        seen[name] = Observed((replace(one.ports[0], speed=speed),))
    found = only(compare(described, seen))
    assert found.kind is (CableOutcome.SLOWER if speed < 10e9 / 8 else CableOutcome.FASTER)
    assert found.nodes == ("n1", "n2")
    assert found.described == "10.0 Gb/s"


def test_a_speed_that_nobody_told_is_no_difference_and_counted(tmp_path: Path) -> None:
    described = fabric(tmp_path, PLAIN)
    seen = healthy(described)
    seen["n1"] = Observed((replace(port(list_cables(described, "n1")[0], 0), speed=None),))
    report = compare(described, seen)
    assert report.differences == ()
    assert report.without_speed == 1


# -- bundles


@pytest.mark.fault("F49")
def test_a_member_that_is_not_there_leaves_fewer(tmp_path: Path) -> None:
    described = fabric(tmp_path, LAG)
    seen = healthy(described)
    one = seen["n1"]
    assert one is not None
    seen["n1"] = Observed((one.ports[0], ObservedPort("eth1", carrier=False)))
    found = only(compare(described, seen))
    assert (found.kind, found.seen, found.text) == (CableOutcome.FEWER, "1 of 2 members up", "no carrier on eth1")
    seen["n1"] = Observed((ObservedPort("eth0", carrier=False), ObservedPort("eth1", carrier=False)))
    assert only(compare(described, seen)).kind is CableOutcome.MISSING


def test_a_leg_at_the_other_switch_of_the_pair(tmp_path: Path) -> None:
    described = fabric(tmp_path, LEGS)
    seen = healthy(described)
    seen["n1"] = plugged(described, "n1", "leaf1", "leaf1")
    found = only(compare(described, seen))
    assert (found.kind, found.places, found.seen) == (CableOutcome.WRONG_LEG, ("leaf2",), "leaf1")
    assert found.text == "a second leg there, and none at leaf2"


BOND = BondSeen("bond0", "802.3ad", (Member("eth0", up=True, aggregate="1"), Member("eth1", up=True, aggregate="1")))


@pytest.mark.fault("F49")
@pytest.mark.parametrize(
    ("bond", "text"),
    [
        (replace(BOND, members=(BOND.members[0], Member("eth1", up=False))), "eth1 is down in bond0"),
        (
            replace(BOND, members=(BOND.members[0], replace(BOND.members[1], aggregate="2"))),
            "eth1 is in another aggregate of bond0 than eth0",
        ),
        (
            replace(BOND, aggregate="2", members=(BOND.members[0], replace(BOND.members[1], aggregate="2"))),
            "eth0 is in another aggregate of bond0 than eth1",
        ),
    ],
)
def test_members_that_are_cabled_and_carry_nothing_are_named(tmp_path: Path, bond: BondSeen, text: str) -> None:
    described = fabric(tmp_path, LEGS)
    seen = healthy(described)
    one = seen["n1"]
    assert one is not None
    seen["n1"] = replace(one, bonds=(bond,))
    found = only(compare(described, seen))
    assert (found.kind, found.seen, found.text) == (CableOutcome.FEWER, "1 of 2 members up", text)


def test_another_bond_mode_is_a_difference_also_of_a_node_without_lldp(tmp_path: Path) -> None:
    described = fabric(tmp_path, LEGS)
    seen = healthy(described)
    backup = replace(BOND, mode="active-backup")
    one = seen["n1"]
    assert one is not None
    seen["n1"] = replace(one, bonds=(backup,))
    seen["n2"] = Observed((), (backup,), deaf="lldpctl is not installed")
    found = only(compare(described, seen))
    assert (found.kind, found.nodes, found.described, found.seen) == (
        CableOutcome.MODE,
        ("n1", "n2"),
        "802.3ad",
        "active-backup",
    )


def test_a_leg_that_is_down_is_told_of_a_node_without_lldp(tmp_path: Path) -> None:
    described = fabric(tmp_path, LEGS)
    seen = healthy(described)
    down = replace(BOND, members=(BOND.members[0], Member("eth1", up=False)))
    seen["n1"] = Observed((), (down,), deaf="lldpctl is not installed")
    report = compare(described, seen)
    assert (only(report).kind, only(report).text) == (CableOutcome.FEWER, "eth1 is down in bond0")
    assert report.coverage["n1"] is WireCoverage.DIFFERS
    assert not report.complete


# -- anything

_neighbour = st.builds(
    HeardNeighbour,
    st.sampled_from(["leaf1", "leaf2", "leaf3", "LEAF1.x", "n1", "n2", "core", "leaf9", ""]),
    st.lists(st.sampled_from(["Eth1", "Ethernet2", "to n3", "517"]), max_size=2).map(tuple),
)
_seen = st.one_of(
    st.none(),
    st.builds(
        Observed,
        st.lists(
            st.builds(
                ObservedPort,
                st.sampled_from(["eth0", "eth1", "mgmt0"]),
                st.lists(_neighbour, max_size=2).map(tuple),
                st.sampled_from([None, 10e9 / 8, 1e9 / 8]),
                st.sampled_from([None, True, False]),
                st.booleans(),
            ),
            max_size=3,
            unique_by=lambda port: port.name,
        ).map(tuple),
        st.sampled_from([(), (BOND,), (replace(BOND, members=(Member("eth0", up=False),)),)]),
        st.sampled_from(["", "", "not installed"]),
    ),
)


@pytest.mark.parametrize("text", [PLAIN, PORTS, LEGS, LAG])
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_whatever_is_seen_each_cable_has_one_state_and_each_node_one_coverage(
    tmp_path_factory: pytest.TempPathFactory, text: str, data: st.DataObject
) -> None:
    described = fabric(tmp_path_factory.getbasetemp(), text)
    seen: Seen = {node: data.draw(_seen) for node in described.nodes}
    report = compare(described, seen)
    heard = [node for node, one in seen.items() if one is not None and not one.deaf]
    assert [state.cable for state in report.states] == [
        cable for node in heard for cable in list_cables(described, node)
    ]
    assert list(report.coverage) == list(seen)
    differing = {node for difference in report.differences for node in difference.nodes}
    assert set(report.nodes(WireCoverage.DIFFERS)) == differing
    wrong = {
        state.cable.node for state in report.states if state.kind not in (CableOutcome.CONFIRMED, CableOutcome.UNHEARD)
    }
    assert wrong <= differing
    for node in report.nodes(WireCoverage.EQUAL):
        assert {state.kind for state in report.states if state.cable.node == node} == {CableOutcome.CONFIRMED}
    used = [(state.cable.node, state.plug.port.name) for state in report.states if state.plug]
    assert len(used) == len(set(used))
