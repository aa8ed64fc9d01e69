"""Ends what earlier sessions left running on nodes, after showing it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.cli.common import exclude_option, installed, nodes_option, read_topology, topology_argument
from console.exits import Exit, complain

if TYPE_CHECKING:
    from probes.remote import Reach, Remote
    from probes.sweep import Leftover
    from topology.model import Fabric, NodeId

    Found = list[tuple[Remote, tuple[Leftover, ...]]]


@click.command("clean")
@topology_argument
@nodes_option
@exclude_option
@click.option("--session", default=None, metavar="ID", help="Only what this session started.")
@click.option("--yes", is_flag=True, help="End it without asking.")
def command(topology: Path, nodes: str | None, exclude: str | None, session: str | None, yes: bool) -> None:
    """Show processes that carry our marker on the nodes of TOPOLOGY and, with consent, end them.

    Only processes of your own user that were started by benchconsole are found. A session that
    is running now is found too: its tests would fail.
    """
    from topology.selection import select

    fabric = read_topology(topology, installed())
    raise click.exceptions.Exit(asyncio.run(_clean(fabric, select(fabric, nodes, exclude), session, yes)))


async def _clean(fabric: "Fabric", names: "Sequence[NodeId]", session: str | None, yes: bool) -> int:
    from console.session import ssh_reach
    from console.wording import count, plain

    reach = ssh_reach(fabric, "clean")
    try:
        found, silent = await _search(reach, fabric, names, session)
        for remote, left in found:
            for each in left:
                click.echo(f"{remote.node}: process {each.pid} of session {each.session}: {plain(' '.join(each.argv))}")
        total = sum(len(left) for _, left in found)
        if not total:
            click.echo(f"nothing of ours runs on {count(len(names) - len(silent), 'node')}")
        elif yes or await asyncio.to_thread(click.confirm, f"end {total} of them?", default=False):
            await _end(found)
        return Exit.UNTESTED if silent else Exit.PASSED
    finally:
        await reach.close()


async def _search(
    reach: "Reach", fabric: "Fabric", names: "Sequence[NodeId]", session: str | None
) -> "tuple[Found, list[str]]":
    """What was found, and the nodes that could not be asked (each is complained about)."""
    from probes.errors import ProbeError
    from probes.sweep import leftovers

    silent: list[str] = []

    async def ask(name: "NodeId") -> "tuple[Remote, tuple[Leftover, ...]] | None":
        try:
            remote = await reach.remote(fabric.nodes[name])
            return remote, await leftovers(remote, session)
        except ProbeError as error:
            silent.append(name)
            complain(str(error))
            return None

    asked = await asyncio.gather(*(ask(name) for name in names))
    return [each for each in asked if each is not None and each[1]], silent


async def _end(found: "Found") -> None:
    from probes.sweep import end

    for remote, left in found:
        alive = await end(remote, left)
        click.echo(f"{remote.node}: ended {len(left) - len(alive)}" + (f", {len(alive)} live on" if alive else ""))
