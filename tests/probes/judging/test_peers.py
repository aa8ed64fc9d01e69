"""Nodes beside their peers, from closed rounds to findings: who is named, what parts groups, and when all is silent."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from benchconsole.probes.api import Fact, Metric, Reading, Target, Unit, labels
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Confidence, Finding, Level, Suspect
from benchconsole.probes.model.measuring import Result, Round, Test
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, NodeId

TRIAD = Metric("stream.triad", Unit.BYTE_RATE, "memory")
TIME = Metric("stream.time", Unit.SECOND, "time of one kernel")


def machine(nodes: int = 320, more: str = "") -> Fabric:
    """Nodes of one class under eight leaf switches, in order."""
    share = nodes // 8
    links = "\n".join(
        f'  - {{from: "n[{leaf * share + 1:03}-{(leaf + 1) * share:03}]", to: leaf{leaf + 1}, speed: 10 Gb/s}}'
        for leaf in range(8)
    )
    text = f"""\
schema: 1
fabric: played
classes: {{blade: {{cpu: {{sockets: 2}}}}}}
switches: {{"leaf[1-8]": {{role: leaf}}, spine: {{role: spine}}}}
nodes: {{"n[001-{nodes:03}]": {{class: blade}}}}
links:
{links}
  - {{from: "leaf[1-8]", to: spine, speed: 100 Gb/s}}
{more}
"""
    return load_text(text, "played.yaml")


def close(
    fabric: Fabric, readings: Mapping[str, Sequence[Reading]], probe: str = "stream", number: int = 1
) -> ClosedRound:
    tests = {
        name: Test(f"{probe}{number}-{name}", probe, Target(fabric.nodes[NodeId(name)]), number) for name in readings
    }
    results = tuple(Result(tests[name], measurements=tuple(own)) for name, own in readings.items())
    planned = Round(number, probe, probe, tuple(tests.values()), 1.0, "")
    return ClosedRound(planned, results, CloseReason.COMPLETE, 0.0, 1.0)


def measure(fabric: Fabric, values: Mapping[str, float], number: int = 1) -> ClosedRound:
    """A round of stream with one value of each node."""
    return close(
        fabric,
        {
            name: [Reading("stream.triad", value, Unit.BYTE_RATE, labels(threads=24), id=f"m{number}-{name}")]
            for name, value in values.items()
        },
        number=number,
    )


def tell(fabric: Fabric, facts: Mapping[str, Mapping[str, str | float]]) -> ClosedRound:
    """A round of the inventory."""
    closed = close(fabric, dict.fromkeys(facts, ()), "inventory", 90)
    results = tuple(
        replace(result, facts=tuple(Fact(fact, value) for fact, value in facts[result.test.target.node.id].items()))
        for result in closed.results
    )
    return replace(closed, results=results)


def find(fabric: Fabric, *rounds: ClosedRound) -> tuple[Finding, ...]:
    context = JudgingContext(fabric, {each.name: each for each in (TRIAD, TIME)})
    return list_findings(context, [replace(each, verdicts=judge_round(context, each)) for each in rounds])


def play(fabric: Fabric, seed: int, deviation: float = 0.01, level: float = 100e9) -> dict[str, float]:
    noise = np.random.default_rng(seed).normal(0, deviation, len(fabric.nodes))
    return {name: level * float(np.exp(each)) for name, each in zip(fabric.nodes, noise, strict=True)}


def test_healthy_nodes_are_silent() -> None:
    fabric = machine()
    assert [find(fabric, measure(fabric, play(fabric, seed, 0.02))) for seed in range(10)] == [()] * 10


def test_three_of_49_clients_are_one_finding_with_their_share_of_the_median() -> None:
    fabric = machine(56)
    values = dict(list(play(fabric, 1, level=8.4e6).items())[:49])
    values |= {"n004": 3.0e6, "n017": 3.02e6, "n031": 3.1e6}
    (found,) = find(fabric, measure(fabric, values))
    assert found.level is Level.WATCH
    assert found.suspect is Suspect.SET
    assert found.nodes == found.nodes_at == ("n004", "n017", "n031")
    assert found.what.startswith("3 of 49 nodes at 36 % to 37 % of the median of their peers, worst n004: stream.triad")
    assert found.value == 3.0e6
    assert found.expected == pytest.approx(8.4e6, rel=0.01)


def test_one_slow_node_is_that_node() -> None:
    fabric = machine()
    (found,) = find(fabric, measure(fabric, {**play(fabric, 2), "n007": 88e9}))
    assert (found.suspect, found.element, found.nodes_at) == (Suspect.NODE, "n007", ("n007",))
    assert found.what.startswith("n007 at 88 % of the median of its 319 peers: stream.triad threads=24 88.0 GB/s")


def test_a_fast_node_is_no_finding() -> None:
    fabric = machine()
    assert find(fabric, measure(fabric, {**play(fabric, 2), "n007": 130e9})) == ()


@pytest.mark.parametrize("wrong", [-88e9, 1e22, float("nan")])
def test_a_number_that_cannot_be_right_is_no_peer(wrong: float) -> None:
    fabric = machine()
    values = play(fabric, 2)
    assert find(fabric, measure(fabric, {**values, "n007": wrong})) == ()
    half = {name: wrong if place % 2 else value for place, (name, value) in enumerate(values.items())}
    (found,) = find(fabric, measure(fabric, {**half, "n007": 88e9}))
    assert (found.nodes, found.what[:52]) == (("n007",), "n007 at 88 % of the median of its 159 peers: stream.")


def _play_two_groups(fabric: Fabric, seed: int) -> tuple[dict[str, float], set[str]]:
    """Leaf switches 1 to 4 at 112 GB/s, the others at 98 GB/s, and five nodes of any at 88 % of their own group."""
    rng = np.random.default_rng(seed)
    names = list(fabric.nodes)
    values = {name: (112e9 if place < 160 else 98e9) * float(np.exp(rng.normal(0, 0.01)))
              for place, name in enumerate(names)}  # fmt: skip
    planted = {names[place] for place in rng.choice(320, 5, replace=False)}
    return {name: value * (0.88 if name in planted else 1) for name, value in values.items()}, planted


def test_two_groups_and_five_deviants_among_320_nodes_are_told_apart_by_a_fact() -> None:
    """Precision and recall over twenty machines; a deviant of the upper group lies among those of the lower one."""
    fabric = machine()
    facts: dict[str, dict[str, str | float]] = {name: {"memory.dimms": 8.0 if place < 160 else 7.0, "serial": name, "os.name": "Debian"}
             for place, name in enumerate(fabric.nodes)}  # fmt: skip
    right = named = planted_in_all = 0
    for seed in range(20):
        values, planted = _play_two_groups(fabric, seed)
        found = find(fabric, tell(fabric, facts), measure(fabric, values))
        (groups,) = [each for each in found if "two groups" in each.what]
        assert groups.confidence is Confidence.LIKELY
        assert any(text.startswith("memory.dimms 7: n[161-320]") for text in groups.because)
        assert any(text.startswith("memory.dimms 8: n[001-160]") for text in groups.because)
        told = {node for each in found if each is not groups for node in each.nodes_at}
        right += len(told & planted)
        named += len(told)
        planted_in_all += len(planted)
    assert right / named >= 0.95
    assert right / planted_in_all >= 0.95


def test_groups_that_no_fact_parts_may_be_parted_by_their_place() -> None:
    fabric = machine()
    values, _ = _play_two_groups(fabric, 3)
    (groups,) = [each for each in find(fabric, measure(fabric, values)) if "two groups" in each.what]
    assert any(text.startswith("switch leaf[5-8]: n[161-320]") for text in groups.because)
    assert groups.nodes == tuple(f"n{number:03}" for number in range(161, 321))


def test_groups_that_nothing_parts_are_told_without_a_name() -> None:
    fabric = machine()
    values = {name: value * (1 if place % 2 else 0.8) for place, (name, value) in enumerate(play(fabric, 1).items())}
    (groups,) = find(fabric, measure(fabric, values))
    assert groups.confidence is Confidence.POSSIBLE
    assert "no fact and no place parts them so" in groups.cannot_tell
    assert len(groups.nodes) == 160


def test_declared_classes_and_cohorts_are_groups_that_nobody_need_be_told_of() -> None:
    fabric = machine(more='cohorts: {kind: {virtual: "n[001-160]", bare: "n[161-320]"}}')
    values = {name: value * (0.9 if name < "n161" else 1) for name, value in play(fabric, 1).items()}
    assert find(fabric, measure(fabric, values)) == ()


def test_a_repeat_counts_instead_of_the_first() -> None:
    fabric = machine(16)
    slow, well = {**play(fabric, 1), "n003": 50e9}, {"n003": 100e9}
    assert [each.nodes for each in find(fabric, measure(fabric, slow))] == [("n003",)]
    assert find(fabric, measure(fabric, slow), measure(fabric, well, 2)) == ()


def test_what_a_criterion_accuses_is_told_once() -> None:
    fabric = machine(16, "criteria: [{metric: stream.triad, at_least: 65 GB/s}]")
    (found,) = find(fabric, measure(fabric, {**play(fabric, 1), "n003": 50e9}))
    assert found.level is Level.FAIL
    (beside,) = find(fabric, measure(fabric, {**play(fabric, 1), "n003": 70e9}))
    assert beside.level is Level.WATCH


def test_times_and_few_nodes_are_not_compared() -> None:
    fabric = machine(16)
    times: dict[str, list[Reading]] = {
        name: [Reading("stream.time", 1.0 if name != "n003" else 9.0, Unit.SECOND)] for name in fabric.nodes
    }
    assert find(fabric, close(fabric, times)) == ()
    assert find(fabric, measure(fabric, {"n001": 100e9, "n002": 100e9, "n003": 100e9, "n004": 10e9})) == ()


def test_a_spread_of_many_names_nobody() -> None:
    """Where a fifth of the nodes is low in no group of its own, none of them is an exception."""
    fabric = machine(40)
    values = play(fabric, 1)
    slow = {name: 90e9 - 6e9 * place for place, name in enumerate(list(values)[::5])}
    assert find(fabric, measure(fabric, {**values, **slow})) == ()


def test_each_kernel_of_a_slow_node_is_told_in_one_finding() -> None:
    fabric = machine(16)
    kernels: dict[str, list[Reading]] = {
        name: [Reading(f"stream.{kernel}", value * (0.7 if name == "n003" else 1), Unit.BYTE_RATE)
               for kernel in ("copy", "scale", "add", "triad")]
        for name, value in play(fabric, 1).items()
    }  # fmt: skip
    (found,) = find(fabric, close(fabric, kernels))
    assert found.nodes == ("n003",)
    assert sum(text.startswith("n003: stream.") for text in found.because) == 4
