"""Every conversion between written quantities and base units (``Unit``), both ways.

``b`` is a bit and ``B`` is a byte, always; ``k`` is 1000 and ``Ki`` is 1024. UnitError for whatever could be read two
ways: a bare number for a rate, ``mb/s``, ``KB``, a link speed in bytes.
"""

import math
import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import lru_cache

from msgspec import Struct


class Unit(StrEnum):
    """The base units that a measurement may carry (see ``docs/reference/contract.md``)."""

    BYTE = "B"
    SECOND = "s"
    BYTE_RATE = "B/s"
    FLOP_RATE = "FLOP/s"
    PER_SECOND = "1/s"
    ONE = "1"
    DEGREE_CELSIUS = "°C"
    WATT = "W"


RATES = (Unit.BYTE_RATE, Unit.FLOP_RATE, Unit.PER_SECOND)
"""Units of which more is better, and whose values add up over what runs at once."""


class Shown(StrEnum):
    """How a value of one unit is written for people; the unit alone does not tell."""

    NETWORK = "network"
    STORAGE = "storage"
    MEMORY = "memory"
    PLAIN = "plain"
    PERCENT = "percent"
    FREQUENCY = "frequency"
    TRANSFERS = "transfers"


class UnitError(ValueError):
    """A quantity that cannot be read, or could be read two ways: what was found, and was expected."""

    def __init__(self, found: str, expected: str, suggestion: str | None = None) -> None:
        self.found = found
        self.expected = expected
        self.suggestion = suggestion
        hint = f", did you mean {suggestion}?" if suggestion else ""
        super().__init__(f"found {found!r}, expected {expected}{hint}")


_SI = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_IEC = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}
_PREFIXES = _SI | _IEC
_TIME = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0, "d": 86400.0}
_LENGTH = {"m": 1.0, "cm": 1e-2, "km": 1e3}
_NUMBER = re.compile(r"\s*(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?)\s*(?P<unit>[^0-9\s.].*?)?\s*")
_PREFIX = r"(?P<prefix>[kMGTP]|[KMGTP]i)?"
_RATE = re.compile(_PREFIX + r"(?P<symbol>b|bit|bits|B)(?P<per>/s|ps)")
_SIZE = re.compile(_PREFIX + r"B")
_FLOPS = re.compile(r"(?P<prefix>[kMGTP])?(?:FLOP/s|FLOPS|flop/s)")
_DEGREES = re.compile(r"°C|degC|degrees? C|C")
_WATTS = re.compile(r"(?P<prefix>[kM])?(?:W|[Ww]atts?)")
_PER_SECOND = re.compile(r"(?P<prefix>[kMGTP])?(?:IOPS|/s|1/s|Hz)")

EXPECTED = {
    Unit.BYTE: "a size such as 128 GiB or 4 TB",
    Unit.SECOND: "a time such as 30 s, 5 min or 200 us",
    Unit.BYTE_RATE: "a rate such as 10 Gb/s (bits) or 1.2 GB/s (bytes)",
    Unit.FLOP_RATE: "a rate such as 645 GFLOP/s",
    Unit.PER_SECOND: "a rate such as 20 kIOPS or 50 Hz",
    Unit.ONE: "a plain number or a percentage such as 80 %",
    Unit.DEGREE_CELSIUS: "a temperature such as 80 °C",
    Unit.WATT: "a power such as 350 W or 1.2 kW",
}
LINK_SPEED = "a link speed in bits per second such as 10 Gb/s"
_SLOWEST, _FASTEST = 1e3, 1e14
"""bit/s; a port outside of these was never built, so it is a slip."""


def _split(text: str, expected: str) -> tuple[float, str]:
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise UnitError(text, expected)
    number = float(match["number"])
    if not math.isfinite(number) or number > 1e30:
        raise UnitError(text, expected)
    return number, match["unit"] or ""


def _find_near_unit(number: float, unit: str) -> str | None:
    lower = unit.lower().replace(" ", "")
    shown = f"{number:g}"
    match = re.fullmatch(r"([kmgtp]?)(i?)(b|bit|bits|byte|bytes)(/s|ps|/sec|psec)?", lower)
    if match is None:
        return None
    prefix, binary, symbol, per = match.groups()
    big = "k" if prefix == "k" and not binary else prefix.upper()
    rate = "/s" if per else ""
    if symbol.startswith("byte"):
        return f"{shown} {big}{binary}B{rate}"
    if symbol.startswith("bit") or (per is None and symbol == "b" and not unit.endswith("B")):
        return f"{shown} {big}{binary}b{rate or '/s'}"
    if per is None:
        return f"{shown} {big}B (1000) or {shown} {big.upper()}iB (1024)"
    return f"{shown} {big}{binary}b/s (bits) or {shown} {big}{binary}B/s (bytes)"


def _parse_rate(number: float, unit: str, text: str) -> float:
    match = _RATE.fullmatch(unit)
    if match is None:
        guess = f"{text.strip()} Gb/s" if not unit else _find_near_unit(number, unit)
        if re.fullmatch(r"[kMGTP]", unit):
            guess = f"{number:g} {unit}b/s (bits) or {number:g} {unit}B/s (bytes)"
        raise UnitError(text, EXPECTED[Unit.BYTE_RATE], guess)
    bits = match["symbol"] != "B"
    return number * _PREFIXES[match["prefix"] or ""] / (8.0 if bits else 1.0)


def _parse_scaled(number: float, unit: str, text: str, *, pattern: re.Pattern[str], of: Unit) -> float:
    match = pattern.fullmatch(unit)
    if match is None:
        guess = _find_near_unit(number, unit)
        if of is Unit.BYTE and unit.endswith(("/s", "ps")):
            guess = f"{number:g} {unit.removesuffix('/s').removesuffix('ps')}"
        raise UnitError(text, EXPECTED[of], guess)
    return number * _PREFIXES[match["prefix"] or ""]


_PATTERNS = {Unit.BYTE: _SIZE, Unit.FLOP_RATE: _FLOPS, Unit.PER_SECOND: _PER_SECOND, Unit.WATT: _WATTS}


def parse(text: str, unit: Unit) -> float:
    """Read ``text`` as a quantity of ``unit``, in that base unit. UnitError for anything that is not exactly one
    reading.
    """
    number, suffix = _split(text, EXPECTED[unit])
    if unit is Unit.BYTE_RATE:
        return _parse_rate(number, suffix, text)
    if unit is Unit.SECOND:
        if suffix not in _TIME:
            raise UnitError(text, EXPECTED[unit], None if suffix else f"{number:g} s")
        return number * _TIME[suffix]
    if unit is Unit.ONE:
        if suffix not in ("", "%"):
            raise UnitError(text, EXPECTED[unit])
        return number / 100.0 if suffix else number
    if unit is Unit.DEGREE_CELSIUS:
        if not _DEGREES.fullmatch(suffix):
            raise UnitError(text, EXPECTED[unit], None if suffix else f"{number:g} °C")
        return number
    pattern = _PATTERNS[unit]
    return _parse_scaled(number, suffix, text, pattern=pattern, of=unit)


def parse_percentage(text: str, expected: str, most: float = 1) -> float:
    """Read a share that is written with a percent sign, above 0 and up to ``most``. UnitError for anything else."""
    if not text.strip().endswith("%"):
        raise UnitError(text, expected, f"{text.strip()} %" if text.strip().isdecimal() else None)
    found = parse(text, Unit.ONE)
    if not 0 < found <= most:
        raise UnitError(text, expected)
    return found


_ANY = (
    Unit.BYTE_RATE, Unit.FLOP_RATE, Unit.BYTE, Unit.SECOND, Unit.PER_SECOND, Unit.ONE, Unit.WATT, Unit.DEGREE_CELSIUS,
)  # fmt: skip


def parse_any(text: str) -> tuple[float, Unit]:
    """A quantity whose unit tells its dimension: ``12 MB/s``, ``80 %``, ``645 GFLOP/s``."""
    suggestion: str | None = None
    for unit in _ANY:
        try:
            return parse(text, unit), unit
        except UnitError as error:
            suggestion = suggestion or error.suggestion
    raise UnitError(text, "a quantity such as 1 GB/s, 10 Gb/s, 80 % or 645 GFLOP/s", suggestion)


@lru_cache(maxsize=256)
def parse_link_speed(text: str) -> float:
    """Read the speed of a port or link as byte/s: bits by custom, so a bare prefix is enough, as in ``40G``.

    Bytes are refused, because a port written in bytes is a slip of factor eight.
    """
    number, suffix = _split(text, LINK_SPEED)
    if number == 0:
        raise UnitError(text, LINK_SPEED)
    if suffix in ("k", "M", "G", "T"):
        return _parse_port(number * _SI[suffix], text)
    match = _RATE.fullmatch(suffix)
    if match is None:
        guess = f"{number:g} Gb/s" if not suffix else _find_near_unit(number, suffix)
        raise UnitError(text, LINK_SPEED, guess)
    if match["symbol"] == "B" or (match["prefix"] or "").endswith("i"):
        prefix = (match["prefix"] or "").rstrip("i")
        raise UnitError(text, LINK_SPEED, f"{number:g} {prefix}b/s")
    return _parse_port(number * _PREFIXES[match["prefix"] or ""], text)


def _parse_port(bits: float, text: str) -> float:
    if not _SLOWEST <= bits <= _FASTEST:
        raise UnitError(text, f"{LINK_SPEED}, from 1 kb/s to 100 Tb/s")
    return bits / 8.0


def parse_length(text: str) -> float:
    """Read the length of a cable, ``3 m`` or ``50 cm``, and return metres."""
    expected = "a length such as 3 m"
    number, suffix = _split(text, expected)
    if suffix not in _LENGTH:
        raise UnitError(text, expected, None if suffix else f"{number:g} m")
    return number * _LENGTH[suffix]


class Written(Struct, frozen=True):
    """A quantity as a document prints it: ``value`` in base units, ``unit`` as written, and its last decimal.

    ``scale`` is what one of ``unit`` is worth, ``places`` how many decimals stand behind the point.
    """

    value: float
    unit: str
    scale: float
    places: int

    @property
    def span(self) -> tuple[float, float]:
        """The least and the most that is rounded to it."""
        half = 0.5 * self.scale * 10.0**-self.places
        return self.value - half, self.value + half

    def agrees(self, least: float, most: float) -> bool:
        """Whether a number from ``least`` to ``most`` is rounded to it; their common end is no common number.

        A millionth of a digit is no difference.
        """
        low, high = self.span
        allowed = 1e-6 * (high - low) * (1 if least == most else -1)
        return least <= high + allowed and most >= low - allowed

    def format(self, value: float, more: int = 0) -> str:
        """``value`` in the same unit, with as many decimals or some ``more``."""
        return f"{value / self.scale:,.{max(self.places + more, 0)}f} {self.unit}".rstrip()


def read_written(text: str, unit: Unit) -> Written:
    """Read a quantity of ``unit`` with its unit and its last decimal. UnitError as ``parse``."""
    value = parse(text, unit)
    match = _NUMBER.fullmatch(text)
    digits, _, exponent = (match["number"] if match else "").lower().partition("e")
    suffix = (match["unit"] if match else "") or ""
    places = len(digits.partition(".")[2]) - int(exponent or 0)
    return Written(value, suffix, parse(f"1 {suffix}", unit), places)


def _format_exact(value: float, read: Callable[[str], float], units: Mapping[str, int]) -> str:
    """``value`` in the largest of ``units`` that gives a short number which reads back as it: a file must not round.

    ``units`` maps each to a number of it that can be read. The last one must be a power-of-two
    multiple of the base unit: it takes what nothing else does.
    """
    worth = 1.0
    for unit, some in units.items():
        worth = read(f"{some} {unit}") / some
        text = f"{value / worth:.12g} {unit}"
        if value >= worth and read(text) == value:
            return text
    return f"{value / worth!r} {unit}"


def format_link_speed(value: float) -> str:
    """byte/s as the speed of a port: 1.25e9 is ``10 Gb/s``; read by ``parse_link_speed``."""
    return _format_exact(value, parse_link_speed, {"Tb/s": 1, "Gb/s": 1, "Mb/s": 1, "kb/s": 1, "b/s": 1000})


def format_byte_rate(value: float) -> str:
    """byte/s of storage: 2e9 is ``2 GB/s``; read by ``parse`` with ``Unit.BYTE_RATE``."""
    units = {"TB/s": 1, "GB/s": 1, "MB/s": 1, "kB/s": 1, "B/s": 1}
    return _format_exact(value, lambda text: parse(text, Unit.BYTE_RATE), units)


def format_seconds(value: float) -> str:
    """Seconds: 0.0505 is ``50.5 ms``; read by ``parse`` with ``Unit.SECOND``."""
    return _format_exact(value, lambda text: parse(text, Unit.SECOND), {"ms": 1, "us": 1, "s": 1})


def format_metres(value: float) -> str:
    """Metres: ``3 m``; read by ``parse_length``."""
    return _format_exact(value, parse_length, {"m": 1})


def counted(number: int, noun: str) -> str:
    """``1 node``, ``16 nodes``, ``10,000 nodes``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def digits3(value: float) -> str:
    """``value`` with three significant digits, never in exponent form: 9.90, 118.8 is 119; ``inf``, ``nan``."""
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return str(value)
    places = 2 - math.floor(math.log10(abs(value)))
    rounded = round(value, places)
    if rounded and math.floor(math.log10(abs(rounded))) > math.floor(math.log10(abs(value))):
        places -= 1
    return f"{rounded:,.{max(places, 0)}f}"


def _format_with_prefix(value: float, symbol: str) -> str:
    size = abs(value)
    for prefix, factor in reversed(_SI.items()):
        if size >= factor * 0.9995 and (size or not prefix):
            return f"{digits3(value / factor)} {prefix}{symbol}"
    return f"{digits3(value)} {symbol}"


def to_bits(rate: float) -> float:
    """A rate in byte/s as bit/s, for the documents whose keys end in ``_bps``."""
    return rate * 8


def network_rate(value: float) -> str:
    """byte/s as bits per second: 1.25e9 is ``10.0 Gb/s``."""
    return _format_with_prefix(value * 8.0, "b/s")


def storage_rate(value: float) -> str:
    """byte/s as bytes per second: 149e6 is ``149 MB/s``."""
    return _format_with_prefix(value, "B/s")


def disk_size(value: float) -> str:
    """Bytes with SI prefixes, as disks are sold: ``4.00 TB``. A byte has no parts: ``152 B``, ``5 B``."""
    if abs(value) < 999.5 and value == round(value):
        return f"{value:.0f} B"
    return _format_with_prefix(value, "B")


def memory_size(value: float) -> str:
    """Bytes with IEC prefixes, as memory is sold: ``128 GiB``."""
    for prefix, factor in reversed(_IEC.items()):
        if abs(value) >= factor:
            return f"{digits3(value / factor)} {prefix}B"
    return f"{digits3(value)} B"


def duration(value: float) -> str:
    """Seconds for people: ``11.4 µs``, ``38:06``, ``2:05:00``, ``-1.00 s``."""
    if value < 0:
        return f"-{duration(-value)}"
    if not math.isfinite(value):
        return f"{value} s"
    if value < 60:
        for unit, factor in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
            if value >= factor:
                return f"{digits3(value / factor)} {unit}"
        return f"{digits3(value * 1e9)} ns"
    hours, rest = divmod(round(value), 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def percent(value: float) -> str:
    """A share as a whole percentage: 0.297 is ``30 %``."""
    whole = value * 100
    return f"{round(whole):d} %" if math.isfinite(whole) else f"{whole} %"


def ratio(value: float | None) -> str:
    """An oversubscription with two decimals: ``2.67:1``; ``top`` without a way up, ``none left`` for infinity."""
    if value is None:
        return "top"
    return "none left" if math.isinf(value) else f"{value:.2f}:1"


_SHOW: dict[tuple[Unit, Shown], Callable[[float], str]] = {
    (Unit.BYTE_RATE, Shown.NETWORK): network_rate,
    (Unit.BYTE, Shown.MEMORY): memory_size,
    (Unit.ONE, Shown.PERCENT): percent,
    (Unit.PER_SECOND, Shown.FREQUENCY): lambda value: _format_with_prefix(value, "Hz"),
    (Unit.PER_SECOND, Shown.TRANSFERS): lambda value: f"{value / 1e6:,.0f} MT/s",
}
_SHOW_BY_UNIT: dict[Unit, Callable[[float], str]] = {
    Unit.BYTE_RATE: storage_rate,
    Unit.BYTE: disk_size,
    Unit.SECOND: duration,
    Unit.FLOP_RATE: lambda value: _format_with_prefix(value, "FLOP/s"),
    Unit.PER_SECOND: lambda value: _format_with_prefix(value, "/s"),
    Unit.ONE: digits3,
    Unit.DEGREE_CELSIUS: lambda value: f"{value:,.1f} °C",
    Unit.WATT: lambda value: _format_with_prefix(value, "W"),
}


def show(value: float, unit: Unit, shown: Shown = Shown.PLAIN) -> str:
    """``value`` in base ``unit`` as people read it, with its letter; ``shown`` picks bits or bytes."""
    return _SHOW.get((unit, shown), _SHOW_BY_UNIT[unit])(value)


_SCALED: dict[tuple[Unit, Shown], tuple[float, str, Mapping[str, float]]] = {
    (Unit.BYTE_RATE, Shown.NETWORK): (8.0, "b/s", _SI),
    (Unit.BYTE, Shown.MEMORY): (1.0, "B", {"": 1.0, **_IEC}),
    (Unit.ONE, Shown.PERCENT): (100.0, "%", {"": 1.0}),
    (Unit.PER_SECOND, Shown.FREQUENCY): (1.0, "Hz", _SI),
    (Unit.PER_SECOND, Shown.TRANSFERS): (1e-6, "MT/s", {"": 1.0}),
}
"""How many of a unit one base unit is, its symbol, and the prefixes that it takes."""

_SCALED_BY_UNIT: dict[Unit, tuple[float, str, Mapping[str, float]]] = {
    Unit.BYTE_RATE: (1.0, "B/s", _SI),
    Unit.BYTE: (1.0, "B", _SI),
    Unit.SECOND: (1.0, "s", {"n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1.0}),
    Unit.FLOP_RATE: (1.0, "FLOP/s", _SI),
    Unit.PER_SECOND: (1.0, "/s", _SI),
    Unit.ONE: (1.0, "", {"": 1.0}),
    Unit.DEGREE_CELSIUS: (1.0, "°C", {"": 1.0}),
    Unit.WATT: (1.0, "W", {"": 1.0, "k": 1e3, "M": 1e6}),
}


def show_with_error(value: float, error: float, unit: Unit, shown: Shown = Shown.PLAIN) -> str:
    """``value`` with its standard error in one unit, both to the last digit of the error: ``8.15 ± 0.03 MB/s``.

    The error has one significant digit, two where the first is 1; both numbers are finite, the error is not negative.
    """
    worth, symbol, prefixes = _SCALED.get((unit, shown), _SCALED_BY_UNIT[unit])
    scaled, deviation = value * worth, error * worth
    fits = [each for each in prefixes.items() if abs(scaled) >= each[1] * 0.9995]
    prefix, factor = max(fits or [min(prefixes.items(), key=lambda each: each[1])], key=lambda each: each[1])
    places = _find_last_place(deviation / factor) if deviation else _find_last_place(abs(scaled / factor)) + 2
    number, spread = (f"{round(each / factor, places):,.{max(places, 0)}f}" for each in (scaled, deviation))
    return f"{number} ± {spread} {prefix}{symbol}".rstrip()


_MOST_PLACES = 30
"""Decimals up to which the smallest number is told."""


def _find_last_place(error: float) -> int:
    """How many decimals show the first significant digit of ``error``, and the second where the first is 1."""
    if not error:
        return 0
    place = min(-math.floor(math.log10(error)), _MOST_PLACES)
    first = round(error * 10.0**place, 1)
    return place + 1 if 1 <= first < 2 else place


def show_change(share: float) -> str:
    """A change as a percentage with its sign, to three digits, two decimals at most: 0.42 is ``+42.0 %``."""
    if not math.isfinite(share):
        return f"{share} %"
    shown = share * 100
    places = 2 if abs(shown) < 9.995 else 1 if abs(shown) < 99.95 else 0
    return f"{shown:+,.{places}f} %"
