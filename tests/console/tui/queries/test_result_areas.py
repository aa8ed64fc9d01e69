"""The areas of what was measured: results, pairs, curves, criteria."""

import json
from collections.abc import Callable

import pytest

from benchconsole.console.text.table import format_table
from benchconsole.console.tui.queries.area import Area
from benchconsole.console.tui.queries.result_areas import list_criteria, list_curves, list_pairs, list_results
from benchconsole.console.view.result_rows import list_current_rows
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import Unit
from tests.console.curves.test_curve_model import view_of
from tests.console.reports import fixture
from tests.console.tui.looking import faulty
from tests.console.tui.test_hostile import poisoned

Make = Callable[[RunView, int | None], Area]
HOSTILE = "\x1b[31mred\u202e line\nbreak"


def test_results_are_the_rows_that_count() -> None:
    view = fixture.poisoned("harmless")
    rows = list_results(view).rows
    assert [(row.record["of"], row.record["state"]) for row in rows] == [
        (row.subject, row.state.value) for row in list_current_rows(view)
    ]
    assert {row.record["outcome"] for row in rows} > {"tested", "unreachable"}


def test_labels_that_tell_numbers_apart_stand_before_those_of_all() -> None:
    view = view_of({"1": [[100e6]], "2": [[190e6]]}, cohorts=("",))
    rows = [row for row in list_results(view).rows if row.record["labels"]]
    varied = {name for row in rows for name in _list_varied(row.record["labels"], rows[0].record["labels"])}
    assert len(rows) > 1
    assert varied
    for row in rows:
        own = row.record["labels"]
        assert isinstance(own, dict)
        told = [f"{name}={own[name]}" if own[name][:1].isdigit() else own[name] for name in own if name in varied]
        assert row.words("labels").split()[: len(told)] == told


def _list_varied(one: object, other: object) -> set[str]:
    assert isinstance(one, dict)
    assert isinstance(other, dict)
    return {name for name in {**one, **other} if one.get(name) != other.get(name)}


def test_pairs_begin_with_the_lowest_share_and_name_both_ends() -> None:
    view = faulty().view()
    rows = list_pairs(view).rows
    shares = [share for row in rows if (share := row.number("share")) is not None]
    assert len(shares) > 2
    assert shares == sorted(shares)
    first = rows[0].record
    result = view.results[str(first["test"])]
    assert result.test.target.peer is not None
    assert (first["from"], first["to"]) == (result.test.target.node.id, result.test.target.peer.id)
    assert first["unit"] == "B/s"
    low = list_pairs(view).filter("share<80").rows
    assert low == tuple(row for row in rows if (row.number("share") or 1.0) < 0.8)
    assert low


@pytest.mark.parametrize("make", [list_results, list_pairs])
def test_of_too_many_rows_those_that_pass_are_counted_and_the_others_stand_as_they_did(make: Make) -> None:
    view = faulty().view()
    every = make(view, None)
    passing = [row for row in every.rows if row.words("state") == "pass"]
    assert 0 < len(passing) < len(every.rows)
    assert make(view, len(every.rows)) == every
    fewer = make(view, len(every.rows) - 1)
    assert fewer.rows == tuple(row for row in every.rows if row.words("state") != "pass")
    assert fewer.note == "; ".join(filter(None, (f"{len(passing):,} that pass are not listed", every.note)))


def test_a_pass_of_a_test_that_failed_is_no_pass_and_one_that_was_repeated_is_not_counted() -> None:
    story = fixture.Story(fixture.fabric())
    (first,) = story.round("node", "stream", ["n01"])
    (again,) = story.round("node", "stream", ["n01"])
    (failed,) = story.round("node", "stream", ["n02"])
    for test in (first, again):
        number = story.answer(test, "stream.triad", 1e9, Unit.BYTE_RATE)
        story.judge(test, fixture.verdict(test, number, Level.PASS))
    story.fail(failed, FailedAt.TOOL, "exit status 1")
    story.judge(failed, fixture.verdict(failed, None, Level.PASS, metric="stream.triad"))
    area = list_results(story.view(), 0)
    assert [(row.words("of"), row.words("state")) for row in area.rows] == [("n02", "unknown")]
    assert area.note == "1 that pass are not listed"


def test_hostile_names_of_pairs_are_shown_as_text() -> None:
    area = list_pairs(poisoned(HOSTILE).view())
    assert area.rows
    for line in format_table(area.table, 120):
        assert line.isprintable(), repr(line)


def test_points_of_curves_have_their_spread_and_what_is_missing() -> None:
    lost = Failure(FailedAt.TIMEOUT, HOSTILE, NodeId("n1"))
    view = view_of({"1": [[100e6], [110e6]], "2": [[190e6], [210e6]], "4": [[lost], [lost]]}, cohorts=("",))
    one, two, four = list_curves(view).rows
    assert [one.words(name) for name in ("axis", "at", "low", "median", "high", "n", "gain")] == [
        "tasks", "1", "100 MB/s", "105 MB/s", "110 MB/s", "2", "",
    ]  # fmt: skip
    assert two.words("gain") == "+90%"
    assert two.record["values"] == [190e6, 210e6]
    assert (four.words("n"), four.record["median"]) == ("0", None)
    assert "2 timed out" in four.words("why")
    for line in format_table(list_curves(view).table, 120):
        assert line.isprintable(), repr(line)
    json.dumps(list_curves(view).records, allow_nan=False)


def test_a_gain_is_found_by_the_filter_of_words() -> None:
    view = view_of({"1": [[100e6]], "2": [[200e6]]}, cohorts=("",))
    assert [row.words("at") for row in list_curves(view).filter("gain~+100").rows] == ["2"]


@pytest.mark.parametrize("text", ["fail", "pass"])
def test_criteria_are_those_of_the_file_with_their_outcome(text: str) -> None:
    view = fixture.poisoned("harmless")
    area = list_criteria(view)
    assert [row.record["metric"] for row in area.rows] == [each.metric for each in view.fabric.criteria]
    for row in area.filter(f"state={text}").rows:
        assert f" {text}" in str(row.record["outcome"])


def test_a_row_makes_its_record_of_what_it_is_of_and_is_the_same_in_another_list() -> None:
    view = faulty().view()
    for make in (list_pairs, list_results):
        rows, again = make(view).rows, make(view).rows
        assert rows == again
        assert [row.record for row in rows] == [row.record for row in again]
        assert rows[0].record is not rows[0].record  # it is kept nowhere
        assert rows[0] != rows[1]
        assert [row.words("share") for row in rows] == [row.text["share"] for row in rows]
        assert rows[0].words("no column") == ""
        assert rows[0].number("no column") is None
