"""Numbers as tools print them: counts, decimals, addresses, and the values that were rounded to a printed decimal.

Tables of benchmarks print a rate beside the time and the size that it was computed from. A lost digit and a mistaken
unit show as numbers that do not fit each other.
"""

import math
import re
from ipaddress import IPv4Address, IPv6Address, ip_address

from benchconsole.probes.api import ProbeOutputError
from benchconsole.probes.readers.lines import shorten

Span = tuple[float, float]
"""The least and the greatest value that may have been meant."""

ABSURD = 1e15
"""A number as large as this is no rate, count or time of a node."""

_SLACK = 0.51
"""Share of the last digit: half for the rounding, the rest for the arithmetic of the program that printed it."""
_DECIMAL = re.compile(r"[-+]?[0-9]{1,30}(?:\.[0-9]{0,30})?(?:[eE][-+]?[0-9]{1,3})?")


def parse_count(text: str, most: int = 10**12) -> int | None:
    """``text`` as a whole number from 0 to ``most``, else None."""
    return int(text) if re.fullmatch(r"[0-9]{1,15}", text) and int(text) <= most else None


def read_number(value: object) -> float | None:
    """``value`` if it is a finite JSON number, else None. True and "1" are no numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def parse_decimal(text: str) -> float | None:
    """``text`` as a decimal number (``12``, ``1.5``, ``3e+06``) with nothing around it, else None: no nan, no inf."""
    value = float(text) if _DECIMAL.fullmatch(text) else math.nan
    return value if math.isfinite(value) else None


def parse_address(text: str) -> IPv4Address | IPv6Address | None:
    """``text`` as an IP address, None for a name."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def require_positive(value: object, where: str, most: float = ABSURD) -> float:
    """A JSON number, or text that is one, above 0 and below ``most``; ProbeOutputError names its place ``where``."""
    number = parse_decimal(value.strip()) if isinstance(value, str) else read_number(value)
    if number is None or not 0 < number < most:
        raise ProbeOutputError(f"{shorten(str(value))} as {where}", "a positive number")
    return number


def parse_span(text: str) -> Span | None:
    """The values that may have been rounded to the decimal number ``text``; None for other text and below 0."""
    value = parse_decimal(text)
    if value is None or value < 0:
        return None
    digits, _, exponent = text.lower().partition("e")
    half = _SLACK * 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
    return max(value - half, 0.0), value + half


def multiply_spans(*factors: Span) -> Span:
    """The least and the greatest product of one value of each span."""
    low, high = 1.0, 1.0
    for factor in factors:
        low, high = low * factor[0], high * factor[1]
    return low, high


def is_within(value: float, span: Span, tolerance: float = 1e-9) -> bool:
    """Whether ``value`` lies in ``span``, but for a share of ``tolerance``."""
    return span[0] * (1 - tolerance) <= value <= span[1] * (1 + tolerance)


def overlap(one: Span, other: Span, tolerance: float = 1e-9) -> bool:
    """Whether a value may lie in both spans, but for a share of ``tolerance``."""
    return is_within(one[0], other, tolerance) or is_within(other[0], one, tolerance)


def format_size(size: float) -> str:
    """``size`` bytes as a label: two decimals at most from 1 MiB on, whole below (``1MiB``, ``1.25GiB``, ``512B``).

    Tools write the same size exactly in one line and rounded to two decimals in another; the label is the same for
    both, so that one series is not taken for two.
    """
    for unit, factor in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20)):
        if size >= factor:
            return f"{size / factor:.2f}".rstrip("0").rstrip(".") + unit
    whole = round(size)
    return f"{whole // 1024}KiB" if whole >= 1024 and whole % 1024 == 0 else f"{whole}B"


def format_bytes(size: int) -> str:
    """``size`` bytes as a label that tells every one of them: ``4KiB``, ``2000MiB``, ``100000000B``."""
    for letter, factor in (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
        if size >= factor and size % factor == 0:
            return f"{size // factor}{letter}B"
    return f"{size}B"


_FORMATTED = re.compile(r"(?P<number>[0-9]{1,15}(?:\.[0-9]{1,2})?)(?P<unit>B|[KMGT]iB)")


def parse_size(text: str) -> float | None:
    """Bytes of a size as ``format_size`` writes it, else None."""
    match = _FORMATTED.fullmatch(text)
    return float(match["number"]) * 1024.0 ** "BKMGT".index(match["unit"][0]) if match else None
