"""The type of options, and the refusal of a name that nobody knows."""

from collections.abc import Iterable, Mapping

from benchconsole.probes.model.errors import PlanError
from benchconsole.topology.errors import find_near

Options = Mapping[str, str | int | float]


_LISTED = 40
"""Fewer names than this are listed in a refusal."""


def make_unknown_error(what: str, found: str, known: Iterable[str], expected: str = "") -> PlanError:
    """The refusal of an unknown name, with the nearest known one; ``expected`` says in words what many names are."""
    names = sorted(known)
    hint = find_near(found, names)
    if not expected or len(names) < _LISTED:
        expected = f"one of {', '.join(names)}" if names else "none"
    return PlanError(f"unknown {what} {found!r}, expected {expected}" + (f"; did you mean {hint}?" if hint else ""))
