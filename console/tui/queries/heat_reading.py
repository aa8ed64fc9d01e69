"""Reads the values of a heat map from the views of a session, those of nodes that have changed alone."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.tui.queries.heat_choices import HeatChoice
from benchconsole.console.tui.queries.heat_values import HeatNodes, HeatValues, make_fact_heat, make_number_heat
from benchconsole.console.tui.queries.node_columns import stage_names
from benchconsole.console.tui.queries.node_row import NO_COLUMNS, NodeRow
from benchconsole.console.tui.queries.own_facts import find_fact_probes, read_newest_fact
from benchconsole.console.tui.rows.scales import scale_for
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.run_view import NodeView, RunView, State
from benchconsole.console.view.wording import format_fact
from benchconsole.probes.model.judgement import Finding
from benchconsole.probes.model.kept_readings import list_numbers
from benchconsole.probes.model.measuring import Fact, Metric
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Comparator, NodeId
from benchconsole.topology.natural_order import make_natural_key
from benchconsole.topology.units import Shown, Unit

Metrics = Mapping[str, Metric]
"""The declarations of probes for each known metric, by its name."""


_SEVERE = (State.FAIL, State.UNREACHABLE)


class HeatReader:
    """One choice, read from the views of one session after the other. Not for several threads at once."""

    def __init__(self, choice: HeatChoice, metrics: Metrics) -> None:
        self.choice = choice
        self._declared = metrics.get(choice.metric)
        self._findings: tuple[Finding, ...] = ()
        self._known: dict[NodeId, tuple[NodeView, float | str | None]] = {}
        self._form: tuple[Unit, Shown] | None = None
        self._probes: set[str] = set()

    def read(self, view: RunView) -> HeatValues:
        """The values of ``view``. StoreError where facts cannot be read."""
        if view.findings is not self._findings:  # they say which of the verdicts on a node is its own
            self._findings, self._known = view.findings, {}
        known = self._known
        changed = [seen for name, seen in view.nodes.items() if name not in known or known[name][0] is not seen]
        fresh = dict(zip((seen.node.id for seen in changed), self._read_nodes(view, changed), strict=True))
        self._known = {name: (seen, fresh[name]) if name in fresh else known[name] for name, seen in view.nodes.items()}
        severe = {name: seen.state for name, seen in view.nodes.items() if seen.state in _SEVERE}
        nodes = HeatNodes(len(view.nodes), severe)
        if self.choice.fact:
            texts = {name: value for name, (_, value) in self._known.items() if isinstance(value, str)}
            return make_fact_heat(self.choice, nodes, texts)
        numbers = {name: value for name, (_, value) in self._known.items() if isinstance(value, float)}
        unit, shown = self._form or (Unit.ONE, Shown.PLAIN)
        scale = scale_for(unit, shown, numbers.values())
        return make_number_heat(self.choice, nodes, numbers, scale, self._find_sense(unit))

    def _read_nodes(self, view: RunView, changed: Sequence[NodeView]) -> Sequence[float | str | None]:
        if self.choice.fact:
            self._probes |= find_fact_probes(changed).get(self.choice.fact, set())
            facts = read_newest_fact(changed, self.choice.fact, self._probes)
            words = {each: _tell(each) for each in {*facts}}
            return [words[each] for each in facts]
        blame, stages = Blame(view.findings), stage_names(view)
        return [self._read_node(seen, blame, stages) for seen in changed]

    def _read_node(self, seen: NodeView, blame: Blame, stages: Mapping[int, str]) -> float | None:
        value = self._read_number(seen, blame, stages)
        return float(value) if value is not None and math.isfinite(value) else None

    def _read_number(self, seen: NodeView, blame: Blame, stages: Mapping[int, str]) -> float | None:
        """The number that Nodes shows: the worst that was judged, else the median of those that were measured."""
        metric, stage = self.choice.metric, self.choice.stage
        judged = tuple(
            verdict for verdict in seen.verdicts if verdict.metric == metric and stages.get(verdict.round, "") == stage
        )
        if judged:
            first = judged[0]
            self._note_form(first.unit, first.shown)
            if len(judged) == 1 and not view_queries.is_shared(first):
                return first.value
            own = NodeRow(replace(seen, verdicts=judged), "", NO_COLUMNS, blame, stages).worst.get((metric, stage))
            return None if own is None else own.value
        found = [
            reading
            for result in seen.results
            if result.failure is None
            and result.test.target.node.id == seen.node.id
            and stages.get(result.test.round, "") == stage
            for reading in list_numbers(result)
            if reading.metric == metric and math.isfinite(reading.value)
        ]
        if not found:
            return None
        self._note_form(found[0].unit, Shown.PLAIN)
        return median(reading.value for reading in found)

    def _note_form(self, unit: Unit | None, shown: Shown) -> None:
        """Remember the unit, and how the probe wants it to be shown, else how a verdict was."""
        if unit is None or (self._form is not None and shown is Shown.PLAIN):
            return
        if self._declared is not None and self._declared.unit is unit:
            shown = self._declared.shown
        if unit is Unit.BYTE and self.choice.metric.startswith("memory"):
            shown = Shown.MEMORY
        self._form = unit, shown

    def _find_sense(self, unit: Unit) -> Comparator | None:
        """The bound that its probe says means something, else its unit."""
        declared = self._declared or Metric(self.choice.metric, unit, "")
        return declared.meant


def _tell(facts: Sequence[Fact]) -> str | None:
    """The values of a fact, each once with how many parts have it; None for none."""
    counts = Counter(sanitize(format_fact(fact)) for fact in facts)
    parts = sorted(counts.items(), key=lambda pair: make_natural_key(pair[0]))
    said = ", ".join(f"{number} x {value}" if number > 1 else value for value, number in parts)
    return said if facts else None
