"""Numbers that no measurement gives: of an edited database, a tool that went wrong, a node that makes something up."""

import math

import numpy as np

from benchconsole.probes.model.measuring import Reading
from benchconsole.topology.arrays import Flags, Floats
from benchconsole.topology.units import Shown, show

MOST = 1e21
"""A value from which on nothing was measured, in any base unit: the largest machine computes 1e18 FLOP/s (2026)."""


def find_implausible(values: float | Floats) -> Flags:
    """Which values no measurement gives: NaN, infinity, MOST and beyond, less than 0."""
    return np.asarray(np.logical_not((values >= 0.0) & (values < MOST)), bool)


def describe_implausible(reading: Reading, shown: Shown) -> str:
    """Why no measurement gives the value of ``reading``, as ``find_implausible`` has it; empty where one may."""
    if not find_implausible(reading.value):
        return ""
    if not math.isfinite(reading.value):
        return f"{reading.value} is no number that can be measured"
    how = "less than 0" if reading.value < 0 else "more than any machine gives"
    return f"{show(reading.value, reading.unit, shown)} is {how}: the number is wrong"
