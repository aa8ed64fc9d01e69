"""The only place where a number meets a bound: closed round in, verdicts out. A pure function."""

from collections.abc import Callable, Iterator

from probes.judging.bench import Bench
from probes.judging.verdict import Verdict
from probes.judging.yardsticks import capacity, criteria, hardware
from probes.model import ClosedRound

YARDSTICKS: tuple[Callable[[Bench, ClosedRound], Iterator[Verdict]], ...] = (
    hardware.verdicts,
    criteria.verdicts,
    capacity.verdicts,
)


def judge_round(bench: Bench, closed: ClosedRound) -> tuple[Verdict, ...]:
    """Every verdict that the yardsticks give on a round. Tests without a number get none."""
    return tuple(verdict for yardstick in YARDSTICKS for verdict in yardstick(bench, closed))
