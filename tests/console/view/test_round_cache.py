"""Rounds are read once, and again where something of them has changed."""

from benchconsole.console.view.events import SessionOpened
from benchconsole.console.view.reducer import advance, opened
from benchconsole.console.view.round_cache import RoundCache
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import Round
from benchconsole.topology.copying import replace
from tests.console.tui.fabrics import mini
from tests.console.tui.story import Faults, tell


def test_only_changed_rounds_are_read_again() -> None:
    first, *events = tell(mini(leaves=2, per_leaf=4), Faults()).events(tests=False)
    assert isinstance(first, SessionOpened)
    judged = [event for event in events if isinstance(event, ClosedRound)]
    asked: list[int] = []

    def read(_view: RunView, each: Round) -> object:
        asked.append(each.number)
        return object()

    def read_again(view: RunView) -> list[int]:
        asked.clear()
        cache.update(view, view.plan)
        return list(asked)

    cache = RoundCache(read)
    view = opened(first)
    every = [each.number for each in view.plan]
    assert read_again(view) == every
    assert read_again(view) == []
    view = advance(view, judged[0])
    assert read_again(view) == [judged[0].round.number]
    view = advance(view, judged[0])  # judged again: closed at the same times
    assert read_again(view) == [judged[0].round.number]
    repeated = replace(view, replaced=frozenset({judged[0].results[0].test.id}))
    assert read_again(repeated) == [judged[0].round.number]
    assert read_again(view) == [judged[0].round.number]  # a replay went back to before it was repeated
    assert read_again(view) == []
    assert read_again(replace(view, session="another")) == every
    kept = cache.update(view, view.plan[:1])
    assert cache.update(view, view.plan[:1]) == kept
    assert list(kept) == every[:1]
