"""Loads on Run: bundles and uplinks share the room, and what does not fit is counted."""

from typing import Never

import pytest

from benchconsole.console.tui.queries.uplink_loads import UplinkLoad, list_uplink_loads
from benchconsole.console.tui.rows.text_rows import plain_text
from benchconsole.console.tui.widgets.loads import LoadsView, TargetLoad, loads
from benchconsole.console.view.link_loads import WayLoad, compute_link_loads
from benchconsole.probes.model.measuring import Result
from benchconsole.topology.copying import replace
from tests.console.view.test_link_loads import rate, running

BUNDLES = tuple(TargetLoad(f"bundle{each}", 1e9, 2e9, 1, 2) for each in range(6))
WAY = WayLoad(5e8, 1e9, 2e9, 2, 2)
UPLINKS = tuple(UplinkLoad(f"leaf{each}", WAY, WAY) for each in range(6))


def draw(height: int, bundles: tuple[TargetLoad, ...], uplinks: tuple[UplinkLoad, ...], width: int = 120) -> list[str]:
    view = LoadsView()
    view.loads, view.uplinks = bundles, uplinks
    return [plain_text(row) for row in view.draw(width, height)]


def test_uplinks_say_out_and_in_beside_what_is_expected() -> None:
    view = running({"1": (rate(4e8),), "2": (rate(2e8),), "3": (rate(1e8),), "4": (rate(1e8),)})
    head, *rows = draw(9, (), list_uplink_loads(view, compute_link_loads(view)))
    assert head.split() == ["uplinks", "now,", "Gb/s", "out", "expected", "in", "expected", "through"]
    (leaf1,) = (row for row in rows if "leaf1" in row)
    assert leaf1.split()[1] == "6.4"
    assert "4 flows out, 0 in" in leaf1


def test_what_a_silent_flow_carries_beside_is_not_hidden() -> None:
    view = running({"1": (rate(4e8),)})
    rows = draw(9, (), list_uplink_loads(view, compute_link_loads(view)))
    assert any("≥ 3.2" in row and "1 tell" in row for row in rows)


@pytest.mark.parametrize("height", range(10))
@pytest.mark.parametrize("width", [60, 80, 120])
def test_both_parts_fit_and_what_does_not_is_counted(height: int, width: int) -> None:
    rows = draw(height, BUNDLES, UPLINKS, width)
    assert len(rows) <= height
    if height >= 8:
        assert any("bundle0" in row for row in rows)
        assert any("leaf0" in row for row in rows)
        assert sum(" more" in row for row in rows) == 2


def test_all_is_shown_where_there_is_room() -> None:
    rows = draw(14, BUNDLES, UPLINKS)
    assert len(rows) == 14
    assert not any(" more" in row for row in rows)
    assert draw(9, (), ()) == []


class Unread(dict[str, Result]):
    """The results of a round of ten thousand tests: nothing may go through all of them for nothing."""

    def values(self) -> Never:
        raise AssertionError


def test_a_round_without_bundles_has_no_load_and_its_tests_are_not_summed() -> None:
    view = running({"1": (rate(4e8),)})
    assert view.current is not None
    assert loads(replace(view, current=replace(view.current, bundles=()), fresh=Unread())) == ()
    assert loads(replace(view, current=None)) == ()
