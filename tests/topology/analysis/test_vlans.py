"""VLANs: members, links that are split into them, and what does not add up."""

from pathlib import Path

import pytest

from benchconsole.topology.analysis.static_finding import Severity
from benchconsole.topology.analysis.vlans import analyse_vlans, list_findings
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import fabric

TWO = """\
schema: 1
fabric: two
switches: {{west: {{role: core}}, east: {{role: core}}}}
nodes:
  a[01-30]: {{}}
  b[01-30]: {{}}
links:
  - {{from: "a[01-30]", to: west, speed: 10 Gb/s}}
  - {{from: "b[01-30]", to: east, speed: 10 Gb/s}}
  - {{from: west, to: east, speed: 100 Gb/s, channels: {{{channels}}}}}
  {more}
vlans:
  265: {{name: odd, members: "a[01-{odd}],b[01-{odd}]"}}
  266: {{name: even, members: "a[{even}-30],b[{even}-30]"}}
  {vlans}
"""


def two(
    folder: Path, *, odd: int = 15, channels: str = "265: 50 Gb/s, 266: 50 Gb/s", more: str = "", extra: str = ""
) -> Fabric:
    text = TWO.format(odd=f"{odd:02}", even=f"{odd + 1:02}", channels=channels, more=more, vlans=extra)
    return fabric(folder, text)


def said(described: Fabric) -> dict[str, str]:
    return {finding.code: finding.text for finding in list_findings(described, analyse_vlans(described))}


def test_both_halves_even(tmp_path: Path) -> None:
    described = two(tmp_path)
    split = analyse_vlans(described)[0]
    assert [[len(side.members) for side in lane.sides] for lane in split.lanes] == [[15, 15], [15, 15]]
    assert [lane.oversubscription for lane in split.lanes] == pytest.approx([3.0, 3.0])
    assert split.carried == pytest.approx((12.5e9, 12.5e9))
    assert set(said(described)) == {"vlan-fill"}


def test_the_sixth_flow_is_over(tmp_path: Path) -> None:
    lane = analyse_vlans(two(tmp_path))[0].lanes[0]
    assert (lane.fill, lane.exact, lane.port) == (5, True, 1.25e9)
    text = said(two(tmp_path))["vlan-fill"]
    assert text.startswith("5 flows of 10.0 Gb/s fill the 50.0 Gb/s of VLAN 266: flow 6 is over")
    assert text.endswith("its 15 members on one side offer 150 Gb/s (3.00:1)")


def test_flows_that_leave_a_rest(tmp_path: Path) -> None:
    lane = analyse_vlans(two(tmp_path, channels="265: 45 Gb/s, 266: 50 Gb/s"))[0].lanes[0]
    assert (lane.fill, lane.exact) == (4, False)


@pytest.mark.parametrize(("odd", "gbps"), [(20, 100), (27, 80)])
def test_uneven_halves(tmp_path: Path, odd: int, gbps: float) -> None:
    described = two(tmp_path, odd=odd)
    assert analyse_vlans(described)[0].carried[0] * 8 == pytest.approx(gbps * 1e9)
    text = said(described)["vlan-unbalanced"]
    assert text.startswith(f"{odd}:{30 - odd} members in the VLANs 265, 266")
    warnings = [
        finding
        for finding in list_findings(described, analyse_vlans(described))
        if finding.severity is Severity.WARNING
    ]
    assert len(warnings) == 1


def test_a_part_for_a_vlan_that_is_not_there(tmp_path: Path) -> None:
    described = two(tmp_path, channels="265: 50 Gb/s, 300: 50 Gb/s")
    found = {finding.code: finding for finding in list_findings(described, analyse_vlans(described))}
    assert found["channel-vlan-unknown"].severity is Severity.ERROR
    assert "VLAN 300" in found["channel-vlan-unknown"].text
    assert "VLAN 266" in found["vlan-stranded"].text


def test_another_way_saves_a_vlan_without_a_part(tmp_path: Path) -> None:
    around = "- {from: west, to: east, speed: 10 Gb/s, lag: second}"
    assert "vlan-stranded" not in said(two(tmp_path, channels="265: 50 Gb/s", more=around))


def test_more_than_the_link_has(tmp_path: Path) -> None:
    text = said(two(tmp_path, channels="265: 60 Gb/s, 266: 50 Gb/s"))["channels-exceed-link"]
    assert "110 Gb/s" in text
    assert "100 Gb/s" in text


@pytest.mark.fault("F04")
def test_members(tmp_path: Path) -> None:
    described = two(tmp_path, extra='10: {name: spare}\n  20: {members: "a[01-02]"}')
    texts = said(described)
    assert texts["vlan-empty"] == "VLAN 10 (spare) has no members"
    assert texts["vlan-several"].startswith("a[01-02] are in several VLANs")


def test_virtual_machines_share_the_ports_of_their_host(tmp_path: Path) -> None:
    described = fabric(
        tmp_path,
        "schema: 1\nfabric: vms\nswitches: {west: {}, east: {}}\n"
        'nodes: {h: {}, "vm[1-4]": {host: h}, e: {}}\n'
        "links:\n  - {from: h, to: west, speed: 10G}\n  - {from: e, to: east, speed: 10G}\n"
        "  - {from: west, to: east, speed: 10G, channels: {5: 5G}}\n"
        'vlans: {5: {members: "vm[1-4],e"}}\n',
    )
    sides = analyse_vlans(described)[0].lanes[0].sides
    assert [(len(side.members), side.offered) for side in sides] == [(4, 1.25e9), (1, 1.25e9)]


def test_a_fabric_without_vlans_says_nothing(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    assert analyse_vlans(described) == ()
    assert list(list_findings(described, ())) == []
