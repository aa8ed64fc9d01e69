"""Owns the options and steps that several commands share."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from console.reports.content import Told
    from console.view import RunView
    from probes.api import Probe
    from probes.plugins import Catalogue
    from probes.remote import Reach
    from store.store import Store
    from topology.model import Fabric

topology_argument = click.argument("topology", type=click.Path(path_type=Path, dir_okay=False))
db_option = click.option(
    "--db", type=click.Path(path_type=Path, dir_okay=False), default=None, help="Database file [BENCHCONSOLE_DB]."
)
suite_option = click.option("--suite", default=None, metavar="NAME", help="Suite of the topology file.")
label_option = click.option("--label", default="", metavar="TEXT", help="A name for the session.")
nodes_option = click.option("-w", "--nodes", default=None, metavar="NODES", help="Only these: n[01-16], @storage ...")
exclude_option = click.option("-x", "--exclude", default=None, metavar="NODES", help="Leave these out.")


def installed() -> Mapping[str, "Probe"]:
    """The probes that can be used; broken plugins are named on standard error and left out."""
    return catalogue().probes


def catalogue() -> "Catalogue":
    """The probes that can be used, with who brought each; without those of others in safe mode."""
    from console.exits import complain
    from probes.plugins import load

    context = click.get_current_context(silent=True)
    found = load(safe_mode=bool(context and context.find_root().params.get("safe_mode")))
    for broken in found.broken:
        complain(f"plugin {broken.name} ({broken.distribution}) is left out: {broken.reason}")
    return found


def open_store(db: Path | None, *, create: bool = True) -> "Store":
    """The database that was asked for, or the user's own."""
    from store.places import default_path
    from store.store import Store

    return Store.open(db or default_path(), create=create)


def reach_that_asks(fabric: "Fabric", session: str) -> "Reach":
    """SSH to the nodes; where ``sudo`` wants a password, whoever sits at the terminal is asked once."""
    from console.session import ssh_reach

    return ssh_reach(fabric, session, _ask if sys.stdin.isatty() else None)


def _ask(prompt: str) -> str | None:
    """A password from the terminal, never echoed; None for an empty one."""
    import getpass

    return getpass.getpass(prompt) or None


def bring_back(store: "Store") -> None:
    """Bring back what a console that is gone kept in a spool while this database refused; told where there is any."""
    import asyncio

    from console.exits import complain
    from console.wording import count
    from store.spool import waiting

    for path in waiting(store.path) if store.read_only is None else ():
        found = asyncio.run(store.absorb(path))
        complain(f"{path}: {count(found.results, 'result')} brought back into {store.path}")
        for refused in found.refused:
            complain(f"line {refused.line} is refused: {refused.why}; the file is kept as {found.kept}")


def read_topology(path: Path, probes: Mapping[str, "Probe"], parameters: Mapping[str, int] | None = None) -> "Fabric":
    """The fabric of a file, checked against the installed probes; TopologyError lists every problem."""
    from console.session import read_fabric

    return read_fabric(path, probes, parameters)


def encodable() -> bool:
    """Whether standard output takes more than ASCII."""
    return "utf" in (sys.stdout.encoding or "").lower()


def stored_view(store: "Store", name: str, probes: Mapping[str, "Probe"]) -> "RunView":
    """A stored session as the view that screens and reports share."""
    from console.session import Session

    return Session.stored(store, name, probes).view()


def told(store: "Store", view: "RunView", probes: Mapping[str, "Probe"]) -> "Told":
    """What the record of a session says besides plan and results: how it was started, and what was noted."""
    from console.planned import left_out
    from console.reports.content import Told
    from probes.planning import summarise

    uncovered = tuple(left_out(view.fabric, summarise(view.fabric, view.plan, probes))) if view.plan else ()
    options, notes = store.session(view.session).new.options, store.notes(view.session)
    return Told(options, notes, uncovered, store.checklists(view.session))
