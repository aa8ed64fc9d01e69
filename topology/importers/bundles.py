"""Owns turning single cables into entries of ``links``: which of them are one LAG, and in which order.

Cables of the same two devices that are alike become one entry with a count. Ports keep their
partners: where a sorted set would pair them differently, the LAG is written as several entries
of one name. Refuses to know where the cables come from.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from topology.errors import Position, SelectionError
from topology.model import Bond
from topology.selection import expand, expand_ports, fold

_DIFFERENT = "parallel cables that differ, taken as links of their own"
_ONE_LAG = "parallel cables, taken as one LAG"


@dataclass(frozen=True, slots=True)
class Cable:
    """One cable as a source has it. ``speed`` is text for our file; ``fields`` are further keys of its entry.

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

    def swapped(self) -> "Cable":
        """The same cable, seen from its other end."""
        return replace(self, a=self.b, b=self.a, port_a=self.port_b, port_b=self.port_a)


@dataclass(frozen=True, slots=True)
class Entry:
    """An item of ``links``, the place of its first cable, and what was taken for granted."""

    data: dict[str, object]
    where: Position
    note: str = ""


def entries(cables: Iterable[Cable], tiers: Mapping[str, int], speed: str | None) -> list[Entry]:
    """Entries for all ``cables``, in the order of their first ones. ``tiers`` gives the tier of switches.

    ``speed`` stands for the speed of cables that have none.
    """
    pairs: dict[frozenset[str], list[Cable]] = {}
    for cable in cables:
        beside = pairs.setdefault(frozenset((cable.a, cable.b)), [])
        turned = beside[0].a != cable.a if beside else tiers.get(cable.b, 0) < tiers.get(cable.a, 0)
        beside.append(cable.swapped() if turned else cable)
    return list(_with_standby(found for pair in pairs.values() for found in _of_pair(pair, speed)))


def _of_pair(cables: list[Cable], speed: str | None) -> Iterator[tuple[Cable, Entry]]:
    """The entries of one pair of devices, each with its first cable."""
    bundles: dict[object, list[Cable]] = {}
    for cable in cables:
        alike = (cable.speed, repr(cable.fields), cable.standby)
        bundles.setdefault(cable.lag if cable.lag is not None else alike, []).append(cable)
    free = (name for name in (f"lag{number}" for number in range(1, len(cables) + 2)) if name not in bundles)
    for index, bundle in enumerate(bundles.values()):
        lag = bundle[0].lag
        known = _with_all_ports(bundle)
        runs = _runs(known if lag is not None else _sorted(known))
        notes = ["ports left out: the source does not have all of them"] if known != bundle else []
        if lag is None and len(bundle) > 1 and not all(cable.joined for cable in bundle):
            notes.append(_ONE_LAG)
        if lag is None and index:
            notes.append(_DIFFERENT)
        if lag is None and (index or len(runs) > 1):
            lag = next(free)
        for run in runs:
            given = [] if run[0].speed is not None else ["speed as given"]
            yield run[0], Entry(_data(run, lag, speed), run[0].where, "; ".join([*notes, *given]))


def _with_all_ports(bundle: list[Cable]) -> list[Cable]:
    """The bundle without the ports of an end where only some of them are known."""
    if len({cable.port_a is None for cable in bundle}) > 1:
        bundle = [replace(cable, port_a=None) for cable in bundle]
    if len({cable.port_b is None for cable in bundle}) > 1:
        bundle = [replace(cable, port_b=None) for cable in bundle]
    return bundle


def _data(run: Sequence[Cable], lag: str | None, speed: str | None) -> dict[str, object]:
    first = run[0]
    data: dict[str, object] = {
        "from": _end(first.a, [cable.port_a for cable in run]),
        "to": _end(first.b, [cable.port_b for cable in run]),
        "speed": first.speed if first.speed is not None else speed,
    }
    if len(run) > 1:
        data["count"] = len(run)
    if lag is not None:
        data["lag"] = lag
    return {**data, **first.fields}


def _end(device: str, ports: Sequence[str | None]) -> str:
    named = [port for port in ports if port is not None]
    return f"{device}:{port_set(named)}" if named and len(named) == len(ports) else device


def port_set(ports: Sequence[str]) -> str:
    """Port names as one short set that expands to them in this order (they must be ``in_order``)."""
    text = fold(ports) if len(ports) > 1 else ports[0]
    try:
        if expand_ports(text) == list(ports):
            return text
    except SelectionError:
        pass  # paddings that a folded set cannot show, e.g. 09 and 100
    return ",".join(ports)


def in_order(ports: Sequence[str | None]) -> bool:
    """Whether a set of these ports expands to them in this order; so also where none is named."""
    named = [port for port in ports if port is not None]
    return len(named) <= 1 or expand_ports(",".join(named)) == named


def _sorted(cables: list[Cable]) -> list[Cable]:
    """The cables of a LAG without a name in the order of their lower ports."""
    ports = [cable.port_a for cable in cables if cable.port_a is not None]
    if len(set(ports)) < len(cables):
        return cables
    place = {port: index for index, port in enumerate(expand_ports(",".join(ports)))}
    return sorted(cables, key=lambda cable: place[str(cable.port_a)])


def _runs(cables: list[Cable]) -> list[list[Cable]]:
    """``cables`` cut where speed or fields change, or one by one where a set would pair ports differently."""
    alike: list[list[Cable]] = []
    for cable in cables:
        last = alike[-1][-1] if alike else None
        if last is not None and (last.speed, last.fields) == (cable.speed, cable.fields):
            alike[-1].append(cable)
        else:
            alike.append([cable])
    return [run for group in alike for run in _paired(group)]


def _paired(group: list[Cable]) -> list[list[Cable]]:
    if in_order([cable.port_a for cable in group]) and in_order([cable.port_b for cable in group]):
        return [group]
    return [[cable] for cable in group]


def _with_standby(found: Iterable[tuple[Cable, Entry]]) -> Iterator[Entry]:
    """The entries, standby legs joined to the active one of their bond as our file has it."""
    bonds: dict[str, list[tuple[Cable, Entry]]] = {}
    for cable, entry in found:
        if cable.fields.get("bond") != Bond.BACKUP:
            yield entry
            continue
        alike = {key: value for key, value in entry.data.items() if key not in ("from", "to")}
        ports = str(entry.data["to"]).partition(":")[2]
        bonds.setdefault(repr((cable.a, alike, ports)), []).append((cable, entry))
    for legs in bonds.values():
        yield from _bond(legs)


def _bond(legs: list[tuple[Cable, Entry]]) -> Iterator[Entry]:
    """One entry, whose first switch is the active one; where a set cannot say that, the legs with a note."""
    place = {name: index for index, name in enumerate(expand(",".join(cable.b for cable, _ in legs)))}
    ordered = sorted(legs, key=lambda leg: place[leg[0].b])
    standby = [cable.standby for cable, _ in ordered]
    lower = [port for _, entry in ordered for port in _ports_of(entry.data["from"])]
    if standby == [False] + [True] * (len(legs) - 1) and in_order(lower):
        first = ordered[0]
        ports = str(first[1].data["to"]).partition(":")[2]
        ends = {
            "from": _end(first[0].a, lower),
            "to": ",".join(cable.b for cable, _ in ordered) + (f":{ports}" if ports else ""),
        }
        yield replace(first[1], data={**first[1].data, **ends})
        return
    for cable, entry in legs:
        yield replace(entry, note="standby in the source, which our file cannot say here") if cable.standby else entry


def _ports_of(end: object) -> list[str]:
    ports = str(end).partition(":")[2]
    return expand_ports(ports) if ports else []
