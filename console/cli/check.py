"""Checks a topology file and prints what its cables can carry."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchconsole.console.cli import common
from benchconsole.console.exits import BadInput, Exit
from benchconsole.topology.analysis.wan import find_window
from benchconsole.topology.collector import pause_collector
from benchconsole.topology.model.fabric import NodeId

if TYPE_CHECKING:
    from benchconsole.topology.analysis.static_analysis import StaticReport


@click.command("check")
@common.topology_argument
@common.parameters_option
@click.option("--width", type=click.IntRange(40, 1000), help="Columns of a line [those of the terminal].")
@click.option("--session", metavar="SESSION", default=None, help="Take TCP buffers from what nodes told in a session.")
@common.db_option
@click.option("--brief", is_flag=True, help="Only the verdict: one screen.")
@click.option("--findings", "only_findings", is_flag=True, help="Only the findings, all of them.")
@click.option("--strict", is_flag=True, help="End with 1 where there is an error, with 3 where there is a warning.")
@click.option("--json", "as_json", is_flag=True, help="As JSON: network in bit/s, storage in byte/s.")
@pause_collector()
def command(
    topology: Path, given: tuple[str, ...], width: int | None, session: str | None, db: Path | None, brief: bool,
    only_findings: bool, strict: bool, as_json: bool,
) -> None:  # fmt: skip
    """Check TOPOLOGY; show its verdict, picture, capacity, redundancy, storage ceilings and findings. Connects to
    nothing.

    Every problem of the file is listed at once, with line and column; then the exit code is 2.
    A contradiction or a weakness in a sound file is a finding, and the exit code stays 0 without --strict.
    """
    from benchconsole.console.static_report.check_page import format_brief, format_findings, format_page
    from benchconsole.topology.analysis.static_analysis import make_static_report

    if brief + only_findings + as_json > 1:
        raise BadInput("benchconsole: more than one of --brief, --findings and --json, expected one form of output")
    fabric = common.read_topology(topology, given=given)
    report = make_static_report(fabric, buffers=None if session is None else _read_buffers(session, db))
    if as_json:
        from benchconsole.console.static_report.check_json import make_check_record

        common.print_json(make_check_record(fabric, report))
    else:
        cells = width or shutil.get_terminal_size((80, 24)).columns
        form = format_brief if brief else format_findings if only_findings else format_page
        for line in form(fabric, report, cells, ascii_only=not common.can_show_unicode()):
            click.echo(line)
    if strict:
        raise SystemExit(_find_exit(report))


def _find_exit(report: "StaticReport") -> Exit:
    """The exit code of --strict; errors win over warnings."""
    found = {each.severity.value for each in report.findings}
    return Exit.BELOW if "error" in found else Exit.UNTESTED if "warning" in found else Exit.PASSED


def _read_buffers(session: str, db: Path | None) -> dict[NodeId, float]:
    """The TCP windows that nodes told to have in a stored session, newest answers first."""
    from benchconsole.console.static_report.wire_diff import read_node_facts

    with common.open_store(db, create=False) as store:
        view = common.read_stored_view(store, session, common.load_installed_probes())
    windows = {node: find_window(facts)[0] for node, facts in read_node_facts(view).items()}
    found = {node: size for node, size in windows.items() if size is not None}
    if not found:
        raise BadInput(f"benchconsole: no node told its TCP buffers in session {view.session}, expected an inventory")
    return found
