"""Says what the samples of a watch add up to: was the machine up for the share of time that is asked."""

import asyncio
import math
import time
from collections.abc import Iterator
from pathlib import Path

import click

from benchconsole.console.availability import evaluation, exclusions
from benchconsole.console.cli.common import can_show_unicode, db_option, json_option, open_store, print_json
from benchconsole.console.cli.session_options import find_operator
from benchconsole.console.exits import BadInput, Exit
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.run_view import state_of_level
from benchconsole.console.view.wording import SIGNS, format_moment
from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.probe_names import AVAILABILITY
from benchconsole.store.store import Store
from benchconsole.topology.selection import select
from benchconsole.topology.units import Unit, UnitError, duration, parse
from benchconsole.topology.units import counted as count

LISTED = 40
"""Nodes that get a line of their own: those with an outage, or not known to hold what is asked."""


@click.command("availability")
@click.argument("session", default="last")
@click.option(
    "--at-least",
    metavar="SHARE",
    default="95%",
    show_default=True,
    help="Required availability (share of counted time).",
)
@click.option("--each", is_flag=True, help="Require it of every node, not only of all nodes together.")
@click.option(
    "--exclude", "excluded", metavar="'START/END REASON'", multiple=True, help="Leave this time out; recorded."
)
@click.option("--withdraw", metavar="START/END", multiple=True, help="Count an excluded time again; recorded.")
@click.option("--by", "by", metavar="NAME", default=None, help="Who decides to exclude or withdraw [this account].")
@click.option("--service", metavar="NODES", default=None, help="Nodes of a service that depends on the others.")
@click.option(
    "--within",
    metavar="SHARE",
    default="2%",
    show_default=True,
    help="Allowed gap between the service's availability and the system's.",
)
@json_option
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
    from benchconsole.console.session.metadata import describe_fabric

    with open_store(db, create=False) as store:
        key = store.find_session(session)
        new = store.session(key).describe().new
        chosen = tuple(select(describe_fabric(new), service)) if service else ()
        asked = evaluation.AvailabilityTarget(
            _parse_share(at_least, "--at-least"), chosen, _parse_share(within, "--within"), each
        )
        _record_exclusions(store, key, excluded, withdraw, by or find_operator())
        found = evaluate_session(store, key, asked, now=time.time())
    if as_json:
        print_json(make_record(key, found))
    else:
        for line in format_availability(key, found):
            click.echo(line)
    raise click.exceptions.Exit({Level.PASS: Exit.PASSED, Level.FAIL: Exit.BELOW}.get(found.level, Exit.UNTESTED))


def evaluate_session(
    store: Store, key: str, asked: evaluation.AvailabilityTarget, *, now: float
) -> evaluation.Availability:
    """The availability that a stored watch shows; BadInput for a session that is none."""
    schedule = evaluation.read_schedule(store.session(key).describe())
    if schedule is None:
        raise BadInput(f"benchconsole: session {key} is no watch, expected one of benchconsole watch")
    outcomes = list(store.session(key).read_outcomes(AVAILABILITY))
    if not outcomes:
        raise BadInput(f"benchconsole: session {key} has no sample yet")
    nodes = tuple(dict.fromkeys(outcome.node for outcome in outcomes))
    samples = [sample for sample in map(evaluation.read_sample, outcomes) if sample is not None]
    excluded = exclusions.read_exclusions(store.session(key).read_notes())
    try:
        return evaluation.evaluate(samples, nodes, schedule, now=now, exclusions=excluded, asked=asked)
    except ValueError as error:
        raise BadInput(f"benchconsole: --service: {error}; watch more nodes than those of the service") from error


def _record_exclusions(store: Store, key: str, excluded: tuple[str, ...], withdraw: tuple[str, ...], by: str) -> None:
    """Write into the record what does not count; BadInput, and nothing written, where one of them cannot be read."""
    try:
        found = [exclusions.parse_exclusion(text, by) for text in excluded]
        taken_back = [exclusions.format_span(*exclusions.parse_span(text)) for text in withdraw]
    except exclusions.ExclusionError as error:
        raise BadInput(f"benchconsole: {error}; nothing was recorded") from error
    before = exclusions.read_exclusions(store.session(key).read_notes())
    known = {exclusions.format_span(each.start, each.end) for each in before}
    missing = [span for span in taken_back if span not in known]
    if missing:
        raise BadInput(f"benchconsole: --withdraw {missing[0]}: found {', '.join(known) or 'nothing'} excluded")
    notes = [(exclusions.WITHDRAWN, f"{span} by {by}") for span in taken_back]
    notes += [(exclusions.KIND, exclusions.format_exclusion(each)) for each in found]
    for kind, text in notes:
        asyncio.run(store.session(key).append_note(kind, text, time.time(), claimed=False))


def _parse_share(text: str, option: str) -> float:
    try:
        found = parse(text, Unit.ONE)
    except UnitError as error:
        raise BadInput(f"benchconsole: {option}: {error}") from error
    if not 0 <= found <= 1:
        raise BadInput(f"benchconsole: {option}: found {text!r}, expected a share such as 95% or 0.95")
    return found


def _format_percent(share: float | None, *, up: bool = False) -> str:
    """Three decimals, rounded down (``up``: up), so that what is below a bound never reads as if it held it."""
    if share is None:
        return "–"
    scaled = round(share * 100_000, 6)
    return f"{(math.ceil if up else math.floor)(scaled) / 1000:.3f} %"


def format_availability(key: str, found: evaluation.Availability) -> Iterator[str]:
    """The answer for people: what was asked, the system, the service, nodes worth a line, the verdict."""
    schedule = found.schedule
    sampled = f"a sample every {duration(schedule.every)}"
    yield f"availability of session {key}: {format_moment(schedule.began)} to {format_moment(schedule.ends)}, {sampled}"
    for out in found.exclusions:
        span = f"{format_moment(out.start)} to {format_moment(out.end)}"
        yield sanitize(f"excluded: {span} by {out.by}: {out.reason}")
    yield ""
    yield f"  {'':16} {'up':>10} {'at worst':>10} {'at best':>10}  outages"
    worth = [each for each in found.nodes if each.outages or each.level is not Level.PASS]
    worth.sort(key=lambda each: each.time.worst)
    for standing in (found.system, *([found.service] if found.service else []), *worth[:LISTED]):
        yield _format_line(standing)
    if len(worth) > LISTED:
        yield f"  and {count(len(worth) - LISTED, 'more node')} with an outage, or not known to hold it"
    if len(found.nodes) > len(worth):
        yield f"  {count(len(found.nodes) - len(worth), 'more node')} without an outage"
    yield ""
    yield _format_verdict(found)


def _format_line(each: evaluation.AvailabilityResult) -> str:
    """``· system (16)   99.912 %  99.701 %  99.953 %  3, longest 0:30:00 on n3, MTBF 112:00:00, MTTR 0:20:00``."""
    sign = SIGNS[state_of_level(each.level)]
    glyph = sign.glyph if can_show_unicode() else sign.ascii
    name = each.name if each.nodes == (each.name,) else f"{each.name} ({len(each.nodes):,})"
    time = each.time
    shares = (
        f"{_format_percent(time.share):>10} {_format_percent(time.worst):>10} {_format_percent(time.best, up=True):>10}"
    )
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
    return sanitize(f"{glyph} {name:16} {shares}  {', '.join(words)}")


def _format_verdict(found: evaluation.Availability) -> str:
    parts = [_format_share("the system was up", found.system.time, found.system.level)]
    parts.append(
        f"at least {_format_percent(found.asked.at_least)} is asked{' of every node' if found.asked.each else ''}"
    )
    if found.service is not None:
        behind = f"it may stay {_format_percent(found.asked.within)} of all time behind"
        parts += [_format_share("the service was up", found.service.time, found.service.level), behind]
    word = {Level.PASS: "PASSED", Level.FAIL: "FAILED"}.get(found.level, "NOT KNOWN")
    return f"{word}: {'; '.join(parts)}."


def _format_share(what: str, time: evaluation.CountedTime, level: Level) -> str:
    if level is Level.PASS:
        return f"{what} {_format_percent(time.worst)} of the time at worst"
    if level is Level.FAIL:
        return f"{what} {_format_percent(time.best, up=True)} of the time at best"
    return f"{what} between {_format_percent(time.worst)} and {_format_percent(time.best, up=True)} of the time"


def make_record(key: str, found: evaluation.Availability) -> dict[str, object]:
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
        "system": _make_part(found.system),
        "service": _make_part(found.service) if found.service else None,
        "nodes": [_make_part(each) for each in found.nodes],
    }


def _make_part(each: evaluation.AvailabilityResult) -> dict[str, object]:
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
