"""Statements of documents: claims about a machine, and the results that they report.

Claims are held against what is computed from the description, reported results against criteria and measurements.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from msgspec import Struct

from benchconsole.topology.units import Unit, Written

END_TO_END = "end-to-end"
"""The scope of a claim on the whole way from node to node."""


class Claim(Struct, frozen=True):
    """Something that the documents say about the machine.

    ``what`` is oversubscription (``value`` is down/up), bisection (byte/s), or a total over ``nodes``: nodes, sockets,
    cores (each a number), memory, disk (bytes) or peak (FLOP/s). ``scope`` is ``end-to-end``, a tier, a group kind, or
    the name of a switch or group; of a total the selection of nodes as it is written, empty for all.
    """

    what: str
    scope: str
    value: float
    source: str = ""
    nodes: tuple[str, ...] = ()


class Statistic(StrEnum):
    """How one reported number stands for several measured ones."""

    MEAN = "mean"
    MEDIAN = "median"
    LOWEST = "lowest"
    HIGHEST = "highest"
    SUM = "sum"
    """Of tests that ran at once: sums of others are no rate."""


class ShareOf(StrEnum):
    """The base of a reported percentage: a bound of the criterion on the same numbers, or the stated peak."""

    REQUIRED = "required"
    TARGET = "target"
    PEAK = "peak"


class ReportedResult(Struct, frozen=True):
    """A cell of a document's table of results, with the percentages beside it.

    ``value`` is in ``unit`` and stands for every measurement of ``metric`` that carries ``where`` and is of ``nodes``
    (empty: all).
    """

    metric: str
    value: Written
    unit: Unit
    shares: Mapping[ShareOf, Written] = MappingProxyType({})
    statistic: Statistic = Statistic.MEAN
    where: tuple[tuple[str, str], ...] = ()
    nodes: tuple[str, ...] = ()
    source: str = ""
