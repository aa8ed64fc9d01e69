"""Findings on criteria of a session in words: a statistic that misses its bound, or nodes whose shares do."""

from collections.abc import Iterable, Iterator, Sequence

from benchconsole.probes.judging.low_verdicts import LOW
from benchconsole.probes.judging.session_criteria import SessionJudgement
from benchconsole.probes.model.judgement import Confidence, Finding, Suspect
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Comparator, Criterion
from benchconsole.topology.selection import fold
from benchconsole.topology.units import counted

_WHICH = "which node or link between them: a pair or set has one number"
_SHOWN = 8
"""Subjects that a finding tells one by one; the others are named."""


def list_session_findings(judgements: Iterable[SessionJudgement]) -> Iterator[Finding]:
    """A finding for each statistic that misses its bound, and one for the subjects of each other criterion that do."""
    every = list(judgements)
    measured = group_by_key((id(each.criterion), each) for each in every)
    low = group_by_key((id(each.criterion), each) for each in every if each.level in LOW)
    for criterion, own in low.items():
        if own[0].criterion.statistic:
            yield from map(_make_statistic, own)
        else:
            yield _make_subjects(own, len(measured[criterion]))


def name_criterion(criterion: Criterion) -> str:
    """``4.1.1``, or the metric where no clause is named."""
    return criterion.source or f"criterion on {criterion.metric}"


def _make_statistic(each: SessionJudgement) -> Finding:
    criterion = each.criterion
    return Finding(
        suspect=Suspect.FABRIC,
        element=f"{criterion.metric} {each.subject}",
        where=f"all of {criterion.metric}" if not criterion.nodes else fold(sorted(criterion.nodes)),
        what=f"{criterion.metric}, {each.subject}: {each.because}",
        level=each.level,
        confidence=Confidence.CERTAIN,
        nodes=(),
        tests=(),
        because=(f"{name_criterion(criterion)} asks the {criterion.statistic} of all numbers",),
        cannot_tell="which nodes lower it: no single number is asked",
        means=f"the machine does not meet {name_criterion(criterion)}",
        do=f"look at the distribution: benchconsole statistics --metric {criterion.metric} --by node",
        value=None if each.is_share else each.value,
        expected=None if each.is_share else each.required,
        unit=None if each.is_share else criterion.unit,
        probe=criterion.metric.partition(".")[0],
    )


def _make_subjects(low: Sequence[SessionJudgement], measured: int) -> Finding:
    criterion = low[0].criterion
    sign = 1 if criterion.comparator is Comparator.AT_LEAST else -1
    order = sorted(low, key=lambda each: (sign * (each.value or 0.0), each.subject))
    nodes = tuple(sorted({node for each in low for node in each.nodes}))
    alone = tuple(sorted({each.nodes[0] for each in low if len(each.nodes) == 1}))
    is_of_nodes = all(len(each.nodes) == 1 for each in low)
    where, worst, rest = fold(nodes), order[0], order[_SHOWN:]
    noun = "subject" if any(len(each.nodes) > 1 for each in low) else "node"
    of_all = f"{len(low):,} of {counted(measured, noun)}, worst " if len(low) > 1 else ""
    probe = criterion.metric.partition(".")[0]
    return Finding(
        suspect=Suspect.NODE if len(nodes) == 1 else Suspect.SET,
        element=where,
        where=where,
        what=f"{of_all}{worst.subject}: {criterion.metric} {worst.because}",
        level=max((each.level for each in low), key=lambda level: level.severity),
        confidence=Confidence.LIKELY if is_of_nodes else Confidence.POSSIBLE,
        nodes=nodes,
        nodes_at=alone,
        tests=tuple(dict.fromkeys(test for each in low for test in each.tests)),
        because=(
            *(f"{each.subject}: {each.because}" for each in order[:_SHOWN]),
            *([f"{counted(len(rest), f'more {noun}')}"] if rest else []),
        ),
        cannot_tell="why: its own numbers alone do not say" if is_of_nodes else _WHICH,
        means=f"{counted(len(low), noun)} below {name_criterion(criterion)}",
        do=f"compare the {probe} output of {worst.subject} with that of one that passes, then repeat the tests",
        probe=probe,
    )
