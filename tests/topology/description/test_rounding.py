"""The rounding of a measurement: in the metric's unit, or a share of what it is held against."""

from pathlib import Path

import pytest

from benchconsole.topology.errors import TopologyError
from benchconsole.topology.model.fabric import Criterion
from tests.fabrics import SMALL, fabric


def criterion(folder: Path, text: str) -> Criterion:
    """The only criterion of a file with this one in it."""
    old = "{metric: iperf3.throughput, at_least: 80 %, of: capacity}"
    (found,) = fabric(folder, SMALL.replace(old, text)).criteria
    return found


def test_a_share_is_rounded_to_a_share(tmp_path: Path) -> None:
    found = criterion(tmp_path, "{metric: iperf3.throughput, at_least: 80 %, of: capacity, round: 1 %}")
    assert (found.rounding, found.rounds_share, found.step(200.0)) == (0.01, True, 2.0)


def test_a_quantity_is_rounded_to_a_quantity(tmp_path: Path) -> None:
    found = criterion(tmp_path, "{metric: iperf3.throughput, at_least: 1 GB/s, round: 0.1 GB/s}")
    assert (found.rounds_share, found.step(200.0)) == (False, 1e8)


def test_a_share_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match="'1 %', expected a rate"):
        criterion(tmp_path, "{metric: iperf3.throughput, at_least: 1 GB/s, round: 1 %}")


@pytest.mark.parametrize(
    ("text", "rounding", "rounds_share"),
    [
        ("{metric: hpl.time, at_most: 110 s, round: 1 s}", 1.0, False),
        ("{metric: hpl.time, at_most: 110 %, of: 100 s, round: 1 s}", 1.0, False),
        ("{metric: hpl.time, at_most: 110 %, of: 100 s, round: 1 %}", 0.01, True),
        ("{metric: hpl.time, at_most: 110 %, of: peers, round: 1 s}", 1.0, False),
        ("{metric: hpl.rate, at_least: 80 %, of: peak, round: 10 GFLOP/s}", 1e10, False),
        ("{metric: stress.tasks, at_least: 80, round: 1}", 1.0, False),
    ],
)
def test_a_stored_file_is_read_without_the_probes_in_any_unit(
    tmp_path: Path, text: str, rounding: float, rounds_share: bool
) -> None:
    found = criterion(tmp_path, text)
    assert (found.rounding, found.rounds_share) == (rounding, rounds_share)


@pytest.mark.parametrize("text", ["at_most: 110 s, round: 1 GB/s", "at_most: 110 %, of: 100 s, round: 1 GB/s"])
def test_a_step_in_another_unit_than_the_bound_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(TopologyError, match="'1 GB/s', expected a "):
        criterion(tmp_path, f"{{metric: hpl.time, {text}}}")
