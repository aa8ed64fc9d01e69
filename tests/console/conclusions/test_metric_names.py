"""The names of compared metrics: what tells two apart stands first, and is in sight at every width."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from benchconsole.console.conclusions.metric_names import MetricName, choose_telling, name_among, name_metrics
from benchconsole.console.conclusions.metric_samples import MetricSample, SampleKey
from benchconsole.console.conclusions.session_comparison import ComparedMetric, Outcome
from benchconsole.topology.units import Shown, Unit


def metric(
    labels: Mapping[str, str] | None = None, name: str = "iperf3.stream", stage: str = "pairs",
    outcome: Outcome = Outcome.MIXED,
) -> ComparedMetric:  # fmt: skip
    """A metric whose numbers do not matter."""
    pairs = tuple(sorted((labels or {}).items()))
    key = SampleKey(stage, name.partition(".")[0], name, Unit.BYTE_RATE, pairs)
    return ComparedMetric(MetricSample(key, Shown.NETWORK, np.array([1.0]), []), pairs, outcome)


def confirmed() -> list[ComparedMetric]:
    """Eight streams of a first round, and of one that was run with other options to confirm it."""
    options = ({"omit": "1", "seconds": "5", "streams": "8"}, {"omit": "2", "seconds": "20", "streams": "8"})
    return [metric({**each, "stream": str(number)}) for each in options for number in range(1, 9)]


def test_what_differs_most_is_told_first_and_what_follows_from_it_last() -> None:
    metrics = confirmed()
    names = name_metrics(metrics)
    assert names[metrics[0]] == MetricName("iperf3.stream", "stream=1 omit=1", "seconds=5")
    assert names[metrics[-1]].text == "iperf3.stream stream=8 omit=2 seconds=20"
    assert len({names[each].telling for each in metrics}) == len(metrics)


def test_labels_that_all_of_one_name_have_are_left_out_whatever_others_have() -> None:
    alone, read, write = metric({"omit": "1"}), metric({"op": "read"}, "fio.bw"), metric({"op": "write"}, "fio.bw")
    names = name_metrics([alone, read, write])
    assert [names[each].text for each in (alone, read, write)] == ["iperf3.stream", "fio.bw read", "fio.bw write"]


def test_a_label_that_only_some_have_tells_them_from_the_others() -> None:
    plain, sized = metric({}), metric({"size": "64"})
    names = name_metrics([plain, sized])
    assert (names[plain].text, names[sized].text) == ("iperf3.stream", "iperf3.stream size=64")


def test_the_stage_is_told_where_the_labels_are_the_same() -> None:
    first, again, other = metric(stage="pairs"), metric(stage="confirm"), metric({"op": "in"})
    names = name_metrics([first, again, other])
    assert [names[each].text for each in (first, again, other)] == [
        "iperf3.stream pairs", "iperf3.stream confirm", "iperf3.stream in",
    ]  # fmt: skip


def test_text_of_a_node_is_text() -> None:
    one, other = metric({"x": "\x1b[31m", "y": "1"}), metric({"x": "b", "y": "2"})
    assert "\x1b" not in name_metrics([one, other])[one].text


LABELS = some.lists(some.dictionaries(some.sampled_from("abcd"), some.sampled_from("123")), min_size=1, max_size=12)


@given(LABELS)
def test_what_is_chosen_tells_as_many_apart_as_all_labels_do_and_none_is_in_vain(labels: list[dict[str, str]]) -> None:
    def count(names: tuple[str, ...]) -> int:
        return len({tuple(own.get(name) for name in names) for own in labels})

    chosen = choose_telling(labels)
    assert count(chosen) == count(("a", "b", "c", "d"))
    counts = [count(chosen[:number]) for number in range(len(chosen) + 1)]
    assert counts == sorted(set(counts))


@pytest.mark.parametrize("labels", [[], [{}], [{}, {}], [{"a": "1"}]])
def test_nothing_is_chosen_where_nothing_differs(labels: list[dict[str, str]]) -> None:
    assert choose_telling(labels) == ()


def test_one_metric_is_named_among_the_others() -> None:
    metrics = confirmed()
    assert name_among(metrics[2], metrics) == "iperf3.stream stream=3 omit=1 seconds=5"
    assert name_among(metric({"x": "1"}), metrics) == "iperf3.stream"
