"""One of two compared sessions at a glance: its own verdict, when it ran, how much of it was tested. Pure."""

from dataclasses import asdict, dataclass

from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.stored_verdict import Outcome
from benchconsole.console.view.totals import TotalsCache
from benchconsole.probes.model.checklist import StepState
from benchconsole.topology.units import counted


@dataclass(frozen=True, slots=True)
class ComparedSession:
    """``outcome`` is the verdict on the session itself, whatever the comparison says.

    ``started`` is in UTC seconds, ``seconds`` from there to its end, None where it has none. ``tested`` are the tests
    that gave a result, of ``planned``; ``findings`` the causes that were found, ``nodes`` those of its fabric,
    ``failed_steps`` those of its checklists.
    """

    key: str
    label: str
    started: float
    seconds: float | None
    outcome: Outcome
    tested: int
    planned: int
    findings: int
    nodes: int
    failed_steps: int = 0

    @property
    def reasons(self) -> str:
        """``4 findings``, with the failed steps of checklists where there are any."""
        steps = counted(self.failed_steps, "failed step") if self.failed_steps else ""
        found = counted(self.findings, "finding") if self.findings or not steps else ""
        return ", ".join(filter(None, (found, steps)))

    @property
    def words(self) -> str:
        """The verdict, and what it rests on."""
        tested = f"{self.tested:,} of {counted(self.planned, 'test')} gave a result"
        return f"{self.outcome.value}, {self.reasons}, {tested}"

    def make_record(self) -> dict[str, object]:
        """The same for machines."""
        return {**asdict(self), "outcome": self.outcome.value}


def read_compared_session(view: RunView) -> ComparedSession:
    """The session ``view``, which is read whole."""
    sums = TotalsCache()
    covered = sums.compute(view).covered
    return ComparedSession(
        key=view.session,
        label=view.label,
        started=view.started,
        seconds=None if view.ended is None else max(view.ended - view.started, 0.0),
        outcome=sums.decide(view).outcome,
        tested=covered.tested,
        planned=covered.planned,
        findings=len(view.findings),
        nodes=len(view.fabric.nodes),
        failed_steps=sum(each.count(StepState.FAIL) for each in view.checklists),
    )
