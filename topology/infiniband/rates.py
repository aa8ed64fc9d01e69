"""Widths and speeds of InfiniBand links, and the data rate that they give.

A link has 1, 2, 4, 8 or 12 lanes. Its rate here is what is left after the line code: 8b/10b up to QDR, 64b/66b from
FDR10 to EDR, and from HDR on what the standard calls the data rate of a lane. FDR is rounded to whole Mb/s, so that a
file shows a short number. Source: InfiniBand Architecture Specification 1.7, volume 2, chapter 5; rdma-core, libibmad.
"""

import re
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from benchconsole.topology.units import format_link_speed, parse_link_speed

LANES = MappingProxyType(
    {"SDR": 2.0, "DDR": 4.0, "QDR": 8.0, "FDR10": 10.0, "FDR": 13.636_363_6, "EDR": 25.0, "HDR": 50.0, "NDR": 100.0,
     "XDR": 200.0}
)  # fmt: skip
"""Speed to the data rate of one lane in Gb/s, slowest first."""

WIDTHS = (1, 2, 4, 8, 12)
_USUAL_WIDTH = 4
EXPECTED = f"a width of {', '.join(f'{width}x' for width in WIDTHS)} and a speed of {', '.join(LANES)}, as in 4xEDR"

_SIGNALLED = {
    "2.5": "SDR", "5": "DDR", "10": "QDR", "14": "FDR", "14.0625": "FDR", "25": "EDR", "25.78125": "EDR",
    "50": "HDR", "53.125": "HDR", "100": "NDR", "106.25": "NDR", "200": "XDR", "212.5": "XDR",
}  # fmt: skip
_ACTIVE_WIDTHS = {1: 1, 2: 4, 4: 8, 8: 12, 16: 2}
_ACTIVE_SPEEDS = {
    1: "SDR", 2: "DDR", 4: "QDR", 1 << 8: "FDR", 1 << 9: "EDR", 1 << 10: "HDR", 1 << 11: "NDR", 1 << 12: "XDR",
    1 << 16: "FDR10",
}  # fmt: skip
_SHORT = re.compile(r"(\d{1,2})[xX]\s?([A-Z]{3}(?:10)?)")


@dataclass(frozen=True, slots=True)
class LinkRate:
    """A rate as it was trained: ``width`` lanes of ``speed``."""

    width: int
    speed: str

    @property
    def data(self) -> float:
        """byte/s in one direction, after the line code."""
        return _compute_data(self.width, self.speed)

    @property
    def text(self) -> str:
        """The data rate as our file has it: ``100 Gb/s``."""
        return _format_data(self.width, self.speed)

    def __str__(self) -> str:
        return f"{self.width}x{self.speed}"


@cache
def _compute_data(width: int, speed: str) -> float:
    return parse_link_speed(f"{round(width * LANES[speed], 3):g} Gb/s")


@cache
def _format_data(width: int, speed: str) -> str:
    return format_link_speed(_compute_data(width, speed))


def parse_rate(text: str) -> LinkRate | None:
    """A rate as ``ibnetdiscover`` prints it, ``4xEDR`` or ``4x EDR``; None for any other text."""
    match = _SHORT.fullmatch(text)
    return make_rate(int(match[1]), match[2]) if match else None


def make_rate(width: int, speed: str) -> LinkRate | None:
    """A rate from lanes and the name of a speed; None where the standard does not know one of them."""
    return LinkRate(width, speed) if width in WIDTHS and speed in LANES else None


def find_speed(told: str) -> str | None:
    """The name of a speed that is told in Gb/s a lane as it is signalled, ``25.78125`` or ``25``, or by its name."""
    text = told.strip()
    if text in LANES:
        return text
    return _SIGNALLED.get(text.rstrip("0").rstrip(".") if "." in text else text)


def decode_active(width: int, speed: int) -> LinkRate | None:
    """A rate from the bits of LinkWidthActive and LinkSpeedActive as ibdiagnet writes them: extended speeds from bit 8
    on.
    """
    lanes, name = _ACTIVE_WIDTHS.get(width), _ACTIVE_SPEEDS.get(speed)
    return LinkRate(lanes, name) if lanes is not None and name is not None else None


def explain_slower(described: float, seen: LinkRate) -> str:
    """How a link that was trained to ``seen`` differs from ``described`` byte/s, as far as the two numbers tell.

    Cables of 4 lanes are the rule, so fewer of them are lost lanes first, and 4 or more a lost speed first.
    """
    widths = (width for width in WIDTHS if width > seen.width and is_rate(described, LinkRate(width, seen.speed)))
    speeds = (speed for speed in LANES if is_rate(described, LinkRate(seen.width, speed)))
    narrow = next((f"{seen.width} of {width} lanes" for width in widths), "")
    slow = next((f"{seen.speed} instead of {speed}" for speed in speeds), "")
    return (narrow or slow) if seen.width < _USUAL_WIDTH else (slow or narrow)


def is_rate(told: float, rate: LinkRate) -> bool:
    """Whether ``told`` byte/s is the data rate of ``rate``, within one percent."""
    return abs(told - rate.data) <= 0.01 * rate.data
