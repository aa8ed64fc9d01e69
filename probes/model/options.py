"""The options of a probe, read by type: one value in base units, or one sentence for each mistake.

Public for authors of probes, by way of ``probes.api``. An ambiguous or out-of-range option is a PlanError before
anything is sent; nothing is rounded, and no default takes its place.
"""

import math
from collections.abc import Collection, Mapping

from msgspec import Struct

from benchconsole.probes.model.errors import PlanError
from benchconsole.topology.units import Unit, UnitError, parse

DAY = 86_400


class Given(Struct, frozen=True):
    """The options of the probe named ``probe``: its defaults with what the suite set over them."""

    probe: str
    values: Mapping[str, str | int | float]

    def whole(self, name: str, least: int = 0, most: int = DAY) -> int:
        """A whole number from ``least`` to ``most``."""
        number = self._number(name)
        if not (number.is_integer() and least <= number <= most):
            raise self.refused(name, f"a whole number {least} to {most}")
        return int(number)

    def number(self, name: str, least: float = 0.0, most: float = DAY) -> float:
        """A number from ``least`` to ``most``."""
        number = self._number(name)
        if not least <= number <= most:
            raise self.refused(name, f"a number {least:g} to {most:g}")
        return number

    def flag(self, name: str) -> bool:
        """0 or 1."""
        return bool(self.whole(name, 0, 1))

    def size(self, name: str, least: int = 1, most: int = 2**50) -> int:
        """Whole bytes, written with their unit ("64 MiB")."""
        size = self._measured(name, Unit.BYTE)
        if not (size.is_integer() and least <= size <= most):
            raise self.refused(name, f"whole bytes, {least} to {most}")
        return int(size)

    def quantity(self, name: str, unit: Unit) -> float:
        """A quantity above 0 in base units, written with its unit ("480 Mb/s", "1 GFLOP/s")."""
        value = self._measured(name, unit)
        if not 0 < value < math.inf:
            raise self.refused(name, "more than 0")
        return value

    def rate(self, name: str) -> float | None:
        """A rate in byte/s, written with its unit ("480 Mb/s", "100 MB/s"); None where the text is empty."""
        return self.quantity(name, Unit.BYTE_RATE) if self.text(name) else None

    def choice(self, name: str, allowed: Collection[str]) -> str:
        """One of ``allowed``."""
        text = self.text(name)
        if text not in allowed:
            raise self.refused(name, "one of " + ", ".join(word or "nothing" for word in allowed))
        return text

    def text(self, name: str) -> str:
        """Text as it was written. It goes to a node as an argument of its own, never into a script."""
        return str(self.values[name])

    def path(self, name: str) -> str:
        """An absolute path of a node."""
        text = self.text(name)
        if not text.startswith("/") or "\0" in text or "\n" in text:
            raise self.refused(name, "an absolute path")
        return text

    def refused(self, name: str, expected: str) -> PlanError:
        """The error for an option that is not what was expected."""
        return PlanError(f"{self.probe} option {name}: found {self.values[name]!r}, expected {expected}")

    def _number(self, name: str) -> float:
        try:
            return float(self.values[name])
        except ValueError:
            return math.nan

    def _measured(self, name: str, unit: Unit) -> float:
        try:
            return parse(str(self.values[name]), unit)
        except UnitError as error:
            raise PlanError(f"{self.probe} option {name}: {error}") from error
