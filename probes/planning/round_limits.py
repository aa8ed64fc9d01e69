"""The time limit of a round: how long it may take where a tool hangs on one of its nodes."""

import math
from collections.abc import Mapping, Sequence

from benchconsole.probes.api import Probe
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.model.time_limits import CODE_ENDING, COMMAND_ENDING, compute_give_up


def compute_time_limit(planned: Round, probes: Mapping[str, Probe]) -> float:
    """Seconds after which the last test of a round has ended, even where tools hang.

    That of its probe and the end of a command, or that of every test where this is less. In a round of several probes
    tests wait for those of others, so that only that of every test counts. Values are set on nodes before the tests.
    """
    steps = planned.swept.steps if planned.swept is not None else ()
    return sum(step.timeout + COMMAND_ENDING for step in steps) + _compute_test_limit(planned, probes)


def _compute_test_limit(planned: Round, probes: Mapping[str, Probe]) -> float:
    every = compute_give_up(planned.seconds) + CODE_ENDING
    options = {id(test.target.options): test.target.options for test in planned.tests}.values()
    probe = None if planned.is_mixed else probes.get(planned.probe)
    if probe is None or not options:
        return every
    return min(every, max(_read_time_limit(probe, each) for each in options) + COMMAND_ENDING)


def compute_overrun(rounds: Sequence[Round], probes: Mapping[str, Probe]) -> float:
    """By how many seconds a tool that hangs makes one of ``rounds`` longer than planned at most."""
    return max((compute_time_limit(each, probes) - each.seconds for each in rounds), default=0.0)


def _read_time_limit(probe: Probe, options: Mapping[str, str | int | float]) -> float:
    """Seconds that a probe allows; infinite where its code fails or gives no number: the runner ends its tests."""
    try:
        seconds = float(probe.time_limit(options))
    except Exception:
        return math.inf
    return seconds if seconds > 0 else math.inf
