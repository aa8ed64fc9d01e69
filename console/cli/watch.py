"""Takes samples of nodes over days: are they up, do services on them answer."""

import asyncio
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.cli.common import (
    bring_back,
    catalogue,
    db_option,
    exclude_option,
    label_option,
    nodes_option,
    open_store,
    read_topology,
    topology_argument,
)
from console.exits import BadInput, Exit, complain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from console.events import Event
    from console.watching import Sampled, Watch
    from probes.api import Probe
    from store.store import Store
    from topology.model import Fabric

_ENDINGS = {signal.SIGINT: Exit.INTERRUPTED, signal.SIGTERM: Exit.TERMINATED, signal.SIGHUP: Exit.HUNG_UP}
_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_TIME = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*(s|m|min|h|d)\s*")
_SAMPLES = 1_000_000
TEN_MINUTES, TWO_WEEKS = "10m", "14d"
"""What the Jetstream acceptance report asks for, in samples that cost a node nothing."""


def seconds(text: str, option: str) -> float:
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
    probes = catalogue().probes
    fabric = read_topology(topology, probes)
    with open_store(db) as store:
        bring_back(store)
        if session is None:
            pace = _pace(seconds(every or TEN_MINUTES, "--every"), seconds(lasts or TWO_WEEKS, "--for"))
            prepare = _begun(fabric, probes, store, suite, _selected(fabric, nodes, exclude), label, pace)
        else:
            if any((every, lasts, suite, nodes, exclude, label)):
                raise BadInput("benchconsole: --session goes on with what it has; leave the other options out")
            prepare = _taken_up(fabric, probes, store, store.find(session), topology)
        ended_by = asyncio.run(_run(prepare))
    if ended_by is not None:
        raise click.exceptions.Exit(_ENDINGS[signal.Signals(ended_by)])


def _pace(every: float, lasts: float) -> "dict[str, str | int | float]":
    """The options that record the schedule; BadInput for one that does not come out even."""
    from console.availability import EVERY, LASTS

    samples = lasts / every
    if samples < 1 or abs(samples - round(samples)) > 1e-9 or samples > _SAMPLES:
        raise BadInput(f"benchconsole: --for: found {samples:g} times --every, expected a whole number of times")
    return {EVERY: every, LASTS: lasts}


def _selected(fabric: "Fabric", nodes: str | None, exclude: str | None) -> "tuple[str, ...] | None":
    from topology.selection import select

    return None if nodes is None and exclude is None else tuple(select(fabric, nodes, exclude))


def _begun(
    fabric: "Fabric", probes: "Mapping[str, Probe]", store: "Store", suite: str | None,
    nodes: "tuple[str, ...] | None", label: str, pace: "dict[str, str | int | float]",
) -> "Callable[[], Watch]":  # fmt: skip
    """What makes a new watch, once there is a loop."""
    from console.record import Choice
    from console.watching import Watch, watched
    from topology.model import NodeId

    asked = watched(fabric, suite)
    chosen = None if nodes is None else tuple(map(NodeId, nodes))
    return lambda: Watch(fabric, probes, store, asked, Choice(asked.name, chosen, label, pace))


def _taken_up(
    fabric: "Fabric", probes: "Mapping[str, Probe]", store: "Store", key: str, topology: Path
) -> "Callable[[], Watch]":
    """What makes the watch to go on with; BadInput unless the file is still the one that it was begun with."""
    from console.availability import schedule_of
    from console.record import Choice
    from console.watching import Watch, watched
    from topology.selection import select

    stored = store.session(key)
    if schedule_of(stored) is None:
        raise BadInput(f"benchconsole: session {key} is no watch, expected one of benchconsole watch")
    if fabric.text != stored.new.topology:
        raise BadInput(f"benchconsole: session {key} was begun with another text of {topology}; put the file back")
    new = stored.new
    chosen = tuple(select(fabric, new.selection)) if new.selection else None

    def make() -> "Watch":
        watch = Watch(
            fabric, probes, store, watched(fabric, new.suite), Choice(new.suite, chosen, new.label, new.options)
        )
        watch.take_up(key)
        return watch

    return make


async def _run(prepare: "Callable[[], Watch]") -> int | None:
    """Run the watch to its end; the signal that ended it."""
    watch, caught = prepare(), list[int]()

    def stop(number: int) -> None:
        if not caught:
            complain("stopping: go on later with --session")
        caught.append(number)
        watch.stop()

    for number in _ENDINGS:
        asyncio.get_running_loop().add_signal_handler(number, stop, number)
    watch.tell = _say
    over = await watch.run()
    if over:
        click.echo(f"the watch is over: benchconsole availability {watch.id}")
    elif watch.id:
        click.echo(f"go on with: benchconsole watch TOPOLOGY --session {watch.id}")
    return None if over else caught[0]


def _say(told: "Event | Sampled") -> None:
    """One line for each sample; what holds a sample up goes to standard error."""
    from console.events import Held, Noticed, Resumed
    from console.plain import plain
    from console.watching import Sampled

    if isinstance(told, Sampled):
        click.echo(plain(sample_line(told)))
    elif isinstance(told, Held):
        complain(f"held: {told.because}")
    elif isinstance(told, Resumed):
        complain("going on")
    elif isinstance(told, Noticed):
        complain(told.text)


def sample_line(told: "Sampled") -> str:
    """``2026-11-03 08:00:01 UTC  sample 17 of 2016: 15 of 16 up; n3: unreachable``."""
    from console.reports.content import moment
    from topology.selection import fold

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
    return f"{moment(told.at)}  sample {told.number:,} of {told.last:,}: {counted}{rest}"
