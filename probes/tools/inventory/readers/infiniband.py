"""``ibstat`` and ``perfquery`` (plain and ``-x``) as facts about InfiniBand adapters and their ports.

Data is counted in words of 4 bytes (InfiniBand Architecture Specification 1.3, 16.1.3.5). The plain counters are narrow
and stop at their end: one that stands there is left out, for it may be any larger number.
"""

import re
from collections.abc import Iterator

from benchconsole.probes.api import Fact, Labels, Unit, labels
from benchconsole.probes.readers.lines import read_lines, split_fields
from benchconsole.probes.readers.readings import add_labels
from benchconsole.probes.tools.inventory.facts import keep_whole_lines, make_quantity, make_texts

_ADAPTER = re.compile(r"CA '(?P<name>[^'\s]+)'")
_PORT = re.compile(r"\s+Port (?P<port>[0-9]+):")
_OF_IBSTAT = re.compile(r"\s{1,20}\S[^:]{0,80}:")
_HEADS_OF_IBSTAT = re.compile(r"CA '|\sPort [0-9]{1,5}:$")
_RATE = re.compile(r"(?P<rate>[0-9]{1,4}(?:\.5)?)(?: \(.+\))?")
_OF_ADAPTER = {"CA type": "ib.type", "Firmware version": "ib.firmware"}
_OF_PORT = {"State": "ib.state", "Physical state": "ib.physical_state", "Link layer": "ib.link_layer"}

_HEAD = re.compile(r"# Port (?P<extended>extended )?counters: Lid (?P<lid>[0-9]+) port (?P<port>[0-9]+)\b.*")
_HEADS = re.compile(r"# ?Port .*counters")
_COUNTER = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9]+):\.*(?P<value>[0-9]{1,20})")
_OWN = re.compile(r"# Port |[A-Za-z][A-Za-z0-9]+:\.+\S+$")
_WORDS = {"PortXmitData": "ib.sent", "PortRcvData": "ib.received", "XmtData": "ib.sent", "RcvData": "ib.received"}
_PACKETS = {
    "PortXmitPkts": "ib.sent_packets", "PortRcvPkts": "ib.received_packets",
    "XmtPkts": "ib.sent_packets", "RcvPkts": "ib.received_packets",
}  # fmt: skip
_BITS = {
    "SymbolErrorCounter": 16, "LinkErrorRecoveryCounter": 8, "LinkDownedCounter": 8, "PortRcvErrors": 16,
    "PortRcvRemotePhysicalErrors": 16, "PortRcvSwitchRelayErrors": 16, "PortXmitDiscards": 16,
    "PortXmitConstraintErrors": 8, "PortRcvConstraintErrors": 8, "LocalLinkIntegrityErrors": 4,
    "ExcessiveBufferOverrunErrors": 4, "VL15Dropped": 16, "PortXmitWait": 32,
}  # fmt: skip
"""The counters of errors and their widths in the plain attribute; in the extended one they have 64 bits."""


def find_adapters(text: str) -> Iterator[Fact]:
    """``ib.type``, ``ib.firmware`` with the label ``ib``; with ``port`` ``ib.state``, ``ib.physical_state``,
    ``ib.link_layer`` and, of a port that is active, ``ib.rate`` (byte/s; Gb/s are printed).
    """
    adapter: Labels = ()
    port: Labels = ()
    fields: dict[str, str] = {}
    for line in keep_whole_lines(read_lines(text), _OF_IBSTAT, _HEADS_OF_IBSTAT):
        if "CA '" in line:
            # below a heading that was torn stands an adapter without a name
            named = _ADAPTER.fullmatch(line)
            adapter, port = labels(ib=named["name"]) if named else (), ()
        elif numbered := _PORT.fullmatch(line):
            port, fields = add_labels(adapter, port=numbered["port"]), {}
        for key, value in split_fields([line]) if adapter else ():
            fields.setdefault(key, value)
            yield from make_texts(_OF_PORT if port else {}, {key: value}, port)
            yield from make_texts(_OF_ADAPTER, {key: value}, adapter)
            # the rate ends in a bare number; the line behind it says that it was whole
            if port and key == "Base lid":
                rate = _RATE.fullmatch(fields.get("Rate", ""))
                if rate and fields.get("State") == "Active" and float(rate["rate"]) > 0:
                    yield from make_quantity("ib.rate", f"{rate['rate']} Gb/s", Unit.BYTE_RATE, port)


def find_counters(text: str) -> Iterator[Fact]:
    """``ib.sent`` and ``ib.received`` (bytes), their packets, and ``ib.counter`` with the label ``counter``;
    all with ``lid`` and ``port``.
    """
    marks: Labels = ()
    extended = False
    for line in keep_whole_lines(read_lines(text), _OWN, _HEADS):
        if _HEADS.search(line):
            head = _HEAD.fullmatch(line)
            marks = labels(lid=head["lid"], port=head["port"]) if head else ()
            extended = head is not None and bool(head["extended"])
        elif (counter := _COUNTER.fullmatch(line)) and marks:
            yield from _read_counter(counter["name"], int(counter["value"]), marks, extended=extended)


def _read_counter(name: str, value: int, marks: Labels, *, extended: bool) -> Iterator[Fact]:
    width = 64 if extended else _BITS.get(name, 32)
    # old versions head their wide counters like the narrow ones; a larger number tells them apart
    wide = name not in _BITS and 2**32 <= value < 2**64 - 1
    if value >= 2**width - 1 and not wide:
        return
    if name in _WORDS:
        yield Fact(_WORDS[name], 4.0 * value, Unit.BYTE, marks)
    elif name in _PACKETS:
        yield Fact(_PACKETS[name], float(value), Unit.ONE, marks)
    elif name in _BITS:
        yield Fact("ib.counter", float(value), Unit.ONE, add_labels(marks, counter=name))
