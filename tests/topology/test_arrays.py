"""Arrays made of others: the different values of one, by whichever way is cheaper."""

import numpy as np
import pytest

from benchconsole.topology.arrays import find_distinct, list_distinct, split_alike


@pytest.mark.parametrize(
    ("count", "size"), [(0, 0), (0, 9), (1, 1), (40, 10), (40, 600), (40, 640), (40, 641), (40, 9000)]
)
def test_different_values_are_found_whatever_their_number(count: int, size: int) -> None:
    values = np.random.default_rng(size).integers(0, max(size, 1), count)
    found, at = find_distinct(values, size)
    assert found.tolist() == sorted(set(values.tolist()))
    assert found[at].tolist() == values.tolist()


@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_equal_values_are_found_together(count: int) -> None:
    values = np.random.default_rng(count).integers(0, 7, count)
    assert list_distinct(values) == list(dict.fromkeys(values.tolist()))
    parts = split_alike(values)
    assert [set(values[part].tolist()) for part in parts] == [{value} for value in sorted(set(values.tolist()))]
    assert all(part.tolist() == sorted(part.tolist()) for part in parts)
    assert sorted(at for part in parts for at in part.tolist()) == list(range(count))
