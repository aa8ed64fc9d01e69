"""Takes nodes back into Slurm's service, those alone that we drained."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import click

from benchconsole.console.cli.common import ask_consent, read_topology
from benchconsole.console.cli.drain import head_option, open_slurm
from benchconsole.console.exits import BadInput, Exit, complain
from benchconsole.probes.model.errors import ProbeError
from benchconsole.probes.reach.slurm.drain import undrain
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.selection import expand
from benchconsole.topology.units import counted as count


@click.command("undrain")
@click.option("-w", "--nodes", required=True, metavar="NODES", help="These, by their names in Slurm: n[01-16] ...")
@click.option(
    "--topology", type=click.Path(path_type=Path, dir_okay=False), default=None, help="The file that names --head."
)
@head_option
@click.option("--yes", is_flag=True, help="Undrain them without asking.")
def command(nodes: str, topology: Path | None, head: str | None, yes: bool) -> None:
    """Let nodes that benchconsole drained in Slurm take jobs again.

    A node that was drained by somebody else, for a reason that is not ours, is named and left alone.

    Exit codes: 0 none of them is drained any more, 2 bad input, 3 one still is.
    """
    if head is not None and topology is None:
        raise BadInput("benchconsole: --head needs --topology, the file that says how that node is reached")
    names = expand(nodes)
    fabric = read_topology(topology) if topology is not None else None
    raise click.exceptions.Exit(asyncio.run(_undrain_nodes(names, fabric, head, yes)))


async def _undrain_nodes(names: Sequence[str], fabric: Fabric | None, head: str | None, yes: bool) -> int:
    if not yes and not await ask_consent(f"undrain {count(len(names), 'node')}?"):
        return Exit.UNTESTED
    left = 0
    async with open_slurm(fabric, head) as remote:
        for name in names:
            try:
                was = await undrain(remote, name)
            except ProbeError as error:
                complain(f"not undrained: {error}")
                left += 1
            else:
                click.echo(f"{name}: {'in service again' if was else 'was not drained'}")
    return Exit.UNTESTED if left else Exit.PASSED
