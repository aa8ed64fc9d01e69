"""The fold: in batches as one by one, older views untouched, and no more work than an event brings."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.console.cli.event_lines import format_proofs
from benchconsole.console.session.controller import as_stored
from benchconsole.console.view import reducer
from benchconsole.console.view.element_state import apply_findings, read_session_links
from benchconsole.console.view.events import (
    CANARY,
    CANARY_NONE,
    SPARED,
    SPARED_NONE,
    WAVES,
    Event,
    Held,
    IntervalsTold,
    NodesProven,
    Noticed,
    Resumed,
    RoundStarted,
    SessionEnded,
    SessionOpened,
    make_noticed,
    say_waves,
)
from benchconsole.console.view.events import TestStarted as Started
from benchconsole.console.view.interval_rates import ToldInterval
from benchconsole.console.view.reducer import LatestView, advance, advance_all, opened, read_judged
from benchconsole.console.view.run_view import Coverage, RunView, State, state_of_failure, superseding
from benchconsole.console.view.session_verdict import decide
from benchconsole.console.view.totals import TotalsCache, compute_totals
from benchconsole.probes.api import Interval, Unit
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.running_round import RunningRound
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Finding
from benchconsole.probes.model.load import NodeLoad
from benchconsole.probes.model.measuring import FailedAt, Failure, Proof, Result, Round
from benchconsole.probes.model.omission import Omission, OmissionReason
from benchconsole.probes.model.remark import About, Remark, RemarkKind
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from tests.console.tui.fabrics import mini
from tests.console.tui.story import Faults, Story, tell
from tests.fabrics import METRICS


@cache
def story() -> Story:
    return tell(mini(leaves=2, per_leaf=4), Faults("leaf2--spine1", "n006", "n003", "st3", "n002", "n001"))


def again(told: Story, places: Sequence[int]) -> Iterator[Event]:
    """The story, then some of its rounds a second time under new numbers, in the same session."""
    *events, end = told.events()
    yield from events
    opening = events[0]
    assert isinstance(opening, SessionOpened)
    plan = list(opening.plan)
    for place in places:
        judged = told.closed[place % len(told.closed)]
        number = len(plan) + 1
        each = _renumbered(judged.round, number)
        plan.append(each)
        yield replace(opening, plan=tuple(plan))
        tests = dict(zip((test.id for test in judged.round.tests), each.tests, strict=True))
        results = tuple(_failing(replace(r, test=tests[r.test.id])) for r in judged.results)
        yield RoundStarted(each, 5.0)
        yield from (Started(test, 5.0) for test in each.tests)
        yield from results
        closed = replace(judged, verdicts=(), round=each, results=results)
        yield replace(closed, findings=told.findings)
    yield end


def _renumbered(each: Round, number: int) -> Round:
    tests = tuple(replace(test, id=f"{number}/{test.id}", round=number) for test in each.tests)
    return replace(each, number=number, tests=tests)


def _failing(result: Result) -> Result:
    if hash(result.test.target.node.id) % 3:
        return result
    return replace(result, measurements=(), failure=Failure(FailedAt.LOST, "gone", result.test.target.node.id))


def spoken(view: RunView) -> tuple[object, ...]:
    """Everything that a view says, as plain values."""
    return (dict(view.nodes), dict(view.links), dict(view.results), dict(view.verdicts), set(view.running),
            dict(view.fresh), dict(view.closed), view.findings, view.replaced, view.log, view.ended)  # fmt: skip


@given(cuts=st.lists(st.integers(1, 60), min_size=1), places=st.lists(st.integers(0, 5), max_size=3))
@settings(max_examples=20, deadline=None)
def test_in_batches_is_one_by_one_and_no_view_ever_changes(cuts: list[int], places: list[int]) -> None:
    first, *events = again(story(), places)
    assert isinstance(first, SessionOpened)
    single = batched = opened(first)
    kept: list[tuple[RunView, tuple[object, ...]]] = []
    turn = 0
    while events:
        batch, events = events[: cuts[turn % len(cuts)]], events[cuts[turn % len(cuts)] :]
        turn += 1
        for event in batch:
            single = advance(single, event)
        batched = advance_all(batched, batch)
        assert spoken(batched) == spoken(single)
        kept.append((batched, spoken(batched)))
    for view, was in kept:
        assert spoken(view) == was


@given(places=st.lists(st.integers(0, 5), max_size=3))
@settings(max_examples=10, deadline=None)
def test_sums_and_links_are_kept_as_they_would_be_counted_anew(places: list[int]) -> None:
    first, *events = again(story(), places)
    assert isinstance(first, SessionOpened)
    view, sums = opened(first), TotalsCache()
    for event in events:
        view = advance(view, event)
        if isinstance(event, (ClosedRound, SessionOpened, SessionEnded)):
            found = sums.compute(view)
            assert found == compute_totals(view)
            counted = Counter(result.outcome.value for result in superseding(view).values())
            assert found.covered == Coverage(found.covered.planned, **counted)
            nodes = Counter(result.failure.node for result in superseding(view).values() if result.failure)
            assert sum(each.tests for each in found.reasons) == nodes.total()
            assert {node for each in found.reasons for node in each.nodes} == nodes.keys()
            assert dict(view.links) == dict(apply_findings(read_session_links(view), view.findings))
            standing = set(superseding(view))
            assert all(r.test.id in standing for node in view.nodes.values() for r in node.results)
            for node in view.nodes.values():
                own = [r.failure for r in node.results if r.failure is not None and r.failure.node == node.node.id]
                assert list(node.failures) == own


def test_a_round_touches_its_own_nodes_and_those_that_findings_speak_of() -> None:
    view = story().view()
    judged = story().closed[0]
    far = _renumbered(judged.round, 99)
    only = far.tests[0].target.node.id
    each = replace(far, tests=far.tests[:1])
    closed = replace(judged, verdicts=(), round=each, results=(Result(each.tests[0], started=1.0),))
    after = advance(view, replace(closed, findings=view.findings))
    changed = {name for name in view.nodes if view.nodes[name] is not after.nodes[name]}
    assert changed == {only}
    fewer = advance(after, replace(closed, round=replace(each, number=100), verdicts=(), findings=view.findings[1:]))
    gone = view.findings[0]
    assert {name for name in view.nodes if after.nodes[name] is not fewer.nodes[name]} >= set(gone.nodes)


@pytest.mark.parametrize(("sampled", "counted"), [(False, 1), (True, 3)])
def test_samples_of_a_watch_replace_no_others(sampled: bool, counted: int) -> None:
    """A node that was down for two samples of three was down, though it is up in the last."""
    told = story().closed[0]
    rounds = [replace(_renumbered(told.round, number), tests=()) for number in (1, 2, 3)]
    test = told.round.tests[0]
    rounds = [replace(each, tests=(replace(test, id=str(each.number), round=each.number),)) for each in rounds]
    down = Failure(FailedAt.UNREACHABLE, "gone", test.target.node.id)
    results = [Result(each.tests[0], failure=None if each.number == 3 else down) for each in rounds]
    closed = [
        replace(told, round=each, results=(result,), verdicts=(), findings=())
        for each, result in zip(rounds, results, strict=True)
    ]
    opening = SessionOpened("s", "", story().fabric, "availability", tuple(rounds), 0.0, True, sampled=sampled)
    ended = SessionEnded(9.0, True, "")
    view = advance_all(opened(opening), [*closed, ended])
    brief = read_judged(opening, closed, (), ended)
    for each in (view, brief):
        assert len(superseding(each)) == counted
        assert sum(result.failure is not None for result in superseding(each).values()) == counted - 1
        assert f"1 of {counted} planned test" in decide(each).sentence
    state = view.nodes[test.target.node.id].state
    assert state is (State.UNREACHABLE if sampled else State.MEASURED)


def test_what_holds_a_run_is_there_until_it_goes_on() -> None:
    view = story().view()
    held = advance(view, Held("the disk is full", 1.0, "/var/lib/spool.jsonl"))
    assert (held.held, held.spool) == ("the disk is full", "/var/lib/spool.jsonl")
    assert "kept in /var/lib/spool.jsonl" in held.log[-1].text
    on = advance(held, Resumed(2.0, 3))
    assert (on.held, on.spool) == ("", "")
    assert on.log[-1].text == "going on, 3 results brought back"
    assert advance(on, Noticed("the canary keeps still", 3.0)).log[-1].text == "the canary keeps still"


def test_nodes_that_are_left_alone_are_those_of_the_newest_plan() -> None:
    one, two, three = (Omission(words, OmissionReason.NOT_RECORDED) for words in ("n1: a", "n2: b", "n3: c"))
    view = advance_all(story().view(), [make_noticed(SPARED, each.words, 1.0) for each in (one, two, one)])
    assert view.spared == (one, two)
    opening = next(story().events())
    assert isinstance(opening, SessionOpened)
    assert advance(view, opening).spared == view.spared  # what goes on leaves alone what its plan left alone
    assert advance(view, make_noticed(SPARED, "n3: c", 2.0)).spared == (three,)
    released = advance(view, make_noticed(SPARED, SPARED_NONE, 2.0))
    assert released.spared == ()
    assert released.log[-1].state is None
    assert advance(released, make_noticed(SPARED, "n1: a", 3.0)).spared == (one,)


def test_a_canary_is_that_of_the_newest_run() -> None:
    view = advance(story().view(), make_noticed(CANARY, "n1 pings n2 while tests run", 1.0))
    assert view.canary is not None
    assert advance(view, make_noticed(CANARY, CANARY_NONE, 2.0)).canary is None


def test_waves_are_of_the_rounds_that_a_note_names() -> None:
    view = story().view()
    assert view.waves == ()
    told = [make_noticed(WAVES, words, 1.0) for words in (say_waves(view.plan[1:3]), "rounds of all sorts")]
    waves = (range(view.plan[1].number, view.plan[2].number + 1),)
    after = advance_all(view, [*told, told[0], make_noticed(CANARY, "rounds 1 to 9", 1.0)])
    assert after.waves == waves
    opening = next(story().events())
    assert isinstance(opening, SessionOpened)
    assert advance(after, opening).waves == waves
    assert advance(after, replace(opening, anew=True)).waves == ()


def test_a_stopped_round_says_why_and_its_repeat_takes_that_back() -> None:
    judged = story().closed[-1]
    stopped = replace(judged, verdicts=(), findings=(), reason=CloseReason.STOPPED, because="the canary lost 20 %")
    first, *_ = story().events()
    assert isinstance(first, SessionOpened)
    view = advance(opened(first), replace(stopped, verdicts=(), findings=()))
    assert dict(view.stopped) == {judged.round.number: "the canary lost 20 %"}
    assert "stopped, the canary lost 20 %" in view.log[-1].text
    assert not advance(view, judged).stopped


def test_what_the_nodes_showed_at_the_end_is_kept_until_they_are_used_again() -> None:
    proofs = (Proof(NodeId("n001"), asked=True), Proof(NodeId("n002"), asked=True, left=("iperf3 -s",)))
    view = advance(story().view(), NodesProven(proofs, 1.0))
    assert view.proofs == proofs
    assert view.log[-1].state is State.FAIL
    opening = next(story().events())
    assert isinstance(opening, SessionOpened)
    assert advance(view, opening).proofs == ()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ((True, True), "nothing of ours is left on 2 of 2 nodes"),
        ((True, False), "nothing of ours is left on 1 of 2 nodes"),
        ((False, False), "none of 2 nodes could be searched for anything of ours"),
    ],
)
def test_a_search_that_reached_no_node_has_shown_nothing(asked: Sequence[bool], words: str) -> None:
    proofs = tuple(Proof(NodeId(f"n{place}"), asked=each) for place, each in enumerate(asked))
    assert advance(story().view(), NodesProven(proofs, 1.0)).log[-1].text == words
    line, *_ = format_proofs(proofs)
    assert ("could be searched" in line) is not any(asked)


@pytest.mark.parametrize(
    ("stage", "state"),
    [
        (FailedAt.IN_USE, State.HELD), (FailedAt.REFUSED, State.HELD), (FailedAt.HELD, State.HELD),
        (FailedAt.REBOOTED, State.UNKNOWN), (FailedAt.KILLED, State.UNKNOWN), (FailedAt.CANCELLED, State.SKIPPED),
        (FailedAt.UNREACHABLE, State.UNREACHABLE), (FailedAt.NO_PASSWORD, State.HELD),
    ],
)  # fmt: skip
def test_no_number_has_a_state_of_its_own(stage: FailedAt, state: State) -> None:
    assert state_of_failure(stage) is state


def test_findings_that_say_the_same_in_other_objects_change_nothing() -> None:
    view = story().view()
    last = story().closed[-1]
    copies: tuple[Finding, ...] = tuple(replace(finding) for finding in last.findings)
    other = advance(view, replace(last, findings=copies))
    same = advance(view, last)
    assert dict(other.nodes) == dict(same.nodes)


def test_no_batch_is_shown_half_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The screen reads the view while another thread folds: a stored session never looks as if nothing had run."""
    latest, seen = LatestView(), []

    def fold(view: RunView, events: Sequence[Event]) -> RunView:
        seen.append(latest.view)
        return advance_all(view, events)

    monkeypatch.setattr(reducer, "advance_all", fold)
    told = list(story().events())
    latest.take(told)
    assert seen == [None]
    assert latest.view is not None
    assert latest.view.results


def test_a_session_that_is_told_anew_forgets_what_was_told_before() -> None:
    first, *events = story().events()
    assert isinstance(first, SessionOpened)
    once = advance_all(opened(first), events)
    twice = advance_all(once, [replace(first, anew=True), *events])
    assert spoken(twice) == spoken(once)
    assert twice.log == once.log
    assert twice.left_out == once.left_out


def _running(until: type[Event]) -> tuple[RunView, Round]:
    """The story up to the first event of a kind after a test has begun, and the round that runs."""
    first, *events = story().events()
    assert isinstance(first, SessionOpened)
    view = opened(first)
    for event in events:
        if view.running and isinstance(event, until):
            break
        view = advance(view, event)
    assert view.current is not None
    return view, view.current


def _tell(view: RunView, *tests: str, at: float = 9.0, until: float = 1.0) -> RunView:
    told = (Interval("iperf3.throughput", 7.0, Unit.BYTE_RATE, until, 1.0) for _ in tests)
    found = tuple(ToldInterval(test, each, 10.0) for test, each in zip(tests, told, strict=True))
    return advance(view, IntervalsTold(found, at))


def test_an_interval_changes_nothing_but_the_intervals() -> None:
    view, each = _running(Result)
    after = _tell(view, each.tests[0].id)
    assert [rate.smoothed for rate in after.intervals[each.tests[0].id]] == [7.0]
    assert replace(after, intervals=view.intervals) == view
    assert dict(view.intervals) == {}
    assert spoken(after) == spoken(view)
    assert decide(after) == decide(view)
    assert as_stored(after).intervals == {}


def test_an_interval_gives_way_to_the_result_and_to_the_end_of_the_round() -> None:
    view, each = _running(Result)
    ended, other = each.tests[0].id, each.tests[1].id
    result = next(event for event in story().events() if isinstance(event, Result) and event.test.id == ended)
    view = advance(_tell(view, ended, other), result)
    assert set(_tell(view, at=10.0).intervals) == {other}
    closed = next(event for event in story().events() if isinstance(event, ClosedRound))
    assert dict(advance(view, closed).intervals) == {}
    assert dict(advance(view, RoundStarted(each, 11.0)).intervals) == {}
    assert dict(advance(view, SessionEnded(11.0, complete=False)).intervals) == {}


def test_an_interval_of_a_test_that_does_not_run_is_not_shown() -> None:
    view, each = _running(Result)
    assert _tell(view, "no such test") is view
    first = next(iter(story().events()))
    assert isinstance(first, SessionOpened)
    assert _tell(opened(first), each.tests[0].id).intervals == {}


def test_the_links_of_flows_are_known_from_the_first_number_to_the_end_of_the_round() -> None:
    view, each = _running(Result)
    sending = next(each for each in story().rounds if each.flows)
    running = RunningRound(JudgingContext(view.fabric, METRICS), sending)
    running.prepare()
    ways = running.ways
    assert ways is not None
    assert advance(view, IntervalsTold((), 9.0, ways=ways)) is view
    told = (ToldInterval(each.tests[0].id, Interval("iperf3.throughput", 7.0, Unit.BYTE_RATE, 1.0, 1.0)),)
    view = advance(view, IntervalsTold(told, 9.0, ways=ways))
    silent = advance(view, IntervalsTold((), 60.0, ways=ways))
    assert (dict(silent.intervals), silent.ways) == ({}, ways)
    assert as_stored(view).ways is None
    closed = next(event for event in story().events() if isinstance(event, ClosedRound))
    assert advance(view, closed).ways is None
    assert advance(view, RoundStarted(each, 11.0)).ways is None
    assert advance(view, SessionEnded(11.0, complete=False)).ways is None


def test_the_load_of_a_node_stands_until_its_next_and_the_end_of_the_round() -> None:
    view, each = _running(Result)
    first, other, second = (NodeLoad(node, "3", busy, 0.5) for node, busy in (("n1", 0.9), ("n2", 0.8), ("n1", 0.7)))
    view = advance(advance(view, IntervalsTold((), 9.0, (first, other))), IntervalsTold((), 10.0, (second,)))
    assert dict(view.loads) == {"n1": second, "n2": other}
    assert as_stored(view).loads == {}
    assert advance(view, RoundStarted(each, 11.0)).loads == {}
    ended = advance(view, SessionEnded(11.0, complete=False))
    assert ended.loads == {}
    assert advance(ended, IntervalsTold((), 12.0, (first,))) is ended


def _say(number: int) -> tuple[Remark, ...]:
    """So many remarks on the session."""
    one = Remark(RemarkKind.REMARK, About.SESSION, "", "seen", "ann", 1.0, 1.0)
    return tuple(replace(one, number=place) for place in range(1, number + 1))


@pytest.mark.parametrize(
    ("session", "began_with", "told", "shown"),
    [("s12", 0, 2, 2), ("s12", 1, 2, 2), ("s12", 3, 2, 3), ("s12", 2, 0, 2), ("another", 1, 2, 1), ("", 1, 2, 1)],
)
def test_remarks_that_are_told_are_shown_of_their_own_session(
    session: str, began_with: int, told: int, shown: int
) -> None:
    """None is ever deleted, so the longer ones are the newer ones."""
    latest, events = LatestView(), list(story().events())
    assert isinstance(events[0], SessionOpened)
    latest.take([replace(events[0], remarks=_say(began_with)), *events[1:]])
    generation = latest.generation
    latest.take_remarks(session, _say(told))
    assert latest.generation > generation
    view = latest.view
    assert view is not None
    assert len(view.remarks) == shown
    assert latest.view is view
    assert decide(view) == decide(replace(view, remarks=()))


def test_remarks_on_another_session_and_answers_in_another_order_take_none_away() -> None:
    latest = LatestView()
    latest.take(list(story().events()))
    for session, told in (("s12", 2), ("another", 3), ("s12", 1)):
        latest.take_remarks(session, _say(told))
        assert latest.view is not None
        assert len(latest.view.remarks) == 2
