"""Opens the console on a simulated cluster that answers real SSH on loopback."""

import asyncio
import sys
import tempfile
from pathlib import Path

import click

from benchconsole.console.cli.common import db_option, load_installed_probes, open_store, read_topology
from benchconsole.console.cli.open import open_console
from benchconsole.console.cli.run import follow_session, print_summary
from benchconsole.console.exits import BadInput, complain
from benchconsole.console.simulator.cluster import SimulatedCluster
from benchconsole.console.simulator.scenarios import SCENARIOS, find_scenario
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.detectable_loss import DetectableLoss


@click.command("demo")
@click.argument("scenario", default="default")
@click.option("--list", "list_only", is_flag=True, help="Name the scenarios and what is planted in them.")
@click.option("--nodes", type=int, default=None, metavar="N", help="A generated cluster of N nodes, 16 to 10240.")
@click.option("--real-time", is_flag=True, help="Tests take as long as on a real cluster, and tell how far they are.")
@click.option("--headless", is_flag=True, help="No screen: run the suite and print the summary.")
@db_option
def command(
    scenario: str, list_only: bool, nodes: int | None, real_time: bool, headless: bool, db: Path | None
) -> None:
    """Open the console on a simulated cluster and run its default suite.

    The cluster listens on addresses of 127.0.0.0/8 only and answers real SSH; what it measures
    is computed from planted faults, and every screen and report says SIMULATED. Without a
    terminal, or with --headless, the summary is printed and the exit code is 0 when the suite
    ran through, whatever it found.
    """
    if list_only:
        for each in SCENARIOS.values():
            click.echo(f"{each.name}: {each.summary}")
            for fault in each.faults:
                click.echo(f"  {fault.words}")
        return
    if scenario not in SCENARIOS:
        raise BadInput(f"benchconsole: unknown scenario {scenario!r}, expected one of {', '.join(SCENARIOS)}")
    if nodes is not None:
        if scenario not in ("default", "large"):
            raise BadInput(f"benchconsole: scenario {scenario} has its own size, expected --nodes alone or with large")
        scenario = "large"
        try:
            find_scenario(scenario, nodes)
        except ValueError as error:
            raise BadInput(f"benchconsole: --nodes: {error}") from None
    no_screen = headless or not (sys.stdin.isatty() and sys.stdout.isatty())
    raise click.exceptions.Exit(open_demo(scenario, db, nodes=nodes, screen=not no_screen, real_time=real_time))


def open_demo(
    scenario: str, db: Path | None, *, nodes: int | None = None, screen: bool = True, real_time: bool = False
) -> int:
    """Run the suite of ``scenario``, on the screen or as lines; the exit code. ``nodes``: of the large one.

    In ``real_time`` its tests take as long as on real nodes.
    """
    with tempfile.TemporaryDirectory(prefix="benchconsole-demo-") as folder:
        cluster = SimulatedCluster(scenario, Path(folder), nodes=nodes, real_time=real_time)
        complain(f"starting the simulated cluster {cluster.scenario.name!r} on loopback: {cluster.scenario.summary}")
        if screen:
            return _run_on_screen(cluster, db)
        view, ended_by, losses = asyncio.run(_run_suite(cluster, db))
        code = print_summary(view, ended_by, allow_untested=True, out=sys.stdout, losses=losses)
        return code if ended_by is not None else 0 if view.complete else 4


async def _run_suite(
    cluster: SimulatedCluster, db: Path | None
) -> tuple[RunView, int | None, tuple[DetectableLoss, ...]]:
    from benchconsole.console.session.metadata import SessionChoice
    from benchconsole.console.session.session import Session

    probes = load_installed_probes()
    async with cluster:
        with open_store(db) as store:
            fabric = read_topology(cluster.topology_path, probes)
            session = Session(fabric, probes, store, SessionChoice(label=f"demo {cluster.scenario.name}"))
            view, ended_by = await follow_session(session, session.propose(), None, sys.stdout, quiet=False)
            return view, ended_by, session.list_detectable_losses()


def _run_on_screen(cluster: SimulatedCluster, db: Path | None) -> int:
    with asyncio.Runner() as runner:
        runner.run(cluster.__aenter__())
        try:
            return open_console(str(cluster.topology_path), db, f"demo {cluster.scenario.name}", start=True)
        finally:
            runner.run(cluster.__aexit__(None, None, None))
