"""Turns single cables into entries of ``links``: which cables are one LAG, and in which order.

The ports of both ends stand in the order of the cables, so that each keeps its partner.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from benchconsole.topology.copying import replace
from benchconsole.topology.errors import Position
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Bond
from benchconsole.topology.natural_order import make_natural_key
from benchconsole.topology.selection import expand_ports
from benchconsole.topology.writing.node_set_folding import fold_in_order

_DIFFERENT = "parallel cables that differ, taken as links of their own"
_ONE_LAG = "parallel cables, taken as one LAG"
_SOME_PORTS = "ports left out: the source does not have all of them"
_STANDBY = "standby in the source beside several active legs, which our file cannot say"
_SECOND = "active in the source beside another active leg, which our file cannot say: it stands by here"
_ALONE = "standby in the source, without the active leg of its bond"


@dataclass(frozen=True, slots=True)
class SourceCable:
    """One cable as a source has it. ``speed`` is text for our file; ``fields`` are further keys of its entry, ``note``
    what was inferred for it.

    ``joined``: the source says that it is part of a LAG. ``standby``: a leg of a bond that
    carries nothing while the active one is up.
    """

    a: str
    b: str
    where: Position
    port_a: str | None = None
    port_b: str | None = None
    speed: str | None = None
    lag: str | None = None
    joined: bool = False
    standby: bool = False
    fields: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    note: str = ""

    def swapped(self) -> "SourceCable":
        return replace(self, a=self.b, b=self.a, port_a=self.port_b, port_b=self.port_a)


@dataclass(frozen=True, slots=True)
class LinkEntry:
    """An item of ``links``, the place of its first cable, and what was taken for granted."""

    data: dict[str, object]
    where: Position
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Bundle:
    """Cables of one pair of devices that are alike, and the name and the note of their entry."""

    cables: Sequence[SourceCable]
    lag: str | None
    note: str

    def ends(self, *, lower: bool) -> list[str | None]:
        return [cable.port_a if lower else cable.port_b for cable in self.cables]

    def entry(self, speed: str | None) -> LinkEntry:
        first = self.cables[0]
        data: dict[str, object] = {
            "from": _format_end(first.a, self.ends(lower=True)),
            "to": _format_end(first.b, self.ends(lower=False)),
            "speed": first.speed if first.speed is not None else speed,
        }
        if len(self.cables) > 1:
            data["count"] = len(self.cables)
        if self.lag is not None:
            data["lag"] = self.lag
        return LinkEntry({**data, **first.fields}, first.where, self.note)


def bundle_cables(cables: Iterable[SourceCable], tiers: Mapping[str, int], speed: str | None) -> list[LinkEntry]:
    """Entries for all ``cables``, in the order of their first ones. ``tiers`` gives the tier of switches.

    ``speed`` stands for the speed of cables that have none. No two cables share a port.
    """
    pairs: dict[frozenset[str], list[SourceCable]] = {}
    for cable in cables:
        beside = pairs.setdefault(frozenset((cable.a, cable.b)), [])
        turned = beside[0].a != cable.a if beside else tiers.get(cable.b, 0) < tiers.get(cable.a, 0)
        beside.append(cable.swapped() if turned else cable)
    return list(_join_standby((found for pair in pairs.values() for found in _bundle_pair(pair)), speed))


def _bundle_pair(cables: Sequence[SourceCable]) -> Iterator[_Bundle]:
    alike = group_by_key(
        (cable.lag if cable.lag is not None else (cable.speed, repr(cable.fields), cable.standby), cable)
        for cable in cables
    )
    free = (name for name in (f"lag{number}" for number in range(1, len(cables) + 2)) if name not in alike)
    for index, those in enumerate(alike.values()):
        lag, known = those[0].lag, _drop_partial_ports(those)
        notes = [_SOME_PORTS] if known != those else []
        if lag is None and len(those) > 1 and not all(cable.joined for cable in those):
            notes.append(_ONE_LAG)
        if lag is None and index:
            lag = next(free)
            notes.append(_DIFFERENT)
        for run in _split_runs(
            known if those[0].lag is not None else sorted(known, key=lambda cable: make_natural_key(cable.port_a or ""))
        ):
            given = ["speed as given"] if run[0].speed is None else []
            own = list(dict.fromkeys(cable.note for cable in run if cable.note))
            yield _Bundle(run, lag, "; ".join([*notes, *own, *given]))


def _drop_partial_ports(those: list[SourceCable]) -> list[SourceCable]:
    if len({cable.port_a is None for cable in those}) > 1:
        those = [replace(cable, port_a=None) for cable in those]
    if len({cable.port_b is None for cable in those}) > 1:
        those = [replace(cable, port_b=None) for cable in those]
    return those


def _split_runs(cables: Sequence[SourceCable]) -> Iterator[list[SourceCable]]:
    """``cables`` cut where speed or fields change: a LAG whose members differ is several entries of its name."""
    run: list[SourceCable] = []
    for cable in cables:
        if run and (run[-1].speed, run[-1].fields) != (cable.speed, cable.fields):
            yield run
            run = []
        run.append(cable)
    yield run


def _format_end(device: str, ports: Sequence[str | None]) -> str:
    named = [port for port in ports if port is not None]
    return f"{device}:{fold_in_order(named, expand_ports)}" if named else device


def _join_standby(found: Iterable[_Bundle], speed: str | None) -> Iterator[LinkEntry]:
    """The entries, the standby legs of a node in a network after the active one, as our file has it."""
    bonds: dict[tuple[str, object], list[_Bundle]] = {}
    for bundle in found:
        first = bundle.cables[0]
        if first.fields.get("bond") != Bond.BACKUP:
            yield bundle.entry(speed)
            continue
        bonds.setdefault((first.a, first.fields.get("network")), []).append(bundle)
    for legs in bonds.values():
        yield from _find_bond(legs, speed)


def _find_bond(legs: Sequence[_Bundle], speed: str | None) -> Iterator[LinkEntry]:
    """The active leg first: one entry where the legs are alike, else one for each; a note on what is not as it says."""
    active = [leg for leg in legs if not leg.cables[0].standby]
    standby = [leg for leg in legs if leg.cables[0].standby]
    if len(active) == 1 and standby and len({_make_key(leg) for leg in legs}) == 1:
        yield _join_legs([*active, *standby], speed)
        return
    notes = [""] * len(active[:1]) + [_SECOND] * len(active[1:])
    notes += [("" if len(active) == 1 else _STANDBY) if active else _ALONE] * len(standby)
    for leg, note in zip([*active, *standby], notes, strict=True):
        entry = leg.entry(speed)
        yield replace(entry, note="; ".join(filter(None, (entry.note, note))))


def _make_key(leg: _Bundle) -> str:
    """The key of legs that one entry can hold: those that differ in their switch and their own port only."""
    first = leg.cables[0]
    return repr((first.speed, len(leg.cables), leg.lag, first.fields, leg.ends(lower=False)))


def _join_legs(legs: Sequence[_Bundle], speed: str | None) -> LinkEntry:
    """One entry whose first switch is that of the first leg."""
    one = legs[0].entry(speed)
    _, _, ports = str(one.data["to"]).partition(":")
    to = ",".join(leg.cables[0].b for leg in legs) + (f":{ports}" if ports else "")
    lower = _format_end(legs[0].cables[0].a, [port for leg in legs for port in leg.ends(lower=True)])
    return replace(one, data={**one.data, "from": lower, "to": to})
