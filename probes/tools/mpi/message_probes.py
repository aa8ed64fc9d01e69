"""Base of the probes of IMB and of the OSU Micro-Benchmarks: programs of MPI that time messages, size after size.

Both run programs that somebody built on the nodes, since Debian packages neither. Both end with status 0 after failures
too: their tables decide.
"""

from abc import abstractmethod
from collections.abc import Sequence

from benchconsole.probes.api import Demands, Given, Metric, Part, PlanError, Shape, Shown, Target, Unit
from benchconsole.probes.launch import Job, Options
from benchconsole.probes.tools.mpi.program import MpiProgram

START = 8.0
"""Seconds that a launch takes until the first message."""


def make_metrics(probe: str, *, both: str, rated: str) -> tuple[Metric, ...]:
    """Those of ``probe``; ``both`` says what counts two directions together, ``rated`` what counts messages."""
    return (
        Metric(f"{probe}.latency", Unit.SECOND, "time of one message or operation of a size"),
        Metric(f"{probe}.bandwidth", Unit.BYTE_RATE, "payload of messages of a size", Shown.NETWORK),
        Metric(f"{probe}.peak", Unit.BYTE_RATE, "greatest bandwidth over all sizes, one way", Shown.NETWORK),
        Metric(f"{probe}.peak_both", Unit.BYTE_RATE, f"the same of {both} together", Shown.NETWORK),
        Metric(f"{probe}.message_rate", Unit.PER_SECOND, f"messages of a size ({rated})"),
    )


class MpiMessages(MpiProgram):
    """A probe with the options ``program`` and ``ranks`` on each node; a subclass gives the words of the command."""

    shape = Shape.PAIR

    @abstractmethod
    def words(self, given: Given, ranks: int) -> Sequence[str]:
        """The program and what it is told when it runs as ``ranks`` processes; PlanError for what is out of range."""

    def demands(self, target: Target) -> Demands:
        """Every node to itself: ranks that wait take a whole processor each."""
        if self.job(target).ranks < 2:
            raise PlanError(f"{self.name} needs two ranks or more: two nodes, or the option ranks")
        return Demands(frozenset(Part))

    def job(self, target: Target) -> Job:
        """What is launched; PlanError for options, names and networks that do not fit."""
        given, nodes = self.given(target.options), target.nodes
        each = given.whole("ranks", 1, 4096)
        options = Options.of({**given.values, "slots": given.whole("slots", 0, 99_999) or each})
        ranks, seconds = each * len(nodes), 3 * self.estimate(target.options) + 60
        job = Job(nodes, tuple(self.words(given, ranks)), ranks, seconds, options)
        job.arguments()
        return job
