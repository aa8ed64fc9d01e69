"""Arrays made of others: the different values of one, by whichever way is cheaper, and numbers of keys."""

import numpy as np
import pytest

from benchconsole.topology.arrays import (
    Indices,
    KeyedNumbers,
    find_distinct,
    list_distinct,
    pair_numbers,
    split_alike,
    split_pair,
)


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


def test_pairs_of_numbers_have_numbers_of_their_own() -> None:
    one, other = (column.ravel() for column in np.indices((9, 9)))
    pairs = pair_numbers(one, other)
    assert sorted(pairs.tolist()) == list(range(81))
    assert [split_pair(pair) for pair in pairs.tolist()] == list(zip(one.tolist(), other.tolist(), strict=True))
    large = pair_numbers(np.array([2**31 - 1, 0]), np.array([2**31 - 2, 2**31 - 1]))
    assert [split_pair(pair) for pair in large.tolist()] == [(2**31 - 1, 2**31 - 2), (0, 2**31 - 1)]


def test_numbers_of_keys_are_worked_out_once_whatever_their_size() -> None:
    numbers, asked = KeyedNumbers(), list[int]()

    def work_out(keys: Indices) -> Indices:
        asked.extend(keys.tolist())
        return keys * 2

    for keys in ([5, 2**40, 5, 0], [7, 5, 2**40, 2**21, 3_000], [2**20 - 1, 2**20, 7], []):
        assert numbers.find(np.array(keys, np.intp), work_out).tolist() == [2 * key for key in keys]
    assert sorted(asked) == sorted({0, 5, 7, 3_000, 2**20 - 1, 2**20, 2**21, 2**40})
