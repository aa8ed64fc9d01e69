"""The tests of a round, slowest first: judged ones with their colour, open ones with ``○``."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from itertools import chain

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.tui.rows import link_glyphs
from benchconsole.console.tui.rows.scales import Scale, scale_for
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, sign, value_tone
from benchconsole.console.tui.rows.themes import MUTED, TEXT
from benchconsole.console.tui.widgets.listing import Listing, find_again
from benchconsole.console.view.interval_rates import SMOOTHING, IntervalRate, find_shown
from benchconsole.console.view.run_view import RunView, State, state_of, state_of_failure, worst
from benchconsole.console.view.wording import format_share
from benchconsole.probes.model.judgement import Verdict
from benchconsole.probes.model.measuring import INWARD, Result, Round, Test
from benchconsole.topology.copying import replace
from benchconsole.topology.units import Shown, Unit


@dataclass(frozen=True, slots=True)
class TestLine:
    """One test as it stands."""

    __test__ = False

    test: Test
    state: State
    value: float | None
    unit: Unit | None
    expected: float | None
    share: float | None
    limit: str
    name: str = ""
    interval: IntervalRate | None = None
    """The number of the last seconds, where that is what is shown: the test runs, and has no result."""


def round_of(view: RunView) -> Round | None:
    """The round that runs now, else the last one that was closed."""
    if view.current is not None:
        return view.current
    last = max(view.closed, key=lambda number: view.closed[number][1], default=None)
    return next((each for each in view.plan if each.number == last), None)


MOST_ROWS = 500
"""A round of ten thousand tests shows its slowest; the title says of how many."""


class RoundRows:
    """The rows of a round. Ten times a second most tests stand as they did: their rows are kept while it is open."""

    def __init__(self) -> None:
        self._round: Round | None = None
        self._known: dict[str, tuple[object, TestLine]] = {}

    def list(self, view: RunView, each: Round) -> tuple[TestLine, ...]:
        """Failed first, then by share of what was expected, then by value; tests that say nothing yet come last."""
        if view.current is not each:
            sums = _sums(view, each)
            rows = [*sums.values(), *(_make_row(view, test, sums) for test in _told(view, each))]
        else:
            if self._round is not each:
                self._round, self._known = each, {}
            rows = [self._find(view, test) for test in _told(view, each)]
        return tuple(sorted(rows, key=_slowness) if len(rows) <= MOST_ROWS else nsmallest(MOST_ROWS, rows, _slowness))

    def _find(self, view: RunView, test: Test) -> TestLine:
        """The row of a test of the open round, by what it follows from; with numbers that change it is made anew."""
        basis: object = view.fresh.get(test.id)
        if basis is None:
            if view.intervals or view.loads:
                return _make_row(view, test, {})
            basis = test.id in view.running
        known = self._known.get(test.id)
        if known is None or known[0] is not basis:
            known = self._known[test.id] = (basis, _make_row(view, test, {}))
        return known[1]


def _told(view: RunView, each: Round) -> Iterable[Test]:
    """The tests worth a row: all of a small round; of a large open one those that ended, then the slowest that run."""
    if len(each.tests) <= MOST_ROWS or view.current is None or view.current.number != each.number:
        return each.tests
    running = [test for test in each.tests if test.id in view.running]
    if view.intervals:
        running = nsmallest(MOST_ROWS, running, key=lambda test: _interval_slowness(view, test))
    return chain((result.test for result in view.fresh.values()), running[:MOST_ROWS])


def _interval_slowness(view: RunView, test: Test) -> tuple[float, float]:
    rate = find_shown(view.intervals.get(test.id, ()))
    share = None if rate is None else rate.share
    return (9.9 if share is None else share), (0.0 if rate is None else rate.smoothed)


def _slowness(row: TestLine) -> tuple[int, float, float]:
    waiting = row.value is None and row.state in (State.RUNNING, State.SKIPPED)
    trouble = row.value is None and not waiting
    return (
        3 if waiting else 0 if trouble else 1 if row.name or row.share is not None else 2,
        row.share if row.share is not None else 9.9,
        row.value or 0.0,
    )


def _sums(view: RunView, each: Round) -> dict[str, TestLine]:
    """Bundles of a closed round by name: many flows that were judged by their sum."""
    made: dict[str, TestLine] = {}
    if view.current is not None and view.current.number == each.number:
        return made
    flows = Counter(test.bundle for test in each.tests)
    for test in each.tests:
        for verdict in view.verdicts.get(test.id, ()) if test.bundle else ():
            if verdict.subject == test.bundle and test.bundle not in made:
                name = f"{sanitize(test.bundle)}, {flows[test.bundle]} flows"
                made[test.bundle] = replace(_judged(test, [verdict]), name=name)
    return made


def _make_row(view: RunView, test: Test, sums: Mapping[str, TestLine]) -> TestLine:
    open_now = view.current is not None and view.current.number == test.round
    result = view.fresh.get(test.id) if open_now else view.results.get(test.id)
    if result is None:
        return _unfinished(view, test)
    if result.failure is not None:
        words = sanitize(f"{result.failure.stage}: {result.failure.detail}".rstrip(": "))
        return TestLine(test, state_of_failure(result.failure.stage), None, None, None, None, words)
    verdicts = () if open_now else view.verdicts.get(test.id, ())
    if test.bundle in sums:
        return _measured(test, result, sums[test.bundle])
    return _judged(test, verdicts) if verdicts else _measured(test, result)


def _unfinished(view: RunView, test: Test) -> TestLine:
    """A test without a result: it runs, with the number of its last seconds where it told one, or it waits."""
    state = State.RUNNING if test.id in view.running else State.SKIPPED
    rate = find_shown(view.intervals.get(test.id, ()))
    load = _describe_load(view, test) if state is State.RUNNING else ""
    if rate is None or state is not State.RUNNING:
        return TestLine(test, state, None, None, None, None, load)
    words = f"interval {rate.interval.until:.0f} s, no result: {load or _name_number(rate)}"
    return TestLine(test, state, rate.smoothed, rate.interval.unit, rate.expected, rate.share, words, interval=rate)


def _describe_load(view: RunView, test: Test) -> str:
    """The fullest core among the nodes of a test, in the last second that was sampled; empty where none was."""
    found = (view.loads[node.id] for node in test.target.nodes if node.id in view.loads)
    most = max(found, key=lambda each: each.busy, default=None)
    if most is None:
        return ""
    busy, softirq = format_share(most.busy), format_share(most.softirq)
    return sanitize(f"core {most.core} of {most.node} {busy} busy, {softirq} softirq")


def _name_number(rate: IntervalRate) -> str:
    """The metric that the intervals are of, and which of its numbers."""
    told = dict(rate.interval.labels)
    what = (rate.interval.metric, told.get("pattern", ""), "sent by the peer" if INWARD in rate.interval.labels else "")
    return sanitize(" ".join(filter(None, what)))


def _judged(test: Test, verdicts: Sequence[Verdict]) -> TestLine:
    lowest = min(verdicts, key=lambda each: (state_of(each).rank, view_queries.find_share(each) or 9.9))
    state = worst(state_of(each) for each in verdicts)
    limit = sanitize(lowest.limiting)
    if len({each.metric for each in verdicts}) > 1:  # nothing else says which of its numbers it is
        limit = ", limit ".join(filter(None, (sanitize(lowest.metric), limit)))
    return TestLine(test, state, lowest.value, lowest.unit, lowest.expected, view_queries.find_share(lowest), limit)


def _measured(test: Test, result: Result, total: TestLine | None = None) -> TestLine:
    first = next(iter(result.measurements), None)
    value, unit = (first.value, first.unit) if first else (None, None)
    if total is None:
        return TestLine(test, State.MEASURED, value, unit, None, None, "")
    state = State.PASS if total.state is State.PASS else State.AFFECTED
    return TestLine(test, state, value, unit, None, None, f"counted in {sanitize(test.bundle)}")


@lru_cache(4096)
def _measure_name(name: str) -> int:
    return measure_width(sanitize(name))


_WIDE, _BAR = 100, 12
"""Cells from which on a test that runs has a bar of its share, and the cells of that bar."""


class RoundTests(Listing[TestLine]):
    """Sender, receiver, value, expected, share, limit; of a test that runs the numbers are those of its intervals."""

    scale: Scale | None = None
    title = "tests"
    is_moved = False
    """Whether somebody has put the cursor on a test of this round."""
    _longest = 20
    _made_for: tuple[object, ...] = ()
    _made: dict[str, tuple[TestLine, Row]]

    def show(self, title: str, rows: Sequence[TestLine], network: bool) -> None:
        """The tests of another round, or the same further on."""
        self.title = title
        self._longest = max(
            [20, measure_width(title) - 3, *(_measure_name(row.name or row.test.target.key) + 2 for row in rows[:200])]
        )
        values = [row.value for row in rows if row.value is not None]
        unit = next((row.unit for row in rows if row.unit is not None), None)
        self.scale = scale_for(unit, Shown.NETWORK if network else Shown.PLAIN, values) if unit else None
        # While nobody has moved it, the cursor stays on what comes first: what failed, or is slowest now.
        here, self.items = self.chosen if self.is_moved else None, rows
        found = find_again(here, rows, lambda row: row.test.id, otherwise=-1)
        self.is_moved, self.cursor = found >= 0, max(found, 0)
        self.redraw()

    def go(self, index: int) -> None:
        """Put the cursor on ``index``, which it follows from now on."""
        self.is_moved = True
        super().go(index)

    def heading(self, width: int) -> list[Row]:
        if not self.items:
            return []
        name = self._names_width(width)
        line = CellLine(width).to(1).put(clip_text(self.title, name + 3), MUTED)
        line.to(3 + name + 2).put(self.scale.symbol if self.scale else "", MUTED, 9, ">")
        line.put("expected", MUTED, 10, ">").put("of exp", MUTED, 8, ">").put("   limit", MUTED)
        if any(row.interval is not None for row in self.items):
            is_wide = width >= _WIDE
            words = "; of tests that run: the last interval, smoothed over" if is_wide else ", interval over"
            line.put(f"{words} {SMOOTHING:.0f} s", MUTED)
        return [line.row()]

    def row(self, index: int, width: int) -> Row:
        """The row as it was made for the same line, while scale and widths stay."""
        made_for = (self.scale, width, self._longest)
        if made_for != self._made_for or len(self._made) > MOST_ROWS:
            self._made_for, self._made = made_for, {}
        line = self.items[index]
        key = line.name or line.test.id
        made = self._made.get(key)
        if made is None or made[0] is not line:
            made = self._made[key] = (line, _draw_test(line, self.scale, self._names_width(width), width))
        return made[1]

    def _names_width(self, width: int) -> int:
        return min(self._longest, max(width - 36, 10), 44)


def _draw_test(row: TestLine, scale: Scale | None, names: int, width: int) -> Row:
    target = row.test.target
    text = row.name or sanitize(target.node.id) + (f" → {sanitize(target.peer.id)}" if target.peer else "")
    line = CellLine(width).to(1).extend((sign(row.state), CellText(" ")))
    line.put(text, TEXT, names).put("  ")
    shown = scale.shown if scale else lambda value: "–"
    quiet = row.state in (State.PASS, State.MEASURED, State.RUNNING, State.SKIPPED)
    tone = MUTED if row.interval is not None else TEXT if quiet else value_tone(row.state)
    line.put(shown(row.value) if row.value is not None else "–", tone, 9, ">")
    line.put(shown(row.expected) if row.expected is not None else "–", MUTED, 10, ">")
    line.put(format_share(row.share), tone, 8, ">")
    line.put("   ")
    if row.interval is not None and row.share is not None and width >= _WIDE:
        line.extend(link_glyphs.wire(_BAR, row.share)).put("  ")
    return line.put(row.limit, MUTED).row()
