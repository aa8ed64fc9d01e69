"""Reads ``ethtool``, ``-i``, ``-a``, ``-k``, ``-g``, ``-l``, ``-c`` and ``-S`` of interfaces as facts about them.

Every part but ``-i`` and ``-S`` begins with a heading that names its interface. The first belongs to the
interface that was named last, counters only to one that is named right above them, as our script does. In
one part the first value of each key counts, and rings and channels only below the line that says
whether they are the most that is possible or what is set.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from probes.api import Fact, Labels, Unit, labels
from probes.builtin.captured import fields, whole, whole_lines
from probes.builtin.inventory.facts import counted, measured, on, once, said, settled, some

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
_DRIVER = {
    "driver": "nic.driver", "version": "nic.driver_version", "firmware-version": "nic.firmware", "bus-info": "nic.bus",
}  # fmt: skip
_STATE = {("Duplex", "full"), ("Duplex", "half"), ("Link detected", "yes"), ("Link detected", "no")}
_REASON = re.compile(r"(?<=^no) \(.*\)")
"""Why there is no link, as ethtool since 5.9 tells with some drivers: ``no (No cable)``."""
_MADE_UP = frozenset(("veth", "virtio_net", "tun", "bridge"))
"""Drivers that answer with a speed although nothing limits or measures it."""

_PAUSE = {"RX": "nic.pause_rx", "TX": "nic.pause_tx", "Autonegotiate": "nic.pause_autonegotiate"}
_OFFLOADS = {
    "rx-checksumming": "nic.checksum_rx", "tx-checksumming": "nic.checksum_tx", "scatter-gather": "nic.scatter_gather",
    "tcp-segmentation-offload": "nic.tso", "generic-segmentation-offload": "nic.gso",
    "generic-receive-offload": "nic.gro", "large-receive-offload": "nic.lro", "ntuple-filters": "nic.ntuple",
    "receive-hashing": "nic.rx_hashing",
}  # fmt: skip
_COALESCE = {"rx-usecs": "nic.coalesce_rx", "tx-usecs": "nic.coalesce_tx"}
_LIMITS = {"Pre-set maximums": "_max", "Current hardware settings": ""}
_QUEUES = {"RX": "rx", "TX": "tx", "Combined": "combined", "Other": "other"}
_TROUBLE = re.compile(
    r"(?i)(?!.*(?:packets|bytes|octets)$).*"
    r"(?:err|drop|discard|miss|crc|fifo|pause|timeout|overrun|overflow|no_?buf|out_of_buf|jabber|collision|"
    r"reset|restart|fault|lost|link_down).*"
)
"""Counters of ``-S`` that tell of trouble; what is counted besides is traffic."""


@dataclass(slots=True)
class _Place:
    """Where in the text the reader is."""

    marks: Labels = ()
    part: str = ""
    limit: str | None = None
    driver: str = ""
    speed: str = ""
    seen: set[tuple[str, str | None, str]] = field(default_factory=set)


def parse(text: str) -> Sequence[Fact]:
    """``nic.speed`` (byte/s), ``.duplex``, ``.link``, ``.autonegotiation``, ``.driver``, ``.firmware``, ``.bus``;

    ``.pause_rx``, ``.tso`` and other offloads (``on``, ``off``), ``.ring_rx``, ``.channels_combined`` with ``_max``,
    ``.coalesce_rx`` (s), ``.counter`` of trouble with the label ``counter``. A speed counts only while there is a
    link; one whose driver was seen before it and makes it up is labelled ``nominal=yes``.
    """
    return some(once(_facts(settled(whole_lines(text), _OWN, _HEADS))), "the settings of ethtool")


def _facts(lines: Sequence[str]) -> Iterator[Fact]:
    at = _Place()
    for number, line in enumerate(lines):
        if head := _HEAD.fullmatch(line) or _STATISTICS.fullmatch(line):
            at = _entered(at, head)
            continue
        if _HEADS.search(line) and not line.startswith("driver: "):
            at = _Place(part="torn")
        if (limit := _LIMITS.get(line.strip().removesuffix(":"))) is not None:
            # where the second heading was torn, what is set would pass for the most that is possible
            at.limit = limit if limit == "" or _has_both(lines[number + 1 :]) else None
        for key, value in fields([line]):
            if (at.part, at.limit, key) not in at.seen:
                at.seen.add((at.part, at.limit, key))
                at.driver = value if key == "driver" else at.driver
                yield from _fact(at, key, value)


def _has_both(lines: Sequence[str]) -> bool:
    """Whether the settings' own heading comes before the next part."""
    for line in lines:
        if line.strip().removesuffix(":") in _LIMITS or _HEADS.search(line) or _STATISTICS.fullmatch(line):
            return _LIMITS.get(line.strip().removesuffix(":")) == ""
    return False


def _entered(at: _Place, head: re.Match[str]) -> _Place:
    """The part below ``head``; counters below anything but a name of their own are nobody's."""
    named = head.groupdict().get("name")
    marks = on("nic", named) if named else at.marks
    lost = not named and marks != () and (at.part != "Settings" or bool(at.seen))
    return _Place(marks, "torn" if lost else head["part"], None, at.driver if marks == at.marks else "")


def _fact(at: _Place, key: str, value: str) -> Iterator[Fact]:
    if key in _DRIVER and at.part in ("", "Settings"):
        yield from said(_DRIVER[key], value, at.marks)
    elif at.part in ("", "Settings"):
        yield from _setting(at, key, value)
    elif at.part == "Pause parameters" and key in _PAUSE:
        yield from _switched(_PAUSE[key], value, at.marks)
    elif at.part in ("Features", "Offload parameters") and key in _OFFLOADS:
        yield from _switched(_OFFLOADS[key], value, at.marks)
    elif at.part == "Coalesce parameters":
        yield from _coalesced(key, value, at.marks)
    elif at.part == "NIC statistics" and _TROUBLE.fullmatch(key) and whole(value, 10**15) is not None:
        yield Fact("nic.counter", float(value), Unit.ONE, tuple(sorted((*at.marks, *labels(counter=key)))))
    elif at.limit is not None and key in _QUEUES and at.part in ("Ring parameters", "Channel parameters"):
        kind = "ring" if at.part == "Ring parameters" else "channels"
        # rings are never combined: below such a line the heading of the channels was torn
        yield from (
            []
            if kind == "ring" and key in ("Combined", "Other")
            else counted(f"nic.{kind}_{_QUEUES[key]}{at.limit}", value, at.marks)
        )


def _setting(at: _Place, key: str, value: str) -> Iterator[Fact]:
    state = _REASON.sub("", value).lower()
    if (key, state) in _STATE:
        yield from said("nic.duplex" if key == "Duplex" else "nic.link", state, at.marks)
    elif key == "Auto-negotiation":
        yield from _switched("nic.autonegotiation", value, at.marks)
    elif key == "Port":
        yield from said("nic.port", value, at.marks)
    elif key == "Speed" and _SPEED.fullmatch(value):
        at.speed = value
    # some drivers tell a speed without a link: what the port is set to, and nothing that runs
    if (key, state) == ("Link detected", "yes") and at.speed:
        nominal = (*at.marks, *labels(nominal="yes")) if at.driver in _MADE_UP else at.marks
        yield from measured("nic.speed", at.speed, Unit.BYTE_RATE, tuple(sorted(nominal)))


def _switched(name: str, value: str, marks: Labels) -> list[Fact]:
    """``on`` or ``off``, with or without ``[fixed]`` behind it."""
    return said(name, value.partition(" ")[0] if re.fullmatch(r"(?:on|off)(?: \[.+\])?", value) else None, marks)


def _coalesced(key: str, value: str, marks: Labels) -> Iterator[Fact]:
    if key == "Adaptive RX":
        yield from _switched("nic.coalesce_adaptive_rx", value.partition(" ")[0], marks)
    elif key in _COALESCE and (micros := whole(value, 10**9)) is not None:
        yield Fact(_COALESCE[key], micros / 1e6, Unit.SECOND, marks)
