"""Errors of the program that mean bad input, and their words."""

from benchconsole.console.reports.errors import ReportError
from benchconsole.console.simulator.cluster import SimulatorError
from benchconsole.probes.model.errors import ProbeError
from benchconsole.store.errors import StoreError
from benchconsole.topology.errors import RoutingError, SelectionError, TopologyError

_OURS = (ProbeError, StoreError, SelectionError, RoutingError, ReportError, SimulatorError)


def format_known_error(error: Exception) -> str | None:
    """The lines for an error that the operator can mend; None for one that is ours."""
    if isinstance(error, TopologyError):
        count = len(error.problems)
        return f"{error}\n{count} problem{'s' if count > 1 else ''}; nothing was started"
    return f"benchconsole: {error}" if isinstance(error, _OURS) else None
