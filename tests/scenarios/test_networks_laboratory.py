"""Two real networks of the same nodes: tests go over the one that they are meant for, and a wrong address is found."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import Lab, LabSpec
from tests.lab.fixtures import building
from tests.scenarios.commands import benchconsole, report

pytestmark = pytest.mark.lab

SPEC = LabSpec(leaves=1, spines=1, nodes_per_leaf=4, node_mbit=200, management_mbit=20, scratch_mib=16, storage=())
REST = """\
criteria:
  - {metric: iperf3.throughput, at_least: 75 %, of: capacity}
suites:
  both:
    - {probe: iperf3, design: neighbours, streams: 1, seconds: 3}
    - {probe: iperf3, design: neighbours, streams: 1, seconds: 3, network: mgmt}
  one:
    - {probe: iperf3, design: neighbours, streams: 1, seconds: 3}
"""


@pytest.fixture(scope="module")
def two_networks() -> Iterator[Lab]:
    with building(SPEC) as built:
        yield built


def describe(lab: Lab, *, wrong: bool = False) -> Path:
    """The laboratory with its network for management; ``wrong``: the data addresses of all nodes lead there."""
    text = lab.topology.read_text()
    head = text[: text.index("nodes:\n")].replace("switches:\n", "networks: {mgmt: {}}\nswitches:\n  msw: {}\n")
    nodes = "".join(
        f"  {node.name}: {{address: {node.management}, data_address: {node.management if wrong else node.data}}}\n"
        for node in lab.plan.nodes.values()
    )
    links = '  - {from: "n[1-4]", to: leaf1, speed: 200 Mb/s}\n  - {from: "n[1-4]", to: msw, speed: 20 Mb/s, network: mgmt}\n'
    path = lab.topology.with_name("wrong.yaml" if wrong else "right.yaml")
    path.write_text(f"{head}nodes:\n{nodes}links:\n{links}{REST}")
    return path


def test_each_stage_goes_over_its_network(two_networks: Lab, tmp_path: Path) -> None:
    path, db = describe(two_networks), tmp_path / "db"
    ran = benchconsole("run", path, "--suite", "both", "--db", db)
    assert ran.code == 0, ran.out + ran.err
    judged = [each for each in report(db)["verdicts"] if each["metric"] == "iperf3.throughput"]
    expected = {round(each["expected"] * 8 / 1e6, 1) for each in judged}
    assert expected == {188.3, 18.8}
    assert {each["level"] for each in judged} == {"pass"}


def test_addresses_that_lead_to_another_network_are_found(two_networks: Lab, tmp_path: Path) -> None:
    path, db = describe(two_networks, wrong=True), tmp_path / "db"
    ran = benchconsole("run", path, "--suite", "one", "--db", db)
    assert ran.code == 1, ran.out + ran.err
    (found,) = report(db)["findings"]
    assert found["where"] == "n[1-4], network data"
    assert "as their management network mgmt carries (20.0 Mb/s)" in found["what"]
