"""Ends and removes what earlier sessions left on nodes, after showing it."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from benchconsole.console.cli import common
from benchconsole.console.exits import Exit, complain
from benchconsole.console.session.node_access import make_ssh_reach
from benchconsole.console.text.sanitize import sanitize
from benchconsole.probes.api import Probe
from benchconsole.probes.hygiene.leftover_proof import AT_ONCE, Touched, describe_directory, describe_process, touched
from benchconsole.probes.leftovers import Leftovers, end_processes, find_leftovers, remove_directories
from benchconsole.probes.model.errors import ProbeError
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.model.remote import Reach, Remote, ask_all
from benchconsole.probes.scratch import root_of
from benchconsole.store.files.paths import default_path
from benchconsole.store.model import SessionSummary
from benchconsole.store.store import Store
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.selection import select
from benchconsole.topology.units import counted as count


@dataclass(frozen=True, slots=True)
class _CleanScope:
    """What is looked for: of one session or of any, below these directories, as ourselves or for all users."""

    session: str | None
    scratch: Mapping[NodeId, Sequence[str]]
    privileged: bool


_NodeLeftovers = tuple[Remote, Leftovers]
"""A node with something on it."""


@click.command("clean")
@common.topology_argument
@common.nodes_option
@common.exclude_option
@click.option("--session", default=None, metavar="SESSION", help="Only what this session left (id, label, last).")
@click.option("--all-users", is_flag=True, help="Search as the administrator (sudo), also for what others left.")
@common.db_option
@click.option("--yes", is_flag=True, help="End and remove it without asking.")
def command(
    topology: Path, nodes: str | None, exclude: str | None, session: str | None, all_users: bool, db: Path | None,
    yes: bool,
) -> None:  # fmt: skip
    """Show what sessions left on the nodes of TOPOLOGY and, with consent, end and remove it.

    Leftovers are processes that carry our marker and scratch directories with our mark in them, by
    session. Where to look for directories follows from the suites of TOPOLOGY and from the
    stored sessions. What is not ours beyond doubt is named and left alone. Leftovers of a
    session that is running now are found too: its tests would fail.

    Exit codes: 0 nothing of ours is left, 2 bad input, 3 something is, or a node could not be searched.
    """
    probes = common.load_installed_probes()
    fabric = common.read_topology(topology, probes)
    chosen = select(fabric, nodes, exclude)
    key, known, touched = _read_stored_plans(db, fabric, session)
    scratch = _list_roots(fabric, probes, touched)
    wanted = _CleanScope(key, scratch, all_users)
    raise click.exceptions.Exit(asyncio.run(_clean(fabric, chosen, wanted, known, yes)))


def _read_stored_plans(
    db: Path | None, fabric: Fabric, session: str | None
) -> tuple[str | None, dict[str, SessionSummary], Touched]:
    """The session's id, the sessions that the store knows, and what they touched; a store need not exist."""
    if db is None and not default_path().exists():
        return session, {}, Touched()
    with common.open_store(db, create=False) as store:
        key = store.find_session(session) if session is not None else None
        known = {each.id: each for each in store.list_sessions()}
        # Sessions that came to their end searched their nodes themselves.
        left = [each.id for each in known.values() if each.fabric == fabric.name and each.state.value != "complete"]
        ours = left if key is None else [key]
        return key, known, touched(each for name in ours for each in _read_plan(store, name))


def _read_plan(store: Store, session: str) -> Iterable[Round]:
    from benchconsole.console.session.metadata import describe_fabric

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


async def _clean(
    fabric: Fabric, names: Sequence[NodeId], wanted: _CleanScope, known: Mapping[str, SessionSummary], yes: bool
) -> int:
    reach = make_ssh_reach(fabric, "clean")
    try:
        found, silent = await _search_nodes(reach, fabric, names, wanted)
        _show_leftovers(found, known)
        total = sum(len(left.processes) + sum(not each.because for each in left.directories) for _, left in found)
        stays = sum(len(left.directories) + len(left.processes) for _, left in found)
        if not stays:
            click.echo(f"nothing of ours is left on {count(len(names) - silent, 'node')}")
        elif total and (yes or await common.ask_consent(f"end and remove these {total}?", "nothing was ended")):
            stays = await _end_leftovers(found, wanted)
        return Exit.UNTESTED if silent or stays else Exit.PASSED
    finally:
        await reach.close()


async def _search_nodes(
    reach: Reach, fabric: Fabric, names: Sequence[NodeId], wanted: _CleanScope
) -> tuple[list[_NodeLeftovers], int]:
    """What was found, and how many nodes could not be searched (each is complained about)."""

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


def _show_leftovers(found: Sequence[_NodeLeftovers], known: Mapping[str, SessionSummary]) -> None:
    by_session: dict[str, list[str]] = {}
    for remote, left in found:
        for process in left.processes:
            by_session.setdefault(process.session, []).append(f"{remote.node}: {describe_process(process)}")
        for directory in left.directories:
            words = f"{remote.node}: {describe_directory(directory)}"
            by_session.setdefault(directory.session, []).append(words)
    for session, lines in by_session.items():
        click.echo(_format_headline(session, known.get(session)))
        for line in lines:
            click.echo(f"  {sanitize(line)}")


def _format_headline(session: str, known: SessionSummary | None) -> str:
    if known is None:
        return f"session {sanitize(session) or 'without an id'}, not in this database"
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
