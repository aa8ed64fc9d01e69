"""``ip -j link`` or ``ip -j addr`` (also with ``-s``), their form for people, and ``/proc/net/bonding/*`` as facts.

The lines of a bond may carry the file's path before them, as ``grep -H`` writes them; a bond whose file is not named
has no name. Which aggregate is the active one is told to root only.
"""

import re
from collections.abc import Iterator, Sequence

from benchconsole.probes.api import Fact, Labels, Unit
from benchconsole.probes.readers.documents import Document, find_arrays, read_array, read_mapping
from benchconsole.probes.readers.lines import read_lines, split_fields
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

_PATH = re.compile(r"/proc/net/bonding/(?P<bond>[^:/\s]+):")
_BEGIN = "Ethernet Channel Bonding Driver"
_MODES = {
    "load balancing (round-robin)": "balance-rr", "fault-tolerance (active-backup)": "active-backup",
    "load balancing (xor)": "balance-xor", "fault-tolerance (broadcast)": "broadcast",
    "IEEE 802.3ad Dynamic link aggregation": "802.3ad", "transmit load balancing": "balance-tlb",
    "adaptive load balancing": "balance-alb",
}  # fmt: skip
"""Words that the kernel prints, each with the word that ``mode=`` of the driver takes."""

_OF_BOND = {
    "MII Status": "bond.state", "Currently Active Slave": "bond.active", "Aggregator ID": "bond.aggregator",
    "LACP rate": "bond.lacp_rate",
}  # fmt: skip
_OF_MEMBER = {
    "MII Status": "bond.member_state", "Aggregator ID": "bond.member_aggregator",
    "Actor Churn State": "bond.member_churn", "Partner Churn State": "bond.partner_churn",
}  # fmt: skip

_CHURN = frozenset(("none", "monitoring", "churned"))
_BOND_WORDS = {
    "MII Status": frozenset(("up", "down", "going down", "going back")), "LACP rate": frozenset(("slow", "fast")),
    "Actor Churn State": _CHURN, "Partner Churn State": _CHURN,
}  # fmt: skip
"""All that the kernel prints for these: another word was cut or has something behind it."""

_POLICIES = frozenset(("layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4", "vlan+srcmac"))


def find_interfaces(text: str) -> Iterator[Fact]:
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


def find_bonds(text: str) -> Iterator[Fact]:
    """``bond.mode``, ``bond.state``, ``bond.active``, ``bond.aggregator``, ``bond.hash`` with the label ``bond``;
    ``bond.member_state``, ``bond.member_speed`` (byte/s), ``bond.member_aggregator``,
    ``bond.member_churn`` and ``bond.partner_churn`` (where not ``none``) with ``bond`` and ``nic``.
    """
    bond = member = state = ""
    statuses = 0
    for line in read_lines(text):
        path = _PATH.match(line)
        rest = line[path.end() :] if path else line
        if rest.startswith(_BEGIN) or (path and path["bond"] != bond):
            bond, member, statuses, state = path["bond"] if path else bond, "", 0, ""
        for key, value in split_fields([rest]):
            if key == "Slave Interface":
                member, statuses, state = value, 0, ""
            statuses += key == "MII Status"
            state = value if key == "MII Status" else state
            # a second status says that the heading of the next member was torn
            if statuses > 1 or (key in _BOND_WORDS and value not in _BOND_WORDS[key]):
                continue
            marks = facts.label_part("bond", bond) if bond else ()
            if not member:
                yield from _read_bond(key, value, marks)
            elif key != "Speed":
                yield from facts.make_texts(_OF_MEMBER, {key: value}, facts.label_part("nic", member, marks))
            elif state == "up":  # a member that is down may still tell the speed that it had
                yield from facts.make_quantity(
                    "bond.member_speed", value, Unit.BYTE_RATE, facts.label_part("nic", member, marks)
                )


def _read_bond(key: str, value: str, marks: Labels) -> list[Fact]:
    if key == "Bonding Mode":
        return facts.make_text("bond.mode", _MODES.get(value.partition(" (fail_over_mac")[0]), marks)
    if key == "Transmit Hash Policy":
        policy = value.partition(" ")[0]
        return facts.make_text("bond.hash", policy if policy in _POLICIES else None, marks)
    return facts.make_texts(_OF_BOND, {key: value}, marks)
