"""The nodes and networks that were not compared and why, and the device that a name on the wire means."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from benchconsole.topology.copying import replace
from benchconsole.topology.wire.cabling import CableOutcome
from benchconsole.topology.wire.comparison import WireCoverage, compare
from benchconsole.topology.wire.observations import HeardNeighbour, Observed, ObservedPort
from tests.fabrics import fabric
from tests.topology.wire.played import PLAIN, Seen, healthy, only, plugged

# -- what was not compared


def test_nodes_that_were_not_compared_are_told_apart(tmp_path: Path) -> None:
    described = fabric(tmp_path, PLAIN.replace("  n9: {}\n", "  n9: {}\n  vm1: {host: n9}\n"))
    seen = healthy(described)
    seen["n1"] = None
    seen["n2"] = Observed((ObservedPort("eth0"),), deaf="lldpctl is not installed (Debian package lldpd)")
    seen["n3"] = Observed((ObservedPort("eth0", carrier=True),))
    report = compare(described, seen)
    assert report.differences == ()
    assert not report.complete
    assert report.nodes(WireCoverage.NO_ANSWER) == ("n1",)
    assert report.nodes(WireCoverage.NO_LLDP) == ("n2", "n3")
    assert report.nodes(WireCoverage.NOT_DESCRIBED) == ("vm1",)
    assert report.reasons == {
        "n2": "lldpctl is not installed (Debian package lldpd)",
        "n3": "eth0 has a carrier, and nobody announces himself there",
        "vm1": "a virtual machine on n9",
    }


def test_nobody_heard_at_all_is_not_a_missing_cable(tmp_path: Path) -> None:
    described = fabric(tmp_path, PLAIN)
    seen: Seen = {node: Observed((ObservedPort("eth0", carrier=True),)) for node in described.nodes}
    report = compare(described, seen)
    assert report.differences == ()
    assert set(report.coverage.values()) == {WireCoverage.NO_LLDP}
    assert not report.complete


def with_management(seen: Mapping[str, Observed | None], *neighbours: HeardNeighbour) -> Seen:
    """The same nodes, each with a second port on a network that the file leaves out."""
    management = ObservedPort("mgmt0", neighbours, 1e9 / 8, carrier=True)
    return {node: one and replace(one, ports=(*one.ports, management)) for node, one in seen.items()}


def test_a_port_that_is_silent_on_confirmed_nodes_does_not_excuse_a_missing_cable(tmp_path: Path) -> None:
    described = fabric(tmp_path, PLAIN)
    seen = healthy(described)
    seen["n3"] = Observed((ObservedPort("eth0", carrier=False),))
    found = only(compare(described, with_management(seen)))
    assert (found.kind, found.nodes, found.text) == (CableOutcome.MISSING, ("n3",), "no carrier on eth0")


def test_the_data_port_alone_is_asked_where_it_is_known(tmp_path: Path) -> None:
    described = fabric(tmp_path, PLAIN)
    lone: Seen = {"n3": Observed((ObservedPort("eth0", carrier=False, data=True), ObservedPort("mgmt0", carrier=True)))}
    assert only(compare(described, lone)).kind is CableOutcome.MISSING


def test_networks_that_the_file_leaves_out_are_told_and_are_no_difference(tmp_path: Path) -> None:
    described = fabric(tmp_path, PLAIN)
    seen = healthy(described)
    seen["n3"] = Observed((ObservedPort("eth0", carrier=False),))
    report = compare(described, with_management(seen, HeardNeighbour("oob-sw1")))
    assert only(report).kind is CableOutcome.MISSING
    (stranger,) = report.strangers
    assert (stranger.name, stranger.near, stranger.ports, len(stranger.nodes)) == ("oob-sw1", None, ("mgmt0",), 9)


def test_a_data_port_that_hears_the_management_network_is_at_the_wrong_switch(tmp_path: Path) -> None:
    described = fabric(tmp_path, PLAIN)
    seen = with_management(healthy(described), HeardNeighbour("oob-sw1"))
    seen["n3"] = Observed((ObservedPort("eth0", (HeardNeighbour("oob-sw1"),), carrier=True),))
    found = only(compare(described, seen))
    assert (found.kind, found.nodes, found.seen) == (CableOutcome.UNKNOWN_SWITCH, ("n3",), "oob-sw1")


def test_neighbours_that_an_unmanaged_switch_passes_on_are_no_cables(tmp_path: Path) -> None:
    described = fabric(tmp_path, PLAIN)
    seen = healthy(described)
    seen["n3"] = Observed((ObservedPort("eth0", carrier=False),))
    found = only(compare(described, with_management(seen, HeardNeighbour("n1"), HeardNeighbour("n2"))))
    assert (found.kind, found.nodes) == (CableOutcome.MISSING, ("n3",))


def test_a_cable_that_is_in_no_file_is_told(tmp_path: Path) -> None:
    described = fabric(tmp_path, PLAIN)
    seen = healthy(described)
    one = seen["n1"]
    assert one is not None
    seen["n1"] = replace(one, ports=(*one.ports, ObservedPort("eth3", (HeardNeighbour("leaf2"),), carrier=True)))
    found = only(compare(described, seen))
    assert (found.kind, found.nodes, found.seen, found.text) == (CableOutcome.EXTRA, ("n1",), "leaf2", "on eth3")


# -- names


@pytest.mark.parametrize("name", ["leaf1", "LEAF1", "leaf1.example.org", "Leaf1.Example.ORG"])
def test_a_switch_is_known_in_any_case_and_with_its_domain(tmp_path: Path, name: str) -> None:
    described = fabric(tmp_path, PLAIN)
    seen = healthy(described)
    seen["n1"] = plugged(described, "n1", name)
    assert compare(described, seen).differences == ()


def test_names_with_domains_in_the_file_are_known_without(tmp_path: Path) -> None:
    described = fabric(tmp_path, PLAIN.replace("leaf3", "edge.pod2").replace("leaf[1-3]", "leaf[1-2],edge.pod2"))
    seen = healthy(described)
    for name in ("edge", "edge.pod2.example.org"):
        seen["n9"] = plugged(described, "n9", name)
        assert compare(described, seen).differences == ()


def test_a_switch_with_another_name_on_the_wire_is_told_once_with_who_may_be_meant(tmp_path: Path) -> None:
    described = fabric(tmp_path, PLAIN)
    seen = healthy(described)
    for node in ("n1", "n2", "n3", "n4"):
        seen[node] = plugged(described, node, "leaf01")
    report = compare(described, seen)
    found = only(report)
    assert (found.kind, found.nodes, found.seen) == (CableOutcome.UNKNOWN_SWITCH, ("n1", "n2", "n3", "n4"), "leaf01")
    assert (
        found.text
        == "not in the file, which has leaf1; seen by each node of leaf1: the same switch under another name?"
    )
    assert [(each.name, each.near) for each in report.strangers] == [("leaf01", "leaf1")]
