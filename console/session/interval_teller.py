"""The numbers that running tests tell, put beside what they should reach and the links they cross, told as events.

Only while a screen looks on. The rates that a round should reach are computed in a thread of its own from its first
second on; until that is done numbers stand alone. Nothing here is stored or judged.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from benchconsole.console.session.round_judging import make_judging_context
from benchconsole.console.view.events import IntervalsTold
from benchconsole.console.view.interval_rates import ToldInterval
from benchconsole.probes.judging.running_round import RunningRound
from benchconsole.probes.model.interval import Interval
from benchconsole.probes.model.load import NodeLoad
from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import Labels, Round
from benchconsole.topology.errors import RoutingError

if TYPE_CHECKING:
    from benchconsole.probes.api import Probe
    from benchconsole.topology.model.fabric import Fabric

_LOG = ModuleLog(__name__)

_Name = tuple[str, str, Labels]
"""A test by its id, a metric, and the labels of its intervals."""


class IntervalTeller:
    """Tells what the tests of the rounds of one run say of their intervals; ``clock`` gives UTC seconds."""

    def __init__(
        self, fabric: "Fabric", probes: Mapping[str, "Probe"], tell: Callable[[IntervalsTold], None],
        clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self.tell = tell
        self.clock = clock
        # of its own, for what it keeps is made in the thread
        self._context = make_judging_context(fabric, probes)
        self._beside = ThreadPoolExecutor(1, "yardsticks")

    def begin(self, planned: Round) -> "RoundTeller":
        """The teller of a round that begins."""
        return RoundTeller(self, RunningRound(self._context, planned))

    def compute(self, work: Callable[[], None]) -> "Future[None]":
        """Do ``work`` in the thread, after what it has to do already."""
        return self._beside.submit(work)

    def close(self) -> None:
        self._beside.shutdown(wait=False, cancel_futures=True)


class RoundTeller:
    """Told the numbers of one round each second, it tells them on with what is expected."""

    def __init__(self, whole: IntervalTeller, running: RunningRound) -> None:
        self._whole = whole
        self._running = running
        self._preparing: Future[None] | None = None
        self._expected: dict[_Name, float | None] = {}

    def hear(self, found: Sequence[tuple[str, Interval]], loads: Sequence[NodeLoad]) -> None:
        """Tell one list of the round on."""
        if self._preparing is None:
            self._preparing = self._whole.compute(self._prepare)
        is_ready = self._preparing.done()
        told = (ToldInterval(test, each, self._find(test, each) if is_ready else None) for test, each in found)
        ways = self._running.ways if is_ready else None
        self._whole.tell(IntervalsTold(tuple(told), self._whole.clock(), tuple(loads), ways))

    def _prepare(self) -> None:
        try:
            self._running.prepare()
        except (RoutingError, ArithmeticError) as error:  # the round is judged without it, too
            _LOG.warning("", "flows that run have no expected number: %s", error)

    def _find(self, test: str, interval: Interval) -> float | None:
        name = test, interval.metric, interval.labels
        if name not in self._expected:
            self._expected[name] = self._running.find_expected(test, interval)
        return self._expected[name]
