"""Areas as tables and records: the rows of the screen, its filters, safe text, numbers that JSON has."""

import json

import pytest

from benchconsole.console.text.table import format_table
from benchconsole.console.tui.queries.areas import AREAS, list_findings, list_links, list_nodes, list_rounds
from benchconsole.console.tui.queries.filtering import FilterError
from tests.console.reports import fixture

NASTY = "\x1b]52;c;aGVsbG8=\x07\x1b[31mred\x9b2J a\u202eb line\nbreak\r\ttab"


def test_nodes_are_those_of_the_fabric_with_their_states() -> None:
    view = fixture.poisoned("harmless")
    area = list_nodes(view)
    assert [row.record["node"] for row in area.rows] == list(view.fabric.nodes)
    assert [row.record["state"] for row in area.rows] == [seen.state.value for seen in view.nodes.values()]
    failed = area.filter("state=fail").records
    assert {each["state"] for each in failed} == {"fail"}
    assert "n05" in [each["node"] for each in failed]
    assert len(area.filter("state!=fail").rows) == len(area.rows) - len(failed)
    assert len(area.filter("leaf1 & !n01").rows) == 3


def test_numbers_are_filtered_in_the_unit_of_their_column() -> None:
    area = list_links(fixture.poisoned("harmless"))
    (lost,) = area.filter("measured<15 & state=fail").rows
    assert lost.record["link"] == "leaf1-sp1"
    assert (lost.record["cables"], lost.record["members_up"]) == (2, 1)
    assert lost.record["unit"] == "B/s"
    assert lost.words("share") == "75 %"
    assert area.filter("measured<1 Gb/s").rows == ()
    with pytest.raises(FilterError):
        area.filter("speed>3")


def test_a_link_that_nothing_was_sent_over_is_untested() -> None:
    (row,) = (row for row in list_links(fixture.poisoned("harmless")).rows if row.record["link"] == "leaf1-sp2")
    assert (row.words("state"), row.record["measured"]) == ("untested", None)


def test_findings_come_before_nodes_that_were_not_judged() -> None:
    rows = list_findings(fixture.poisoned("harmless")).rows
    assert [row.words("state") for row in rows] == ["watch", "fail", "fail", "no ssh", "unknown"]
    assert [row.record.get("suspect") is None for row in rows] == [False] * 3 + [True] * 2
    assert rows[3].record["nodes"] == ["n12"]


def test_rounds_count_what_gave_a_result() -> None:
    view = fixture.poisoned("harmless")
    rows = list_rounds(view).rows
    assert [row.record["round"] for row in rows] == [each.number for each in view.plan]
    ways = ("tests", "tested", "failed", "unreachable", "skipped")
    ended = [tuple(row.record[name] for name in ways) for row in rows]
    assert ended[:2] == [(14, 13, 0, 1, 0), (12, 10, 0, 1, 1)]
    assert [rows[0].words(name) for name in ways] == ["14", "13", "", "1", ""]
    planned = list_rounds(fixture.empty()).rows
    assert {row.record["state"] for row in planned} <= {"planned", "running"}


@pytest.mark.parametrize("name", AREAS)
def test_hostile_text_is_shown_as_text_and_records_are_json(name: str) -> None:
    area = AREAS[name](fixture.poisoned(NASTY))
    assert area.rows or name in ("curves", "pairs", "logs")  # their tests have their own
    for line in format_table(area.table, 120) if area.rows else ():
        assert line.isprintable(), repr(line)
        assert "\u202e" not in line
    json.dumps(area.records, allow_nan=False)


@pytest.mark.parametrize("name", AREAS)
def test_a_session_without_results_has_areas_too(name: str) -> None:
    view = fixture.empty()
    area = AREAS[name](view)
    json.dumps(area.records, allow_nan=False)
    fabric = view.fabric
    there = {"nodes": len(view.nodes), "links": len(fabric.links), "criteria": len(fabric.criteria)}
    assert len(area.rows) == there.get(name, 0)
