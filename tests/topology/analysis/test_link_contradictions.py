from pathlib import Path

import pytest

from benchconsole.topology.analysis.link_contradictions import list_findings
from benchconsole.topology.analysis.static_finding import Severity
from tests.fabrics import fabric

HEAD = "schema: 1\nfabric: x\n"
SOUND = HEAD + (
    "classes: {c: {nic: {speed: 25 Gb/s, count: 2}}}\n"
    'switches: {"leaf[1-2]": {role: leaf}, spine: {role: spine}}\nnodes: {"n[1-4]": {class: c}, "m[1-4]": {}}\n'
    'mlag: {p: {switches: "leaf[1-2]"}}\nlinks:\n'
    '  - {from: "n[1-4]", to: "leaf[1-2]", speed: 25 Gb/s, bond: lacp}\n'
    '  - {from: "m[1-4]", to: "leaf[1-2]", speed: 25 Gb/s, bond: lacp}\n'
    '  - {from: "leaf[1-2]", to: spine, speed: 100 Gb/s, lag: up, count: 2}\n'
)


@pytest.mark.parametrize(
    ("old", "new", "codes", "words"),
    [
        ("fabric: x", "fabric: y", [], ""),
        ("nic: {speed: 25 Gb/s", "nic: {speed: 100 Gb/s", ["nic-speed"], "declares NICs of 100 Gb/s, n[1-4] have cables of 25.0 Gb/s"),
        ("count: 2}}}", "count: 1}}}", ["nic-count"], "declares 1 NIC port, n[1-4] have 2 cables"),
        ('"n[1-4]", to: "leaf[1-2]", speed: 25 Gb/s', '"n[1-4]", to: "leaf[1-2]", speed: 25 Gb/s, count: 1', [], ""),
        ('mlag: {p: {switches: "leaf[1-2]"}}\n', "", ["lacp-without-pair"], "over leaf[1-2], which are no MLAG pair"),
        ('switches: "leaf[1-2]"}}', 'switches: "leaf1,spine"}}', ["lacp-without-pair", "pair-of-two-tiers"], "pairs leaf1 (role leaf) with spine (role spine)"),
        ("lag: up, count: 2", "lag: up", [], ""),
        ('from: "leaf[1-2]", to: spine, speed: 100 Gb/s, lag: up, count: 2', "from: leaf1, to: spine, speed: 100 Gb/s, lag: up", ["lag-of-one"], "leaf1--spine: LAG up of one cable"),
        ('"m[1-4]", to: "leaf[1-2]"', '"m[1-4]", to: leaf1', ["bond-of-one"], "m[1-4]: bond lacp of one cable"),
        ("speed: 100 Gb/s, lag", "speed: 25000 Gb/s, lag", ["speed-implausible"], "at 25.0 Tb/s a cable, which no port has"),
    ],
)  # fmt: skip
def test_a_contradiction_is_said_once(old: str, new: str, codes: list[str], words: str, tmp_path: Path) -> None:
    assert old in SOUND
    text = SOUND.replace(old, new)
    found = list(list_findings(fabric(tmp_path, text)))
    assert sorted(each.code for each in found) == sorted(codes)
    assert words in " ".join(each.text for each in found)


LEGS = """\
schema: 1
fabric: x
networks: {mgmt: {role: management}, san: {role: storage}}
switches: {leaf: {role: leaf}, other: {role: leaf}}
nodes: {"n[1-4]": {}}
links:
  - {from: "n[1-4]", to: leaf, speed: 100 Gb/s%s}
  - {from: "n[1-4]", to: other, speed: %s}
"""


@pytest.mark.parametrize(
    ("first", "second", "is_told"),
    [
        ("", "1 Gb/s", True),
        ("", "25 Gb/s", True),
        ("", "26 Gb/s", False),
        ("", "100 Gb/s", False),
        ("", "1 Gb/s, network: mgmt", False),
        (", network: san", "1 Gb/s, network: san", True),
        (", network: mgmt", "1 Gb/s, network: mgmt", False),  # nobody measures it unasked
        (", bond: active-backup", "1 Gb/s, bond: active-backup", False),
        ("", "1 Gb/s, bond: active-backup", False),
    ],
)
def test_legs_of_unlike_speeds_in_one_network_are_told(
    tmp_path: Path, first: str, second: str, *, is_told: bool
) -> None:
    found = [each for each in list_findings(fabric(tmp_path, LEGS % (first, second))) if each.code == "legs-unlike"]
    assert len(found) == is_told
    if found:
        assert found[0].text.startswith("n[1-4] have cables of ")
        assert found[0].severity is Severity.WARNING


def test_a_slip_of_the_prefix_stands_out(tmp_path: Path) -> None:
    text = SOUND.replace('"m[1-4]", to: "leaf[1-2]", speed: 25 Gb/s', 'm1, to: "leaf[1-2]", speed: 25 Mb/s')
    found = [each for each in list_findings(fabric(tmp_path, text)) if each.code == "speed-unlike-others"]
    assert [each.text for each in found] == [
        "m1--leaf1 and 1 more run at 25.0 Mb/s, most links of its kind at 25.0 Gb/s: is the prefix right?"
    ]


def test_a_management_network_is_no_slip(tmp_path: Path) -> None:
    """Two servers with one fast and one slow NIC each; the slow ones are of another network."""
    text = """\
schema: 1
fabric: x
networks: {mgmt: {role: management}}
switches: {sw: {role: leaf}, mw: {role: leaf}}
nodes: {"st[1-2]": {role: storage}, "n[1-4]": {}}
links:
  - {from: "st[1-2]", to: sw, speed: 100 Gb/s}
  - {from: st1, to: mw, speed: 1 Gb/s, network: mgmt}
  - {from: "n[1-4]", to: sw, speed: 100 Gb/s}
  - {from: "n[1-4]", to: mw, speed: 1 Gb/s, network: mgmt}
"""
    assert list(list_findings(fabric(tmp_path, text))) == []
    more = '"n[1-3]", to: mw, speed: 1 Gb/s, network: mgmt}\n  - {from: n4, to: mw, speed: 1 kb/s'
    slip = text.replace('"n[1-4]", to: mw, speed: 1 Gb/s', more)
    found = [each.text for each in list_findings(fabric(tmp_path, slip)) if each.code == "speed-unlike-others"]
    assert found == ["n4--mw runs at 1.00 kb/s, most links of its kind at 1.00 Gb/s: is the prefix right?"]
