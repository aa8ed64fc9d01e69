"""Shows the host keys that nodes offer and, with consent, adds them to known_hosts."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchconsole.console.cli.common import exclude_option, nodes_option, read_topology, topology_argument
from benchconsole.console.exits import Exit, complain
from benchconsole.probes.model.errors import ProbeError
from benchconsole.store.files.paths import trusted_hosts_path
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.selection import select

if TYPE_CHECKING:
    from benchconsole.probes.reach.ssh.known_hosts import OfferedKey


@click.command("trust")
@topology_argument
@nodes_option
@exclude_option
@click.option("--yes", is_flag=True, help="Trust them without asking (compare the fingerprints first).")
def command(topology: Path, nodes: str | None, exclude: str | None, yes: bool) -> None:
    """Show the host keys of the nodes of TOPOLOGY and, with consent, trust them from now on.

    Nothing logs in. The keys are kept in the known_hosts file that the topology names under ssh,
    else in our own file beside the database; your ~/.ssh/known_hosts is left to ssh. A key that
    contradicts a known one is never replaced: remove the old line by hand if it has to go.
    """
    fabric = read_topology(topology)
    path = Path(fabric.access.known_hosts) if fabric.access.known_hosts else trusted_hosts_path()
    offers, silent = asyncio.run(_ask_host_keys(fabric, select(fabric, nodes, exclude)))
    for offer in offers:
        click.echo(f"{offer.name}  {offer.kind}  {offer.fingerprint}")
    if offers and (yes or click.confirm(f"trust these {len(offers)} keys in {path}?", default=False)):
        from benchconsole.probes.reach.ssh.known_hosts import add_keys

        click.echo(f"{add_keys(path, offers)} new keys in {path}")
    raise click.exceptions.Exit(Exit.UNTESTED if silent else Exit.PASSED)


async def _ask_host_keys(fabric: Fabric, names: Sequence[NodeId]) -> "tuple[list[OfferedKey], int]":
    """What the nodes offer, and how many gave nothing (each is complained about)."""
    from benchconsole.probes.reach.ssh import SshReach

    reach = SshReach(fabric.access, "trust")

    async def ask(name: NodeId) -> "tuple[OfferedKey, ...] | None":
        try:
            return await reach.list_host_keys(fabric.nodes[name])
        except ProbeError as error:
            complain(str(error))
            return None

    try:
        asked = await asyncio.gather(*(ask(name) for name in names))
    finally:
        await reach.close()
    return [offer for each in asked if each for offer in each], sum(each is None for each in asked)
