"""Takes samples of nodes over days: are they up, do services on them answer."""

import asyncio
import re
import shlex
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchconsole.console.availability.evaluation import read_schedule
from benchconsole.console.availability.watch_options import EVERY, LASTS
from benchconsole.console.cli import common
from benchconsole.console.exits import BadInput, complain
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.events import Event, Held, Noticed, Resumed
from benchconsole.console.view.wording import format_moment
from benchconsole.probes.api import Probe
from benchconsole.store.files.paths import name_database
from benchconsole.store.store import Store
from benchconsole.topology.model.fabric import Fabric, Suite
from benchconsole.topology.selection import fold, select

if TYPE_CHECKING:
    from benchconsole.console.session.availability_watch import TakenSample
    from benchconsole.console.session.metadata import SessionChoice

_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_TIME = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*(s|m|min|h|d)\s*")
_SAMPLES = 1_000_000
TEN_MINUTES, TWO_WEEKS = "10m", "14d"
"""The time that the Jetstream acceptance report asks for, in samples that cost a node nothing."""


def parse_seconds(text: str, option: str) -> float:
    """A time such as ``30s``, ``10m``, ``1h``, ``14d`` in seconds; BadInput for anything else, and for none."""
    match = _TIME.fullmatch(text)
    if match is None or float(match[1]) <= 0:
        raise BadInput(f"benchconsole: {option} {text}: expected a time such as 30s, 10m, 1h or 14d")
    return float(match[1]) * _UNITS[match[2]]


@click.command("watch")
@common.topology_argument
@click.option("--every", metavar="TIME", default=None, help=f"Time between samples [{TEN_MINUTES}].")
@click.option("--for", "lasts", metavar="TIME", default=None, help=f"How long, a multiple of --every [{TWO_WEEKS}].")
@click.option(
    "--suite", default=None, metavar="NAME", help="Suite of availability stages [availability, else every node]."
)
@common.nodes_option
@common.exclude_option
@common.label_option
@click.option("--session", "session", metavar="SESSION", default=None, help="Go on with this watch (id, label, last).")
@common.db_option
def command(
    topology: Path, every: str | None, lasts: str | None, suite: str | None, nodes: str | None, exclude: str | None,
    label: str, session: str | None, db: Path | None,
) -> None:  # fmt: skip
    """Sample the nodes of TOPOLOGY every so often, as rounds of one stored session.

    Survives its own end: with --session it goes on by the same schedule, and what it missed stays missed.
    Evaluate with benchconsole availability, also while it runs.

    Exit codes: 0 the last sample was taken, 2 bad input, 129 130 143 ended by a signal.
    """
    from benchconsole.console.session.availability_watch import find_watched_suite
    from benchconsole.console.session.metadata import SessionChoice
    from benchconsole.console.session.node_access import refuse_missing_files

    probes = common.load_catalogue().probes
    fabric = common.read_topology(topology, probes)
    with common.open_store(db) as store:
        common.import_waiting_spools(store)
        key = None
        if session is None:
            pace = _make_schedule_options(
                parse_seconds(every or TEN_MINUTES, "--every"), parse_seconds(lasts or TWO_WEEKS, "--for")
            )
            chosen = None if nodes is None and exclude is None else select(fabric, nodes, exclude)
            asked = find_watched_suite(fabric, suite)
            choice = SessionChoice(asked.name, chosen, label, pace)
        else:
            if any((every, lasts, suite, nodes, exclude, label)):
                raise BadInput("benchconsole: --session goes on with what it has; leave the other options out")
            key = store.find_session(session)
            choice = _read_choice(store, key, fabric, topology)
            asked = find_watched_suite(fabric, choice.suite)
        refuse_missing_files(fabric)
        ended_by = asyncio.run(_run_watch(fabric, probes, store, asked, choice, key))
    if ended_by is not None:
        raise click.exceptions.Exit(common.ENDINGS[signal.Signals(ended_by)])


def _make_schedule_options(every: float, lasts: float) -> dict[str, str | int | float]:
    """The options that record the schedule; BadInput for one that does not come out even."""
    samples = lasts / every
    if samples < 1 or abs(samples - round(samples)) > 1e-9 or samples > _SAMPLES:
        raise BadInput(f"benchconsole: --for: found {samples:g} times --every, expected a whole number of times")
    return {EVERY: every, LASTS: lasts}


def _read_choice(store: Store, key: str, fabric: Fabric, topology: Path) -> "SessionChoice":
    """The choice that the watch to go on with was begun with; BadInput unless the file is still the same."""
    from benchconsole.console.session.metadata import SessionChoice

    stored = store.session(key).describe()
    new = stored.new
    if read_schedule(stored) is None:
        raise BadInput(f"benchconsole: session {key} is no watch, expected one of benchconsole watch")
    if fabric.text != new.topology:
        raise BadInput(f"benchconsole: session {key} was begun with another text of {topology}; put the file back")
    return SessionChoice(new.suite, select(fabric, new.selection) if new.selection else None, new.label, new.options)


async def _run_watch(
    fabric: Fabric, probes: Mapping[str, Probe], store: Store, suite: Suite, choice: "SessionChoice", key: str | None
) -> int | None:
    """Run a new watch, or the one called ``key``, to its end; the signal that ended it."""
    from benchconsole.console.session.availability_watch import AvailabilityWatch

    watch, caught = AvailabilityWatch(fabric, probes, store, suite, choice), list[int]()
    if key is not None:
        watch.take_up(key)

    def stop(number: int) -> None:
        if not caught:
            complain("stopping: go on later with --session")
        caught.append(number)
        watch.stop()

    for number in common.ENDINGS:
        asyncio.get_running_loop().add_signal_handler(number, stop, number)
    watch.tell = _print_event
    over = await watch.run()
    if over:
        click.echo(f"the watch is over: benchconsole availability {watch.id}")
    elif watch.id:
        database = name_database(store.path)
        words = ["benchconsole", "watch", fabric.file, "--session", watch.id, *(["--db", database] if database else [])]
        click.echo(f"go on with: {shlex.join(words)}")
    return None if over else caught[0]


def _print_event(told: "Event | TakenSample") -> None:
    from benchconsole.console.session.availability_watch import TakenSample

    if isinstance(told, TakenSample):
        click.echo(sanitize(format_sample(told)))
    elif isinstance(told, Held):
        complain(f"held: {told.because}")
    elif isinstance(told, Resumed):
        complain("going on")
    elif isinstance(told, Noticed):
        complain(told.text)


def format_sample(told: "TakenSample") -> str:
    """``2026-11-03 08:00:01 UTC  sample 17 of 2016: 15 of 16 up; n3: unreachable``."""
    nodes: dict[str, bool | None] = {}
    why: dict[str, dict[str, None]] = {}
    for result, sample in told.samples:
        node = result.test.target.node.id
        up = None if sample is None else sample.up
        if up is False or nodes.get(node, True):
            nodes[node] = up
        if not up:
            words = str(result.failure.stage) if result.failure else "a service does not answer"
            why.setdefault(words, {})[node] = None
    counted = f"{sum(up is True for up in nodes.values()):,} of {len(nodes):,} up"
    rest = "".join(f"; {fold(found)}: {words}" for words, found in why.items())
    return f"{format_moment(told.at)}  sample {told.number:,} of {told.last:,}: {counted}{rest}"
