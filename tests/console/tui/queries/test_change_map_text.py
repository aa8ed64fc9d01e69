"""The text and the JSON of maps of changes: the cells of the screen, in blocks that fit, by switch where many."""

import json

import pytest

from benchconsole.console.conclusions.session_comparison import ComparedMetric
from benchconsole.console.conclusions.session_differences import FactChanges
from benchconsole.console.reports.comparison_page import ComparisonReport
from benchconsole.console.tui.queries.change_map_text import LEGEND, format_maps, make_map_record
from benchconsole.console.tui.queries.change_matrix import format_cell, make_change_matrix
from benchconsole.console.tui.queries.node_columns import under_of
from tests.console.conclusions.test_session_comparison import NODES
from tests.console.reports.building import fabric
from tests.console.tui.queries.test_change_matrix import changed, pairs


def report(*metrics: ComparedMetric) -> ComparisonReport:
    return ComparisonReport(("one", "other"), metrics, FactChanges((), (), 0), [], [], fabric=fabric(9))


def lost() -> ComparedMetric:
    """Twelve pairs, of which one lost 12 %."""
    before = pairs(NODES[:4], 100.0)
    return changed(before, {**before, "n01>n03": 88.0})


@pytest.mark.parametrize("width", [40, 80, 200])
def test_every_cell_of_the_screen_stands_in_the_text_and_no_line_is_too_wide(width: int) -> None:
    lines = list(format_maps(report(lost()), width))
    assert all(len(line) <= width for line in lines)
    assert "pairs from sender to receiver: 1 worse, 11 same" in " ".join(lines)
    assert [line.split() for line in lines if line.startswith("n01") and "▾" in line] == [
        ["n01", "·", "▾-12", "·", "-4"]
    ]
    assert "".join(LEGEND.split()) in "".join("".join(lines).split())


def test_columns_that_do_not_fit_stand_in_a_block_of_their_own() -> None:
    found = changed(pairs(NODES[:8], 100.0), pairs(NODES[:8], 99.9))
    lines = list(format_maps(report(found), 40))
    heads = [line.split() for line in lines if line.startswith("    ")]
    assert [name for head in heads for name in head] == [*NODES[:8], "mean"]
    assert len(heads) == 2


def test_the_record_has_the_cells_of_the_screen() -> None:
    metric = lost()
    (made,) = json.loads(json.dumps(make_map_record(report(metric))))["maps"]
    drawn = make_change_matrix(metric, under_of(fabric(9))).cells
    assert {(each["row"], each["column"]): each["outcome"] for each in made["cells"]} == {
        place: cell.turn.value for place, cell in drawn.items()
    }
    cell = next(each for each in made["cells"] if each["outcome"] == "worse")
    assert (cell["row"], cell["column"], cell["counts"]) == ("n01", "n03", {"worse": 1})
    assert cell["worst"]["change"] == pytest.approx(-0.12)
    assert cell["worst"]["apart"] is True
    assert format_cell(drawn["n01", "n03"]) == "▾-12"


def test_what_has_no_map_gives_no_line() -> None:
    assert list(format_maps(report(), 80)) == []
