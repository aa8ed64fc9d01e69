"""Reads ``ip -j link`` or ``ip -j addr``, and their form for people, as facts about network interfaces."""

import re
from collections.abc import Iterator, Sequence

from probes.api import Fact, Unit
from probes.builtin.captured import arrays, mapping, sequence, whole_lines
from probes.builtin.inventory.facts import measured, on, said, some

_FIRST = "ifindex|ifname|link|link_index|addr_info"
_TEMPLATES = frozenset(("ifb", "dummy", "sit", "gre", "gretap", "erspan", "ip6tnl", "ip6gre", "ipip", "vti", "teql"))
"""Kinds that a kernel module leaves behind when it is loaded; no hardware and no use by themselves."""

_HEAD = re.compile(
    r"[0-9]+: (?P<name>[^\s:@]+)(?:@\S+)?: <(?P<flags>[^>]*)> mtu (?P<mtu>[0-9]+) "
    r".*?\bstate (?P<state>[A-Z]+)(?:\s.*)?",
    re.ASCII,
)


def parse(text: str) -> Sequence[Fact]:
    """``nic.mtu``, ``nic.state``, ``nic.kind``, ``nic.mac``, ``nic.address`` of all but the loopback interface;

    ``nic.master`` is the bond or bridge that it is part of, ``nic.parent`` what a VLAN stands on.
    """
    found = [*_from_json(text), *_from_text(text)]
    return some(found, "the interfaces of ip link")


def _from_json(text: str) -> Iterator[Fact]:
    for array in arrays(text, first=_FIRST):
        for entry in map(mapping, array):
            kind = mapping(entry.get("linkinfo")).get("info_kind")
            if entry.get("link_type") == "loopback" or "LOOPBACK" in sequence(entry.get("flags")) or kind in _TEMPLATES:
                continue
            if isinstance(entry.get("ifname"), str):
                marks = on("nic", entry["ifname"])
                yield from measured("nic.mtu", f"{entry.get('mtu')} B", Unit.BYTE, marks)
                yield from said("nic.state", str(entry.get("operstate", "")).lower(), marks)
                yield from said("nic.kind", kind, marks)
                yield from said("nic.mac", entry.get("address"), marks)
                yield from said("nic.master", entry.get("master"), marks)
                yield from said("nic.parent", entry.get("link"), marks)
                for address in sequence(entry.get("addr_info")):
                    yield from said("nic.address", mapping(address).get("local"), marks)


def _from_text(text: str) -> Iterator[Fact]:
    for line in whole_lines(text):
        head = _HEAD.fullmatch(line)
        if head and "LOOPBACK" not in head["flags"]:
            marks = on("nic", head["name"])
            yield from measured("nic.mtu", f"{head['mtu']} B", Unit.BYTE, marks)
            yield from said("nic.state", head["state"].lower(), marks)
