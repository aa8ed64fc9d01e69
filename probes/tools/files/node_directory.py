"""A tool of one node that is tested in a scratch directory: the resources it takes, and the run of its script.

The script makes its directory below the option ``scratch`` and removes it by the rules of ``probes.scratch``. Where
that is a storage system that all nodes share, ``shared`` names it.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes import scratch
from benchconsole.probes.api import Contact, Demands, Output, Probe, Safety, Target
from benchconsole.topology.copying import replace

SCRATCH = "/tmp"  # noqa: S108 - mktemp inside
"""Where a script makes its directory unless it is told."""


def take_shared_space(system: str, size: float) -> Mapping[str, float]:
    """The bytes that a test takes of a storage system that all nodes share; ``system`` is empty where there is none."""
    return MappingProxyType({f"filesystem:{system}": size} if system else {})


class ScratchProbe(Probe):
    """A subclass adds its ``command``, the bytes it writes (``space``), and the seconds (``estimate``)."""

    safety = Safety.LOADS
    patience = 3.0
    """A run is ended after its estimate, so many times, and a minute: at most 3, before the test is given up."""

    def demands(self, target: Target) -> Demands:
        """The node to itself, and the files; of a storage system that all share, their bytes are taken.

        PlanError for options that do not fit.
        """
        self.command(target)
        self.estimate(target.options)
        size = self.space(target.options)
        taken = take_shared_space(self.given(target.options).text("shared"), size)
        return replace(super().demands(target), shared=taken, writes=size)

    def time_limit(self, options: Mapping[str, str | int | float]) -> float:
        is_own = type(self).run is ScratchProbe.run
        return self._compute_patience(options) if is_own else super().time_limit(options)

    def _compute_patience(self, options: Mapping[str, str | int | float]) -> float:
        return self.patience * self.estimate(options) + 60.0

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Run the script when the round is ready; RemoteError where it refuses the directory."""
        argv = self.command(target)
        await contact.together()
        said = await contact.here.run(argv, timeout=self._compute_patience(target.options))
        return (scratch.heed(said, contact.here.node),)
