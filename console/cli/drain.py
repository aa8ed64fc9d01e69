"""Takes nodes that failed out of Slurm's service, after showing which and why, and back again.

``benchconsole drain`` reads a stored session; ``benchconsole undrain`` (``console.cli.undrain``) needs none.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.cli.common import db_option, installed, nodes_option, open_store, stored_view
from console.exits import BadInput, Exit, complain

if TYPE_CHECKING:
    from console.view import RunView
    from probes.judging.verdict import Finding, Verdict
    from probes.remote import Remote
    from store.store import Store
    from topology.model import Fabric

head_option = click.option(
    "--head", default=None, metavar="NODE", help="Ask Slurm on this node, over SSH [default: on this machine]."
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node that a session found guilty, with the reason that would be written."""

    node: str
    reason: str
    confidence: str
    sure: bool


@click.command("drain")
@click.argument("session", default="last")
@nodes_option
@head_option
@db_option
@click.option("--yes", is_flag=True, help="Drain them without asking.")
def command(session: str, nodes: str | None, head: str | None, db: Path | None, yes: bool) -> None:
    """Drain in Slurm the nodes that SESSION (id, label, last) found to be at fault, with the reason written.

    Only findings that name a single node or its NIC count; a slow link, trunk or switch drains nobody.
    Findings that are merely possible are shown, and drained only when named with -w. Jobs that run go
    on to their end. The reason begins with "benchconsole": by that, undrain knows its own.

    Exit codes: 0 all of them are drained or there are none, 2 bad input, 3 one could not be drained or nobody agreed.
    """
    with open_store(db, create=False) as store:
        view = stored_view(store, session, installed())
        if view.fabric.simulated:
            raise BadInput("benchconsole: the session is of a simulated cluster; there is nothing to drain")
        chosen = chosen_candidates(view, nodes)
        raise click.exceptions.Exit(asyncio.run(_drain(store, view, chosen, head, yes)))


def candidates(view: "RunView") -> list[Candidate]:
    """The nodes that findings of the session name as the cause, worst first, each once."""
    from probes.judging.verdict import Confidence, Level, Suspect

    found: dict[str, Candidate] = {}
    for finding in view.findings:
        own = finding.suspect in (Suspect.NODE, Suspect.NIC) and len(finding.nodes) == 1
        if own and finding.level is Level.FAIL and finding.confidence is not Confidence.COMPUTED:
            node = finding.nodes[0]
            sure = finding.confidence in (Confidence.CERTAIN, Confidence.LIKELY)
            made = Candidate(node, _reason(view, finding), finding.confidence.value, sure)
            if node not in found or (sure and not found[node].sure):
                found[node] = made
    return list(found.values())


def chosen_candidates(view: "RunView", nodes: str | None) -> list[Candidate]:
    """Those that were named, or all that are sure; BadInput for a name that the session found no fault with."""
    from topology.selection import select

    every = {each.node: each for each in candidates(view)}
    if nodes is None:
        for each in every.values():
            if not each.sure:
                complain(f"{each.node}: left out, the finding is only {each.confidence}; name it with -w to drain it")
        return [each for each in every.values() if each.sure]
    named = select(view.fabric, nodes, None)
    innocent = [name for name in named if name not in every]
    if innocent:
        raise BadInput(f"benchconsole: session {view.session} found no fault with {', '.join(innocent)} itself")
    return [every[name] for name in named]


def _reason(view: "RunView", finding: "Finding") -> str:
    from probes.judging.verdict import Level
    from probes.slurm.drain import reason_for

    low = [
        verdict
        for test in finding.tests
        for verdict in view.verdicts.get(test, ())
        if verdict.level is Level.FAIL and finding.nodes[0] in verdict.nodes
    ]
    if not low:
        return reason_for(view.session, "session", finding.what)
    worst = min(low, key=lambda verdict: verdict.share if verdict.share is not None else 1.0)
    return reason_for(view.session, worst.probe, _words(worst))


def _words(verdict: "Verdict") -> str:
    """``2.9 Gb/s < 8 Gb/s``, with the sign the other way where less is better, or both texts."""
    from console.wording import quantity

    if verdict.value is None or verdict.required is None:
        return f"found {verdict.text or 'nothing'}, expected {verdict.expected_text or 'something else'}"
    sign = "<" if verdict.value < verdict.required else ">"
    value, bound = (quantity(each, verdict.unit, verdict.shown) for each in (verdict.value, verdict.required))
    return f"{verdict.metric.partition('.')[2]} {value} {sign} {bound}"


async def _drain(store: "Store", view: "RunView", chosen: Sequence[Candidate], head: str | None, yes: bool) -> int:
    from console.wording import count, plain
    from probes.errors import ProbeError
    from probes.slurm.drain import drain

    if not chosen:
        click.echo(f"session {view.session} names no node to drain")
        return Exit.PASSED
    for each in chosen:
        click.echo(f"{each.node}: {plain(each.reason)}")
    if not yes and not await agreed(f"drain {count(len(chosen), 'node')}?"):
        return Exit.UNTESTED
    left = 0
    async with slurm_at(view.fabric, head) as remote, _recorder(store, view.session) as record:
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
async def _recorder(store: "Store", session: str) -> "AsyncIterator[Callable[[str], Awaitable[None]]]":
    """Writes beside the results of a session, which stays as it ended; a session that runs is refused before."""
    from store.model import SessionState

    before = store.session(session)
    await store.claim(session)
    try:
        yield lambda text: store.note(session, "drained", text, time.time())
    finally:
        ended = before.ended if before.ended is not None else time.time()
        complete = before.state is SessionState.COMPLETE
        await store.end_session(session, at=ended, complete=complete, because=before.because or "")


async def agreed(question: str) -> bool:
    """Whether the operator said yes; nobody at the terminal is a no."""
    try:
        return await asyncio.to_thread(click.confirm, question, default=False)
    except click.Abort:
        complain("nobody answered: nothing was changed; --yes does it without asking")
        return False


@asynccontextmanager
async def slurm_at(fabric: "Fabric | None", head: str | None) -> "AsyncIterator[Remote]":
    """Where Slurm's commands run: on this machine, or on a node of ``fabric``."""
    from probes.slurm.local import LocalRemote

    if head is None or fabric is None:
        yield LocalRemote("drain")
        return
    from console.session import ssh_reach
    from topology.selection import select

    (name, *others) = select(fabric, head, None)
    if others:
        raise BadInput(f"benchconsole: --head {head} are {1 + len(others)} nodes, expected one")
    reach = ssh_reach(fabric, "drain")
    try:
        yield await reach.remote(fabric.nodes[name])
    finally:
        await reach.close()
