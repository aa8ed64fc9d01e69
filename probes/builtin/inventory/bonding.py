"""Reads ``/proc/net/bonding/*`` as facts about bonds and their members.

The lines may carry the file's path before them, as ``grep -H`` writes them; a bond whose file
is not named has no name. Which aggregate is the active one is told to root only.
"""

import re
from collections.abc import Iterator, Sequence

from probes.api import Fact, Labels, Unit
from probes.builtin.captured import fields, whole_lines
from probes.builtin.inventory.facts import measured, on, once, said, some

_PATH = re.compile(r"/proc/net/bonding/(?P<bond>[^:/\s]+):")
_BEGIN = "Ethernet Channel Bonding Driver"
_MODES = {
    "load balancing (round-robin)": "balance-rr",
    "fault-tolerance (active-backup)": "active-backup",
    "load balancing (xor)": "balance-xor",
    "fault-tolerance (broadcast)": "broadcast",
    "IEEE 802.3ad Dynamic link aggregation": "802.3ad",
    "transmit load balancing": "balance-tlb",
    "adaptive load balancing": "balance-alb",
}
"""What the kernel prints to what ``mode=`` of the driver takes."""

_OF_BOND = {
    "MII Status": "bond.state", "Currently Active Slave": "bond.active", "Aggregator ID": "bond.aggregator",
    "LACP rate": "bond.lacp_rate",
}  # fmt: skip
_OF_MEMBER = {
    "MII Status": "bond.member_state", "Aggregator ID": "bond.member_aggregator",
    "Actor Churn State": "bond.member_churn", "Partner Churn State": "bond.partner_churn",
}  # fmt: skip


def parse(text: str) -> Sequence[Fact]:
    """``bond.mode``, ``bond.state``, ``bond.active``, ``bond.aggregator``, ``bond.hash`` with the label ``bond``;

    ``bond.member_state``, ``bond.member_speed`` (byte/s), ``bond.member_aggregator``,
    ``bond.member_churn`` and ``bond.partner_churn`` (where not ``none``) with ``bond`` and ``nic``.
    """
    return some(once(_facts(whole_lines(text))), "the lines of /proc/net/bonding")


def _facts(lines: Sequence[str]) -> Iterator[Fact]:
    bond = member = ""
    for line in lines:
        path = _PATH.match(line)
        rest = line[path.end() :] if path else line
        if path and path["bond"] != bond:
            bond, member = path["bond"], ""
        if rest.startswith(_BEGIN):
            member = ""
        for key, value in fields([rest]):
            member = value if key == "Slave Interface" else member
            marks = on("bond", bond) if bond else ()
            if member:
                yield from _of_member(key, value, (*marks, *on("nic", member)))
            else:
                yield from _of_bond(key, value, marks)


def _of_bond(key: str, value: str, marks: Labels) -> Iterator[Fact]:
    if key in _OF_BOND:
        yield from said(_OF_BOND[key], value, marks)
    elif key == "Bonding Mode":
        yield from said("bond.mode", _MODES.get(value.partition(" (fail_over_mac")[0]), marks)
    elif key == "Transmit Hash Policy":
        yield from said("bond.hash", value.partition(" ")[0], marks)


def _of_member(key: str, value: str, marks: Labels) -> Iterator[Fact]:
    if key in _OF_MEMBER:
        yield from said(_OF_MEMBER[key], value, marks)
    elif key == "Speed":
        yield from measured("bond.member_speed", value, Unit.BYTE_RATE, marks)
