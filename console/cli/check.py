"""Checks a topology file and prints what its cables can carry."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.cli.common import db_option, encodable, installed, read_topology, topology_argument
from console.exits import BadInput

if TYPE_CHECKING:
    from topology.model import NodeId


@click.command("check")
@topology_argument
@click.option("--set", "given", multiple=True, metavar="NAME=NUMBER", help="Another value for a parameter of the file.")
@click.option("--width", type=click.IntRange(40, 1000), help="Cells to a line (default: the terminal's).")
@click.option("--session", metavar="SESSION", default=None, help="Take TCP buffers from what nodes told in a session.")
@db_option
@click.option("--json", "as_json", is_flag=True, help="As JSON: network in bit/s, storage in byte/s.")
def command(
    topology: Path, given: tuple[str, ...], width: int | None, session: str | None, db: Path | None, as_json: bool
) -> None:
    """Check TOPOLOGY; show its picture, capacity, redundancy, storage ceilings and findings. Connects to nothing.

    Every problem of the file is listed at once, with line and column; then the exit code is 2.
    What is contradictory or weak in a sound file is a finding, and the exit code stays 0.
    """
    from console.checking.page import page
    from console.checking.record import record
    from topology.analysis.report import static_report

    fabric = read_topology(topology, installed(), parameters=parameters(given))
    report = static_report(fabric, buffers=None if session is None else _buffers(session, db))
    if as_json:
        click.echo(json.dumps(record(fabric, report), indent=1, allow_nan=False))
        return
    cells = width or shutil.get_terminal_size((80, 24)).columns
    for line in page(fabric, report, cells, ascii_only=not encodable()):
        click.echo(line)


def _buffers(session: str, db: Path | None) -> "dict[NodeId, float]":
    """The TCP windows that nodes told to have in a stored session, newest answers first."""
    from console.cli.common import open_store, stored_view
    from console.wire import told_facts
    from topology.analysis.wan import window

    with open_store(db, create=False) as store:
        view = stored_view(store, session, installed())
    windows = {node: window(facts)[0] for node, facts in told_facts(view).items()}
    found = {node: size for node, size in windows.items() if size is not None}
    if not found:
        raise BadInput(f"benchconsole: no node told its TCP buffers in session {view.session}, expected an inventory")
    return found


def parameters(given: Sequence[str]) -> dict[str, int]:
    """The values of ``--set``."""
    found = {}
    for text in given:
        name, _, value = text.partition("=")
        try:
            found[name] = int(value)
        except ValueError:
            raise BadInput(f"benchconsole: --set {text}, expected NAME=NUMBER such as per_tor=2") from None
    return found
