"""Domain objects to rows and back, both directions side by side.

A row is a named tuple whose fields are columns of its table. Reading raises ValueError
(or TypeError, KeyError) for a row that no writer of ours made. Results are in
``store.codec.result_rows``, single values in ``store.codec.values``.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from benchconsole.probes.model.judgement import Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import Bundle, Labels, Proof, Round, Swept, Target, Test
from benchconsole.probes.model.sending import Sending
from benchconsole.store.codec.values import (
    Count,
    Flag,
    dump_document,
    dump_json,
    make_row,
    members_by_value,
    parse_document,
    parse_strings,
    replace_surrogates,
)
from benchconsole.store.model import NewSession
from benchconsole.topology.model.fabric import Fabric, Node, NodeId
from benchconsole.topology.units import Shown, Unit

_UNITS = members_by_value(Unit)

# -- options and labels


@lru_cache(maxsize=1024)  # the tests of a stage share their options, and nobody can change them
def parse_options(value: str) -> Mapping[str, str | int | float]:
    """Options from JSON."""
    parsed = json.loads(value)
    if not isinstance(parsed, dict):
        raise ValueError(f"{value[:80]!r} is no object")
    return MappingProxyType(parsed)


def dump_labels(labels: Labels) -> str:
    """Labels as JSON pairs."""
    return dump_json([list(pair) for pair in labels], "a label") if labels else "[]"


@lru_cache(maxsize=1024)  # a round has a handful of label sets and thousands of numbers
def parse_labels(pairs: str) -> Labels:
    """Labels from JSON pairs."""
    return tuple((str(name), str(value)) for name, value in json.loads(pairs))


@lru_cache(maxsize=1024)
def clean_labels(labels: Labels) -> Labels:
    """Labels as UTF-8 can hold them."""
    return tuple((replace_surrogates(name), replace_surrogates(value)) for name, value in labels)


# -- session and plan


class SessionRow(NamedTuple):
    """A session as it is created."""

    label: str
    fabric: str
    suite: str
    selection: str
    options: str
    topology: str
    topology_path: str
    simulated: Flag
    program: str
    started: float


def make_session_row(new: NewSession) -> SessionRow:
    """The row of a session; RefusedError for a start that is no number."""
    return make_row(SessionRow, new, "the session")


def parse_session(row: SessionRow) -> NewSession:
    """The session of a row."""
    fields = row._asdict() | {"options": parse_options(row.options), "simulated": bool(row.simulated)}
    return NewSession(**fields)


class RoundRow(NamedTuple):
    """A round of the plan, without its tests."""

    number: int
    stage: str
    probe: str
    seconds: float
    because: str
    bundles: str
    swept: str


def make_round_row(planned: Round) -> RoundRow:
    """The row of a planned round."""
    bundles, swept = dump_document(planned.bundles, "a bundle"), dump_document(planned.swept, "a point of a sweep")
    return make_row(RoundRow, planned, f"round {planned.number}", bundles=bundles, swept=swept)


def parse_round(row: RoundRow, tests: tuple[Test, ...]) -> Round:
    """The round of a row, with its tests."""
    bundles = parse_document(tuple[Bundle, ...], row.bundles)
    swept = None if row.swept == "null" else parse_document(Swept, row.swept)
    return Round(row.number, row.stage, row.probe, tests, row.seconds, row.because, bundles, swept)


class TestRow(NamedTuple):
    """A test of the plan."""

    key: str
    node: str
    peer: str | None
    options: str
    bundle: str
    members: str
    labels: str
    sending: str


def make_test_row(test: Test) -> TestRow:
    """The row of a planned test."""
    target = test.target
    return make_row(
        TestRow,
        test,
        f"test {test.id}",
        key=test.id,
        node=target.node.id,
        peer=None if target.peer is None else target.peer.id,
        options=target.options,
        members=tuple(member.id for member in target.members),
        labels=dump_labels(target.labels),
        sending=_dump_sending(test.sending),
    )


@lru_cache(maxsize=1024)  # nearly all tests of a plan send alike
def _dump_sending(sending: Sending) -> str:
    return dump_document(sending, "the sending of a test")


def parse_test(row: TestRow, *, probe: str, round_number: int, fabric: Fabric) -> Test:
    """The test of a row; its nodes are those of ``fabric``. ValueError when it has them not."""
    target = Target(
        _find_node(fabric, row.node),
        None if row.peer is None else _find_node(fabric, row.peer),
        parse_options(row.options),
        tuple(_find_node(fabric, member) for member in parse_strings(row.members)),
        parse_labels(row.labels),
    )
    return Test(row.key, probe, target, round_number, row.bundle, parse_document(Sending, row.sending))


def _find_node(fabric: Fabric, name: str) -> Node:
    node = fabric.nodes.get(NodeId(name))
    if node is None:
        raise ValueError(f"the fabric {fabric.name} has no node {name}")
    return node


# -- verdicts


class VerdictRow(NamedTuple):
    """A verdict without its metric and labels, which have tables of their own."""

    test: str
    probe: str
    subject: str
    nodes: str
    level: str
    kind: str
    because: str
    shown: str
    value: float | None
    expected: float | None
    required: float | None
    text: str
    expected_text: str
    source: str
    limiting: str
    evidence: str


class NamedVerdictRow(NamedTuple):
    """A verdict before its metric and labels have numbers. ``unit`` is empty where it is about words."""

    metric: str
    unit: str
    labels: Labels
    verdict: VerdictRow


def make_verdict_row(verdict: Verdict) -> NamedVerdictRow:
    """The row of a verdict; RefusedError for a number that cannot be kept."""
    row = make_row(VerdictRow, verdict, f"{verdict.metric} of {verdict.subject}")
    unit = verdict.unit.value if verdict.unit else ""
    return NamedVerdictRow(replace_surrogates(verdict.metric), unit, clean_labels(verdict.labels), row)


def parse_verdict(row: NamedVerdictRow, round_number: int) -> Verdict:
    """The verdict of a row."""
    fields = row.verdict
    meant = {
        "nodes": parse_strings(fields.nodes),
        "evidence": parse_strings(fields.evidence),
        "level": members_by_value(Level)[fields.level],
        "kind": members_by_value(Yardstick)[fields.kind],
        "shown": members_by_value(Shown)[fields.shown],
        "unit": _UNITS[row.unit] if row.unit else None,
    }
    return Verdict(round=round_number, metric=row.metric, labels=row.labels, **{**fields._asdict(), **meant})


# -- the end of a run


class ProofRow(NamedTuple):
    """The search of one node for anything of ours."""

    node: str
    asked: Flag
    remains: str
    ended: Count
    detail: str


def make_proof_row(proof: Proof) -> ProofRow:
    """The row of a proof."""
    return make_row(ProofRow, proof, f"the proof of {proof.node}", remains=proof.left)


def parse_proof(row: ProofRow) -> Proof:
    """The proof of a row."""
    return Proof(NodeId(row.node), bool(row.asked), parse_strings(row.remains), row.ended, row.detail)
