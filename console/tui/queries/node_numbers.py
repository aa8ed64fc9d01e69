"""The worst number of each node over everything that was measured of it, with what it was held against.

Beside the mark of a node that is not well stands the number that made the mark, or the reason of the mark alone.
"""

from typing import NamedTuple

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.node_row import NO_COLUMNS, NodeRow
from benchconsole.console.tui.queries.view_queries import find_share, is_shared
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.run_view import NodeView, State
from benchconsole.console.view.wording import format_expected, format_measured, format_quantity, format_share
from benchconsole.probes.model.judgement import Level, Verdict
from benchconsole.probes.model.measuring import Reading
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId

_JUDGED_LOW = (State.FAIL, State.WATCH, State.AFFECTED)
_WITHOUT_NUMBER = (State.UNREACHABLE, State.UNKNOWN, State.HELD)
"""States that say why nothing counts: an older number beside their mark would look as if it were the cause."""


class NumberWords(NamedTuple):
    """The metric, its measured number, its share of the expected one, why the node has its state, the expected number.

    A node without a number has the reason alone.
    """

    metric: str = ""
    value: str = ""
    share: str = ""
    why: str = ""
    expected: str = ""


class WorstNumbers:
    """The number that says the worst of each node as ``blame`` has it; each found once."""

    def __init__(self, blame: Blame) -> None:
        self._blame = blame
        self._known: dict[NodeId, tuple[NodeView, Verdict | Reading | None, NumberWords]] = {}

    def find(self, node: NodeView) -> Verdict | Reading | None:
        """The verdict that says the worst, of a sum with the node's own part; the newest number where none judges.

        None of a node that is not well where no number of its own is the cause.
        """
        return self._look_up(node)[1]

    def describe(self, node: NodeView) -> NumberWords:
        """The same in words."""
        return self._look_up(node)[2]

    def _look_up(self, node: NodeView) -> tuple[NodeView, Verdict | Reading | None, NumberWords]:
        known = self._known.get(node.node.id)
        if known is None or known[0] is not node:
            row = NodeRow(node, "", NO_COLUMNS, self._blame)
            found = _find_number(row)
            known = self._known[node.node.id] = (node, found, _describe(row, found))
        return known


def _find_number(row: NodeRow) -> Verdict | Reading | None:
    if row.state in _WITHOUT_NUMBER:
        return None
    if row.state in _JUDGED_LOW:
        return _find_cause(row)
    return _find_worst(row) or _find_newest(row.view)


def _find_worst(row: NodeRow) -> Verdict | None:
    """The worst number of a node that is well. Its part of a sum that passes has no bound of its own: it comes last."""
    alone = tuple(each for each in row.view.verdicts if each.level is not Level.PASS or not is_shared(each))
    found = NodeRow(replace(row.view, verdicts=alone), "", NO_COLUMNS, row.blame).worst_of_all
    if found is not None or row.worst_of_all is None:
        return found
    return row.worst_of_all._replace(expected=None, required=None)


def _find_cause(row: NodeRow) -> Verdict | None:
    """The lowest number of the node that gave it its state; its part of a low sum only where the part is low, too."""
    name = row.view.node.id
    causes = [
        verdict
        for verdict in row.worst.values()
        if verdict.level is not Level.PASS
        and row.state_of(verdict) is row.state
        and row.blame.concerns(name, verdict)
        and not _has_its_share(verdict)
    ]
    return min(causes, key=_read_share, default=None)


def _has_its_share(verdict: Verdict) -> bool:
    """Whether a part of a low sum reaches its part of what was asked, so that the sum is low by other nodes."""
    asked = verdict.required or verdict.expected
    if not is_shared(verdict) or find_share(verdict) is None:
        return False
    return verdict.value is not None and asked is not None and verdict.value >= asked


def _read_share(verdict: Verdict) -> float:
    share = find_share(verdict)
    return 1.0 if share is None else share


def _find_newest(node: NodeView) -> Reading | None:
    """The first number of the test that gave one last."""
    return next((each.measurements[0] for each in reversed(node.results) if each.measurements), None)


def _describe(row: NodeRow, found: Verdict | Reading | None) -> NumberWords:
    if found is None:
        return NumberWords(why=_explain(row))
    name = found.metric.rsplit(".", 1)[-1].replace("_", " ")
    if name in ("total", "count", "size"):
        name = found.metric.replace(".", " ")
    if isinstance(found, Reading):
        return NumberWords(sanitize(name), format_quantity(found.value, found.unit))
    share = find_share(found)
    why = "" if row.state is State.PASS else _explain(row)
    expected = "" if found.expected is None else format_expected(found)
    shown = "" if share is None else format_share(share)
    return NumberWords(sanitize(name), format_measured(found), shown, why, expected)


def _explain(row: NodeRow) -> str:
    """Why a node stands as it does; of one that another element drags down, which that is."""
    limit, why = row.words("limit"), row.words("why")
    if row.state is not State.AFFECTED or not limit or limit in why:
        return why
    return f"{limit}: {why}" if why[:1].isdigit() else f"{limit} {why}".rstrip()
