"""Sessions with little to show: nothing planned, one node, everything failed, all values alike. No data is not 0."""

from collections.abc import Iterator

import pytest

from benchconsole.console.view.events import Event, SessionEnded, SessionOpened
from benchconsole.console.view.reducer import advance, opened
from benchconsole.console.view.run_view import RunView, State, tally
from benchconsole.console.view.session_verdict import decide
from benchconsole.console.view.time_left import eta
from benchconsole.console.view.totals import compute_totals
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import SwitchRole
from tests.console.tui.fabrics import Builder, mini
from tests.console.tui.looking import Look, looking
from tests.console.tui.story import Faults, Story, tell

pytestmark = pytest.mark.fault("F38")


class Opened(Story):
    """A session of which nothing was planned."""

    def events(self, *, tests: bool = True) -> Iterator[Event]:
        yield SessionOpened("s0", "", self.fabric, "default", (), self.began)


class Bare(Story):
    """A session that ended without a plan."""

    def events(self, *, tests: bool = True) -> Iterator[Event]:
        yield SessionOpened("s0", "", self.fabric, "default", (), self.began)
        yield SessionEnded(self.began, complete=True)


def lone() -> Story:
    made = Builder("lone")
    made.switch("leaf1", SwitchRole.LEAF)
    made.node("n1")
    made.link("n1", "leaf1", 10)
    story = Story(made.build())
    first = tell(mini(leaves=1, per_leaf=2), Faults())
    judged = first.closed[0]
    node = next(iter(story.fabric.nodes.values()))
    test = replace(judged.round.tests[0], target=replace(judged.round.tests[0].target, node=node))
    each = replace(judged.round, tests=(test,), bundles=())
    result = replace(judged.results[0], test=test)
    verdicts = tuple(
        verdict._replace(subject="n1", nodes=("n1",)) for verdict in judged.verdicts if verdict.test == test.id
    )
    story.rounds = [each]
    story.closed = [replace(judged, round=each, results=(result,), verdicts=verdicts)]
    return story


def all_failed(stage: FailedAt) -> Story:
    story = tell(mini(leaves=2, per_leaf=4), Faults())
    made = []
    for judged in story.closed:
        failed = tuple(
            replace(r, measurements=(), outputs=(), failure=Failure(stage, "it failed", r.test.target.node.id))
            for r in judged.results
        )
        made.append(replace(judged, results=failed, verdicts=(), findings=()))
    story.closed = made
    return story


def alike() -> Story:
    """Every value is the same to the last bit: no spread to divide by."""
    story = tell(mini(leaves=2, per_leaf=4), Faults())
    made = []
    for judged in story.closed:
        first = judged.results[0].measurements[0]
        results = tuple(
            replace(r, measurements=tuple(replace(first, id=m.id, at=m.at) for m in r.measurements), seconds=0.0)
            for r in judged.results
        )
        verdicts = tuple(verdict._replace(value=0.0, expected=0.0) for verdict in judged.verdicts)
        made.append(replace(judged, results=results, ended=judged.started, verdicts=verdicts, findings=()))
    story.closed = made
    return story


STORIES = {
    "opened": Opened(mini(leaves=1, per_leaf=2)),
    "empty": Bare(mini(leaves=1, per_leaf=2)),
    "no fabric": Bare(Builder("nothing").build()),
    "one node": lone(),
    "all failed": all_failed(FailedAt.TOOL),
    "all timed out": all_failed(FailedAt.TIMEOUT),
    "none reached": all_failed(FailedAt.UNREACHABLE),
    "all alike": alike(),
}


def folded(story: Story) -> RunView:
    first, *events = story.events()
    assert isinstance(first, SessionOpened)
    view = opened(first)
    for event in events:
        view = advance(view, event)
    return view


async def everything(look: Look) -> list[str]:
    seen = []
    for mode in ("fabric", "nodes", "run", "findings"):
        look.app.navigation.go_to(mode)
        await look.settle()
        seen.append(look.text)
    return seen


@pytest.mark.parametrize(("place", "name"), list(enumerate(STORIES)))
async def test_every_screen_draws_it(place: int, name: str) -> None:
    story = STORIES[name]
    async with looking(story, ((60, 15), (120, 40))[place % 2]) as look:
        for seen in await everything(look):
            assert seen.strip()
            assert "nan" not in seen.lower().replace("nanosecond", "")
        if story.fabric.nodes:
            look.app.navigation.open_node(next(iter(story.fabric.nodes)))
            await look.settle()
            assert look.app.is_running


@pytest.mark.parametrize("name", STORIES)
def test_its_sums_are_sums_and_nothing_is_divided_by_nothing(name: str) -> None:
    view = folded(STORIES[name])
    covered = compute_totals(view).covered
    assert covered.tested + covered.failed + covered.unreachable + covered.skipped <= covered.planned
    assert sum(tally(view).values()) == len(view.nodes)
    assert decide(view).exit_code() in (0, 1, 3)
    assert all(each.left >= 0 for each in compute_totals(view).stages)
    assert eta(view, view.started + 1.0) is None or not view.closed


def test_no_data_is_never_a_pass() -> None:
    for name in ("all failed", "all timed out", "none reached"):
        view = folded(STORIES[name])
        assert State.PASS not in tally(view)
        assert decide(view).exit_code() == 3
