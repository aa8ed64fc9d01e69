"""Stores what was measured elsewhere: outputs of a batch job, or taken by hand."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from benchconsole.console.cli import common
from benchconsole.console.exits import BadInput, complain
from benchconsole.console.session.captures import CapturedOutput, GivenConditions, find_ending
from benchconsole.console.session.ingest import ingest, ingest_into
from benchconsole.console.session.judged_fabric import load_judged_fabric
from benchconsole.console.session.metadata import COHORT, SessionChoice, make_settings
from benchconsole.console.session.run_options import make_cohort_options
from benchconsole.console.view.session_verdict import decide
from benchconsole.probes.api import Output, Probe
from benchconsole.probes.model.errors import PlanError
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import SelectionError, find_near
from benchconsole.topology.model.cohorts import VALUE_WORDS, is_value
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.model.sweep import CLIENTS
from benchconsole.topology.port_selection import select_ports
from benchconsole.topology.selection import select

_OF_TABLES = frozenset(("topology", "probe", "files", "at", "label", "given", "db"))
"""The parameters that tables take, too."""


@click.command("ingest")
@click.argument("topology", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("probe")
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option(
    "--node", "node", default=None, metavar="NODE[:PORT]", help="The node that the output is of; of a pair, the sender."
)
@click.option("--peer", default=None, metavar="NODE[:PORT]", help="The receiver of a pair.")
@click.option("--members", default=None, metavar="NODES", help="All nodes that the output is of, such as n[1-4].")
@click.option(
    "--labels",
    multiple=True,
    metavar="NAME=VALUE",
    help="A label that the output does not tell: operation=read.",
)
@click.option(
    "--cohort", "cohorts", multiple=True, metavar="DIMENSION=NAME", help="A label of the phase or place: tuning=after."
)
@click.option(
    "--point", "points", multiple=True, metavar="AXIS=VALUE", help="The point of a sweep that they are: tasks=56."
)
@click.option("--stage", default="", metavar="NAME", help="The stage that they belong to instead of their probe.")
@click.option("--at-once", is_flag=True, help="The outputs are of tests that ran at the same time: one round.")
@click.option(
    "--network", default="", metavar="NAME", help="The network that it was measured over, where there are several."
)
@click.option(
    "--stderr", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="A file with its standard error."
)
@click.option("--exit-status", type=int, default=0, help="The exit status of the command.")
@common.command_option
@click.option("--at", "at", default=None, metavar="TIME", help="When it was measured: 2026-11-21T14:00:00Z.")
@common.parameters_option
@click.option("--session", default=None, metavar="SESSION", help="Add it to this session instead of a new one.")
@click.option("--label", default="", help="A name for the new session.")
@common.db_option
def command(
    topology: Path, probe: str, files: tuple[str, ...], node: str | None, peer: str | None, members: str | None,
    labels: tuple[str, ...], cohorts: tuple[str, ...], points: tuple[str, ...], stage: str, at_once: bool,
    network: str, stderr: Path | None, exit_status: int, typed: str, at: str | None, given: tuple[str, ...],
    session: str | None, label: str, db: Path | None,
) -> None:  # fmt: skip
    """Read what PROBE printed from each FILE (- is standard input) and store it, judged, as a session.

    Instead of PROBE and its outputs, tables that were typed from documents: ingest TOPOLOGY VALUES.csv... Their first
    line names the columns: metric, value, unit, nodes, statistic, n, error, deviation, labels, cohort, date, round,
    source.

    Without --node each file is of the node that it is named after (n01.txt, n01.json). Several files are several
    tests, of which each ran by itself unless --at-once is given. Labels, cohorts and the point of a sweep that are
    given hold for all of them. An output of a test that the session knows replaces the known one where --at says that
    it is later; else both count. Nothing is asked of any node. The exit codes are those of run.
    """
    probes = common.load_installed_probes()
    if probe.endswith(".csv"):
        _refuse_with_tables()
        _ingest_tables(topology, (probe, *files), at, label, given, db)
        return
    if probe not in probes:
        raise BadInput(f"unknown probe {probe!r}, expected one of {', '.join(probes)}, or a table such as values.csv")
    if not files:
        raise BadInput(f"found no output of {probe}, expected its files, or - for standard input")
    if session is not None and given:
        raise BadInput("found --set with --session, expected one of them: a session keeps its parameters")
    fabric = common.read_topology(topology, probes, given)
    conditions = GivenConditions(
        common.parse_at(at),
        _read_labels(probes[probe], labels),
        _read_cohorts(fabric, probes[probe], cohorts),
        _read_point(probes[probe], points),
        _read_stage(stage),
        at_once=at_once,
        is_dated=at is not None,
    )
    said = Output(common.read_command(typed, probe), b"", stderr.read_bytes() if stderr else b"", exit_status)
    with common.open_store(db) as store:
        try:
            (first, port), (second, peer_port) = _split_port(fabric, node), _split_port(fabric, peer)
            found = [_read_captured(said, name, _select_nodes(fabric, name, first, second, members)) for name in files]
            found = [replace(each, network=network, ports=(port, peer_port)) for each in found]
            if session is None:
                choice = SessionChoice(label=label, options=make_settings(fabric, given))
                key = asyncio.run(ingest(store, fabric, probes[probe], found, choice=choice, given=conditions))
            else:
                key = asyncio.run(_ingest_into(store, session, fabric, probes[probe], found, conditions))
        except PlanError as error:
            raise BadInput(str(error)) from None
        for each in found:
            if ending := find_ending(probes[probe], each.output):
                complain(f"{each.source}: {ending}")
        _tell(store, key, probes)


def _refuse_with_tables() -> None:
    """BadInput for an option that tables do not take: their rows say it, and a session of theirs is a new one."""
    context = click.get_current_context()
    for option in context.command.params:
        if (
            option.name not in _OF_TABLES
            and context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        ):
            raise BadInput(f"found {option.opts[0]} with a table, expected it in the columns of the table, or no table")


def _tell(store: Store, key: str, probes: Mapping[str, Probe]) -> None:
    """Print the summary of what was stored, and end with its verdict."""
    from benchconsole.console.reports import ReportOptions, render
    from benchconsole.console.reports.content import SessionDetails
    from benchconsole.console.session.session import Session
    from benchconsole.console.session.stored_verdict import keep_verdict

    stored = Session.stored(store, key, probes)
    view = stored.view()
    verdict = decide(view)
    asyncio.run(keep_verdict(store, key, verdict))
    details = SessionDetails(notes=store.session(key).read_notes(), losses=stored.list_detectable_losses())
    render("text", view, sys.stdout, ReportOptions(details=details))
    raise click.exceptions.Exit(verdict.exit_code())


def _ingest_tables(
    topology: Path, files: Sequence[str], at: str | None, label: str, given: Sequence[str], db: Path | None
) -> None:
    """Store tables as one session; BadInput with every bad row of all of them, and nothing stored."""
    from benchconsole.console.session.typed_table import TableReader, ingest_tables

    probes = common.load_installed_probes()
    fabric = common.read_topology(topology, probes, given)
    reader = TableReader(fabric, probes, common.parse_at(at))
    tables, problems = {}, []
    for name in files:
        try:
            tables[name] = reader.read(Path(name))
        except SelectionError as error:
            problems.append(str(error))
    if problems:
        raise BadInput("\n".join(problems))
    choice = SessionChoice(label=label, options=make_settings(fabric, given))
    with common.open_store(db) as store:
        key = asyncio.run(ingest_tables(store, fabric, probes, tables, choice))
        _tell(store, key, probes)


async def _ingest_into(
    store: Store, name: str, fabric: Fabric, probe: Probe, found: Sequence[CapturedOutput], given: GivenConditions
) -> str:
    """Add to a stored session; BadInput where that is of another fabric."""
    key = store.find_session(name)
    new = store.session(key).describe().new
    if new.fabric != fabric.name:
        raise BadInput(
            f"benchconsole: session {name} is of fabric {new.fabric}, the topology describes {fabric.name}; expected "
            f"the topology of {new.fabric}, or no --session for a session of its own"
        )
    await ingest_into(store, key, load_judged_fabric(store.session(key)), probe, found, given=given)
    return key


def _read_labels(probe: Probe, given: Sequence[str]) -> dict[str, str]:
    """Labels as NAME=VALUE; BadInput for one that no number of the probe carries, and for one given twice."""
    found: dict[str, str] = {}
    for text in given:
        name, _, value = text.partition("=")
        known = probe.label_names
        if known is not None and name not in known:
            near = find_near(name, known)
            hint = f"; did you mean {near}?" if near else ""
            raise BadInput(f"--labels {text}: expected NAME=VALUE with one of {', '.join(sorted(known))}{hint}")
        if name in found or not name or not is_value(value):
            expected = "each name once" if name in found else f"NAME=VALUE, the value {VALUE_WORDS}"
            raise BadInput(f"--labels {text}: expected {expected}")
        found[name] = value
    return found


def _read_cohorts(fabric: Fabric, probe: Probe, given: Sequence[str]) -> dict[str, str]:
    """Cohorts as DIMENSION=NAME; BadInput as ``run --cohort``, and for a label that the probe itself gives."""
    found = {name.removeprefix(COHORT): str(value) for name, value in make_cohort_options(fabric, given).items()}
    for name in found:
        if name in (probe.label_names or ()) or name in probe.options:
            raise BadInput(f"--cohort {name}: found a label of {probe.name}, expected another word, or --labels")
    return found


def _read_point(probe: Probe, given: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Axes and values of a point as AXIS=VALUE; BadInput for what is no axis of the probe, and for one given twice."""
    known = {*probe.options, *(probe.label_names or ()), CLIENTS}
    found: dict[str, str] = {}
    for text in given:
        name, _, value = text.partition("=")
        if name not in known:
            near = find_near(name, known)
            hint = f"; did you mean {near}?" if near else ""
            raise BadInput(f"--point {text}: expected AXIS=VALUE with one of {', '.join(sorted(known))}{hint}")
        if name in found or not is_value(value):
            expected = "each axis once" if name in found else f"AXIS=VALUE, the value {VALUE_WORDS}"
            raise BadInput(f"--point {text}: expected {expected}")
        found[name] = value
    return tuple(found.items())


def _read_stage(name: str) -> str:
    if name and not is_value(name):
        raise BadInput(f"--stage {name}: expected {VALUE_WORDS}")
    return name


def _select_nodes(
    fabric: Fabric, file: str, node: str | None, peer: str | None, members: str | None
) -> tuple[NodeId, ...]:
    """Whom an output is of: as the options say, else the node that its file is named after."""
    if members is not None:
        if node is not None or peer is not None:
            raise BadInput("found --members with --node or --peer, expected the one or the others")
        return tuple(select(fabric, members, None))
    first = node if node is not None else Path(file).name.partition(".")[0]
    if node is None and first not in fabric.nodes:
        raise BadInput(f"{file}: the topology has no node {first!r}; name it with --node")
    return tuple(NodeId(each) for each in (first, peer) if each is not None)


def _split_port(fabric: Fabric, end: str | None) -> tuple[str | None, str]:
    """The node of an end, and the port that it names; SelectionError for one that the node does not have."""
    if end is None or ":" not in end:
        return end, ""
    found = select_ports(fabric, end)
    if len(found) != 1 or len(found[0].nodes) != 1:
        raise BadInput(f"found {end!r}, expected one node with one of its ports, as in n01:p1")
    return found[0].nodes[0], found[0].port or ""


def _read_captured(said: Output, name: str, nodes: tuple[NodeId, ...]) -> CapturedOutput:
    """The output in a file, with what is ``said`` of all of them."""
    try:
        text = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise BadInput(f"{name}: cannot be read: {error.strerror}") from None
    return CapturedOutput(nodes, replace(said, stdout=text, node=nodes[0]), name)
