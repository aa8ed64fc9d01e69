"""Resolves the declarations beside the cabling: node classes, criteria, suites."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType

from pydantic import BaseModel

from benchconsole.topology.description import raw
from benchconsole.topology.description.document import Location, ProblemReport
from benchconsole.topology.description.sweep_stages import SweepReader
from benchconsole.topology.description.vocabulary import Vocabulary
from benchconsole.topology.errors import SelectionError, find_near
from benchconsole.topology.model.fabric import Basis, Comparator, Criterion, Hardware, NodeId, Stage, Suite
from benchconsole.topology.selection import choose
from benchconsole.topology.units import Unit, UnitError, parse, parse_link_speed

_SIZES = {("memory", "total"), ("memory", "dimm_size"), ("disk", "size"), ("raid", "cache")}
_PERCENT_ONLY = "a percentage such as 80 % when 'of' is given"


def resolve_hardware(name: str, written: raw.RawClass, report: ProblemReport) -> Hardware:
    """One node class with its declared facts in base units."""
    facts: dict[str, str | float] = {}
    for section, part in written:
        location = ("classes", name, section)
        if part is None or section in ("peak", "peak_basis"):
            continue
        for key, value in _list_facts(section, part):
            number = _make_fact(section, key, value, report, (*location, key))
            if number is not None:
                facts[f"{section}.{key}"] = number
    peak = report.quantity(written.peak, ("classes", name, "peak"), Unit.FLOP_RATE)
    return Hardware(name, MappingProxyType(facts), peak, written.peak_basis)


def _list_facts(section: str, part: object) -> Iterator[tuple[str, object]]:
    if section == "memory" and not isinstance(part, raw.RawMemory):
        yield "total", part
    elif isinstance(part, dict):
        yield from part.items()
    elif isinstance(part, BaseModel):
        yield from ((key, value) for key, value in part if value is not None)


def _make_fact(section: str, key: str, value: object, report: ProblemReport, location: Location) -> str | float | None:
    if (section, key) in _SIZES:
        return report.quantity(value, location, Unit.BYTE)
    if (section, key) == ("nic", "speed"):
        return report.quantity(value, location, parse_link_speed)
    if (section, key) == ("cpu", "clock"):
        return report.quantity(value, location, Unit.PER_SECOND)
    if isinstance(value, bool) or section in ("sysctl", "raid"):
        return str(value)
    return float(value) if isinstance(value, int | float) else str(value)


def parse_any(text: str) -> tuple[float, Unit]:
    """A quantity whose unit tells its dimension: ``12 MB/s``, ``80 %``, ``645 GFLOP/s``."""
    failure: UnitError | None = None
    for unit in (Unit.BYTE_RATE, Unit.FLOP_RATE, Unit.BYTE, Unit.SECOND, Unit.PER_SECOND, Unit.ONE):
        try:
            return parse(text, unit), unit
        except UnitError as error:
            failure = failure if failure and failure.suggestion else error
    suggestion = failure.suggestion if failure else None
    raise UnitError(text, "a quantity such as 1 GB/s, 10 Gb/s, 80 % or 645 GFLOP/s", suggestion)


class Declarations:
    """Turns criteria and suites into the model; knows the nodes and what the probes offer."""

    def __init__(
        self,
        report: ProblemReport,
        nodes: Collection[str],
        groups: Mapping[str, Collection[str]],
        vocabulary: Vocabulary | None,
    ) -> None:
        self.report = report
        self.nodes = nodes
        self.groups = groups
        self.vocabulary = vocabulary

    def chosen(self, text: str, location: Location) -> tuple[NodeId, ...] | None:
        """The nodes that ``text`` selects, or None and a problem."""
        try:
            return tuple(NodeId(name) for name in choose(text, self.nodes, self.groups))
        except SelectionError as error:
            self.report.add(location, str(error), "nodes or groups of this file")
            return None

    def criterion(self, index: int, written: raw.RawCriterion) -> Criterion | None:
        """One criterion, or None and problems."""
        here: Location = ("criteria", index)
        unit = self._metric_unit(written.metric, (*here, "metric"))
        bounds = [name for name in ("at_least", "at_most") if getattr(written, name) is not None]
        if len(bounds) != 1:
            found = "both at_least and at_most" if bounds else "no bound"
            self.report.add(here, found, "one of at_least and at_most")
            return None
        read = self._reader(written, unit)
        required = self.report.quantity(getattr(written, bounds[0]), (*here, bounds[0]), read)
        target = self.report.quantity(written.target, (*here, "target"), read)
        share = written.of is not None and str(written.round).rstrip().endswith("%")
        rounds = Unit.ONE if share else unit or Unit.BYTE_RATE
        rounding = self.report.quantity(written.round, (*here, "round"), rounds)
        nodes = self.chosen(written.nodes, (*here, "nodes")) if written.nodes is not None else ()
        if required is None or nodes is None:
            return None
        where = tuple(sorted((key, str(value)) for key, value in (written.where or {}).items()))
        if unit is None and written.of is None:
            unit = parse_any(str(getattr(written, bounds[0])))[1]
        return Criterion(
            metric=written.metric,
            comparator=Comparator(bounds[0]),
            required=required,
            unit=unit or Unit.ONE,
            basis=Basis(written.of) if written.of else Basis.ABSOLUTE,
            target=target,
            rounding=rounding or 0.0,
            rounds_share=share,
            where=where,
            nodes=frozenset(nodes),
            source=written.source,
        )

    def _metric_unit(self, metric: str, location: Location) -> Unit | None:
        if self.vocabulary is None:
            return None
        unit = self.vocabulary.metrics.get(metric)
        if unit is None:
            known = self.vocabulary.metrics
            self.report.add(location, f"unknown metric {metric!r}", "a metric of the probes", find_near(metric, known))
        return unit

    @staticmethod
    def _reader(written: raw.RawCriterion, unit: Unit | None) -> Unit | Callable[[str], float]:
        def share(text: str) -> float:
            if not text.strip().endswith("%"):
                raise UnitError(text, _PERCENT_ONLY)
            return parse(text, Unit.ONE)

        if written.of is not None:
            return share
        return unit or (lambda text: parse_any(text)[0])

    def suite(self, name: str, stages: list[raw.RawStage | None]) -> Suite:
        """One suite; stages with problems are left out and reported."""
        read = [self._stage(("suites", name, index), stage) for index, stage in enumerate(stages) if stage is not None]
        return Suite(name, tuple(stage for stage in read if stage is not None))

    def _stage(self, here: Location, written: raw.RawStage) -> Stage | None:
        probe = written.probe
        if probe is None:
            self.report.add(here, "a stage without a probe", "probe: NAME")
            return None
        nodes: tuple[NodeId, ...] | None = tuple(NodeId(name) for name in self.nodes)
        if written.nodes is not None:
            nodes = self.chosen(written.nodes, (*here, "nodes"))
        options: dict[str, raw.Scalar] = dict(written.model_extra or {})
        known = self._known_options(probe, (*here, "probe"))
        for key in options:
            if known is not None and key not in known:
                self.report.add_key(
                    (*here, key), f"unknown option {key!r}", _parse_one_of(known), find_near(key, known)
                )
        self._check_design(options.get("design"), (*here, "design"))
        if not nodes:
            return None
        sweep = SweepReader(self.report, self.vocabulary, here, probe, options, len(nodes)).sweep(written)
        return Stage(probe, nodes, MappingProxyType(options), sweep)

    def _known_options(self, probe: str, location: Location) -> list[str] | None:
        if self.vocabulary is None:
            return None
        options = self.vocabulary.probes.get(probe)
        if options is None:
            known = self.vocabulary.probes
            self.report.add(location, f"unknown probe {probe!r}", _parse_one_of(known), find_near(probe, known))
            return None
        return [*options, *raw.RawStage.model_fields]

    def _check_design(self, design: object, location: Location) -> None:
        designs = self.vocabulary.designs if self.vocabulary else ()
        if design is not None and designs and design not in designs:
            self.report.add(location, repr(design), _parse_one_of(designs), find_near(str(design), designs))


def _parse_one_of(words: Iterable[str]) -> str:
    return f"one of {', '.join(words)}"
