"""Reader of IOR's input scripts (``IOR START`` ... ``RUN`` ... ``IOR STOP``) as options of the probe ``ior``.

A directive holds until it is set again, over all runs of a script. One that is unset is at IOR's own default, which is
not the probe's. Directives that the probe cannot run are refused, so that no other test is run in the script's name.

Format: IOR 2.8 to 4.0, ``parse_options.c`` (DecodeDirective).
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from benchconsole.probes.api import PlanError
from benchconsole.probes.readers.numbers import format_bytes

Stage = Mapping[str, str | int | list[int]]
"""Options of one stage, those that are at IOR's default too; ``tasks`` is a list where runs differ in it alone."""

_FLAGS = {
    "fsync": "end_fsync", "intratestbarriers": "barriers", "reordertasks": "reorder", "reordertasksconstant": "reorder",
}  # fmt: skip
_COUNTS = {"numtasks": "tasks", "segmentcount": "segments", "repetitions": "repetitions", "intertestdelay": "delay"}
_SIZES = {"transfersize": "transfer", "blocksize": "block"}
_FIXED = {
    "writefile": "1", "readfile": "1",
    **dict.fromkeys(
        (
            "checkread", "checkwrite", "collective", "deadlineforstonewalling", "fsyncperwrite", "keepfile",
            "maxtimeduration", "multifile", "randomoffset", "singlexferattempt", "useexistingtestfile", "useo_direct",
            "usefileview", "usesharedfilepointer",
        ),
        "0",
    ),
}  # fmt: skip
"""Directives that the probe has no option for, with the only value that it runs with."""
_SILENT = frozenset(("keepfilewitherror", "quitonerror", "verbose"))
"""Directives that change no number."""
_SIZE = re.compile(r"([0-9]{1,15})([kmgt]?)", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def read_script(text: str, file: str) -> list[Stage]:
    """The stages of a script: runs that follow each other and differ in their tasks alone are one, with all of them.

    PlanError with file, line, found and expected for what is no script, and for what the probe cannot run.
    """
    runs = list(_read_runs(text, file))
    if not runs:
        raise PlanError(f"{file}: found no run, expected IOR START, directives, RUN and IOR STOP")
    stages: list[Stage] = []
    for options, own in groupby(runs, key=_drop_tasks):
        tasks = [int(run["tasks"]) for run in own]
        if len(set(tasks)) < len(tasks):
            raise PlanError(f"{file}: found the same run twice with tasks={tasks}, expected repetitions=2 in one run")
        stages.append({**options, "tasks": tasks if len(tasks) > 1 else tasks[0]})
    return stages


def _drop_tasks(run: Mapping[str, str | int]) -> dict[str, str | int]:
    return {name: value for name, value in run.items() if name != "tasks"}


def _read_runs(text: str, file: str) -> Iterator[dict[str, str | int]]:
    known: dict[str, str | int] = {
        "api": "POSIX", "access": "shared-file", "transfer": "256 KiB", "block": "1 MiB", "segments": 1,
        "repetitions": 1, "reorder": 0, "end_fsync": 0, "barriers": 0, "delay": 0, "tasks": 0,
    }  # fmt: skip
    inside = is_new = False
    for number, raw in enumerate(text.splitlines(), 1):
        line, place = "" if raw.lstrip().startswith("#") else raw.strip(), f"{file}:{number}"
        words = " ".join(line.upper().split())
        if words in ("IOR START", "IOR STOP"):
            if inside is (words == "IOR START"):
                raise PlanError(f"{place}: found {words}, expected IOR START first and IOR STOP last")
            if is_new and inside:
                yield dict(known)  # IOR runs what was set since the last RUN, too
            inside, is_new = words == "IOR START", False
        elif line and not inside:
            raise PlanError(f"{place}: found {line[:80]!r}, expected IOR START before it")
        elif words == "RUN":
            yield dict(known)
            is_new = False
        elif line:
            for directive in filter(None, (part.strip() for part in line.split(","))):
                known |= _read_directive(directive, place)
            is_new = True
    if inside:
        raise PlanError(f"{file}: found no IOR STOP, expected it at the end: the script may be cut")


def _read_directive(text: str, place: str) -> dict[str, str | int]:
    """The option that a directive sets; none for one that changes no number. PlanError for any other."""
    name, equals, value = (part.strip() for part in text.partition("="))
    key = name.lower()
    if not equals or not value:
        raise PlanError(f"{place}: found {text[:80]!r}, expected NAME=VALUE, RUN or IOR STOP")
    if key in _SILENT or _FIXED.get(key) == value:
        return {}
    if key in _FIXED:
        raise PlanError(f"{place}: found {name}={value}, which the probe cannot run, expected {name}={_FIXED[key]}")
    if key in _SIZES and (size := _SIZE.fullmatch(value)):
        return {_SIZES[key]: _format_size(int(size[1]) * 1024 ** _POWERS[size[2].lower()])}
    if key in _FLAGS and value in ("0", "1"):
        return {_FLAGS[key]: int(value)}
    if key in _COUNTS and value.isdecimal():
        return {_COUNTS[key]: int(value)}
    if key == "fileperproc" and value in ("0", "1"):
        return {"access": "file-per-process" if value == "1" else "shared-file"}
    if key == "api" and value.upper() in ("POSIX", "MPIIO", "HDF5"):
        return {"api": value.upper()}
    if key == "testfile" and posixpath.isabs(value):
        return {"scratch": posixpath.dirname(value)}
    raise PlanError(f"{place}: found {text[:80]!r}, expected a directive of IOR that the probe has an option for")


def _format_size(size: int) -> str:
    """``512 KiB``, as options of probes are written."""
    text = format_bytes(size)
    unit = text.lstrip("0123456789.")
    return f"{text.removesuffix(unit)} {unit}"


def format_stages(stages: Sequence[Stage]) -> list[str]:
    """The lines of a suite, one for each stage; those of a number of tasks for each point as a sweep."""
    lines = []
    for stage in stages:
        words = [f"{name}: {_format_value(value)}" for name, value in stage.items() if name != "tasks"]
        tasks = stage["tasks"]
        points = tasks if isinstance(tasks, list) else []
        words.append(f"sweep: {{tasks: [{', '.join(map(str, points))}]}}" if points else f"tasks: {tasks}")
        lines.append(f"    - {{probe: ior, {', '.join(words)}}}")
    return lines


def _format_value(value: object) -> str:
    """``value`` in YAML: a path in quotes, which any other text here does without."""
    text = str(value)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if text.startswith("/") else text
