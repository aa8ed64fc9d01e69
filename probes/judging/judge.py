"""The only place where a number meets a bound: closed round in, verdicts out. A pure function."""

from collections.abc import Callable, Iterator

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.yardsticks import capacity, criteria, hardware
from benchconsole.probes.model.judgement import ClosedRound, Verdict

YARDSTICKS: tuple[Callable[[JudgingContext, ClosedRound], Iterator[Verdict]], ...] = (
    hardware.give_verdicts,
    criteria.give_verdicts,
    capacity.give_verdicts,
)


def judge_round(context: JudgingContext, closed: ClosedRound) -> tuple[Verdict, ...]:
    """Every verdict that the yardsticks give on a round. Tests without a number get none."""
    return tuple(verdict for yardstick in YARDSTICKS for verdict in yardstick(context, closed))
