"""The points of a sweep as rounds: all of them, once each, in their order, with what they are called."""

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Demands, PlanError, Probe, Safety, SendingOptions, Shape, Target
from benchconsole.probes.model.measuring import Part, Round, SetValue, Swept
from benchconsole.probes.planning.design_options import find_refusal
from benchconsole.probes.planning.participants import spread_over_switches
from benchconsole.probes.planning.plan_rounds import plan, rerun, split_into_waves
from benchconsole.probes.planning.plan_summary import summarise
from benchconsole.probes.planning.sweeps import list_turns
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.model.sweep import Axis, Order, Sweep
from tests.probes.planning.plan_referee import violations
from tests.probes.played import Pair
from tests.probes.stepped import Stepped

TEXT = """\
schema: 1
fabric: small
switches: {"spine[1-2]": {role: spine}, "leaf[1-3]": {}, core1: {role: core}}
nodes:
  n[1-6]: {}
  vm[1-4]: {host: "n[1-2]"}
links:
  - {from: "n[1-4]", to: leaf1, speed: 10 Gb/s}
  - {from: n5, to: leaf2, speed: 10 Gb/s}
  - {from: n6, to: leaf3, speed: 10 Gb/s}
  - {from: "leaf[1-2]", to: spine1, speed: 10 Gb/s}
  - {from: leaf3, to: spine2, speed: 10 Gb/s}
  - {from: "spine[1-2]", to: core1, speed: 10 Gb/s}
storage: {fs: {size: 200 GB, free: 50 %}}
cohorts: {kind: {virtual: "vm[1-4]", bare metal: "n[1-6]"}}
"""


class Both(Stepped):
    """On a set, or with demands: as a test says."""

    def __init__(self, shape: Shape = Shape.NODE, wanted: Demands | None = None) -> None:
        self.shape = shape  # type: ignore[misc]
        self._wanted = wanted

    def demands(self, target: Target) -> Demands:
        return self._wanted if self._wanted is not None else super().demands(target)


class Paired(Pair):
    """With a number of streams."""

    options = MappingProxyType({"streams": 4, "bitrate": ""})
    sending_options = SendingOptions("streams", "bitrate")


def fabric(*stages: str) -> Fabric:
    lines = "".join(f"    - {{{stage}}}\n" for stage in stages)
    return load_text(f"{TEXT}suites:\n  s:\n{lines}", "small.yaml")


def planned(*stages: str, probe: Probe | None = None, cohorts: Mapping[str, str] | None = None) -> tuple[Round, ...]:
    found = fabric(*stages)
    probes = {"ior": probe or Stepped(), "iperf3": Paired()}
    rounds = plan(found, found.suites["s"], probes, cohorts=cohorts)
    assert list(violations(found, rounds, probes)) == []
    return rounds


def points(rounds: Sequence[Round]) -> list[tuple[str, int]]:
    return [(" ".join(value for _, value in each.swept.point), each.swept.repetition) for each in rounds if each.swept]


@settings(max_examples=50)
@given(
    st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=4, unique=True), max_size=3),
    st.integers(1, 3),
    st.sampled_from(Order),
    st.integers(0, 9),
)
def test_every_point_of_the_product_comes_as_often_as_asked(
    values: list[list[int]], repeat: int, order: Order, seed: int
) -> None:
    axes = tuple(Axis(f"a{index}", tuple(each)) for index, each in enumerate(values))
    sweep = Sweep(axes, repeat, order, seed)
    found = list(list_turns(sweep))
    assert found == list(list_turns(sweep))
    assert len(found) == len({(turn.point, turn.repetition) for turn in found}) == sweep.points * repeat
    assert all([name for name, _ in turn.point] == [axis.name for axis in axes] for turn in found)
    upward = [turn.point for turn in list_turns(Sweep(axes, 1, Order.UP))]
    if order is not Order.SHUFFLED:
        assert list(dict.fromkeys(turn.point for turn in found)) == (upward if order is Order.UP else upward[::-1])
    else:
        for repetition in range(repeat):
            part = found[repetition * len(upward) : (repetition + 1) * len(upward)]
            assert {turn.repetition for turn in part} == {repetition + 1}
            assert sorted(turn.point for turn in part) == sorted(upward)


def test_rounds_name_their_point_and_tests_carry_it() -> None:
    rounds = planned("probe: ior, nodes: 'n1,vm3', block: 4 MiB, sweep: {tasks: [1, 4]}, repeat: 2")
    assert [each.number for each in rounds] == [1, 2, 3, 4]
    assert {each.stage for each in rounds} == {"ior over tasks"}
    assert [each.because.partition(";")[0] for each in rounds] == [
        "ior tasks=1, 1 of 2", "ior tasks=1, 2 of 2", "ior tasks=4, 1 of 2", "ior tasks=4, 2 of 2"
    ]  # fmt: skip
    assert rounds[2].swept == Swept(1, (("tasks", "4"),), 1, 2, "up")
    first, second = rounds[2].tests
    assert dict(first.target.options) == {"tasks": 4, "block": "4 MiB"}
    assert first.target.labels == (("kind", "bare metal"), ("repetition", "1"), ("tasks", "4"))
    assert dict(second.target.labels)["kind"] == "virtual"
    assert len({test.id for each in rounds for test in each.tests}) == 8


def test_a_shuffled_sweep_says_its_seed() -> None:
    rounds = planned("probe: ior, nodes: n1, sweep: {tasks: 1..8}, order: shuffled 5")
    assert {each.swept.order for each in rounds if each.swept} == {"shuffled with seed 5"}
    assert points(rounds) != sorted(points(rounds))
    assert points(rounds) == points(planned("probe: ior, nodes: n1, sweep: {tasks: 1..8}, order: shuffled 5"))


def test_sweeps_of_one_probe_are_told_apart_and_know_their_beginning() -> None:
    stage = "probe: ior, nodes: n1, sweep: {tasks: [1, 2]}"
    rounds = planned(stage, "probe: ior, nodes: n1", stage, "probe: ior, nodes: n1, repeat: 2")
    assert [each.stage for each in rounds] == [
        "ior over tasks", "ior over tasks", "ior", "ior over tasks (2)", "ior over tasks (2)", *["ior repeated"] * 2
    ]  # fmt: skip
    assert [each.swept.sweep if each.swept else None for each in rounds] == [1, 1, None, 4, 4, 6, 6]


def test_two_stages_of_one_probe_are_never_taken_for_a_test_and_its_repetition() -> None:
    rounds = planned("probe: ior, nodes: n1", "probe: ior, nodes: n1, block: 4 KiB", "probe: ior, nodes: n1, tasks: 2")
    assert [each.stage for each in rounds] == ["ior", "ior (2)", "ior (3)"]


def test_a_point_is_never_called_after_a_rate_that_the_caps_do_not_leave() -> None:
    text = TEXT.replace("storage:", "caps: {link: 50 %}\nstorage:")
    stage = "{probe: iperf3, nodes: 'n[1-6]', sweep: {bitrate: [1 Gb/s, 4 Gb/s, 8 Gb/s]}}"
    found = load_text(f"{text}suites: {{s: [{stage}]}}\n", "x.yaml")
    with pytest.raises(PlanError, match="bitrate=8 Gb/s for n1>n2: expected points that the caps leave"):
        plan(found, found.suites["s"], {"iperf3": Paired()})
    milder = load_text(found.text.replace(", 8 Gb/s", ""), "x.yaml")
    rounds = plan(milder, milder.suites["s"], {"iperf3": Paired()})
    assert {dict(test.target.labels)["bitrate"] for each in rounds for test in each.tests} == {"1 Gb/s", "4 Gb/s"}


def test_cohorts_are_in_every_label_without_a_sweep() -> None:
    (alone,) = planned("probe: ior, nodes: 'n6,vm1'", cohorts={"phase": "after"})
    assert [test.target.labels for test in alone.tests] == [
        (("kind", "bare metal"), ("phase", "after")), (("kind", "virtual"), ("phase", "after"))
    ]  # fmt: skip
    rounds = planned("probe: iperf3, nodes: 'n6,vm1', design: all-pairs")
    kinds = {test.target.key: dict(test.target.labels)["kind"] for each in rounds for test in each.tests}
    assert kinds == {"n6>vm1": "bare metal to virtual", "vm1>n6": "virtual to bare metal"}
    (one,) = planned("probe: ior, nodes: 'n6,vm1'", probe=Both(Shape.SET))
    assert [dict(test.target.labels) for test in one.tests] == [{"kind": "mixed"}]


# -- clients


@given(st.sets(st.sampled_from(["n1", "n2", "n3", "n4", "n5", "n6", "vm1", "vm2", "vm3", "vm4"]), min_size=1))
def test_the_beginning_of_the_order_is_spread_over_leaves_and_what_is_above(names: set[str]) -> None:
    found = fabric("probe: ior")
    order = spread_over_switches(found, [NodeId(name) for name in sorted(names)])
    assert sorted(order) == sorted(names)
    leaf = {name: found.switch_of(found.nodes[NodeId(name)].host or name)[0] for name in names}
    spine = {name: "spine2" if leaf[name] == "leaf3" else "spine1" for name in names}
    spines = len(set(spine.values()))
    assert len({spine[name] for name in order[:spines]}) == spines
    of_first = [leaf[name] for name in order if spine[name] == "spine1"]
    assert len(set(of_first[:2])) == min(2, len(set(of_first)))


def test_clients_are_one_load_that_is_never_torn() -> None:
    rounds = planned("probe: ior, nodes: 'n[1-6]', sweep: {clients: [1, 2, 4]}")
    assert [[test.target.key for test in each.tests] for each in rounds] == [
        ["n1"], ["n1", "n6"], ["n1", "n6", "n5", "n2"]
    ]  # fmt: skip
    assert [dict(each.tests[0].target.labels)["clients"] for each in rounds] == ["1", "2", "4"]
    assert all("clients" not in test.target.options for each in rounds for test in each.tests)
    assert [len(each.tests) for each in split_into_waves(rounds)] == [1, 2, 4]
    (again,) = rerun([rounds[2].tests[1]], rounds, first=9)
    assert len(again.tests) == 4
    assert not rounds[2].is_resumable
    assert planned("probe: ior, nodes: 'n[1-6]', sweep: {tasks: [1, 2]}")[0].is_resumable


def test_virtual_machines_share_their_host_where_clients_ask_for_it() -> None:
    (both,) = planned("probe: ior, nodes: 'vm[1-2]', sweep: {clients: [2]}")
    assert {test.target.node.host for test in both.tests} == {"n1"}
    apart = planned("probe: ior, nodes: 'vm[1-2]', sweep: {tasks: [2]}")
    assert [len(each.tests) for each in apart] == [1, 1]


def test_clients_of_a_pair_probe_are_flows_and_of_a_set_its_size() -> None:
    rounds = planned("probe: iperf3, design: permutation, nodes: 'n[1-6]', sweep: {clients: [2, 5], streams: [1]}")
    assert [len(each.tests) for each in rounds] == [2, 5]
    assert {test.bundle for test in rounds[1].tests} == {"clients=5"}
    sources = [test.target.node.id for test in rounds[1].tests]
    assert len(set(sources)) == 5
    assert {test.target.options["streams"] for test in rounds[1].tests} == {1}
    (two, four) = planned("probe: ior, nodes: 'n[1-6]', sweep: {clients: [2, 4]}", probe=Both(Shape.SET))
    assert [each.tests[0].target.key for each in (two, four)] == ["n[1,6]", "n[1-2,5-6]"]


@pytest.mark.parametrize(
    ("stage", "probe", "said"),
    [
        ("nodes: 'n[1-6]', sweep: {clients: 1..7}", Stepped(), "clients=7: found 6 selected nodes, expected as many"),
        (
            "nodes: 'n[1-6]', sweep: {clients: [6]}",
            Both(wanted=Demands(frozenset((Part.DISK,)), {"filesystem:fs": 20e9})),
            "what runs at once asks for 120,000,000,000 of filesystem:fs, and there are 50,000,000,000 for all",
        ),
        ("nodes: 'n[1-6]', per: switch, sweep: {clients: [2]}", Both(Shape.SET), "unknown option of ior 'per'"),
    ],
)
def test_a_load_that_cannot_be_is_refused_before_anything_runs(stage: str, probe: Probe, said: str) -> None:
    found = load_text(f"{TEXT}suites:\n  s: [{{probe: ior, {stage.replace('7', '6')}}}]\n", "small.yaml")
    nodes = None if "1..7" not in stage else [NodeId(f"n{index}") for index in range(1, 6)]
    said = said.replace("=7: found 6", "=6: found 5")
    with pytest.raises(PlanError, match=said):
        plan(found, found.suites["s"], {"ior": probe}, nodes=nodes)


def test_too_few_flows_at_once_are_refused() -> None:
    with pytest.raises(PlanError, match="clients=6: found 4 flows that can run at once, expected as many"):
        planned("probe: iperf3, design: neighbours, nodes: 'n[1-6]', sweep: {clients: [6]}")


# -- what is said of it


def test_the_summary_of_a_sweep_is_that_of_all_its_points() -> None:
    found = fabric(
        "probe: ior, nodes: 'vm[1-4]', sweep: {tasks: [4, 1], block: [4 MiB, 64 KiB]}, repeat: 2, order: shuffled"
        ", stop: {on: failure}",
    )
    rounds = plan(found, found.suites["s"], {"ior": Stepped()})
    (stage,) = summarise(found, rounds, {"ior": Stepped()}).stages
    assert stage.sweep is not None
    assert stage.sweep.axes == (("tasks", ("1", "4")), ("block", ("64 KiB", "4 MiB")))
    assert (stage.sweep.points, stage.sweep.repeat, stage.sweep.order) == (4, 2, "shuffled with seed 1")
    assert (stage.rounds, stage.bound, stage.tests) == (16, 16, 32)
    assert stage.seconds == 16 * 4.0


def test_a_probe_says_itself_what_it_would_not_run_with() -> None:
    class Late(Stepped):
        safety = Safety.READS

        async def run(self, contact: object, target: Target) -> Sequence[object]:  # type: ignore[override]
            raise PlanError("never reached, expected nothing")

        def check(self, target: Target) -> None:
            self.given(target.options).choice("block", ("1 MiB",))

    assert find_refusal(Stepped(), {"tasks": 64}) == ""
    assert find_refusal(Stepped(), {"tasks": 65}) == "ior option tasks: found 65, expected a whole number 1 to 64"
    assert find_refusal(Late(), {"block": "1 MiB"}) == ""
    assert find_refusal(Late(), {"block": "2 MiB"}) == "ior option block: found '2 MiB', expected one of 1 MiB"
    assert find_refusal(Both(Shape.SET), {"tasks": 1}) == ""


def test_no_node_is_in_a_round_twice() -> None:
    for each in planned("probe: ior, sweep: {tasks: 1..3}, repeat: 2"):
        machines = Counter(node.host or node.id for test in each.tests for node in test.target.nodes)
        assert max(machines.values()) == 1


def test_the_value_of_a_step_is_no_option_and_a_label_of_its_tests() -> None:
    rounds = planned(
        "probe: ior, nodes: 'n[1-2]', sweep: {queue: [500, 1000], tasks: [1, 4]}, "
        "steps: {queue: {run: [ip, 'q={value}'], undo: [ip, q=1000], nodes: 'n[1-3]'}}"
    )
    assert [[dict(test.target.options).get("queue") for test in each.tests] for each in rounds] == [[None, None]] * 4
    assert [dict(each.tests[0].target.labels)["queue"] for each in rounds] == ["500", "500", "1000", "1000"]
    assert {each.stage for each in rounds} == {"ior over queue, tasks"}
    assert rounds[2].swept is not None
    assert rounds[2].swept.steps == (SetValue("queue", "1000", ("ip", "q=1000"), ("ip", "q=1000"), "n[1-3]"),)
    assert rounds[0].because.startswith("ior queue=500 tasks=1; set by ip q=500 on n[1-3]; ")
    assert all(
        again.swept == each.swept
        for again, each in zip(rerun(rounds[1].tests, rounds, first=9), rounds[1:2], strict=True)
    )
