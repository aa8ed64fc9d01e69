"""Compares the described cabling with the wire."""

import asyncio
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.cli.common import (
    db_option,
    encodable,
    exclude_option,
    installed,
    label_option,
    nodes_option,
    open_store,
    read_topology,
    stored_view,
    topology_argument,
)
from console.exits import BadInput, complain

if TYPE_CHECKING:
    from console.wire import Compared, Told
    from probes.api import Probe
    from topology.model import Fabric, NodeId


@click.command("diff")
@topology_argument
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]...")
@nodes_option
@exclude_option
@click.option(
    "--from",
    "saved",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="DIR|FILE...",
    help="Read saved outputs of lldpctl -f json0, named after their nodes (n01.json); ask nobody.",
)
@click.option("--session", metavar="SESSION", default=None, help="Read what the nodes told in a stored session.")
@db_option
@label_option
@click.option("--json", "as_json", is_flag=True, help="As JSON: rates in bit/s.")
def command(
    topology: Path, files: tuple[Path, ...], nodes: str | None, exclude: str | None, saved: tuple[Path, ...],
    session: str | None, db: Path | None, label: str, as_json: bool,
) -> None:  # fmt: skip
    """Compare the cabling that TOPOLOGY describes with what its nodes see of it.

    The nodes are asked over SSH for their LLDP neighbours, link speeds and bonds, and the answers
    are stored as a session. LLDP tells a node who is at the far end of its own cables: links
    between switches are not compared. Nothing on a node is changed.

    Exit codes: 0 all compared and as described, 1 differences, 2 bad input and nothing was
    started, 3 not everything was compared. 1 wins over 3.
    """
    from console.wire import compared
    from topology.selection import select

    if files and not saved:
        raise BadInput("benchconsole: more files than one topology, expected --from before saved outputs")
    if saved and session:
        raise BadInput("benchconsole: --from and --session, expected one of them")
    probes = installed()
    fabric = read_topology(topology, probes)
    chosen = select(fabric, nodes, exclude)
    if saved:
        found = compared(fabric, _saved(fabric, chosen, [*saved, *files]))
    elif session:
        found = _stored(fabric, chosen, session, db, probes)
    else:
        found = _asked(fabric, chosen, label, db, probes)
    _print(found, as_json=as_json)
    raise click.exceptions.Exit(found.code)


def _asked(
    fabric: "Fabric", chosen: "Sequence[NodeId]", label: str, db: Path | None, probes: "Mapping[str, Probe]"
) -> "Compared":
    """Ask the nodes now, in a session of their own."""
    from console.cli.run import follow
    from console.record import Choice
    from console.session import Session
    from console.wire import compared, of_session, survey

    with open_store(db) as store:
        session = Session(fabric, probes, store, Choice(None, tuple(chosen), label or "diff"))
        rounds = survey(fabric, probes, chosen)
        view, ended_by = asyncio.run(follow(session, rounds, None, sys.stderr, True))
    if ended_by is not None:
        complain("ended by a signal; nothing was compared")
        raise click.exceptions.Exit(128 + ended_by)
    return compared(fabric, of_session(view, chosen), view.session)


def _stored(
    fabric: "Fabric", chosen: "Sequence[NodeId]", session: str, db: Path | None, probes: "Mapping[str, Probe]"
) -> "Compared":
    """What the nodes told before, held against the file as it is now."""
    from console.wire import compared, of_session

    with open_store(db, create=False) as store:
        view = stored_view(store, session, probes)
    return compared(fabric, of_session(view, chosen), view.session)


def _saved(fabric: "Fabric", chosen: "Sequence[NodeId]", sources: Sequence[Path]) -> "Told":
    """What saved outputs tell; a chosen node without one is not compared."""
    from console.wire import Told, observed
    from probes.builtin.inventory import SOURCES
    from probes.errors import ProbeOutputError
    from topology.wire.observed import Observed

    texts = _texts(fabric, sources)
    told = Told()
    for node in chosen:
        if node not in texts:
            told.silent(node, "no saved output")
            continue
        try:
            told.nodes[node] = observed(SOURCES["lldpctl"](texts[node]))
        except ProbeOutputError as error:
            told.nodes[node] = Observed((), deaf=f"found {error.found}, expected {error.expected}")
    return told


def _texts(fabric: "Fabric", sources: Sequence[Path]) -> dict[str, str]:
    """Node to its saved output; BadInput names every file that is of no node or cannot be read."""
    from topology.selection import near
    from topology.wire.observed import SysNames

    names, found, wrong = SysNames(fabric), dict[str, str](), list[str]()
    files = [file for source in sources for file in (sorted(source.glob("*")) if source.is_dir() else [source])]
    for file in files:
        node = file.stem if file.stem in fabric.nodes else names.device(file.stem)
        if node is None or node not in fabric.nodes:
            hint = near(file.stem, fabric.nodes)
            wrong.append(f"{file}: {file.stem!r} is no node of the file" + (f"; did you mean {hint}?" if hint else ""))
            continue
        if node in found:
            wrong.append(f"{file}: a second output of {node}")
        try:
            found[node] = file.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            wrong.append(f"{file}: cannot be read: {error.strerror}")
    if wrong or not files:
        raise BadInput("\n".join(wrong) or f"benchconsole: no file in {', '.join(map(str, sources))}")
    return found


def _print(found: "Compared", *, as_json: bool) -> None:
    from console.wire import lines, record
    from console.wording import in_ascii

    if as_json:
        click.echo(json.dumps(record(found), indent=1, allow_nan=False))
        return
    utf = encodable()
    for line in lines(found, max(shutil.get_terminal_size().columns, 72)):
        click.echo(line if utf else in_ascii(line))
