"""Owns the columns of the node table: which metrics a session has, and each node's worst of each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from console.tui import reading
from console.tui.scales import Scale, scale_for
from console.view import NodeView, RunView, State, state_of
from console.wording import SIGNS, plain
from probes.judging.verdict import Kind, Level, Verdict
from topology.model import Fabric
from topology.units import Shown, Unit

WORD_COLUMNS = ("state", "node", "under", "role", "limit", "why")


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """One metric. ``heading`` is its short name, ``bound`` what was expected where that is one value for all."""

    metric: str
    heading: str
    scale: Scale
    bound: str = ""


def metric_columns(view: RunView) -> tuple[MetricColumn, ...]:
    """A column for every judged metric with numbers, in the order of the plan; facts only where one deviates."""
    seen: dict[str, list[Verdict]] = {}
    for verdicts in view.verdicts.values():
        for verdict in verdicts:
            if verdict.value is not None and verdict.unit is not None:
                seen.setdefault(verdict.metric, []).append(verdict)
    shown = {
        metric: found
        for metric, found in seen.items()
        if any(each.kind is not Kind.HARDWARE or each.level is not Level.PASS for each in found)
    }
    short = _short_names(shown)
    return tuple(_metric_column(metric, short[metric], found) for metric, found in shown.items())


def _metric_column(metric: str, heading: str, found: Sequence[Verdict]) -> MetricColumn:
    first = found[0]
    unit = first.unit or Unit.ONE
    shown = Shown.MEMORY if unit is Unit.BYTE and metric.startswith("memory") else first.shown
    scale = scale_for(unit, shown, [each.value for each in found if each.value is not None])
    bounds = {each.required if each.required is not None else each.expected for each in found}
    bound = next(iter(bounds)) if len(bounds) == 1 else None
    return MetricColumn(metric, heading, scale, scale.shown(bound) if bound is not None else "")


def _short_names(metrics: Iterable[str]) -> dict[str, str]:
    last = [metric.rsplit(".", 1)[-1] for metric in metrics]
    made = {}
    for metric in metrics:
        probe, _, name = metric.rpartition(".")
        plain_name = name if last.count(name) == 1 and name not in ("total", "count", "size") else f"{probe} {name}"
        made[metric] = plain(plain_name.replace("_", " "))
    return made


@dataclass(slots=True)
class NodeRow:
    """One node as the table and the filter see it; worked out when it is first looked at."""

    view: NodeView
    under: str
    columns: Sequence[MetricColumn]
    _worst: dict[str, Verdict] | None = None
    _everything: str = field(default="")

    @property
    def state(self) -> State:
        """What stands in front."""
        return self.view.state

    @property
    def worst(self) -> Mapping[str, Verdict]:
        """Metric to the verdict that says the worst of it."""
        if self._worst is None:
            self._worst = {}
            for verdict in self.view.verdicts:
                known = self._worst.get(verdict.metric)
                if known is None or _badness(verdict) < _badness(known):
                    self._worst[verdict.metric] = verdict
        return self._worst

    @property
    def deciding(self) -> Verdict | None:
        """The verdict that gives the node its state."""
        found = [v for v in self.view.verdicts if v.level is not Level.PASS]
        return min(found, key=_badness, default=None)

    def words(self, column: str) -> str:
        """The text of a word column, or a number as it is shown."""
        if column == "state":
            return SIGNS[self.state].word
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
        found = next((each for each in self.columns if _key(each) == column), None)
        return found.scale.shown(self.number(column)) if found else ""

    def number(self, column: str) -> float | None:
        """The worst value of a metric, in its base unit."""
        found = next((each for each in self.columns if _key(each) == column), None)
        verdict = self.worst.get(found.metric) if found else None
        return verdict.value if verdict else None

    @property
    def everything(self) -> str:
        """What a plain word is looked for in."""
        if not self._everything:
            self._everything = " ".join(self.words(column) for column in WORD_COLUMNS).lower()
        return self._everything

    def _limit(self) -> str:
        verdict = self.deciding
        if verdict is None:
            return ""
        return plain(verdict.affected_by or verdict.limiting)

    def _why(self) -> str:
        if self.state is State.UNREACHABLE:
            silent = next((each for each in self.view.failures if each.stage.means_unreachable), None)
            return plain(silent.detail or silent.stage.value) if silent else ""
        verdict = self.deciding
        if verdict is not None:
            return plain(verdict.because)
        failure = next(iter(self.view.failures), None)
        return plain(f"{failure.stage}: {failure.detail}") if failure else ""


def _badness(verdict: Verdict) -> tuple[int, float]:
    share = reading.share(verdict)
    return (state_of(verdict).rank, share if share is not None else 1.0)


def _key(column: MetricColumn) -> str:
    return column.heading.replace(" ", ".").lower()


def filter_columns(columns: Iterable[MetricColumn]) -> dict[str, Scale | None]:
    """Every column that a filter may name."""
    return {**dict.fromkeys(WORD_COLUMNS), **{_key(column): column.scale for column in columns}}


def key_of(column: MetricColumn) -> str:
    """What a filter or ``:sort`` calls the column."""
    return _key(column)


def under_of(fabric: Fabric) -> dict[str, str]:
    """Node to the switches that it hangs on."""
    return {node: " ".join(plain(switch) for switch in dict.fromkeys(fabric.switch_of(node))) for node in fabric.nodes}


def deviating(verdict: Verdict | None) -> State:
    """The state to colour a number with."""
    return State.SKIPPED if verdict is None else state_of(verdict)
