"""``ip -j link`` or ``ip -j addr`` (also with ``-s``), and their form for people, as facts about interfaces.

With a filter ``ip -j`` leaves empty objects in its list for what did not match; they are passed over.
"""

import re
from collections.abc import Iterator, Sequence

from benchconsole.probes.api import Fact, Labels, Unit
from benchconsole.probes.readers.documents import Document, find_arrays, read_array, read_mapping
from benchconsole.probes.readers.lines import read_lines
from benchconsole.probes.readers.readings import add_labels
from benchconsole.probes.tools.inventory import facts

_NAMES = {"address": "nic.mac", "master": "nic.master", "link": "nic.parent", "qdisc": "nic.qdisc"}

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


def find_facts(text: str) -> Iterator[Fact]:
    """``nic.mtu``, ``nic.state``, ``nic.kind``, ``nic.mac``, ``nic.address`` of all but the loopback interface;
    ``nic.master`` is the bond or bridge that it is part of, ``nic.parent`` the interface below a VLAN;
    ``nic.txqueuelen``, ``nic.qdisc``, and with ``-s`` ``nic.rx_errors``, ``nic.rx_dropped`` and the same of ``tx`` of
    real ports. An address after the first has the label ``number`` too.
    """
    for array in find_arrays(text, first=_FIRST):
        for entry in map(read_mapping, array):
            is_loopback = entry.get("link_type") == "loopback" or "LOOPBACK" in read_array(entry.get("flags"))
            kind = read_mapping(entry.get("linkinfo")).get("info_kind")
            if isinstance(entry.get("ifname"), str) and not is_loopback and kind not in _TEMPLATES:
                yield from _read_entry(entry, kind, facts.label_part("nic", entry["ifname"]))
    yield from _read_text(text)


def _read_entry(entry: Document, kind: object, marks: Labels) -> Iterator[Fact]:
    yield from facts.make_quantity("nic.mtu", f"{entry.get('mtu')} B", Unit.BYTE, marks)
    yield from facts.make_text("nic.state", str(entry.get("operstate", "")).lower(), marks)
    yield from facts.make_text("nic.kind", kind, marks)
    yield from facts.make_texts(_NAMES, entry, marks)
    yield from facts.make_count("nic.txqueuelen", entry.get("txqlen"), marks)
    addresses = map(read_mapping, read_array(entry.get("addr_info")))
    yield from _number_addresses([address.get("local") for address in addresses], marks)
    counters = read_mapping(entry.get("stats64") or entry.get("stats")) if kind in _PORTS else {}
    for direction in ("rx", "tx"):
        for name in ("errors", "dropped"):
            count = read_mapping(counters.get(direction)).get(name)
            yield from facts.make_count(f"nic.{direction}_{name}", count, marks)


def _number_addresses(addresses: Sequence[object], marks: Labels) -> Iterator[Fact]:
    """The first address as it is, further ones numbered; those that every link has by itself only where first."""
    kept = [*addresses[:1], *(one for one in addresses[1:] if not str(one).startswith(_LINK_LOCAL))]
    for number, address in enumerate(kept, 1):
        yield from facts.make_text("nic.address", address, add_labels(marks, number=number) if number > 1 else marks)


def _read_text(text: str) -> Iterator[Fact]:
    marks: Labels = ()
    addresses: list[object] = []
    for line in read_lines(text):
        if not line.startswith(" "):
            yield from _number_addresses(addresses, marks)
            head, addresses, marks = _HEAD.fullmatch(line), [], ()
            if head and "LOOPBACK" not in head["flags"]:
                marks = facts.label_part("nic", head["name"])
                yield from facts.make_quantity("nic.mtu", f"{head['mtu']} B", Unit.BYTE, marks)
                yield from facts.make_text("nic.state", head["state"].lower(), marks)
                yield from facts.make_count("nic.txqueuelen", head["queue"], marks)
        elif marks and (mac := _MAC.fullmatch(line)):
            yield from facts.make_text("nic.mac", mac["mac"], marks)
        elif marks and (address := _ADDRESS.fullmatch(line)):
            addresses.append(address["address"])
    yield from _number_addresses(addresses, marks)
