"""Which low verdicts count: those of bundles of one name are told apart, and a repeat takes back its own."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from benchconsole.probes.api import Sending
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.judging.low_verdicts import LowVerdicts
from benchconsole.probes.model.judgement import ClosedRound, Level, Suspect, Verdict, Yardstick
from benchconsole.probes.model.measuring import FailedAt, Failure, Round, Test
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.suites import find_suite
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Direction, LinkId, NodeId
from tests.fabrics import METRICS, fabric, play
from tests.probes.judging.rounds import close, flow, star
from tests.probes.played import Pair

FOUR_LEAVES = """\
schema: 1
fabric: four leaves
switches: {"spine[1-2]": {role: spine}, "leaf[1-4]": {role: leaf}}
nodes: {"a[1-8]": {}, "b[1-8]": {}, "c[1-8]": {}, "d[1-8]": {}}
links:
  - {from: "a[1-8]", to: leaf1, speed: 10 Gb/s}
  - {from: "b[1-8]", to: leaf2, speed: 10 Gb/s}
  - {from: "c[1-8]", to: leaf3, speed: 10 Gb/s}
  - {from: "d[1-8]", to: leaf4, speed: 10 Gb/s}
  - {from: "leaf[1-4]", to: "spine[1-2]", speed: 10 Gb/s, count: 2}
suites:
  default: [{probe: iperf3, design: trunks}]
"""
NAME = "leaf1 to spine1 and 3 equal links"


class Wide(Pair):
    """So many streams that no hash is unlucky."""

    def sending(self, options: Mapping[str, str | int | float]) -> Sending:
        return Sending(streams=32)


class Trunks:
    """The rounds that fill the links of four leaves, where half of a LAG of ``leaf2`` is lost."""

    def __init__(self, folder: Path) -> None:
        self.fabric = fabric(folder, FOUR_LEAVES)
        self.context = JudgingContext(self.fabric, METRICS)
        self.rounds = plan(self.fabric, find_suite(self.fabric, None), {"iperf3": Wide()})
        self.faults = {Direction(LinkId("leaf2--spine1"), end): 1.25e9 for end in ("leaf2", "spine1")}

    def run(self, each: Round, *, healthy: bool = False) -> ClosedRound:
        closed = play(self.fabric, each, {} if healthy else self.faults)
        return replace(closed, verdicts=judge_round(self.context, closed))

    def repeat(self, each: Round, number: int) -> Round:
        tests = (replace(test, id=f"{number}/{test.id}", round=number) for test in each.tests)
        return replace(each, number=number, tests=tuple(tests))


@pytest.fixture
def trunks(tmp_path: Path) -> Trunks:
    return Trunks(tmp_path)


def test_a_later_bundle_of_the_same_name_takes_no_finding_back(trunks: Trunks) -> None:
    judged = [trunks.run(each) for each in trunks.rounds]
    levels = [(each.round, each.level) for closed in judged for each in closed.verdicts if each.subject == NAME]
    assert levels == [(1, Level.FAIL), (2, Level.PASS)]
    (found,) = list_findings(trunks.context, judged)
    assert (found.suspect, found.where) == (Suspect.LAG, "leaf2 to spine1 or leaf2 to spine2")
    low = {each.test for closed in judged for each in closed.verdicts if each.level is Level.FAIL}
    assert low <= set(found.tests)


def test_a_repeat_takes_back_the_bundle_of_its_own_flows(trunks: Trunks) -> None:
    judged = [trunks.run(each) for each in trunks.rounds]
    again = [trunks.repeat(each, number) for number, each in enumerate(trunks.rounds, len(judged) + 1)]
    other = [trunks.run(each, healthy=True) for each in again[1:]]
    assert list_findings(trunks.context, [*judged, *other]) == list_findings(trunks.context, judged)
    assert list_findings(trunks.context, [*judged, *other, trunks.run(again[0], healthy=True)]) == ()


@pytest.mark.parametrize("lost", [0, -1])
def test_a_repeat_of_a_part_of_a_bundle_takes_nothing_back(trunks: Trunks, lost: int) -> None:
    """One flow of the bundle gives no number again: whether it would have been slow is not known."""
    first = trunks.run(trunks.rounds[0])
    passed = trunks.run(trunks.repeat(trunks.rounds[0], 2), healthy=True)
    place = [index for index, result in enumerate(passed.results) if result.test.bundle == NAME][lost]
    troubled = passed.results[place]
    failure = Failure(FailedAt.TIMEOUT, "", NodeId(troubled.test.target.node.id))
    results = list(passed.results)
    results[place] = replace(troubled, measurements=(), failure=failure)
    part = replace(passed, results=tuple(results), verdicts=())
    part = replace(part, verdicts=judge_round(trunks.context, part))
    low = LowVerdicts()
    for each in (first, part):
        low.add_round(each)
    assert [each.subject for each in low.list_by_kind()[Yardstick.CAPACITY]] == [NAME]
    low.add_round(trunks.run(trunks.repeat(trunks.rounds[0], 3), healthy=True))
    assert low.list_by_kind() == {}


# -- verdicts on one test


def judge(level: Level, number: int, *, stage: str = "pairs", failed: bool = False) -> ClosedRound:
    """A round with one test of a node, and one verdict on it."""
    closed = close(star(), number, flow("n1", "n2", 0.9))
    test: Test = closed.results[0].test
    verdict = Verdict(test.id, number, "fio", "n1", ("n1",), "fio.read", (), level, Yardstick.CRITERION, "")
    results = closed.results
    if failed:
        failure = Failure(FailedAt.TIMEOUT, "", NodeId("n1"))
        results = tuple(replace(each, measurements=(), failure=failure) for each in results)
    made = replace(closed.round, stage=stage)
    return replace(closed, round=made, results=results, verdicts=() if failed else (verdict,))


@pytest.mark.parametrize(
    ("rounds", "counted"),
    [
        ([judge(Level.FAIL, 1)], [1]),
        ([judge(Level.WATCH, 1)], [1]),
        ([judge(Level.UNKNOWN, 1)], []),
        ([judge(Level.FAIL, 1), judge(Level.PASS, 2)], []),
        ([judge(Level.FAIL, 1), judge(Level.UNKNOWN, 2)], []),
        ([judge(Level.FAIL, 1), judge(Level.WATCH, 2)], [2]),
        ([judge(Level.PASS, 1), judge(Level.FAIL, 2)], [2]),
        ([judge(Level.FAIL, 1), judge(Level.PASS, 2, failed=True)], [1]),
        ([judge(Level.FAIL, 1), judge(Level.PASS, 2, stage="others")], [1]),
        ([judge(Level.FAIL, 3, stage="others"), judge(Level.FAIL, 1)], [1, 3]),
    ],
)
def test_a_verdict_counts_until_its_test_gives_a_result_again(
    rounds: Sequence[ClosedRound], counted: Sequence[int]
) -> None:
    low = LowVerdicts()
    for each in rounds:
        assert low.is_next(each)
        low.add_round(each)
    assert [each.round for each in low.list_by_kind().get(Yardstick.CRITERION, ())] == counted


def test_a_verdict_whose_measurement_was_deleted_rests_on_its_test() -> None:
    judged = judge(Level.FAIL, 1)
    (verdict,) = judged.verdicts
    low = LowVerdicts()
    low.add_round(replace(judged, verdicts=(verdict._replace(evidence=("gone#0",)),)))
    assert len(low.list_by_kind()[Yardstick.CRITERION]) == 1
    low.add_round(judge(Level.PASS, 2))
    assert low.list_by_kind() == {}


def test_an_older_round_of_a_stage_is_not_the_next_one() -> None:
    low = LowVerdicts()
    low.add_round(judge(Level.FAIL, 2))
    assert not low.is_next(judge(Level.PASS, 1))
    assert low.is_next(judge(Level.PASS, 2))
    assert low.is_next(judge(Level.PASS, 1, stage="others"))
    low.clear()
    assert low.is_next(judge(Level.PASS, 1))
    assert low.list_by_kind() == {}
