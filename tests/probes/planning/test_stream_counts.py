"""How many streams a pair sends: 8 for each way of the widest hash, and what counts as one."""

from importlib.resources import files
from pathlib import Path

import pytest

from benchconsole import topology
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.stream_counts import count_streams
from benchconsole.probes.planning.suites import OURS, find_suite
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric

PROBES = load_probes(safe_mode=True).probes


def cabled(legs: int, members: int, policy: str = "unknown", *, leg_policy: str = "", extra: str = "") -> Fabric:
    """Two leaves with two nodes each, a LAG between them; the legs of a node and the LAG as wide as asked."""
    text = (
        "schema: 1\nfabric: forks\nswitches: {'leaf[1-2]': {role: leaf}, spine: {role: spine}}\n"
        "nodes: {'n[1-4]': {}}\nlinks:\n"
        f"  - {{from: 'n[1-2]', to: leaf1, speed: 10G, count: {legs}, hash: {leg_policy or policy}}}\n"
        f"  - {{from: 'n[3-4]', to: leaf2, speed: 10G, count: {legs}, hash: {leg_policy or policy}}}\n"
        f"  - {{from: 'leaf[1-2]', to: spine, speed: 10G, count: {members}, hash: {policy}}}\n{extra}"
    )
    return load_text(text, "forks.yaml")


@pytest.mark.parametrize(
    ("legs", "members", "neighbours", "trunks"),
    [(1, 1, 4, 8), (1, 2, 4, 16), (2, 1, 16, 16), (2, 4, 16, 32), (4, 2, 32, 32), (1, 8, 4, 64), (1, 9, 4, 64)],
)
def test_eight_for_each_way_of_the_widest_fork(legs: int, members: int, neighbours: int, trunks: int) -> None:
    described = cabled(legs, members)
    assert count_streams(described, trunks=False).streams == neighbours
    assert count_streams(described, trunks=True).streams == trunks


def test_the_reason_names_the_fork_and_the_most() -> None:
    assert count_streams(cabled(1, 1), trunks=True).because == ""
    assert count_streams(cabled(2, 1), trunks=True).because == "16 streams a pair: 8 for each of the 2 legs of n1"
    assert count_streams(cabled(1, 9), trunks=True).because == (
        "64 streams a pair, the most that is sent: 8 for each of the 9 members of leaf1 to spine would be 72"
    )


@pytest.mark.parametrize(("policy", "streams"), [("l2", 8), ("l3", 8), ("l3l4", 32), ("unknown", 32), ("steered", 32)])
def test_more_streams_help_only_where_the_hash_sees_ports(policy: str, streams: int) -> None:
    assert count_streams(cabled(2, 4, policy), trunks=True).streams == streams


def test_legs_that_hash_by_addresses_leave_the_members_that_do_not() -> None:
    described = cabled(4, 2, "l3l4", leg_policy="l2")
    assert [count_streams(described, trunks=trunks).streams for trunks in (False, True)] == [4, 16]


def test_legs_in_two_networks_are_two_forks() -> None:
    more = "  - {from: 'n[1-2]', to: leaf2, speed: 10G, network: storage}\nnetworks: {storage: {}}\n"
    assert count_streams(cabled(1, 1, extra=more), trunks=False).streams == 4


def test_standby_legs_and_the_links_inside_a_pair_carry_nothing() -> None:
    described = load_text(
        "schema: 1\nfabric: pair\nswitches: {'leaf[1-2]': {role: leaf}}\nmlag: {vlt: {switches: 'leaf[1-2]'}}\n"
        "nodes: {'n[1-2]': {}}\nlinks:\n"
        "  - {from: 'n[1-2]', to: 'leaf[1-2]', speed: 10G, bond: active-backup}\n"
        "  - {from: leaf1, to: leaf2, speed: 10G, count: 6}\n",
        "pair.yaml",
    )
    assert count_streams(described, trunks=True).streams == 8


def jetstream() -> Fabric:
    return topology.load(Path(str(files("benchconsole.topology") / "examples/jetstream.yaml")))


@pytest.mark.parametrize("name", list(OURS))
def test_every_suite_of_ours_sends_16_on_jetstream_and_says_why(name: str) -> None:
    """Two legs and LAGs of two: 16 was silent on the healthy machine, 8 was not."""
    described = jetstream()
    rounds = [each for each in plan(described, find_suite(described, name), PROBES) if each.probe == "iperf3"]
    assert rounds
    assert {test.sending.streams for each in rounds for test in each.tests} == {16}
    assert all("16 streams a pair: 8 for each of the 2 legs of mgmt1" in each.because for each in rounds)


def test_streams_of_the_file_count() -> None:
    own = "suites: {default: [{probe: iperf3, design: neighbours, streams: 3}, {probe: iperf3, design: trunks}]}\n"
    described = cabled(2, 2, extra=own)
    rounds = [each for each in plan(described, find_suite(described, None), PROBES) if each.probe == "iperf3"]
    assert {each.tests[0].sending.streams for each in rounds} == {3, 4}
    assert not any("streams a pair" in each.because for each in rounds)


def test_streams_go_by_one_port_of_a_node_on_rails() -> None:
    """A test goes between two addresses, each of one port: the ports of a node are no choice of a hash."""
    text = (
        "schema: 1\nfabric: rails\nswitches: {'rail[1-8]': {role: leaf}}\nnodes: {'g[1-4]': {}}\n"
        "links: [{from: 'g[1-4]:p[1-8]', to: 'rail[1-8]', speed: 100G}]\n"
    )
    described = load_text(text, "rails.yaml")
    assert count_streams(described, trunks=False) == (4, "")
    bonded = load_text(text.replace("100G}", "100G, bond: balance-xor, hash: l3l4}"), "bonded.yaml")
    assert count_streams(bonded, trunks=False).streams == 64
