"""Owns how a tool of one node is tested in a scratch directory: what that takes, and how the script is run.

The script makes its directory below the option ``scratch`` and removes it by the rules of ``probes.scratch``. Where
that is a storage system that all nodes share, ``shared`` names it. Refuses to know any one tool.
"""

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from probes import scratch
from probes.api import Contact, Demands, Output, Probe, Safety, Target


class ScratchProbe(Probe):
    """What a subclass says: its ``command``, the bytes it writes (``space``), and the seconds (``estimate``)."""

    safety = Safety.LOADS
    patience = 3.0
    """A run is given up after its estimate, so many times, and a minute."""

    def demands(self, target: Target) -> Demands:
        """The node to itself, and the files; of a storage system that all share, their bytes are taken.

        PlanError for options that do not fit.
        """
        self.command(target)
        self.estimate(target.options)
        size, system = self.space(target.options), self.given(target.options).text("shared")
        taken = MappingProxyType({f"filesystem:{system}": size} if system else {})
        return replace(super().demands(target), shared=taken, writes=size)

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Run the script when the round is ready; RemoteError where it refuses the directory."""
        argv = self.command(target)
        await contact.together()
        said = await contact.here.run(argv, timeout=self.patience * self.estimate(target.options) + 60.0)
        return (scratch.heed(said, contact.here.node),)
