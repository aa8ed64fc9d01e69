"""The evidence shown beside a trouble: the commands of a test, how they ended, what they printed.

Output is cut to its beginning and its end before it is decoded, so that a tool that flooded
costs no memory; every cut is counted. Lines are sanitized.
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from benchconsole.console.reports.content import sort_findings
from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import sanitize, sanitize_lines, shorten_text
from benchconsole.console.view.result_rows import format_failure
from benchconsole.console.view.run_view import RunView, superseding
from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.measuring import Failure, Result
from benchconsole.topology.units import duration

FIRST, LAST = 8, 24
BRIEF = 4, 6
"""First and last lines of a command that ended well: its number is named, the rest is context."""
LINE = 200
HEAD_BYTES, TAIL_BYTES = 4_096, 16_384
READ = 8
CASES = 60
"""Cases listed in an appendix; the rest is counted and left to the JSON report."""


@dataclass(frozen=True, slots=True)
class CommandExcerpt:
    """One command as it was given, with an excerpt of what it left behind."""

    node: str
    argv: tuple[str, ...]
    exit_status: int | None
    signal: str
    seconds: float
    truncated: bool
    stdout: tuple[str, ...]
    stderr: tuple[str, ...]

    @property
    def line(self) -> str:
        """The command as it could be typed, made plain."""
        return shorten_text(shlex.join(self.argv), 320)

    @property
    def ending(self) -> str:
        """How it ended, in words."""
        if self.signal:
            end = f"ended by signal {sanitize(self.signal)}"
        else:
            end = "no exit status" if self.exit_status is None else f"exit status {self.exit_status}"
        took = f" after {duration(self.seconds)}" if self.seconds > 0 else ""
        return f"{end}{took}{', output cut by us' if self.truncated else ''}"


def list_commands(result: Result) -> tuple[CommandExcerpt, ...]:
    """The commands of a test, in the order they were given."""
    return tuple(
        CommandExcerpt(
            node=output.node or result.test.target.node.id,
            argv=output.argv,
            exit_status=output.exit_status,
            signal=output.signal or "",
            seconds=output.seconds,
            truncated=output.truncated,
            stdout=excerpt_lines(
                output.stdout, BRIEF if output.exit_status == 0 and not result.failure else (FIRST, LAST)
            ),
            stderr=excerpt_lines(output.stderr),
        )
        for output in result.outputs
    )


def excerpt_lines(raw: bytes, keep: tuple[int, int] = (FIRST, LAST)) -> tuple[str, ...]:
    """The first and last lines of an output; what lies between is counted."""
    first, last = keep
    middle = max(len(raw) - HEAD_BYTES - TAIL_BYTES, 0)
    if not middle:
        lines = sanitize_lines(raw.decode("utf-8", "replace").rstrip("\n")) if raw.strip() else []
        cut = len(lines) - first - last
        if cut <= 0:
            return tuple(_cut_line(line) for line in lines)
        return (*map(_cut_line, lines[:first]), f"… {cut:,} lines cut …", *map(_cut_line, lines[-last:]))
    head = sanitize_lines(raw[:HEAD_BYTES].decode("utf-8", "replace"))[:first]
    tail = sanitize_lines(raw[-TAIL_BYTES:].decode("utf-8", "replace").rstrip("\n"))[-last:]
    return (*map(_cut_line, head), f"… cut, {len(raw):,} bytes in all …", *map(_cut_line, tail))


def _cut_line(line: str) -> str:
    return line if len(line) <= LINE else f"{line[:LINE]} … (cut, {len(line):,} characters)"


@dataclass(frozen=True, slots=True)
class EvidenceCase:
    """One trouble with the commands of one test that shows it; ``alike`` are the nodes with the same."""

    subject: str
    probe: str
    reason: str
    alike: str
    tests: int
    commands: tuple[CommandExcerpt, ...]
    read_from: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Appendix:
    """The cases worth printing, and how many were left out."""

    cases: tuple[EvidenceCase, ...]
    left_out: int


def make_appendix(view: RunView, most: int = CASES) -> Appendix:
    """Tests without a number, one for each reason, then tests below their threshold."""
    cases = [*_list_failures(view), *_list_below(view)]
    return Appendix(tuple(cases[:most]), max(len(cases) - most, 0))


def _list_failures(view: RunView) -> Iterator[EvidenceCase]:
    by_reason: dict[str, list[tuple[Result, Failure]]] = {}
    for result in superseding(view).values():
        # Where no command was sent there is no output to look at; "not judged" names those nodes.
        if result.failure is not None and result.outputs:
            by_reason.setdefault(format_failure(result.failure), []).append((result, result.failure))
    for reason, alike in by_reason.items():
        shown = max((result for result, _ in alike), key=lambda result: len(result.outputs))
        yield EvidenceCase(
            subject=sanitize(shown.test.target.key),
            probe=sanitize(shown.test.probe),
            reason=shorten_text(reason),
            alike=fold_names(failure.node for _, failure in alike),
            tests=len(alike),
            commands=list_commands(shown),
            read_from=(),
        )


def _list_below(view: RunView) -> Iterator[EvidenceCase]:
    """Tests with a failing verdict, those that findings rest on first."""
    newest = superseding(view)
    named = [test for finding in sort_findings(view.findings) if finding.level is Level.FAIL for test in finding.tests]
    for test in dict.fromkeys([*named, *view.verdicts]):
        result = newest.get(test)
        failing = [verdict for verdict in view.verdicts.get(test, ()) if verdict.level is Level.FAIL]
        if result is None or result.failure is not None or not failing:
            continue
        evidence = {item for verdict in failing for item in verdict.evidence}
        sent = list_commands(result)
        printed = "\n".join(line for command in sent for line in command.stdout)
        read = [shorten_text(m.raw, LINE) for m in result.measurements if m.id in evidence and m.raw]
        yield EvidenceCase(
            subject=sanitize(result.test.target.key),
            probe=sanitize(result.test.probe),
            reason=shorten_text("; ".join(dict.fromkeys(verdict.because for verdict in failing))),
            alike=fold_names(node.id for node in result.test.target.nodes),
            tests=1,
            commands=sent,
            read_from=tuple(line for line in read if line not in printed)[:READ],
        )
