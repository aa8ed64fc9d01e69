"""Says what the samples of a watch add up to: was the machine up for the share of time that is asked."""

import asyncio
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.cli.common import db_option, encodable, open_store
from console.exits import BadInput, Exit

if TYPE_CHECKING:
    from console.availability import Asked, Availability, Exclusion, Standing, Time
    from probes.judging.verdict import Level
    from store.store import Store

LISTED = 40
"""Nodes that get a line of their own: those with an outage, or not known to hold what is asked."""


@click.command("availability")
@click.argument("session", default="last")
@click.option("--at-least", metavar="SHARE", default="95%", show_default=True, help="Time up, of all that counts.")
@click.option("--each", is_flag=True, help="Ask that of every node, not only of all together.")
@click.option("--exclude", "excluded", metavar="'START/END REASON'", multiple=True, help="Do not count this; recorded.")
@click.option("--withdraw", metavar="START/END", multiple=True, help="Count it again; recorded.")
@click.option("--by", "by", metavar="NAME", default=None, help="Who decides that [this account].")
@click.option("--service", metavar="NODES", default=None, help="Nodes of a service that depends on the others.")
@click.option("--within", metavar="SHARE", default="2%", show_default=True, help="How far it may stay behind them.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@db_option
def command(
    session: str, at_least: str, each: bool, excluded: tuple[str, ...], withdraw: tuple[str, ...], by: str | None,
    service: str | None, within: str, as_json: bool, db: Path | None,
) -> None:  # fmt: skip
    """Evaluate the samples of a watch (id, label, last; default last).

    A sample speaks for the time up to the next planned one. What was not sampled is not known: passed is what
    holds in the worst case, failed what does not hold even in the best.

    Exit codes: 0 passed, 1 failed, 3 not known, 2 bad input.
    """
    from console.availability import Asked
    from console.cli.in_use import operator
    from topology.resolve import load_text
    from topology.selection import select

    with open_store(db, create=False) as store:
        key = store.find(session)
        new = store.session(key).new
        chosen = tuple(select(load_text(new.topology, new.topology_path), service)) if service else ()
        asked = Asked(_share(at_least, "--at-least"), chosen, _share(within, "--within"), each)
        _record(store, key, excluded, withdraw, by or operator())
        found = evaluated(store, key, asked, now=time.time())
    if as_json:
        click.echo(json.dumps(record(key, found), indent=1, allow_nan=False))
    else:
        for line in lines(key, found):
            click.echo(line)
    raise click.exceptions.Exit(exit_code(found.level))


def exit_code(level: "Level") -> Exit:
    """0 where it passed, 1 where it failed, 3 where it is not known."""
    from probes.judging.verdict import Level

    return {Level.PASS: Exit.PASSED, Level.FAIL: Exit.BELOW}.get(level, Exit.UNTESTED)


def evaluated(store: "Store", key: str, asked: "Asked", *, now: float) -> "Availability":
    """The availability that a stored watch shows; BadInput for a session that is none."""
    from console.availability import PROBE, evaluate, sample_of, schedule_of
    from console.exclusions import recorded

    schedule = schedule_of(store.session(key))
    if schedule is None:
        raise BadInput(f"benchconsole: session {key} is no watch, expected one of benchconsole watch")
    nodes: dict[str, None] = {}
    samples = []
    for outcome in store.outcomes(key, PROBE):
        nodes[outcome.node] = None
        sample = sample_of(outcome)
        if sample is not None:
            samples.append(sample)
    if not nodes:
        raise BadInput(f"benchconsole: session {key} has no sample yet")
    try:
        return evaluate(samples, tuple(nodes), schedule, now=now, exclusions=recorded(store.notes(key)), asked=asked)
    except ValueError as error:
        raise BadInput(f"benchconsole: --service: {error}; watch more nodes than those of the service") from error


def _record(store: "Store", key: str, excluded: tuple[str, ...], withdraw: tuple[str, ...], by: str) -> None:
    """Write into the record what does not count; BadInput, and nothing written, where one of them cannot be read."""
    from console.exclusions import KIND, WITHDRAWN, ExclusionError, exclusion_of, recorded, span_of, span_words, words

    try:
        notes = [(KIND, words(exclusion_of(text, by))) for text in excluded]
        taken_back = [span_words(*span_of(text)) for text in withdraw]
    except ExclusionError as error:
        raise BadInput(f"benchconsole: {error}; nothing was recorded") from error
    known = {span_words(each.start, each.end) for each in recorded(store.notes(key))}
    missing = [span for span in taken_back if span not in known]
    if missing:
        raise BadInput(f"benchconsole: --withdraw {missing[0]}: found {', '.join(known) or 'nothing'} excluded")
    notes = [*((WITHDRAWN, f"{span} by {by}") for span in taken_back), *notes]

    async def write() -> None:
        for kind, text in notes:
            await store.remark(key, kind, text, time.time())

    if notes:
        asyncio.run(write())


def _share(text: str, option: str) -> float:
    from topology.units import Unit, UnitError, parse

    try:
        found = parse(text, Unit.ONE)
    except UnitError as error:
        raise BadInput(f"benchconsole: {option}: {error}") from error
    if not 0 <= found <= 1:
        raise BadInput(f"benchconsole: {option}: found {text!r}, expected a share such as 95% or 0.95")
    return found


# -- as text


def _percent(share: float | None, *, up: bool = False) -> str:
    """Three decimals, rounded down (``up``: up), so that what is below a bound never reads as if it held it."""
    if share is None:
        return "–"
    scaled = round(share * 100_000, 6)
    return f"{(math.ceil if up else math.floor)(scaled) / 1000:.3f} %"


def lines(key: str, found: "Availability") -> Iterator[str]:
    """The answer for people: what was asked, the system, the service, nodes worth a line, the verdict."""
    from console.plain import plain
    from console.reports.content import moment
    from console.wording import count
    from probes.judging.verdict import Level
    from topology.units import duration

    schedule = found.schedule
    sampled = f"a sample every {duration(schedule.every)}"
    yield f"availability of session {key}: {moment(schedule.began)} to {moment(schedule.ends)}, {sampled}"
    for out in found.exclusions:
        yield plain(f"excluded: {_span(out)} by {out.by}: {out.reason}")
    yield ""
    yield f"  {'':16} {'up':>10} {'at worst':>10} {'at best':>10}  outages"
    worth = [each for each in found.nodes if each.outages or each.level is not Level.PASS]
    worth.sort(key=lambda each: each.time.worst)
    for standing in (found.system, *([found.service] if found.service else []), *worth[:LISTED]):
        yield _line(standing)
    if len(worth) > LISTED:
        yield f"  and {count(len(worth) - LISTED, 'more node')} with an outage, or not known to hold it"
    if len(found.nodes) > len(worth):
        yield f"  {count(len(found.nodes) - len(worth), 'more node')} without an outage"
    yield ""
    yield _sentence(found)


def _span(out: "Exclusion") -> str:
    from console.reports.content import moment

    return f"{moment(out.start)} to {moment(out.end)}"


def _line(each: "Standing") -> str:
    """``· system (16)   99.912 %  99.701 %  99.953 %  3, longest 0:30:00 on n3, MTBF 112:00:00, MTTR 0:20:00``."""
    from console.plain import plain
    from console.view import state_of_level
    from console.wording import SIGNS, count
    from topology.units import duration

    sign = SIGNS[state_of_level(each.level)]
    glyph = sign.glyph if encodable() else sign.ascii
    name = each.name if each.nodes == (each.name,) else f"{each.name} ({len(each.nodes):,})"
    time = each.time
    shares = f"{_percent(time.share):>10} {_percent(time.worst):>10} {_percent(time.best, up=True):>10}"
    reboots = sum(out.reboot for out in each.outages)
    words = [f"{len(each.outages):,}" + (f" ({count(reboots, 'reboot')})" if reboots else "")]
    if each.longest is not None:
        where = f" on {each.longest.node}" if len(each.nodes) > 1 else ""
        words.append(f"longest {duration(each.longest.seconds)}{where}{'' if each.longest.over else ', not over'}")
    if each.between_failures is not None:
        words.append(f"MTBF {duration(each.between_failures)}")
    if each.to_repair is not None:
        words.append(f"MTTR {duration(each.to_repair)}")
    if time.unsampled > 0:
        words.append(f"not sampled {duration(time.unsampled)}")
    return plain(f"{glyph} {name:16} {shares}  {', '.join(words)}")


def _sentence(found: "Availability") -> str:
    """The verdict with what it rests on."""
    from probes.judging.verdict import Level

    parts = [_says("the system was up", found.system.time, found.system.level)]
    parts.append(f"at least {_percent(found.asked.at_least)} is asked{' of every node' if found.asked.each else ''}")
    if found.service is not None:
        behind = f"it may stay {_percent(found.asked.within)} of all time behind"
        parts += [_says("the service was up", found.service.time, found.service.level), behind]
    word = {Level.PASS: "PASSED", Level.FAIL: "FAILED"}.get(found.level, "NOT KNOWN")
    return f"{word}: {'; '.join(parts)}."


def _says(what: str, time: "Time", level: "Level") -> str:
    from probes.judging.verdict import Level

    if level is Level.PASS:
        return f"{what} {_percent(time.worst)} of the time at worst"
    if level is Level.FAIL:
        return f"{what} {_percent(time.best, up=True)} of the time at best"
    return f"{what} between {_percent(time.worst)} and {_percent(time.best, up=True)} of the time"


# -- as JSON


def record(key: str, found: "Availability") -> dict[str, object]:
    """The answer for programs: seconds, shares from 0 to 1, moments in UTC seconds; null for what cannot be told."""
    schedule, asked = found.schedule, found.asked
    return {
        "session": key,
        "level": found.level,
        "asked": {"at_least": asked.at_least, "each": asked.each, "service": asked.service, "within": asked.within},
        "schedule": {"began": schedule.began, "ends": schedule.ends, "every": schedule.every},
        "excluded": [
            {"start": each.start, "end": each.end, "reason": each.reason, "by": each.by} for each in found.exclusions
        ],
        "system": _standing(found.system),
        "service": _standing(found.service) if found.service else None,
        "nodes": [_standing(each) for each in found.nodes],
    }


def _standing(each: "Standing") -> dict[str, object]:
    time = each.time
    outages = [
        {"node": out.node, "start": out.start, "seconds": None if out.reboot else out.seconds, "over": out.over,
         "reboot": out.reboot}
        for out in each.outages
    ]  # fmt: skip
    return {
        "name": each.name,
        "nodes": each.nodes,
        "level": each.level,
        "share": time.share,
        "worst": time.worst,
        "best": time.best,
        "up": time.up,
        "down": time.down,
        "not_sampled": time.unsampled,
        "outages": outages,
        "longest": each.longest.seconds if each.longest else None,
        "between_failures": each.between_failures,
        "to_repair": each.to_repair,
    }
