"""The ports that a stage uses: rails in turn and across, planes in turn, or those that its options name."""

from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Probe
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.detectable_loss import list_planned_losses
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.detectable_loss import Fault
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.judgement import Level, Suspect
from benchconsole.probes.model.measuring import Round, Test
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.plan_summary import summarise
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.probes.tools.stream.probe import Stream
from benchconsole.store.codec.rows import make_round_row, make_test_row, parse_test
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.model.fabric import Direction, Fabric, LinkId, Stage, Suite
from tests.fabrics import METRICS, fabric, play

TEXT = """\
schema: 1
fabric: rails
switches: {"rail[1-3]": {role: leaf}, spine: {role: spine}}
nodes: {"g[1-4]": {address: "10.0.0.[1-4]", addresses: {"p[1-3]": "10.[1-3].0.[1-4]"}}}
links:
  - {from: "g[1-4]:p[1-3]", to: "rail[1-3]", speed: 100G}
"""
UP = '  - {from: "rail[1-3]", to: spine, speed: 400G}\n'
PROBES: dict[str, Probe] = {"iperf3": Iperf3(), "stream": Stream()}


def planned(described: Fabric, probe: str = "iperf3", **options: str | int) -> tuple[Round, ...]:
    stage = Stage(probe, tuple(described.nodes), MappingProxyType({"design": "permutation", **options}))
    if probe == "stream":
        stage = replace(stage, options=MappingProxyType(options))
    return plan(described, Suite("s", (stage,)), PROBES)


def list_tests(rounds: tuple[Round, ...]) -> list[Test]:
    return [test for each in rounds for test in each.tests]


@pytest.mark.parametrize("reverse", [0, 1])
def test_every_rail_is_tested_and_the_way_to_the_next(tmp_path: Path, reverse: int) -> None:
    described = fabric(tmp_path, TEXT + UP)
    rounds = planned(described, reverse=reverse)
    names = [f"iperf3 permutation {name}" for name in ("p1", "p2", "p3", "p1 to p2", "p2 to p3", "p3 to p1")]
    assert list(dict.fromkeys(each.stage for each in rounds)) == names
    for test in list_tests(rounds):
        (flow,) = test.flows
        for node, leg in ((test.target.node, test.sending.leg), (test.target.peer, test.sending.peer_leg)):
            assert node is not None
            assert node.data_address.split(".")[1] == leg.removeprefix("p")
        stage = rounds[test.round - 1].stage.removeprefix("iperf3 permutation ")
        assert stage in (f"{flow.leg} to {flow.last_leg}", flow.leg)
    for each in rounds:
        assert [rate.value for rate in expect(described, each.flows)] == pytest.approx([12.5e9 * described.goodput] * 4)
    assert rounds[3].because.endswith("; from p1 to p2")
    summary = summarise(described, rounds, PROBES)
    assert summary.total.link is not None
    assert summary.total.link.share == pytest.approx(1)
    assert not summary.links


def test_commands_bind_to_the_ports(tmp_path: Path) -> None:
    probe = Iperf3()
    (test, *_) = list_tests(planned(fabric(tmp_path, TEXT + UP), leg="p2", peer_leg="p3"))
    client, server = probe.client(test.target, 5201), probe.server(test.target, 5201)
    ends = (client[client.index("-B") + 1], client[client.index("-c") + 1], server[server.index("-B") + 1])
    assert [each.split(".")[1] for each in ends] == ["2", "3", "3"]


def test_rails_without_spines_and_planes_are_not_crossed(tmp_path: Path) -> None:
    for text in (TEXT, TEXT.replace("rail", "leaf")):
        rounds = planned(fabric(tmp_path, text))
        assert [each.stage for each in rounds] == [f"iperf3 permutation p{number}" for number in (1, 2, 3)]
    joined = (TEXT + UP).replace("rail", "leaf")  # ports into one fabric: nothing says what they are to each other
    assert {test.sending.leg for test in list_tests(planned(fabric(tmp_path, joined)))} == {""}


def test_a_test_keeps_its_ports_and_addresses_in_the_store(tmp_path: Path) -> None:
    described = fabric(tmp_path, TEXT + UP)
    for of, test in ((each, test) for each in planned(described) for test in each.tests):
        again = parse_test(make_test_row(of, test), make_round_row(of), described)
        assert again == test


def test_without_addresses_of_ports_no_port_is_named(tmp_path: Path) -> None:
    bare = TEXT.replace(', addresses: {"p[1-3]": "10.[1-3].0.[1-4]"}', "")
    assert {test.sending.leg for test in list_tests(planned(fabric(tmp_path, bare + UP)))} == {""}


def add_login(addresses: str, cable: str) -> str:
    """Rails with one more node, ``login``, that has these addresses and this cable."""
    return TEXT.replace("}\nlinks:", f", login: {{{addresses}}}}}\nlinks:") + f"  - {{{cable}, speed: 100G}}\n" + UP


BARE = add_login("", "from: login, to: rail1")
ALL = [("p1", "p1"), ("p2", "p2"), ("p3", "p3"), ("p1", "p2"), ("p2", "p3"), ("p3", "p1")]


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        (BARE, []),
        (add_login("", 'from: "login:p[1-3]", to: "rail[1-3]"'), []),
        (add_login("addresses: {p1: 10.1.0.99}", 'from: "login:p1", to: rail1'), [("p1", "p1")]),
        (
            add_login('addresses: {"p[1-2]": "10.[1-2].0.99"}', 'from: "login:p[1-2]", to: "rail[1-2]"'),
            [("p1", "p1"), ("p2", "p2"), ("p1", "p2")],
        ),
        (
            add_login('addresses: {"p[1-2]": "10.[1-2].0.99"}', 'from: "login:p[1-3]", to: "rail[1-3]"'),
            [("p1", "p1"), ("p2", "p2"), ("p1", "p2")],
        ),
        # ports that nobody else has are no reason to test none of the others
        (add_login('addresses: {"p[8-9]": "10.[8-9].0.99"}', 'from: "login:p[8-9]", to: "rail[1-2]"'), []),
        (
            add_login('addresses: {"p[1-4]": "10.[1-4].0.99"}', 'from: "login:p[1-4]", to: "rail[1-3],spine"'),
            ALL,
        ),
    ],
)  # fmt: skip
def test_one_node_without_all_ports_takes_the_others_no_test_by_port(
    tmp_path: Path, text: str, inside: list[tuple[str, str]]
) -> None:
    described = fabric(tmp_path, text)
    rounds = planned(described)
    members: dict[tuple[str, str], set[str]] = {}
    because: dict[tuple[str, str], str] = {}
    for each in rounds:
        for test in each.tests:
            ports = test.sending.leg, test.sending.peer_leg
            members.setdefault(ports, set()).update(node.id for node in test.target.nodes)
            because[ports] = each.because
    others = set(described.nodes) - {"login"}
    with_it = inside or [("", "")]
    assert {ports for ports, nodes in members.items() if nodes == set(described.nodes)} == set(with_it)
    assert {ports for ports, nodes in members.items() if nodes == others} == members.keys() - set(with_it)
    assert set(ALL) <= members.keys()
    assert {ports for ports, why in because.items() if "; without login: no address" in why} == (
        members.keys() - set(with_it)
    )
    summary = summarise(described, rounds, PROBES)
    told = ["in no test of iperf3 by port: none of the ports p[1-3] with an address is known"]
    assert [each.why for each in summary.nodes] == ([] if inside else told)
    assert ("; by no port, for login has none" in because.get(("", ""), "")) is (not inside)
    left = {link for each in summary.links for link in each.what}
    assert left.isdisjoint(f"g{node}--rail{rail}" for node in (1, 2, 3, 4) for rail in (1, 2, 3))


@pytest.mark.parametrize(("design", "options"), [("star", {"servers": "login"}), ("permutation", {"shift": 4})])
def test_a_design_that_needs_all_nodes_is_not_parted(
    tmp_path: Path, design: str, options: dict[str, str | int]
) -> None:
    described = fabric(tmp_path, BARE)
    assert {test.sending.leg for test in list_tests(planned(described, "iperf3", design=design, **options))} == {""}


FAT = """\
schema: 1
fabric: fat
switches: {"rail[1-3]": {role: leaf}, "brail[1-3]": {role: leaf}, spine: {role: spine}}
nodes: {"g[1-4]": {}}
links:
  - {from: "g[1-2]:p[1-3]", to: "rail[1-3]", speed: 100G}
  - {from: "g[3-4]:p[1-3]", to: "brail[1-3]", speed: 100G}
  - {from: "rail[1-3],brail[1-3]", to: spine, speed: 400G}
"""
UNSURE = "crossed only by tests that do not say which of several ports they use"
NO_PATH = "on no shortest path between nodes that send to each other"


def test_what_may_have_been_crossed_is_not_crossed(tmp_path: Path) -> None:
    """Without addresses tests name no port: one of three was used, and nobody knows which, nor what lies beyond."""
    bare = TEXT.replace(', addresses: {"p[1-3]": "10.[1-3].0.[1-4]"}', "") + UP
    for text, beyond in ((bare, NO_PATH), (FAT, UNSURE)):
        described = fabric(tmp_path, text)
        whys = {link: each.why for each in summarise(described, planned(described), PROBES).links for link in each.what}
        assert whys == {link.id: UNSURE if link.a in described.nodes else beyond for link in described.links.values()}


@pytest.mark.parametrize(
    ("text", "probe", "options", "sentence"),
    [
        (TEXT, "iperf3", {"leg": "p9"}, "iperf3: found no port p9 at g[1-4], expected a port that links name"),
        (
            TEXT.replace('"p[1-3]": "10.[1-3]', '"p[2-3]": "10.[2-3]'), "iperf3", {"leg": "p1"},
            "iperf3 over the port p1: found no address of g[1-4] there, expected addresses: {p1: ...}",
        ),
        (TEXT, "iperf3", {"peer_leg": "p1"}, "iperf3: found peer_leg=p1 alone, expected leg beside it"),
        (TEXT, "stream", {"leg": "p1"}, "stream: found leg=p1, expected none: its tests are not between nodes"),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path: Path, text: str, probe: str, options: dict[str, str], sentence: str) -> None:
    with pytest.raises(PlanError) as error:
        planned(fabric(tmp_path, text), probe, **options)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("addresses", "sentence"),
    [
        ('"p[1-3]": "10.[1-2].0.[1-4]"', "8 addresses for 12 nodes, expected one address for each node"),
        ('p7: "10.1.0.[1-4]"', "unknown network 'p7', expected one of data, or a port of g1"),
        ('"p[": "10.1.0.[1-4]"', "expected a network, or ports such as p[1-8]"),
    ],
)
def test_addresses_that_fit_no_port_are_refused(tmp_path: Path, addresses: str, sentence: str) -> None:
    with pytest.raises(TopologyError) as error:
        fabric(tmp_path, TEXT.replace('"p[1-3]": "10.[1-3].0.[1-4]"', addresses))
    assert sentence in str(error.value)


def test_a_slow_port_is_named_and_no_other_rail_is_accused(tmp_path: Path) -> None:
    described = fabric(
        tmp_path,
        TEXT.replace("g[1-4]", "g[1-8]").replace(".0.[1-4]", ".0.[1-8]").replace("0.0.[1-4]", "0.0.[1-8]") + UP,
    )
    context = JudgingContext(described, METRICS)
    slow = LinkId("g3--rail2")
    faults = {Direction(slow, end): 0.3 * described.links[slow].speed for end in ("g3", "rail2")}
    rounds = []
    for each in planned(described):
        closed = play(described, each, faults)
        rounds.append(replace(closed, verdicts=judge_round(context, closed)))
    levels = {
        (test.sending.leg, test.target.key): verdict.level
        for each in rounds
        for test, verdict in zip(each.round.tests, each.verdicts, strict=True)
    }
    assert {leg for (leg, _), level in levels.items() if level is Level.FAIL} <= {"p1", "p2", "p3"}
    assert all(level is Level.PASS for (leg, key), level in levels.items() if "g3" not in key), levels
    findings = list_findings(context, rounds)
    assert [(each.suspect, each.where) for each in findings] == [(Suspect.NIC, "g3 NIC, leg to rail2")], findings


def test_every_port_is_a_nic_that_the_plan_shows_or_not(tmp_path: Path) -> None:
    """With addresses of ports each of 12 NICs is tested by itself, without them nobody knows which ones are."""
    bare = TEXT.replace(', addresses: {"p[1-3]": "10.[1-3].0.[1-4]"}', "")
    for text, seen in ((TEXT + UP, 24), (bare + UP, 0)):
        described = fabric(tmp_path, text)
        losses = list_planned_losses(JudgingContext(described, METRICS), planned(described))
        told = {each.fault: (each.elements, each.seen) for each in losses}
        assert told[Fault.NIC] == (24, seen)  # both ways of each
        assert Fault.LEG_LOST not in told
