"""From a number back to the output that it was read from: safe lines with the place marked."""

import re
import shlex
from collections.abc import Iterable

from benchconsole.console.text.sanitize import sanitize, sanitize_lines
from benchconsole.console.tui.queries.evidence import MarkedText, OutputText
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.judgement import Level, Verdict
from benchconsole.probes.model.measuring import Fact, Failure, Output, Reading, Result
from benchconsole.probes.model.probe_names import INVENTORY
from benchconsole.store.errors import StoreError

_NUMBER = re.compile(r"[0-9][0-9.]*(?:[eE][+-]?[0-9]+)?")
_KEY = re.compile(r"[A-Za-z_]\w*")


def find_measurement(view: RunView, ids: Iterable[str], test: str = "") -> tuple[Result, Reading] | None:
    """The first of the measurements ``ids`` that is known; those of ``test`` are looked at first."""
    wanted = list(ids)
    first = view.results.get(test)
    for result in ([first] if first else []) + list(view.results.values()):
        for measurement in result.measurements:
            if measurement.id in wanted:
                return result, measurement
    return None


def find_output_of_verdict(view: RunView, verdict: Verdict, test: str = "") -> OutputText | None:
    """The output behind a verdict; of ``test`` where the verdict speaks of several."""
    found = find_measurement(view, verdict.evidence, test or verdict.test)
    if found is not None:
        return read_output(*found)
    result = view.results.get(verdict.test)
    return read_output(result, verdict=verdict) if result else None


def find_worst_fact(view: RunView, test: str) -> Verdict | None:
    """The first verdict of an inventory that is no pass; None for any other probe."""
    verdicts = view.verdicts.get(test, ())
    return next((each for each in verdicts if each.probe == INVENTORY and each.level is not Level.PASS), None)


def read_output(
    result: Result, measurement: Reading | None = None, place: int | None = None, verdict: Verdict | None = None
) -> OutputText:
    """One output of ``result``: number ``place``, else the one that holds the value, else the last.

    Without a measurement, the fact that ``verdict`` is about is marked.
    """
    try:
        outputs = tuple(result.outputs)
    except StoreError as error:
        return OutputText("what the commands said cannot be read now", "", tuple(sanitize_lines(str(error))))
    if not outputs:
        return OutputText("no command was run", "", tuple(_failure_lines(result.failure)))
    raw = sanitize(measurement.raw.splitlines()[0]) if measurement and measurement.raw else ""
    texts = [_lines(output) for output in outputs]
    places = [_mark(lines, raw) for lines in texts]
    if measurement is None and verdict is not None and verdict.probe == INVENTORY:
        places = [_mark_fact(output, lines, verdict) for output, lines in zip(outputs, texts, strict=True)]
    if place is None:
        place = next((index for index, mark in enumerate(places) if mark is not None), len(outputs) - 1)
    lines = texts[place] + _failure_lines(result.failure)
    output = outputs[place]
    return OutputText(
        _command(output), _ending(output), tuple(lines), places[place], place, len(outputs), output.truncated
    )


def _lines(output: Output) -> list[str]:
    lines = sanitize_lines(output.text)
    if output.stderr:
        lines += ["", "standard error:", *sanitize_lines(output.error_text)]
    return lines


def _mark(lines: list[str], raw: str) -> MarkedText | None:
    """Where ``raw`` stands last, for summaries stand at the end; else the number that it names by a path of keys."""
    if not raw:
        return None
    for number in range(len(lines) - 1, -1, -1):
        column = lines[number].rfind(raw)
        if column >= 0:
            return MarkedText(number, column, len(raw))
    path, _, rest = raw.rpartition(" ")
    value = _NUMBER.search(rest)
    return _below_keys(lines, _KEY.findall(path), value.group()) if value and path else None


def _mark_fact(output: Output, lines: list[str], verdict: Verdict) -> MarkedText | None:
    """The line that told the fact of a verdict; of a source that is read as a whole its heading."""
    from benchconsole.probes.tools.inventory.fact_lines import find_line  # a screen without it needs no reader of facts

    line = find_line(output, lambda fact: _is_shown(fact, verdict))
    if line is None:
        return None
    text = lines[line.number]
    return MarkedText(line.number, len(text) - len(text.lstrip()), len(text.strip()), line.is_heading)


def _is_shown(fact: Fact, verdict: Verdict) -> bool:
    """Whether a fact is the first that a verdict shows, which may show some of several."""
    from benchconsole.probes.judging.yardsticks.hardware import format_hardware  # nor what judges

    if fact.fact != verdict.metric or not set(verdict.labels) <= set(fact.labels):
        return False
    shown = {format_hardware(fact.fact, fact.value), format_hardware(fact.fact, fact.value, fact.unit)}
    return any(verdict.text == text or verdict.text.startswith(f"{text}, ") for text in shown)


def _below_keys(lines: list[str], keys: list[str], value: str) -> MarkedText | None:
    """The first ``value`` after the lines that hold ``keys`` in their order."""
    at = 0
    for key in keys:
        at = next((number for number in range(at, len(lines)) if f'"{key}"' in lines[number]), at)
    for text in (value, value.partition(".")[0]):
        for number in range(at, len(lines)):
            column = lines[number].find(text) if len(text) > 2 or number == at else -1
            if column >= 0:
                found = _NUMBER.match(lines[number], column)
                return MarkedText(number, column, len(found.group()) if found else len(text))
    return None


def _command(output: Output) -> str:
    where = f"{sanitize(output.node)}  " if output.node else ""
    return where + sanitize(shlex.join(output.argv))


def _ending(output: Output) -> str:
    end = f"signal {sanitize(output.signal)}" if output.signal else "no exit status"
    if output.exit_status is not None:
        end = f"exit {output.exit_status}"
    return f"{end}, {output.seconds:.1f} s" + (", cut" if output.truncated else "")


def _failure_lines(failure: Failure | None) -> list[str]:
    if failure is None:
        return []
    return ["", f"the test failed on {sanitize(failure.node)}: {failure.stage}", *sanitize_lines(failure.detail)]
