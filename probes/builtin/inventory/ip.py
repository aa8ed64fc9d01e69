"""Reads ``ip -j link`` or ``ip -j addr`` (also with ``-s``), and their form for people, as facts about interfaces.

With a filter ``ip -j`` leaves empty objects in its list for what did not match; they are passed over.
"""

import re
from collections.abc import Iterator, Sequence

from probes.api import Fact, Labels, Unit, labels
from probes.builtin.captured import Document, arrays, mapping, sequence, whole_lines
from probes.builtin.inventory.facts import counted, measured, on, once, said, some

_FIRST = "ifindex|ifname|link|link_index|addr_info"
_TEMPLATES = frozenset(("ifb", "dummy", "sit", "gre", "gretap", "erspan", "ip6tnl", "ip6gre", "ipip", "vti", "teql"))
"""Kinds that a kernel module leaves behind when it is loaded; no hardware and no use by themselves."""

_HEAD = re.compile(
    r"[0-9]+: (?P<name>[^\s:@]+)(?:@\S+)?: <(?P<flags>[^>]*)> mtu (?P<mtu>[0-9]+) "
    r".*?\bstate (?P<state>[A-Z]+)(?:\s(?:.*\bqlen (?P<queue>[0-9]+))?.*)?",
    re.ASCII,
)
_ADDRESS = re.compile(r"\s+inet6? (?P<address>[0-9a-fA-F.:]+)(?:/[0-9]{1,3})? .*")
_MAC = re.compile(r"\s+link/ether (?P<mac>[0-9a-f]{2}(?::[0-9a-f]{2}){5}) .*")
_PORTS = (None, "bond", "team", "ipoib")
"""Kinds whose errors tell of a cable or an adapter; a container's interface has none."""

_LINK_LOCAL = "fe80:"


def parse(text: str) -> Sequence[Fact]:
    """``nic.mtu``, ``nic.state``, ``nic.kind``, ``nic.mac``, ``nic.address`` of all but the loopback interface;

    ``nic.master`` is the bond or bridge that it is part of, ``nic.parent`` what a VLAN stands on; ``nic.txqueuelen``,
    ``nic.qdisc``, and with ``-s`` ``nic.rx_errors``, ``nic.rx_dropped`` and the same of ``tx`` of real ports.
    An address after the first has the label ``number`` too.
    """
    found = [*_from_json(text), *_from_text(text)]
    return some(once(found), "the interfaces of ip link")


def _from_json(text: str) -> Iterator[Fact]:
    for array in arrays(text, first=_FIRST):
        for entry in map(mapping, array):
            kind = mapping(entry.get("linkinfo")).get("info_kind")
            if entry.get("link_type") == "loopback" or "LOOPBACK" in sequence(entry.get("flags")) or kind in _TEMPLATES:
                continue
            if isinstance(entry.get("ifname"), str):
                yield from _entry(entry, kind, on("nic", entry["ifname"]))


def _entry(entry: Document, kind: object, marks: Labels) -> Iterator[Fact]:
    yield from measured("nic.mtu", f"{entry.get('mtu')} B", Unit.BYTE, marks)
    yield from said("nic.state", str(entry.get("operstate", "")).lower(), marks)
    yield from said("nic.kind", kind, marks)
    yield from said("nic.mac", entry.get("address"), marks)
    yield from said("nic.master", entry.get("master"), marks)
    yield from said("nic.parent", entry.get("link"), marks)
    yield from counted("nic.txqueuelen", entry.get("txqlen"), marks)
    yield from said("nic.qdisc", entry.get("qdisc"), marks)
    yield from _addresses([mapping(each).get("local") for each in sequence(entry.get("addr_info"))], marks)
    counters = mapping(entry.get("stats64") or entry.get("stats")) if kind in _PORTS else {}
    for way in ("rx", "tx"):
        for name in ("errors", "dropped"):
            yield from counted(f"nic.{way}_{name}", mapping(counters.get(way)).get(name), marks)


def _addresses(addresses: Sequence[object], marks: Labels) -> Iterator[Fact]:
    """The first address as it is, further ones numbered; those that every link has by itself only where first."""
    number = 0
    for address in addresses:
        if number == 0 or not str(address).startswith(_LINK_LOCAL):
            also = (*marks, *labels(number=number + 1)) if number else marks
            yield from said("nic.address", address, also)
            number += 1


def _from_text(text: str) -> Iterator[Fact]:
    marks: Labels = ()
    addresses: list[object] = []
    for line in whole_lines(text):
        if not line.startswith(" "):
            yield from _addresses(addresses, marks)
            head, addresses, marks = _HEAD.fullmatch(line), [], ()
            if head and "LOOPBACK" not in head["flags"]:
                marks = on("nic", head["name"])
                yield from measured("nic.mtu", f"{head['mtu']} B", Unit.BYTE, marks)
                yield from said("nic.state", head["state"].lower(), marks)
                yield from counted("nic.txqueuelen", head["queue"], marks) if head["queue"] else ()
        elif marks and (mac := _MAC.fullmatch(line)):
            yield from said("nic.mac", mac["mac"], marks)
        elif marks and (address := _ADDRESS.fullmatch(line)):
            addresses.append(address["address"])
    yield from _addresses(addresses, marks)
