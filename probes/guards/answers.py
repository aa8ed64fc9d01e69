"""Owns the reading of what a probe brought: its parser's answer, held against what the probe declares.

Refuses whatever is undeclared, in another unit, not finite, of the wrong kind, or too long to be a reading:
nothing that a probe made up may reach a verdict, the store or a screen.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from probes.api import Probe
from probes.errors import ProbeOutputError
from probes.guards.foreign import ForeignError, words
from probes.model import Fact, FailedAt, Failure, Metric, Output, Reading
from topology.model import NodeId
from topology.units import Unit

MOST_TEXT = 64 * 1024
"""Characters of one text of a reading or fact."""

MOST_ITEMS = 100_000
"""Readings and facts of one output; a parser that yields more will never end."""

Found = tuple[tuple[Reading, ...], tuple[Fact, ...]]


def read(probe: Probe, output: Output) -> Found:
    """What ``probe`` reads from one output, held against what it declares.

    Raises ProbeOutputError when the tool failed (whatever it printed), when the output gives
    nothing, and when a reading is undeclared, in another unit, or not finite; whatever else the parser
    raises comes through.
    """
    if output.truncated:
        raise ProbeOutputError("output that was cut", "the whole output")
    if output.signal or output.exit_status not in probe.exits:
        raise _failed(probe, output)
    found = list(islice(probe.parse(output), MOST_ITEMS + 1))
    if len(found) > MOST_ITEMS:
        raise ProbeOutputError(f"more than {MOST_ITEMS:,} readings", "as many as one output can hold")
    declared = {metric.name: metric for metric in probe.metrics}
    for item in found:
        _refuse(item, declared, probe.name)
    readings = tuple(item for item in found if isinstance(item, Reading))
    return readings, tuple(item for item in found if isinstance(item, Fact))


def _failed(probe: Probe, output: Output) -> ProbeOutputError:
    """Why a tool failed: in its parser's words where that knows them, else by its exit status and first line."""
    with suppress(Exception):  # a parser need not understand what a tool that failed has left
        try:
            list(islice(probe.parse(output), MOST_ITEMS))
        except ProbeOutputError as error:
            return error
    said = _first_line(output.error_text) or _first_line(output.text) or "no message"
    how = f"signal {output.signal}" if output.signal else f"exit status {output.exit_status}"
    return ProbeOutputError(f"{how}: {said}", "a tool that ends with exit status 0")


def read_all(probe: Probe, outputs: Sequence[Output]) -> Found:
    """The readings and facts of several outputs, in order; ProbeOutputError, or ForeignError for anything else.

    Runs the parser on the loop, without waiting: whatever it raises is its own, even CancelledError.
    """
    readings: list[Reading] = []
    facts: list[Fact] = []
    for output in outputs:
        try:
            more, told = read(probe, output)
        except ProbeOutputError:
            raise
        except BaseException as error:
            raise ForeignError(words(error)) from None
        readings += more
        facts += told
    return tuple(readings), tuple(facts)


def _first_line(text: str) -> str:
    return next((line.strip()[:300] for line in text.splitlines() if line.strip()), "")


def _refuse(item: object, declared: dict[str, Metric], probe: str) -> None:
    if isinstance(item, Reading):
        metric = declared.get(item.metric) if isinstance(item.metric, str) else None
        if metric is None or metric.unit is not item.unit:
            found = f"{str(item.metric)[:80]} in {str(item.unit)[:20]}"
            raise ProbeOutputError(found, f"a metric that {probe} declares, in its unit")
        if not _number(item.value):
            raise ProbeOutputError(f"{item.metric} = {str(item.value)[:80]}", "a finite number")
        _refuse_text(item.raw, item.metric)
    elif isinstance(item, Fact):
        _refuse_text(item.fact, "the name of a fact")
        if isinstance(item.value, str):
            _refuse_text(item.value, item.fact[:80])
        elif not _number(item.value):
            raise ProbeOutputError(f"{item.fact[:80]} = {str(item.value)[:80]}", "a text or a finite number")
        if item.unit is not None and not isinstance(item.unit, Unit):
            raise ProbeOutputError(f"{item.fact[:80]} in {str(item.unit)[:20]}", "a Unit or None")
    else:
        raise ProbeOutputError(f"{type(item).__name__} among the readings", "Reading or Fact")
    _refuse_labels(item.labels)


def _refuse_labels(labels: object) -> None:
    if isinstance(labels, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in labels):
        for word in (word for pair in labels for word in pair):
            _refuse_text(word, "a label")
        return
    raise ProbeOutputError(f"labels of type {type(labels).__name__}", "pairs of texts, as labels() makes them")


def _refuse_text(text: object, of: str) -> None:
    if not isinstance(text, str):
        raise ProbeOutputError(f"{of}: {type(text).__name__}", "text")
    if len(text) > MOST_TEXT:
        raise ProbeOutputError(f"{of}: a text of {len(text):,} characters", f"at most {MOST_TEXT:,}")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise ProbeOutputError(f"{of}: a text with half characters", "text that can be written down")


def _number(value: object) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def missing(probe: Probe, output: Output) -> Failure | None:
    """The failure of a tool that is not there (127 by POSIX: the shell found no such command)."""
    if output.exit_status != 127:
        return None
    name = output.argv[0] if output.argv else probe.name
    return in_words(probe, Failure(FailedAt.MISSING_TOOL, f"{name} is not installed", NodeId(output.node)))


def in_words(probe: Probe, failure: Failure) -> Failure:
    """A missing tool said the same way, whichever end of the connection noticed it."""
    if failure.stage is not FailedAt.MISSING_TOOL or not probe.tools:
        return failure
    tool = next((tool for tool in probe.tools if tool in failure.detail), next(iter(probe.tools)))
    package = probe.tools[tool]
    return replace(failure, detail=f"{tool} is not installed" + (f" (Debian package {package})" if package else ""))
