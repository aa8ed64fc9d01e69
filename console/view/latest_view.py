"""The latest view of a session. Folds its events, in whatever thread they come."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from benchconsole.console.view.events import Event, SessionOpened
from benchconsole.console.view.reducer import advance_all, in_order, opened
from benchconsole.console.view.run_view import RunView
from benchconsole.topology.analysis.static_finding import StaticFinding
from benchconsole.topology.model.fabric import Fabric


class LatestView:
    """Keeps the latest view. ``generation`` counts events, so that a reader knows whether there are new ones.

    Events are folded in the thread that tells them, and the view is read by the screen's; a view never
    changes once it is there, so neither waits for the other.
    """

    def __init__(self) -> None:
        self.generation = 0
        self._folded: RunView | None = None
        self._described: tuple[Fabric, tuple[StaticFinding, ...]] | None = None
        self._shown: tuple[RunView, RunView] | None = None

    def take(self, events: Sequence[Event]) -> None:
        """Fold what happened."""
        rest = list(events)
        if self._folded is None:
            first = rest.pop(0)
            if not isinstance(first, SessionOpened):
                raise TypeError(f"a session began with {type(first).__name__}, expected SessionOpened")
            self._folded = opened(first)
        self._folded = advance_all(self._folded, rest)
        self.generation += len(events)

    def describe(self, fabric: Fabric, found: Iterable[StaticFinding]) -> None:
        """Take what the description of ``fabric`` shows."""
        self._described = (fabric, in_order(found))
        self.generation += 1

    @property
    def view(self) -> RunView | None:
        """The latest view, the same object as long as nothing has happened; with what its description shows."""
        folded, described = self._folded, self._described
        if folded is None or described is None or described[0] is not folded.fabric:
            return folded
        shown = self._shown
        if shown is None or shown[0] is not folded or shown[1].static is not described[1]:
            shown = self._shown = (folded, replace(folded, static=described[1]))
        return shown[1]
