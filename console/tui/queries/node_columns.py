"""Columns of judged metrics: each node's worst value of each, beside what was expected. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.tui.queries.area import take_finite
from benchconsole.console.tui.queries.node_row import Choice, ColumnId, NodeColumn, NodeRow
from benchconsole.console.tui.rows.scales import Scale, scale_for
from benchconsole.console.tui.rows.text_rows import CellLine, value_tone
from benchconsole.console.tui.rows.themes import FAINT, MUTED, TEXT
from benchconsole.console.view.round_cache import RoundCache
from benchconsole.console.view.run_view import RunView, State
from benchconsole.console.view.wording import NOT_MEASURED
from benchconsole.probes.model.judgement import Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import Round
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.units import Shown, Unit

METRIC = "metric"
"""The kind of a column of numbers that were measured."""


@dataclass(frozen=True)
class MetricColumn(NodeColumn):
    """One judged metric of one stage. ``bound`` is what was asked where that is one value for all."""

    choice: Choice
    key: str
    heading: str
    scale: Scale
    bound: str = ""

    @cached_property
    def id(self) -> ColumnId:
        """Its metric and its stage."""
        return self.choice.name, self.choice.stage

    def words(self, row: NodeRow) -> str:
        return self.scale.shown(self.number(row))

    def number(self, row: NodeRow) -> float | None:
        verdict = row.worst.get(self.id)
        return verdict.value if verdict is not None else None

    def draw(self, line: CellLine, row: NodeRow, wide: int, *, quiet: bool) -> None:
        verdict = row.worst.get(self.id)
        if verdict is None:
            line.put(NOT_MEASURED, FAINT, wide, ">")
            return
        state = row.state_of(verdict)
        tone = value_tone(state) if state not in (State.PASS, State.UNKNOWN) else MUTED if quiet else TEXT
        line.put(self.scale.shown(verdict.value), tone, wide, ">")

    def record(self, row: NodeRow) -> object:
        verdict = row.worst.get(self.id)
        metric, stage = self.id
        found = None if verdict is None else record_verdict(row, verdict)
        return {"metric": metric, "stage": stage, "unit": self.scale.unit.value, **(found or _NO_VERDICT)}

    def deviates(self, row: NodeRow) -> bool:
        verdict = row.worst.get(self.id) if row.state is not State.PASS else None
        return verdict is not None and row.state_of(verdict).rank <= State.AFFECTED.rank


_NO_VERDICT = {"value": None, "expected": None, "state": None}


def record_verdict(row: NodeRow, verdict: Verdict) -> dict[str, object]:
    """The numbers of a verdict on a node in base units, and what it says of the node."""
    return {
        "value": take_finite(verdict.value), "expected": take_finite(verdict.expected),
        "state": row.state_of(verdict).value,
    }  # fmt: skip


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

    def list_columns(self, view: RunView, *, every: bool = False) -> tuple[MetricColumn, ...]:
        """The columns of ``view``; only rounds that have changed are read again. With ``every`` all that were judged.

        The keys of those that are there without it stay the same.
        """
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
        headings = make_headings(key for key in verdicts if key in deviating)
        if every:
            add_headings(headings, verdicts)
        return tuple(self._column(key, heading, verdicts[key]) for key, heading in headings.items())

    def _column(self, key: ColumnId, heading: str, found: Sequence[Verdict]) -> MetricColumn:
        size, known, column = self._made.get(key, (0, "", None))
        if column is None or size != len(found) or known != heading:
            column = _metric_column(key, heading, found)
            self._made[key] = (len(found), heading, column)
        return column


def list_own_columns(view: RunView, nodes: Iterable[NodeId]) -> tuple[MetricColumn, ...]:
    """The columns that a table of ``nodes`` alone has, in the order of their rounds."""
    own = (verdict for name in nodes if name in view.nodes for verdict in view.nodes[name].verdicts)
    stages = stage_names(view)
    verdicts: dict[ColumnId, list[Verdict]] = {}
    deviating: set[ColumnId] = set()
    for verdict in sorted(filter(_has_number, own), key=lambda each: each.round):
        key = verdict.metric, stages.get(verdict.round, "")
        verdicts.setdefault(key, []).append(verdict)
        if _deserves_column(verdict):
            deviating.add(key)
    headings = make_headings(key for key in verdicts if key in deviating)
    return tuple(_metric_column(key, heading, verdicts[key]) for key, heading in headings.items())


def read_round_numbers(view: RunView, each: Round) -> RoundNumbers:
    """The numbers of one round."""
    made = RoundNumbers()
    for test in each.tests:
        for verdict in view.verdicts.get(test.id, ()):
            if _has_number(verdict):
                made.verdicts.setdefault(verdict.metric, []).append(verdict)
                if _deserves_column(verdict):
                    made.deviating.add(verdict.metric)
    return made


def _has_number(verdict: Verdict) -> bool:
    return verdict.value is not None and verdict.unit is not None


def _deserves_column(verdict: Verdict) -> bool:
    """Whether its metric has a column for it: facts have one only where one deviates."""
    return verdict.kind is not Yardstick.HARDWARE or verdict.level is not Level.PASS


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
    return MetricColumn(Choice(METRIC, *key), key_of(heading), heading, scale, _bound(found, parts, scale))


def _bound(found: Sequence[Verdict], parts: Sequence[int], scale: Scale) -> str:
    """The expected value where that is one for all rows, else the required one of all."""
    for mark, values in (
        ("", [each.expected for each in found]),
        ("≤ " if scale.unit is Unit.SECOND else "≥ ", [each.required for each in found]),
    ):
        known = {float(f"{value / part:.6g}") for value, part in zip(values, parts, strict=True) if value is not None}
        if len(known) == 1:
            return mark + scale.shown(next(iter(known)))
    return ""


def key_of(heading: str) -> str:
    """The word for a column with this heading in a filter or ``:sort``."""
    return heading.replace(" ", ".").lower()


def add_headings(known: dict[ColumnId, str], keys: Iterable[ColumnId]) -> None:
    """Add a heading for each of ``keys`` that has none, and that no other column has."""
    every = list(keys)
    taken = set(known.values())
    for (metric, stage), short in make_headings(every).items():
        if (metric, stage) not in known:
            choices = (short, sanitize(metric), sanitize(f"{stage} {metric}"))
            found = next((each for each in choices if each not in taken), choices[-1])
            known[metric, stage] = found
            taken.add(found)


def make_headings(keys: Iterable[ColumnId]) -> dict[ColumnId, str]:
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


def under_of(fabric: Fabric) -> dict[str, str]:
    """Node to the switches that it hangs on, to its host, or to what it is cabled to without a switch."""
    return {node: _under(fabric, node) for node in fabric.nodes}


def _under(fabric: Fabric, node: NodeId) -> str:
    host = fabric.nodes[node].host
    if host is not None:
        return f"on {sanitize(host)}"
    ends: tuple[str, ...] = fabric.switch_of(node) or tuple(link.other(node) for link in fabric.links_at[node])
    return " ".join(sanitize(end) for end in dict.fromkeys(ends)) or "not cabled"
