"""Compares the described cabling with the wire."""

import asyncio
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from benchconsole.console.cli import common
from benchconsole.console.cli.run import follow_session
from benchconsole.console.exits import BadInput, complain
from benchconsole.console.text.cells import to_ascii
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.api import Probe
from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.tools.inventory.sources import SOURCES
from benchconsole.store.store import Store
from benchconsole.topology.errors import find_near
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.selection import select
from benchconsole.topology.wire.observations import Observed, SysNames

if TYPE_CHECKING:
    from benchconsole.console.static_report.wire_diff import NodeObservations
    from benchconsole.topology.infiniband.dump_files import SubnetFiles


@click.command("diff")
@common.topology_argument
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]...")
@common.nodes_option
@common.exclude_option
@click.option(
    "--from",
    "saved",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="DIR|FILE...",
    help="Read saved outputs of lldpctl -f json0, named after their nodes (n01.json); ask nobody. "
    "ib FILE...: read saved files of an InfiniBand subnet.",
)
@click.option("--ask", metavar="NODE", default=None, help="With --from ib: this node tells the subnet (ibnetdiscover).")
@click.option("--sudo", is_flag=True, help="With --ask: as the administrator, through sudo.")
@click.option("--session", metavar="SESSION", default=None, help="Read what the nodes told in a stored session.")
@common.db_option
@common.label_option
@click.option("--json", "as_json", is_flag=True, help="As JSON: rates in bit/s.")
def command(
    topology: Path, files: tuple[Path, ...], nodes: str | None, exclude: str | None, saved: tuple[Path, ...],
    ask: str | None, sudo: bool, session: str | None, db: Path | None, label: str, as_json: bool,
) -> None:  # fmt: skip
    """Compare the cabling that TOPOLOGY describes with what its nodes see of it.

    The nodes are asked over SSH for their LLDP neighbours, link speeds and bonds, and the answers
    are stored as a session. LLDP tells a node who is at the far end of its own cables: links
    between switches are not compared. Nothing on a node is changed.

    With --from ib the InfiniBand links are compared with the whole subnet: with saved files (the
    output of ibnetdiscover, iblinkinfo, ibqueryerrors or perfquery, opensm-subnet.lst, files of
    ibdiagnet2, a node-name-map), or with what one node tells (--ask).

    \b
      benchconsole diff cluster.yaml --from lldp/
      benchconsole diff cluster.yaml --from ib subnet.txt errors.txt
      benchconsole diff cluster.yaml --from ib --ask n01

    Exit codes: 0 all compared and as described, 1 differences, 2 bad input and nothing was
    started, 3 not everything was compared. 1 wins over 3.
    """
    from benchconsole.console.static_report import wire_diff

    if files and not saved:
        raise BadInput("benchconsole: more files than one topology, expected --from before saved outputs")
    if saved and session:
        raise BadInput("benchconsole: --from and --session, expected one of them")
    probes = common.load_installed_probes()
    fabric = common.read_topology(topology, probes)
    if saved[:1] == (_SUBNET,) and (nodes or exclude):
        raise BadInput("benchconsole: -w or -x with --from ib, expected neither: the whole subnet is compared")
    if saved[:1] == (_SUBNET,):
        _compare_subnet(fabric, [*saved[1:], *files], ask, sudo=sudo, as_json=as_json)
    if ask or sudo:
        raise BadInput(
            "benchconsole: --ask and --sudo without --from ib, expected: benchconsole diff FILE --from ib --ask NODE"
        )
    chosen = select(fabric, nodes, exclude)
    if saved:
        found = wire_diff.compare_wire(fabric, _read_saved(fabric, chosen, [*saved, *files]))
    else:
        with common.open_store(db, create=not session) as store:
            view = (
                common.read_stored_view(store, session, probes)
                if session
                else _ask_nodes(fabric, chosen, label or "diff", store, probes)
            )
        found = wire_diff.compare_wire(fabric, wire_diff.read_observations(view, chosen), view.session)
    if as_json:
        common.print_json(wire_diff.make_record(found))
    else:
        for line in wire_diff.format_comparison(found, max(shutil.get_terminal_size().columns, 72)):
            click.echo(line if common.can_show_unicode() else to_ascii(line))
    raise click.exceptions.Exit(found.code)


_SUBNET = Path("ib")
"""Stands behind --from for a subnet; a directory of that name needs its whole path."""


def _compare_subnet(fabric: Fabric, files: Sequence[Path], ask: str | None, *, sudo: bool, as_json: bool) -> NoReturn:
    from benchconsole.console.static_report import subnet_diff
    from benchconsole.topology.infiniband.dump_files import read_files

    if bool(files) == bool(ask):
        what = "both saved files and --ask" if files else "neither saved files nor --ask"
        raise BadInput(f"benchconsole: --from ib with {what}, expected one of them")
    if sudo and not ask:
        raise BadInput("benchconsole: --sudo without --ask, expected --ask NODE beside it")
    if ask:
        found = subnet_diff.compare_files(fabric, _ask_subnet(fabric, ask, sudo=sudo), ask)
    else:
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        found = subnet_diff.compare_files(fabric, read_files(files), f"{files[0]}{more}")
    if as_json:
        common.print_json(subnet_diff.make_subnet_record(found))
    else:
        for line in subnet_diff.format_subnet(found, max(shutil.get_terminal_size().columns, 72)):
            click.echo(line if common.can_show_unicode() else to_ascii(line))
    raise click.exceptions.Exit(found.code)


def _ask_subnet(fabric: Fabric, name: str, *, sudo: bool) -> "SubnetFiles":
    from benchconsole.console.session.subnet_asking import ask_subnet, read_subnet

    node = fabric.nodes.get(NodeId(name))
    if node is None:
        near = find_near(name, fabric.nodes)
        hint = f"; did you mean {near}?" if near else ""
        raise BadInput(f"benchconsole: --ask {name}, expected a node of the file{hint}")
    reach = common.make_asking_reach(fabric, "diff")
    return read_subnet(asyncio.run(ask_subnet(reach, node, counters=True, sudo=sudo)), name)


def _ask_nodes(
    fabric: Fabric, chosen: Sequence[NodeId], label: str, store: Store, probes: Mapping[str, Probe]
) -> RunView:
    from benchconsole.console.session.metadata import SessionChoice
    from benchconsole.console.session.session import Session
    from benchconsole.console.static_report.wire_diff import plan_inventory

    session = Session(fabric, probes, store, SessionChoice(None, tuple(chosen), label))
    rounds = plan_inventory(fabric, probes, chosen)
    view, ended_by = asyncio.run(follow_session(session, rounds, None, sys.stderr, True))
    if ended_by is not None:
        complain(f"ended by {signal.Signals(ended_by).name}; nothing was compared")
        raise click.exceptions.Exit(128 + ended_by)
    return view


def _read_saved(fabric: Fabric, chosen: Sequence[NodeId], sources: Sequence[Path]) -> "NodeObservations":
    """The answers in saved outputs; a chosen node without one is not compared."""
    from benchconsole.console.static_report.wire_diff import NodeObservations, read_observed

    texts = _find_texts(fabric, sources)
    told = NodeObservations()
    for node in chosen:
        if node not in texts:
            told.add_silent(node, "no saved output")
            continue
        try:
            told.nodes[node] = read_observed(SOURCES["lldpctl"](texts[node]))
        except ProbeOutputError as error:
            told.nodes[node] = Observed((), deaf=f"found {error.found}, expected {error.expected}")
    return told


def _find_texts(fabric: Fabric, sources: Sequence[Path]) -> dict[str, str]:
    """Node to its saved output. Files of no node are told and left out; BadInput where there is no other, and for
    files that cannot be read.
    """
    names, found, wrong, strange = SysNames(fabric), dict[str, str](), list[str](), list[str]()
    files = [file for source in sources for file in (sorted(source.glob("*")) if source.is_dir() else [source])]
    for file in files:
        node = file.stem if file.stem in fabric.nodes else names.device(file.stem)
        if node is None or node not in fabric.nodes:
            hint = find_near(file.stem, fabric.nodes)
            near = f"; did you mean {hint}?" if hint else ""
            strange.append(f"{file}: {file.stem!r} is no node of the file{near}")
            continue
        if node in found:
            wrong.append(f"{file}: a second output of {node}")
        try:
            found[node] = file.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            wrong.append(f"{file}: cannot be read: {error.strerror}")
    if wrong or not found:
        raise BadInput("\n".join([*wrong, *strange]) or f"benchconsole: no file in {', '.join(map(str, sources))}")
    for text in strange:
        complain(f"{text}; it is left out")
    return found
