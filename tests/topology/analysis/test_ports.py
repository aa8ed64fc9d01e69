from pathlib import Path

import pytest

from benchconsole.topology.analysis.ports import Need, SwitchPorts, analyse_ports, list_findings
from benchconsole.topology.model.fabric import SwitchId
from benchconsole.topology.tables.fabric_tables import make_tables
from tests.fabrics import fabric

GIGABIT = 1.25e8


def switch(folder: Path, ports_text: str, links: str, name: str = "s") -> SwitchPorts:
    text = (
        f"schema: 1\nfabric: x\nswitches: {{s: {{role: leaf{ports_text}}}, t: {{role: spine}}}}\n"
        f'nodes: {{"n[01-20]": {{}}}}\nlinks:\n{links}'
    )
    return next(each for each in analyse_ports(make_tables(fabric(folder, text))) if each.switch == name)


def test_without_declared_ports_every_cable_is_one(tmp_path: Path) -> None:
    found = switch(
        tmp_path, "", '  - {from: "n[01-10]", to: s, speed: 10G}\n  - {from: s, to: t, speed: 40G, count: 3}\n'
    )
    assert found == SwitchPorts(SwitchId("s"), (Need(5e9, 3, 3), Need(1.25e9, 10, 10)), None)
    assert (found.needed, found.free) == (13, None)


def test_a_split_port_carries_four(tmp_path: Path) -> None:
    found = switch(
        tmp_path,
        ', ports: {"p[1-8]": {speed: 40 Gb/s, breakout: 4}}',
        '  - {from: "n[01-10]", to: s, speed: 10G}\n  - {from: s, to: t, speed: 40G, count: 3}\n',
    )
    assert found.needs == (Need(5e9, 3, 3), Need(1.25e9, 10, 3))
    assert (found.needed, found.declared) == (6, 8)
    # Two ports are free, and two parts of the third split one.
    assert found.free == 10 * 1.25e9


def test_cables_of_different_speeds_do_not_share_a_split_port(tmp_path: Path) -> None:
    found = switch(
        tmp_path,
        ', ports: {"p[1-4]": {speed: 100 Gb/s, breakout: 4}}',
        '  - {from: "n[01-02]", to: s, speed: 10G}\n  - {from: "n[03-04]", to: s, speed: 25G}\n',
    )
    assert [(need.speed / GIGABIT, need.ports) for need in found.needs] == [(25, 1), (10, 1)]


def test_ports_of_the_very_speed_are_taken_first_then_faster_ones(tmp_path: Path) -> None:
    found = switch(
        tmp_path,
        ', ports: {"e[1-8]": 10 Gb/s, "q[1-4]": 40 Gb/s}',
        '  - {from: "n[01-10]", to: s, speed: 10G}\n  - {from: s, to: t, speed: 40G}\n',
    )
    assert (found.needed, found.declared, found.unfit) == (11, 12, 0)
    assert found.free == 0


def test_too_few_and_too_slow(tmp_path: Path) -> None:
    links = '  - {from: "n[01-10]", to: s, speed: 10G}\n  - {from: s, to: t, speed: 40G}\n'
    text = (
        'schema: 1\nfabric: x\nswitches: {s: {role: leaf, ports: {"e[1-8]": 10 Gb/s}}, t: {role: spine}}\n'
        f'nodes: {{"n[01-10]": {{}}}}\nlinks:\n{links}'
    )
    described = fabric(tmp_path, text)
    report = analyse_ports(make_tables(described))
    found = report[0]
    assert (found.needed, found.declared, found.unfit, found.free) == (11, 8, 1, 0)
    assert [each.text for each in list_findings(report)] == [
        "s needs 11 ports (1 for 1 x 40.0 Gb/s, 10 for 10 x 10.0 Gb/s), 8 are declared",
        "s: no declared port is fast enough for 1 of the cables",
    ]


def test_a_number_of_ports_takes_any_cable(tmp_path: Path) -> None:
    found = switch(
        tmp_path, ", ports: 16", '  - {from: "n[01-10]", to: s, speed: 10G}\n  - {from: s, to: t, speed: 40G}\n'
    )
    assert (found.needed, found.declared, found.free) == (11, 16, 5 * 1.25e9)


def test_named_ports_are_taken_as_named(tmp_path: Path) -> None:
    found = switch(
        tmp_path,
        ', ports: {"e[1-4]": 10 Gb/s, "q[1-2]": 40 Gb/s}',
        '  - {from: "n[01-02]", to: "s:q[1-2]", speed: 10G}\n  - {from: "n[03-05]", to: s, speed: 10G}\n',
    )
    assert found.needs == (Need(1.25e9, 5, 5),)
    assert found.free == 1.25e9


def test_a_lag_of_members_that_differ_counts_each(tmp_path: Path) -> None:
    found = switch(
        tmp_path,
        "",
        "  - {from: s, to: t, speed: 10G, lag: x}\n  - {from: s, to: t, speed: 40G, lag: x, count: 2}\n",
        "t",
    )
    assert found.needs == (Need(5e9, 2, 2), Need(1.25e9, 1, 1))


@pytest.mark.parametrize("number", range(1, 12))
def test_split_ports_are_counted_upward(number: int, tmp_path: Path) -> None:
    found = switch(
        tmp_path,
        ', ports: {"p[1-2]": {speed: 40 Gb/s, breakout: 4}}',
        f'  - {{from: "n[01-{number:02}]", to: s, speed: 10G}}\n',
    )
    assert found.needed == -(-number // 4)
    assert found.declared == 2
    assert found.free == (8 - number) * 1.25e9 if number <= 8 else found.free == 0


@pytest.mark.parametrize("order", [("Eth[1-4]", "Eth[5-8]"), ("Eth[5-8]", "Eth[1-4]")])
def test_ports_that_can_be_split_are_kept_for_what_needs_them(order: tuple[str, str], tmp_path: Path) -> None:
    """Sixteen cables of 100 Gb/s fit into four split ports only if the 400 Gb/s cables take the others."""
    ports = {"Eth[1-4]": "{speed: 400 Gb/s, breakout: 4}", "Eth[5-8]": "{speed: 400 Gb/s}"}
    text = (
        "schema: 1\nfabric: x\nswitches: {leaf1: {role: leaf, ports: {"
        + ", ".join(f'"{name}": {ports[name]}' for name in order)
        + '}}, "spine[1-4]": {role: spine}}\nnodes: {"n[1-NUMBER]": {}}\n'
        'links: [{from: "n[1-NUMBER]", to: leaf1, speed: 100 Gb/s}, {from: leaf1, to: "spine[1-4]", speed: 400 Gb/s}]\n'
    )
    fitting = analyse_ports(make_tables(fabric(tmp_path, text.replace("NUMBER", "16"))))
    assert (fitting[0].needed, fitting[0].declared) == (8, 8)
    assert not list(list_findings(fitting))
    too_many = analyse_ports(make_tables(fabric(tmp_path, text.replace("NUMBER", "17"))))
    assert [each.code for each in list_findings(too_many)] == ["too-few-ports"]


def test_named_parts_of_a_split_port_take_one_port_together(tmp_path: Path) -> None:
    links = '  - {from: "n[01-03]", to: "s:p1/[1-3]", speed: 25G}\n  - {from: "n[04-05]", to: s, speed: 25G}\n'
    found = switch(tmp_path, ', ports: {"p[1-2]": {speed: 100 Gb/s, breakout: 4}}', links)
    assert found.needs == (Need(3.125e9, 5, 2),)
    assert (found.unfit, found.free) == (0, 3 * 3.125e9)
    assert not list(list_findings([found]))


def test_a_part_is_too_slow_for_more_than_its_share_of_the_port(tmp_path: Path) -> None:
    links = '  - {from: n01, to: "s:p1/1", speed: 50G}\n'
    found = switch(tmp_path, ', ports: {"p1": {speed: 100 Gb/s, breakout: 4}}', links)
    assert found.unfit == 1


def test_parts_by_name_are_counted_once_where_ports_are_matched(tmp_path: Path) -> None:
    """Filling by rank takes the ports that 400G needs; matching counts the free parts of the named port."""
    links = (
        '  - {from: n01, to: "s:a1/1", speed: 100G}\n  - {from: "n[02-04]", to: s, speed: 100G}\n'
        "  - {from: s, to: t, speed: 400G, count: 3}\n"
    )
    found = switch(tmp_path, ', ports: {"a[1-2]": {speed: 400 Gb/s, breakout: 4}, "b[1-2]": 400 Gb/s}', links)
    assert (found.needed, found.declared) == (4, 4)
