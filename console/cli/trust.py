"""Shows the host keys that nodes offer and, with consent, adds them to known_hosts."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchconsole.console.cli.common import ask_consent, exclude_option, nodes_option, read_topology, topology_argument
from benchconsole.console.exits import Exit, complain
from benchconsole.console.text.name_sets import fold_names, group_alike
from benchconsole.probes.model.errors import ProbeError
from benchconsole.probes.model.remote import RemoteError
from benchconsole.store.files.paths import trusted_hosts_path
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.selection import select
from benchconsole.topology.units import counted

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

    Exit codes: 0 the keys are known now, 2 bad input, 3 a node gave none or nobody agreed.
    """
    fabric = read_topology(topology)
    path = Path(fabric.access.known_hosts) if fabric.access.known_hosts else _find_own()
    offers, silent = asyncio.run(_ask_host_keys(fabric, select(fabric, nodes, exclude)))
    for reason, names in group_alike(silent.items()):
        complain(f"{fold_names(names)}: {reason}")
    is_taken = _take_keys(path, offers, yes=yes)
    raise click.exceptions.Exit(Exit.PASSED if is_taken and not silent else Exit.UNTESTED)


def _find_own() -> Path:
    """Our own file; TrustError where others may have put there what stands in it."""
    from benchconsole.probes.reach.ssh.config_files import find_stranger
    from benchconsole.probes.reach.ssh.known_hosts import TrustError

    path = trusted_hosts_path()
    if stranger := find_stranger(path):
        raise TrustError(f"{path} {stranger}")
    return path


def _take_keys(path: Path, offers: "Sequence[OfferedKey]", *, yes: bool) -> bool:
    """Show the keys that ``path`` does not have yet and, with consent, add them; those that it has are counted.

    Whether it has them all now.
    """
    from benchconsole.probes.reach.ssh.known_hosts import add_keys, find_new_keys

    new = find_new_keys(path, offers)
    known = len(offers) - len(new)
    if known:
        click.echo(f"{counted(known, 'key')} known already in {path}")
    for offer in new:
        click.echo(f"{offer.name}  {offer.kind}  {offer.fingerprint}")
    if not new:
        return True
    if not (yes or asyncio.run(ask_consent(f"trust {_format_these(len(new))} in {path}?", "nothing was trusted"))):
        return False
    click.echo(f"{counted(add_keys(path, new), 'new key')} in {path}")
    return True


def _format_these(number: int) -> str:
    return "this key" if number == 1 else f"these {number:,} keys"


async def _ask_host_keys(fabric: Fabric, names: Sequence[NodeId]) -> "tuple[list[OfferedKey], Mapping[NodeId, str]]":
    """The keys that the nodes offer, and the reasons of those that gave none, both in the order of ``names``."""
    from benchconsole.probes.reach.ssh import SshReach

    reach = SshReach(fabric.access, "trust")

    async def ask(name: NodeId) -> "tuple[OfferedKey, ...] | str":
        try:
            return await reach.list_host_keys(fabric.nodes[name])
        except RemoteError as error:
            return f"{error.failure.stage}: {error.failure.detail}"
        except ProbeError as error:
            return str(error)

    try:
        asked = await asyncio.gather(*(ask(name) for name in names))
    finally:
        await reach.close()
    offers = [offer for each in asked if not isinstance(each, str) for offer in each]
    return offers, {name: each for name, each in zip(names, asked, strict=True) if isinstance(each, str)}
