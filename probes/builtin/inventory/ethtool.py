"""Reads ``ethtool NIC`` and ``ethtool -i NIC``, one interface after the other, as facts about interfaces."""

import re
from collections.abc import Iterator, Sequence

from probes.api import Fact, Labels, Unit, labels
from probes.builtin.captured import fields, whole_lines
from probes.builtin.inventory.facts import measured, on, said, some

_HEAD = re.compile(r"Settings for (?P<name>\S+):\s*")
_SPEED = re.compile(r"[0-9]{1,7}Mb/s")
_DRIVER = {"driver": "nic.driver", "firmware-version": "nic.firmware"}
_STATE = {("Duplex", "full"), ("Duplex", "half"), ("Link detected", "yes"), ("Link detected", "no")}
_MADE_UP = frozenset(("veth", "virtio_net", "tun", "bridge"))
"""Drivers that answer with a speed although nothing limits or measures it."""


def parse(text: str) -> Sequence[Fact]:
    """``nic.speed`` (byte/s), ``nic.duplex``, ``nic.link``, ``nic.driver``, ``nic.firmware``.

    The output of ``-i`` names no interface; it belongs to the heading above it. A speed whose
    driver was seen before it and makes it up is labelled ``nominal=yes``.
    """
    return some(_facts(whole_lines(text)), "the settings of ethtool")


def _facts(lines: Sequence[str]) -> Iterator[Fact]:
    marks: Labels = ()
    driver = ""
    for line in lines:
        if head := _HEAD.fullmatch(line):
            driver = driver if marks == on("nic", head["name"]) else ""
            marks = on("nic", head["name"])
        for key, value in fields([line]):
            driver = value if key == "driver" else driver
            if key in _DRIVER:
                yield from said(_DRIVER[key], value, marks)
            if (key, value.lower()) in _STATE:
                yield from said("nic.duplex" if key == "Duplex" else "nic.link", value.lower(), marks)
            if key == "Speed" and _SPEED.fullmatch(value):
                nominal = (*marks, *labels(nominal="yes")) if driver in _MADE_UP else marks
                yield from measured("nic.speed", value, Unit.BYTE_RATE, tuple(sorted(nominal)))
