"""Planning: a suite becomes rounds (``plan``), and a plan is summed up (``summarise``), before anything runs."""

from benchconsole.probes.planning.caps import Withheld, withhold
from benchconsole.probes.planning.designs import DEFAULT_DESIGN, DESIGNS
from benchconsole.probes.planning.plan_rounds import DESIGN_OPTIONS, format_plan, plan, rerun, split_into_waves
from benchconsole.probes.planning.plan_summary import (
    HeaviestLoad,
    LeftOut,
    PairCoverage,
    PlanSummary,
    StageSummary,
    SweepSummary,
    list_uncrossed_links,
    summarise,
)
from benchconsole.probes.planning.resource_use import MOST_TESTS
from benchconsole.probes.planning.suites import find_suite, make_default_suite

__all__ = [
    "DEFAULT_DESIGN",
    "DESIGNS",
    "DESIGN_OPTIONS",
    "MOST_TESTS",
    "HeaviestLoad",
    "LeftOut",
    "PairCoverage",
    "PlanSummary",
    "StageSummary",
    "SweepSummary",
    "Withheld",
    "find_suite",
    "format_plan",
    "list_uncrossed_links",
    "make_default_suite",
    "plan",
    "rerun",
    "split_into_waves",
    "summarise",
    "withhold",
]  # fmt: skip
