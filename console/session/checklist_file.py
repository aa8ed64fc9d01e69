"""Checklists as people write them, and the running of a step of one on this machine.

Every mistake is reported with its place. Commands are argument lists: no shell reads them.
"""

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from benchconsole.probes.model.checklist import MOST_BYTES, PLACE, Checklist, Evidence, Mark, Step, StepState
from benchconsole.topology.description.document import ProblemReport, read_text, source_text
from benchconsole.topology.description.raw import Quantity
from benchconsole.topology.description.validate import validate
from benchconsole.topology.errors import Position, Problem, TopologyError
from benchconsole.topology.units import Unit, duration
from benchconsole.topology.units import parse as parse_quantity

SCHEMA = 1
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
_TIMEOUT = "60 s"
_LONGEST = 86_400.0
_TEXT = 4_000
_PLACES = "a list of places such as [indiana, texas]"


def _expect(holds: Callable[[Any], object], expected: str) -> BeforeValidator:
    """Refuses a value of which ``holds`` does not hold, with the words for one that is good."""

    def check(value: object) -> object:
        if not holds(value):
            raise ValueError(expected)
        return value

    return BeforeValidator(check)


def _check_text(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _TEXT:
        raise ValueError(f"text of at most {_TEXT:,} characters; quote a number")
    return " ".join(value.split())


def _is_command(value: object) -> bool:
    return isinstance(value, list) and bool(value and value[0]) and all(isinstance(word, str) for word in value)


_Text = Annotated[str, BeforeValidator(_check_text)]
_Slug = Annotated[
    str, _expect(_SLUG.fullmatch, "up to 60 letters, digits, dots and dashes"), BeforeValidator(_check_text)
]


class _RawStep(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    id: _Slug
    clause: _Text = ""
    text: _Text
    run: Annotated[list[str], _expect(_is_command, "a list of words such as [ssh, n1, 'true']; quote numbers")] = Field(
        default_factory=list
    )
    timeout: Quantity = _TIMEOUT
    at: Annotated[list[_Slug], _expect(lambda value: isinstance(value, list) and value, _PLACES)] = Field(
        default_factory=list
    )


_Step = Annotated[
    _RawStep, _expect(lambda value: isinstance(value, dict), "a mapping with id, clause, text, run, timeout, at")
]


class _RawChecklist(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    schema_: Annotated[int, _expect(lambda value: value is not True and value == SCHEMA, f"schema: {SCHEMA}")] = Field(
        alias="schema"
    )
    checklist: _Slug
    source: _Text = ""
    topology: _Text = ""
    steps: Annotated[list[_Step], _expect(lambda value: isinstance(value, list) and value, "a list of steps")]


@dataclass(frozen=True, slots=True)
class ChecklistFile:
    """The content of a file: the checklist, and the topology file that it names (None: none), both paths absolute."""

    path: Path
    checklist: Checklist
    topology: Path | None


def read_checklist_file(path: Path) -> ChecklistFile:
    """The checklist in a file. TopologyError lists the problems, each with its place."""
    text = source_text(path)
    if not text.strip():
        raise TopologyError([Problem(Position(str(path), 1, 1), "an empty file", "a checklist with steps")])
    document = read_text(text, str(path))
    written, problems = validate(document, _RawChecklist, "schema, checklist, source, topology, steps")
    report = ProblemReport(document, [*document.problems, *problems])
    if written is None or report.problems:
        raise TopologyError(report.problems)
    steps = [made for index, step in enumerate(written.steps) for made in _make_steps(step, index, report)]
    names = [step.id for step in written.steps]
    for index, step in enumerate(written.steps):
        if step.id in names[:index]:
            report.add(("steps", index, "id"), f"{step.id!r} a second time", "each id once")
        if len(set(step.at)) < len(step.at):
            report.add(("steps", index, "at"), "a place a second time", "each place once")
    if report.problems:
        raise TopologyError(report.problems)
    checklist = Checklist(written.checklist, written.source, tuple(steps), text)
    topology = (path.parent / written.topology).absolute() if written.topology else None
    return ChecklistFile(path.absolute(), checklist, topology)


def _make_steps(step: _RawStep, index: int, report: ProblemReport) -> Iterator[Step]:
    """The step with its time in seconds, one for each of its places; notes a time that cannot be meant.

    ``{at}`` in a word of the command is the place.
    """
    place = ("steps", index, "timeout")
    if "timeout" in step.model_fields_set and not step.run:
        report.add_key(place, "a timeout without a command", "run: [...] beside it")
    seconds = report.quantity(step.timeout, place, lambda text: parse_quantity(text, Unit.SECOND))
    if seconds is not None and not 0 < seconds <= _LONGEST:
        report.add(place, repr(step.timeout), "more than 0 s and at most 24 h")
    if not step.at:
        yield Step(step.id, step.text, step.clause, tuple(step.run), seconds or 0.0)
    for at in step.at:
        argv = tuple(word.replace("{at}", at) for word in step.run)
        yield Step(f"{step.id}{PLACE}{at}", f"{step.text} At {at}.", step.clause, argv, seconds or 0.0)


# -- running a step


def run_step(step: Step, folder: Path, by: str) -> tuple[Mark, tuple[Evidence, ...]]:
    """Run the command of a step in ``folder``: exit status 0 is a pass, and what it said is the evidence.

    A command that cannot be started leaves the step not done. Its processes are ended with it when its time is over.
    """
    began, at = time.monotonic(), time.time()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            status = _run_command(step, folder, out, err)
        except OSError as error:
            return Mark(StepState.NOT_DONE, by, at, f"{step.argv[0]} could not be started: {error.strerror}"), ()
        evidence = (*_read_stream("stdout", out), *_read_stream("stderr", err))
    took = duration(max(time.monotonic() - began, 1e-3))
    if status is None:
        return Mark(StepState.FAIL, by, at, f"ended after {took}: it may take {duration(step.seconds)}"), evidence
    how = f"exit status {status}" if status >= 0 else f"ended by signal {signal.Signals(-status).name}"
    return Mark(StepState.PASS if status == 0 else StepState.FAIL, by, at, f"{how} after {took}"), evidence


def _run_command(step: Step, folder: Path, out: BinaryIO, err: BinaryIO) -> int | None:
    """Run it to its end; the exit status, None where its time was over."""
    with subprocess.Popen(
        step.argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder, start_new_session=True
    ) as running:
        try:
            return running.wait(step.seconds)
        except subprocess.TimeoutExpired:
            # The group is ours alone, and cannot be another by now: its leader was begun here and is not waited for.
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            return None


def _read_stream(name: str, file: BinaryIO) -> Iterator[Evidence]:
    """The evidence from a stream, if anything was written to it; of a flood the beginning, and its name says so."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size > MOST_BYTES:
        name = f"{name} (the first {MOST_BYTES:,} of {size:,} bytes)"
    if size:
        yield Evidence(name, file.read(MOST_BYTES))
