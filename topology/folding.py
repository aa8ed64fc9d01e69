"""Owns making a topology in plain values short: node sets for what is alike, with the same meaning.

Works on the data of a Document that names every device and pair by itself, as importers make
it. What is folded expands to the same devices, addresses, cables and ports; where a set would
not, it stays apart. Refuses to reorder members of a LAG or legs of a bond.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from topology.errors import SelectionError
from topology.model import Bond
from topology.selection import expand, expand_ports, fold

Notes = Mapping[str | int, str]
"""Name of a device, or index of a link, to what is noted beside it."""
Row = tuple[str, Mapping[str, object], str]
"""A key or nothing, its values, and the note beside it."""

_ADDRESSES = ("address", "data_address")


def short(names: Sequence[str]) -> str:
    """Names as one text that expands to the same names, as short as the reader of node sets takes it."""
    text = _folded(names)
    return text if _expands(text, names) else ",".join(names)


def _folded(names: Sequence[str]) -> str:
    """Names folded; in halves where one bracket cannot hold all widths (n99 and n100 of n01, n02 ...)."""
    text = fold(names)
    if len(names) == 1 or _expands(text, names):
        return text
    by_length = sorted(names, key=lambda name: (len(name), name))
    middle = len(names) // 2
    return f"{_folded(by_length[:middle])},{_folded(by_length[middle:])}"


def _expands(text: str, names: Sequence[str]) -> bool:
    """Whether ``text`` is read as these names; the reader refuses what it takes for too many of them."""
    try:
        return sorted(expand(text)) == sorted(set(names))
    except SelectionError:
        return False


def devices(section: Mapping[str, Mapping[str, object]], notes: Notes) -> Iterator[Row]:
    """The entries of ``nodes`` or ``switches``: those that differ in nothing but names and addresses as one."""
    alike: dict[str, list[str]] = {}
    for name, entry in section.items():
        kind = {key: True if key in _ADDRESSES else value for key, value in entry.items()}
        alike.setdefault(repr((kind, notes.get(name))), []).append(name)
    for names in alike.values():
        for text, values in _addressed(names, section):
            yield text, values, notes.get(names[0], "")


def _addressed(
    names: Sequence[str], section: Mapping[str, Mapping[str, object]]
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The entries for names that are alike, in halves where the addresses do not come in the same order."""
    text = short(names)
    ordered = expand(text)
    values = dict(section[names[0]])
    for key in _ADDRESSES:
        if key in values:
            addresses = [str(section[name][key]) for name in ordered]
            values[key] = short(addresses)
            if len(names) > 1 and expand(str(values[key])) != addresses:
                middle = len(ordered) // 2
                yield from _addressed(ordered[:middle], section)
                yield from _addressed(ordered[middle:], section)
                return
    yield text, values


@dataclass(frozen=True, slots=True)
class _Link:
    """An entry of ``links`` taken apart; ``rest`` are its other keys, ``upper_ports`` those of all cables in order.

    ``fixed``: its devices have further entries, whose order says which of them the LAG begins with.
    """

    lower: tuple[str, ...]
    lower_ports: str
    upper: str
    upper_ports: tuple[str, ...]
    rest: Mapping[str, object]
    note: str
    fixed: bool

    @property
    def row(self) -> Row:
        lower = short(self.lower) + (f":{self.lower_ports}" if self.lower_ports else "")
        upper = self.upper + (f":{_ports(self.upper_ports)}" if self.upper_ports else "")
        return "", {"from": lower, "to": upper, **self.rest}, self.note


def links(section: Sequence[Mapping[str, object]], notes: Notes) -> list[Row]:
    """The entries of ``links``: from every node of a switch as one, then to every switch of a tier as one."""
    times = Counter(_pair(entry) for entry in section)
    groups: dict[str, list[_Link]] = {}
    for index, entry in enumerate(section):
        link = _link(entry, notes.get(index, ""), fixed=times[_pair(entry)] > 1)
        same = (link.upper, link.lower_ports, bool(link.upper_ports), link.rest, link.note, link.fixed and index)
        groups.setdefault(repr(same), []).append(link)
    merged = [link for group in groups.values() for link in _merged(group)]
    return [link.row for link in _upwards(merged)]


def _pair(entry: Mapping[str, object]) -> frozenset[str]:
    return frozenset(str(entry[end]).partition(":")[0] for end in ("from", "to"))


def _link(entry: Mapping[str, object], note: str, *, fixed: bool) -> _Link:
    lower, _, lower_ports = str(entry["from"]).partition(":")
    upper, _, upper_ports = str(entry["to"]).partition(":")
    rest = {key: value for key, value in entry.items() if key not in ("from", "to")}
    ports = tuple(expand_ports(upper_ports)) if upper_ports else ()
    return _Link((lower,), lower_ports, upper, ports, rest, note, fixed)


def _merged(group: Sequence[_Link]) -> Iterator[_Link]:
    """Links to one switch that are alike as one; in halves where its ports do not come in the same order."""
    place = {name: index for index, name in enumerate(expand(short([link.lower[0] for link in group])))}
    ordered = sorted(group, key=lambda link: place[link.lower[0]])
    ports = tuple(port for link in ordered for port in link.upper_ports)
    if len(group) == 1 or not ports or ("," not in group[0].upper and _in_order(ports)):
        yield replace(ordered[0], lower=tuple(link.lower[0] for link in ordered), upper_ports=ports)
        return
    middle = len(ordered) // 2
    yield from _merged(ordered[:middle])
    yield from _merged(ordered[middle:])


def _in_order(ports: Sequence[str]) -> bool:
    return expand_ports(",".join(ports)) == list(ports)


def _ports(ports: Sequence[str]) -> str:
    """Ports that are in order, or those of one cable, as one short set."""
    text = fold(ports)
    try:
        if expand_ports(text) == list(ports):
            return text
    except SelectionError:
        pass  # as in ``short``
    return ",".join(ports)


def _upwards(merged: Sequence[_Link]) -> list[_Link]:
    """Links from the same devices to several switches as one, where ports and bonds allow it."""
    found: dict[str, list[_Link]] = {}
    for index, link in enumerate(merged):
        apart = link.fixed or link.lower_ports or link.rest.get("bond") == Bond.BACKUP or "," in link.upper
        same = (link.lower, link.upper_ports, link.rest, link.note, index if apart else None)
        found.setdefault(repr(same), []).append(link)
    return [replace(group[0], upper=short([link.upper for link in group])) for group in found.values()]
