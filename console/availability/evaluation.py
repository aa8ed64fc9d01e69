"""The availability that samples over days show: the share of time up, the outages, and the time that is not known.

Pure. A sample speaks for the time up to the next planned one. Time without a sample counts neither as up nor as
down: to pass, the worst case has to; to fail, the best (``docs/decisions/019-availability.md``).
"""

import math
import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import pairwise, zip_longest

from benchconsole.console.availability.watch_options import EVERY, LASTS
from benchconsole.probes.judging.grading import grade_range
from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.store.model import ProbeOutcome, StoredSession
from benchconsole.topology.copying import replace

_SAYS = frozenset(("availability.up", "availability.service"))
"""Its metrics that are 1 where something is up, and 0 where it is not."""

_DOWN = frozenset(
    (FailedAt.UNREACHABLE, FailedAt.LOGIN, FailedAt.LOST, FailedAt.TIMEOUT, FailedAt.TOOL, FailedAt.REBOOTED)
)
"""Failures of the node. All others are ours (a host key that we do not trust, a stop), and say nothing of the node."""


@dataclass(frozen=True, slots=True)
class SampleSchedule:
    """When samples were planned: from ``began`` (UTC seconds) on, ``every`` so many seconds, for ``lasts`` seconds."""

    began: float
    every: float
    lasts: float

    @property
    def ends(self) -> float:
        return self.due(self.last)

    @property
    def last(self) -> int:
        return round(self.lasts / self.every)

    def due(self, number: int) -> float:
        return self.began + number * self.every

    def number(self, at: float) -> int:
        """The last sample that was due at a time."""
        return math.floor((at - self.began) / self.every + 1e-9)


def read_schedule(stored: StoredSession) -> SampleSchedule | None:
    """When the samples of a session were planned; None for a session that is no watch."""
    every, lasts = stored.new.options.get(EVERY), stored.new.options.get(LASTS)
    if not isinstance(every, int | float) or not isinstance(lasts, int | float):
        return None
    return SampleSchedule(stored.new.started, float(every), float(lasts))


@dataclass(frozen=True, slots=True)
class UptimeSample:
    """Whether ``node`` was up at a time, with the boot that it was in and since when (empty and None: not told)."""

    node: str
    at: float
    up: bool
    boot: str = ""
    uptime: float | None = None


def read_sample(outcome: ProbeOutcome) -> UptimeSample | None:
    """The sample that one test of the probe gives of its node; None where it says nothing.

    Up: it took a login and answered, and so did every service that was asked for.
    """
    if outcome.failed_at is not None:
        return UptimeSample(outcome.node, outcome.at, up=False) if outcome.failed_at in _DOWN else None
    said = [value for name, value in outcome.numbers if name in _SAYS]
    if not said:
        return None
    uptime = outcome.facts.get("boot.uptime")
    return UptimeSample(
        outcome.node,
        outcome.at,
        all(value > 0 for value in said),
        str(outcome.facts.get("boot.id", "")),
        uptime if isinstance(uptime, float) else None,
    )


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Time that does not count, from ``start`` to ``end`` (UTC seconds), why, and who decided that."""

    start: float
    end: float
    reason: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class UptimeStretch:
    """A piece of time of one node. ``up`` is how it counts, None without a sample that speaks for it.

    ``sure`` is False where the node changed somewhere in it; ``reboot`` where it is up at both ends, in another boot.
    """

    start: float
    end: float
    up: bool | None
    sure: bool = True
    reboot: bool = False

    @property
    def seconds(self) -> float:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class CountedTime:
    """Seconds of one node or of several together: counted as up and down, those that are sure, and not sampled."""

    up: float = 0.0
    down: float = 0.0
    sure_up: float = 0.0
    sure_down: float = 0.0
    unsampled: float = 0.0

    def __add__(self, other: "CountedTime") -> "CountedTime":
        return CountedTime(*map(operator.add, astuple(self), astuple(other)))

    @property
    def total(self) -> float:
        return self.up + self.down + self.unsampled

    @property
    def share(self) -> float | None:
        """Up, of the time that is known; None when nothing is."""
        known = self.up + self.down
        return self.up / known if known > 0 else None

    @property
    def worst(self) -> float:
        """The share of all time, had the node been down whenever it is not known to have been up."""
        return self.sure_up / self.total if self.total > 0 else 0.0

    @property
    def best(self) -> float:
        """The share of all time, had the node been up whenever it is not known to have been down."""
        return 1.0 - self.sure_down / self.total if self.total > 0 else 1.0


@dataclass(frozen=True, slots=True)
class Outage:
    """From the first sample without an answer to the next with one; ``seconds`` without excluded and unsampled time.

    ``reboot``: no sample fell into it, only the boot is another one; then its length is not known.
    """

    node: str
    start: float
    seconds: float
    over: bool
    reboot: bool = False


@dataclass(frozen=True, slots=True)
class AvailabilityResult:
    """The result for one node, for the system or for a service that depends on it."""

    name: str
    nodes: tuple[str, ...]
    time: CountedTime
    outages: tuple[Outage, ...]
    level: Level

    @property
    def longest(self) -> Outage | None:
        """The longest outage whose length is known."""
        return max((each for each in self.outages if not each.reboot), key=lambda each: each.seconds, default=None)

    @property
    def between_failures(self) -> float | None:
        """Seconds up for each outage; None without any, and where it was never up."""
        return self.time.up / len(self.outages) if self.outages and self.time.up > 0 else None

    @property
    def to_repair(self) -> float | None:
        """Mean seconds of the outages that are over and whose length is known; None without any."""
        over = [each.seconds for each in self.outages if each.over and not each.reboot]
        return sum(over) / len(over) if over else None


@dataclass(frozen=True, slots=True)
class AvailabilityTarget:
    """The required share of time up, and of which ``service`` nodes it may be lower by ``within`` at most.

    ``each`` asks the share of every node, not only of the system. ``nodes_up``: the system is up while so many of its
    nodes are; None: its time is that of all its nodes together.
    """

    at_least: float = 0.95
    service: tuple[str, ...] = ()
    within: float = 0.02
    each: bool = False
    nodes_up: int | None = None


@dataclass(frozen=True, slots=True)
class Availability:
    """The whole answer. ``level`` is the worst of what was asked for.

    ``began`` and ``ends`` are UTC seconds; a sample was planned ``every`` so many seconds, None for records of a site.
    """

    asked: AvailabilityTarget
    began: float
    ends: float
    every: float | None
    exclusions: tuple[Exclusion, ...]
    nodes: tuple[AvailabilityResult, ...]
    system: AvailabilityResult
    service: AvailabilityResult | None
    level: Level


def evaluate(
    samples: Iterable[UptimeSample],
    nodes: Sequence[str],
    schedule: SampleSchedule,
    *,
    now: float,
    exclusions: Sequence[Exclusion] = (),
    asked: AvailabilityTarget = AvailabilityTarget(),
) -> Availability:
    """Evaluate the samples of ``nodes`` up to ``now``; time that is still to come is not known.

    ValueError when no node is left besides those of the service.
    """
    by_node: dict[str, list[UptimeSample]] = {node: [] for node in nodes}
    for sample in samples:
        by_node[sample.node].append(sample)
    stretches = {node: make_stretches(found, schedule, now) for node, found in by_node.items()}
    span = (schedule.began, schedule.ends)
    return evaluate_stretches(stretches, span, every=schedule.every, exclusions=exclusions, asked=asked)


def evaluate_stretches(
    stretches: Mapping[str, Sequence[UptimeStretch]],
    span: tuple[float, float],
    *,
    every: float | None = None,
    exclusions: Sequence[Exclusion] = (),
    asked: AvailabilityTarget = AvailabilityTarget(),
) -> Availability:
    """The same of the time of each node from begin to end of ``span`` (UTC seconds), wherever it is known from.

    ValueError when no node is left besides those of the service, or fewer than have to be up.
    """
    counted = {node: cut_exclusions(found, exclusions) for node, found in stretches.items()}
    standings = tuple(_evaluate_node(node, found, asked) for node, found in counted.items())
    members = [each for each in standings if each.name not in asked.service]
    system = _sum_up("system", members, asked)
    if asked.nodes_up is not None:
        system = _evaluate_together(system, [counted[node] for node in system.nodes], asked)
    service = _evaluate_service([each for each in standings if each.name in asked.service], system, asked)
    levels = [system.level, *([service.level] if service else []), *(each.level for each in standings if asked.each)]
    level = next(level for level in (Level.FAIL, Level.UNKNOWN, Level.PASS) if level in levels)
    return Availability(asked, *span, every, tuple(exclusions), standings, system, service, level)


# -- from samples to stretches


def make_stretches(samples: Sequence[UptimeSample], schedule: SampleSchedule, now: float) -> list[UptimeStretch]:
    """The whole planned time of one node in order, without a gap."""
    found: list[UptimeStretch] = []
    marks = [each for each in _merge_samples(samples, schedule) if each.at <= schedule.ends + schedule.every]
    if marks and schedule.number(marks[0].at) == 0:
        marks[0] = replace(marks[0], at=schedule.began)
    first = marks[0].at if marks else schedule.ends
    found.append(UptimeStretch(schedule.began, first, None))
    for mark, after in zip_longest(marks, marks[1:]):
        found += _make_following(mark, after, schedule, now)
    begins, ends = schedule.began, schedule.ends
    clipped = (replace(each, start=max(each.start, begins), end=min(each.end, ends)) for each in found)
    return [each for each in clipped if each.seconds > 0]


def _merge_samples(samples: Sequence[UptimeSample], schedule: SampleSchedule) -> list[UptimeSample]:
    """One sample for each that was planned: of several the first, up where all of them were."""
    found: dict[int, UptimeSample] = {}
    for sample in sorted(samples, key=lambda each: each.at):
        number = schedule.number(sample.at)
        before = found.get(number)
        if before is None:
            found[number] = sample
        else:
            told = before if before.boot else sample
            up = before.up and sample.up
            found[number] = replace(before, up=up, boot=told.boot, uptime=told.uptime)
    return [found[number] for number in sorted(found)]


def _make_following(
    mark: UptimeSample, after: UptimeSample | None, schedule: SampleSchedule, now: float
) -> Iterator[UptimeStretch]:
    """The time from one sample to the one ``after`` it, or to the end."""
    number = schedule.number(mark.at)
    if after is not None and schedule.number(after.at) <= number + 1:
        yield from _make_between(mark, after)
        return
    limit = min(schedule.due(number + 1), schedule.ends if after is not None else max(now, mark.at))
    end = after.at if after is not None else schedule.ends
    yield UptimeStretch(mark.at, limit, mark.up)
    yield UptimeStretch(limit, max(limit, end), None, reboot=after is not None and _has_rebooted(mark, after))


def _make_between(mark: UptimeSample, after: UptimeSample) -> Iterator[UptimeStretch]:
    """The time between two samples of which the second was the next one planned."""
    if mark.up != after.up:
        yield UptimeStretch(mark.at, after.at, mark.up, sure=False)
        return
    if not _has_rebooted(mark, after):
        yield UptimeStretch(mark.at, after.at, mark.up)
        return
    booted = after.at - (after.uptime if after.uptime is not None else 0.0)
    booted = booted if mark.at < booted < after.at else after.at
    yield UptimeStretch(mark.at, booted, True, sure=False, reboot=True)
    yield UptimeStretch(booted, after.at, True)


def _has_rebooted(mark: UptimeSample, after: UptimeSample) -> bool:
    return mark.up and after.up and bool(mark.boot and after.boot) and mark.boot != after.boot


def cut_exclusions(found: Sequence[UptimeStretch], exclusions: Sequence[Exclusion]) -> list[UptimeStretch]:
    """The stretches less the time that is excluded."""
    left = list(found)
    for out in exclusions:
        left = [part for each in left for part in _cut(each, out)]
    return left


def _cut(each: UptimeStretch, out: Exclusion) -> Iterator[UptimeStretch]:
    if out.end <= each.start or each.end <= out.start:
        yield each
        return
    # A reboot that may have been in the excluded time does not count.
    if each.start < out.start:
        yield replace(each, end=out.start, reboot=False)
    if out.end < each.end:
        yield replace(each, start=out.end, reboot=False)


# -- from stretches to what is said


def _evaluate_node(node: str, found: Sequence[UptimeStretch], asked: AvailabilityTarget) -> AvailabilityResult:
    time = sum((_count_time(each) for each in found), CountedTime())
    return AvailabilityResult(node, (node,), time, tuple(_list_outages(node, found)), judge_time(time, asked.at_least))


def _count_time(each: UptimeStretch) -> CountedTime:
    if each.up is None:
        return CountedTime(unsampled=each.seconds)
    sure = each.seconds if each.sure else 0.0
    if each.up:
        return CountedTime(up=each.seconds, sure_up=sure)
    return CountedTime(down=each.seconds, sure_down=sure)


def _list_outages(node: str, found: Sequence[UptimeStretch]) -> Iterator[Outage]:
    """Times without an answer in order; unsampled time neither ends one nor begins one."""
    under_way: Outage | None = None
    for each in found:
        if each.up is False:
            under_way = under_way or Outage(node, each.start, 0.0, over=False)
            under_way = replace(under_way, seconds=under_way.seconds + each.seconds)
        elif each.up and under_way is not None:
            yield replace(under_way, over=True)
            under_way = None
        if each.reboot:
            yield Outage(node, each.start, 0.0, over=True, reboot=True)
    if under_way is not None:
        yield under_way


def judge_time(time: CountedTime, at_least: float) -> Level:
    """PASS when the worst case holds it, FAIL when the best case does not, else UNKNOWN."""
    return grade_range((time.worst, time.best), (at_least, at_least)) if time.total > 0 else Level.UNKNOWN


def _sum_up(name: str, members: Sequence[AvailabilityResult], asked: AvailabilityTarget) -> AvailabilityResult:
    if not members:
        raise ValueError(f"no node is left for the {name}")
    time = sum((each.time for each in members), CountedTime())
    outages = tuple(outage for each in members for outage in each.outages)
    names = tuple(each.name for each in members)
    return AvailabilityResult(name, names, time, outages, judge_time(time, asked.at_least))


def _evaluate_together(
    system: AvailabilityResult, members: Sequence[Sequence[UptimeStretch]], asked: AvailabilityTarget
) -> AvailabilityResult:
    """The time in which enough nodes were up at once, as one stretch of time after another."""
    needed = asked.nodes_up or 0
    if needed > len(members):
        raise ValueError(f"{needed} nodes up of {len(members)}")
    found = list(_combine(members, needed))
    time = sum((_count_time(each) for each in found), CountedTime())
    outages = tuple(_list_outages(system.name, found))
    return replace(system, time=time, outages=outages, level=judge_time(time, asked.at_least))


def _combine(members: Sequence[Sequence[UptimeStretch]], needed: int) -> Iterator[UptimeStretch]:
    """Up while ``needed`` of the nodes are; sure where it is, whatever is true of the time that is not."""
    changes: dict[float, Counter[tuple[bool | None, bool]]] = {}
    for stretch in (each for member in members for each in member):
        kind = (stretch.up, stretch.sure)
        changes.setdefault(stretch.start, Counter())[kind] += 1
        changes.setdefault(stretch.end, Counter())[kind] -= 1
    now: Counter[tuple[bool | None, bool]] = Counter()
    for start, end in pairwise(sorted(changes)):
        now.update(changes[start])
        if now.total() == len(members):  # excluded time has no stretch
            yield _make_together(start, end, now, needed)


def _make_together(start: float, end: float, now: Counter[tuple[bool | None, bool]], needed: int) -> UptimeStretch:
    up, sure_up = now[True, True] + now[True, False], now[True, True]
    down, sure_down = now[False, True] + now[False, False], now[False, True]
    if up >= needed:
        return UptimeStretch(start, end, True, sure=sure_up >= needed)
    if now.total() - down < needed:
        return UptimeStretch(start, end, False, sure=now.total() - sure_down < needed)
    return UptimeStretch(start, end, None)


def _evaluate_service(
    members: Sequence[AvailabilityResult], system: AvailabilityResult, asked: AvailabilityTarget
) -> AvailabilityResult | None:
    if not members:
        return None
    found = _sum_up("service", members, asked)
    level = Level.UNKNOWN
    if found.time.total > 0 and system.time.total > 0:
        bounds = (system.time.worst - asked.within, system.time.best - asked.within)
        level = grade_range((found.time.worst, found.time.best), bounds)
    return replace(found, level=level)
