"""Quantities as text that reads back as the same number.

The screen rounds (``topology.units``), a file must not.
"""

from collections.abc import Callable, Mapping

from benchconsole.topology.units import Unit, parse, parse_length, parse_link_speed


def _format_exact(value: float, read: Callable[[str], float], units: Mapping[str, int]) -> str:
    """``value`` in the largest of ``units`` that gives a short number which reads back as ``value``.

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


def format_seconds(value: float) -> str:
    """Seconds: 0.0505 is ``50.5 ms``; read by ``parse`` with ``Unit.SECOND``."""
    return _format_exact(value, lambda text: parse(text, Unit.SECOND), {"ms": 1, "us": 1, "s": 1})


def format_metres(value: float) -> str:
    """Metres: ``3 m``; read by ``parse_length``."""
    return _format_exact(value, parse_length, {"m": 1})
