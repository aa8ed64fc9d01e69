"""Says what the samples of a watch, or records of a site, add up to: was the machine up for the share that is asked."""

import asyncio
import hashlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

import click

from benchconsole.console.availability import evaluation, exclusions, outage_records
from benchconsole.console.cli.common import can_show_unicode, db_option, json_option, open_store, print_json
from benchconsole.console.cli.session_options import find_operator
from benchconsole.console.exits import BadInput, Exit
from benchconsole.console.text.moment import EXAMPLE, parse_moment
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.run_view import state_of_level
from benchconsole.console.view.wording import SIGNS, format_moment
from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.probe_names import AVAILABILITY
from benchconsole.store.store import Store
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.selection import choose, expand, select
from benchconsole.topology.units import Unit, UnitError, duration, parse
from benchconsole.topology.units import counted as count

LISTED = 40
"""Nodes that get a line of their own: those with an outage, or not known to hold what is asked."""


@click.command("availability")
@click.argument("session", required=False)
@click.option(
    "--at-least",
    metavar="SHARE",
    default="95%",
    show_default=True,
    help="Required availability (share of counted time).",
)
@click.option("--each", is_flag=True, help="Require it of every node, not only of all nodes together.")
@click.option("--nodes-up", metavar="N", default=None, help="Count the system as up while N nodes are (318, or 99 %).")
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
@click.option("--records", type=click.Path(path_type=Path), help="Evaluate a table of up and down of --nodes instead.")
@click.option("--nodes", metavar="NODES", default=None, help="With --records: every node that the table may name.")
@click.option("--from", "begins", metavar="MOMENT", default=None, help="With --records: when the time begins.")
@click.option("--to", "ends", metavar="MOMENT", default=None, help="With --records: when it ends.")
@json_option
@db_option
def command(
    session: str | None, at_least: str, each: bool, nodes_up: str | None, excluded: tuple[str, ...],
    withdraw: tuple[str, ...], by: str | None, service: str | None, within: str, records: Path | None,
    nodes: str | None, begins: str | None, ends: str | None, as_json: bool, db: Path | None,
) -> None:  # fmt: skip
    """Evaluate the samples of a watch (id, label, last; default last), or with --records what a site wrote down.

    A sample speaks for the time up to the next planned one. Time without a sample is not known: passed is what
    holds in the worst case, failed what does not hold even in the best.

    A table of records has the columns nodes,start,end (outages; with state also times up) or nodes,time,state.

    Exit codes: 0 passed, 1 failed, 3 not known, 2 bad input.
    """
    by = by or find_operator()
    share = partial(
        evaluation.AvailabilityTarget,
        _parse_share(at_least, "--at-least"), within=_parse_share(within, "--within"), each=each,
    )  # fmt: skip
    if records is not None:
        if session is not None or withdraw:
            raise BadInput("benchconsole: --records beside a session, expected one of them")
        members, span = _read_span(nodes, begins, ends)
        asked = _ask(share, _choose(service, members), members, nodes_up)
        found = _evaluate_records(records, members, span, asked, _parse_exclusions(excluded, by))
        key, source = "", _describe_file(records)
    else:
        if nodes or begins or ends:
            raise BadInput("benchconsole: --nodes, --from and --to without --records, expected a table")
        key, found = _evaluate_stored(session or "last", share, (service, nodes_up), (excluded, withdraw, by), db)
        source = {}
    if as_json:
        print_json(make_record(key, found, source))
    else:
        for line in format_availability(key, found, source):
            click.echo(line)
    raise click.exceptions.Exit({Level.PASS: Exit.PASSED, Level.FAIL: Exit.BELOW}.get(found.level, Exit.UNTESTED))


def _evaluate_stored(
    session: str, share: "_Share", parts: tuple[str | None, str | None],
    exclude: tuple[Sequence[str], Sequence[str], str], db: Path | None,
) -> tuple[str, evaluation.Availability]:  # fmt: skip
    """The key of a watch, and what it adds up to; ``parts``: nodes of a service, and how many have to be up."""
    from benchconsole.console.session.stored_fabric import describe_fabric

    with open_store(db, create=False) as store:
        key = store.find_session(session)
        new = store.session(key).describe().new
        chosen = tuple(select(describe_fabric(new), parts[0])) if parts[0] else ()
        watched = dict.fromkeys(each.node for each in store.session(key).read_outcomes(AVAILABILITY))
        asked = _ask(share, chosen, tuple(watched), parts[1])
        _record_exclusions(store, key, *exclude)
        return key, evaluate_session(store, key, asked, now=time.time())


_Share = Callable[..., evaluation.AvailabilityTarget]


def _ask(
    share: _Share, service: tuple[str, ...], nodes: Sequence[str], nodes_up: str | None
) -> evaluation.AvailabilityTarget:
    """The target for ``nodes``; BadInput for a number of nodes that cannot be meant."""
    if nodes_up is None:
        return share(service=service)
    members = len(set(nodes) - set(service))
    expected = f"a number from 1 to {members:,}, or a share such as 99 %"
    try:
        number = parse(nodes_up, Unit.ONE)
    except UnitError as error:
        raise BadInput(f"benchconsole: --nodes-up: {error}") from error
    needed = math.ceil(number * members - 1e-9) if nodes_up.strip().endswith("%") else number
    if needed != int(needed) or not 1 <= needed <= members:
        raise BadInput(f"benchconsole: --nodes-up: found {nodes_up!r}, expected {expected}")
    return share(service=service, nodes_up=int(needed))


def _read_span(nodes: str | None, begins: str | None, ends: str | None) -> tuple[list[str], tuple[float, float]]:
    """The nodes and the time that a table of records is about; BadInput where one of them is not told."""
    if nodes is None or begins is None or ends is None:
        raise BadInput(
            "benchconsole: --records without --nodes, --from and --to, expected whom and which time it covers"
        )
    start, end = parse_moment(begins), parse_moment(ends)
    if start is None or end is None or end <= start:
        raise BadInput(f"benchconsole: --from {begins} --to {ends}, expected moments with their zone such as {EXAMPLE}")
    try:
        return expand(nodes), (start, end)
    except SelectionError as error:
        raise BadInput(f"benchconsole: --nodes: {error}") from error


def _choose(service: str | None, nodes: Sequence[str]) -> tuple[str, ...]:
    try:
        return tuple(choose(service, nodes, {})) if service else ()
    except SelectionError as error:
        raise BadInput(f"benchconsole: --service: {error}") from error


def _evaluate_records(
    path: Path, nodes: Sequence[str], span: tuple[float, float], asked: evaluation.AvailabilityTarget,
    excluded: Sequence[evaluation.Exclusion],
) -> evaluation.Availability:  # fmt: skip
    """The availability that a table of up and down shows; BadInput with every bad row."""
    try:
        stretches = outage_records.make_recorded_stretches(outage_records.read_records(path, nodes), nodes, span)
    except SelectionError as error:
        raise BadInput(f"{error}\nnothing was evaluated") from error
    try:
        return evaluation.evaluate_stretches(stretches, span, exclusions=excluded, asked=asked)
    except ValueError as error:
        raise BadInput(f"benchconsole: --service: {error}") from error


def _describe_file(path: Path) -> Mapping[str, str]:
    """The name of a file, and the sum by which the same one can be told."""
    return {"file": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def evaluate_session(
    store: Store, key: str, asked: evaluation.AvailabilityTarget, *, now: float
) -> evaluation.Availability:
    """The availability that a stored watch shows; BadInput for a session that is none."""
    schedule = evaluation.read_schedule(store.session(key).describe())
    if schedule is None:
        raise BadInput(f"benchconsole: session {key} is no watch, expected one of benchconsole watch")
    outcomes = list(store.session(key).read_outcomes(AVAILABILITY))
    if not outcomes:
        raise BadInput(f"benchconsole: session {key} has no sample yet; wait for its first one")
    nodes = tuple(dict.fromkeys(outcome.node for outcome in outcomes))
    samples = [sample for sample in map(evaluation.read_sample, outcomes) if sample is not None]
    excluded = exclusions.read_exclusions(store.session(key).read_notes())
    try:
        return evaluation.evaluate(samples, nodes, schedule, now=now, exclusions=excluded, asked=asked)
    except ValueError as error:
        raise BadInput(f"benchconsole: --service: {error}; watch more nodes than those of the service") from error


def _parse_exclusions(excluded: Sequence[str], by: str) -> list[evaluation.Exclusion]:
    try:
        return [exclusions.parse_exclusion(text, by) for text in excluded]
    except exclusions.ExclusionError as error:
        raise BadInput(f"benchconsole: {error}; nothing was recorded") from error


def _record_exclusions(store: Store, key: str, excluded: Sequence[str], withdraw: Sequence[str], by: str) -> None:
    """Write into the record what does not count; BadInput, and nothing written, where one of them cannot be read."""
    found = _parse_exclusions(excluded, by)
    try:
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


def format_availability(
    key: str, found: evaluation.Availability, source: Mapping[str, str] = MappingProxyType({})
) -> Iterator[str]:
    """The answer for people: what was asked, the system, the service, nodes worth a line, the verdict."""
    sampled = "as recorded" if found.every is None else f"a sample every {duration(found.every)}"
    of = f"session {key}" if key else sanitize(f"{source['file']} (sha256 {source['sha256'][:16]})")
    yield f"availability of {of}: {format_moment(found.began)} to {format_moment(found.ends)}, {sampled}"
    for out in found.exclusions:
        span = f"{format_moment(out.start)} to {format_moment(out.end)}"
        yield sanitize(f"excluded: {span} by {out.by}: {out.reason}")
    yield ""
    yield f"  {'':16} {'up':>10} {'at worst':>10} {'at best':>10}  outages"
    worth = [each for each in found.nodes if each.outages or each.level is not Level.PASS]
    worth.sort(key=lambda each: each.time.worst)
    for standing in (found.system, *([found.service] if found.service else []), *worth[:LISTED]):
        yield _format_line(standing, "not sampled" if found.every is not None else "not recorded")
    if len(worth) > LISTED:
        yield f"  and {count(len(worth) - LISTED, 'more node')} with an outage, or not known to hold it"
    if len(found.nodes) > len(worth):
        yield f"  {count(len(found.nodes) - len(worth), 'more node')} without an outage"
    yield ""
    yield _format_verdict(found)


def _format_line(each: evaluation.AvailabilityResult, lacking: str) -> str:
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
        where = f" on {each.longest.node}" if len(each.nodes) > 1 and each.longest.node in each.nodes else ""
        words.append(f"longest {duration(each.longest.seconds)}{where}{'' if each.longest.over else ', not over'}")
    if each.between_failures is not None:
        words.append(f"MTBF {duration(each.between_failures)}")
    if each.to_repair is not None:
        words.append(f"MTTR {duration(each.to_repair)}")
    if time.unsampled > 0:
        words.append(f"{lacking} {duration(time.unsampled)}")
    return sanitize(f"{glyph} {name:16} {shares}  {', '.join(words)}")


def _format_verdict(found: evaluation.Availability) -> str:
    needed, of = found.asked.nodes_up, len(found.system.nodes)
    what = "the system was up" if needed is None else f"{needed:,} of {of:,} nodes were up at once"
    parts = [_format_share(what, found.system.time, found.system.level)]
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


def make_record(
    key: str, found: evaluation.Availability, source: Mapping[str, str] = MappingProxyType({})
) -> dict[str, object]:
    """The answer for programs: seconds, shares from 0 to 1, moments in UTC seconds; null for what cannot be told.

    ``source``: file and sum of a table of records, which has no session.
    """
    asked = found.asked
    return {
        "session": key or None,
        "records": dict(source) or None,
        "level": found.level,
        "asked": {
            "at_least": asked.at_least,
            "each": asked.each,
            "service": asked.service,
            "within": asked.within,
            "nodes_up": asked.nodes_up,
        },
        "schedule": {"began": found.began, "ends": found.ends, "every": found.every},
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
