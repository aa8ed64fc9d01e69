"""Scale of a column: one unit, a factor, and numbers with their points under each other."""

import math
from collections.abc import Iterable

from msgspec import Struct

from benchconsole.topology.units import Shown, Unit

_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_BINARY = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


class Scale(Struct, frozen=True):
    """``factor`` base units are one of ``symbol``; ``places`` decimals are shown."""

    unit: Unit
    symbol: str
    factor: float
    places: int

    def shown(self, value: float | None) -> str:
        """A number without its unit; ``–`` for none."""
        if value is None:
            return "–"
        if not math.isfinite(value):
            return "?"
        return f"{value / self.factor:,.{self.places}f}"

    @property
    def example(self) -> str:
        """An example of a bound."""
        return f"a number such as 9.5 or 9.5 {self.symbol}".rstrip()


def scale_for(unit: Unit, shown: Shown, values: Iterable[float]) -> Scale:
    """The scale in which a column of ``values`` reads well: prefix by the middle one, decimals by the lowest."""
    known = sorted(abs(value) for value in values if math.isfinite(value))
    size = known[len(known) // 2] if known else 0.0
    scale = _prefixed(unit, shown, size)
    low = next((value for value in known if value), size) / scale.factor
    whole = all(abs(value / scale.factor - round(value / scale.factor)) < 1e-6 for value in known)
    places = 0 if whole or low >= 100 else 1 if low >= 10 else 2
    return Scale(unit, scale.symbol, scale.factor, places)


def _prefixed(unit: Unit, shown: Shown, size: float) -> Scale:
    if unit is Unit.ONE and shown is Shown.PERCENT:
        return Scale(unit, "%", 0.01, 0)
    if unit is Unit.SECOND:
        return _scaled(unit, size, _TIMES, "")
    if unit is Unit.BYTE and shown is Shown.MEMORY:
        return _scaled(unit, size, _BINARY, "")
    if unit is Unit.BYTE_RATE and shown is Shown.NETWORK:
        scale = _scaled(unit, size * 8, _PREFIXES, "b/s")
        return Scale(unit, scale.symbol, scale.factor / 8, 2)
    if unit is Unit.DEGREE_CELSIUS:
        return Scale(unit, "°C", 1.0, 1)
    return _scaled(unit, size, _PREFIXES, {Unit.PER_SECOND: "/s", Unit.ONE: ""}.get(unit, unit.value))


def _scaled(unit: Unit, size: float, steps: tuple[tuple[float, str], ...], symbol: str) -> Scale:
    factor, prefix = next(((f, p) for f, p in steps if size >= f * 0.9995), steps[-1])
    if size == 0:
        factor, prefix = 1.0, "B" if steps is _BINARY else "s" if steps is _TIMES else ""
    return Scale(unit, f"{prefix}{symbol}", factor, 2)
