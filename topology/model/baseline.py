"""Numbers of an earlier session that later ones of the same machine are held against."""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

Labels = tuple[tuple[str, str], ...]
Options = Mapping[str, str | int | float]
Place = tuple[str, str, Labels]
"""A metric, who was measured (a node, ``n1>n2``, or a set), and the labels of the measurement but for repetitions."""


class BaselineValue(Struct, frozen=True):
    """The median of one place, in base units, and the options of each different kind of test that gave it.

    ``wrong`` says why one of its numbers cannot be right; nothing is held against such a value.
    """

    median: float
    options: tuple[Options, ...] = ()
    wrong: str = ""

    def find_unlike(self, options: Options) -> str:
        """The first option that a test was told otherwise: ``threads 8 against 16``; empty where all agree."""
        for own in self.options:
            for name, value in own.items():
                if name in options and options[name] != value:
                    return f"{name} {value} against {options[name]}"
        return ""


class BaselineNumbers(Struct, frozen=True):
    """The value of each place in the session ``name``; ``why`` says why there is nothing at all."""

    name: str = ""
    values: Mapping[Place, BaselineValue] = MappingProxyType({})
    why: str = ""
