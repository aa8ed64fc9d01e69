"""Sweeps and cohorts of a file: what they mean, and what is said of those that mean nothing."""

import itertools
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.description.declarations import parse_range
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.description.vocabulary import Vocabulary
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.model.cohorts import MIXED, OTHER, is_value, name_cohort
from benchconsole.topology.model.fabric import Fabric, Node, NodeId
from benchconsole.topology.model.sweep import MOST_POINTS, Axis, Ending, Order, Step, Sweep, parse_number, sort_values
from benchconsole.topology.units import Unit, UnitError

TEXT = """\
schema: 1
fabric: x
nodes: {"n[1-4]": {}, "vm[1-2]": {host: "n[1-2]"}}
"""
LINE = 5
"""Of the first stage of ``swept``."""


def _refuses(probe: str, options: Mapping[str, str | int | float], nodes: Sequence[Node]) -> str:
    tasks = options.get("tasks", 1)
    bad = probe == "ior" and tasks in (0, 65)
    return f"ior option tasks: found {tasks!r}, expected a whole number 1 to 64" if bad else ""


WORDS = Vocabulary(
    {"ior.latency": Unit.SECOND, "ior.write": Unit.BYTE_RATE, "ping.time": Unit.SECOND},
    {"ior": {"tasks": 1, "block": "1 MiB", "api": "POSIX", "depth": 1}, "ping": {"count": 3}},
    refuses=_refuses,
)


def read(text: str, words: Vocabulary | None = WORDS) -> Fabric:
    return load_text(TEXT + text, "x.yaml", None if words is None else lambda: words)


def swept(stage: str) -> Sweep | None:
    return read(f"suites:\n  s: [{{{stage}}}]\n").suites["s"].stages[0].sweep


def problems(text: str) -> list[str]:
    with pytest.raises(TopologyError) as raised:
        read(text)
    return [str(problem) for problem in raised.value.problems]


def refused(stage: str) -> list[str]:
    found = problems(f"suites:\n  s: [{{{stage}}}]\n")
    assert all(each.startswith(f"x.yaml:{LINE}:") for each in found)
    return [each.split(": ", 1)[1] for each in found]


@pytest.mark.parametrize(
    ("stage", "meant"),
    [
        (
            "probe: ior, sweep: {tasks: [8, 1, 4]}, repeat: 3, order: down, stop: {on: failure}",
            Sweep((Axis("tasks", (1, 4, 8)),), 3, Order.DOWN, 1, Ending(on_failure=True)),
        ),
        (
            'probe: ior, sweep: {api: [POSIX, MPIIO], block: [4 MiB, 64 KiB, "1 MB"]}, order: shuffled 7',
            Sweep((Axis("api", ("POSIX", "MPIIO")), Axis("block", ("64 KiB", "1 MB", "4 MiB"))), 1, Order.SHUFFLED, 7),
        ),
        (
            "probe: ior, sweep: {tasks: 1..64 x2}, stop: {gain: 5 %, after: 2, metric: ior.write, on: failure}",
            Sweep((Axis("tasks", (1, 2, 4, 8, 16, 32, 64)),), ending=Ending(0.05, 2, "ior.write", on_failure=True)),
        ),
        ("probe: ior, repeat: 2, order: shuffled", Sweep((), 2, Order.SHUFFLED)),
        ("probe: ior, sweep: {clients: 1..6}", Sweep((Axis("clients", (1, 2, 3, 4, 5, 6)),))),
        ("probe: ior, tasks: 4", None),
    ],
)
def test_what_is_written_is_what_is_meant(stage: str, meant: Sweep | None) -> None:
    assert swept(stage) == meant


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        (
            "probe: ior, sweep: {task: [1]}",
            "unknown axis 'task', expected clients, a name under steps, or one of tasks, block, api, depth; did",
        ),
        ("probe: ior, sweep: {tasks: []}", "an empty list, expected a list such as [1, 2, 4], or a range"),
        ("probe: ior, sweep: {tasks: [1, 65]}", "ior option tasks: found 65, expected a whole number 1 to 64"),
        ("probe: ior, sweep: {tasks: 0..3}", "ior option tasks: found 0, expected a whole number 1 to 64"),
        ("probe: ior, sweep: {tasks: 4}", "4, expected a list such as"),
        ("probe: ior, sweep: {tasks: 8..1}", "'8..1', expected a range from small to large (order: down"),
        ("probe: ior, sweep: {tasks: 0..8 x2}", "'0..8 x2', expected a step of at least 1, or a factor of at least 2"),
        ("probe: ior, sweep: {tasks: 1..8 x1}", "'1..8 x1', expected a step of at least 1, or a factor of at least 2"),
        ("probe: ior, sweep: {tasks: 1..8 +0}", "'1..8 +0', expected a step of at least 1"),
        ("probe: ior, sweep: {tasks: 1..9000}", "'1..9000', expected a range of at most 1,000 values"),
        ("probe: ior, sweep: {tasks: [1, true]}", "True, expected a number or text"),
        ("probe: ior, sweep: {tasks: [1, ~]}", "an empty list item"),
        ("probe: ior, sweep: {tasks: [1, 1]}", "1 a second time, expected each value once"),
        ("probe: ior, tasks: 2, sweep: {tasks: [1, 4]}", "tasks as an option and as an axis, expected one of the two"),
        ("probe: ior, sweep: {}", "a sweep of nothing"),
        ("probe: ior, sweep: {tasks: 1..40, block: 1..40}", "1,600 points, expected at most 1,000"),
        ("probe: ior, sweep: {clients: [1, 7]}", "clients 7, expected a whole number from 1 to the 6 nodes"),
        ("probe: ior, sweep: {clients: 1..8}", "clients '1..8', expected whole numbers from 1 to the 6 nodes"),
        ("probe: ior, order: down", "order without a sweep, expected sweep:"),
        ("probe: ior, repeat: 2, stop: {on: failure}", "stop without a sweep, expected sweep:"),
        ("probe: ior, repeat: 0", "0, expected greater than or equal to 1"),
        ("probe: ior, repeat: 101", "101, expected less than or equal to 100"),
        ("probe: ior, sweep: {tasks: [1]}, order: sideways", "'sideways', expected up, down, shuffled"),
        ("probe: ior, sweep: {tasks: [1]}, stop: {}", "a rule of neither gain nor on"),
        ("probe: ior, sweep: {tasks: [1]}, stop: {gain: 5}", "5, expected a percentage above 0 %"),
        ("probe: ior, sweep: {tasks: [1]}, stop: {gain: 0 %}", "'0 %', expected a percentage above 0 %"),
        (
            "probe: ior, sweep: {tasks: [1]}, stop: {gian: 5 %, on: failure}",
            "unknown key 'gian', expected one of gain, after",
        ),
        ("probe: ior, sweep: {tasks: [1]}, stop: {on: failure, after: 2}", "after without gain"),
        ("probe: ior, sweep: {tasks: [1]}, order: down, stop: {gain: 5 %}", "gain with the order down"),
        ("probe: ior, sweep: {api: [a, b]}, stop: {gain: 5 %}", "gain over api, expected a last axis whose values"),
        ("probe: ior, sweep: {tasks: [1]}, stop: {gain: 5 %, metric: ior.wite}", "unknown metric 'ior.wite' of ior"),
        ("probe: ior, sweep: {tasks: [1]}, stop: {gain: 5 %, metric: ior.latency}", "ior.latency, a time, expected"),
        ("probe: ping, sweep: {count: [1]}, stop: {gain: 5 %}", "gain, and no throughput among the metrics of ping"),
    ],
)
def test_a_sweep_that_means_nothing_is_refused_at_its_place(stage: str, said: str) -> None:
    (found,) = refused(stage)
    assert found.startswith(said)


def test_a_value_out_of_range_is_named_where_it_stands() -> None:
    (found,) = problems("suites:\n  s:\n    - {probe: ior, sweep: {tasks: [2, 65, 1]}}\n")
    assert found == "x.yaml:6:39: ior option tasks: found 65, expected a whole number 1 to 64"


def test_without_a_vocabulary_nothing_is_asked_of_probes() -> None:
    fabric = read("suites: {s: [{probe: other, sweep: {anything: [1, 65]}, stop: {gain: 5 %}}]}\n", None)
    assert fabric.suites["s"].stages[0].sweep == Sweep((Axis("anything", (1, 65)),), ending=Ending(0.05))


def test_templates_write_sweeps_out() -> None:
    stage = '{probe: ior, repeat: "{times}", sweep: {tasks: ["{times}", 8], clients: "1..{times}"}}'
    fabric = read(f"parameters: {{times: 4}}\nsuites:\n  s: [{stage}]\n")
    axes = (Axis("tasks", (4, 8)), Axis("clients", (1, 2, 3, 4)))
    assert fabric.suites["s"].stages[0].sweep == Sweep(axes, 4)


@settings(max_examples=60)
@given(st.integers(0, 10**9), st.integers(0, 999), st.integers(1, 10**6), st.integers(0, 10**6))
def test_a_range_goes_by_its_step_up_to_its_end(low: int, steps: int, step: int, rest: int) -> None:
    high = low + steps * step + rest % step
    found = parse_range(f"{low}..{high} +{step}")
    assert found == tuple(low + index * step for index in range(steps + 1))
    assert len(found) <= MOST_POINTS


@settings(max_examples=60)
@given(st.integers(1, 10**6), st.integers(2, 1000), st.integers(0, 12))
def test_a_range_grows_by_its_factor_up_to_its_end(low: int, factor: int, times: int) -> None:
    high = min(low * factor**times, 10**15 - 1)
    found = parse_range(f" {low} .. {high} x{factor}")
    assert found[0] == low
    assert all(after == before * factor for before, after in itertools.pairwise(found))
    assert found[-1] <= high < found[-1] * factor


@settings(max_examples=60)
@given(st.text("0123456789.x+- ", max_size=12))
def test_no_text_is_read_as_another_range(text: str) -> None:
    try:
        found = parse_range(text)
    except UnitError:
        return
    assert 1 <= len(found) <= MOST_POINTS
    assert list(found) == sorted(set(found))


@given(st.permutations(["512 B", "4 KiB", "64 kB", "1 MiB", "1 GB"]))
def test_sizes_are_sorted_by_what_they_say(values: list[str]) -> None:
    assert sort_values(tuple(values)) == ("512 B", "4 KiB", "64 kB", "1 MiB", "1 GB")
    assert sort_values((*values, "POSIX")) is None
    assert sort_values((*values, "4")) is None
    assert parse_number("inf") is None


def test_cohorts_are_labels_of_nodes() -> None:
    fabric = read('cohorts:\n  place: {here: "n[1-2]"}\n  kind: {virtual: "vm[1-2]", bare metal: "@compute!vm[1-2]"}\n')
    assert fabric.nodes[NodeId("n1")].cohorts == (("kind", "bare metal"), ("place", "here"))
    assert fabric.nodes[NodeId("vm2")].cohorts == (("kind", "virtual"),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'cohorts:\n  kind:\n    a: "n[1-2]"\n    b: "n[2-3]"\n',
            "x.yaml:7:8: n2, which is in the cohort 'a' (line 6), expected each node in one cohort of kind",
        ),
        ("cohorts: {kind: {a: n9}}\n", "x.yaml:4:21: unknown node n9, expected nodes or groups"),
        ("cohorts: {tasks: {a: n1}}\n", "x.yaml:4:11: the dimension 'tasks', expected a word of up to 40 letters"),
        (
            "cohorts: {depth: {a: n1}}\nsuites: {s: [{probe: ior, sweep: {depth: [1]}}]}\n",
            "x.yaml:4:11: the dimension 'depth', expected a word",
        ),
        ("cohorts: {two words: {a: n1}}\n", "x.yaml:4:11: the dimension 'two words', expected a word"),
        ("cohorts: {direction: {a: n1}}\n", "x.yaml:4:11: the dimension 'direction', expected a word"),
        ("cohorts: {kind: {mixed: n1}}\n", "x.yaml:4:18: the cohort 'mixed', expected up to 60 letters"),
        ("cohorts: {kind: {a to b: n1}}\n", "x.yaml:4:18: the cohort 'a to b', expected up to 60 letters"),
        ("cohorts: {kind: {}}\n", "x.yaml:4:17: no cohort, expected name: nodes"),
    ],
)
def test_cohorts_that_cannot_be_told_apart_are_refused(text: str, said: str) -> None:
    (found,) = problems(text)
    assert found.startswith(said)


@given(st.lists(st.none() | st.sampled_from(["virtual", "bare metal"]), min_size=1, max_size=4))
def test_a_test_between_cohorts_is_called_after_them(values: list[str | None]) -> None:
    found = name_cohort(values, ordered=False)
    assert (found is None) == (not any(values))
    assert found in (None, MIXED, *{value for value in values if value and set(values) == {value}})
    if len(values) == 2 and found == MIXED:
        assert name_cohort(values, ordered=True) == f"{values[0] or OTHER} to {values[1] or OTHER}"
        assert not is_value(str(name_cohort(values, ordered=True)))


def test_a_step_sets_an_axis_that_is_no_option() -> None:
    found = swept(
        "probe: ior, sweep: {tasks: [1, 2], queue: [500, 1000]}, "
        "steps: {queue: {run: [set, 'q={value}'], undo: [set, q=1000], nodes: 'n[1-2]', sudo: true, timeout: 2 min}}"
    )
    assert found == Sweep(
        (Axis("tasks", (1, 2)), Axis("queue", (500, 1000))),
        steps=(Step("queue", ("set", "q={value}"), ("set", "q=1000"), ("n1", "n2"), sudo=True, timeout=120.0),),
    )
    assert found is not None
    assert found.steps[0].make_command(500) == ("set", "q=500")


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        (
            "sweep: {tasks: [1]}, steps: {queue: {run: ['{value}'], undo: [x]}}",
            "a step for 'queue', expected one of tasks",
        ),
        ("sweep: {tasks: [1]}, steps: {tasks: {run: ['{value}'], undo: [x]}}", "tasks, an option of ior"),
        ("sweep: {queue: [1]}, steps: {queue: {run: [set], undo: [x]}}", "with {value} in one of them"),
        ("sweep: {queue: [1]}, steps: {queue: {run: ['{value}'], undo: []}}", "the command that sets it back"),
        ("sweep: {queue: [1]}, steps: {queue: {run: ['{value}'], undo: [x], nodes: z}}", "unknown node z"),
        ("sweep: {queue: [1]}, steps: {queue: {run: ['{value}']}}", "undo"),
        ("sweep: {queue: [1]}", "unknown axis 'queue'"),
        ("steps: {queue: {run: ['{value}'], undo: [x]}}", "steps without a sweep"),
    ],
)
def test_a_step_that_means_nothing_is_refused(stage: str, said: str) -> None:
    assert any(said in line for line in refused(f"probe: ior, {stage}")), refused(f"probe: ior, {stage}")
