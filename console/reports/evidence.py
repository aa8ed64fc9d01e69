"""The evidence shown beside a trouble: the commands of a test, how they ended, what they printed.

Output is cut before it is decoded, so that a tool that flooded costs no memory; every cut is counted. All is sanitized.
"""

import shlex
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from benchconsole.console.reports.content import sort_findings
from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import sanitize, sanitize_lines, shorten_text
from benchconsole.console.view.result_rows import format_failure
from benchconsole.console.view.run_view import RunView, superseding
from benchconsole.probes.model.judgement import Level, Verdict
from benchconsole.probes.model.measuring import Failure, Output, Result
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.units import duration

LONG = 8, 24
"""First and last lines of a command."""
BRIEF = 4, 6
"""The same of one that ended well: its number is named, the rest is context."""
LINE = 200
HEAD_BYTES, TAIL_BYTES = 4_096, 16_384
READ = 8


class CommandExcerpt(NamedTuple):
    """One command with an excerpt of what it printed."""

    node: str
    output: Output
    stdout: tuple[str, ...]
    stderr: tuple[str, ...]

    @property
    def line(self) -> str:
        """The command as it could be typed, made plain."""
        return shorten_text(shlex.join(self.output.argv), 320)

    @property
    def ending(self) -> str:
        output = self.output
        if output.signal:
            end = f"ended by signal {sanitize(output.signal)}"
        else:
            end = "no exit status" if output.exit_status is None else f"exit status {output.exit_status}"
        took = f" after {duration(output.seconds)}" if output.seconds > 0 else ""
        return f"{end}{took}{', output cut by us' if output.truncated else ''}"


def list_commands(result: Result) -> tuple[CommandExcerpt, ...]:
    """The commands of a test, in the order they were given."""
    return tuple(
        CommandExcerpt(
            output.node or result.test.target.node.id,
            output,
            _excerpt_lines(output.stdout, BRIEF if output.exit_status == 0 and not result.failure else LONG),
            _excerpt_lines(output.stderr, LONG),
        )
        for output in result.outputs
    )


def _excerpt_lines(raw: bytes, keep: tuple[int, int]) -> tuple[str, ...]:
    """The first and last lines of an output; what lies between is counted."""
    first, last = keep
    if len(raw) <= HEAD_BYTES + TAIL_BYTES:
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


class EvidenceCase(NamedTuple):
    """One trouble with the commands of one test that shows it; ``alike`` are the nodes with the same."""

    subject: str
    probe: str
    reason: str
    alike: str
    tests: int
    commands: tuple[CommandExcerpt, ...]
    read_from: tuple[str, ...]


def list_cases(view: RunView, most: int) -> tuple[list[EvidenceCase], int]:
    """Tests without a number, one for each reason, then tests below their threshold; and how many are beyond ``most``.

    The outputs of those that are not listed stay in the file.
    """
    cases = [*_list_failures(view), *_list_below(view)]
    return [make() for make in cases[:most]], max(len(cases) - most, 0)


def _list_failures(view: RunView) -> Iterator[Callable[[], EvidenceCase]]:
    # Where no command was sent there is no output to look at; "not judged" names those nodes.
    by_reason = group_by_key(
        (format_failure(result.failure), (result, result.failure))
        for result in superseding(view).values()
        if result.failure is not None and result.outputs
    )
    for reason, alike in by_reason.items():
        yield partial(_show_failure, reason, alike)


def _show_failure(reason: str, alike: Sequence[tuple[Result, Failure]]) -> EvidenceCase:
    shown = max((result for result, _ in alike), key=lambda result: len(result.outputs))
    return EvidenceCase(
        subject=sanitize(shown.test.target.key),
        probe=sanitize(shown.test.probe),
        reason=shorten_text(reason),
        alike=fold_names(failure.node for _, failure in alike),
        tests=len(alike),
        commands=list_commands(shown),
        read_from=(),
    )


def _list_below(view: RunView) -> Iterator[Callable[[], EvidenceCase]]:
    """Tests with a failing verdict, those that findings rest on first."""
    newest = superseding(view)
    named = [test for finding in sort_findings(view.findings) if finding.level is Level.FAIL for test in finding.tests]
    for test in dict.fromkeys([*named, *view.verdicts]):
        failing = [verdict for verdict in view.verdicts.get(test, ()) if verdict.level is Level.FAIL]
        if failing and (result := newest.get(test)) is not None and result.failure is None:
            yield partial(_show_below, result, failing)


def _show_below(result: Result, failing: Sequence[Verdict]) -> EvidenceCase:
    evidence = {item for verdict in failing for item in verdict.evidence}
    sent = list_commands(result)
    printed = "\n".join(line for command in sent for line in command.stdout)
    read = [shorten_text(m.raw, LINE) for m in result.measurements if m.id in evidence and m.raw]
    return EvidenceCase(
        subject=sanitize(result.test.target.key),
        probe=sanitize(result.test.probe),
        reason=sanitize("; ".join(dict.fromkeys(verdict.because for verdict in failing))),
        alike=fold_names(node.id for node in result.test.target.nodes),
        tests=1,
        commands=sent,
        read_from=tuple(line for line in read if line not in printed)[:READ],
    )
