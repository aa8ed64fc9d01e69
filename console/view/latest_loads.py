"""The load of links now, for who looks at it again and again: arrays are loaded where a round has told something."""

from typing import TYPE_CHECKING

from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.same_objects import are_same

if TYPE_CHECKING:
    from benchconsole.console.view.link_loads import LinkLoads


class LatestLoads:
    """The loads of the latest view: computed anew only where tests have told something since, once a second."""

    def __init__(self) -> None:
        self.loads: LinkLoads | None = None
        self._told: tuple[object, ...] = ()

    def update(self, view: RunView) -> "LinkLoads | None":
        """The loads of ``view``; the same object while nothing new is told."""
        # when the last of them has ended nothing more is told, and nothing is carried
        is_over = not any(test in view.running for test in view.intervals)
        told = (view.intervals, view.ways, is_over)
        if not are_same(told, self._told):
            self._told, self.loads = told, _compute(view)
        return self.loads


def _compute(view: RunView) -> "LinkLoads | None":
    if view.ways is None:
        return None
    from benchconsole.console.view.link_loads import compute_link_loads  # with numpy, which the first frame lacks

    return compute_link_loads(view)
