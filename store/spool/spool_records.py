"""The records of a spool: what the writer would have been given, in rows, and the JSON of each.

A record needs no fabric to be understood. ``parse_record`` checks every value as if a stranger had
written it: its type and bounds by the row types, then its meaning by reading it as domain objects.
"""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.measuring import Result
from benchconsole.store.codec.result_rows import ResultRows, make_result_rows, parse_fact, parse_failure, parse_output
from benchconsole.store.codec.rows import ProofRow, parse_proof, parse_verdict
from benchconsole.store.codec.values import Count, Integer
from benchconsole.store.writing.round_rows import RoundEnd, make_round_end
from benchconsole.store.writing.session_rows import Judgement, make_judgement
from benchconsole.topology.units import Unit

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class AttemptAddress(NamedTuple):
    """An attempt at a round of a session."""

    session: str
    round: Integer
    attempt: Integer


@dataclass(frozen=True, slots=True)
class ResultRecord:
    """One result."""

    address: AttemptAddress
    rows: ResultRows
    kind: Literal["result"] = "result"

    def __post_init__(self) -> None:
        measurements = self.rows.measurements
        if len({row.key for row in measurements}) < len(measurements):
            raise ValueError("a measurement comes twice")
        for row in measurements:
            Unit(row.unit)
        for output in self.rows.outputs:
            parse_output(output)
        for fact in self.rows.facts:
            parse_fact(fact)
        parse_failure(self.rows.result)


@dataclass(frozen=True, slots=True)
class CloseRecord:
    """A round was closed and judged. ``results`` counts those that must be stored by then."""

    address: AttemptAddress
    end: RoundEnd
    results: Count
    judgement: Judgement
    kind: Literal["closed"] = "closed"

    def __post_init__(self) -> None:
        CloseReason(self.end.reason)
        for row in self.judgement.verdicts:
            parse_verdict(row, self.address.round)


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """A decision or an event."""

    session: str
    what: str
    text: str
    at: float
    kind: Literal["note"] = "note"


@dataclass(frozen=True, slots=True)
class ProofRecord:
    """The nodes were searched for anything of ours."""

    session: str
    at: float
    proofs: tuple[ProofRow, ...]
    kind: Literal["proofs"] = "proofs"

    def __post_init__(self) -> None:
        for row in self.proofs:
            parse_proof(row)


@dataclass(frozen=True, slots=True)
class EndRecord:
    """The stretch of work of one console, known by its token, came to its end."""

    session: str
    token: str
    at: float
    complete: bool
    because: str
    kind: Literal["ended"] = "ended"


Record = ResultRecord | CloseRecord | NoteRecord | ProofRecord | EndRecord


def make_result_record(address: AttemptAddress, result: Result) -> ResultRecord:
    """The record of a result; RefusedError for a number that cannot be kept."""
    return ResultRecord(address, make_result_rows(result))


def make_close_record(address: AttemptAddress, closed: ClosedRound, *, at: float) -> CloseRecord:
    """The record of a closed round, without its results."""
    judgement = make_judgement(closed.verdicts, judged_by=closed.judged_by, at=at)
    return CloseRecord(address, make_round_end(closed), len(closed.results), judgement)


def dump_record(record: Record) -> bytes:
    """A record as JSON in one line; bytes in base64."""
    return _load_adapter().dump_json(record)


def parse_record(dumped: bytes) -> Record:
    """The record of such JSON; ValueError or KeyError for anything that no console of ours can have written."""
    return _load_adapter().validate_json(dumped)


@cache
def _load_adapter() -> "TypeAdapter[Record]":
    from pydantic import ConfigDict, Field, TypeAdapter  # loaded only here: a run without a spool needs none of it

    config = ConfigDict(
        strict=True, allow_inf_nan=False, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64"
    )
    return TypeAdapter(Annotated[Record, Field(discriminator="kind")], config=config)
