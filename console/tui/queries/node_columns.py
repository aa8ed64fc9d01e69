"""Columns of the node table: the metrics of a session, and each node's worst value of each."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.tui.rows.scales import Scale, scale_for
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.round_cache import RoundCache
from benchconsole.console.view.run_view import NodeView, RunView, State
from benchconsole.console.view.wording import SIGNS, format_measured
from benchconsole.probes.model.judgement import Finding, Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import Round
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.units import Shown, Unit

WORD_COLUMNS = ("state", "node", "under", "role", "limit", "why")


ColumnId = tuple[str, str]
"""Metric and stage: a flow alone and the same flow in company are two different things."""


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """One metric of one stage. ``bound`` is what was asked where that is one value for all."""

    id: ColumnId
    heading: str
    scale: Scale
    bound: str = ""


@dataclass(slots=True)
class RoundNumbers:
    """Numbers that were judged in one round: verdicts by metric, and metrics that deserve a column for it."""

    verdicts: dict[str, list[Verdict]] = field(default_factory=dict)
    deviating: set[str] = field(default_factory=set)


class ColumnCache:
    """A column for every judged metric with numbers, in the order of the plan; facts only where one deviates."""

    def __init__(self) -> None:
        self._cache = RoundCache(read_round_numbers)
        self._numbers: Mapping[int, RoundNumbers] = {}
        self._made: dict[ColumnId, tuple[int, str, MetricColumn]] = {}

    def list_columns(self, view: RunView) -> tuple[MetricColumn, ...]:
        """The columns of ``view``; only rounds that have changed are read again."""
        rounds = [each for each in view.plan if each.number in view.closed]
        known, numbers = self._numbers, self._cache.update(view, rounds)
        self._numbers = numbers
        if any(numbers.get(number) is not content for number, content in known.items()):
            self._made.clear()  # a round was judged again: as many numbers may be other ones
        verdicts: dict[ColumnId, list[Verdict]] = {}
        deviating: set[ColumnId] = set()
        for each in rounds:
            read = numbers[each.number]
            for metric, some in read.verdicts.items():
                verdicts.setdefault((metric, each.stage), []).extend(some)
            deviating.update((metric, each.stage) for metric in read.deviating)
        headings = _headings(key for key in verdicts if key in deviating)
        return tuple(self._column(key, heading, verdicts[key]) for key, heading in headings.items())

    def _column(self, key: ColumnId, heading: str, found: Sequence[Verdict]) -> MetricColumn:
        size, known, column = self._made.get(key, (0, "", None))
        if column is None or size != len(found) or known != heading:
            column = _metric_column(key, heading, found)
            self._made[key] = (len(found), heading, column)
        return column


def read_round_numbers(view: RunView, each: Round) -> RoundNumbers:
    """The numbers of one round."""
    made = RoundNumbers()
    for test in each.tests:
        for verdict in view.verdicts.get(test.id, ()):
            if verdict.value is not None and verdict.unit is not None:
                made.verdicts.setdefault(verdict.metric, []).append(verdict)
                if verdict.kind is not Yardstick.HARDWARE or verdict.level is not Level.PASS:
                    made.deviating.add(verdict.metric)
    return made


def stage_names(view: RunView) -> dict[int, str]:
    """Round to stage."""
    return {each.number: each.stage for each in view.plan}


def _metric_column(key: ColumnId, heading: str, found: Sequence[Verdict]) -> MetricColumn:
    first = found[0]
    unit = first.unit or Unit.ONE
    shown = Shown.MEMORY if unit is Unit.BYTE and first.metric.startswith("memory") else first.shown
    parts = [max(len(each.evidence), 1) if view_queries.is_shared(each) else 1 for each in found]
    values = [each.value / part for each, part in zip(found, parts, strict=True) if each.value is not None]
    scale = scale_for(unit, shown, values)
    return MetricColumn(key, heading, scale, _bound(found, parts, scale))


def _bound(found: Sequence[Verdict], parts: Sequence[int], scale: Scale) -> str:
    """What was expected where that is one value for all rows, else what was asked of all."""
    for mark, values in (
        ("", [each.expected for each in found]),
        ("≤ " if scale.unit is Unit.SECOND else "≥ ", [each.required for each in found]),
    ):
        known = {float(f"{value / part:.6g}") for value, part in zip(values, parts, strict=True) if value is not None}
        if len(known) == 1:
            return mark + scale.shown(next(iter(known)))
    return ""


def _headings(keys: Iterable[ColumnId]) -> dict[ColumnId, str]:
    """The last word of the metric; with its probe or its stage where that is not enough."""
    every = list(keys)
    last = [metric.rsplit(".", 1)[-1] for metric in dict.fromkeys(metric for metric, _ in every)]
    stages_of: dict[str, set[str]] = {}
    metrics_of: dict[str, set[str]] = {}
    for metric, stage in every:
        stages_of.setdefault(metric, set()).add(stage)
        metrics_of.setdefault(stage, set()).add(metric)
    made = {}
    for metric, stage in every:
        probe, _, name = metric.rpartition(".")
        words = name if last.count(name) == 1 else f"{probe} {name}"
        if name in ("total", "count", "size"):
            words = probe.rsplit(".", 1)[-1] or name
        if len(stages_of[metric]) > 1:
            short = stage.removeprefix(probe.split(".", 1)[0]).strip() or stage
            words = short if len(metrics_of[stage]) == 1 else f"{short} {words}"
        made[metric, stage] = sanitize(words.replace("_", " "))
    return made


@dataclass(slots=True)
class NodeRow:
    """One node as the table and the filter see it; worked out when it is first looked at."""

    view: NodeView
    under: str
    columns: Sequence[MetricColumn]
    blame: Blame = field(default_factory=Blame)
    stages: Mapping[int, str] = field(default_factory=dict)
    _worst: dict[ColumnId, Verdict] | None = None
    _everything: str = field(default="")

    @property
    def state(self) -> State:
        """What stands in front."""
        return self.view.state

    @property
    def worst(self) -> Mapping[ColumnId, Verdict]:
        """Column to the verdict that says the worst of it, with this node's own part where many were summed."""
        if self._worst is None:
            self._worst = {}
            for verdict in self.view.verdicts:
                own = self._own_part(verdict) if view_queries.is_shared(verdict) else verdict
                if own is None:
                    continue
                key = (verdict.metric, self.stages.get(verdict.round, ""))
                known = self._worst.get(key)
                if known is None or self._badness(own) < self._badness(known):
                    self._worst[key] = own
        return self._worst

    def _own_part(self, verdict: Verdict) -> Verdict | None:
        """What this node sent of a sum, by all of its flows, against as many equal parts; None for a receiver."""
        name = self.view.node.id
        own = [
            next((m.value for m in result.measurements if m.metric == verdict.metric), None)
            for result in self.view.results
            if result.test.round == verdict.round
            and result.test.bundle == verdict.subject
            and result.test.target.node.id == name
        ]
        sent = [value for value in own if value is not None]
        if not sent:
            return None
        part = verdict.expected * len(sent) / len(verdict.evidence) if verdict.expected else None
        return replace(verdict, value=sum(sent), expected=part)

    def state_of(self, verdict: Verdict) -> State:
        """What ``verdict`` says of this node."""
        return self.blame.state(self.view.node.id, verdict)

    def _badness(self, verdict: Verdict) -> tuple[bool, int, float]:
        name, share = self.view.node.id, view_queries.find_share(verdict)
        return (not self.blame.concerns(name, verdict), self.state_of(verdict).rank, 1.0 if share is None else share)

    @property
    def deciding(self) -> Verdict | None:
        """The verdict that gives the node its state."""
        name = self.view.node.id
        found = [v for v in self.view.verdicts if v.level is not Level.PASS and self.blame.concerns(name, v)]
        return min(found, key=self._badness, default=None)

    @property
    def worst_of_all(self) -> Verdict | None:
        """The one of ``worst`` that says the worst of the node."""
        return min(self.worst.values(), key=self._badness, default=None)

    def words(self, column: str) -> str:
        """The text of a word column, or a number as it is shown."""
        if column == "state":
            return SIGNS[self.state].word if self.view.was_asked or self.state is not State.SKIPPED else "untested"
        if column == "node":
            return self.view.node.id
        if column == "under":
            return self.under
        if column == "role":
            return self.view.node.role.value
        if column == "limit":
            return self._limit()
        if column == "why":
            return self._why()
        found = next((each for each in self.columns if key_of(each) == column), None)
        return found.scale.shown(self.number(column)) if found else ""

    def number(self, column: str) -> float | None:
        """The worst value of a metric, in its base unit."""
        found = next((each for each in self.columns if key_of(each) == column), None)
        verdict = self.worst.get(found.id) if found else None
        return verdict.value if verdict else None

    @property
    def everything(self) -> str:
        """What a plain word is looked for in."""
        if not self._everything:
            view = self.view
            is_quiet = not (view.verdicts or view.finding or view.failures)
            said = ("", "") if is_quiet else (self._limit(), self._why())  # most of 100,000 rows have nothing to say
            words = (self.words("state"), view.node.id, self.under, view.node.role.value, *said)
            self._everything = "\n".join(words).lower()
        return self._everything

    def _limit(self) -> str:
        verdict = self.deciding
        if verdict is None:
            return sanitize(self.view.finding.where) if self.view.finding else ""
        finding = self.blame.elsewhere(self.view.node.id, verdict)
        return sanitize(finding.where if finding else verdict.limiting)

    def _why(self) -> str:
        if self.state is State.UNREACHABLE:
            silent = next((each for each in self.view.failures if each.stage.means_unreachable), None)
            return sanitize(silent.detail or silent.stage.value) if silent else ""
        verdict = self.deciding
        if verdict is not None:
            finding = self.blame.elsewhere(self.view.node.id, verdict)
            if finding is None and verdict.kind is Yardstick.HARDWARE:  # no column holds what was found
                return sanitize(f"{verdict.metric} {format_measured(verdict)}, {verdict.because}")
            return sanitize(_tell_first(finding) if finding else verdict.because)
        if self.view.finding is not None:
            return sanitize(_tell_first(self.view.finding))
        failure = next(iter(self.view.failures), None)
        return sanitize(f"{failure.stage}: {failure.detail}") if failure else ""


def _tell_first(finding: Finding) -> str:
    """The first clause of what is wrong; where stands in a column of its own."""
    what = finding.what.removeprefix(f"{finding.where}: ")
    return re.split(r"[:;,.] ", what, maxsplit=1)[0]


def filter_columns(columns: Iterable[MetricColumn]) -> dict[str, Scale | None]:
    """Every column that a filter may name."""
    return {**dict.fromkeys(WORD_COLUMNS), **{key_of(column): column.scale for column in columns}}


def key_of(column: MetricColumn) -> str:
    """What a filter or ``:sort`` calls the column."""
    return column.heading.replace(" ", ".").lower()


def under_of(fabric: Fabric) -> dict[str, str]:
    """Node to the switches that it hangs on, to its host, or to what it is cabled to without a switch."""
    return {node: _under(fabric, node) for node in fabric.nodes}


def _under(fabric: Fabric, node: NodeId) -> str:
    host = fabric.nodes[node].host
    if host is not None:
        return f"on {sanitize(host)}"
    ends: tuple[str, ...] = fabric.switch_of(node) or tuple(link.other(node) for link in fabric.links_at[node])
    return " ".join(sanitize(end) for end in dict.fromkeys(ends)) or "not cabled"
