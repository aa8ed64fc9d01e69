"""Orders about the history of numbers: the page of a node, and the column of Nodes, read beside the screen."""

import asyncio
from typing import TYPE_CHECKING

from benchconsole.console.tui.actions import name_keys
from benchconsole.console.tui.app.navigation import Navigation
from benchconsole.console.tui.app.orders import Orders, Work
from benchconsole.console.tui.app.session_orders import NO_ARCHIVE, SessionOrders
from benchconsole.console.tui.app.shown_session import ShownSession

if TYPE_CHECKING:
    from benchconsole.console.session.session_archive import SessionArchive
    from benchconsole.console.tui.queries.over_sessions import OverSessions
    from benchconsole.console.tui.screens.nodes import NodesScreen
    from benchconsole.console.view.run_view import RunView

WHERE = "H shows the history of a node on its page, and that of a column on Nodes."


class HistoryOrders(Orders):
    """``sessions`` has the archive that is read."""

    def __init__(self, session: ShownSession, navigation: Navigation, work: Work, sessions: SessionOrders) -> None:
        super().__init__(session, navigation, work)
        self._sessions = sessions

    def show(self) -> None:
        """The history of the node of the page in front; on Nodes that of the column, or take it away."""
        frame, archive, view = self._navigation.frame, self._sessions.archive, self._session.view
        if archive is None:
            self._navigation.say(NO_ARCHIVE, wrong=True)
            return
        from benchconsole.console.tui.screens.node import NodeScreen
        from benchconsole.console.tui.screens.nodes import NodesScreen

        if view is not None and isinstance(frame, NodeScreen):
            from benchconsole.console.tui.screens.history import HistoryScreen

            self._navigation.open(HistoryScreen(archive, frame.node, tab=self._navigation.tab))
        elif view is not None and isinstance(frame, NodesScreen):
            self._toggle(frame, archive, view)
        else:
            self._navigation.say(name_keys(WHERE, "history"))

    def _toggle(self, page: "NodesScreen", archive: "SessionArchive", view: "RunView") -> None:
        """Show the column under the column cursor over sessions; take it away where it is shown already."""
        from benchconsole.console.tui.queries.node_columns import METRIC
        from benchconsole.console.tui.queries.node_row import DEFAULT
        from benchconsole.console.tui.queries.over_sessions import OVER, OverSessions

        table = page.table
        arranged = table.arranged
        picked = arranged.shown[table.picked]
        metrics = [column for column in arranged.shown if column.choice.kind == METRIC]
        known = arranged.over if OVER in arranged.keys else None
        if known is not None and (picked not in metrics or picked is known.of):
            table.show_over(None)
        elif metrics:
            over = OverSessions(picked if picked in metrics else metrics[0])
            table.show_over(over)
            self._work(self._read(page, archive, view, over))
        else:
            absent = "No number was judged yet" if arranged.wanted == (DEFAULT,) else "No metric is among the columns"
            self._navigation.say(f"{absent}; a page of a node has the history of all of its numbers.")
            return
        page.annotate()

    async def _read(
        self, page: "NodesScreen", archive: "SessionArchive", view: "RunView", over: "OverSessions"
    ) -> None:
        """Read session after session, as long as the column is wanted."""
        from benchconsole.console.conclusions.number_history import list_numbers_of_metric
        from benchconsole.console.tui.queries.filtering import KeptOrder
        from benchconsole.store.errors import StoreError

        fabric, values = view.fabric, []
        _, metric, stage = over.of.choice
        try:
            found = await asyncio.to_thread(archive.list_last_sessions, fabric.name, simulated=fabric.simulated)
            over.sessions = len(found.sessions)
            for each in found.sessions:
                if page.table.arranged.over is not over:
                    return
                page.table.redraw()
                values.append(await asyncio.to_thread(archive.read_metric_values, each.id, metric, stage))
                over.read += 1
        except StoreError as error:
            over.failed = "not read"
            self._navigation.say(f"the history cannot be read: {error.found}", wrong=True)
        else:
            numbers = await asyncio.to_thread(list_numbers_of_metric, values, by_labels=False)
            keys = [each.id for each in found.sessions]
            over.shown = keys.index(view.session) if view.session in keys else None
            over.values = {each.key.node: [point and point.value for point in each.points] for each in numbers}
        if page.table.arranged.over is over:
            page.table.kept = KeptOrder()  # rows may be sorted by what has come
            page.table.apply_filter()
