"""The data read from the rounds of a session, kept from one view to the next: only changed rounds are read again."""

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar

from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.measuring import Round

T = TypeVar("T")


class RoundCache(Generic[T]):
    """Content of rounds over the views of one session after the other. Not for several threads at once.

    ``read`` is called where a round is new, closed (again) or judged again, where a later round repeats a test of it
    or does so no longer, and, while it is open, where the session begins it or ends.
    """

    def __init__(self, read: Callable[[RunView, Round], T]) -> None:
        self._read = read
        self._view: RunView | None = None
        self._content: dict[int, tuple[object, T]] = {}

    def update(self, view: RunView, rounds: Iterable[Round]) -> Mapping[int, T]:
        """The content of ``rounds`` of this view by number; the same objects where nothing has changed."""
        known = self._view
        if known is None or known.fabric is not view.fabric or known.session != view.session:
            known, self._content = None, {}
        # A replay goes back, too: tests that are no longer repeated count again.
        repeated = view.replaced ^ known.replaced if known is not None else ()
        stale = {view.results[test].test.round for test in repeated if test in view.results}
        self._content = {each.number: self._find(view, each, is_stale=each.number in stale) for each in rounds}
        self._view = view
        return {number: content for number, (_, content) in self._content.items()}

    def _find(self, view: RunView, each: Round, *, is_stale: bool) -> tuple[object, T]:
        known = self._content.get(each.number)
        times = view.closed.get(each.number)
        # A round that is judged again closes at the same times: only another tuple tells.
        state = times or (view.current is not None and view.current.number == each.number, view.ended, view.because)
        if known is not None and not is_stale and (known[0] is state or (times is None and known[0] == state)):
            return known
        return state, self._read(view, each)
