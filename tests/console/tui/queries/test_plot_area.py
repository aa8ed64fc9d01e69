"""The area of plots: every metric as a row, or one metric with its bins, quantiles, bounds and classes."""

import json

import numpy as np
import pytest

from benchconsole.console.conclusions.plotted_metric import Plot
from benchconsole.console.text.table import format_table
from benchconsole.console.tui.queries import plot_area
from benchconsole.console.tui.queries.plot_area import MOST_BINS, list_plotted
from benchconsole.probes.model.judgement import Level
from benchconsole.topology.copying import replace
from tests.console.conclusions.test_plotted_metric import judged, only, told
from tests.console.reports import fixture


def test_every_metric_is_a_row_with_its_bound_in_base_units() -> None:
    area = list_plotted(told([*judged(10.0, 8.0), (9.0, None, None)]))
    (row,) = area.rows
    assert (row.words("stage"), row.words("metric"), row.words("n")) == ("stage", "stream.triad", "3")
    assert (row.words("fails"), row.words("judged"), row.words("required")) == ("1", "2", "9.00 B/s")
    record = row.record
    assert (record["low"], record["median"], record["high"], record["required"]) == (8.0, 9.0, 10.0, 9.0)
    assert (record["unit"], record["judged"], record["fails"]) == ("B/s", 2, 1)


def test_a_metric_of_one_value_is_counted_and_not_listed() -> None:
    area = list_plotted(told(judged(10.0)))
    assert (area.rows, area.note) == ((), "1 metric with fewer than 2 values not listed")


def test_one_metric_is_told_by_bins_that_hold_every_value_and_by_quantiles_that_rise() -> None:
    values = [float(value) for value in range(1, 13)]
    area = list_plotted(told(judged(*values)), "stream.triad")
    bins = [each for each in area.records if each["kind"] == "bin"]
    assert 1 <= len(bins) <= MOST_BINS
    assert sum(int(str(each["count"])) for each in bins) == len(values)
    assert (bins[0]["from"], bins[-1]["to"], bins[-1]["at_or_below"]) == (1.0, 12.0, 1.0)
    quantiles = [float(str(each["value"])) for each in area.records if each["kind"] == "quantile"]
    assert quantiles == sorted(quantiles)
    assert (quantiles[0], quantiles[-1]) == (1.0, 12.0)
    (bound,) = (each for each in area.records if each["kind"] == "bound")
    assert (bound["required"], bound["judged"], bound["fails"]) == (9.0, 12, 8)
    assert json.loads(json.dumps(area.records)) == area.records


def test_edges_of_narrow_bins_are_told_apart() -> None:
    area = list_plotted(told(judged(*(9.9e9 + step * 1e6 for step in range(12)))), "stream.triad")
    edges = [row.words("from") for row in area.rows if row.record["kind"] == "bin"]
    assert len(set(edges)) == len(edges) > 1


def test_bins_are_filtered_by_their_count() -> None:
    area = list_plotted(told([(1.0, Level.PASS, 0.5)] * 9 + [(2.0, Level.PASS, 0.5)]), "stream.triad")
    kept = area.filter("kind=bin & count>0").records
    assert [each["count"] for each in kept] == [9, 1]


def test_one_value_above_all_bins_but_the_last_is_not_rounded_away(monkeypatch: pytest.MonkeyPatch) -> None:
    few = only(told(judged(1.0, 2.0)))
    many = replace(few, values=np.array([1.0] * 400 + [2.0]), tests=[few.tests[0]] * 401, ids=[""] * 401)
    monkeypatch.setattr(plot_area, "list_plots", lambda _view: (Plot((many,)),))
    area = list_plotted(told(judged(1.0, 2.0)), "stream.triad")
    shares = [row.words("share") for row in area.rows if row.record["kind"] == "bin"]
    assert shares[0] == "99.8 %"
    assert shares[-1] == "100 %"
    assert "100 %" not in shares[:-1]


def test_hostile_names_are_only_text() -> None:
    view = fixture.poisoned("\x1b[31mred\u202eb")
    names = {str(each["metric"]) for each in list_plotted(view).records}
    assert names
    for metric in ("", *names):
        lines = list(format_table(list_plotted(view, metric).table, 100))
        assert len(lines) > 2
        assert not set("".join(lines)) & set("\x1b\u202e")


def test_the_axis_of_each_metric_is_told() -> None:
    ends = (1.0, 100.0), (1.0, 99.0)
    wide, narrow = (list_plotted(told([(value, None, None) for value in values])) for values in ends)
    assert [area.rows[0].words("axis") for area in (wide, narrow)] == ["log", "linear"]
    assert [area.rows[0].record["axis"] for area in (wide, narrow)] == ["logarithmic", "linear"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((1.0, 250.0), "axis logarithmic: the highest value is 250 times the lowest"),
        ((1.0, 2.0), "axis linear: the highest value is less than 100 times the lowest"),
        ((0.0, 250.0), "axis linear: a value is 0 or below"),
    ],
)
def test_why_an_axis_is_as_it_is_is_told(values: tuple[float, ...], said: str) -> None:
    area = list_plotted(told([(value, None, None) for value in values]), "stream.triad")
    (row,) = (row for row in area.rows if row.record["kind"] == "axis")
    assert row.words("said") == said
    assert (row.record["low"], row.record["high"]) == values


def test_bins_of_a_logarithmic_axis_are_of_one_ratio() -> None:
    values = [float(2**power) for power in range(12)]
    area = list_plotted(told([(value, None, None) for value in values]), "stream.triad")
    bins = [each for each in area.records if each["kind"] == "bin"]
    ratios = [float(str(each["to"])) / float(str(each["from"])) for each in bins]
    assert len(bins) > 1
    assert ratios == pytest.approx([ratios[0]] * len(ratios))
    assert (bins[0]["from"], bins[-1]["to"]) == (1.0, 2048.0)
