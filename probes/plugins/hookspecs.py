"""The hooks that a plugin may implement. See ``docs/howto/write-a-probe.md``."""

from collections.abc import Sequence

import pluggy

from benchconsole.probes.api import Probe

PROJECT = "benchconsole"
spec = pluggy.HookspecMarker(PROJECT)


@spec
def bench_probes() -> Sequence[Probe]:  # type: ignore[empty-body]
    """Return the probes that this plugin brings."""
