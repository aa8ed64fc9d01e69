"""Shows the host keys that nodes offer and, with consent, adds them to known_hosts."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.cli.common import exclude_option, installed, nodes_option, read_topology, topology_argument
from console.exits import Exit, complain

if TYPE_CHECKING:
    from probes.trust import Offer
    from topology.model import Fabric, NodeId


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
    from store.places import trusted_hosts_path
    from topology.selection import select

    fabric = read_topology(topology, installed())
    path = Path(fabric.access.known_hosts) if fabric.access.known_hosts else trusted_hosts_path()
    offers, silent = asyncio.run(_offers(fabric, select(fabric, nodes, exclude)))
    for offer in offers:
        click.echo(f"{offer.name}  {offer.kind}  {offer.fingerprint}")
    if offers and (yes or click.confirm(f"trust these {len(offers)} keys in {path}?", default=False)):
        from probes.trust import accept

        click.echo(f"{accept(path, offers)} new keys in {path}")
    raise click.exceptions.Exit(Exit.UNTESTED if silent else Exit.PASSED)


async def _offers(fabric: "Fabric", names: "Sequence[NodeId]") -> "tuple[list[Offer], int]":
    """What the nodes offer, and how many gave nothing (each is complained about)."""
    from probes.errors import ProbeError
    from probes.ssh import SshReach

    reach = SshReach(fabric.access, "trust")

    async def ask(name: "NodeId") -> "tuple[Offer, ...] | None":
        try:
            return await reach.offers(fabric.nodes[name])
        except ProbeError as error:
            complain(str(error))
            return None

    try:
        asked = await asyncio.gather(*(ask(name) for name in names))
    finally:
        await reach.close()
    return [offer for each in asked if each for offer in each], sum(each is None for each in asked)
