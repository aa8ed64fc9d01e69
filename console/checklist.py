"""Owns checklists as people write them, and what running a step of one on this machine shows.

A file of steps, each with an id, a text, the clause that asks for it, and a command where a script can tell. Every
mistake is reported with its place. Refuses a shell (commands are argument lists) and to guess at what a step means.
"""

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from probes.checklist import MOST_BYTES, Checklist, Evidence, Mark, Step, StepState
from topology.description.report import Report
from topology.errors import Position, Problem, TopologyError
from topology.importers.native import Document, Location, parse, source_text
from topology.selection import near
from topology.units import Unit, duration
from topology.units import parse as quantity

SCHEMA = 1
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
_IDS = "up to 60 letters, digits, dots and dashes"
_FILE_KEYS = ("schema", "checklist", "source", "topology", "steps")
_STEP_KEYS = ("id", "clause", "text", "run", "timeout")
_TIMEOUT = 60.0
_LONGEST = 86_400.0
_TEXT = 4_000


@dataclass(frozen=True, slots=True)
class ChecklistFile:
    """What a file says: the checklist, and the topology file that it names (None: none), both paths absolute."""

    path: Path
    checklist: Checklist
    topology: Path | None


def read(path: Path) -> ChecklistFile:
    """The checklist in a file. TopologyError lists every problem with its place."""
    text = source_text(path)
    if not text.strip():
        raise TopologyError([Problem(Position(str(path), 1, 1), "an empty file", "a checklist with steps")])
    document = parse(text, str(path))
    report = Report(document, list(document.problems))
    found = _file(_Written(report, (), _FILE_KEYS), text)
    if report.problems:
        raise TopologyError(report.problems)
    checklist, topology = found
    return ChecklistFile(path.absolute(), checklist, (path.parent / topology).absolute() if topology else None)


class _Written:
    """A mapping of the file: gives its values kind by kind, and notes what is wrong with them."""

    def __init__(self, report: Report, here: Location, keys: Sequence[str]) -> None:
        self.report = report
        self.here = here
        found = _at(report.document, here)
        if not isinstance(found, dict):
            report.add(here, _kind(found), f"a mapping with {', '.join(keys)}")
        self.values: Mapping[str, object] = found if isinstance(found, dict) else {}
        for key in self.values:
            if key not in keys:
                expected = f"one of {', '.join(keys)}"
                report.add_key((*here, key), f"unknown key {key!r}", expected, near(key, keys))

    def text(self, key: str, *, needed: bool = False) -> str:
        """One piece of text; empty where it is not there."""
        value = self.values.get(key)
        if value is None and key not in self.values:
            if needed:
                self.report.add(self.here, f"no key {key!r}", f"{key}: ...")
            return ""
        if not isinstance(value, str) or not value.strip() or len(value) > _TEXT:
            self.report.add((*self.here, key), _kind(value), f"text of at most {_TEXT:,} characters; quote a number")
            return ""
        return " ".join(value.split())

    def slug(self, key: str) -> str:
        """A name that can stand on a command line."""
        word = self.text(key, needed=True)
        if word and not _SLUG.fullmatch(word):
            self.report.add((*self.here, key), repr(word), _IDS)
        return word

    def argv(self, key: str) -> tuple[str, ...]:
        """A command as a list of words; empty where it is not there."""
        if key not in self.values:
            return ()
        value = self.values[key]
        words = value if isinstance(value, list) else []
        if not words or not all(isinstance(word, str) for word in words) or not words[0]:
            expected = "a list of words such as [ssh, n1, 'true']; quote numbers"
            self.report.add((*self.here, key), _kind(value), expected)
            return ()
        return tuple(map(str, words))

    def seconds(self, key: str) -> float:
        """A time within a day."""
        if key not in self.values:
            return _TIMEOUT
        value = self.report.quantity(self.values[key], (*self.here, key), lambda text: quantity(text, Unit.SECOND))
        if value is not None and not 0 < value <= _LONGEST:
            self.report.add((*self.here, key), repr(self.values[key]), "more than 0 s and at most 24 h")
        return value or _TIMEOUT


def _file(written: _Written, text: str) -> tuple[Checklist, str]:
    if written.values.get("schema") != SCHEMA or isinstance(written.values.get("schema"), bool):
        written.report.add(("schema",), _kind(written.values.get("schema")), f"schema: {SCHEMA}")
    name, source, topology = written.slug("checklist"), written.text("source"), written.text("topology")
    listed = written.values.get("steps")
    if not isinstance(listed, list) or not listed:
        written.report.add(("steps",), _kind(listed), "a list of steps")
        listed = []
    steps = [_step(_Written(written.report, ("steps", index), _STEP_KEYS)) for index in range(len(listed))]
    _refuse_twice(written.report, steps)
    return Checklist(name, source, tuple(steps), text), topology


def _step(written: _Written) -> Step:
    argv = written.argv("run")
    if "timeout" in written.values and not argv:
        written.report.add_key((*written.here, "timeout"), "a timeout without a command", "run: [...] beside it")
    return Step(
        written.slug("id"), written.text("text", needed=True), written.text("clause"), argv, written.seconds("timeout")
    )


def _refuse_twice(report: Report, steps: Iterable[Step]) -> None:
    seen: set[str] = set()
    for index, step in enumerate(steps):
        if step.id and step.id in seen:
            report.add(("steps", index, "id"), f"{step.id!r} a second time", "each id once")
        seen.add(step.id)


def _at(document: Document, here: Location) -> object:
    found: Any = document.data
    for part in here:
        found = found[part]
    return found


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return "nothing" if value is None else repr(value)[:80]


# -- running a step


def run(step: Step, folder: Path, by: str) -> tuple[Mark, tuple[Evidence, ...]]:
    """Run the command of a step in ``folder``: exit status 0 is a pass, and what it said is the evidence.

    A command that cannot be started leaves the step not done. What it started is ended with it when its time is over.
    """
    began, at = time.monotonic(), time.time()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            status = _ended(step, folder, out, err)
        except OSError as error:
            return Mark(StepState.NOT_DONE, by, at, f"{step.argv[0]} could not be started: {error.strerror}"), ()
        evidence = tuple(
            each for name, file in (("stdout", out), ("stderr", err)) if (each := _said(name, file)) is not None
        )
    took = duration(max(time.monotonic() - began, 1e-3))
    if status is None:
        return Mark(StepState.FAIL, by, at, f"ended after {took}: it may take {duration(step.seconds)}"), evidence
    how = f"exit status {status}" if status >= 0 else f"ended by signal {signal.Signals(-status).name}"
    return Mark(StepState.PASS if status == 0 else StepState.FAIL, by, at, f"{how} after {took}"), evidence


def _ended(step: Step, folder: Path, out: BinaryIO, err: BinaryIO) -> int | None:
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


def _said(name: str, file: BinaryIO) -> Evidence | None:
    """What was written to a stream, None for nothing; of a flood the beginning, and its name says so."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size > MOST_BYTES:
        name = f"{name} (the first {MOST_BYTES:,} of {size:,} bytes)"
    return Evidence(name, file.read(MOST_BYTES)) if size else None
