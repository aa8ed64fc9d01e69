"""Owns the way between domain objects and rows, both directions side by side.

A row is a tuple in the order of the columns that are named beside it. Reading raises ValueError
(or TypeError, KeyError) for a row that no writer of ours made. Refuses to know SQL and
connections; what single values become is for ``store.values``.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from probes.judging.verdict import Kind, Level, Verdict
from probes.model import (
    Bundle,
    Fact,
    FailedAt,
    Failure,
    Labels,
    Measurement,
    Output,
    Reading,
    Result,
    Round,
    Target,
    Test,
)
from store.model import NewSession
from store.values import dump, integer, maybe, number, strings, text
from topology.model import Direction, Fabric, LinkId, Node, NodeId
from topology.units import Shown, Unit

Row = tuple[Any, ...]
"""What SQLite takes and gives: None, int, float, str or bytes."""


# -- options and labels


def options_text(options: Mapping[str, str | int | float], what: str) -> str:
    """Options in their order."""
    return dump(dict(options), f"an option of {what}")


def options_of(value: str) -> Mapping[str, str | int | float]:
    """The other way."""
    found = json.loads(value)
    if not isinstance(found, dict):
        raise ValueError(f"{value[:80]!r} is no object")
    return MappingProxyType(found)


def labels_row(labels: Labels) -> Row:
    """pairs, shown."""
    shown = ", ".join(f"{name}={value}" for name, value in labels)
    return dump([list(pair) for pair in labels], "a label"), text(shown)


@lru_cache(maxsize=1024)  # a round has a handful of label sets and thousands of numbers
def labels_of(pairs: str) -> Labels:
    """The other way, from ``pairs``."""
    return tuple((str(name), str(value)) for name, value in json.loads(pairs))


# -- session and plan


def session_row(new: NewSession) -> Row:
    """label, fabric, suite, selection, options, topology, topology_path, simulated, program, started."""
    return (
        text(new.label),
        text(new.fabric),
        text(new.suite),
        text(new.selection),
        options_text(new.options, "the session"),
        text(new.topology),
        text(new.topology_path),
        int(new.simulated),
        text(new.program),
        number(new.started, "the start of the session"),
    )


def session_of(row: Row) -> NewSession:
    """The other way."""
    label, fabric, suite, selection, options, topology, path, simulated, program, started = row
    return NewSession(
        topology=topology,
        topology_path=path,
        fabric=fabric,
        suite=suite,
        started=started,
        label=label,
        selection=selection,
        options=options_of(options),
        simulated=bool(simulated),
        program=program,
    )


def bundles_text(bundles: Sequence[Bundle]) -> str:
    """Bundles as JSON."""
    return dump(
        [
            {
                "name": bundle.name,
                "elements": [{"link": way.link, "source": way.source} for way in bundle.elements],
                "fill": bundle.fill,
            }
            for bundle in bundles
        ],
        "a bundle",
    )


def bundles_of(value: str) -> tuple[Bundle, ...]:
    """The other way."""
    return tuple(
        Bundle(
            bundle["name"],
            tuple(Direction(LinkId(way["link"]), way["source"]) for way in bundle["elements"]),
            float(bundle["fill"]),
        )
        for bundle in json.loads(value)
    )


def round_row(planned: Round) -> Row:
    """number, stage, probe, seconds, because, bundles."""
    return (
        integer(planned.number, "the number of a round"),
        text(planned.stage),
        text(planned.probe),
        number(planned.seconds, f"the length of round {planned.number}"),
        text(planned.because),
        bundles_text(planned.bundles),
    )


def round_of(row: Row, tests: tuple[Test, ...]) -> Round:
    """The other way, with the tests of the round."""
    count, stage, probe, seconds, because, bundles = row
    return Round(count, stage, probe, tests, seconds, because, bundles_of(bundles))


def test_row(test: Test) -> Row:
    """key, node, peer, options, bundle."""
    target = test.target
    return (
        text(test.id),
        text(target.node.id),
        None if target.peer is None else text(target.peer.id),
        options_text(target.options, f"test {test.id}"),
        text(test.bundle),
    )


def test_of(row: Row, *, probe: str, round_number: int, fabric: Fabric) -> Test:
    """The other way; the nodes are those of ``fabric``. ValueError when it has them not."""
    key, node, peer, options, bundle = row
    target = Target(_node(fabric, node), None if peer is None else _node(fabric, peer), options_of(options))
    return Test(key, probe, target, round_number, bundle)


def _node(fabric: Fabric, name: str) -> Node:
    found = fabric.nodes.get(NodeId(name))
    if found is None:
        raise ValueError(f"the fabric {fabric.name} has no node {name}")
    return found


# -- results


def result_row(result: Result) -> Row:
    """started, seconds, failed_at, failure_detail, failure_node."""
    failure = result.failure
    return (
        number(result.started, f"the start of test {result.test.id}"),
        number(result.seconds, f"the length of test {result.test.id}"),
        *((None, None, None) if failure is None else (failure.stage.value, text(failure.detail), text(failure.node))),
    )


def failure_of(stage: str | None, detail: str, node: str) -> Failure | None:
    """The other way, for the failure."""
    return None if stage is None else Failure(FailedAt(stage), detail, NodeId(node))


def output_row(output: Output) -> Row:
    """node, argv, stdout, stderr, exit_status, signal, seconds, truncated."""
    status = output.exit_status
    return (
        text(output.node),
        dump(list(output.argv), "an argument list"),
        bytes(output.stdout),
        bytes(output.stderr),
        None if status is None else integer(status, "an exit status"),
        None if output.signal is None else text(output.signal),
        number(output.seconds, "the length of a command"),
        int(output.truncated),
    )


def output_of(row: Row) -> Output:
    """The other way."""
    node, argv, stdout, stderr, status, signal, seconds, truncated = row
    return Output(strings(argv), stdout, stderr, status, signal, seconds, bool(truncated), node)


def measurement_row(measurement: Measurement) -> Row:
    """key, value, raw, at (metric and labels stand in tables of their own)."""
    reading = measurement.reading
    return (
        text(measurement.id),
        number(reading.value, f"{reading.metric} of test {measurement.test.id}"),
        text(reading.raw),
        number(measurement.at, f"the time of measurement {measurement.id}"),
    )


def measurement_of(row: Row, test: Test) -> Measurement:
    """The other way: key, value, raw, at, metric, unit, label pairs."""
    key, value, raw, at, metric, unit, pairs = row
    return Measurement(key, test, Reading(metric, value, Unit(unit), labels_of(pairs), raw), at)


def fact_row(fact: Fact) -> Row:
    """name, text, number, unit."""
    words = isinstance(fact.value, str)
    return (
        text(fact.fact),
        text(str(fact.value)) if words else None,
        None if words else number(float(fact.value), f"fact {fact.fact}"),
        None if fact.unit is None else fact.unit.value,
    )


def fact_of(row: Row) -> Fact:
    """The other way: name, text, number, unit, label pairs."""
    name, words, found, unit, pairs = row
    value: str | float = found if words is None else words
    return Fact(name, value, None if unit is None else Unit(unit), labels_of(pairs))


# -- verdicts


def verdict_row(verdict: Verdict) -> Row:
    """test, probe, subject, nodes, then level to evidence (metric and labels stand elsewhere)."""
    what = f"{verdict.metric} of {verdict.subject}"
    return (
        text(verdict.test),
        text(verdict.probe),
        text(verdict.subject),
        dump(list(verdict.nodes), "a node list"),
        verdict.level.value,
        verdict.kind.value,
        text(verdict.because),
        verdict.shown.value,
        maybe(verdict.value, f"the value of {what}"),
        maybe(verdict.expected, f"the expected value of {what}"),
        maybe(verdict.required, f"the bound for {what}"),
        text(verdict.text),
        text(verdict.expected_text),
        text(verdict.source),
        text(verdict.limiting),
        text(verdict.affected_by),
        dump(list(verdict.evidence), "evidence"),
    )


def verdict_of(row: Row, round_number: int) -> Verdict:
    """The other way: the columns of ``verdict_row``, then metric, unit, label pairs."""
    test, probe, subject, nodes, level, kind, because, shown, *rest = row
    value, expected, required, words, expected_text, source, limiting, affected_by, evidence, *named = rest
    metric, unit, pairs = named
    return Verdict(
        test=test,
        round=round_number,
        probe=probe,
        subject=subject,
        nodes=strings(nodes),
        metric=metric,
        labels=labels_of(pairs),
        level=Level(level),
        kind=Kind(kind),
        because=because,
        unit=Unit(unit) if unit else None,
        shown=Shown(shown),
        value=value,
        expected=expected,
        required=required,
        text=words,
        expected_text=expected_text,
        source=source,
        limiting=limiting,
        affected_by=affected_by,
        evidence=strings(evidence),
    )
