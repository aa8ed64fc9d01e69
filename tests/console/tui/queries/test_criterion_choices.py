"""The choices for the fields of a criterion: from the measured numbers, beginnings first."""

from benchconsole.console.tui.queries.criterion_choices import CriterionChoices, list_choices
from benchconsole.console.view.reducer import advance_all, opened
from benchconsole.console.view.run_view import RunView
from tests.console.tui.looking import begin, faulty


def told() -> RunView:
    story = faulty()
    return advance_all(opened(begin(story)), list(story.events())[1:])


def test_metrics_are_those_that_were_measured_with_their_numbers() -> None:
    found = list_choices(told())
    assert "iperf3.throughput" in found.metrics
    assert "numbers, " in found.metrics["iperf3.throughput"]
    assert "b/s" in found.metrics["iperf3.throughput"]
    assert [name for name, _ in found.complete("metric", "through", "")] == ["iperf3.throughput"]
    assert next(name for name, _ in found.complete("metric", "IPERF", "")).startswith("iperf3.")


def test_a_word_that_begins_so_comes_before_one_that_holds_it() -> None:
    found = CriterionChoices({"fio.read": "", "read.rate": ""})
    assert [name for name, _ in found.complete("metric", "read", "")] == ["read.rate", "fio.read"]


def test_labels_are_those_of_the_metric_and_groups_are_nodes() -> None:
    found = CriterionChoices({}, {"a.b": ("threads: 8",)}, ("@storage",))
    assert found.complete("where", "thr", "a.b") == [("threads: 8", "")]
    assert found.complete("where", "thr", "a.c") == []
    assert found.complete("nodes", "@", "a.b") == [("@storage", "")]
    assert [name for name, _ in found.complete("of", "p", "a.b")] == ["peak", "peers", "capacity"]
    assert found.complete("source", "4", "a.b") == []
