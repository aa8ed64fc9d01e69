"""Described cabling against a real wire: lldpd on every node and switch of the laboratory."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab import Lab, wait_for
from tests.lab.host import run
from tests.lab.network import Space
from tests.scenarios.commands import benchconsole

pytestmark = pytest.mark.lab

Describe = Callable[..., Path]
COMPUTE = '{from: "n[1-4]", to: leaf1, speed: 100 Mb/s}'


@pytest.fixture(scope="module")
def _lldpd(lab: Lab) -> Iterator[None]:
    lab.announce()
    try:
        yield
    finally:
        lab.silence()


@pytest.fixture
def wired(healthy_lab: Lab, _lldpd: None) -> Lab:
    """The laboratory with nothing wrong in it, and everybody heard."""
    healthy_lab.announce()
    return healthy_lab


@pytest.fixture
def describe(wired: Lab) -> Iterator[Describe]:
    """Writes the laboratory's file with some of its text replaced, beside the SSH files that it names."""
    path = wired.topology.with_name("wire.yaml")

    def write(*changes: tuple[str, str]) -> Path:
        text = wired.topology.read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path.write_text(text)
        return path

    yield write
    path.unlink(missing_ok=True)


def diff(topology: Path, db: Path, *arguments: str | Path) -> tuple[int, dict[str, Any]]:
    ran = benchconsole("diff", topology, "--db", db, "--json", *arguments)
    assert ran.err == "", ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return ran.code, found


def test_a_machine_as_described_ends_with_0_and_is_stored(wired: Lab, describe: Describe, tmp_path: Path) -> None:
    db = tmp_path / "s.db"
    ran = benchconsole("diff", describe(), "--db", db)
    assert ran.code == 0, ran.out + ran.err
    assert "10 of 10 nodes compared" in ran.out
    assert "10 of 14 links can be seen from nodes" in ran.out
    assert benchconsole("show", "last", "--db", db).code == 0
    again = benchconsole("diff", describe(), "--db", db, "--session", "last")
    assert (again.code, again.out) == (0, ran.out)


@pytest.mark.fault("F49")
def test_two_nodes_that_are_described_at_each_others_switch_are_one_finding(
    wired: Lab, describe: Describe, tmp_path: Path
) -> None:
    swapped = describe(('from: "n[1-4]"', 'from: "n[1-3,5]"'), ('from: "n[5-8]"', 'from: "n[4,6-8]"'))
    code, found = diff(swapped, tmp_path / "s.db")
    assert code == 1
    (only,) = found["differences"]
    assert (only["kind"], only["text"]) == ("swapped", "n4 and n5 are swapped")
    assert sorted(only["nodes"]) == ["n4", "n5"]
    assert found["coverage"]["differs"] == ["n4", "n5"]
    assert len(found["coverage"]["as described"]) == 8


@pytest.mark.fault("F49")
def test_a_pulled_cable_is_missing_and_named(wired: Lab, describe: Describe, tmp_path: Path) -> None:
    wired.nic_down("n3")
    wait_for(lambda: not wired.neighbours("n3"), 20, "n3 to hear nobody")
    code, found = diff(describe(), tmp_path / "s.db")
    assert code == 1
    (only,) = found["differences"]
    assert (only["kind"], only["nodes"], only["places"]) == ("missing", ["n3"], ["leaf1"])
    assert only["text"] == "no carrier on eth0"


@pytest.fixture
def second_cable(wired: Lab) -> Iterator[Space]:
    """A second cable between n1 and leaf1; gives the switch."""
    site = wired._site
    node, switch = Space.of_process(site.pid("n1")), site.switch("leaf1")
    namespace = site.plan.switches["leaf1"].namespace
    run(
        [
            "ip",
            "link",
            "add",
            "n1b",
            "netns",
            namespace,
            "type",
            "veth",
            "peer",
            "name",
            "eth1",
            "netns",
            str(site.pid("n1")),
        ]
    )
    try:
        switch.ip(["link set n1b up"])
        node.ip(["link set eth1 up"])
        wait_for(lambda: wired.neighbours("n1") == {"eth0": "leaf1", "eth1": "leaf1"}, 20, "n1 to hear leaf1 twice")
        yield switch
    finally:
        switch.ip(["link delete n1b"])


@pytest.mark.fault("F49")
def test_a_member_that_is_down_is_named(wired: Lab, describe: Describe, second_cable: Space, tmp_path: Path) -> None:
    two = COMPUTE.replace("n[1-4]", "n1").replace("}", ", count: 2}")
    lag = describe((COMPUTE, f"{COMPUTE.replace('n[1-4]', 'n[2-4]')}\n  - {two}"))
    code, found = diff(lag, tmp_path / "s.db")
    assert (code, found["differences"]) == (0, [])
    second_cable.ip(["link set n1b down"])
    wait_for(lambda: wired.neighbours("n1") == {"eth0": "leaf1"}, 20, "n1 to lose its second cable")
    code, found = diff(lag, tmp_path / "s.db")
    assert code == 1
    (only,) = found["differences"]
    assert (only["kind"], only["nodes"], only["places"]) == ("fewer members", ["n1"], ["leaf1"])
    assert (only["seen"], only["text"]) == ("1 of 2 members up", "no carrier on eth1")


def test_what_could_not_be_compared_is_told_with_the_reason(wired: Lab, describe: Describe, tmp_path: Path) -> None:
    wired.remove_tool("n2", "lldpctl")
    wired.change_host_key("n5")
    code, found = diff(describe(), tmp_path / "s.db")
    assert code == 3
    assert found["differences"] == []
    because = {tuple(each["nodes"]): (each["coverage"], each["because"]) for each in found["not_compared"]}
    assert because["n2",] == ("no LLDP", "lldpctl is not installed (Debian package lldpd)")
    assert because["n5",][0] == "no answer"
    assert because["n5",][1].startswith("host key changed")
    wired.nic_down("n3")
    wait_for(lambda: not wired.neighbours("n3"), 20, "n3 to hear nobody")
    code, _ = diff(describe(), tmp_path / "s.db")
    assert code == 1


def test_saved_outputs_give_the_same_and_nobody_is_asked(wired: Lab, describe: Describe, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    saved.mkdir()
    for node in wired.plan.nodes:
        (saved / f"{node}.json").write_text(wired.inside(node, "lldpctl", "-f", "json0"))
    # Neighbours announce 10GBASE-T of a veth, whatever it is held to.
    announced = describe(("speed: 100 Mb/s", "speed: 10 Gb/s"), ("speed: 400 Mb/s", "speed: 10 Gb/s"))
    code, found = diff(announced, tmp_path / "s.db", "--from", saved)
    assert (code, found["differences"], found["session"]) == (0, [], None)
    assert len(found["coverage"]["as described"]) == 10
    assert not (tmp_path / "s.db").exists()
