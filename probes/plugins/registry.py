"""The catalogue of probes: built-ins and plugins, found through one hook, each kept from harming the others.

A plugin is loaded, registered and asked inside its own guard and in a thread of its own, because one that raises
would end a common hook call for all, and one that sleeps would end the start. A plugin that takes the name of another
probe, or was made for a later interface, is left out. Text that one prints meanwhile is kept apart from our output.
"""

import linecache
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from io import StringIO
from types import MappingProxyType
from typing import TypeVar

import pluggy

from benchconsole.probes.api import Probe
from benchconsole.probes.model.errors import ProbeError
from benchconsole.probes.plugins.probe_call import format_error
from benchconsole.probes.plugins.probe_validation import check_declaration

GROUP = "benchconsole.probes"
"""The entry-point group that plugins are found under."""

API = 1
"""The version of ``probes.api``. A plugin module may say ``BENCHCONSOLE_API = 2`` to be refused by older versions."""

PATIENCE = 10.0
"""Seconds that a plugin may take to be imported and to name its probes."""

OWN = "benchconsole"


class Hooks:
    """The hooks that a plugin may implement. See ``docs/howto/write-a-probe.md``."""

    @staticmethod
    @pluggy.HookspecMarker(OWN)
    def bench_probes() -> Sequence[Probe]:  # type: ignore[empty-body]
        """Return the probes that this plugin brings."""


_BUILTIN = "benchconsole.probes.tools"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class BrokenPlugin:
    """A plugin, or one probe of it, that was left out, and why in one line."""

    name: str
    distribution: str
    reason: str


@dataclass(frozen=True, slots=True)
class PrintedText:
    """Text that a plugin printed while it was loaded."""

    name: str
    distribution: str
    text: str


@dataclass(frozen=True, slots=True)
class ProbeCatalogue:
    """The probes that can be used, by name; ``origin`` gives the distribution that brought each."""

    probes: Mapping[str, Probe]
    broken: tuple[BrokenPlugin, ...]
    origin: Mapping[str, str]
    printed: tuple[PrintedText, ...] = ()


def load_probes(*, safe_mode: bool = False, patience: float = PATIENCE) -> ProbeCatalogue:
    """Import every plugin and collect its probes; with ``safe_mode`` only the built-in ones.

    Raises nothing for a broken plugin: it is in ``broken`` and costs its own probes only.
    """
    from benchconsole.probes import tools

    probes: dict[str, Probe] = {}
    origin: dict[str, str] = {}
    broken: list[BrokenPlugin] = []
    printed: list[PrintedText] = []
    known: list[object] = []

    def add(name: str, distribution: str, answers: Sequence[_Answer]) -> None:
        for probe, fault in answers:
            why = fault
            if isinstance(probe, Probe) and not fault:
                if probe.name not in probes:
                    probes[probe.name], origin[probe.name] = probe, distribution
                    continue
                why = f"name {probe.name} is taken by {origin[probe.name]}"
            kind = probe if isinstance(probe, type) else type(probe)
            broken.append(BrokenPlugin(name, distribution, f"probe {kind.__name__}: {why}"))

    add(OWN, OWN, _ask_for_probes(tools))
    for entry in () if safe_mode else _list_entries():
        distribution = _name_distribution(entry)
        with redirect_stdout(StringIO()) as said:  # a program may read our output
            try:
                plugin = _run_within(patience, "import", entry.load)
                if any(plugin is each for each in known):  # one module under two names is asked once
                    raise _BrokenError("registration: already registered under another name")
                known.append(plugin)
                add(entry.name, distribution, _run_within(patience, "registration", partial(_ask_for_probes, plugin)))
            except _BrokenError as error:
                broken.append(BrokenPlugin(entry.name, distribution, str(error)))
        if text := said.getvalue().strip():
            printed.append(PrintedText(entry.name, distribution, text))
    return ProbeCatalogue(MappingProxyType(probes), tuple(broken), MappingProxyType(origin), tuple(printed))


def _list_entries() -> Sequence[EntryPoint]:
    """The plugins' entry points in a fixed order, without our own, which would only name the built-ins again."""
    entries = (entry for entry in entry_points(group=GROUP) if entry.value != _BUILTIN)
    return sorted(entries, key=lambda entry: (_name_distribution(entry), entry.name, entry.value))


def _name_distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else "unknown"


class _BrokenError(Exception):
    """Why a plugin is left out, in one line that begins with the step that failed."""


_Answer = tuple[object, str]
"""A probe, or something else in its place, and its fault; empty when there is none."""


def _run_within(seconds: float, step: str, function: Callable[[], _T]) -> _T:
    """The result of ``function``, called in a thread that is left behind when it does not return in time."""
    results: list[_T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, name=f"plugin {step}", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise _BrokenError(f"{step}: {explain_old_import(errors[0]) or format_error(errors[0])}")
    if not results:
        raise _BrokenError(f"{step}: no end after {seconds:g} s")
    return results[0]


def _ask_for_probes(plugin: object) -> list[_Answer]:
    wanted = getattr(plugin, "BENCHCONSOLE_API", API)
    if not isinstance(wanted, int) or wanted > API:
        raise ProbeError(f"made for version {str(wanted)[:20]} of the interface, expected at most {API}")
    manager = pluggy.PluginManager(OWN)
    manager.add_hookspecs(Hooks)
    manager.register(plugin)
    manager.check_pending()
    answers = manager.hook.bench_probes()
    if not answers:
        raise ProbeError("no function marked as the hook bench_probes")
    return [(probe, _find_fault(probe)) for answer in answers for probe in answer]


def _find_fault(probe: object) -> str:
    try:
        if not isinstance(probe, Probe):
            kind = "a class" if isinstance(probe, type) else type(probe).__name__
            raise ProbeError(f"found {kind}, expected an instance of Probe")
        check_declaration(probe)
    except BaseException as error:
        return format_error(error)
    return ""


_OLD_ROOTS = ("console", "probes", "store", "topology")
_IMPORT = re.compile(r"\s*(?:from|import)\s+([\w.]+)")


def explain_old_import(error: BaseException) -> str:
    """The old and the new name of the module whose import raised ``error``; empty where it has another cause."""
    if not isinstance(error, ImportError):
        return ""
    name = _read_import_line(error) or error.name or ""
    parts = name.removeprefix("benchconsole.").split(".")
    is_renamed = parts[:2] == ["probes", "builtin"]
    if parts[0] not in _OLD_ROOTS or (name.startswith("benchconsole.") and not is_renamed):
        return ""
    if is_renamed:
        parts[1] = "tools"
    new = ".".join(("benchconsole", *parts))
    with suppress(ModuleNotFoundError):
        if find_spec(new) is not None:
            return f"imports {name}, which is {new} since benchconsole is one package"
    return f"imports {name}, which is no longer there; plugins import benchconsole.probes.api"


def _read_import_line(error: ImportError) -> str:
    """The module that the last line of the plugin's own code imports: an error names its first missing part only."""
    name = ""
    trace = error.__traceback__
    while trace is not None:
        line = linecache.getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        match = _IMPORT.match(line)
        name = match[1] if match else name
        trace = trace.tb_next
    return name
