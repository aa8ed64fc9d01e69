"""Owns which errors of the house mean bad input, and how they read."""

from console.demo.cluster import DemoError
from console.reports.errors import ReportError
from probes.errors import ProbeError
from store.errors import StoreError
from topology.errors import RoutingError, SelectionError, TopologyError

_OURS = (ProbeError, StoreError, SelectionError, RoutingError, ReportError, DemoError)


def known(error: Exception) -> str | None:
    """The lines for an error that the operator can mend; None for one that is ours."""
    if isinstance(error, TopologyError):
        count = len(error.problems)
        return f"{error}\n{count} problem{'s' if count > 1 else ''}; nothing was started"
    return f"benchconsole: {error}" if isinstance(error, _OURS) else None
