"""The design one-way: who sends to whom, in one round, judged by what they share; and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.model.repeats import make_test_key
from benchconsole.probes.planning.plan_summary import summarise
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology import load
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from tests.probes.planning.suites import planned

WAN = """\
schema: 1
fabric: wan
switches: {sea: {role: core}, ind: {role: core}}
nodes: {"s[01-12]": {}, "i[01-12]": {}}
links:
  - {from: "s[01-12]", to: sea, speed: 10 Gb/s}
  - {from: "i[01-12]", to: ind, speed: 10 Gb/s}
  - {from: sea, to: ind, speed: 100 Gb/s}
"""


def wan() -> Fabric:
    return load_text(WAN, "wan.yaml")


def send(fabric: Fabric, nodes: list[str] | None = None, **options: str) -> tuple[Round, ...]:
    """The rounds of one stage; ``from`` is no name that Python has."""
    written: dict[str, Any] = {name.rstrip("_"): value for name, value in options.items()}
    return planned(fabric, "one-way", nodes=nodes, **written)


def flows(rounds: tuple[Round, ...]) -> list[list[tuple[str, str]]]:
    return [[(test.target.node.id, test.target.peer.id) for test in each.tests if test.target.peer] for each in rounds]


def test_all_flows_go_one_way_in_one_round_and_are_judged_by_their_sum() -> None:
    rounds = send(wan(), from_="s[01-12]", to="i[01-12]")
    assert flows(rounds) == [[(f"s{n:02}", f"i{n:02}") for n in range(1, 13)]]
    (bundle,) = rounds[0].bundles
    assert bundle.name == "sea to ind"
    assert bundle.fill == pytest.approx(1.0)
    assert {test.bundle for test in rounds[0].tests} == {"sea to ind"}


def test_a_line_that_the_senders_do_not_fill_is_still_what_they_share() -> None:
    (each,) = send(wan(), from_="s[01-08]", to="i[01-08]")
    assert len(each.tests) == 8
    assert each.bundles[0].fill == pytest.approx(0.8)


def test_the_shorter_list_is_taken_in_turn() -> None:
    (each,) = flows(send(wan(), from_="s[01-03]", to="i01"))
    assert each == [("s01", "i01"), ("s02", "i01"), ("s03", "i01")]


def test_each_with_each() -> None:
    (each,) = flows(send(wan(), from_="s[01-02]", to="i[01-03]", pairing="each"))
    assert sorted(each) == [(f"s0{s}", f"i0{i}") for s in (1, 2) for i in (1, 2, 3)]


def test_flows_that_share_nothing_stand_alone() -> None:
    star = load_text(
        'schema: 1\nfabric: star\nswitches: {leaf: {}}\nnodes: {"n[1-4]": {}}\n'
        'links: [{from: "n[1-4]", to: leaf, speed: 10 Gb/s}]\n',
        "star.yaml",
    )
    (each,) = send(star, from_="n[1-2]", to="n[3-4]")
    assert (len(each.tests), each.bundles, {test.bundle for test in each.tests}) == (2, (), {""})


def test_nine_archive_nodes_of_llnl_send_to_the_archive_at_once() -> None:
    fabric = load(Path("topology/examples/llnl.yaml"))
    nodes = [*(f"slic{number}" for number in range(1, 10)), "hpss"]
    (each,) = send(fabric, nodes, from_="slic[1-9]", to="hpss")
    assert [test.target.key for test in each.tests] == [f"slic{n}>hpss" for n in range(1, 10)]


PORTS = """\
schema: 1
fabric: ports
switches: {sw: {role: leaf}}
nodes:
  "c[1-9]": {address: "10.0.1.[1-9]"}
  "s[1-2]": {address: "10.0.2.[1-2]", addresses: {"eth[2-3]": "10.0.[2-3].[1-2]"}}
links:
  - {from: "c[1-9]", to: sw, speed: 1 Gb/s}
  - {from: "s[1-2]:eth2", to: sw, speed: 1 Gb/s}
  - {from: "s[1-2]:eth3", to: sw, speed: 1 Gb/s}
"""


@pytest.mark.parametrize("reverse", [0, 1])
def test_senders_are_dealt_to_the_ports_of_the_receivers_in_turn(reverse: int) -> None:
    described = load_text(PORTS, "ports.yaml")
    (each,) = send(described, from_="c[1-9]", to="s[1-2]", peer_legs="eth2, eth3", reverse=str(reverse))
    taken = [(flow.source, flow.sink, flow.last_leg) for flow in each.flows]
    ports = [("s1", "eth2"), ("s2", "eth2"), ("s1", "eth3"), ("s2", "eth3")]
    assert taken == [(f"c{n + 1}", *ports[n % 4]) for n in range(9)]
    for test in each.tests:
        server = test.target.node if reverse else test.target.peer
        assert server is not None
        number = int((test.flows[0].last_leg or "").removeprefix("eth"))
        assert server.data_address == f"10.0.{number}.{server.id[1:]}"
    rates = {(flow.sink, flow.last_leg): 0.0 for flow in each.flows}
    for flow, rate in zip(each.flows, expect(described, each.flows), strict=True):
        rates[flow.sink, flow.last_leg] += rate.value
    assert list(rates.values()) == pytest.approx([125e6 * described.goodput] * 4)
    heaviest = summarise(described, (each,), {"iperf3": Iperf3()}).total.link
    assert heaviest is not None
    assert heaviest.element == "s1:eth2 in"
    assert heaviest.share == pytest.approx(3.0)


def test_one_sender_to_two_ports_of_one_receiver_is_two_tests_of_which_none_repeats_the_other() -> None:
    (each,) = send(load_text(PORTS, "ports.yaml"), from_="c1", to="s1", peer_legs="eth2,eth3")
    assert len({make_test_key(test, each.stage) for test in each.tests}) == len(each.tests) == 2


def test_flows_to_ports_that_share_no_link_stand_alone() -> None:
    (each,) = send(load_text(PORTS, "ports.yaml"), from_="c[1-2]", to="s1", peer_legs="eth2,eth3")
    assert [(test.bundle, test.sending.peer_leg) for test in each.tests] == [("", "eth2"), ("", "eth3")]


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        ("", {"peer_legs": "eth9"}, "option peer_legs: found no port eth9 at s[1-2], expected one that links name"),
        (', addresses: {"eth[2-3]": "10.0.[2-3].[1-2]"}', {"peer_legs": "eth2,eth3"},
         "option peer_legs: found no address of s[1-2] at eth2, expected addresses: {eth2: ...}"),
        ("", {"peer_legs": "eth2", "leg": "eth3"}, "iperf3: found leg=eth3 beside peer_legs, expected one of them"),
    ],
)  # fmt: skip
def test_ports_that_nobody_can_be_dealt_to_are_refused(change: str, options: dict[str, str], said: str) -> None:
    described = load_text(PORTS.replace(change, ""), "ports.yaml")
    with pytest.raises(PlanError) as refused:
        send(described, None, from_="c[1-9]", to="s[1-2]", **options)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"to": "i01"}, "option from: found nothing, expected nodes"),
        ({"from": "s01", "to": "x9"}, "option to: "),
        (
            {"from": "s01", "to": "i01", "pairing": "some"},
            "option pairing: found 'some', expected one of one-to-one, each",
        ),
        ({"from": "s01", "to": "s01"}, "found no way from s01 to s01"),
    ],
)
def test_what_makes_no_flow_is_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(PlanError) as refused:
        send(wan(), None, **{f"{name}_": value for name, value in options.items()})
    assert said in str(refused.value)


def test_nodes_outside_of_the_selection_are_refused() -> None:
    with pytest.raises(PlanError, match=r"option to: found i02, expected nodes of the selection"):
        send(wan(), ["s01", "i01"], from_="s01", to="i[01-02]")
