"""The closed rounds of a session with their verdicts, and the findings over all of them."""

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from benchconsole.probes.model.detectable_loss import DetectableLoss
from benchconsole.probes.model.judgement import ClosedRound, Finding
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.model.round_bounds import ConfirmationBounds
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, NodeId

if TYPE_CHECKING:
    from benchconsole.console.session.round_judging import RoundJudging
    from benchconsole.probes.api import Probe


class JudgedRounds:
    """Judged rounds by number, and the findings over all of them.

    Findings are computed when they are asked for, and only where no known ones cover all rounds.
    """

    def __init__(self, fabric: Fabric, probes: Mapping[str, "Probe"]) -> None:
        self.by_number: dict[int, ClosedRound] = {}
        self._fabric = fabric
        self._probes = probes
        self._unread: list[ClosedRound] = []
        self.known_findings: tuple[Finding, ...] | None = ()
        """``findings`` where they were computed or restored since the last round was added, else None."""
        self.known_losses: tuple[DetectableLoss, ...] | None = ()
        """The same of ``losses``."""

    @cached_property
    def judging(self) -> "RoundJudging":
        """The judging of these rounds; a session that is only looked at is opened without it."""
        from benchconsole.console.session.round_judging import RoundJudging

        return RoundJudging(self._fabric, self._probes)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings over all rounds so far."""
        if self.known_findings is None:
            self.known_findings = self._rank()
        return self.known_findings

    @property
    def losses(self) -> tuple[DetectableLoss, ...]:
        """The smallest loss that the rounds so far could have shown, by kind of element."""
        if self.known_losses is None:
            if self.known_findings is None:
                self.known_findings = self._rank()
            self._read_waiting()
            self.known_losses = self.judging.sum_up_losses()
        return self.known_losses

    def _rank(self) -> tuple[Finding, ...]:
        self._read_waiting()
        return self.judging.rank_findings()

    def _read_waiting(self) -> None:
        """Read the flows of rounds that were not read yet."""
        for judged in self._unread:
            self.judging.add_round(judged)
        self._unread.clear()

    @property
    def in_order(self) -> tuple[ClosedRound, ...]:
        """The rounds in the order of their numbers."""
        return tuple(self.by_number[number] for number in sorted(self.by_number))

    def plan_confirmation(
        self, nodes: Collection[NodeId], bounds: ConfirmationBounds, *, first: int
    ) -> tuple[Round, ...]:
        """The rounds on ``nodes``, numbered from ``first``, that confirm what is suspected, be it a finding or not."""
        self.known_findings = self._rank()
        return self.judging.plan_confirmation(self.in_order, nodes, bounds, first=first)

    def restore(self, judged: ClosedRound) -> None:
        """Add a judged round of which nothing is read yet: cheap for many rounds."""
        self.by_number[judged.round.number] = judged
        self._unread.append(judged)
        self.known_findings = self.known_losses = None

    def add(self, judged: ClosedRound) -> ClosedRound:
        """Add a round that was judged just now, while its flows are at hand; it with the findings over all rounds."""
        self.restore(judged)
        return replace(judged, findings=self.findings)
