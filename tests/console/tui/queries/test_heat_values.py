"""The values of a heat map: tenths, letters, ranks, the worst of a cell, and what the scale says."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.console.tui.queries.heat_choices import HeatChoice
from benchconsole.console.tui.queries.heat_values import (
    MOST_CHANGES,
    OTHERS,
    FactHeat,
    HeatNodes,
    NumberHeat,
    make_fact_heat,
    make_number_heat,
)
from benchconsole.console.tui.rows.scales import scale_for
from benchconsole.topology.model.fabric import Comparator, NodeId
from benchconsole.topology.units import Shown, Unit

LOW_IS_WORSE, HIGH_IS_WORSE = Comparator.AT_LEAST, Comparator.AT_MOST
SENSES = (LOW_IS_WORSE, HIGH_IS_WORSE, None)


def number_heat(values: list[float], sense: Comparator | None = LOW_IS_WORSE, missing: int = 0) -> NumberHeat:
    """Nodes ``n0``, ``n1`` ... with these numbers, in byte/s."""
    numbers = {NodeId(f"n{place}"): value for place, value in enumerate(values)}
    scale = scale_for(Unit.BYTE_RATE, Shown.PLAIN, values)
    return make_number_heat(HeatChoice("x"), HeatNodes(len(values) + missing, {}), numbers, scale, sense)


def fact_heat(texts: list[str], missing: int = 0) -> FactHeat:
    told = {NodeId(f"n{place}"): text for place, text in enumerate(texts)}
    return make_fact_heat(HeatChoice("x"), HeatNodes(len(texts) + missing, {}), told)


def signs(heat: NumberHeat | FactHeat) -> str:
    return "".join(cell.sign for cell in heat.cells.values())


@pytest.mark.parametrize(
    ("values", "drawn"),
    [
        ([0.0, 10.0], "09"),
        ([0.0, 0.999, 1.0, 4.999, 5.0, 8.999, 9.0, 10.0], "00145899"),
        ([10.0, 20.0, 11.0], "091"),
        ([-5.0, 0.0, 5.0], "059"),
        ([7.0, 7.0, 7.0], "000"),
        ([3.0], "0"),
        ([-1.7e308, 0.0, 1.7e308], "059"),
        ([-1.7e308, -1.7e308, 1.7e308], "009"),
        ([8.988465674311579e307, 8.98846567431158e307], "09"),
        ([], ""),
    ],
)
def test_a_digit_is_the_tenth_between_the_lowest_and_the_highest(values: list[float], drawn: str) -> None:
    for sense in SENSES:
        assert signs(number_heat(values, sense)) == drawn


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40), st.sampled_from(SENSES))
def test_a_higher_number_never_has_a_lower_digit(values: list[float], sense: Comparator | None) -> None:
    heat = number_heat(values, sense)
    ordered = sorted(heat.cells, key=lambda node: heat.numbers[node])
    drawn = [heat.cells[node].sign for node in ordered]
    assert drawn == sorted(drawn)
    assert drawn[0] == "0"
    if math.isfinite(max(values) - min(values)) and max(values) / 2 > min(values) / 2:
        assert drawn[-1] == "9"
    assert all(0 <= cell.shade <= 4 for cell in heat.cells.values())


@pytest.mark.parametrize(
    ("sense", "worst", "shades", "word"),
    [
        (LOW_IS_WORSE, "n0", [4, 3, 0], "the lowest"),
        (HIGH_IS_WORSE, "n2", [0, 1, 4], "the highest"),
        (None, "n2", [2, 0, 4], "the furthest from the median"),
    ],
)
def test_the_worst_is_bright_and_stands_for_its_cell(
    sense: Comparator | None, worst: str, shades: list[int], word: str
) -> None:
    heat = number_heat([0.0, 3.5, 10.0], sense)
    assert [cell.shade for cell in heat.cells.values()] == shades
    assert heat.find_worst(map(NodeId, ("n1", worst, "nobody"))) == worst
    assert heat.find_worst([NodeId("nobody")]) is None
    assert heat.find_rank(NodeId(worst)) == 1
    assert heat.worst_word == word


def test_nodes_that_are_alike_share_a_rank() -> None:
    heat = number_heat([5.0, 1.0, 5.0, 9.0])
    assert [heat.find_rank(node) for node in heat.cells] == [2, 1, 2, 4]
    assert heat.describe_place(NodeId("n3")) == "rank 4 of 4, the lowest first"


def test_the_scale_says_both_ends_the_median_and_who_is_missing() -> None:
    texts = number_heat([87.9e9, 100.5e9, 102e9], missing=4).describe_scale()
    assert texts[0] == "0 = 87.9 GB/s   9 = 102.0 GB/s   median 100.5 GB/s   low is worse   4 of 7 nodes without (–)"
    assert "high is worse" in number_heat([1.0, 2.0], HIGH_IS_WORSE).describe_scale()[0]
    assert "worse" not in number_heat([1.0, 2.0], None).describe_scale()[0]
    assert "without" not in number_heat([1.0, 2.0]).describe_scale()[0]
    assert number_heat([], missing=3).describe_scale() == ("none of 3 nodes has a number",)
    assert (
        number_heat([5.0, 5.0], missing=1).describe_scale()[0].startswith("0 = 5 B/s, all that have a number   1 of 3")
    )


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=60))
def test_letters_go_by_frequency(texts: list[str]) -> None:
    heat = fact_heat(texts)
    counts = [nodes for _, _, nodes in heat.letters]
    assert counts == sorted(counts, reverse=True)
    assert [letter for letter, _, _ in heat.letters] == list("ABCDEF"[: len(counts)])
    assert sum(counts) == len(texts)
    for node, cell in heat.cells.items():
        assert (cell.sign, heat.texts[node], texts.count(heat.texts[node])) in heat.letters
    worst = heat.find_worst(heat.cells)
    assert worst is not None
    assert texts.count(heat.texts[worst]) == counts[-1]


def test_more_values_than_letters_are_said_and_counted() -> None:
    heat = fact_heat([f"serial {place}" for place in range(30)] + ["serial 0"], missing=2)
    assert signs(heat)[:2] == "AB"
    assert signs(heat).count(OTHERS) == 4
    assert heat.letters[0][1:] == ("serial 0", 2)
    texts = heat.describe_scale()
    assert texts[0].startswith("A = serial 0 (2)   B = serial 1 (1)")
    assert "4 more values (4)" in texts[0]
    assert "2 of 33 nodes without (–)" in texts[0]
    assert texts[-1] == "A = serial 0 (2)   29 more values (29)   2 without"
    assert all(len(one) >= len(other) for one, other in pairwise(texts[::2]))
    assert heat.describe_place(NodeId("n5")) == "1 of 31 nodes told it, rank 1 of 30 values, the rarest first"


def test_one_value_has_no_rank_and_none_is_said() -> None:
    assert fact_heat(["a", "a"]).describe_place(NodeId("n0")) == "2 of 2 nodes told it"
    assert fact_heat([], missing=2).describe_scale() == ("none of 2 nodes told it",)


@pytest.mark.parametrize("spread", ["few", "many", "all differ"])
def test_shades_change_seldom_enough_for_a_terminal(spread: str) -> None:
    size = 10_000
    values = {
        "few": [0.0 if place % 100 == 0 else 9.0 for place in range(size)],
        "many": [float(place % 3 == 0) * 5 + (place % 7) for place in range(size)],
        "all differ": [float(place * 7919 % size) for place in range(size)],
    }[spread]
    heat = number_heat(values)
    shades = [cell.shade for cell in heat.cells.values()]
    assert sum(one != other for one, other in pairwise(shades)) <= MOST_CHANGES
    least, most = min(values), max(values)
    assert signs(heat) == "".join(str(min(int(10 * (value - least) / (most - least)), 9)) for value in values)
    if spread != "many":
        worst = heat.find_worst(heat.cells)
        assert worst is not None
        assert heat.cells[worst].shade == 4
