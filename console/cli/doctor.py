"""Says whether every node can be reached, trusted and used, and what stands in the way."""

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from benchconsole.console.cli import common
from benchconsole.console.doctor import admin_node
from benchconsole.console.doctor.diagnosis import (
    AlgorithmReach,
    DiagnosisLine,
    Grade,
    NodeAnswer,
    ask_nodes,
    diagnose_nodes,
    list_usable_nodes,
)
from benchconsole.console.doctor.doctor_page import format_page, make_document
from benchconsole.console.exits import Exit
from benchconsole.probes.api import Probe
from benchconsole.probes.hygiene.prerequisites import Needs
from benchconsole.store.files.paths import default_path, trusted_hosts_path
from benchconsole.topology.model.fabric import Fabric, NodeId, Suite
from benchconsole.topology.selection import select


@click.command("doctor")
@click.argument("topology", type=click.Path(path_type=Path, dir_okay=False), required=False)
@common.suite_option
@common.nodes_option
@common.exclude_option
@common.db_option
@common.json_option
def command(
    topology: Path | None, suite: str | None, nodes: str | None, exclude: str | None, db: Path | None, as_json: bool
) -> None:
    """Say whether every node of TOPOLOGY can be reached, trusted and used for its suite.

    Looks at the database and the ssh configuration, logs in to every node once and asks what it has;
    nothing is loaded, nothing is changed. Without TOPOLOGY only this machine is looked at.

    Exit codes: 0 every node can be used, 2 bad input, 3 some cannot.
    """
    told = [*admin_node.describe_program(), *admin_node.describe_database(db or default_path())]
    asked: tuple[NodeId, ...] = ()
    fit: tuple[NodeId, ...] = ()
    if topology is not None:
        more, asked, fit = _diagnose_nodes(topology, suite, nodes, exclude)
        told += more
    elif nodes is not None or exclude is not None or suite is not None:
        raise click.UsageError("--nodes, --exclude or --suite without TOPOLOGY, expected the file of them")
    if as_json:
        common.print_json(make_document(told, fit, asked))
    else:
        width = min(shutil.get_terminal_size((80, 24)).columns, 100)
        for line in format_page(told, len(fit), len(asked), width=width, ascii_only=not common.can_show_unicode()):
            click.echo(line)
    fine = len(fit) == len(asked) and not any(line.grade is Grade.BAD for line in told)
    raise click.exceptions.Exit(Exit.PASSED if fine else Exit.UNTESTED)


def _diagnose_nodes(
    topology: Path, suite: str | None, nodes: str | None, exclude: str | None
) -> tuple[tuple[DiagnosisLine, ...], tuple[NodeId, ...], tuple[NodeId, ...]]:
    from benchconsole.probes.planning.suites import find_suite

    probes = common.load_installed_probes()
    fabric = common.read_topology(topology, probes)
    chosen = tuple(select(fabric, nodes, exclude))
    needs = list_needs(fabric, find_suite(fabric, suite), probes, chosen)
    configured, answers = asyncio.run(_ask_nodes(fabric, needs))
    said = diagnose_nodes(answers, needs, str(topology))
    return (*configured, *said), chosen, list_usable_nodes(answers, said)


def list_needs(
    fabric: Fabric, suite: Suite, probes: Mapping[str, Probe], chosen: Sequence[NodeId]
) -> dict[NodeId, Needs]:
    """The needs of ``suite`` on each chosen node, from the declarations of its probes."""
    found = {name: Needs() for name in chosen}
    for stage in suite.stages:
        if stage.probe in probes:
            for name in found.keys() & set(stage.nodes):
                found[name].add(probes[stage.probe], stage.options)
    return found


def _make_reach(fabric: Fabric) -> AlgorithmReach:
    from benchconsole.probes.reach.ssh import SshReach

    return SshReach(fabric.access, "doctor", also_trusted=(str(trusted_hosts_path()),))


async def _ask_nodes(
    fabric: Fabric, needs: Mapping[NodeId, Needs]
) -> tuple[tuple[DiagnosisLine, ...], tuple[NodeAnswer, ...]]:
    reach = _make_reach(fabric)
    try:
        return await admin_node.check_ssh_configuration(fabric, tuple(needs)), await ask_nodes(reach, fabric, needs)
    finally:
        await reach.close()
