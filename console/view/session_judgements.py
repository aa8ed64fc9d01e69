"""The judgements of criteria on all numbers of a session together. Pure; asked of sessions that are over."""

from functools import partial
from typing import TYPE_CHECKING

from benchconsole.console.view.run_view import RunView, share_result, superseding
from benchconsole.topology.units import Shown

if TYPE_CHECKING:
    from benchconsole.probes.judging.session_criteria import SessionJudgement


@share_result
def list_session_judgements(view: RunView) -> "tuple[SessionJudgement, ...]":
    """The judgements in the order of the criteria; none while the session runs, and without such criteria."""
    if (view.session and view.ended is None) or not any(each.is_of_session for each in view.fabric.criteria):
        return ()
    # Here: it brings numpy, which start-up must not wait for.
    from benchconsole.probes.judging.context import JudgingContext
    from benchconsole.probes.judging.physical_limits import describe_excess
    from benchconsole.probes.judging.session_criteria import judge_session

    shown = {each.metric: each.shown for verdicts in view.verdicts.values() for each in verdicts}
    shows = {metric: shown.get(metric, Shown.PLAIN) for metric in (each.metric for each in view.fabric.criteria)}
    numbers = superseding(view).values()
    excess = partial(describe_excess, JudgingContext(view.fabric, {}))
    return tuple(judge_session(view.fabric.criteria, numbers, shows.__getitem__, excess, view.fabric.baseline))
