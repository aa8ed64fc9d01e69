"""``/proc/net/bonding/*`` as facts about bonds and their members.

The lines may carry the file's path before them, as ``grep -H`` writes them; a bond whose file
is not named has no name. Which aggregate is the active one is told to root only.
"""

import re
from collections.abc import Iterator

from benchconsole.probes.api import Fact, Labels, Unit
from benchconsole.probes.readers.lines import read_lines, split_fields
from benchconsole.probes.tools.inventory.facts import label_part, make_quantity, make_text, make_texts

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

_CHURN = frozenset(("none", "monitoring", "churned"))
_WORDS = {
    "MII Status": frozenset(("up", "down", "going down", "going back")), "LACP rate": frozenset(("slow", "fast")),
    "Actor Churn State": _CHURN, "Partner Churn State": _CHURN,
}  # fmt: skip
"""All that the kernel prints for these: another word was cut or has something behind it."""

_POLICIES = frozenset(("layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4", "vlan+srcmac"))


def find_facts(text: str) -> Iterator[Fact]:
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
            if statuses > 1 or (key in _WORDS and value not in _WORDS[key]):
                continue
            marks = label_part("bond", bond) if bond else ()
            if not member:
                yield from _read_bond(key, value, marks)
            elif key != "Speed":
                yield from make_texts(_OF_MEMBER, {key: value}, label_part("nic", member, marks))
            elif state == "up":  # a member that is down may still tell the speed that it had
                yield from make_quantity("bond.member_speed", value, Unit.BYTE_RATE, label_part("nic", member, marks))


def _read_bond(key: str, value: str, marks: Labels) -> list[Fact]:
    if key == "Bonding Mode":
        return make_text("bond.mode", _MODES.get(value.partition(" (fail_over_mac")[0]), marks)
    if key == "Transmit Hash Policy":
        policy = value.partition(" ")[0]
        return make_text("bond.hash", policy if policy in _POLICIES else None, marks)
    return make_texts(_OF_BOND, {key: value}, marks)
