"""The loads that are shown are computed where something was told, and not for each picture."""

from benchconsole.console.view.latest_loads import LatestLoads
from benchconsole.topology.copying import replace
from tests.console.view.test_link_loads import rate, running


def test_loads_are_computed_again_only_where_something_is_told_or_all_is_over() -> None:
    view, latest = running({"1": (rate(4e8),), "2": (rate(2e8),)}), LatestLoads()
    first = latest.update(view)
    assert first is not None
    assert latest.update(replace(view, running=view.running - {"1"})) is first
    told = latest.update(replace(view, intervals={"1": (rate(1e8),)}))
    assert told is not None
    assert told is not first
    assert latest.update(view) is not told
    over = latest.update(replace(view, running=frozenset("34")))
    assert over is not None
    assert over.telling == 0
    assert latest.update(replace(view, current=None, ways=None, intervals={})) is None
