"""Domain objects to rows and back, both directions side by side.

A row is a named tuple whose fields are columns of its table. Reading raises ValueError
(or TypeError, KeyError) for a row that no writer of ours made. Single values are in ``store.codec.values``.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from benchconsole.probes.model.judgement import Level, Yardstick
from benchconsole.probes.model.measuring import (
    Bundle,
    Fact,
    FailedAt,
    Failure,
    Labels,
    Output,
    Proof,
    Reading,
    Result,
    Round,
    Swept,
    Target,
    Test,
)
from benchconsole.probes.model.sending import Sending
from benchconsole.store.codec.packing import compute_sum, pack_streams, unpack_stream
from benchconsole.store.codec.values import (
    Count,
    Flag,
    Integer,
    dump_document,
    dump_json,
    dump_strings,
    make_row,
    members_by_value,
    parse_document,
    parse_strings,
    read_number,
    replace_surrogates,
    require_finite,
    require_integer,
)
from benchconsole.store.errors import ConflictError
from benchconsole.store.model import NewSession
from benchconsole.topology.model.fabric import Criterion, Fabric, Node, NodeId
from benchconsole.topology.units import Shown, Unit

_LEVELS, _UNITS = members_by_value(Level), members_by_value(Unit)
_SHOWN, _YARDSTICKS = members_by_value(Shown), members_by_value(Yardstick)
_FAULT = "report this as a fault of the runner"

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
    """A test of the plan; ``probe`` is empty where it is that of its round."""

    key: str
    node: str
    peer: str | None
    options: str
    bundle: str
    members: str
    labels: str
    sending: str
    probe: str


def make_test_row(planned: Round, test: Test) -> TestRow:
    """The row of a test of the round ``planned``."""
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
        probe=test.probe if test.probe != planned.probe else "",
    )


@lru_cache(maxsize=1024)  # nearly all tests of a plan send alike
def _dump_sending(sending: Sending) -> str:
    return dump_document(sending, "the sending of a test")


def parse_test(row: TestRow, planned: RoundRow, fabric: Fabric) -> Test:
    """The test of a row of the round ``planned``; its nodes are of ``fabric``. ValueError when it has them not."""
    sending = parse_document(Sending, row.sending)
    target = Target(
        _find_node(fabric, row.node).at(sending.leg or sending.network),
        None if row.peer is None else _find_node(fabric, row.peer).at(sending.peer_leg or sending.network),
        parse_options(row.options),
        tuple(_find_node(fabric, member).at(sending.network) for member in parse_strings(row.members)),
        parse_labels(row.labels),
    )
    return Test(row.key, row.probe or planned.probe, target, planned.number, row.bundle, sending)


def name_nodes(row: TestRow) -> set[str]:
    """The names of all nodes of a test."""
    return {row.node, *(() if row.peer is None else (row.peer,)), *parse_strings(row.members)}


def _find_node(fabric: Fabric, name: str) -> Node:
    node = fabric.nodes.get(NodeId(name))
    if node is None:
        raise ValueError(f"the fabric {fabric.name} has no node {name}")
    return node


# -- results: rows once, before a result has any number of the file; a run stores thousands of them in a second


class ResultRow(NamedTuple):
    """The times of a result, and its failure if there is one."""

    started: float
    seconds: float
    drift: float
    failed_at: str | None
    failure_detail: str | None
    failure_node: str | None


class OutputRow(NamedTuple):
    """The output of one command. ``checksum`` is that of the plain bytes, None where an older program stored it."""

    node: str
    argv: str
    stdout: bytes
    stderr: bytes
    exit_status: Integer | None
    signal: str | None
    seconds: float
    truncated: Flag
    packed: Flag = 0
    checksum: bytes | None = None


class MeasurementRow(NamedTuple):
    """A measurement before its metric and labels have numbers."""

    metric: str
    unit: str
    labels: Labels
    key: str
    value: float
    raw: str
    at: float


class FactRow(NamedTuple):
    """A fact, a ``text`` or a ``number``, before its labels have a number."""

    labels: Labels
    name: str
    text: str | None
    number: float | None
    unit: str | None


class ResultRows(NamedTuple):
    """A result as rows. ``test`` is the key of its test."""

    test: str
    result: ResultRow
    outputs: tuple[OutputRow, ...]
    measurements: tuple[MeasurementRow, ...]
    facts: tuple[FactRow, ...]


def make_result_rows(result: Result) -> ResultRows:
    """The rows of a result.

    RefusedError for a number that cannot be kept; ConflictError when a measurement comes twice or has no id.
    """
    test = result.test.id
    keys = [measurement.id for measurement in result.measurements]
    if "" in keys:
        raise ConflictError(f"a measurement in the result of {test} has no id", _FAULT)
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ConflictError(f"measurement {twice} comes twice in the result of {test}", _FAULT)
    return ResultRows(
        replace_surrogates(test),
        _make_result_row(result),
        tuple(map(make_output_row, result.outputs)),
        tuple(map(make_measurement_row, result.measurements)),
        tuple(map(make_fact_row, result.facts)),
    )


def _make_result_row(result: Result) -> ResultRow:
    failure, test = result.failure, result.test.id
    return ResultRow(
        require_finite(result.started, "the start", test),
        require_finite(result.seconds, "the length", test),
        require_finite(result.drift, "the drift", test),
        None if failure is None else failure.stage.value,
        None if failure is None else replace_surrogates(failure.detail),
        None if failure is None else replace_surrogates(failure.node),
    )


def make_output_row(output: Output) -> OutputRow:
    """The row of an output."""
    status = output.exit_status
    stdout, stderr, is_packed = pack_streams(output.stdout, output.stderr)
    row = OutputRow(
        replace_surrogates(output.node),
        dump_strings(tuple(output.argv)),
        stdout,
        stderr,
        None if status is None else require_integer(status, "an exit status"),
        None if output.signal is None else replace_surrogates(output.signal),
        require_finite(output.seconds, "the length of a command"),
        int(output.truncated),
        int(is_packed),
    )
    return row._replace(checksum=_compute_checksum(row, output.stdout, output.stderr))


def _compute_checksum(row: OutputRow, stdout: bytes, stderr: bytes) -> bytes:
    facts = (row.node, row.argv, row.exit_status, row.signal, row.seconds, row.truncated)
    return compute_sum(facts, stdout, stderr)


def parse_failure(row: ResultRow) -> Failure | None:
    """The failure of a result; ValueError where it has no stage but details."""
    if row.failed_at is None and row.failure_detail is None and row.failure_node is None:
        return None
    if row.failed_at is None or row.failure_detail is None or row.failure_node is None:
        raise ValueError("a failure that is not whole")
    return Failure(FailedAt(row.failed_at), row.failure_detail, NodeId(row.failure_node))


def parse_output(row: OutputRow) -> Output:
    """The output of a row; ValueError for one that is not what was stored."""
    stdout, stderr = (unpack_stream(stream, is_packed=bool(row.packed)) for stream in (row.stdout, row.stderr))
    if row.checksum is not None and row.checksum != _compute_checksum(row, stdout, stderr):
        raise ValueError("an output whose checksum is not that of what was stored")
    ended = (row.exit_status, row.signal, row.seconds, bool(row.truncated), row.node)
    return Output(parse_strings(row.argv), stdout, stderr, *ended)


def make_measurement_row(reading: Reading) -> MeasurementRow:
    """The row of a measurement."""
    return MeasurementRow(
        replace_surrogates(reading.metric),
        reading.unit.value,
        clean_labels(reading.labels),
        replace_surrogates(reading.id),
        require_finite(reading.value, reading.metric, reading.id),
        replace_surrogates(reading.raw),
        require_finite(reading.at, "the time", reading.id),
    )


def parse_unit(unit: str) -> Unit:
    """The unit of a stored name; KeyError for one that is none."""
    found: Unit = _UNITS[unit]
    return found


def parse_measurement(row: MeasurementRow) -> Reading:
    """The measurement of a row."""
    metric, unit, labels, key, value, raw, at = row
    return Reading(metric, read_number(value), _UNITS[unit], labels, raw, key, at)


def make_fact_row(fact: Fact) -> FactRow:
    """The row of a fact."""
    is_text = isinstance(fact.value, str)
    return FactRow(
        clean_labels(fact.labels),
        replace_surrogates(fact.fact),
        replace_surrogates(str(fact.value)) if is_text else None,
        None if is_text else require_finite(float(fact.value), "the fact", fact.fact),
        None if fact.unit is None else fact.unit.value,
    )


def parse_fact(row: FactRow) -> Fact:
    """The fact of a row; ValueError where it is neither a text nor a number, or both."""
    value = row.number if row.text is None else row.text
    if value is None or (row.text is not None and row.number is not None):
        raise ValueError("a fact is a text or a number")
    return Fact(row.name, value, None if row.unit is None else Unit(row.unit), row.labels)


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


# -- criteria


def dump_criteria(criteria: Sequence[Criterion]) -> str:
    """Criteria as JSON; RefusedError for NaN and infinity."""
    from msgspec import to_builtins  # the list of sessions needs none of it

    written = [{**to_builtins(each), "nodes": sorted(each.nodes)} for each in criteria]
    return dump_json(written, "a criterion")


def parse_criteria(dumped: str) -> tuple[Criterion, ...]:
    """The criteria of ``dump_criteria``; ValueError for anything else."""
    kind: type[tuple[Criterion, ...]] = tuple[Criterion, ...]
    return parse_document(kind, dumped)
