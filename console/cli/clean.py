"""Ends and removes what earlier sessions left on nodes, after showing it."""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from benchconsole.console.cli import common
from benchconsole.console.exits import BadInput, Exit, complain
from benchconsole.console.text.sanitize import sanitize
from benchconsole.probes.api import Probe
from benchconsole.probes.hygiene.leftover_proof import AT_ONCE, Touched, describe_directory, describe_process, touched
from benchconsole.probes.leftovers import Leftovers, end_processes, find_leftovers, remove_directories
from benchconsole.probes.model.errors import ProbeError
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.model.remote import Reach, Remote, ask_all
from benchconsole.probes.scratch import root_of
from benchconsole.store.errors import UnknownSessionError
from benchconsole.store.files.paths import default_path
from benchconsole.store.session_summary import SessionState, SessionSummary
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.selection import select
from benchconsole.topology.units import counted as count


@dataclass(frozen=True, slots=True)
class _CleanScope:
    """The scope of a search: one session or any, below these directories, as ourselves or for all users."""

    session: str | None
    known: Mapping[str, SessionSummary]
    scratch: Mapping[NodeId, Sequence[str]]
    privileged: bool

    def why_left_alone(self, session: str) -> str:
        """Why nothing of ``session`` is ended; empty where it may be: it was named, or is ours and is over.

        Another operator's console may drive a session that our database does not know.
        """
        if self.session is not None:
            return ""
        known = self.known.get(session)
        if known is None:
            return "not in this database, may be running"
        return "running now" if known.state is SessionState.RUNNING else ""


_FULL_ID = re.compile(r"[0-9a-f]{8}")
_BY_AGE = re.compile(r"last(-[0-9]+)?")
_NodeLeftovers = tuple[Remote, Leftovers]
"""A node with something on it."""


@click.command("clean")
@common.topology_argument
@common.nodes_option
@common.exclude_option
@click.option("--session", default=None, metavar="SESSION", help="Only of this one (id, label, last), running or not.")
@click.option("--all-users", is_flag=True, help="Search as the administrator (sudo), also for what others left.")
@common.db_option
@click.option("--yes", is_flag=True, help="End and remove it without asking, but of no session that may be running.")
def command(
    topology: Path, nodes: str | None, exclude: str | None, session: str | None, all_users: bool, db: Path | None,
    yes: bool,
) -> None:  # fmt: skip
    """Show what sessions left on the nodes of TOPOLOGY and, with consent, end and remove it.

    Leftovers are processes that carry our marker and scratch directories with our mark in them, by
    session. Where to look for directories follows from the suites of TOPOLOGY and from the
    stored sessions. Leftovers that are not ours beyond doubt are named and left alone. So is what belongs
    to a session that is running now, or that is not in this database and may be another
    operator's: --session ID ends it, and its tests fail.

    Exit codes: 0 nothing of ours is left, 2 bad input, 3 something is, or a node could not be searched.
    """
    probes = common.load_installed_probes()
    fabric = common.read_topology(topology, probes)
    chosen = select(fabric, nodes, exclude)
    key, known, touched = _read_stored_plans(db, fabric, session)
    scratch = _list_roots(fabric, probes, touched)
    wanted = _CleanScope(key, known, scratch, all_users)
    raise click.exceptions.Exit(asyncio.run(_clean(fabric, chosen, wanted, yes)))


def _read_stored_plans(
    db: Path | None, fabric: Fabric, session: str | None
) -> tuple[str | None, dict[str, SessionSummary], Touched]:
    """The session's id, the sessions that the store knows, and what they touched; a store need not exist."""
    if not (db or default_path()).exists():
        if session is not None and _BY_AGE.fullmatch(session):
            raise BadInput(f"benchconsole: --session {session} without a database, expected the id of a session")
        return session, {}, Touched()
    with common.open_store(db, create=False) as store:
        key = _find_session(store, session) if session is not None else None
        known = {each.id: each for each in store.list_sessions()}
        # Sessions that came to their end searched their nodes themselves.
        left = [each.id for each in known.values() if each.fabric == fabric.name and each.state.value != "complete"]
        ours = left if key is None else [key] if key in known else []
        return key, known, touched(each for name in ours for each in _read_plan(store, name))


def _find_session(store: Store, name: str) -> str:
    """The id of a session; a whole id is taken as it is where the database does not know it."""
    try:
        return store.find_session(name)
    except UnknownSessionError:
        if _FULL_ID.fullmatch(name):
            return name
        raise


def _read_plan(store: Store, session: str) -> Iterable[Round]:
    from benchconsole.console.session.stored_fabric import describe_fabric

    new = store.session(session).describe().new
    return store.session(session).read_plan(describe_fabric(new))


def _list_roots(fabric: Fabric, probes: Mapping[str, Probe], stored: Touched) -> dict[NodeId, tuple[str, ...]]:
    """The scratch directories of every node: those of the suites as they are now, and those of stored plans."""
    found: dict[NodeId, dict[str, None]] = {name: dict.fromkeys(each) for name, each in stored.scratch.items()}
    for suite in fabric.suites.values():
        for stage in suite.stages:
            probe = probes.get(stage.probe)
            root = root_of({**(probe.options if probe else {}), **stage.options})
            for name in stage.nodes if root is not None else ():
                found.setdefault(name, {})[str(root)] = None
    return {name: tuple(each) for name, each in found.items()}


async def _clean(fabric: Fabric, names: Sequence[NodeId], wanted: _CleanScope, yes: bool) -> int:
    reach = common.make_asking_reach(fabric, "clean")
    try:
        found, silent = await _search_nodes(reach, fabric, names, wanted)
        _show_leftovers(found, wanted)
        ours = _leave_running_alone(found, wanted)
        total = sum(not each.because for _, left in ours for each in left.found)
        stays = _count_leftovers(found)
        if not stays:
            click.echo(f"nothing of ours is left on {count(len(names) - silent, 'node')}")
        elif total and (yes or await common.ask_consent(f"end and remove these {total}?", "nothing was ended")):
            stays += await _end_leftovers(ours, wanted) - _count_leftovers(ours)
        return Exit.UNTESTED if silent or stays else Exit.PASSED
    finally:
        await reach.close()


async def _search_nodes(
    reach: Reach, fabric: Fabric, names: Sequence[NodeId], wanted: _CleanScope
) -> tuple[list[_NodeLeftovers], int]:
    """The leftovers that were found, and how many nodes could not be searched (each is complained about)."""

    async def ask(name: NodeId) -> tuple[_NodeLeftovers | None, bool]:
        try:
            remote = await reach.remote(fabric.nodes[name])
            roots = wanted.scratch.get(name, ())
            found = await find_leftovers(remote, wanted.session, roots, privileged=wanted.privileged)
        except ProbeError as error:
            complain(str(error) if str(error).startswith(name) else f"{name}: {error}")
            return None, True
        for why in found.unseen:
            complain(f"{name}: {why}")
        return None if found.is_empty else (remote, found), bool(found.unseen)

    asked = await ask_all(names, ask, AT_ONCE)
    return [each for each, _ in asked if each is not None], sum(silent for _, silent in asked)


def _count_leftovers(found: Sequence[_NodeLeftovers]) -> int:
    return sum(len(left.found) for _, left in found)


def _leave_running_alone(found: Sequence[_NodeLeftovers], wanted: _CleanScope) -> list[_NodeLeftovers]:
    """The leftovers of ``found`` that may be ended; sessions that are left alone are told with the way to end them."""
    everything = [each for _, left in found for each in left.found]
    # what carries no id belongs to no session that could be named
    for session in dict.fromkeys(each.session for each in everything if not each.because):
        if wanted.why_left_alone(session):
            name = sanitize(session)
            click.echo(f"left alone: session {name}; end it with --session {name}")
    ours = []
    for remote, left in found:
        processes = tuple(each for each in left.processes if not wanted.why_left_alone(each.session))
        directories = tuple(each for each in left.directories if not wanted.why_left_alone(each.session))
        if processes or directories:
            ours.append((remote, replace(left, processes=processes, directories=directories)))
    return ours


def _show_leftovers(found: Sequence[_NodeLeftovers], wanted: _CleanScope) -> None:
    by_session: dict[str, list[str]] = {}
    for remote, left in found:
        for process in left.processes:
            by_session.setdefault(process.session, []).append(f"{remote.node}: {describe_process(process)}")
        for directory in left.directories:
            words = f"{remote.node}: {describe_directory(directory)}"
            by_session.setdefault(directory.session, []).append(words)
    for session, lines in by_session.items():
        click.echo(_format_headline(session, wanted.known.get(session)))
        for line in lines:
            click.echo(f"  {sanitize(line)}")


def _format_headline(session: str, known: SessionSummary | None) -> str:
    if known is None:
        return f"session {sanitize(session) or 'without an id'}, not in this database, may be running"
    label = f" ({sanitize(known.label)})" if known.label else ""
    if known.state.value == "running":
        return f"session {known.id}{label}, WHICH IS RUNNING NOW: its tests would fail"
    return f"session {known.id}{label}, {known.state.value}"


async def _end_leftovers(found: Sequence[_NodeLeftovers], wanted: _CleanScope) -> int:

    async def one(remote: Remote, found: Leftovers) -> int:
        total = len(found.processes) + len(found.directories)
        try:
            alive = await end_processes(remote, found.processes, privileged=wanted.privileged)
            stays = await remove_directories(remote, found.directories, privileged=wanted.privileged)
        except ProbeError as error:
            complain(f"{remote.node}: {error}")
            return total
        left = [*map(describe_process, alive), *map(describe_directory, stays)]
        click.echo(f"{remote.node}: ended or removed {total - len(left)} of {total}")
        for words in left:
            click.echo(f"  left alone: {sanitize(words)}")
        return len(left)

    return sum(await asyncio.gather(*(one(*each) for each in found)))
