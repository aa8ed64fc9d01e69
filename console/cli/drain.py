"""Takes nodes that a stored session found guilty out of Slurm's service, after showing which and why."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from benchconsole.console.cli import common
from benchconsole.console.exits import BadInput, Exit, complain
from benchconsole.console.session.node_access import make_ssh_reach
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.wording import format_quantity
from benchconsole.probes.model.errors import ProbeError
from benchconsole.probes.model.judgement import Confidence, Finding, Level, Suspect, Verdict
from benchconsole.probes.model.remote import Remote
from benchconsole.probes.reach.slurm.drain import drain, reason_for
from benchconsole.probes.reach.slurm.local_steps import LocalRemote
from benchconsole.store.session_summary import SessionState
from benchconsole.store.store import Store
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.selection import fold, select
from benchconsole.topology.units import counted as count

head_option = click.option(
    "--head", default=None, metavar="NODE", help="Ask Slurm on this node, over SSH [default: on this machine]."
)


@dataclass(frozen=True, slots=True)
class DrainCandidate:
    """A node that a session found guilty, with the reason that would be written."""

    node: str
    reason: str
    confidence: str
    sure: bool


@click.command("drain")
@click.argument("session", default="last")
@common.nodes_option
@head_option
@common.db_option
@click.option("--yes", is_flag=True, help="Drain them without asking.")
def command(session: str, nodes: str | None, head: str | None, db: Path | None, yes: bool) -> None:
    """Drain in Slurm the nodes that SESSION (id, label, last) found to be at fault, with the reason written.

    Only findings that name a single node or its NIC count; a slow link, trunk or switch drains nobody.
    Findings that are merely possible are shown, and drained only when named with -w. Jobs that run go
    on to their end. The reason begins with "benchconsole": by that, undrain knows its own.

    Exit codes: 0 all of them are drained or there are none, 2 bad input, 3 one could not be drained or nobody agreed.
    """
    with common.open_store(db, create=False) as store:
        view = common.read_stored_view(store, session, common.load_installed_probes())
        if view.fabric.simulated:
            raise BadInput("benchconsole: the session is of a simulated cluster; there is nothing to drain")
        chosen = select_candidates(view, nodes)
        raise click.exceptions.Exit(asyncio.run(_drain_nodes(store, view, chosen, head, yes)))


def list_candidates(view: RunView) -> list[DrainCandidate]:
    """The nodes that findings of the session name as the cause, worst first, each once."""
    found: dict[str, DrainCandidate] = {}
    for finding in view.findings:
        own = finding.suspect in (Suspect.NODE, Suspect.NIC) and len(finding.nodes) == 1
        if own and finding.level is Level.FAIL:
            node = finding.nodes[0]
            sure = finding.confidence in (Confidence.CERTAIN, Confidence.LIKELY)
            made = DrainCandidate(node, _make_reason(view, finding), finding.confidence.value, sure)
            if node not in found or (sure and not found[node].sure):
                found[node] = made
    return list(found.values())


def select_candidates(view: RunView, nodes: str | None) -> list[DrainCandidate]:
    """Those that were named, or all that are sure; BadInput for a name that the session found no fault with."""
    every = {each.node: each for each in list_candidates(view)}
    if nodes is None:
        for each in every.values():
            if not each.sure:
                complain(f"{each.node}: left out, the finding is only {each.confidence}; name it with -w to drain it")
        return [each for each in every.values() if each.sure]
    named = select(view.fabric, nodes, None)
    innocent = [name for name in named if name not in every]
    if innocent:
        guilty = f"expected some of {fold(sorted(every))}" if every else "and with no other node"
        raise BadInput(
            f"benchconsole: session {view.session} found no fault with {', '.join(innocent)} itself, {guilty}"
        )
    return [every[name] for name in named]


def _make_reason(view: RunView, finding: Finding) -> str:
    low = [
        verdict
        for test in finding.tests
        for verdict in view.verdicts.get(test, ())
        if verdict.level is Level.FAIL and finding.nodes[0] in verdict.nodes
    ]
    if not low:
        return reason_for(view.session, "session", finding.what)
    worst = min(low, key=lambda verdict: verdict.share if verdict.share is not None else 1.0)
    return reason_for(view.session, worst.probe, _format_shortfall(worst))


def _format_shortfall(verdict: Verdict) -> str:
    """``2.9 Gb/s < 8 Gb/s``, with the sign the other way where less is better, or both texts."""
    if verdict.value is None or verdict.required is None:
        return f"found {verdict.text or 'nothing'}, expected {verdict.expected_text or 'something else'}"
    sign = "<" if verdict.value < verdict.required else ">"
    value, bound = (format_quantity(each, verdict.unit, verdict.shown) for each in (verdict.value, verdict.required))
    return f"{verdict.metric.partition('.')[2]} {value} {sign} {bound}"


async def _drain_nodes(
    store: Store, view: RunView, chosen: Sequence[DrainCandidate], head: str | None, yes: bool
) -> int:
    if not chosen:
        click.echo(f"session {view.session} names no node to drain")
        return Exit.PASSED
    for each in chosen:
        click.echo(f"{each.node}: {sanitize(each.reason)}")
    if not yes and not await common.ask_consent(f"drain {count(len(chosen), 'node')}?"):
        return Exit.UNTESTED
    left = 0
    async with open_slurm(view.fabric, head) as remote, _open_record(store, view.session) as record:
        for each in chosen:
            try:
                await drain(remote, each.node, each.reason)
            except ProbeError as error:
                complain(f"not drained: {error}")
                left += 1
            else:
                click.echo(f"{each.node}: drained")
                await record(f"{each.node}: {each.reason}")
    return Exit.UNTESTED if left else Exit.PASSED


@asynccontextmanager
async def _open_record(store: Store, session: str) -> AsyncIterator[Callable[[str], Awaitable[None]]]:
    """Writes beside the results of a session, which stays as it ended; a session that runs is refused before."""
    before = store.session(session).describe()
    await store.session(session).claim()
    try:
        yield lambda text: store.session(session).append_note("drained", text, time.time())
    finally:
        ended = before.ended if before.ended is not None else time.time()
        complete = before.state is SessionState.COMPLETE
        await store.session(session).end(at=ended, complete=complete, because=before.because or "")


@asynccontextmanager
async def open_slurm(fabric: Fabric | None, head: str | None) -> AsyncIterator[Remote]:
    """Where Slurm's commands run: on this machine, or on a node of ``fabric``."""
    if head is None or fabric is None:
        yield LocalRemote("drain")
        return
    (name, *others) = select(fabric, head, None)
    if others:
        raise BadInput(f"benchconsole: --head {head} are {1 + len(others)} nodes, expected one")
    reach = make_ssh_reach(fabric, "drain")
    try:
        yield await reach.remote(fabric.nodes[name])
    finally:
        await reach.close()
