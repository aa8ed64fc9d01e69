"""Logarithmic axes: which numbers stand on one, and the round numbers on it. Pure."""

import math
from collections.abc import Iterator

WIDE = 100.0
"""Two decades: numbers whose highest is this many times the lowest, or more, stand on a logarithmic axis."""

LEAST = 1e-21
"""A number below this one, in any base unit, is as good as 0, of which there is no logarithm."""

_NEAR = 1e-9
"""Numbers that differ by less than this share are one number."""

_STEPS = (1, 2, 5)
_EVERY = (1, 2, 5, 10, 20, 50, 100, 200, 500)
"""Of so many powers one is taken, where they are too many."""


def is_positive(low: float) -> bool:
    """Whether numbers of which ``low`` is the lowest have a logarithmic axis at all."""
    return low >= LEAST


def is_wide(low: float, high: float) -> bool:
    """Whether numbers from ``low`` to ``high`` stand on a logarithmic axis: all above 0, over two decades or more."""
    return is_positive(low) and math.isfinite(high) and high >= low * WIDE * (1 - _NEAR)


def list_round_numbers(low: float, high: float, most: int, *, is_binary: bool = False) -> list[float]:
    """Round numbers from ``low``, which is above 0, to ``high``, rising, ``most`` of them or fewer.

    1, 2 and 5 times powers of ten; where these are too many powers of ten alone, or one of several. Where they are to
    be binary, powers of two or one of several.
    """
    if is_binary:
        return _list_powers(2.0, low, high, most)
    some = [number for number in _list_steps(low, high) if low * (1 - _NEAR) <= number <= high * (1 + _NEAR)]
    return some if len(some) <= most else _list_powers(10.0, low, high, most)


def _list_steps(low: float, high: float) -> Iterator[float]:
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        yield from (step * 10.0**power for step in _STEPS)


def _list_powers(base: float, low: float, high: float, most: int) -> list[float]:
    """The powers of ``base``, or those whose exponent is a multiple of the least of ``_EVERY`` with few enough."""
    first = math.ceil(math.log(low, base) - _NEAR)
    last = math.floor(math.log(high, base) + _NEAR)
    for every in _EVERY:
        some = [base**power for power in range(first, last + 1) if power % every == 0]
        if len(some) <= most:
            return some
    return []
