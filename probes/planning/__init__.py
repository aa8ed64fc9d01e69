"""Owns the plan: a suite becomes rounds before anything runs, and is summed up before anybody agrees to it.

``plan`` makes rounds, ``summarise`` says what they load and what they leave out, ``withhold`` leaves
out what no cap could hold, ``in_waves`` lets rounds start small; ``sweeps`` makes a stage a series of
points, ``ending`` ends it early. Designs (``designs``) choose who sends to whom; ``packing`` and
``colouring`` put that into rounds;
``verify`` checks the result without sharing their code. Refuses to send anything and to judge.
"""

from probes.planning.coverage import Left, Met, uncrossed
from probes.planning.designs import DEFAULT_DESIGN, DESIGNS
from probes.planning.ledger import MOST_TESTS
from probes.planning.rounds import DESIGN_OPTIONS, describe, plan, rerun
from probes.planning.suites import default_suite, suite_named
from probes.planning.summary import Heaviest, PlanSummary, StageSummary, SweepSummary, summarise
from probes.planning.waves import in_waves
from probes.planning.withholding import Withheld, withhold

__all__ = [
    "DEFAULT_DESIGN", "DESIGNS", "DESIGN_OPTIONS", "MOST_TESTS", "Heaviest", "Left", "Met", "PlanSummary",
    "StageSummary", "SweepSummary", "Withheld", "default_suite", "describe", "in_waves", "plan", "rerun",
    "suite_named", "summarise", "uncrossed", "withhold",
]  # fmt: skip
