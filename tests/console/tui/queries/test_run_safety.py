"""Waves count the loads that stay together; without waves nothing is called one."""

from pathlib import Path

import pytest

from benchconsole.console.tui.queries.run_safety import (
    SafetyLine,
    count_loads,
    find_wave,
    goes_in_waves,
    list_safety,
)
from benchconsole.console.view.run_view import CanaryNotice, RunView, State
from benchconsole.probes.planning.plan_rounds import plan, renumber, split_into_waves
from benchconsole.topology.copying import replace
from tests.fabrics import SMALL, fabric
from tests.probes.played import PROBES


@pytest.fixture
def view(tmp_path: Path) -> RunView:
    described = fabric(tmp_path, SMALL)
    rounds = split_into_waves(plan(described, described.suites["default"], PROBES))
    return RunView(described, plan=rounds, waves=(range(1, len(rounds) + 1),), live=True)


def test_every_round_of_a_careful_plan_is_a_wave_of_its_stage(view: RunView) -> None:
    for stage in {each.stage for each in view.plan}:
        rounds = [each for each in view.plan if each.stage == stage]
        waves = [find_wave(view, each) for each in rounds]
        assert [(wave.place, wave.waves, wave.loads) for wave in waves if wave is not None] == [
            (place, len(rounds), count_loads(each)) for place, each in enumerate(rounds, 1)
        ]
    widths = [count_loads(each) for each in view.plan if each.stage == "iperf3 neighbours"]
    assert widths[:3] == [1, 2, 4]


def test_a_bundle_is_one_load(view: RunView) -> None:
    bundles = next(each for each in view.plan if each.bundles)
    assert count_loads(bundles) == len(bundles.bundles) < len(bundles.tests)


def test_the_wave_that_runs_is_said_with_those_before_it(view: RunView) -> None:
    third = [each for each in view.plan if each.stage == "iperf3 neighbours"][2]
    (line,) = list_safety(replace(view, current=third))
    waves = len([each for each in view.plan if each.stage == "iperf3 neighbours"])
    assert line == SafetyLine(
        "waves", State.RUNNING, f"wave 3 of {waves} of iperf3 neighbours: 4 loads at once, after 1, 2"
    )


def test_between_rounds_and_afterwards_the_rule_is_said(view: RunView) -> None:
    (line,) = list_safety(view)
    assert line.words == "each of 2 stages begins with 1, 2, 4 ... loads at once"
    (line,) = list_safety(replace(view, ended=1.0))
    assert line.words == "each of 2 stages began with 1, 2, 4 ... loads at once"


def test_rounds_that_were_planned_apart_are_no_waves_of_each_other(view: RunView) -> None:
    first, later = view.waves[0], range(len(view.plan) + 1, 2 * len(view.plan) + 1)
    twice = replace(view, plan=(*view.plan, *renumber(view.plan, later[0])))
    repeat = twice.plan[-1]
    assert find_wave(twice, repeat) is None
    assert list_safety(twice) == list_safety(replace(twice, current=repeat)) == ()
    assert not goes_in_waves(twice)
    assert find_wave(twice, view.plan[0]) == find_wave(view, view.plan[0])
    both = replace(twice, waves=(first, later))
    assert goes_in_waves(both)
    assert find_wave(both, repeat) == find_wave(view, view.plan[-1])
    assert list_safety(both) == list_safety(view)


def test_nothing_is_said_of_what_nobody_asked_for(view: RunView) -> None:
    calm = replace(view, waves=(), current=view.plan[0])
    assert list_safety(calm) == ()
    assert find_wave(calm, view.plan[0]) is None


@pytest.mark.parametrize(
    ("canary", "runs", "ended", "line"),
    [
        (CanaryNotice("a pings b while tests run", watches=True), True, None, (State.RUNNING, "a pings b while tests run; no alarm so far")),
        (CanaryNotice("a pings b while tests run", watches=True), False, None, (State.RUNNING, "a pings b while tests run")),
        (CanaryNotice("a pings b while tests run", watches=True), False, 1.0, (None, "a pinged b while tests ran")),
        (CanaryNotice("canary a to b: no ping", watches=False), True, None, (State.WATCH, "keeps still: a to b: no ping")),
    ],
)  # fmt: skip
def test_a_canary(
    view: RunView, canary: CanaryNotice, runs: bool, ended: float | None, line: tuple[State | None, str]
) -> None:
    seen = replace(view, waves=(), canary=canary, current=view.plan[0] if runs else None, ended=ended)
    assert list_safety(seen) == (SafetyLine("canary", *line),)
