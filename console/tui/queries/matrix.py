"""A matrix of cells by two names, with a sum of each row and column: what the maps of pairs and of changes draw."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from benchconsole.topology.natural_order import make_natural_key

Cell = TypeVar("Cell")
Place = tuple[str, str]
"""A row and a column: of pairs a sender and a receiver, each a node or the switch that nodes are under."""

MOST_NODES = 32
"""Nodes up to which each has a row and a column of its own."""


@dataclass(frozen=True)
class Matrix(Generic[Cell]):
    """``cells`` by row and column, in the order of ``sources`` and ``sinks``.

    ``by_source`` and ``by_sink`` are the sums of rows and columns; empty where columns have nothing in common.
    ``is_grouped``: names are switches, and a cell holds the pairs from the nodes under one to those under the other.
    """

    sources: tuple[str, ...]
    sinks: tuple[str, ...]
    cells: Mapping[Place, Cell]
    by_source: Mapping[str, Cell]
    by_sink: Mapping[str, Cell]
    is_grouped: bool


def order_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names once each, ``n2`` before ``n10``."""
    return tuple(sorted({*names}, key=make_natural_key))
