"""Opens the console on a simulated cluster that answers real SSH on loopback."""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.cli.common import db_option, installed, open_store, read_topology
from console.exits import BadInput, complain

if TYPE_CHECKING:
    from console.view import RunView


@click.command("demo")
@click.argument("scenario", default="default")
@click.option("--list", "list_only", is_flag=True, help="Name the scenarios and what is planted in them.")
@click.option("--headless", is_flag=True, help="No screen: run the suite and print the summary.")
@db_option
def command(scenario: str, list_only: bool, headless: bool, db: Path | None) -> None:
    """Open the console on a simulated cluster and run its default suite.

    The cluster listens on addresses of 127.0.0.0/8 only and answers real SSH; what it measures
    is computed from planted faults, and every screen and report says SIMULATED. Without a
    terminal, or with --headless, the summary is printed and the exit code is 0 when the suite
    ran through, whatever it found.
    """
    from console.demo.scenarios import SCENARIOS

    if list_only:
        for each in SCENARIOS.values():
            click.echo(f"{each.name}: {each.summary}")
            for fault in each.faults:
                click.echo(f"  {fault.words}")
        return
    if scenario not in SCENARIOS:
        raise BadInput(f"benchconsole: unknown scenario {scenario!r}, expected one of {', '.join(SCENARIOS)}")
    no_screen = headless or not (sys.stdin.isatty() and sys.stdout.isatty())
    raise click.exceptions.Exit(open_demo(scenario, db, screen=not no_screen))


def open_demo(scenario: str, db: Path | None, *, screen: bool = True) -> int:
    """Run the suite of ``scenario``, on the screen or as lines; the exit code."""
    with tempfile.TemporaryDirectory(prefix="benchconsole-demo-") as folder:
        return _on_screen(scenario, Path(folder), db) if screen else _headless(scenario, Path(folder), db)


def _headless(scenario: str, folder: Path, db: Path | None) -> int:
    from console.cli.run import finish

    view, ended_by = asyncio.run(_run(scenario, folder, db))
    code = finish(view, ended_by, allow_untested=True, out=sys.stdout)
    if ended_by is not None:
        return code
    return 0 if view.complete else 4


async def _run(scenario: str, folder: Path, db: Path | None) -> "tuple[RunView, int | None]":
    from console.cli.run import follow
    from console.demo.cluster import SimulatedCluster
    from console.session import Choice, Session

    probes = installed()
    complain(f"starting the simulated cluster {scenario!r} on loopback")
    async with SimulatedCluster(scenario, folder) as cluster:
        with open_store(db) as store:
            fabric = read_topology(cluster.topology_path, probes)
            session = Session(fabric, probes, store, Choice(label=f"demo {scenario}"))
            return await follow(session, session.propose(), None, sys.stdout, quiet=False)


def _on_screen(scenario: str, folder: Path, db: Path | None) -> int:
    from console.cli.open import open_console
    from console.demo.cluster import SimulatedCluster

    cluster: SimulatedCluster = SimulatedCluster(scenario, folder)
    with asyncio.Runner() as runner:
        complain(f"starting the simulated cluster {scenario!r} on loopback")
        runner.run(cluster.__aenter__())
        try:
            return open_console(str(cluster.topology_path), db, f"demo {scenario}", start=True)
        finally:
            runner.run(cluster.__aexit__(None, None, None))
