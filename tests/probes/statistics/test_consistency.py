"""Spreads held against each other: what is found, how often alike ones are called different, and what means do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.probes.statistics.consistency import compare_spread


def draw(
    seed: int, spread: float, subjects: int, repeats: int = 1, mean: float = 100.0, among: float = 0.0
) -> dict[str, list[float]]:
    """Numbers that spread by ``spread`` between repeats, and by ``among`` between subjects."""
    chance = np.random.default_rng(seed)
    own = chance.normal(0, among, subjects)
    noise = chance.normal(0, spread, (subjects, repeats))
    return {f"n{place}": list(mean * np.exp(own[place] + noise[place])) for place in range(subjects)}


def test_a_spread_that_falls_to_a_third_is_found_and_told_as_a_share() -> None:
    found = [compare_spread(draw(seed, 0.12, 49), draw(seed + 1000, 0.04, 49, mean=105.0)) for seed in range(100)]
    assert sum(each is not None and each.is_sure and each.after < each.before for each in found) >= 98
    assert np.median([each.before for each in found if each is not None]) == pytest.approx(0.12, rel=0.1)
    assert np.median([each.after for each in found if each is not None]) == pytest.approx(0.04, rel=0.1)


def test_alike_ones_are_seldom_called_different() -> None:
    found = [compare_spread(draw(seed, 0.05, 12), draw(seed + 1000, 0.05, 30)) for seed in range(400)]
    assert sum(each is not None and each.is_sure for each in found) <= 12


def test_of_repeats_it_does_not_matter_how_unlike_subjects_are() -> None:
    found = compare_spread(draw(1, 0.02, 10, 5, among=0.5), draw(2, 0.02, 10, 5, among=0.01))
    assert found is not None
    assert found.of_repeats
    assert not found.is_sure
    worse = compare_spread(draw(1, 0.02, 10, 5, among=0.5), draw(2, 0.08, 10, 5, among=0.5))
    assert worse is not None
    assert worse.is_sure
    assert worse.after > worse.before


@given(st.floats(0.01, 100.0), st.integers(0, 50))
def test_units_do_not_matter(factor: float, seed: int) -> None:
    one, other = draw(seed, 0.1, 12), draw(seed + 1, 0.05, 12)
    scaled = {name: [factor * value for value in values] for name, values in other.items()}
    found, again = compare_spread(one, other), compare_spread(one, scaled)
    assert found is not None
    assert again is not None
    assert again.chance == pytest.approx(found.chance, rel=1e-6)


@pytest.mark.parametrize(
    "sample", [draw(1, 0.1, 7), {"n1": [1.0] * 3, "n2": [0.0] * 9}, {f"n{place}": [5.0] for place in range(12)}]
)
def test_of_too_few_and_of_zeros_and_of_what_never_varies_nothing_is_said(sample: dict[str, list[float]]) -> None:
    assert compare_spread(sample, sample) is None
