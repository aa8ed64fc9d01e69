"""From marks on the screen to a run with options, over real SSH to the simulated cluster; the store says what ran."""

import asyncio
import os
import shlex
import sys
from pathlib import Path

from benchconsole.console.cli.common import load_installed_probes, read_topology
from benchconsole.console.session.controller import SessionController
from benchconsole.console.session.loop_thread import LoopThread
from benchconsole.console.session.run_options import MEANINGS
from benchconsole.console.session.session import Session
from benchconsole.console.simulator.cluster import SimulatedCluster
from benchconsole.console.tui.app.console_app import ConsoleApp
from benchconsole.console.tui.screens.plan import PlanSheet
from benchconsole.store.session_summary import SessionState
from benchconsole.store.store import Store
from tests.console.tui.looking import PLAIN, Look
from tests.console.tui.playing import Player


async def plan(look: Look) -> PlanSheet:
    """The plan sheet, when there is a plan on it."""
    await look.until(lambda: isinstance(look.app.screen, PlanSheet) and look.app.screen.proposal is not None)
    await look.settle()
    sheet = look.app.screen
    assert isinstance(sheet, PlanSheet)
    return sheet


async def run_marked(look: Look) -> str:
    """Mark four nodes, plan them with a label, a cap and careful, and run that; the command line that was shown."""
    await look.until(lambda: look.app.session.latest.has_begun)
    await look.press("2", *["space"] * 4, "R")
    await plan(look)
    typed = {"only": "inventory, iperf3 neighbours", "label": "marked four", "cap": "50%", "careful": "yes"}
    await look.press("o", *(key for name in MEANINGS for key in (*typed.get(name, ""), "down")), "enter")
    sheet = await plan(look)
    assert "only inventory, iperf3 neighbours, label marked four, cap 50%, careful" in " ".join(look.text.split())
    command = sheet.proposal.command if sheet.proposal is not None else ""
    await look.press("enter")
    await look.until(lambda: look.app.session.view is not None and look.app.session.view.ended is not None)
    await look.press("3")
    assert "The run is complete." in look.text
    assert "keeps still: n" in look.text  # simulated nodes have no ping
    return command


async def test_marks_and_options_become_a_run_and_its_command_line_plans_the_same(tmp_path: Path) -> None:
    database = tmp_path / "s.db"
    async with SimulatedCluster("default", tmp_path) as cluster:
        probes = load_installed_probes()
        described = read_topology(cluster.topology_path, probes)
        store = Store.open(database)
        control = SessionController(Session(described, probes, store), LoopThread(), closing=store.close)
        app = ConsoleApp(lambda: control, PLAIN, analyse=lambda _: ())
        async with app.run_test(size=(120, 50)) as pilot:
            command = await run_marked(Look(app, pilot, Player.__new__(Player)))
        with Store.open(database, create=False) as read:
            session = read.session(read.find_session("marked four"))
            stored, rounds = session.describe(), session.read_plan(described)
            notes = {note.kind: note.text for note in session.read_notes()}
        await control.close()
        again = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "benchconsole.console.cli", *shlex.split(command)[1:], "--dry-run",
            stdout=asyncio.subprocess.PIPE, env=os.environ,
        )  # fmt: skip
        planned, _ = await again.communicate()
    assert stored.state is SessionState.COMPLETE
    assert stored.new.label == "marked four"
    assert stored.new.options["careful"] == 1
    assert stored.new.options["only"] == "inventory, iperf3 neighbours"
    tested = {node.id for each in rounds for test in each.tests for node in test.target.nodes}
    assert len(tested) == 4
    assert {each.stage for each in rounds} == {"inventory", "iperf3 neighbours"}
    widths = [len(each.tests) for each in rounds if each.stage == "inventory"]
    assert widths == [1, 2, 1]
    assert "ping is not installed" in notes["canary keeps still"]
    tests = sum(len(each.tests) for each in rounds)
    assert again.returncode == 0
    assert planned.decode().startswith(f"plan: {len(rounds)} rounds")
    assert f"{tests} tests" in planned.decode().splitlines()[0]
