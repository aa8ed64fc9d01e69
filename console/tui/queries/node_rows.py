"""The rows of the node table over the views of a session: made anew where a node or the columns are others."""

from collections.abc import Callable, Iterable, Mapping

from benchconsole.console.tui.queries.node_columns import stage_names, under_of
from benchconsole.console.tui.queries.node_row import ColumnSet, NodeColumn, NodeRow
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.run_view import RunView, State
from benchconsole.topology.natural_order import make_natural_key

_RANKS = {state: (state.rank,) for state in State}


class NodeRows:
    """``by_name`` are the rows of the last view. ``under`` tells what each node of its fabric hangs on."""

    def __init__(self) -> None:
        self.by_name: Mapping[str, NodeRow] = {}
        self.under: Mapping[str, str] = {}
        self._natural: Mapping[str, tuple[object, ...]] = {}
        self._blame = Blame()
        self._stages: Mapping[int, str] = {}
        self._view: RunView | None = None

    def update(self, view: RunView, columns: ColumnSet) -> tuple[NodeRow, ...]:
        """The rows of ``view`` in these columns, in the order of the fabric."""
        known, self._view = self._view, view
        if known is None or known.fabric is not view.fabric:
            self.under = under_of(view.fabric)
            self._natural = {name: make_natural_key(name) for name in view.fabric.nodes}
        if known is None or known.verdicts is not view.verdicts:
            self._stages = stage_names(view)
        if known is None or known.findings is not view.findings:
            self._blame = Blame(view.findings)
        rows = self.by_name
        self.by_name = {
            name: rows[name] if name in rows and rows[name].view is seen and rows[name].columns is columns
            else NodeRow(seen, self.under.get(name, ""), columns, self._blame, self._stages)
            for name, seen in view.nodes.items()
        }  # fmt: skip
        return tuple(self.by_name.values())

    def find_sort_key(self, columns: Iterable[NodeColumn], key: str) -> Callable[[NodeRow], tuple[object, ...]]:
        """The key that sorts rows by the column with this key: what is worse first, or as the column orders them."""
        if key == "state":
            return lambda row: _RANKS[row.view.state]
        if key == "node":
            return lambda row: self._natural[row.view.node.id]
        found = next((each for each in columns if each.key == key), None)
        return found.sort_key if found is not None else lambda row: make_natural_key(row.words(key))
