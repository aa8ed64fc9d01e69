"""Owns the finding of probes: built-ins and plugins through one hook, each kept from harming the others.

A plugin is loaded, registered and asked inside its own guard, because one that raises would
end a common hook call for all. Refuses to run a probe, and to let a plugin stand in for another.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType

import pluggy

from probes import hookspecs
from probes.api import Probe
from probes.declaration import refuse_malformed
from probes.errors import ProbeError

GROUP = "benchconsole.probes"
"""The entry-point group that plugins are found under."""

OWN = "benchconsole"
_BUILTIN = "probes.builtin"
_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class BrokenPlugin:
    """A plugin, or one probe of it, that was left out, and why in one line."""

    name: str
    distribution: str
    reason: str


@dataclass(frozen=True, slots=True)
class Installed:
    """A plugin as its metadata names it; nothing of it has been imported."""

    name: str
    distribution: str
    version: str
    module: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The probes that can be used, by name; ``origin`` tells which distribution brought each."""

    probes: Mapping[str, Probe]
    broken: tuple[BrokenPlugin, ...]
    origin: Mapping[str, str]


def installed() -> tuple[Installed, ...]:
    """The plugins that are installed, sorted, without importing any."""
    return tuple(
        Installed(entry.name, _distribution(entry), entry.dist.version if entry.dist else _UNKNOWN, entry.value)
        for entry in _entries()
    )


def load(*, safe_mode: bool = False) -> Catalogue:
    """Import every plugin and collect its probes; with ``safe_mode`` only the built-in ones.

    Raises nothing for a broken plugin: it is in ``broken`` and costs its own probes only.
    """
    shelf = _Shelf()
    import probes.builtin

    shelf.add(OWN, OWN, probes.builtin)
    for entry in () if safe_mode else _entries():
        try:
            plugin = entry.load()
        except (Exception, SystemExit) as error:
            shelf.refuse(entry.name, _distribution(entry), "import", error)
        else:
            shelf.add(entry.name, _distribution(entry), plugin)
    return Catalogue(MappingProxyType(shelf.probes), tuple(shelf.broken), MappingProxyType(shelf.origin))


def _entries() -> Sequence[EntryPoint]:
    """The plugins' entry points in a fixed order; our own would only name the built-ins again."""
    found = (entry for entry in entry_points(group=GROUP) if entry.value != _BUILTIN)
    return sorted(found, key=lambda entry: (_distribution(entry), entry.name, entry.value))


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else _UNKNOWN


class _Shelf:
    """What has been collected so far."""

    def __init__(self) -> None:
        self.probes: dict[str, Probe] = {}
        self.origin: dict[str, str] = {}
        self.broken: list[BrokenPlugin] = []
        self._manager = pluggy.PluginManager(hookspecs.PROJECT)
        self._manager.add_hookspecs(hookspecs)

    def add(self, name: str, distribution: str, plugin: object) -> None:
        """Register ``plugin``, ask it alone, and keep what is well formed of its answer."""
        try:
            brought = list(self._ask(plugin))
        except (Exception, SystemExit) as error:
            self.refuse(name, distribution, "registration", error)
            return
        for probe in brought:
            try:
                self._keep(probe, distribution)
            except (Exception, SystemExit) as error:
                kind = probe if isinstance(probe, type) else type(probe)
                self.refuse(name, distribution, f"probe {kind.__name__}", error)

    def refuse(self, name: str, distribution: str, during: str, error: BaseException) -> None:
        """Record that a plugin, or a part of it, was left out."""
        self.broken.append(BrokenPlugin(name, distribution, f"{during}: {_words(error)}"))

    def _ask(self, plugin: object) -> Iterator[object]:
        others = list(self._manager.get_plugins())
        self._manager.register(plugin)
        try:
            self._manager.check_pending()
            answers = self._manager.subset_hook_caller("bench_probes", others)()
        except BaseException:
            self._manager.unregister(plugin)
            raise
        if not answers:
            raise ProbeError("no function marked as the hook bench_probes")
        for answer in answers:
            yield from answer

    def _keep(self, probe: object, distribution: str) -> None:
        if not isinstance(probe, Probe):
            what = "a class" if isinstance(probe, type) else type(probe).__name__
            raise ProbeError(f"found {what}, expected an instance of Probe")
        refuse_malformed(probe)
        if probe.name in self.probes:
            raise ProbeError(f"name {probe.name} is taken by {self.origin[probe.name]}")
        self.probes[probe.name] = probe
        self.origin[probe.name] = distribution


def _words(error: BaseException) -> str:
    """One line about ``error``; an exception of a plugin may even fail to say what it is."""
    try:
        said = " ".join(str(error).split())[:300]
    except Exception:
        said = "an error that cannot be printed"
    return said if isinstance(error, ProbeError) else f"{type(error).__name__}: {said}".rstrip(": ")
