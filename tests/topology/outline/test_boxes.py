"""Boxes of an outline: many names folded into one set that can be read again."""

import pytest

from benchconsole.topology.outline.boxes import FOLDED_WHOLE, fold_names
from benchconsole.topology.selection import expand

MANY = range(1, FOLDED_WHOLE + 2)


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        ([f"n{number}" for number in MANY], "n[1-1001]"),
        ([f"n{number:04}" for number in MANY], "n[0001-1001]"),
        ([f"n{number:03}" for number in range(1001)], "n[000-999,1000]"),
        ([f"n{number}" for number in MANY if number != 7], "n[1-6,8-1001]"),
        ([f"r{number}-n{number}" for number in MANY], "r1-n1 ... r1001-n1001"),
        ([*(f"n{number}" for number in MANY), "n07"], "n1 ... n07"),
        ([*(f"n{number}" for number in MANY), "17"], "n1 ... 17"),
        ([*(f"n{number}" for number in MANY), "n"], "n1 ... n"),
        (["n1", *(f"n{number} x" for number in MANY)], None),
        (["n" * 61 + str(number) for number in MANY], None),
    ],
)
def test_many_names_are_one_set_or_their_ends(names: list[str], folded: str | None) -> None:
    found = fold_names(names)
    assert found == (", ".join(names) if folded is None else folded)
    if folded is not None and "[" in folded and "..." not in folded:
        assert sorted(expand(folded)) == sorted(names)
