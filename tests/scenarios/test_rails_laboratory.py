"""Real nodes on two rails: a stage runs for each port by its address, and a slow port of one rail is named alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import Lab, LabSpec
from tests.lab.fixtures import building
from tests.scenarios.commands import benchconsole, report

pytestmark = pytest.mark.lab

SPEC = LabSpec(leaves=1, spines=1, nodes_per_leaf=4, node_mbit=100, management_mbit=100, scratch_mib=16, storage=())
REST = """\
criteria:
  - {metric: iperf3.throughput, at_least: 75 %, of: capacity}
suites:
  rails:
    - {probe: iperf3, design: neighbours, streams: 1, seconds: 3}
  ports:
    - {probe: iperf3, design: one-way, from: "n[1-2]", to: n3, peer_legs: "p1,p2", streams: 1, seconds: 3}
"""


@pytest.fixture(scope="module")
def two_rails() -> Iterator[Lab]:
    with building(SPEC) as built:
        yield built


def describe(lab: Lab) -> Path:
    """The laboratory, whose data cables are one rail and whose management cables are the other."""
    text = lab.topology.read_text()
    head = text[: text.index("nodes:\n")].replace("leaf1:", "rail1:").replace("switches:\n", "switches:\n  rail2: {}\n")
    nodes = "".join(
        f"  {node.name}: {{address: {node.management}, addresses: {{p1: {node.data}, p2: {node.management}}}}}\n"
        for node in lab.plan.nodes.values()
    )
    links = '  - {from: "n[1-4]:p[1-2]", to: "rail[1-2]", speed: 100 Mb/s}\n'
    path = lab.topology.with_name("rails.yaml")
    path.write_text(f"{head}nodes:\n{nodes}links:\n{links}{REST}")
    return path


def test_each_rail_is_tested_by_its_addresses(two_rails: Lab, tmp_path: Path) -> None:
    db = tmp_path / "db"
    ran = benchconsole("run", describe(two_rails), "--suite", "rails", "--db", db)
    assert ran.code == 0, ran.out + ran.err
    told = report(db)
    judged = [each for each in told["verdicts"] if each["metric"] == "iperf3.throughput"]
    assert {each["stage"] for each in judged} == {"iperf3 neighbours p1", "iperf3 neighbours p2"}
    assert {round(each["expected"] * 8 / 1e6, 1) for each in judged} == {94.1}
    assert told["findings"] == []


def test_a_slow_port_of_one_rail_is_named_alone(two_rails: Lab, tmp_path: Path) -> None:
    db, path = tmp_path / "db", describe(two_rails)
    with two_rails.slow_nic("n3", 30):
        ran = benchconsole("run", path, "--suite", "rails", "--db", db)
    assert ran.code == 1, ran.out + ran.err
    (found,) = report(db)["findings"]
    assert (found["suspect"], found["where"]) == ("nic", "n3 out, leg to rail1")


def test_two_clients_are_dealt_to_the_two_ports_of_one_server(two_rails: Lab, tmp_path: Path) -> None:
    """Each has a port to itself; on one of them they would share it, and each get half."""
    db = tmp_path / "db"
    ran = benchconsole("run", describe(two_rails), "--suite", "ports", "--db", db)
    assert ran.code == 0, ran.out + ran.err
    judged = [each for each in report(db)["verdicts"] if each["metric"] == "iperf3.throughput"]
    assert [(each["subject"], round(each["expected"] * 8 / 1e6, 1)) for each in judged] == [
        ("n1>n3", 94.1),
        ("n2>n3", 94.1),
    ]
