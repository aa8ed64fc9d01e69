"""The verdict on a session: a boundary table from what was planned, measured, judged and checked to word and exit code."""

import pytest

from benchconsole.console.session.listed_verdict import list_verdict
from benchconsole.console.view.events import LEFT_OUT, Noticed, SessionEnded, SessionOpened, make_noticed
from benchconsole.console.view.reducer import advance_all, opened
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.session_verdict import NAMED, decide
from benchconsole.console.view.stored_verdict import NOT_KNOWN, RULES, Outcome, shorten_gap
from benchconsole.probes.model.checklist import Checked, CheckedList, Mark, Step, StepState
from benchconsole.probes.model.judgement import ClosedRound, Confidence, Finding, Level, Suspect, Verdict, Yardstick
from benchconsole.probes.model.measuring import FailedAt, Failure, Round
from benchconsole.store.session_summary import SessionState, SessionSummary, StoredVerdict
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Basis, Comparator, Criterion, NodeId
from benchconsole.topology.units import Unit
from tests.probes.judging.rounds import close, flow, star

PASS, WATCH, FAIL, UNKNOWN = Level.PASS, Level.WATCH, Level.FAIL, Level.UNKNOWN
DONE, NOT_DONE, FAILED, APART = StepState.PASS, StepState.NOT_DONE, StepState.FAIL, StepState.NOT_APPLICABLE
METRIC = "iperf3.throughput"
CAPACITY = Criterion(METRIC, Comparator.AT_LEAST, 0.8, Unit.ONE, Basis.CAPACITY)


def begin(
    *levels: Level | None,
    waiting: bool = False,
    steps: tuple[StepState, ...] = (),
    criteria: tuple[Criterion, ...] = (),
) -> RunView:
    """A session of one round with a test for each level (None: without a verdict), and maybe a round still to come."""
    described = replace(star(), criteria=criteria)
    closed = close(described, 1, *(flow("n1", f"n{place + 2}", 0.9) for place in range(len(levels))))
    more: tuple[Round, ...] = (close(described, 2, flow("n3", "n4", 0.9)).round,) if waiting else ()
    plan = (closed.round, *more) if levels else ()
    marked = tuple(Checked(Step(str(place), "x"), Mark(each, "ann", 1.0)) for place, each in enumerate(steps))
    kept = (CheckedList("cloud", "", marked),) if steps else ()
    view = opened(SessionOpened("s", "", described, "default", plan, 0.0, True, kept))
    return advance_all(view, [judge(closed, levels)] if levels else [])


def judge(closed: ClosedRound, levels: tuple[Level | None, ...]) -> ClosedRound:
    verdicts = tuple(
        Verdict(
            test=test.id, round=1, probe="iperf3", subject=test.target.key, nodes=("n1",), metric=METRIC,
            labels=(), level=level, kind=Yardstick.CAPACITY, because="flows ended apart",
        )
        for test, level in zip(closed.round.tests, levels, strict=True)
        if level is not None
    )  # fmt: skip
    return replace(closed, verdicts=verdicts, findings=())


def end(view: RunView, *, complete: bool = True, because: str = "") -> RunView:
    return advance_all(view, [SessionEnded(9.0, complete, because)])


@pytest.mark.parametrize(
    ("levels", "waiting", "steps", "outcome", "code", "allowed"),
    [
        ((PASS,), False, (), Outcome.PASS, 0, 0),
        ((PASS, WATCH), False, (), Outcome.WATCH, 0, 0),
        ((PASS, UNKNOWN), False, (), Outcome.INCOMPLETE, 3, 0),
        ((UNKNOWN, UNKNOWN), False, (), Outcome.INCOMPLETE, 3, 0),
        ((PASS, UNKNOWN, FAIL), False, (), Outcome.FAIL, 1, 1),
        ((PASS,), True, (), Outcome.INCOMPLETE, 3, 0),
        ((WATCH,), True, (), Outcome.INCOMPLETE, 3, 0),
        ((FAIL,), True, (), Outcome.FAIL, 1, 1),
        ((None, None), False, (), Outcome.NOT_JUDGED, 3, 0),
        ((PASS, None), False, (), Outcome.PASS, 0, 0),
        ((), False, (), Outcome.NOT_JUDGED, 3, 0),
        ((), False, (NOT_DONE,), Outcome.NOT_JUDGED, 3, 0),
        ((), False, (APART,), Outcome.NOT_JUDGED, 3, 0),
        ((), False, (DONE,), Outcome.PASS, 0, 0),
        ((), False, (DONE, NOT_DONE), Outcome.INCOMPLETE, 3, 0),
        ((PASS,), False, (DONE,), Outcome.PASS, 0, 0),
        ((PASS,), False, (NOT_DONE,), Outcome.INCOMPLETE, 3, 0),
        ((PASS,), False, (APART,), Outcome.INCOMPLETE, 3, 0),
        ((PASS,), False, (FAILED,), Outcome.FAIL, 1, 1),
    ],
)
def test_word_and_exit_code(
    levels: tuple[Level | None, ...],
    waiting: bool,
    steps: tuple[StepState, ...],
    outcome: Outcome,
    code: int,
    allowed: int,
) -> None:
    verdict = decide(end(begin(*levels, waiting=waiting, steps=steps), complete=not waiting))
    assert (verdict.outcome, verdict.exit_code(), verdict.exit_code(allow_untested=True)) == (outcome, code, allowed)
    assert bool(verdict.missing) or outcome is not Outcome.INCOMPLETE
    assert not verdict.missing or outcome not in (Outcome.PASS, Outcome.WATCH)
    assert ("passed:" in verdict.sentence) is (outcome is Outcome.PASS)


def finding(level: Level, *tests: str) -> Finding:
    return Finding(
        suspect=Suspect.FABRIC, element="x", where="x", what="x", level=level, confidence=Confidence.POSSIBLE,
        nodes=(), tests=tests,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("source", "named", "kind", "outcome"),
    [
        ("capacity (steered)", None, Yardstick.CAPACITY, Outcome.INCOMPLETE),
        ("capacity (steered)", UNKNOWN, Yardstick.CAPACITY, Outcome.INCOMPLETE),
        ("capacity (steered)", FAIL, Yardstick.CAPACITY, Outcome.FAIL),
        ("capacity (steered)", WATCH, Yardstick.CAPACITY, Outcome.FAIL),
        ("capacity (fluid)", None, Yardstick.CAPACITY, Outcome.FAIL),
        ("capacity (steered)", None, Yardstick.CRITERION, Outcome.FAIL),
    ],
)
def test_a_slow_stream_whose_path_is_assumed_fails_only_by_a_finding(
    source: str, named: Level | None, kind: Yardstick, outcome: Outcome
) -> None:
    """It may have taken another way than its port says, or met one that did; so it is no pass either."""
    view = begin(FAIL, PASS)
    (low, *_) = ((test, each) for test, own in view.verdicts.items() for each in own if each.level is FAIL)
    test, verdict = low
    verdicts = {**view.verdicts, test: (verdict._replace(source=source, kind=kind),)}
    view = end(replace(view, verdicts=verdicts, findings=() if named is None else (finding(named, test),)))
    told = decide(view)
    assert told.outcome is outcome
    assert told.exit_code(allow_untested=True) == told.exit_code() == (3 if outcome is Outcome.INCOMPLETE else 1)
    words = "1 steered stream slow by no cause that was found, such as n1>n2: their ports may mean other ways"
    assert (words in told.sentence) is (outcome is Outcome.INCOMPLETE)


@pytest.mark.parametrize("levels", [(PASS,), (WATCH,), (FAIL,), (None,), ()])
def test_a_session_that_is_not_over_is_running(levels: tuple[Level | None, ...]) -> None:
    verdict = decide(begin(*levels))
    assert (verdict.outcome, verdict.exit_code(), verdict.exit_code(allow_untested=True)) == (Outcome.RUNNING, 3, 3)
    assert verdict.sentence.startswith("Running: ")
    assert ("1 result below the threshold" in verdict.sentence) is (levels == (FAIL,))


@pytest.mark.parametrize(
    ("criterion", "gap"),
    [
        (CAPACITY, None),
        (replace(CAPACITY, metric="stream.triad"), "criterion stream.triad: not tested, no test that measures it was planned"),
        (replace(CAPACITY, metric="iperf3.jitter"), "criterion iperf3.jitter: not tested, no test gave such a value"),
        (
            replace(CAPACITY, where=(("protocol", "udp"),), source="4.2"),
            "criterion 4.2, iperf3.throughput protocol=udp: not tested, no value has these labels",
        ),
        (
            replace(CAPACITY, nodes=frozenset((NodeId("n4"),))),
            "criterion iperf3.throughput: not tested, no value could be held against the capacity of links",
        ),
        (
            replace(CAPACITY, nodes=frozenset((NodeId("n1"), NodeId("n4")))),
            "criterion iperf3.throughput: not held against n4",
        ),
        (
            replace(CAPACITY, basis=Basis.ABSOLUTE, unit=Unit.BYTE_RATE, nodes=frozenset((NodeId("n4"),))),
            "criterion iperf3.throughput: not tested, it speaks of no node that was measured; of a pair it means the one that sends",
        ),
        (
            replace(CAPACITY, basis=Basis.ABSOLUTE, unit=Unit.BYTE_RATE),
            "criterion iperf3.throughput: not tested, no verdict on it is stored: `benchconsole judge` makes them again",
        ),
    ],
)  # fmt: skip
def test_a_criterion_that_met_not_all_it_asks_of_keeps_a_session_from_passing(
    criterion: Criterion, gap: str | None
) -> None:
    verdict = decide(end(begin(PASS, PASS, criteria=(criterion,))))
    assert verdict.missing == (() if gap is None else (gap,))
    assert verdict.outcome is (Outcome.PASS if gap is None else Outcome.INCOMPLETE)


def test_a_pair_that_no_verdict_is_on_is_named() -> None:
    verdict = decide(end(begin(PASS, None, criteria=(CAPACITY,))))
    assert verdict.missing == ("criterion iperf3.throughput: not held against n1>n3",)


def test_a_repeat_that_gives_another_number_only_leaves_the_pair_unjudged() -> None:
    """The repeat has taken the place of the test that failed, and nothing judged it."""
    described = replace(star(), criteria=(CAPACITY,))
    first = judge(close(described, 1, flow("n1", "n2", 0.1), flow("n1", "n3", 0.9)), (FAIL, PASS))
    again = close(described, 2, flow("n1", "n2", 0.9))
    (result,) = again.results
    silent = replace(result, measurements=(replace(result.measurements[0], metric="iperf3.retransmits"),))
    again = replace(again, results=(silent,), verdicts=(), findings=())
    plan = (first.round, again.round)
    view = opened(SessionOpened("s", "", described, "default", plan, 0.0, True, ()))
    verdict = decide(end(advance_all(view, [first, again])))
    assert verdict.outcome is Outcome.INCOMPLETE
    assert verdict.missing == ("criterion iperf3.throughput: not held against n1>n2",)


def test_a_statistic_without_the_number_of_a_pair_is_incomplete() -> None:
    highest = replace(CAPACITY, basis=Basis.ABSOLUTE, required=1.0, unit=Unit.BYTE_RATE, statistic="highest")
    described = replace(star(), criteria=(highest,))
    closed = close(described, 1, flow("n1", "n2", 0.9), flow("n1", "n3", 0.9))
    one, other = closed.results
    silent = replace(other, measurements=(replace(other.measurements[0], metric="iperf3.retransmits"),))
    view = opened(SessionOpened("s", "", described, "default", (closed.round,), 0.0, True, ()))
    whole, part = (
        decide(end(advance_all(view, [replace(closed, results=results, verdicts=(), findings=())])))
        for results in ((one, other), (one, silent))
    )
    assert (whole.outcome, whole.missing) == (Outcome.PASS, ())
    assert part.outcome is Outcome.INCOMPLETE
    assert part.missing == ("criterion highest iperf3.throughput: not held against n1>n3, which gave no such value",)


def test_what_was_left_out_a_watch_and_a_stop_are_gaps() -> None:
    noticed = make_noticed(LEFT_OUT, "dd is not run", 1.0)
    other = Noticed("a canary keeps still", 2.0)
    assert decide(end(advance_all(begin(PASS), [noticed, other]))).missing == ("left out: dd is not run",)
    assert decide(end(replace(begin(PASS), sampled=True))).missing == (
        "what the samples of a watch add up to is said by: benchconsole availability",
    )
    assert decide(end(begin(PASS), complete=False, because="cancelled")).missing == (
        "the session did not come to its end: cancelled",
    )


@pytest.mark.parametrize(("length", "is_brief"), [(160, False), (161, True)])
def test_a_long_gap_is_whole_among_those_that_are_missing(length: int, is_brief: bool) -> None:
    gap = "left out: " + "word " * 40
    gap = gap[: length - 1] + "x"
    noticed = Noticed(gap, 1.0, LEFT_OUT)
    verdict = decide(end(advance_all(begin(PASS), [noticed])))
    assert verdict.missing == (gap,)
    assert verdict.is_brief is is_brief
    assert (gap in verdict.sentence) is not is_brief
    assert verdict.sentence.endswith("word ….") is is_brief


@pytest.mark.parametrize(
    ("gap", "shown"),
    [("x" * 160, "x" * 160), ("x" * 161, "x" * 160 + " …"), (" " + "x" * 170, " " + "x" * 159 + " …")],
)
def test_a_gap_of_one_long_word_is_cut_where_there_is_no_blank(gap: str, shown: str) -> None:
    assert shorten_gap(gap) == shown


def test_the_sentence_names_some_gaps_and_counts_the_others() -> None:
    criteria = tuple(replace(CAPACITY, metric=f"p{number}.m") for number in range(NAMED + 2))
    verdict = decide(end(begin(PASS, criteria=criteria)))
    assert len(verdict.missing) == NAMED + 2
    assert all((gap in verdict.sentence) is (place < NAMED) for place, gap in enumerate(verdict.missing))
    assert verdict.sentence.endswith("; and 2 more gaps.")


SUMMARY = SessionSummary("s1", "", "f", "default", False, 0.0, 9.0, SessionState.COMPLETE, "", 1, 1, 4, 4, 0, 0, 0)


@pytest.mark.parametrize(
    ("state", "verdict", "low", "outcome", "words"),
    [
        (SessionState.COMPLETE, None, (None, None), None, NOT_KNOWN),
        (SessionState.INTERRUPTED, None, (None, None), None, NOT_KNOWN),
        (SessionState.RUNNING, None, (None, None), Outcome.RUNNING, "running"),
        (SessionState.RUNNING, StoredVerdict(RULES, "pass", "x"), (0, 0), Outcome.RUNNING, "running"),
        (SessionState.COMPLETE, StoredVerdict(RULES - 1, "fail", "x"), (2, 1), None, NOT_KNOWN),
        (SessionState.COMPLETE, StoredVerdict(RULES + 1, "fail", "x"), (2, 1), None, NOT_KNOWN),
        (SessionState.COMPLETE, StoredVerdict(RULES, "fail", "x"), (2000, 1), Outcome.FAIL, "fail, 2,000 below, 1 to watch"),
        (SessionState.COMPLETE, StoredVerdict(RULES, "fail", "x"), (1, 0), Outcome.FAIL, "fail, 1 below"),
        (SessionState.COMPLETE, StoredVerdict(RULES, "fail", "x"), (0, 0), Outcome.FAIL, "fail"),
        (SessionState.COMPLETE, StoredVerdict(RULES, "fail", "x"), (None, None), Outcome.FAIL, "fail"),
        (SessionState.COMPLETE, StoredVerdict(RULES, "pass", "x"), (0, 0), Outcome.PASS, "pass"),
        (SessionState.COMPLETE, StoredVerdict(RULES, "watch", "x"), (0, 1), Outcome.WATCH, "watch, 1 to watch"),
        (
            SessionState.COMPLETE, StoredVerdict(RULES, "incomplete", "x", ("a",)), (0, 0),
            Outcome.INCOMPLETE, "incomplete; missing: a",
        ),
        (
            SessionState.COMPLETE, StoredVerdict(RULES, "fail", "x", ("a", "b")), (2, 1),
            Outcome.FAIL, "fail, 2 below, 1 to watch; missing: a, and 1 more",
        ),
    ],
)  # fmt: skip
def test_lists_show_what_is_stored_as_long_as_it_holds(
    state: SessionState,
    verdict: StoredVerdict | None,
    low: tuple[int | None, int | None],
    outcome: Outcome | None,
    words: str,
) -> None:
    session = replace(SUMMARY, state=state, verdict=verdict, fails=low[0], watches=low[1])
    assert list_verdict(session) == (outcome, words)


def test_tests_that_were_not_started_are_told_by_reason_and_probe() -> None:
    described = star()
    closed = close(described, 1, *(flow("n1", f"n{place}", 0.9) for place in range(2, 6)))
    stages = (FailedAt.MISSING_TOOL, FailedAt.MISSING_TOOL, FailedAt.HELD, FailedAt.UNREACHABLE)
    ends = [each.test.target.nodes[1].id for each in closed.results]
    results = tuple(
        replace(each, measurements=(), failure=Failure(stage, "words of a node", end))
        for each, stage, end in zip(closed.results, stages, ends, strict=True)
    )
    view = opened(SessionOpened("s", "", described, "default", (closed.round,), 0.0, True))
    view = advance_all(view, [replace(closed, results=results, verdicts=(), findings=()), SessionEnded(9.0, True)])
    assert decide(view).missing[:3] == (
        "1 test could not reach the node: n5",
        "1 test not started, held back (iperf3): n4",
        "2 tests not started, tool missing (iperf3): n[2-3]",
    )
