"""Owns the way between domain objects and rows, both directions side by side.

A row is a tuple in the order of the columns that are named beside it. Reading raises ValueError
(or TypeError, KeyError) for a row that no writer of ours made. Refuses to know SQL and
connections; results are for ``store.results``, single values for ``store.values``.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from probes.judging.verdict import Kind, Level, Verdict
from probes.model import Bundle, Labels, Proof, Round, Swept, Target, Test
from store.model import NewSession
from store.values import dump, integer, maybe, members, number, strings, text
from topology.model import Direction, Fabric, LinkId, Node, NodeId
from topology.sweep import Ending
from topology.units import Shown, Unit

_LEVELS, _KINDS, _UNITS, _SHOWN = members(Level), members(Kind), members(Unit), members(Shown)
Row = tuple[Any, ...]
"""What SQLite takes and gives: None, int, float, str or bytes."""


# -- options and labels


def options_text(options: Mapping[str, str | int | float], what: str) -> str:
    """Options in their order."""
    return dump(dict(options), f"an option of {what}")


@lru_cache(maxsize=1024)  # the tests of a stage share their options, and nobody can change them
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


def swept_text(swept: Swept | None) -> str:
    """The point of a sweep as JSON; nothing for a round of no sweep."""
    if swept is None:
        return ""
    return dump(
        {
            "sweep": integer(swept.sweep, "the number of a sweep"),
            "point": [list(pair) for pair in swept.point],
            "repetition": integer(swept.repetition, "a repetition"),
            "repeat": integer(swept.repeat, "a number of repetitions"),
            "order": swept.order,
            "ending": None if swept.ending is None else asdict(swept.ending),
        },
        "a point of a sweep",
    )


@lru_cache(maxsize=1024)  # the rounds of a point are alike, and nobody can change them
def swept_of(value: str) -> Swept | None:
    """The other way."""
    if not value:
        return None
    found = json.loads(value)
    ending = found["ending"]
    point = tuple((str(name), str(text)) for name, text in found["point"])
    rule = None if ending is None else Ending(ending["gain"], ending["after"], ending["metric"], ending["on_failure"])
    return Swept(found["sweep"], point, found["repetition"], found["repeat"], found["order"], rule)


def round_row(planned: Round) -> Row:
    """number, stage, probe, seconds, because, bundles, swept."""
    return (
        integer(planned.number, "the number of a round"),
        text(planned.stage),
        text(planned.probe),
        number(planned.seconds, f"the length of round {planned.number}"),
        text(planned.because),
        bundles_text(planned.bundles),
        swept_text(planned.swept),
    )


def round_of(row: Row, tests: tuple[Test, ...]) -> Round:
    """The other way, with the tests of the round."""
    count, stage, probe, seconds, because, bundles, swept = row
    return Round(count, stage, probe, tests, seconds, because, bundles_of(bundles), swept_of(swept))


def test_row(test: Test) -> Row:
    """key, node, peer, options, bundle, members, labels."""
    target = test.target
    return (
        text(test.id),
        text(target.node.id),
        None if target.peer is None else text(target.peer.id),
        options_text(target.options, f"test {test.id}"),
        text(test.bundle),
        dump([member.id for member in target.members], "a set of nodes") if target.members else "[]",
        labels_row(target.labels)[0] if target.labels else "[]",
    )


def test_of(row: Row, *, probe: str, round_number: int, fabric: Fabric) -> Test:
    """The other way; the nodes are those of ``fabric``. ValueError when it has them not."""
    key, node, peer, options, bundle, members, labels = row
    target = Target(
        _node(fabric, node),
        None if peer is None else _node(fabric, peer),
        options_of(options),
        tuple(_node(fabric, member) for member in strings(members)),
        labels_of(labels),
    )
    return Test(key, probe, target, round_number, bundle)


def _node(fabric: Fabric, name: str) -> Node:
    found = fabric.nodes.get(NodeId(name))
    if found is None:
        raise ValueError(f"the fabric {fabric.name} has no node {name}")
    return found


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
        level=_LEVELS[level],
        kind=_KINDS[kind],
        because=because,
        unit=_UNITS[unit] if unit else None,
        shown=_SHOWN[shown],
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


# -- the end of a run


def proof_row(proof: Proof) -> Row:
    """node, asked, remains, ended, detail."""
    return (
        text(proof.node),
        int(proof.asked),
        dump(list(proof.left), "what is left on a node"),
        integer(proof.ended, "a count of what was ended"),
        text(proof.detail),
    )


def proof_of(row: Row) -> Proof:
    """The other way."""
    node, asked, remains, ended, detail = row
    return Proof(NodeId(node), bool(asked), strings(remains), ended, detail)
