"""Arrays made of others: the different values of one, by whichever way is cheaper."""

import numpy as np
import pytest

from benchconsole.topology.arrays import find_distinct


@pytest.mark.parametrize(
    ("count", "size"), [(0, 0), (0, 9), (1, 1), (40, 10), (40, 600), (40, 640), (40, 641), (40, 9000)]
)
def test_different_values_are_found_whatever_their_number(count: int, size: int) -> None:
    values = np.random.default_rng(size).integers(0, max(size, 1), count)
    found, at = find_distinct(values, size)
    assert found.tolist() == sorted(set(values.tolist()))
    assert found[at].tolist() == values.tolist()
