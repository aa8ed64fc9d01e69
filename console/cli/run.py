"""Runs a suite without the screen; the same session as on it, told as lines."""

import asyncio
import shlex
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TextIO

import click

from benchconsole.console.cli import common, session_options
from benchconsole.console.exits import BadInput, Exit, complain
from benchconsole.console.session.collector import freeze_collector
from benchconsole.console.session.node_access import MakeReach, make_ssh_reach, refuse_missing_files
from benchconsole.console.session.safety import InUseError
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.events import LEFT_OUT, Event, SessionEnded, TestStarted, is_time_stop, make_noticed
from benchconsole.console.view.reducer import advance_all
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.session_verdict import decide
from benchconsole.probes.api import Probe
from benchconsole.probes.blank_devices import list_confirmations
from benchconsole.probes.hygiene.leftover_proof import touched
from benchconsole.probes.model.errors import ProbeError
from benchconsole.probes.model.measuring import Result, Round
from benchconsole.probes.model.remote import Reach
from benchconsole.probes.reach.slurm.slurm_reach import Wish, door_name, through_slurm
from benchconsole.store.errors import StoreError
from benchconsole.store.store import Store
from benchconsole.topology.errors import RoutingError, SelectionError, find_near
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.units import duration

if TYPE_CHECKING:
    from benchconsole.console.session.metadata import SessionChoice
    from benchconsole.console.session.session import Session
    from benchconsole.probes.model.detectable_loss import DetectableLoss


@click.command("run")
@common.topology_argument
@common.suite_option
@common.nodes_option
@common.exclude_option
@click.option(
    "--only", default="", metavar="STAGES", help="Only these stages or probes of the suite: 'ping, iperf3 trunks'."
)
@click.option("--without", default="", metavar="STAGES", help="Leave these stages or probes out.")
@click.option(
    "--test",
    "single",
    default="",
    metavar="WORDS",
    help="One test in place of a suite: 'PROBE NODE [PEER] [OPTION=VALUE ...]'; recorded.",
)
@common.db_option
@common.label_option
@click.option("--dry-run", is_flag=True, help="Print the plan and stop; nothing is sent.")
@click.option("--resume", metavar="SESSION", default=None, help="Finish an interrupted session (id, label, last).")
@click.option("--jsonl", type=click.Path(path_type=Path, allow_dash=True), default=None, help="Events as JSON lines.")
@click.option("--force", is_flag=True, help="Replace the file of --jsonl if it exists.")
@click.option("--allow-untested", is_flag=True, help="Exit 0 although something was not tested; recorded.")
@click.option("--quiet", is_flag=True, help="Only the summary.")
@common.cohort_option
@common.parameters_option
@click.option(
    "--cap",
    "caps",
    metavar="CAP",
    multiple=True,
    help="A lower cap than the file has: 50% of each link, or SYSTEM=2GB/s; recorded. Repeat for more.",
)
@click.option("--tests-at-once", metavar="N", default=None, help="Most tests of one round; recorded.")
@click.option(
    "--within",
    metavar="TIME",
    default=None,
    help="Begin no round that is not expected to be over in this time, as '2 h', with the end of the run.",
)
@click.option("--until", metavar="HH:MM", default=None, help="The same by the clock of this machine.")
@click.option(
    "--careful", is_flag=True, help="Begin with 1, 2, 4 ... tests at once, and stop when a canary pair suffers."
)
@click.option(
    "--change-nodes", is_flag=True, help="Allow steps of sweeps: commands that change nodes, and are undone; recorded."
)
@click.option("--sample-load", is_flag=True, help="Sample the load of both ends and of storage servers during tests.")
@click.option(
    "--i-mean-production", metavar="NODES", default=None,
    help="Load these although the file tags them production; recorded.",
)  # fmt: skip
@click.option(
    "--i-mean-busy", metavar="NODES", default=None, help="Load these although somebody's job runs there; recorded."
)
@click.option(
    "--confirm",
    metavar="MINUTES",
    default=None,
    help="How long rounds may last, 0 to 1440, that are added to confirm suspects and to repeat what ran apart [3].",
)
@click.option("--no-confirm", is_flag=True, help="Add no such rounds; the same as --confirm 0.")
@click.option("--through", metavar="slurm[:PARTITION]", default=None, help="Run inside an allocation of our own.")
@click.option(
    "--head", metavar="NODE", default=None, help="With --through: speak to Slurm on this node, over SSH [this machine]."
)
def command(
    topology: Path, suite: str | None, nodes: str | None, exclude: str | None, db: Path | None, label: str,
    dry_run: bool, resume: str | None, jsonl: Path | None, force: bool, allow_untested: bool, quiet: bool,
    cohorts: tuple[str, ...], given: tuple[str, ...], careful: bool, i_mean_production: str | None,
    i_mean_busy: str | None, confirm: str | None, no_confirm: bool, through: str | None, head: str | None,
    change_nodes: bool, sample_load: bool, only: str, without: str, single: str, caps: tuple[str, ...],
    tests_at_once: str | None, within: str | None, until: str | None,
) -> None:  # fmt: skip
    """Run a suite on the nodes of TOPOLOGY and judge it.

    Exit codes: 0 everything was tested, judged and passed, 1 something is below its threshold, 2 bad
    input and nothing was started, 3 not everything was tested and judged, 4 internal error, 129 130
    143 ended by a signal. 1 wins over 3.
    """
    from benchconsole.console.session.session import Session

    _require_fresh(jsonl, force=force)
    found = common.load_catalogue()
    probes = found.probes
    fabric = common.read_topology(topology, probes, given)
    of_suite = {"--suite": suite, "--nodes": nodes, "--exclude": exclude, "--only": only, "--without": without}
    _refuse_together(single, of_suite)
    _refuse_unknown_head(fabric, through, head)
    asked = {
        "nodes": nodes, "exclude": exclude, "only": only or None, "without": without or None, "label": label or None,
        "confirm": session_options.choose_confirm(confirm, no_confirm=no_confirm), "i-mean-busy": i_mean_busy,
        "i-mean-production": i_mean_production, "careful": "yes" if careful else None,
        "sample-load": "yes" if sample_load else None, "change-nodes": "yes" if change_nodes else None,
        "cap": shlex.join(caps) if caps else None, "tests-at-once": tests_at_once, "within": within, "until": until,
    }  # fmt: skip
    said = {"through": through, "allow_untested": int(allow_untested)}
    choice = _read_choice(fabric, _make_base(fabric, suite, single, given, said), asked, cohorts)
    if resume:
        _refuse_with_resume(click.get_current_context().params)
    else:
        choice.typed = _confirm_disks(fabric, choice, probes, is_asked=not dry_run)
    with common.open_store(db) as store:
        common.import_waiting_spools(store)
        if resume:
            session = _resume_session(store, resume, topology, probes, choice)
        else:
            session = Session(fabric, probes, store, choice)
        session.origin = found.origin
        rounds = session.unfinished() if resume else session.propose()
        session.make_reach = common.make_asking_reach
        if through is not None:
            session.make_reach = _make_slurm_reach(through, head, choice, lambda: rounds)
        if dry_run:
            _print_plan(session, rounds, through)
        _refuse_start(session, rounds, logs_in=not dry_run and through is None)
        if dry_run:
            return
        if resume:
            _begin_again(session, rounds, allow_untested=allow_untested)
        again = {name: text for name, text in (("through", through), ("head", head)) if text is not None}
        code = run_session(session, rounds, jsonl=jsonl, quiet=quiet, allow_untested=allow_untested, again=again)
        _complain_left_out(store, session.id)
        if session.complete:
            common.keep_reports_at_end(store, session.id)
    raise click.exceptions.Exit(code)


def _make_base(
    fabric: Fabric, suite: str | None, single: str, given: Sequence[str], said: Mapping[str, str | int | None]
) -> "SessionChoice":
    """The choices that no form of the screen has; the options that were ``said`` for them are recorded."""
    from benchconsole.console.session.metadata import SessionChoice, make_settings

    recorded = {name: value for name, value in said.items() if value}
    base = SessionChoice(suite, options={**recorded, **make_settings(fabric, given)}, test=single)
    base.policy = session_options.make_safety_policy(fabric, slurm="through" not in recorded)
    return base


def _read_choice(
    fabric: Fabric, base: "SessionChoice", asked: Mapping[str, str | None], cohorts: Sequence[str]
) -> "SessionChoice":
    """``base`` with what was ``asked`` for (None: nothing), read as the plan sheet of the screen does."""
    from benchconsole.console.session.run_options import make_cohort_options, read_choice

    given = {name: text for name, text in asked.items() if text is not None}
    choice = read_choice(fabric, base, given, session_options.find_operator())
    choice.options = {**choice.options, **make_cohort_options(fabric, cohorts)}
    return choice


def _refuse_together(single: str, others: Mapping[str, object]) -> None:
    """BadInput for one test beside what chooses of a suite."""
    for name, value in others.items() if single else ():
        if value:
            raise BadInput(f"benchconsole: --test with {name}; one test names its nodes and its options itself")


_OF_NEW = {
    "cohorts": "--cohort", "given": "--set", "sample_load": "--sample-load", "change_nodes": "--change-nodes",
    "only": "--only", "without": "--without", "caps": "--cap", "tests_at_once": "--tests-at-once", "single": "--test",
    "suite": "--suite", "nodes": "--nodes", "exclude": "--exclude", "label": "--label",
}  # fmt: skip
"""Options of a new session alone, by the names of their parameters."""


def _refuse_with_resume(given: Mapping[str, object]) -> None:
    """BadInput for a ``given`` option that would change what a session was begun with."""
    for name, option in _OF_NEW.items():
        if given[name]:
            raise _make_refusal(option)


def _make_refusal(option: str) -> BadInput:
    return BadInput(
        f"benchconsole: {option} with --resume; a session goes on as it was begun: leave it out, or begin a new "
        "session without --resume"
    )


def _resume_session(
    store: Store, name: str, topology: Path, probes: Mapping[str, Probe], choice: "SessionChoice"
) -> "Session":
    """The session to go on with, by the policy and the time limit of ``choice``.

    Its own stored fabric counts, and must be that of the file.
    """
    from benchconsole.console.session.metadata import CONFIRM
    from benchconsole.console.session.session import Session

    session = Session.stored(store, name, probes, policy=choice.policy)
    session.choice.within, session.choice.until = choice.within, choice.until
    if choice.options.get(CONFIRM, session.choice.confirm_seconds) != session.choice.confirm_seconds:
        raise _make_refusal("--confirm")
    if session.fabric.text != topology.read_text(encoding="utf-8-sig"):
        raise BadInput(
            f"benchconsole: session {session.id} was made with another text of {session.fabric.file}, "
            f"expected the same file; start a new session, or put the file back"
        )
    return session


def _refuse_start(session: "Session", rounds: Sequence[Round], *, logs_in: bool) -> None:
    """Nothing is started while nodes that somebody else needs would be loaded unnamed, or nobody could log in."""
    if logs_in:
        refuse_missing_files(session.fabric)
    try:
        session.choice.policy.refuse(session.fabric, rounds, session.probes)
    except InUseError as error:
        raise BadInput(
            f"benchconsole: {error}\nnothing was started; {_advise(is_resumed=bool(session.id))}, or name them with"
            " --i-mean-production or --i-mean-busy, which is recorded"
        ) from error


def _begin_again(session: "Session", rounds: Sequence[Round], *, allow_untested: bool) -> None:
    """Say where nothing is left to run, and record what the session was not begun with."""
    if not rounds:
        complain(f"session {session.id}: nothing is left to run")
    if allow_untested:
        asyncio.run(_note_allowance(session.store, session.id))


async def _note_allowance(store: Store, key: str) -> None:
    words = "--allow-untested was given: that something was not tested does not fail the rest of this session"
    stored = store.session(key)
    await stored.claim()
    await stored.append_note("option", words, time.time())


def _advise(*, is_resumed: bool) -> str:
    return "wait until they are free" if is_resumed else "leave them out with -x"


def _complain_left_out(store: Store, session: str) -> None:
    """Say what of its suite a session did not run, by its record."""
    for note in store.session(session).read_notes():
        noticed = make_noticed(note.kind, note.text, note.at)
        if noticed.left_out:
            complain(sanitize(noticed.text))


def _confirm_disks(
    fabric: Fabric, choice: "SessionChoice", probes: Mapping[str, Probe], *, is_asked: bool
) -> tuple[str, ...]:
    """The serial numbers of disks that would be overwritten, each typed by whoever answers for it.

    Where nobody ``is_asked``, nothing is run: the plan is that with every disk, and says which they are.
    """
    from benchconsole.console.session.next_rounds import choose_suite

    asked = list_confirmations(fabric, choose_suite(fabric, choice, probes), probes, nodes=choice.nodes)
    if not is_asked:
        for each in asked:
            click.echo(f"asks before it starts: {each.lost} would be lost")
        return tuple(each.serial for each in asked)
    if asked and not sys.stdin.isatty():
        raise BadInput(f"benchconsole: {asked[0].lost} would be lost; only a person at a terminal can confirm that")
    for each in asked:
        complain(f"{each.lost} will be lost.")
        if not each.accepts(click.prompt("Type its serial number to go on", "", show_default=False, err=True)):
            raise BadInput("benchconsole: that is not its serial number; nothing was started")
    return tuple(each.serial for each in asked)


def _require_fresh(jsonl: Path | None, *, force: bool) -> None:
    """BadInput where the events would replace a file that is there; a pipe or a device is written to as it is."""
    if jsonl is not None and str(jsonl) != "-" and jsonl.is_file() and not force:
        raise BadInput(
            f"benchconsole: {jsonl}: it is there already. Choose another name, or replace it with --force; "
            "nothing was started"
        )


def _open_events(jsonl: Path | None) -> TextIO | None:
    """The file for events, opened; BadInput where it cannot be, or has come to be there meanwhile."""
    if jsonl is None or str(jsonl) == "-":
        return sys.stdout if jsonl is not None else None
    try:
        return jsonl.open("w" if jsonl.exists() else "x", encoding="utf-8")
    except OSError as error:
        raise BadInput(
            f"benchconsole: {jsonl}: {error.strerror}; name a file for --jsonl, or -; nothing was started"
        ) from error


def _print_plan(session: "Session", rounds: Sequence[Round], through: str | None) -> None:
    from benchconsole.console.session.round_judging import make_judging_context
    from benchconsole.console.session.run_limits import describe_allocation, list_time_limit
    from benchconsole.console.view.detectable_text import list_detectable_sentences
    from benchconsole.console.view.plan_text import format_plan
    from benchconsole.probes.judging.detectable_loss import list_planned_losses
    from benchconsole.probes.planning.plan_summary import summarise

    summary = summarise(session.fabric, rounds, session.probes, most=session.choice.tests_at_once)
    for line in format_plan(session.fabric, summary, rounds):
        click.echo(line)
    context = make_judging_context(session.fabric, session.probes)
    losses = list_planned_losses(context, rounds)
    for sentence in list_detectable_sentences(session.fabric, losses, session.suite, is_planned=True):
        click.echo(f"shows: {sentence}")
    if session.choice.confirm_seconds:
        click.echo(
            f"then at most {duration(session.choice.confirm_seconds)} of rounds that confirm what is only suspected"
            " and repeat what ran apart"
        )
    now = time.time()
    for words in list_time_limit(session.choice, rounds, now):
        click.echo(f"time limit: {sanitize(words)}")
    if through is not None:
        nodes = len(touched(rounds).nodes)
        click.echo(f"allocation: {describe_allocation(session.choice, rounds, nodes, now)}")
    for each in session.proposed.left_out:
        click.echo(f"{LEFT_OUT}: {sanitize(each.words)}")


def run_session(
    session: "Session", rounds: Sequence[Round], *, jsonl: Path | None = None, quiet: bool = False,
    allow_untested: bool = False, again: Mapping[str, str] = MappingProxyType({}),
) -> int:  # fmt: skip
    """Run ``rounds`` to the end and print the summary; the exit code.

    ``again`` are the options that the command needs once more which goes on with the session.
    """
    from benchconsole.console.session.run_options import format_resume_command
    from benchconsole.store.files.paths import name_database

    freeze_collector()
    to_stdout = str(jsonl) == "-"
    stream = _open_events(jsonl)
    try:
        view, ended_by = asyncio.run(
            follow_session(session, rounds, stream, sys.stderr if to_stdout else sys.stdout, quiet)
        )
    except (ProbeError, RoutingError, SelectionError, StoreError) as error:
        if not session.has_begun:
            raise
        # This is no bad input any more. Results that were told as judged are stored.
        complain(f"benchconsole: {error}; the run was stopped, what was shown as judged is kept")
        return Exit.INTERNAL
    finally:
        if stream is not None and not to_stdout:
            stream.close()
    out = sys.stderr if to_stdout else sys.stdout
    losses = session.list_detectable_losses()
    database = name_database(session.store.path)
    resume = format_resume_command(session.fabric, session.id, again, database) if session.id else ""
    return print_summary(view, ended_by, allow_untested=allow_untested, out=out, losses=losses, resume=resume)


def print_summary(
    view: RunView, ended_by: int | None, *, allow_untested: bool, out: TextIO,
    losses: "tuple[DetectableLoss, ...]" = (), resume: str = "",
) -> int:  # fmt: skip
    """Print the summary of a run and give its exit code. ``resume`` is the command that goes on with it."""
    from benchconsole.console.reports import ReportOptions, render
    from benchconsole.console.reports.content import SessionDetails

    out.write("\n")
    is_ascii = "utf" not in (out.encoding or "").lower()
    render("text", view, out, ReportOptions(ascii=is_ascii, details=SessionDetails(losses=losses)))
    out.flush()
    if ended_by is not None:
        complain(f"ended by {signal.Signals(ended_by).name}{f'; finish it with: {resume}' if resume else ''}")
        return common.ENDINGS[signal.Signals(ended_by)]
    if is_time_stop(view.because):
        complain(f"{view.because}{f'; go on with: {resume}' if resume else ''}")
    return decide(view).exit_code(allow_untested=allow_untested)


async def follow_session(
    session: "Session", rounds: Sequence[Round], stream: TextIO | None, out: TextIO, quiet: bool
) -> tuple[RunView, int | None]:
    """Drive the session and fold its events; the last view, and the signal that ended it."""
    from benchconsole.console.cli.event_lines import format_event, format_event_json

    caught: list[int] = []

    def stop(number: int) -> None:
        caught.append(number)
        if len(caught) == 1:
            complain("stopping: what runs on the nodes is ended; once more leaves at once")
            session.stop(now=True)
        else:
            session.abandon()

    loop = asyncio.get_running_loop()
    for number in common.ENDINGS:
        loop.add_signal_handler(number, stop, number)
    view = advance_all(RunView(session.fabric), session.replay)
    if not rounds and view.complete:
        return view, None
    session.start(rounds)  # none is left where the console died after the last one: then the nodes are searched
    unfolded: list[Event] = []
    async for event in session.live():
        unfolded.append(event)
        if not isinstance(event, (TestStarted, Result)):  # no line on a test asks for the view
            view, unfolded = advance_all(view, unfolded), []
        if stream is not None:
            stream.write(format_event_json(event))
            stream.flush()
        if not quiet:
            for line in format_event(event, view):
                out.write(f"{line}\n")
            out.flush()
        if isinstance(event, SessionEnded):
            break
    await session.finished()
    return view, caught[0] if caught else None


def _make_slurm_reach(
    through: str, head: str | None, choice: "SessionChoice", rounds: Callable[[], Sequence[Round]]
) -> MakeReach:
    """The maker of the reach of a run through Slurm on the nodes of ``rounds``, in the time limit of ``choice``.

    BadInput for what cannot be meant.
    """
    from benchconsole.console.session.run_limits import compute_allocation_seconds

    scheduler, _, partition = through.partition(":")
    if scheduler != "slurm":
        raise BadInput(f"benchconsole: --through {through}: found {scheduler!r}, expected slurm or slurm:PARTITION")
    try:
        Wish(partition)
    except ValueError as error:
        raise BadInput(f"benchconsole: --through {through}: {error}") from error

    def make(fabric: Fabric, session: str) -> Reach:
        planned = tuple(rounds())
        wish = Wish(partition, seconds=compute_allocation_seconds(choice, planned, time.time()))
        door = None
        if head is not None:
            door = (make_ssh_reach(fabric, door_name(session)), next(n for n in fabric.nodes.values() if n.id == head))
        return through_slurm(session, touched(planned).nodes, wish, door)

    return make


def _refuse_unknown_head(fabric: Fabric, through: str | None, head: str | None) -> None:
    """BadInput for a head node that the file does not have, or that nobody asked for."""
    if head is None:
        return
    if through is None:
        raise BadInput(f"benchconsole: --head {head} without --through, expected --through slurm beside it")
    if head not in fabric.nodes:
        hint = find_near(head, fabric.nodes)
        raise BadInput(f"benchconsole: --head {head}: no such node" + (f"; did you mean {hint}?" if hint else ""))
