"""Owns reading the options of designs: by name, in range, and refused with what was found and expected."""

from collections.abc import Iterable, Mapping

from probes.errors import PlanError
from topology.selection import near

Options = Mapping[str, str | int | float]


def unknown(what: str, found: str, known: Iterable[str]) -> PlanError:
    """The refusal of a name that nobody knows, with the nearest one that somebody does."""
    names = sorted(known)
    hint = near(found, names)
    expected = f"one of {', '.join(names)}" if names else "none"
    return PlanError(f"unknown {what} {found!r}, expected {expected}" + (f"; did you mean {hint}?" if hint else ""))


def number(options: Options, name: str, *, least: float, most: float) -> float:
    """The option ``name`` as a number from ``least`` to ``most``; PlanError otherwise."""
    try:
        found = float(options[name])
    except ValueError:
        found = float("nan")
    if not least <= found <= most:
        raise PlanError(f"option {name}: found {options[name]!r}, expected a number {least:,g} to {most:,g}")
    return found


def whole(options: Options, name: str, *, least: int, most: int) -> int:
    """The option ``name`` as a whole number from ``least`` to ``most``; PlanError otherwise."""
    try:
        found = float(options[name])
    except ValueError:
        found = float("nan")
    if not (found.is_integer() and least <= found <= most):
        raise PlanError(f"option {name}: found {options[name]!r}, expected a whole number {least:,} to {most:,}")
    return int(found)
