"""Options and steps that several commands share."""

import json
import shlex
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from benchconsole.console.exits import BadInput, Exit, complain
from benchconsole.topology.collector import pause_collector
from benchconsole.topology.units import counted as count

if TYPE_CHECKING:
    from benchconsole.console.reports.content import ReportOptions, SessionDetails
    from benchconsole.console.session.kept_report import Write
    from benchconsole.console.view.run_view import RunView
    from benchconsole.probes.api import Probe
    from benchconsole.probes.model.remote import Reach
    from benchconsole.probes.plugins.registry import ProbeCatalogue
    from benchconsole.store.store import Store
    from benchconsole.topology.description.vocabulary import Vocabulary
    from benchconsole.topology.model.fabric import Fabric

P = ParamSpec("P")
T = TypeVar("T")

topology_argument = click.argument("topology", type=click.Path(path_type=Path, dir_okay=False))
db_option = click.option(
    "--db", type=click.Path(path_type=Path, dir_okay=False), default=None, help="Database file [BENCHCONSOLE_DB]."
)
suite_option = click.option(
    "--suite",
    default=None,
    metavar="NAME",
    help="Suite of the topology file, or one of ours: default, quick, network, lag, storage, acceptance, burn-in.",
)
label_option = click.option("--label", default="", metavar="TEXT", help="A name for the session.")
nodes_option = click.option("-w", "--nodes", default=None, metavar="NODES", help="Only these: n[01-16], @storage ...")
output_option = click.option(
    "-o", "--output", type=click.Path(path_type=Path, allow_dash=True), default=None, help="File, or -."
)
force_option = click.option("--force", is_flag=True, help="Replace the file if it exists.")
parameters_option = click.option(
    "--set", "given", multiple=True, metavar="NAME=NUMBER", help="Another value for a parameter of the file."
)
cohort_option = click.option(
    "--cohort",
    "cohorts",
    metavar="DIMENSION=NAME",
    multiple=True,
    help="Label every result of the session, as phase=after; recorded. Repeat for more.",
)
command_option = click.option(
    "--command", "typed", default="", metavar="COMMAND", help="The command that printed it: 'netperf -f M -P 0'."
)
json_option = click.option("--json", "as_json", is_flag=True, help="As JSON.")
ENDINGS = {signal.SIGINT: Exit.INTERRUPTED, signal.SIGTERM: Exit.TERMINATED, signal.SIGHUP: Exit.HUNG_UP}
exclude_option = click.option("-x", "--exclude", default=None, metavar="NODES", help="Leave these out.")


def read_command(typed: str, probe: str) -> tuple[str, ...]:
    """The words of the command that printed an output, else the name of its probe; BadInput for open quotes."""
    try:
        return tuple(shlex.split(typed)) or (probe,)
    except ValueError as error:
        raise BadInput(f"--command {typed}: {error}, expected a command as a shell takes it") from None


def carry_options(call: Callable[P, T]) -> Callable[P, T]:
    """``call`` for another thread, with the options before the command (``--safe-mode``): click has them by thread."""
    context = click.get_current_context(silent=True)
    if context is None:
        return call

    def carried(*args: P.args, **kwargs: P.kwargs) -> T:
        with click.Context(context.command, parent=context):
            return call(*args, **kwargs)

    return carried


def load_installed_probes() -> Mapping[str, "Probe"]:
    """The probes that can be used; broken plugins are named on standard error and left out."""
    return load_catalogue().probes


def read_catalogue() -> "ProbeCatalogue":
    """The probes with who brought each, and plugins that could not be used; without those of others in safe mode."""
    from benchconsole.probes.plugins.registry import load_probes

    context = click.get_current_context(silent=True)
    return load_probes(safe_mode=bool(context and context.find_root().params.get("safe_mode")))


def load_catalogue() -> "ProbeCatalogue":
    """``read_catalogue``, with a line on standard error for each plugin that could not be used, or that printed."""
    found = read_catalogue()
    for broken in found.broken:
        complain(f"plugin {broken.name} ({broken.distribution}) is left out: {broken.reason}")
    for each in found.printed:
        complain(f"plugin {each.name} ({each.distribution}) printed while it was loaded: {each.text.splitlines()[0]}")
    return found


def open_store(db: Path | None, *, create: bool = True) -> "Store":
    """The database that was asked for, or the user's own."""
    from benchconsole.store.files.paths import default_path
    from benchconsole.store.store import Store

    return Store.open(db or default_path(), create=create)


def make_asking_reach(fabric: "Fabric", session: str) -> "Reach":
    """SSH to the nodes; where ``sudo`` wants a password, whoever sits at the terminal is asked once."""
    import getpass

    from benchconsole.console.session.node_access import make_ssh_reach

    ask = (lambda prompt: getpass.getpass(prompt) or None) if sys.stdin.isatty() else None
    return make_ssh_reach(fabric, session, ask)


def import_waiting_spools(store: "Store") -> None:
    """Bring back what a console that is gone kept in a spool while this database refused; told where there is any.

    One that cannot be brought back stays and is told, unless the database itself refuses: then StoreError.
    """
    import asyncio

    from benchconsole.store.errors import StoreError
    from benchconsole.store.spool.spool_file import find_spools

    for path in find_spools(store.path) if store.read_only is None else ():
        try:
            found = asyncio.run(store.import_spool(path))
        except StoreError as error:
            if error.to_spool:
                raise
            complain(f"{path}: {error.found}; it stays there")
            continue
        complain(f"{path}: {count(found.results, 'result')} brought back into {store.path}")
        for refused in found.refused:
            complain(f"line {refused.line} is refused: {refused.why}; the file is kept as {found.kept}")


def read_topology(path: Path, probes: Mapping[str, "Probe"] | None = None, given: Sequence[str] = ()) -> "Fabric":
    """``load_topology`` with these probes, or with those that are installed."""
    return load_topology(path, load_installed_probes if probes is None else lambda: probes, given)


def load_topology(
    path: Path, find_probes: Callable[[], Mapping[str, "Probe"]], given: Sequence[str] = (),
    show: "Callable[[Fabric], None] | None" = None,
) -> "Fabric":  # fmt: skip
    """The fabric of a file, checked against the probes, with parameters ``given`` as NAME=NUMBER.

    They are asked for where the file names a metric; ``show`` is told the nodes, switches and links before.
    TopologyError lists every problem; BadInput for a parameter that is written wrong.
    """
    from benchconsole.topology.description.resolve import load

    def read_vocabulary() -> "Vocabulary":
        # Here: most files name no metric, and planning is slow to import.
        from benchconsole.probes.planning.vocabulary import make_vocabulary

        return make_vocabulary(find_probes())

    parameters = {}
    for text in given:
        name, _, value = text.partition("=")
        try:
            parameters[name] = int(value)
        except ValueError:
            raise BadInput(f"benchconsole: --set {text}, expected NAME=NUMBER such as per_tor=2") from None
    return load(path, read_vocabulary, parameters, show)


def can_show_unicode() -> bool:
    """Whether standard output takes more than ASCII."""
    return "utf" in (sys.stdout.encoding or "").lower()


def read_stored_view(store: "Store", name: str, probes: Mapping[str, "Probe"]) -> "RunView":
    """A stored session as the view that screens and reports share."""
    from benchconsole.console.session.session import Session

    return Session.stored(store, name, probes).view()


def read_reported(store: "Store", key: str, *, is_for_people: bool = False) -> "tuple[RunView, SessionDetails]":
    """A stored session, and what its record says besides plan and results: how it was started, what was noted.

    ``is_for_people``: a large one is read for reports that list nothing that passed.
    """
    from benchconsole.console.session.report_details import read_details
    from benchconsole.console.session.session import Session
    from benchconsole.console.session.stored_judgement import read_large

    probes = load_installed_probes()
    judged = read_large(store.session(key), probes) if is_for_people else None
    session = Session.stored(store, key, probes, judged=judged)
    view = session.view()
    return view, read_details(session, view)


def make_report(db: Path | None, name: str, format_: str, options: "ReportOptions") -> "Write":
    """The report on a stored session, ready to be written; one that was kept with it is not made again."""
    from benchconsole.console.session.kept_report import FOR_PEOPLE, KeptReport
    from benchconsole.store.reading.report_reading import read_report_basis

    with open_store(db, create=False) as store:
        key = store.find_session(name)
        report = KeptReport(store, key, format_, options, read_report_basis(store.session(key)))
        return report.read() or report.make(*read_reported(store, key, is_for_people=format_ in FOR_PEOPLE))


@pause_collector()
def keep_reports_at_end(store: "Store", key: str) -> None:
    """Keep the reports for people on a large session that is over now, so that whoever asks first need not wait.

    Whoever does not wait for it here interrupts it, and nothing else.
    """
    from benchconsole.console.session.kept_report import is_large, keep_reports, render_reports
    from benchconsole.console.session.report_details import read_details
    from benchconsole.console.session.session import Session
    from benchconsole.console.session.stored_judgement import read_large
    from benchconsole.store.errors import StoreError
    from benchconsole.store.reading.report_reading import read_report_basis

    with suppress(StoreError, KeyboardInterrupt):
        if not is_large(store, key):
            return
        complain("the reports are made and kept with the session; Ctrl-C leaves that to whoever asks for one first")
        basis, probes = read_report_basis(store.session(key)), load_installed_probes()
        session = Session.stored(store, key, probes, judged=read_large(store.session(key), probes))
        view = session.view()
        keep_reports(store, key, render_reports(view, read_details(session, view)), basis)


def parse_at(text: str | None) -> float:
    """UTC seconds of what ``--at`` says, now where it says nothing; BadInput for no past moment with its zone."""
    from benchconsole.console.text.moment import EXAMPLE, parse_past

    found = time.time() if text is None else parse_past(text)
    if found is None:
        raise BadInput(f"benchconsole: --at {text!r}, expected a moment of the past with its zone, such as {EXAMPLE}")
    return found


def print_json(record: object) -> None:
    """Print ``record``, indented; ValueError for a number that JSON does not have."""
    click.echo(json.dumps(record, indent=1, allow_nan=False))


async def ask_consent(question: str, unchanged: str = "nothing was changed") -> bool:
    """Whether the operator said yes; nobody at the terminal is a no."""
    import asyncio

    try:
        return await asyncio.to_thread(click.confirm, question, default=False)
    except click.Abort:
        complain(f"nobody answered: {unchanged}; --yes does it without asking")
        return False
