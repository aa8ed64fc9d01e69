"""Says whether every node can be reached, trusted and used, and what stands in the way."""

import asyncio
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.cli.common import (
    db_option,
    encodable,
    exclude_option,
    installed,
    nodes_option,
    read_topology,
    suite_option,
)
from console.exits import Exit

if TYPE_CHECKING:
    from console.doctor.asking import Answer, Telling
    from console.doctor.meaning import Line
    from probes.api import Probe
    from probes.hygiene.needs import Needs
    from topology.model import Fabric, NodeId, Suite


@click.command("doctor")
@click.argument("topology", type=click.Path(path_type=Path, dir_okay=False), required=False)
@suite_option
@nodes_option
@exclude_option
@db_option
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(
    topology: Path | None, suite: str | None, nodes: str | None, exclude: str | None, db: Path | None, as_json: bool
) -> None:
    """Say whether every node of TOPOLOGY can be reached, trusted and used for its suite.

    Looks at the database and the ssh configuration, logs in to every node once and asks what it has;
    nothing is loaded, nothing is changed. Without TOPOLOGY only this machine is looked at.

    Exit codes: 0 every node can be used, 2 bad input, 3 some cannot.
    """
    from console.doctor import here
    from console.doctor.meaning import Grade
    from store.places import default_path

    told = [*here.program(), *here.database(db or default_path())]
    asked: tuple[NodeId, ...] = ()
    fit: tuple[NodeId, ...] = ()
    if topology is not None:
        more, asked, fit = _nodes(topology, suite, nodes, exclude)
        told += more
    elif nodes is not None or exclude is not None or suite is not None:
        raise click.UsageError("nodes and suites are those of a TOPOLOGY: name one")
    _print(told, asked, fit, as_json)
    fine = len(fit) == len(asked) and not any(line.grade is Grade.BAD for line in told)
    raise click.exceptions.Exit(Exit.PASSED if fine else Exit.UNTESTED)


def _nodes(
    topology: Path, suite: str | None, nodes: str | None, exclude: str | None
) -> "tuple[tuple[Line, ...], tuple[NodeId, ...], tuple[NodeId, ...]]":
    """What is to be said of the nodes, which were asked, and which can be used."""
    from console.doctor.meaning import lines, usable
    from probes.planning import suite_named
    from topology.selection import select

    probes = installed()
    fabric = read_topology(topology, probes)
    chosen = tuple(select(fabric, nodes, exclude))
    needs = needed(fabric, suite_named(fabric, suite), probes, chosen)
    configured, answers = asyncio.run(_asked(fabric, needs))
    said = lines(answers, needs, str(topology))
    return (*configured, *said), chosen, usable(answers, said)


def needed(
    fabric: "Fabric", suite: "Suite", probes: "Mapping[str, Probe]", chosen: "Sequence[NodeId]"
) -> "dict[NodeId, Needs]":
    """What ``suite`` needs of each chosen node, from what its probes declare."""
    from probes.hygiene.needs import Needs

    found = {name: Needs() for name in chosen}
    for stage in suite.stages:
        if stage.probe in probes:
            for name in found.keys() & set(stage.nodes):
                found[name].add(probes[stage.probe], stage.options)
    return found


def _reach(fabric: "Fabric") -> "Telling":
    from probes.ssh import SshReach
    from store.places import trusted_hosts_path

    return SshReach(fabric.access, "doctor", also_trusted=(str(trusted_hosts_path()),))


async def _asked(fabric: "Fabric", needs: "Mapping[NodeId, Needs]") -> "tuple[tuple[Line, ...], tuple[Answer, ...]]":
    """The lines on the ssh configuration, and every node's answer."""
    from console.doctor import here
    from console.doctor.asking import ask

    reach = _reach(fabric)
    try:
        return await here.configuration(fabric, tuple(needs)), await ask(reach, fabric, needs)
    finally:
        await reach.close()


def _print(told: "Sequence[Line]", asked: "Sequence[NodeId]", fit: "Sequence[NodeId]", as_json: bool) -> None:
    from console.doctor.page import document, page

    if as_json:
        click.echo(json.dumps(document(told, fit, asked), indent=1))
        return
    width = min(shutil.get_terminal_size((80, 24)).columns, 100)
    for line in page(told, len(fit), len(asked), width=width, ascii_only=not encodable()):
        click.echo(line)
