"""The reading of a probe's outputs: its parser's answer, held against what the probe declares.

An item that is undeclared, in another unit, not finite, of the wrong kind, or too long to be a reading is an error:
nothing that a probe made up may reach a verdict, the store or a screen.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice

from benchconsole.probes.api import Probe
from benchconsole.probes.model.errors import ProbeOutputError, ToolError
from benchconsole.probes.model.labels import add_labels
from benchconsole.probes.model.measuring import Fact, FailedAt, Failure, Metric, Output, Reading, Target
from benchconsole.probes.plugins.probe_call import ProbeCodeError, format_error
from benchconsole.probes.plugins.probe_validation import is_number
from benchconsole.probes.readers.reasons import find_reason
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import Unit

LONGEST_TEXT = 64 * 1024
"""Characters of one text of a reading or fact."""

MOST_ITEMS = 100_000
"""Readings and facts of one output; a parser that yields more will never end."""

ReadingsAndFacts = tuple[tuple[Reading, ...], tuple[Fact, ...]]


def read_output(probe: Probe, output: Output, target: Target | None = None) -> ReadingsAndFacts:
    """Parse one output with ``probe``; each reading also carries the labels of ``target``, where there is one.

    Raises ProbeOutputError when the tool failed (whatever it printed), when the output gives nothing, when a
    reading is undeclared, in another unit, or not finite, and when a label contradicts the target's. Whatever else
    the parser raises is passed on.
    """
    if output.truncated:
        raise ProbeOutputError("output that was cut", "the whole output")
    if output.signal or output.exit_status not in probe.exits:
        raise _explain_tool_failure(probe, output)
    declared = {metric.name: metric for metric in probe.metrics}
    readings: list[Reading] = []
    facts: list[Fact] = []
    for number, item in enumerate(probe.parse(output)):
        if number == MOST_ITEMS:
            raise ProbeOutputError(f"more than {MOST_ITEMS:,} readings", "as many as one output can hold")
        _check(item, declared, probe.name)
        if isinstance(item, Fact):
            facts.append(item)
        else:
            readings.append(item if target is None else add_labels(item, target, probe.conditions(item, target)))
    return tuple(readings), tuple(facts)


def find_stage(error: ProbeOutputError, outputs: Iterable[Output]) -> FailedAt:
    """Whether a tool failed, by its own words or its exit status, or left what its probe cannot read."""
    has_failed = isinstance(error, ToolError) or any(output.exit_status != 0 for output in outputs)
    return FailedAt.TOOL if has_failed else FailedAt.OUTPUT


def read_outputs(probe: Probe, outputs: Sequence[Output], target: Target) -> ReadingsAndFacts:
    """The readings and facts of several outputs, in order; ProbeOutputError, or ProbeCodeError for anything else.

    Runs the parser on the loop, without waiting: whatever it raises is its own, even CancelledError.
    """
    try:
        found = [read_output(probe, output, target) for output in outputs]
    except ProbeOutputError:
        raise
    except BaseException as error:
        raise ProbeCodeError(format_error(error)) from None
    readings = tuple(reading for readings, _ in found for reading in readings)
    return readings, tuple(fact for _, facts in found for fact in facts)


def _explain_tool_failure(probe: Probe, output: Output) -> ProbeOutputError:
    """Why a tool failed: in its parser's words where that knows them, else by its exit status and own words."""
    with suppress(Exception):  # a parser need not understand what a tool that failed has left
        try:
            list(islice(probe.parse(output), MOST_ITEMS))
        except ProbeOutputError as error:
            return error
    line = find_reason(output) or "no message"
    how = f"signal {output.signal}" if output.signal else f"exit status {output.exit_status}"
    return ProbeOutputError(f"{how}: {line}", "a tool that ends with exit status 0")


def _check(item: object, declared: Mapping[str, Metric], probe: str) -> None:
    if isinstance(item, Reading):
        metric = declared.get(item.metric) if isinstance(item.metric, str) else None
        if metric is None or metric.unit is not item.unit:
            found = f"{str(item.metric)[:80]} in {str(item.unit)[:20]}"
            raise ProbeOutputError(found, f"a metric that {probe} declares, in its unit")
        if not is_number(item.value):
            raise ProbeOutputError(f"{item.metric} = {str(item.value)[:80]}", "a finite number")
        _check_text(item.raw, item.metric)
    elif isinstance(item, Fact):
        _check_text(item.fact, "the name of a fact")
        if isinstance(item.value, str):
            _check_text(item.value, item.fact[:80])
        elif not is_number(item.value):
            raise ProbeOutputError(f"{item.fact[:80]} = {str(item.value)[:80]}", "a text or a finite number")
        if item.unit is not None and not isinstance(item.unit, Unit):
            raise ProbeOutputError(f"{item.fact[:80]} in {str(item.unit)[:20]}", "a Unit or None")
    else:
        raise ProbeOutputError(f"{type(item).__name__} among the readings", "Reading or Fact")
    _check_labels(item.labels)


def _check_labels(labels: object) -> None:
    try:
        _check_pairs(labels)
    except TypeError:  # what cannot be a key of the cache is checked all the same
        _check_pairs.__wrapped__(labels)


@lru_cache(maxsize=512)
def _check_pairs(labels: object) -> None:
    """Refuse what are no labels; most readings have those of another one, which were found good."""
    if not isinstance(labels, tuple) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in labels):
        raise ProbeOutputError(f"labels of type {type(labels).__name__}", "pairs of texts, as labels() makes them")
    for name, value in labels:
        _check_text(name, "a label")
        _check_text(value, "a label")


def _check_text(text: object, of: str) -> None:
    if type(text) is str and len(text) <= LONGEST_TEXT and text.isascii():
        return
    if not isinstance(text, str):
        raise ProbeOutputError(f"{of}: {type(text).__name__}", "text")
    if len(text) > LONGEST_TEXT:
        raise ProbeOutputError(f"{of}: a text of {len(text):,} characters", f"at most {LONGEST_TEXT:,}")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise ProbeOutputError(f"{of}: a text with half characters", "text that can be written down")


def find_missing_tool(probe: Probe, output: Output) -> Failure | None:
    """The failure of a tool that is not there (127 by POSIX: the shell found no such command)."""
    if output.exit_status != 127:
        return None
    name = output.argv[0] if output.argv else probe.name
    failure = Failure(FailedAt.MISSING_TOOL, f"{name} is not installed", NodeId(output.node))
    return name_missing_tool(probe, failure)


def name_missing_tool(probe: Probe, failure: Failure) -> Failure:
    """``failure`` of a missing tool in the same words, whichever end of the connection noticed it."""
    if failure.stage is not FailedAt.MISSING_TOOL or not probe.tools:
        return failure
    tool = next((tool for tool in probe.tools if tool in failure.detail), next(iter(probe.tools)))
    package = probe.tools[tool]
    return replace(failure, detail=f"{tool} is not installed" + (f" (Debian package {package})" if package else ""))
