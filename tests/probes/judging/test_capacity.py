"""The sum of a bundle: how far its flows were apart is said, and what they certainly carried is less."""

from dataclasses import replace
from pathlib import Path

from probes.api import Output
from probes.judging.bench import Bench
from probes.judging.judge import judge_round
from probes.judging.verdict import Level
from probes.model import ClosedRound
from probes.plan import plan, suite_named
from tests.fabrics import METRICS, fabric, play
from tests.probes.played import PROBES


def apart(closed: ClosedRound, seconds: float, step: float) -> ClosedRound:
    """The same round with commands of this length whose ends follow each other by ``step`` seconds."""
    results = [
        replace(
            result,
            outputs=(Output(("iperf3",), seconds=seconds),),
            measurements=tuple(replace(m, at=index * step) for m in result.measurements),
        )
        for index, result in enumerate(closed.results)
    ]
    return replace(closed, results=tuple(results))


def test_flows_that_did_not_run_together_are_said_to_have_done_so(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    bench = Bench(described, METRICS)
    each = next(found for found in plan(described, suite_named(described, None), PROBES) if found.bundles)
    closed = play(described, each, {})
    together = {verdict.subject: verdict for verdict in judge_round(bench, apart(closed, 10.0, 0.01))}
    spread = {verdict.subject: verdict for verdict in judge_round(bench, apart(closed, 4.0, 0.5))}
    assert "apart" not in together["leaf1 to spine1"].because
    assert "up to 38 % apart" in spread["leaf1 to spine1"].because


def test_a_sum_that_meets_the_bound_only_if_its_flows_ran_together_is_no_pass(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    bench = Bench(described, METRICS)
    each = next(found for found in plan(described, suite_named(described, None), PROBES) if found.bundles)
    closed = play(described, each, {})
    levels = {
        step: {verdict.subject: verdict for verdict in judge_round(bench, apart(closed, 4.0, step))}["leaf1 to spine1"]
        for step in (0.0, 0.2, 0.5)
    }
    assert [verdict.level for verdict in levels.values()] == [Level.PASS, Level.PASS, Level.UNKNOWN]
    assert "run them for more seconds" in levels[0.5].because


def test_a_sum_below_the_bound_fails_however_far_its_flows_were_apart(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    each = next(found for found in plan(described, suite_named(described, None), PROBES) if found.bundles)
    lost = dict.fromkeys(each.bundles[0].elements, 600000000.0)
    closed = play(described, each, lost)
    verdict = judge_round(Bench(described, METRICS), apart(closed, 4.0, 0.5))[0]
    assert verdict.level is Level.FAIL
