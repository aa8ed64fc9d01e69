"""``ethtool``, ``-i``, ``-a``, ``-k``, ``-g``, ``-l``, ``-c`` and ``-S`` of interfaces, as facts.

Every part but ``-i`` and ``-S`` begins with a heading that names its interface. The first belongs to the interface that
was named last, counters only to one that is named right above them, as our script does.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchconsole.probes.api import Fact, Labels, Unit
from benchconsole.probes.readers.lines import read_lines, split_fields
from benchconsole.probes.readers.numbers import parse_count
from benchconsole.probes.readers.readings import add_labels
from benchconsole.probes.tools.inventory import facts
from benchconsole.probes.tools.inventory.readers import ethtool_json

_HEAD = re.compile(
    r"(?P<part>Settings|Pause parameters|Features|Offload parameters|Ring parameters|Channel parameters|"
    r"Coalesce parameters) for (?P<name>\S+):\s*"
)
_HEADS = re.compile(r"s for \S+:\s*$|^driver: ")
_STATISTICS = re.compile(r"(?P<part>NIC statistics):\s*(?:\([^)]*\))?\s*")
_OWN = re.compile(
    r"(?!(?:warning|error|fatal|killed|last login|slurm\w*|srun|salloc|sbatch|mpirun|bash|ssh)\b)"
    r"[\w./ -]+:(?:\s.*|)$|\t|\s{4,}\S+: |#",
    re.IGNORECASE,
)
_SPEED = re.compile(r"(?!65535Mb)(?!0+Mb)[0-9]{1,7}Mb/s")
_REASON = re.compile(r"(?<=^no) \(.*\)")
"""Why there is no link, as ethtool since 5.9 tells with some drivers: ``no (No cable)``."""
_SWITCH = re.compile(r"(?P<state>on|off)(?: \[.+\]| +TX: .*)?")
_MADE_UP = frozenset(("veth", "virtio_net", "tun", "bridge"))
"""Drivers that answer with a speed although nothing limits or measures it."""

_TEXTS = {
    "driver": "nic.driver", "version": "nic.driver_version", "firmware-version": "nic.firmware", "bus-info": "nic.bus",
    "Port": "nic.port",
}  # fmt: skip
_OFFLOADS = {
    "rx-checksumming": "nic.checksum_rx", "tx-checksumming": "nic.checksum_tx", "scatter-gather": "nic.scatter_gather",
    "tcp-segmentation-offload": "nic.tso", "generic-segmentation-offload": "nic.gso",
    "generic-receive-offload": "nic.gro", "large-receive-offload": "nic.lro", "ntuple-filters": "nic.ntuple",
    "receive-hashing": "nic.rx_hashing",
}  # fmt: skip
_SWITCHES = {
    "Settings": {"Auto-negotiation": "nic.autonegotiation"},
    "Pause parameters": {"RX": "nic.pause_rx", "TX": "nic.pause_tx", "Autonegotiate": "nic.pause_autonegotiate"},
    "Features": _OFFLOADS,
    "Offload parameters": _OFFLOADS,
    "Coalesce parameters": {"Adaptive RX": "nic.coalesce_adaptive_rx"},
}
"""Part and key of a setting that is on or off."""
_COALESCE = {"rx-usecs": "nic.coalesce_rx", "tx-usecs": "nic.coalesce_tx"}
_LIMITS = {"Pre-set maximums": "_max", "Current hardware settings": ""}
_QUEUES = {
    # rings are never combined: below such a line the heading of the channels was torn
    "Ring parameters": {"RX": "nic.ring_rx", "TX": "nic.ring_tx"},
    "Channel parameters": {
        "RX": "nic.channels_rx", "TX": "nic.channels_tx", "Combined": "nic.channels_combined",
        "Other": "nic.channels_other",
    },
}  # fmt: skip
_TROUBLE = re.compile(
    r"(?i)(?!.*(?:packets|bytes|octets)$).*"
    r"(?:err|drop|discard|miss|crc|fifo|pause|timeout|overrun|overflow|no_?buf|out_of_buf|jabber|collision|"
    r"reset|restart|fault|lost|link_down).*"
)
"""Counters of ``-S`` that tell of trouble; the others count traffic."""


@dataclass(slots=True)
class _Section:
    """The part of one interface that the reader is in."""

    marks: Labels = ()
    part: str = "Settings"
    limit: str | None = None
    driver: str = ""
    speed: str = ""
    seen: set[tuple[str | None, str]] = field(default_factory=set)


def find_facts(text: str) -> Iterator[Fact]:
    """``nic.speed`` (byte/s), ``.duplex``, ``.link``, ``.autonegotiation``, ``.driver``, ``.firmware``, ``.bus``;
    ``.pause_rx``, ``.tso`` and other offloads (``on``, ``off``), ``.ring_rx``, ``.channels_combined`` with ``_max``,
    ``.coalesce_rx`` (s), ``.counter`` of trouble with the label ``counter``. A speed counts only while there is a
    link; one whose driver was seen before it and makes it up is labelled ``nominal=yes``.
    """
    if ethtool_json.is_json(text):
        yield from ethtool_json.find_facts(text, _OFFLOADS)
    section = _Section()
    lines = facts.keep_whole_lines(read_lines(text), _OWN, _HEADS)
    for number, line in enumerate(lines):
        if head := _HEAD.fullmatch(line) or _STATISTICS.fullmatch(line):
            section = _enter_section(section, head)
            continue
        if _HEADS.search(line) and not line.startswith("driver: "):
            section = _Section(part="torn")
        if (limit := _LIMITS.get(line.strip().removesuffix(":"))) is not None:
            # where the second heading was torn, the settings would pass for the most that is possible
            section.limit = limit if limit == "" or _has_settings(lines[number + 1 :]) else None
        for key, value in split_fields([line]):
            if (section.limit, key) not in section.seen:
                section.seen.add((section.limit, key))
                section.driver = value if key == "driver" else section.driver
                yield from _read_field(section, key, value)


def _has_settings(lines: Sequence[str]) -> bool:
    """Whether the settings' own heading comes before the next part."""
    for line in lines:
        if line.strip().removesuffix(":") in _LIMITS or _HEADS.search(line) or _STATISTICS.fullmatch(line):
            return _LIMITS.get(line.strip().removesuffix(":")) == ""
    return False


def _enter_section(before: _Section, head: re.Match[str]) -> _Section:
    """The part below ``head``; counters below anything but a name of their own are nobody's."""
    named = head.groupdict().get("name")
    marks = facts.label_part("nic", named) if named else before.marks
    lost = not named and marks != () and (before.part != "Settings" or bool(before.seen))
    driver = before.driver if marks == before.marks else ""
    return _Section(marks, "torn" if lost else head["part"], driver=driver)


def _read_field(section: _Section, key: str, value: str) -> Iterator[Fact]:
    part, marks = section.part, section.marks
    if name := _SWITCHES.get(part, {}).get(key):
        switch = _SWITCH.fullmatch(value)
        yield from facts.make_text(name, switch and switch["state"], marks)
    elif part == "Settings":
        yield from facts.make_texts(_TEXTS, {key: value}, marks)
        yield from _read_link(section, key, value)
    elif part == "Coalesce parameters" and key in _COALESCE and (micros := parse_count(value, 10**9)) is not None:
        yield Fact(_COALESCE[key], micros / 1e6, Unit.SECOND, marks)
    elif part == "NIC statistics" and _TROUBLE.fullmatch(key) and parse_count(value, 10**15) is not None:
        yield Fact("nic.counter", float(value), Unit.ONE, add_labels(marks, counter=key))
    elif section.limit is not None and (name := _QUEUES.get(part, {}).get(key)):
        yield from facts.make_count(f"{name}{section.limit}", value, marks)


def _read_link(section: _Section, key: str, value: str) -> Iterator[Fact]:
    state = _REASON.sub("", value).lower()
    if key == "Duplex" and state in ("full", "half"):
        yield from facts.make_text("nic.duplex", state, section.marks)
    elif key == "Speed" and _SPEED.fullmatch(value):
        section.speed = value
    elif key == "Link detected" and state in ("yes", "no"):
        yield from facts.make_text("nic.link", state, section.marks)
        # some drivers tell a speed without a link: the port is set to it, and nothing runs at it
        if state == "yes" and section.speed:
            nominal = {"nominal": "yes"} if section.driver in _MADE_UP else {}
            marks = add_labels(section.marks, **nominal)
            yield from facts.make_quantity("nic.speed", section.speed, Unit.BYTE_RATE, marks)
