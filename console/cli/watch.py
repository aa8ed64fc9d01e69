"""Takes samples of nodes over days: are they up, do services on them answer."""

import asyncio
import re
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchconsole.console.availability.evaluation import EVERY, LASTS, read_schedule
from benchconsole.console.cli.common import (
    ENDINGS,
    db_option,
    exclude_option,
    import_waiting_spools,
    label_option,
    load_catalogue,
    nodes_option,
    open_store,
    read_topology,
    topology_argument,
)
from benchconsole.console.exits import BadInput, complain
from benchconsole.console.text.moments import format_moment
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.events import Event, Held, Noticed, Resumed
from benchconsole.probes.api import Probe
from benchconsole.store.store import Store
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.selection import fold, select

if TYPE_CHECKING:
    from benchconsole.console.session.availability_watch import AvailabilityWatch, TakenSample
_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_TIME = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*(s|m|min|h|d)\s*")
_SAMPLES = 1_000_000
TEN_MINUTES, TWO_WEEKS = "10m", "14d"
"""What the Jetstream acceptance report asks for, in samples that cost a node nothing."""


def parse_seconds(text: str, option: str) -> float:
    """A time such as ``30s``, ``10m``, ``1h``, ``14d`` in seconds; BadInput for anything else, and for none."""
    match = _TIME.fullmatch(text)
    if match is None or float(match[1]) <= 0:
        raise BadInput(f"benchconsole: {option} {text}: expected a time such as 30s, 10m, 1h or 14d")
    return float(match[1]) * _UNITS[match[2]]


@click.command("watch")
@topology_argument
@click.option("--every", metavar="TIME", default=None, help=f"Time between samples [{TEN_MINUTES}].")
@click.option("--for", "lasts", metavar="TIME", default=None, help=f"How long, a multiple of --every [{TWO_WEEKS}].")
@click.option(
    "--suite", default=None, metavar="NAME", help="Suite of availability stages [availability, else every node]."
)
@nodes_option
@exclude_option
@label_option
@click.option("--session", "session", metavar="SESSION", default=None, help="Go on with this watch (id, label, last).")
@db_option
def command(
    topology: Path, every: str | None, lasts: str | None, suite: str | None, nodes: str | None, exclude: str | None,
    label: str, session: str | None, db: Path | None,
) -> None:  # fmt: skip
    """Sample the nodes of TOPOLOGY every so often, as rounds of one stored session.

    Survives its own end: with --session it goes on by the same schedule, and what it missed stays missed.
    Evaluate with benchconsole availability, also while it runs.

    Exit codes: 0 the last sample was taken, 2 bad input, 129 130 143 ended by a signal.
    """
    probes = load_catalogue().probes
    fabric = read_topology(topology, probes)
    with open_store(db) as store:
        import_waiting_spools(store)
        if session is None:
            pace = _make_schedule_options(
                parse_seconds(every or TEN_MINUTES, "--every"), parse_seconds(lasts or TWO_WEEKS, "--for")
            )
            prepare = _prepare_new(fabric, probes, store, suite, _select_nodes(fabric, nodes, exclude), label, pace)
        else:
            if any((every, lasts, suite, nodes, exclude, label)):
                raise BadInput("benchconsole: --session goes on with what it has; leave the other options out")
            prepare = _prepare_resumed(fabric, probes, store, store.find_session(session), topology)
        ended_by = asyncio.run(_run_watch(prepare))
    if ended_by is not None:
        raise click.exceptions.Exit(ENDINGS[signal.Signals(ended_by)])


def _make_schedule_options(every: float, lasts: float) -> dict[str, str | int | float]:
    """The options that record the schedule; BadInput for one that does not come out even."""
    samples = lasts / every
    if samples < 1 or abs(samples - round(samples)) > 1e-9 or samples > _SAMPLES:
        raise BadInput(f"benchconsole: --for: found {samples:g} times --every, expected a whole number of times")
    return {EVERY: every, LASTS: lasts}


def _select_nodes(fabric: Fabric, nodes: str | None, exclude: str | None) -> tuple[str, ...] | None:
    return None if nodes is None and exclude is None else tuple(select(fabric, nodes, exclude))


def _prepare_new(
    fabric: Fabric, probes: Mapping[str, Probe], store: Store, suite: str | None,
    nodes: tuple[str, ...] | None, label: str, pace: dict[str, str | int | float],
) -> "Callable[[], AvailabilityWatch]":  # fmt: skip
    """What makes a new watch, once there is a loop."""
    from benchconsole.console.session.availability_watch import AvailabilityWatch, find_watched_suite
    from benchconsole.console.session.metadata import SessionChoice

    asked = find_watched_suite(fabric, suite)
    chosen = None if nodes is None else tuple(map(NodeId, nodes))
    return lambda: AvailabilityWatch(fabric, probes, store, asked, SessionChoice(asked.name, chosen, label, pace))


def _prepare_resumed(
    fabric: Fabric, probes: Mapping[str, Probe], store: Store, key: str, topology: Path
) -> "Callable[[], AvailabilityWatch]":
    """What makes the watch to go on with; BadInput unless the file is still the one that it was begun with."""
    from benchconsole.console.session.availability_watch import AvailabilityWatch, find_watched_suite
    from benchconsole.console.session.metadata import SessionChoice

    stored = store.session(key).describe()
    if read_schedule(stored) is None:
        raise BadInput(f"benchconsole: session {key} is no watch, expected one of benchconsole watch")
    if fabric.text != stored.new.topology:
        raise BadInput(f"benchconsole: session {key} was begun with another text of {topology}; put the file back")
    new = stored.new
    chosen = tuple(select(fabric, new.selection)) if new.selection else None

    def make() -> "AvailabilityWatch":
        watch = AvailabilityWatch(
            fabric,
            probes,
            store,
            find_watched_suite(fabric, new.suite),
            SessionChoice(new.suite, chosen, new.label, new.options),
        )
        watch.take_up(key)
        return watch

    return make


async def _run_watch(prepare: "Callable[[], AvailabilityWatch]") -> int | None:
    """Run the watch to its end; the signal that ended it."""
    watch, caught = prepare(), list[int]()

    def stop(number: int) -> None:
        if not caught:
            complain("stopping: go on later with --session")
        caught.append(number)
        watch.stop()

    for number in ENDINGS:
        asyncio.get_running_loop().add_signal_handler(number, stop, number)
    watch.tell = _print_event
    over = await watch.run()
    if over:
        click.echo(f"the watch is over: benchconsole availability {watch.id}")
    elif watch.id:
        click.echo(f"go on with: benchconsole watch TOPOLOGY --session {watch.id}")
    return None if over else caught[0]


def _print_event(told: "Event | TakenSample") -> None:
    """One line for each sample; what holds a sample up goes to standard error."""
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
