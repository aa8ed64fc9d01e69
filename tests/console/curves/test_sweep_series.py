"""Sweeps and cohorts from the file to the report: planned, run, stored, opened again, resumed."""

import contextlib
import io
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchconsole.console.cli import command
from benchconsole.console.exits import BadInput
from benchconsole.console.reports import ReportOptions, render
from benchconsole.console.session.metadata import SessionChoice
from benchconsole.console.session.session import Session
from benchconsole.console.view.events import Event, Noticed, SessionEnded
from benchconsole.console.view.plan_text import format_plan
from benchconsole.console.view.reducer import advance
from benchconsole.console.view.run_view import RunView, State, superseding
from benchconsole.console.view.session_verdict import decide
from benchconsole.console.view.totals import compute_totals
from benchconsole.probes.api import Target
from benchconsole.probes.model.judgement import ClosedRound, Level
from benchconsole.probes.model.measuring import FailedAt, Round
from benchconsole.probes.planning.plan_summary import summarise
from benchconsole.store.store import Store
from tests import plain_sqlite
from tests.fabrics import fabric
from tests.probes.stepped import IOR, Stepped, SteppedReach

TEXT = """\
schema: 1
fabric: swept
switches: {"leaf[1-2]": {}}
nodes: {"n[1-2]": {}, vm1: {host: n1}}
links:
  - {from: n1, to: leaf1, speed: 10 Gb/s}
  - {from: n2, to: leaf2, speed: 10 Gb/s}
cohorts: {kind: {virtual: vm1, bare metal: "n[1-2]"}}
criteria:
  - {metric: ior.write, at_least: 3.5 GB/s, where: {tasks: 4, kind: bare metal}}
  - {metric: ior.write, at_least: 0.5 GB/s, where: {kind: virtual}}
suites:
  default:
    - {probe: ior, nodes: "n2,vm1", sweep: {tasks: 1..32 x2}, repeat: 2, order: up, stop: {gain: 5 %, after: 2}}
"""


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    with Store.open(tmp_path / "sessions.db") as opened:
        yield opened


def four_at_most(node: str, tasks: str) -> float:
    """A gigabyte per second for each task, up to four; half of it on a virtual machine."""
    return min(int(tasks), 4) * (0.5e9 if node == "vm1" else 1e9)


def session(
    folder: Path, store: Store, reach: SteppedReach, text: str = TEXT, cohorts: dict[str, str] | None = None
) -> Session:
    options = {f"cohort {name}": value for name, value in (cohorts or {}).items()}
    return Session(fabric(folder, text), IOR, store, SessionChoice(options=options), make_reach=lambda *_: reach)


async def follow(running: Session, rounds: Sequence[Round], rounds_judged: int = 0) -> tuple[RunView, list[Event]]:
    """Run and fold until the end, or until so many rounds are judged."""
    view, seen = RunView(running.fabric), []
    for event in running.replay:
        view = advance(view, event)
    running.start(rounds)
    async for event in running.live():
        seen.append(event)
        view = advance(view, event)
        if isinstance(event, SessionEnded):
            break
        if rounds_judged and sum(isinstance(each, ClosedRound) for each in seen) == rounds_judged:
            running.stop(now=True)
            rounds_judged = 0
    await running.finished()
    return view, seen


def report(view: RunView) -> dict[str, list[dict[str, object]]]:
    out = io.StringIO()
    render("json", view, out, ReportOptions())
    found: dict[str, list[dict[str, object]]] = json.loads(out.getvalue())
    return found


async def test_from_the_file_to_the_report(tmp_path: Path, store: Store) -> None:
    reach = SteppedReach(four_at_most)
    running = session(tmp_path, store, reach, cohorts={"phase": "after"})
    rounds = running.propose()
    view, seen = await follow(running, rounds)
    assert len(rounds) == 12
    assert {tasks for _, tasks in reach.asked} == {"1", "2", "4", "8", "16"}
    assert len(reach.asked) == 20
    (told,) = (event.text for event in seen if isinstance(event, Noticed))
    assert told == (
        "ior over tasks: ended at tasks=16: ior.write gained less than 5 % since tasks=4; 2 rounds not needed any more"
    )
    again = Session.stored(store, running.id, IOR)
    assert again.choice.cohorts == {"phase": "after"}
    assert again.plan == rounds
    for shown in (view, again.view()):
        assert (
            compute_totals(shown).covered.planned,
            compute_totals(shown).covered.tested,
            compute_totals(shown).covered.skipped,
        ) == (24, 20, 4)
        assert shown.complete
        assert decide(shown).exit_code() == 3
        assert decide(shown).exit_code(allow_untested=True) == 0
        (why,) = compute_totals(shown).reasons
        assert (why.stage, why.tests) == (FailedAt.SKIPPED, 4)
        assert why.detail == "ended at tasks=16: ior.write gained less than 5 % since tasks=4"
        assert shown.replaced == frozenset()
    found = report(again.view())
    labels = [each["labels"] for each in found["measurements"]]
    assert len(labels) == 20
    assert {"kind": "virtual", "operation": "write", "phase": "after", "repetition": "2", "tasks": "4"} in labels
    judged = [(each["labels"], each["level"]) for each in found["verdicts"]]
    assert len(judged) == 10 + 2  # every number of the virtual machine, and bare metal with four tasks
    assert all(level == Level.PASS for _, level in judged)
    assert {each["stage"] for each in found["failures"]} == {"not needed any more"}


async def test_every_number_is_labelled_in_the_table_that_others_read(tmp_path: Path, store: Store) -> None:
    running = session(tmp_path, store, SteppedReach(four_at_most))
    await follow(running, running.propose())
    with contextlib.closing(plain_sqlite.connect(store.path)) as connection:
        found = connection.execute("SELECT node, value, labels FROM v_measurement WHERE current").fetchall()
    assert ("n2", 4e9, "kind=bare metal, operation=write, repetition=1, tasks=8") in found
    assert len({(node, labels) for node, _, labels in found}) == len(found) == 20


async def test_one_point_that_fails_is_not_hidden_by_another(tmp_path: Path, store: Store) -> None:
    def slow_at_four(node: str, tasks: str) -> float:
        return 2e9 if (node, tasks) == ("n2", "4") else int(tasks) * 1e9

    running = session(tmp_path, store, SteppedReach(slow_at_four))
    view, _ = await follow(running, running.propose())
    assert decide(view).exit_code() == 1
    assert len(superseding(view)) == 24
    low = [v for test in superseding(view) for v in view.verdicts.get(test, ()) if v.level is Level.FAIL]
    assert len(low) == 2  # both repetitions, though later points pass
    again = running.propose(failed_only=True)
    assert [dict(test.target.labels)["tasks"] for each in again for test in each.tests] == ["4", "4"]
    assert all(each.swept is not None and each.swept.ending is None for each in again)


@pytest.mark.parametrize("cut", [1, 3, 9, 10, 11])
async def test_a_sweep_is_resumed_in_its_middle_and_ends_where_it_would_have(
    tmp_path: Path, store: Store, cut: int
) -> None:
    running = session(tmp_path, store, SteppedReach(four_at_most))
    await follow(running, running.propose(), rounds_judged=cut)
    reach = SteppedReach(four_at_most)
    again = Session.stored(store, running.id, IOR, make_reach=lambda *_: reach)
    left = again.unfinished()
    assert 0 < len(left) <= 12 - cut
    view, _ = await follow(again, left)
    assert (
        compute_totals(view).covered.planned,
        compute_totals(view).covered.tested,
        compute_totals(view).covered.skipped,
    ) == (24, 20, 4)
    assert "32" not in {tasks for _, tasks in reach.asked}
    assert view.complete
    assert again.unfinished() == ()


async def test_a_failure_ends_a_sweep_that_says_so(tmp_path: Path, store: Store) -> None:
    text = TEXT.replace("stop: {gain: 5 %, after: 2}", "stop: {on: failure}")
    reach = SteppedReach(lambda node, tasks: 0.0 if (node, tasks) == ("vm1", "8") else 4e9)
    running = session(tmp_path, store, reach, text)
    view, seen = await follow(running, running.propose())
    assert [event.text.partition(";")[0] for event in seen if isinstance(event, Noticed)] == [
        "ior over tasks: ended by a failure at tasks=8: tool failed on vm1"
    ]
    found = compute_totals(view).covered
    assert (found.tested, found.failed, found.skipped) == (13, 1, 10)
    assert view.nodes[running.fabric.nodes["n2"].id].state is State.SKIPPED  # type: ignore[index]
    assert {test.target.key for each in running.propose(failed_only=True) for test in each.tests} == {"vm1"}


async def test_the_plan_says_what_is_varied(tmp_path: Path, store: Store) -> None:
    running = session(tmp_path, store, SteppedReach(four_at_most))
    rounds = running.propose()
    lines = list(format_plan(running.fabric, summarise(running.fabric, rounds, IOR), rounds))
    assert lines[1].startswith("ior over tasks: 12 rounds (at least 12; ratio 1.000), 24 tests, about 48.0 s")
    assert lines[2] == "    6 points: tasks 1, 2, 4, 8, 16, 32, each 2 times; order up"
    assert lines[3] == (
        "    ends early where ior.write gains less than 5 % over 2 larger points; what is left is then skipped"
    )
    assert any(
        line.startswith("round 4  ior over tasks: 2 tests, about 4.00 s; ior tasks=2, 2 of 2;") for line in lines
    )


async def test_a_tool_that_did_something_else_gives_no_number(tmp_path: Path, store: Store) -> None:
    class Stubborn(Stepped):
        def command(self, target: Target) -> Sequence[str]:
            return ["ior", "1", "whatever it was told"]

    reach = SteppedReach(four_at_most)
    running = Session(fabric(tmp_path, TEXT), {"ior": Stubborn()}, store, make_reach=lambda *_: reach)
    view, _ = await follow(running, running.propose())
    found = compute_totals(view).covered
    assert (found.tested, found.failed) == (4, 20)
    details = {result.failure.detail for result in superseding(view).values() if result.failure}
    assert "found ior.write with tasks=1, expected tasks=2, which the tool was told" in details


def test_the_command_records_cohorts_and_refuses_what_could_be_another_label(tmp_path: Path) -> None:
    path = tmp_path / "swept.yaml"
    path.write_text(
        TEXT.partition("criteria:")[0]
        + "suites: {default: [{probe: inventory, repeat: 2}, {probe: fio, sweep: {seconds: [1, 2]}}]}\n"
    )
    common = ["run", str(path), "--db", str(tmp_path / "s.db")]
    said = CliRunner().invoke(command, [*common, "--dry-run", "--cohort", "phase=after"])
    assert said.exit_code == 0, said.output
    assert "inventory repeated: " in said.output
    for given, why in (
        ("phase", "expected DIMENSION=NAME"),
        ("seconds=5", "that is no axis of a sweep and no other label"),
        ("kind=x", "the topology file has cohorts of kind"),
        ("phase=mixed", "expected as its name"),
    ):
        refused = CliRunner().invoke(command, [*common, "--dry-run", "--cohort", given])
        assert isinstance(refused.exception, BadInput)
        assert why in str(refused.exception)
    twice = CliRunner().invoke(command, [*common, "--dry-run", "--cohort", "phase=a", "--cohort", "phase=b"])
    assert "another --cohort has cohorts of phase" in str(twice.exception)
    late = CliRunner().invoke(command, [*common, "--resume", "last", "--cohort", "phase=a"])
    assert "--cohort with --resume" in str(late.exception)
    assert isinstance(late.exception, BadInput)
