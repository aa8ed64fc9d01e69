"""The basis on which two sessions are compared, and each refusal with its reason; views are built by hand."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pytest
from msgspec.structs import force_setattr

from benchconsole.console.conclusions.metric_samples import list_samples
from benchconsole.console.conclusions.session_comparison import (
    ComparedMetric,
    ComparisonChoice,
    Outcome,
    Side,
    compare_sides,
    part_session,
    sum_up,
)
from benchconsole.console.conclusions.session_differences import ABSENT, compare_facts, read_facts
from benchconsole.console.conclusions.statistic_lines import list_groupings, list_statistics
from benchconsole.console.reports.statistics_section import format_trend
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.measuring import Fact
from benchconsole.topology.copying import replace
from benchconsole.topology.model.cable import Cable
from benchconsole.topology.model.fabric import Comparator, Fabric
from benchconsole.topology.units import Unit
from tests.console.reports.building import Story, fabric

NODES = [f"n{number:02d}" for number in range(1, 13)]
SENSES = {"stream.triad": Comparator.AT_LEAST, "ping.rtt": Comparator.AT_MOST}
CHOICE = ComparisonChoice(SENSES)


def measure(
    factor: float,
    seed: int,
    nodes: list[str] = NODES,
    metric: str = "stream.triad",
    stage: str = "stream",
    **tags: str | int,
) -> RunView:
    story = Story(fabric())
    noise = np.random.default_rng(seed).normal(0, 0.01, len(nodes))
    unit = Unit.SECOND if metric.endswith("rtt") else Unit.BYTE_RATE
    for test, each in zip(story.round(stage, metric.partition(".")[0], nodes), noise, strict=True):
        story.answer(test, metric, factor * float(np.exp(each)), unit, raw="", **tags)
    return story.view()


def compare(one: RunView, other: RunView, choice: ComparisonChoice = CHOICE) -> tuple[ComparedMetric, ...]:
    return compare_sides(Side("A", list_samples(one)), Side("B", list_samples(other)), choice)


@pytest.mark.parametrize(
    ("metric", "factor", "outcome"),
    [
        ("stream.triad", 1.1, Outcome.BETTER),
        ("stream.triad", 0.9, Outcome.WORSE),
        ("stream.triad", 1.0, Outcome.SAME),
        ("ping.rtt", 1.1, Outcome.WORSE),
        ("ping.rtt", 0.9, Outcome.BETTER),
        ("odd.rate", 1.1, Outcome.HIGHER),
        ("odd.rate", 0.9, Outcome.LOWER),
    ],
)
def test_the_sense_of_a_metric_tells_better_from_worse(metric: str, factor: float, outcome: Outcome) -> None:
    (found,) = compare(measure(1.0, 1, metric=metric), measure(factor, 2, metric=metric))
    assert found.outcome is outcome


def test_a_number_that_no_machine_gives_is_counted_and_none_of_a_sample() -> None:
    story = Story(fabric())
    for place, test in enumerate(story.round("stream", "stream", NODES)):
        story.answer(test, "stream.triad", 1.7e308 if place < 2 else 1e9, Unit.BYTE_RATE, raw="")
    (sample,) = list_samples(story.view())
    assert (len(sample.values), len(sample.tests), sample.left_out) == (10, 10, 2)
    (line,) = list_statistics(story.view())
    assert line.summary.mean == 1e9


def test_unlike_labels_are_refused_once_with_the_nearest() -> None:
    found = compare(measure(1, 1, threads=16, kernel="triad"), measure(1, 2, threads=24, kernel="triad"))
    assert [(each.outcome, each.why) for each in found] == [(Outcome.NOT_COMPARABLE, "threads 16 against 24")]


def test_labels_that_were_meant_to_differ_are_no_obstacle() -> None:
    choice = ComparisonChoice(SENSES, frozenset({"threads"}))
    (found,) = compare(measure(1, 1, threads=16), measure(1.2, 2, threads=24), choice)
    assert found.outcome is Outcome.BETTER


def test_unlike_statistics_are_refused() -> None:
    (found,) = compare(measure(281, 1, statistic="highest"), measure(279, 2, statistic="mean"))
    assert found.why == "statistic highest against mean"


def test_unlike_options_are_refused() -> None:
    one, other = measure(1, 1), measure(1, 2)
    for view, seconds in ((one, 5), (other, 60)):
        for result in view.results.values():
            force_setattr(result.test.target, "options", {"seconds": seconds, "streams": 4})
    (found,) = compare(one, other)
    assert (found.outcome, found.why) == (Outcome.NOT_COMPARABLE, "seconds 5 against 60")
    (found,) = compare(one, other, ComparisonChoice(SENSES, frozenset({"seconds"})))
    assert found.outcome is Outcome.SAME


def test_other_nodes_are_refused_unless_they_are_meant() -> None:
    one, other = measure(1, 1, NODES[:6]), measure(1.2, 2, NODES[6:])
    (found,) = compare(one, other)
    assert (found.outcome, found.why) == (Outcome.NOT_COMPARABLE, "of other nodes: n[01-06] against n[07-12]")
    (found,) = compare(one, other, ComparisonChoice(SENSES, unpaired=True))
    assert found.outcome is Outcome.BETTER
    assert found.comparison is not None
    assert found.comparison.number == (6, 6)


def test_only_nodes_of_both_count_and_the_others_are_counted() -> None:
    (found,) = compare(measure(1, 1, NODES[:8]), measure(1.2, 2, NODES[4:]))
    assert found.left_out == (4, 4)
    assert found.comparison is not None
    assert found.comparison.number == (4, 4)


def test_a_metric_of_one_alone_is_told() -> None:
    found = compare(measure(1, 1), measure(1, 2, metric="ping.rtt"))
    assert [each.why for each in found] == ["only A measured it", "only B measured it"]
    assert sum_up(found) is Outcome.NOT_COMPARABLE


def test_stages_of_another_name_are_matched_where_there_is_one() -> None:
    (found,) = compare(measure(1, 1, stage="memory"), measure(1.3, 2, stage="memory again"))
    assert found.outcome is Outcome.BETTER


def tell_tasks(*rates: tuple[int, float]) -> RunView:
    """Rates at numbers of tasks, one test each."""
    story = Story(fabric())
    for tasks, rate in rates:
        (test,) = story.round(f"ior {tasks}", "ior", ["n01"])
        story.answer(test, "ior.throughput", rate, Unit.BYTE_RATE, tasks=str(tasks))
    return story.view()


def test_what_was_varied_is_matched_after_what_is_alike_and_nothing_falls_off() -> None:
    before, after = tell_tasks((1, 96e6), (48, 885e6)), tell_tasks((1, 68e6), (32, 1253e6))
    found = compare(before, after, ComparisonChoice(SENSES, frozenset(("tasks",)), spread=0.05))
    assert [(each.labels, each.means) for each in found] == [
        ((("tasks", "1"),), (96e6, 68e6)),
        ((), (885e6, 1253e6)),
    ]


def test_several_that_may_be_meant_are_all_told() -> None:
    before, after = tell_tasks((48, 885e6)), tell_tasks((32, 1253e6), (64, 1200e6))
    found = compare(before, after, ComparisonChoice(SENSES, frozenset(("tasks",))))
    assert [each.outcome for each in found] == [Outcome.NOT_COMPARABLE] * len(found)
    assert {each.why for each in found} >= {"tasks 32 against 48: several may be meant"}
    assert {dict(each.labels)["tasks"] for each in found} == {"48", "64"}


def test_better_and_worse_together_are_mixed() -> None:
    """TACC: parallel write 885 to 1,253, read 14,611 to 14,217, one stream 239 to 95 MB/s."""

    def tell(write: float, read: float, single: float, seed: int) -> RunView:
        story = Story(fabric())
        noise = np.random.default_rng(seed).normal(0, 0.003, (3, 5))
        for repetition in range(5):
            (test,) = story.round(f"turn {repetition}", "ior", ["n01"])
            for value, name, each in zip((write, read, single), ("write", "read", "single"), noise, strict=True):
                story.answer(test, f"ior.{name}", value * 1e6 * float(np.exp(each[repetition])), Unit.BYTE_RATE)
        return story.view()

    def join(view: RunView) -> Side:
        """All repetitions as one stage, as a repeated stage of a plan is."""
        for each in view.plan:
            force_setattr(each, "stage", "ior")
        return Side("", list_samples(view))

    senses = dict.fromkeys(("ior.write", "ior.read", "ior.single"), Comparator.AT_LEAST)
    one, other = join(tell(885, 14611, 239, 1)), join(tell(1253, 14217, 95, 2))
    found = compare_sides(one, other, ComparisonChoice(senses, same=0.005))
    assert {each.like.key.metric: each.outcome for each in found} == {
        "ior.write": Outcome.BETTER, "ior.read": Outcome.WORSE, "ior.single": Outcome.WORSE,
    }  # fmt: skip
    assert sum_up(found) is Outcome.MIXED


def test_parts_of_a_session_are_compared_unpaired() -> None:
    story = Story(fabric())
    for test in story.round("stream", "stream", NODES):
        leaf = (int(test.target.node.id[1:]) - 1) // 4
        story.answer(test, "stream.triad", (100, 90, 90)[leaf] + int(test.target.node.id[1:]) * 0.1, Unit.BYTE_RATE)
    view = story.view()
    sides = part_session(view, list_groupings(view.fabric)["switch"], ("leaf1", "leaf2"))
    (found,) = compare_sides(*sides, ComparisonChoice(SENSES, unpaired=True))
    assert found.outcome is Outcome.WORSE
    assert found.comparison is not None
    assert found.comparison.number == (4, 4)


# -- statistics by parts


def test_statistics_of_the_whole_and_by_switch() -> None:
    view = measure(100e9, 1, threads=24)
    lines = list(list_statistics(view, ("switch",)))
    assert [(line.by, line.part, line.summary.number) for line in lines] == [
        ("", "", 12), ("switch", "leaf1", 4), ("switch", "leaf2", 4), ("switch", "leaf3", 4),
    ]  # fmt: skip
    assert lines[0].of_peak is None
    assert lines[0].fairness is not None


def test_flops_have_a_share_of_the_peak_of_their_nodes() -> None:
    story = Story(fabric())
    for test in story.round("hpl", "hpl", NODES):
        story.answer(test, "hpl.rate", 697e9, Unit.FLOP_RATE)
    (line,) = list_statistics(story.view())
    assert line.of_peak == pytest.approx(697 / 806.4)


def test_a_metric_or_a_probe_is_selected_by_name() -> None:
    view = measure(1, 1)
    assert [line.key.metric for line in list_statistics(view, metric="stream.triad")] == ["stream.triad"]
    assert [line.key.metric for line in list_statistics(view, metric="stream")] == ["stream.triad"]
    assert list(list_statistics(view, metric="stream.copy")) == []


# -- what else differs


def tell_facts(values: Mapping[str, Mapping[str, str | float]]) -> RunView:
    story = Story(fabric())
    for test in story.round("inventory", "inventory", list(values)):
        story.facts(test, *(Fact(name, value) for name, value in values[test.target.node.id].items()))
    return story.view()


def test_shared_changes_are_told_and_counters_are_named_alone() -> None:
    names = NODES[:4]
    before = tell_facts(
        {name: {"kernel.release": "4.18", "uptime": float(n), "gone": "x"} for n, name in enumerate(names)}
    )
    after = tell_facts({name: {"kernel.release": "5.14" if n else "4.18", "uptime": 100.0 + 3 * n}
                          for n, name in enumerate(names)})  # fmt: skip
    found = compare_facts(read_facts(before), read_facts(after))
    assert [(each.fact, each.before, each.after, each.number) for each in found.shared] == [
        ("gone", "x", ABSENT, 4),
        ("kernel.release", "4.18", "5.14", 3),
    ]
    assert found.by_themselves == ("uptime",)
    assert found.nodes == 4


def test_the_text_of_a_fact_is_made_safe() -> None:
    before, after = (tell_facts({"n01": {"os.name": f"\x1b[31m{each}"}}) for each in "ab")
    (change,) = compare_facts(read_facts(before), read_facts(after)).shared
    assert "\x1b" not in change.before + change.after


# -- cables


def pull_cables(lengths: Mapping[str, float]) -> Fabric:
    """The fabric with cables of these lengths at its nodes."""
    made = fabric()
    links = {
        link.id: replace(link, cable=Cable("copper", lengths[link.a])) if link.a in lengths else link
        for link in made.links.values()
    }
    return replace(made, links=MappingProxyType(links))


def measure_over(lengths: Mapping[str, float], loss: float) -> RunView:
    """Pairs of neighbours; each metre of cable costs ``loss`` of the rate."""
    story = Story(pull_cables(lengths))
    tests = [story.round("imb", "imb", [node])[0] for node in NODES]
    for test in tests:
        rate = 1e9 * (1 - loss * lengths.get(test.target.node.id, 1.0))
        story.answer(test, "imb.bandwidth", rate + int(test.target.node.id[1:]), Unit.BYTE_RATE)
    view = story.view()
    for each in view.plan:
        force_setattr(each, "stage", "imb")
    return view


def test_numbers_that_fall_with_the_length_of_cables_are_told_so() -> None:
    lengths = {node: float(1 + place % 6) for place, node in enumerate(NODES)}
    (line,) = [each for each in list_statistics(measure_over(lengths, 0.05)) if not each.by]
    assert line.length is not None
    assert line.length.number == 12
    assert line.length.coefficient < -0.9
    assert format_trend(line.length).startswith("falls as cables get longer: rank correlation -0.9")
    (flat,) = [each for each in list_statistics(measure_over(lengths, 0.0)) if not each.by]
    assert flat.length is not None
    assert format_trend(flat.length).startswith("does not follow the length of cables")


def test_cables_part_the_numbers_in_the_order_of_their_lengths() -> None:
    lengths = {node: (2.0, 10.0, 3.0)[place % 3] for place, node in enumerate(NODES)}
    lines = list(list_statistics(measure_over(lengths, 0.05), ("cable",)))
    assert [line.part for line in lines if line.by] == ["copper 2 m", "copper 3 m", "copper 10 m"]
    assert [line.length for line in lines if line.by] == [None] * 3


def test_without_a_described_length_nothing_is_said_of_it() -> None:
    view = measure(1, 1)
    assert "cable" not in list_groupings(view.fabric)
    assert [line.length for line in list_statistics(view)] == [None]
    few = dict.fromkeys(NODES[:7], 3.0)
    assert [line.length for line in list_statistics(measure_over(few, 0.05))] == [None]
