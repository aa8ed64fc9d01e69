"""Shortens a topology in plain values: node sets for what is alike, with the same devices, cables and ports.

Works on the data of a Document that names every device and pair by itself, as importers make it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchconsole.topology.copying import replace
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.model.fabric import Bond
from benchconsole.topology.natural_order import make_natural_key
from benchconsole.topology.selection import expand, expand_ports, fold

Notes = Mapping[str | int, str]
"""Name of a device, or index of a link, to what is noted beside it."""
Row = tuple[str, Mapping[str, object], str]
"""A key or nothing, its values, and the note beside it."""

MAX_KEY = 1000
"""Characters of a node set that stands as a key: YAML reads keys of 1,024 at most (YAML 1.2, 7.4.3)."""

_ADDRESSES = ("address", "data_address")


def fold_short(names: Sequence[str]) -> str:
    """Names as a short text that expands to them, in the order that makes it short."""
    try:
        return fold_in_order(expand(fold(names)))
    except SelectionError:  # one bracket cannot hold paddings of two widths, as in n09 and n100
        return fold_in_order(sorted(names, key=make_natural_key))


def fold_in_order(names: Sequence[str], read: Callable[[str], list[str]] = expand) -> str:
    """Names as a short text that ``read`` expands to them in this order; each must stand there once.

    One set where that keeps the order, else two halves: ``n[09-10],n8`` is not ``n[8-10]``.
    """
    if len(names) == 1:
        return names[0]
    text = fold(names)
    try:
        if read(text) == list(names):
            return text
    except SelectionError:
        pass  # one bracket cannot hold paddings of two widths, as in n09 and n100
    middle = len(names) // 2
    return f"{fold_in_order(names[:middle], read)},{fold_in_order(names[middle:], read)}"


def fold_devices(section: Mapping[str, Mapping[str, object]], notes: Notes) -> Iterator[Row]:
    """The entries of ``nodes`` or ``switches``: those that differ in nothing but names and addresses as one."""
    alike: dict[str, list[str]] = {}
    for name, entry in section.items():
        kind = {key: True if key in _ADDRESSES else value for key, value in entry.items()}
        alike.setdefault(repr((kind, notes.get(name))), []).append(name)
    for names in alike.values():
        for text, values in _fold_addresses(names, section):
            yield text, values, notes.get(names[0], "")


def _fold_addresses(
    names: Sequence[str], section: Mapping[str, Mapping[str, object]]
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The entries for names that are alike, in halves where they share an address, for a set has each of them once,
    and where their set is too long for a key of YAML.
    """
    text = fold_short(names)
    ordered = expand(text)
    if len(text) > MAX_KEY and len(ordered) > 1:
        middle = len(ordered) // 2
        yield from _fold_addresses(ordered[:middle], section)
        yield from _fold_addresses(ordered[middle:], section)
        return
    values = dict(section[names[0]])
    for key in _ADDRESSES:
        addresses = [str(section[name][key]) for name in ordered if key in values]
        if len(set(addresses)) < len(addresses):
            middle = len(ordered) // 2
            yield from _fold_addresses(ordered[:middle], section)
            yield from _fold_addresses(ordered[middle:], section)
            return
        if addresses:
            values[key] = fold_in_order(addresses)
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
        lower = fold_in_order(self.lower) + (f":{self.lower_ports}" if self.lower_ports else "")
        upper = self.upper + (f":{fold_in_order(self.upper_ports, expand_ports)}" if self.upper_ports else "")
        return "", {"from": lower, "to": upper, **self.rest}, self.note


def fold_links(section: Sequence[Mapping[str, object]], notes: Notes) -> list[Row]:
    """The entries of ``links``: from every node of a switch as one, then to every switch of a tier as one.

    The first leg of a bond active-backup is the active one, so nodes stand together only where their legs before
    do as well: of every node the entries keep their order.
    """
    times = Counter(_find_pair(entry) for entry in section)
    groups: dict[str, list[_Link]] = {}
    number: dict[str, int] = {}
    before: dict[tuple[str, object], int] = {}
    for index, entry in enumerate(section):
        link = _split_link(entry, notes.get(index, ""), fixed=times[_find_pair(entry)] > 1)
        bonded = (link.lower[0], link.rest.get("network")) if link.rest.get("bond") == Bond.BACKUP else None
        after = -1 if bonded is None else before.get(bonded, -1)
        same = (link.upper, link.lower_ports, bool(link.upper_ports), link.rest, link.note, link.fixed and index, after)
        key = repr(same)
        groups.setdefault(key, []).append(link)
        if bonded is not None:
            before[bonded] = number.setdefault(key, len(number))
    merged = [link for group in groups.values() for link in _merge_links(group)]
    return [link.row for link in _merge_upwards(merged)]


def _find_pair(entry: Mapping[str, object]) -> frozenset[str]:
    return frozenset(str(entry[end]).partition(":")[0] for end in ("from", "to"))


def _split_link(entry: Mapping[str, object], note: str, *, fixed: bool) -> _Link:
    lower, _, lower_ports = str(entry["from"]).partition(":")
    upper, _, upper_ports = str(entry["to"]).partition(":")
    rest = {key: value for key, value in entry.items() if key not in ("from", "to")}
    ports = tuple(expand_ports(upper_ports)) if upper_ports else ()
    return _Link((lower,), lower_ports, upper, ports, rest, note, fixed)


def _merge_links(group: Sequence[_Link]) -> Iterator[_Link]:
    """Links to one switch that are alike as one; those to several switches that name ports by themselves."""
    if group[0].upper_ports and "," in group[0].upper:
        yield from group
        return
    place = {name: index for index, name in enumerate(expand(fold_short([link.lower[0] for link in group])))}
    ordered = sorted(group, key=lambda link: place[link.lower[0]])
    ports = tuple(port for link in ordered for port in link.upper_ports)
    yield replace(ordered[0], lower=tuple(link.lower[0] for link in ordered), upper_ports=ports)


def _merge_upwards(merged: Sequence[_Link]) -> list[_Link]:
    """Links from the same devices to several switches as one, where ports and bonds allow it."""
    found: dict[str, list[_Link]] = {}
    for index, link in enumerate(merged):
        apart = link.fixed or link.lower_ports or link.rest.get("bond") == Bond.BACKUP or "," in link.upper
        same = (link.lower, link.upper_ports, link.rest, link.note, index if apart else None)
        found.setdefault(repr(same), []).append(link)
    return [
        replace(group[0], upper=fold_short([link.upper for link in group])) if len(group) > 1 else group[0]
        for group in found.values()
    ]
