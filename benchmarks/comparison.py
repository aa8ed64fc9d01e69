"""Comparisons on played sessions with known effects: the share that is found, and the share that is falsely claimed.

Numbers are drawn here: nodes differ by ``NODES``, repeats by ``NOISE``, both normal on a logarithmic scale. Beside the
product stands scipy's own test on the same numbers (paired or Welch), which shares no code with it.
``python -m benchmarks.comparison [--played N]`` prints a table.
"""

import argparse
import math
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import stats

from benchconsole.probes.statistics.comparison import Difference, compare_samples

NODES, NOISE = 0.05, 0.02
EFFECTS = (0.0, 0.02, 0.05, 0.10)
SHAPES = ((5, 3), (5, 30), (49, 1), (49, 3), (300, 1), (300, 3))
"""Nodes and repeats."""


class Row(NamedTuple):
    """Of sessions of one shape and effect: the share of each outcome, and of those that scipy calls different."""

    paired: bool
    nodes: int
    repeats: int
    effect: float
    outcomes: Counter[Difference]
    called: int
    covered: int
    played: int


def play(rng: np.random.Generator, nodes: int, repeats: int, effect: float, *, paired: bool) -> Iterator[np.ndarray]:
    """Two samples, nodes by repeats; of pairs the nodes are the same."""
    base = rng.normal(0, NODES, nodes)
    other = base if paired else rng.normal(0, NODES, nodes)
    yield 100 * np.exp(base[:, None] + rng.normal(0, NOISE, (nodes, repeats)))
    yield 100 * (1 + effect) * np.exp(other[:, None] + rng.normal(0, NOISE, (nodes, repeats)))


def examine(rng: np.random.Generator, nodes: int, repeats: int, effect: float, played: int, *, paired: bool) -> Row:
    """Compare ``played`` pairs of sessions by both."""
    outcomes: Counter[Difference] = Counter()
    called = covered = 0
    for _ in range(played):
        one, other = play(rng, nodes, repeats, effect, paired=paired)
        name = "n" if paired else "vm"
        found = compare_samples(
            {f"n{place}": own.tolist() for place, own in enumerate(one)},
            {f"{name}{place}": own.tolist() for place, own in enumerate(other)},
        )
        outcomes[found.difference] += 1
        covered += found.low is not None and found.high is not None and found.low <= effect <= found.high
        means = [np.log(each).mean(axis=1) for each in (one, other)]
        test = stats.ttest_rel(*means) if paired else stats.ttest_ind(*means, equal_var=False)
        called += bool(test.pvalue < 0.05)
    return Row(paired, nodes, repeats, effect, outcomes, called, covered, played)


def main() -> None:
    """Print the table, and the worst share of false claims."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.comparison", description=__doc__)
    parser.add_argument("--played", type=int, default=1000, help="sessions of each shape and effect")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    print(f"nodes differ by {NODES:.0%}, repeats by {NOISE:.0%}; {given.played:,} played of each, seed {given.seed}")
    head = "nodes repeats effect | higher  lower   same no effect  mixed | covered | scipy p < .05"
    print(f"{'':9}{head}")
    claims = sessions = 0
    for paired in (True, False):
        for nodes, repeats in SHAPES:
            for effect in EFFECTS:
                row = examine(rng, nodes, repeats, effect, given.played, paired=paired)
                _print_row(row)
                if effect == 0:
                    claims += row.outcomes[Difference.HIGHER] + row.outcomes[Difference.LOWER]
                    claims += row.outcomes[Difference.MIXED]
                    sessions += row.played
    print(f"falsely claimed without an effect: {claims:,} of {sessions:,} ({claims / sessions:.1%}), goal at most 5 %")
    error = math.sqrt(0.05 * 0.95 / given.played)
    print(f"chance alone moves a row by {2 * error:.1%} either way")


def _print_row(row: Row) -> None:
    order = (Difference.HIGHER, Difference.LOWER, Difference.SAME, Difference.NO_EFFECT, Difference.MIXED)
    shares = [row.outcomes[each] / row.played for each in order]
    cells = "  ".join(f"{share:6.1%}" for share in shares[:3])
    kind = "paired" if row.paired else "unpaired"
    print(
        f"{kind:9}{row.nodes:5} {row.repeats:7} {row.effect:6.0%} | {cells}    {shares[3]:6.1%} {shares[4]:6.1%} |"
        f"  {row.covered / row.played:6.1%} | {row.called / row.played:6.1%}"
    )


if __name__ == "__main__":
    main()
