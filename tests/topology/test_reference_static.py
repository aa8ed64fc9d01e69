"""The fabric of a published acceptance report, computed by hand: blades, chassis, racks, spines, their failures."""

from pathlib import Path

import pytest

from benchconsole import topology
from benchconsole.topology.analysis.bisection import find_cut
from benchconsole.topology.analysis.bottlenecks import find_bottlenecks
from benchconsole.topology.analysis.end_to_end import analyse_end_to_end
from benchconsole.topology.analysis.oversubscription import Oversubscription, analyse_oversubscription
from benchconsole.topology.analysis.peer_links import PeerCheck, check_peer_links
from benchconsole.topology.analysis.ports import analyse_ports
from benchconsole.topology.analysis.ports import list_findings as port_findings
from benchconsole.topology.analysis.redundancy import analyse_redundancy
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.tables.fabric_tables import make_tables
from benchconsole.topology.tables.single_failures import FailureKind

FILE = Path(topology.__file__).parent / "examples" / "jetstream.yaml"
GIGABIT = 1.25e8
EXACT = 1e-9

FABRICS = {per_tor: topology.load(FILE, parameters={"per_tor": per_tor}) for per_tor in (1, 2, 4, 5)}


def near(value: float) -> object:
    return pytest.approx(value, rel=EXACT)


def switch(fabric: Fabric, name: str) -> Oversubscription:
    return next(each for each in analyse_oversubscription(make_tables(fabric)) if each.switch == name)


# A chassis


def test_a_blade_switch_takes_160_and_passes_on_80() -> None:
    found = switch(FABRICS[4], "mxl01-1")
    assert (found.down / GIGABIT, found.up / GIGABIT, found.ratio) == (near(160), near(80), near(2))


@pytest.mark.parametrize("name", ["c01", "vlt01"])
def test_a_chassis_is_2_to_1_and_with_one_uplink_less_8_to_3(name: str) -> None:
    found = next(each for each in analyse_oversubscription(make_tables(FABRICS[4])).groups if each.name == name)
    assert (found.down / GIGABIT, found.up / GIGABIT, found.ratio) == (near(320), near(160), near(2))
    assert found.cable is not None
    assert found.cable.element == "mxl01-1--tor1"
    assert found.cable.ratio == near(320 / 120)


def test_the_blade_switch_with_one_uplink_less_is_4_to_1() -> None:
    found = switch(FABRICS[4], "mxl01-1").cable
    assert found is not None
    assert (found.element, found.ratio) == ("mxl01-1--tor1", near(4))


def test_one_uplink_less_is_what_a_fabric_described_without_it_is() -> None:
    worn = remove_elements(FABRICS[4], members={"mxl01-1--tor1": 1})
    chassis = next(each for each in analyse_oversubscription(make_tables(worn)).groups if each.name == "c01")
    assert (chassis.ratio, switch(worn, "mxl01-1").ratio) == (near(320 / 120), near(4))


def test_a_dead_blade_switch_leaves_2_to_1_and_half_of_each_blade() -> None:
    found = next(loss for loss in analyse_redundancy(make_tables(FABRICS[4])) if "mxl01-1" in loss.elements)
    assert (found.effect.cut, found.effect.degraded, found.effect.left) == (0, 16, near(0.5))
    worn = remove_elements(FABRICS[4], switches=["mxl01-1"])
    assert switch(worn, "mxl01-2").ratio == near(2)
    chassis = next(each for each in analyse_oversubscription(make_tables(worn)).groups if each.name == "c01")
    assert (chassis.down / GIGABIT, chassis.up / GIGABIT, chassis.ratio) == (near(160), near(80), near(2))


def test_blades_lose_a_quarter_with_one_uplink_of_a_blade_switch() -> None:
    found = next(
        loss
        for loss in analyse_redundancy(make_tables(FABRICS[4]))
        if loss.kind is FailureKind.MEMBER and "mxl01-1--tor1" in loss.elements
    )
    # 10 Gb/s is 7.5 Gb/s: the legs on the switch that lost it go from 5 to 2.5.
    assert (found.effect.degraded, found.effect.left, found.effect.ratio) == (16, near(0.75), near(4))


def test_single_streams_cannot_show_the_chassis() -> None:
    found = [each for each in find_bottlenecks(make_tables(FABRICS[1])) if each.code == "single-stream"]
    assert [each.where for each in found] == ["mxl[01-20]-[1-2]"]
    assert found[0].text == (
        "A single stream of 10.0 Gb/s per node offers 16 x 10.0 Gb/s = 160 Gb/s in each of 20 places, as much as the"
        " uplinks of mxl[01-20]-[1-2]: it cannot show the 2.00:1; 2 streams per node on both legs are needed"
    )


# Top-of-rack switches, by how many chassis share one


@pytest.mark.parametrize(("per_tor", "racks"), [(1, 20), (2, 10), (4, 5), (5, 4)])
def test_racks_and_their_ratio(per_tor: int, racks: int) -> None:
    tier = next(each for each in analyse_oversubscription(make_tables(FABRICS[per_tor])).tiers if each.role == "leaf")
    assert (tier.switches, tier.ratio) == (racks, near(per_tor))
    assert tier.least is not None
    assert tier.most is not None
    assert tier.least.ratio == tier.most.ratio == near(per_tor)


@pytest.mark.parametrize("per_tor", [1, 2, 4, 5])
def test_end_to_end_is_twice_the_racks(per_tor: int) -> None:
    found = analyse_end_to_end(make_tables(FABRICS[per_tor]))
    assert len(found) == 1
    assert (found[0].nodes, found[0].top) == (347, ("spine1", "spine2"))
    assert found[0].worst.ratio == near(2 * per_tor)
    assert found[0].worst.switches == ("mxl01-1", "tor1", "spine1")
    assert found[0].share.ratio == near(2 * per_tor)
    assert found[0].share.fair / GIGABIT == near(10 / per_tor)


@pytest.mark.parametrize(("per_tor", "after"), [(2, 320 / 120), (4, 640 / 120)])
def test_one_uplink_of_a_rack_down(per_tor: int, after: float) -> None:
    found = switch(FABRICS[per_tor], "tor1").cable
    assert found is not None
    assert found.ratio == near(after)


@pytest.mark.parametrize(("per_tor", "rack", "whole"), [(2, 4, 8), (4, 8, 16)])
def test_one_spine_dead(per_tor: int, rack: float, whole: float) -> None:
    fabric = FABRICS[per_tor]
    lost = switch(fabric, "tor1").switch_lost
    assert lost is not None
    assert (lost.element, lost.ratio) == ("spine1", near(rack))
    failed = analyse_end_to_end(make_tables(fabric))[0].switch_lost
    assert failed is not None
    assert (failed.element, failed.ratio) == ("spine1", near(whole))
    worn = remove_elements(fabric, switches=["spine1"])
    assert switch(worn, "tor1").ratio == near(rack)
    assert analyse_end_to_end(make_tables(worn))[0].worst.ratio == near(whole)
    assert analyse_end_to_end(make_tables(worn))[0].share.ratio == near(whole)


@pytest.mark.parametrize(("per_tor", "needed"), [(1, 52), (2, 32), (4, 22), (5, 20)])
def test_spine_ports(per_tor: int, needed: int) -> None:
    report = analyse_ports(make_tables(FABRICS[per_tor]))
    for each in report:
        if each.switch.startswith("spine"):
            assert (each.needed, each.declared) == (needed, 32)
            assert [(need.cables, need.ports) for need in each.needs][1] == (27, 7)
    said = [each.text for each in port_findings(report)]
    assert bool(said) == (needed > 32)
    assert all(text.startswith("spine[1-2] each need 52 ports") for text in said)


def test_two_racks_against_three() -> None:
    found = find_cut(make_tables(FABRICS[4]), ["tor1", "tor2"], ["tor3", "tor4", "tor5"])
    assert found.bound / GIGABIT == near(320)
    assert [(each.low, each.high, each.cables) for each in found.where] == [("leaf", "spine", 8)]


# The cable between the spines


def check(role: str) -> PeerCheck:
    return next(
        each for each in check_peer_links(make_tables(FABRICS[4])) if each.pairs == ("vlt-spine",) and each.role == role
    )


def test_the_cross_link_carries_the_storage_servers() -> None:
    found = check("storage")
    assert (found.nodes, found.cut, found.enough) == (20, 0, True)
    assert (found.offered / GIGABIT, found.load) == (near(100), near(100 / 120))
    assert found.share / GIGABIT == near(10)


def test_the_cross_link_does_not_carry_all_servers() -> None:
    found = check("all")
    assert (found.nodes, found.cut, found.enough) == (27, 0, False)
    assert (found.offered / GIGABIT, found.load) == (near(135), near(135 / 120))
    assert found.share / GIGABIT == near(80 / 9)
    assert found.nodes * found.share / GIGABIT == near(240)


def test_what_is_not_described_is_not_enough_and_not_too_little() -> None:
    found = next(each for each in check_peer_links(make_tables(FABRICS[4])) if "vlt01" in each.pairs)
    assert len(found.pairs) == 20
    assert (found.capacity, found.load, found.enough) == (None, None, None)
