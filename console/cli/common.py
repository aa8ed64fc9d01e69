"""Owns the options and steps that several commands share."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from console.view import RunView
    from probes.api import Probe
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
    from console.exits import complain
    from probes.plugins import load

    catalogue = load()
    for broken in catalogue.broken:
        complain(f"plugin {broken.name} ({broken.distribution}) is left out: {broken.reason}")
    return catalogue.probes


def open_store(db: Path | None, *, create: bool = True) -> "Store":
    """The database that was asked for, or the user's own."""
    from store.places import default_path
    from store.store import Store

    return Store.open(db or default_path(), create=create)


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
