"""The page of the run as an area: how far it is, what keeps it from harm, what is held back, stages, tests, events."""

from collections.abc import Iterator, Sequence

from benchconsole.console.reports.conduct import format_cleanliness, list_leftovers
from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column, number, words
from benchconsole.console.tui.queries.area import Area, Record, Row, take_finite
from benchconsole.console.tui.queries.held_back import HeldBack, is_held, list_held_back
from benchconsole.console.tui.queries.run_safety import goes_in_waves, list_safety
from benchconsole.console.tui.queries.unjudged_reasons import UnjudgedReason, describe_reason
from benchconsole.console.tui.rows.clock import lasting, time_of_day
from benchconsole.console.tui.screens.run import results_of
from benchconsole.console.tui.screens.run_progress import count_so_far, describe_run
from benchconsole.console.tui.widgets.round_tests import RoundRows, TestLine, round_of
from benchconsole.console.view.run_view import RunView, StageView, State
from benchconsole.console.view.time_left import advance_stages
from benchconsole.console.view.totals import SessionTotals, TotalsCache
from benchconsole.console.view.wording import SIGNS, format_quantity, format_share
from benchconsole.probes.model.measuring import Proof
from benchconsole.topology.units import Shown, counted

COLUMNS = {
    "kind": Column("kind"), "state": Column("state"), "what": words("what"), "of": words("of"),
    "measured": number("measured"), "expected": number("expected"), "share": number("share"), "time": number("time"),
    "left": number("left"), "why": words("why", 20), "release": words("release"),
}  # fmt: skip


def list_run(view: RunView, now: float) -> Area:
    """The page of the run at ``now`` (UTC seconds); keys are not named, for there are none here."""
    cache = TotalsCache()
    sums = cache.compute(view)
    rows = (
        _make_headline(view, cache, sums, now), *_list_safety(view), *_list_held(view, sums),
        *_list_stages(view, sums, now), *_list_tests(view), *_list_unjudged(sums), *_list_proofs(view.proofs),
        *_list_events(view),
    )  # fmt: skip
    return Area("Run", COLUMNS, rows, {})


def _word(state: State | None) -> str:
    return "" if state is None else SIGNS[state].word


def _value(state: State | None) -> str | None:
    return None if state is None else state.value


def _make_headline(view: RunView, cache: TotalsCache, sums: SessionTotals, now: float) -> Row:
    state, lead, what, aside = describe_run(view, cache, now, refused=frozenset(("plan", "stop", "repeat")))
    so_far = count_so_far(view, sums.covered)
    text = {"kind": "run", "state": _word(state), "what": f"{lead}{what}", "of": aside, "why": so_far}
    record: Record = {
        "kind": "run", "state": _value(state), "what": f"{lead}{what}", "why": so_far, "session": view.session,
        "rounds": len(view.plan), "closed": len(view.closed), "complete": view.complete,
        "in_waves": goes_in_waves(view),
    }  # fmt: skip
    return Row(text, {}, record)


def _list_safety(view: RunView) -> Iterator[Row]:
    for each in list_safety(view):
        text = {"kind": each.name, "state": _word(each.state), "what": each.words}
        yield Row(text, {}, {"kind": each.name, "state": _value(each.state), "what": each.words})


def _list_held(view: RunView, sums: SessionTotals) -> Iterator[Row]:
    yield from map(_make_held, list_held_back(view, sums.reasons, may_run=False))


def _make_held(each: HeldBack) -> Row:
    text = {
        "kind": "held back", "state": _word(State.HELD), "what": each.what,
        "of": " ".join(filter(None, (fold_names(each.names) if each.names else "", each.counted))),
        "why": each.why, "release": each.release,
    }  # fmt: skip
    record: Record = {
        "kind": "held back", "state": State.HELD.value, "what": each.what, "nodes": [str(name) for name in each.names],
        "tests": each.tests, "reason": each.reason, "why": each.why, "release": each.release,
    }  # fmt: skip
    return Row(text, {}, record)


def _list_stages(view: RunView, sums: SessionTotals, now: float) -> Iterator[Row]:
    because = {each.stage: sanitize(each.because) for each in reversed(view.plan)}
    results = results_of(sums, view.stopped, view.plan)
    for each in advance_stages(view, sums.stages, now):
        yield _make_stage(each, because.get(each.name, ""), results.get(each.name, ""))


def _make_stage(each: StageView, because: str, result: str) -> Row:
    text = {
        "kind": "stage", "state": _word(each.state), "what": sanitize(each.name),
        "of": f"{each.done:,} of {counted(each.rounds, 'round')}, {counted(each.tests, 'test')}",
        "time": lasting(each.seconds) if each.done else "", "left": lasting(each.left) if each.left >= 0.5 else "",
        "why": "; ".join(filter(None, (because, result))),
    }  # fmt: skip
    record: Record = {
        "kind": "stage", "state": each.state.value, "stage": each.name, "probe": each.probe, "rounds": each.rounds,
        "closed": each.done, "tests": each.tests, "seconds": each.seconds, "left": each.left, "because": because,
        "result": result,
    }  # fmt: skip
    return Row(text, {}, record)


def _list_tests(view: RunView) -> Iterator[Row]:
    """The tests of the round that ran last, the slowest first; those of a large one that the page lists."""
    current = round_of(view)
    if current is None:
        return
    shown = Shown.NETWORK if any(test.target.peer is not None for test in current.tests) else Shown.PLAIN
    for each in RoundRows().list(view, current):
        yield _make_test(each, shown)


def _make_test(each: TestLine, shown: Shown) -> Row:
    target = each.test.target
    name = each.name or " → ".join(sanitize(node.id) for node in (target.node, target.peer) if node is not None)
    text = {
        "kind": "test", "state": "untested" if each.state is State.SKIPPED else _word(each.state), "what": name,
        "of": f"round {each.test.round:,}",
        "measured": "" if each.value is None else format_quantity(each.value, each.unit, shown),
        "expected": "" if each.expected is None else format_quantity(each.expected, each.unit, shown),
        "share": "" if each.share is None else format_share(each.share), "why": each.limit,
    }  # fmt: skip
    record: Record = {
        "kind": "test", "state": each.state.value, "test": each.test.id, "round": each.test.round,
        "unit": None if each.unit is None else each.unit.value, "value": take_finite(each.value),
        "expected": take_finite(each.expected), "limit": each.limit,
    }  # fmt: skip
    return Row(text, {}, record)


def _list_unjudged(sums: SessionTotals) -> Iterator[Row]:
    reasons: Sequence[UnjudgedReason] = (*(each for each in sums.reasons if not is_held(each)), *sums.undecided)
    for said in map(describe_reason, reasons):
        text = {
            "kind": "not judged", "state": _word(said.state), "what": said.kind,
            "of": f"{fold_names(said.names)} {said.counted}", "why": sanitize(said.why),
        }  # fmt: skip
        names: list[str] = [str(name) for name in said.names]
        record: Record = {"kind": "not judged", "state": said.state.value, "about": names, "why": said.why}
        yield Row(text, {}, record)


def _list_proofs(proofs: Sequence[Proof]) -> Iterator[Row]:
    if not proofs:
        return
    said = sanitize(format_cleanliness(proofs))
    yield Row({"kind": "left", "what": said}, {}, {"kind": "left", "state": None, "what": said})
    for each in list_leftovers(proofs):
        text = {"kind": "left", "state": _word(each.state), "what": sanitize(each.nodes), "why": sanitize(each.text)}
        yield Row(text, {}, {"kind": "left", "state": each.state.value, "what": each.nodes, "why": each.text})


def _list_events(view: RunView) -> Iterator[Row]:
    for each in reversed(view.log):
        text = {"kind": "event", "state": _word(each.state), "what": sanitize(each.text), "time": time_of_day(each.at)}
        yield Row(text, {}, {"kind": "event", "state": _value(each.state), "what": each.text, "at": each.at})
