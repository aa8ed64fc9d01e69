"""The worst number of each node over everything that was measured of it, with what it was held against."""

from typing import NamedTuple

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.node_row import NO_COLUMNS, NodeRow
from benchconsole.console.tui.queries.view_queries import find_share
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.run_view import NodeView, State
from benchconsole.console.view.wording import format_measured, format_quantity, format_share
from benchconsole.probes.model.judgement import Verdict
from benchconsole.probes.model.measuring import Reading
from benchconsole.topology.model.fabric import NodeId


class NumberWords(NamedTuple):
    """What was measured, its number, the share of what was expected, and why the node stands as it does.

    A node without a number has the reason alone.
    """

    metric: str = ""
    value: str = ""
    share: str = ""
    why: str = ""


class WorstNumbers:
    """The number that says the worst of each node as ``blame`` has it; each found once."""

    def __init__(self, blame: Blame) -> None:
        self._blame = blame
        self._known: dict[NodeId, tuple[NodeView, Verdict | Reading | None, NumberWords]] = {}

    def find(self, node: NodeView) -> Verdict | Reading | None:
        """The verdict that says the worst, of a sum with the node's own part; the newest number where none judges."""
        return self._look_up(node)[1]

    def describe(self, node: NodeView) -> NumberWords:
        """The same in words."""
        return self._look_up(node)[2]

    def _look_up(self, node: NodeView) -> tuple[NodeView, Verdict | Reading | None, NumberWords]:
        known = self._known.get(node.node.id)
        if known is None or known[0] is not node:
            row = NodeRow(node, "", NO_COLUMNS, self._blame)
            found = row.worst_of_all or _find_newest(node)
            known = self._known[node.node.id] = (node, found, _describe(row, found))
        return known


def _find_newest(node: NodeView) -> Reading | None:
    """The first number of the test that gave one last."""
    return next((each.measurements[0] for each in reversed(node.results) if each.measurements), None)


def _describe(row: NodeRow, found: Verdict | Reading | None) -> NumberWords:
    if found is None or row.state in (State.UNREACHABLE, State.UNKNOWN):
        return NumberWords(why=row.words("why"))
    name = found.metric.rsplit(".", 1)[-1].replace("_", " ")
    if name in ("total", "count", "size"):
        name = found.metric.replace(".", " ")
    if isinstance(found, Reading):
        return NumberWords(sanitize(name), format_quantity(found.value, found.unit))
    share = find_share(found)
    why = "" if row.state is State.PASS else row.words("why")
    return NumberWords(sanitize(name), format_measured(found), "" if share is None else format_share(share), why)
