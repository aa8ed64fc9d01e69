"""Options and steps that several commands share."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from benchconsole.console.reports.content import SessionDetails
    from benchconsole.console.view.run_view import RunView
    from benchconsole.probes.api import Probe
    from benchconsole.probes.model.remote import Reach
    from benchconsole.probes.plugins.registry import ProbeCatalogue
    from benchconsole.store.store import Store
    from benchconsole.topology.model.fabric import Fabric

topology_argument = click.argument("topology", type=click.Path(path_type=Path, dir_okay=False))
db_option = click.option(
    "--db", type=click.Path(path_type=Path, dir_okay=False), default=None, help="Database file [BENCHCONSOLE_DB]."
)
suite_option = click.option("--suite", default=None, metavar="NAME", help="Suite of the topology file.")
label_option = click.option("--label", default="", metavar="TEXT", help="A name for the session.")
nodes_option = click.option("-w", "--nodes", default=None, metavar="NODES", help="Only these: n[01-16], @storage ...")
exclude_option = click.option("-x", "--exclude", default=None, metavar="NODES", help="Leave these out.")


def load_installed_probes() -> Mapping[str, "Probe"]:
    """The probes that can be used; broken plugins are named on standard error and left out."""
    return load_catalogue().probes


def load_catalogue() -> "ProbeCatalogue":
    """The probes that can be used, with who brought each; without those of others in safe mode."""
    from benchconsole.console.exits import complain
    from benchconsole.probes.plugins.registry import load_probes

    context = click.get_current_context(silent=True)
    found = load_probes(safe_mode=bool(context and context.find_root().params.get("safe_mode")))
    for broken in found.broken:
        complain(f"plugin {broken.name} ({broken.distribution}) is left out: {broken.reason}")
    return found


def open_store(db: Path | None, *, create: bool = True) -> "Store":
    """The database that was asked for, or the user's own."""
    from benchconsole.store.files.paths import default_path
    from benchconsole.store.store import Store

    return Store.open(db or default_path(), create=create)


def make_asking_reach(fabric: "Fabric", session: str) -> "Reach":
    """SSH to the nodes; where ``sudo`` wants a password, whoever sits at the terminal is asked once."""
    from benchconsole.console.session.node_access import make_ssh_reach

    return make_ssh_reach(fabric, session, _ask_password if sys.stdin.isatty() else None)


def _ask_password(prompt: str) -> str | None:
    """A password from the terminal, never echoed; None for an empty one."""
    import getpass

    return getpass.getpass(prompt) or None


def import_waiting_spools(store: "Store") -> None:
    """Bring back what a console that is gone kept in a spool while this database refused; told where there is any."""
    import asyncio

    from benchconsole.console.exits import complain
    from benchconsole.store.spool.spool_file import find_spools
    from benchconsole.topology.units import counted as count

    for path in find_spools(store.path) if store.read_only is None else ():
        found = asyncio.run(store.import_spool(path))
        complain(f"{path}: {count(found.results, 'result')} brought back into {store.path}")
        for refused in found.refused:
            complain(f"line {refused.line} is refused: {refused.why}; the file is kept as {found.kept}")


def read_topology(path: Path, probes: Mapping[str, "Probe"], parameters: Mapping[str, int] | None = None) -> "Fabric":
    """The fabric of a file, checked against the installed probes; TopologyError lists every problem."""
    from benchconsole.console.session.topology_file import read_fabric

    return read_fabric(path, probes, parameters)


def can_show_unicode() -> bool:
    """Whether standard output takes more than ASCII."""
    return "utf" in (sys.stdout.encoding or "").lower()


def read_stored_view(store: "Store", name: str, probes: Mapping[str, "Probe"]) -> "RunView":
    """A stored session as the view that screens and reports share."""
    from benchconsole.console.session.session import Session

    return Session.stored(store, name, probes).view()


def read_session_record(store: "Store", view: "RunView", probes: Mapping[str, "Probe"]) -> "SessionDetails":
    """What the record of a session says besides plan and results: how it was started, and what was noted."""
    from benchconsole.console.reports.content import SessionDetails
    from benchconsole.console.view.plan_text import format_left_out
    from benchconsole.probes.planning import summarise

    uncovered = tuple(format_left_out(view.fabric, summarise(view.fabric, view.plan, probes))) if view.plan else ()
    options, notes = store.session(view.session).describe().new.options, store.session(view.session).read_notes()
    return SessionDetails(options, notes, uncovered, store.session(view.session).read_checklists())
