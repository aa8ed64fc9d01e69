"""One node: what differs from the inventory, its results, the path of the selected one, and the raw output."""

from collections.abc import Awaitable, Callable, Sequence

from textual import on

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import MOVES
from benchconsole.console.tui.messages import Copy, OpenFinding, OpenStatic, PlanRun, ReadInFull, Remarked, ShowInFabric
from benchconsole.console.tui.queries import raw_output, static_findings, view_queries
from benchconsole.console.tui.queries.node_path import complete_hops
from benchconsole.console.tui.queries.node_results import NodeResult, list_node_results
from benchconsole.console.tui.rows.text_rows import CellText
from benchconsole.console.tui.rows.themes import MUTED
from benchconsole.console.tui.screens.base.page import OPENING, OpenPage, Page
from benchconsole.console.tui.screens.facts import FactsScreen
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.widgets.headline import Headline, clauses
from benchconsole.console.tui.widgets.inventory import InventoryView
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.path import PathView
from benchconsole.console.tui.widgets.raw import RawPane
from benchconsole.console.tui.widgets.remark_lines import RemarkLines
from benchconsole.console.tui.widgets.results import ResultList
from benchconsole.console.view.remark_words import group_remarks
from benchconsole.console.view.run_view import NodeView, RunView, State
from benchconsole.console.view.session_control import FlowHop
from benchconsole.console.view.severity_signs import SEVERITIES
from benchconsole.console.view.wording import SIGNS, tell_reading
from benchconsole.probes.model.measuring import Test
from benchconsole.probes.model.remark import About, RemarkSubject
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import counted as count

_MOST_REMARKS = 3
"""Remarks that stand on the page; all are read in full."""


class NodeScreen(Page):
    """``tab`` walks the panes; enter on a result opens its raw output in full."""

    TAB = "Nodes"
    VALID = (
        *MOVES, "left", "right", "pane", "pane_back", "next_fault", "previous_fault", "in_fabric", "facts", "finding",
        "repeat", "copy", "copy_all", "remark", "in_full", "filter",
    )  # fmt: skip
    KEYS = (
        ("enter", "raw"), "pane", "back", "facts", "finding", ("in_fabric", "fabric"), "history", "remark", "repeat",
        "copy", "export", "command", "help",
    )  # fmt: skip
    DEFAULT_CSS = """
    NodeScreen Headline { height: 1; }
    NodeScreen ResultList { height: 6; }
    """

    def __init__(
        self, node: NodeId, path_of: Callable[[Test], Awaitable[Sequence[FlowHop]]], *, tab: str = "Nodes"
    ) -> None:
        super().__init__(tab=tab, subject=node)
        self.node = node
        self.find_remarked = lambda: Remarked(RemarkSubject(About.NODE, node), f"node {sanitize(node)}")
        self.path_of = path_of
        self.paths: dict[str, Sequence[FlowHop]] = {}
        self.asked = ""
        self.headline = Headline()
        self.said = ""
        self.remarks = RemarkLines()
        self.inventory = InventoryView()
        self.results = ResultList()
        self.path = PathView()
        self.raw = RawPane()
        self.parts = (self.headline, self.remarks, self.inventory, self.results, self.path, self.raw)

    @property
    def seen(self) -> NodeView | None:
        return self.run_view.nodes.get(self.node) if self.run_view else None

    def paint(self, view: RunView) -> None:
        seen = view.nodes.get(self.node)
        if seen is None:
            return
        under = ", ".join(sanitize(switch) for switch in dict.fromkeys(view.fabric.switch_of(self.node)))
        about = [seen.node.role.value, f"under {under}" if under else "", sanitize(seen.node.hardware.name)]
        words = ", ".join(part for part in dict.fromkeys(about) if part)
        self.crumb.show(
            (sanitize(view.fabric.name), self.tab.lower(), sanitize(self.node)),
            (CellText(words, MUTED),), (CellText(about[0], MUTED),),
        )  # fmt: skip
        self.said = describe_node(view, seen)
        self.headline.show(*make_node_headline(view, seen), why=self.said)
        self.remarks.show(group_remarks(view.remarks, (About.NODE,)).get(self.node, ()))
        self.inventory.show(seen)
        self.results.show(
            list_node_results(view, seen),
            tested=bool(seen.results),
            may_plan="plan" not in self.refused,
            reading=view.reading is not None,
        )
        self._select()

    def _select(self) -> None:
        """Path and raw output of the result under the cursor."""
        chosen, view = self.results.chosen, self.run_view
        if view is None:
            return
        self._show_path(view, chosen)
        found = None
        if chosen is not None and chosen.verdict is not None:
            found = raw_output.find_output_of_verdict(view, chosen.verdict, chosen.test)
        elif chosen is not None and chosen.test in view.results:
            found = raw_output.read_output(view.results[chosen.test])
        self.raw.show(found)
        _share_height(self)

    def _show_path(self, view: RunView, chosen: NodeResult | None) -> None:
        result = view.results.get(chosen.test) if chosen else None
        if result is None or result.test.target.peer is None:
            self.path.show("", (), {}, None)
            return
        hops = self.paths.get(result.test.id)
        if hops is None:
            self.path.show("", (), {}, None)
            if self.asked != result.test.id:
                self.asked = result.test.id
                self.run_worker(self._learn(result.test), exit_on_error=False, group="path")
            return
        target = result.test.target
        title = f"of the selected row, {sanitize(target.node.id)} to {sanitize(target.peer.id if target.peer else '')}"
        ids = chosen.verdict.evidence if chosen is not None and chosen.verdict is not None else ()
        own = raw_output.find_measurement(view, ids, result.test.id)
        value = own[1].value if own is not None else None
        seen = {hop.link: view_queries.find_link(view, hop.link) for hop in hops}
        self.path.show(title, complete_hops(view, hops), seen, value)

    async def _learn(self, test: Test) -> None:
        """Ask for the way of a test, which takes as long as its round is large, and show it then."""
        self.paths[test.id] = await self.path_of(test)
        self._select()

    @on(Listing.Moved)
    def _moved(self, event: Listing.Moved) -> None:
        if event.listing is self.results:
            self._select()

    def action_shift(self, step: int) -> None:
        self.raw.sideways(8 * step)

    def action_pane(self, _step: int) -> None:
        (self.results if self.raw.has_focus else self.raw).focus()

    @on(Listing.Chosen)
    def action_enter(self) -> None:
        """The raw output in full."""
        chosen, view = self.results.chosen, self.run_view
        if chosen is None or view is None or chosen.test not in view.results:
            reads = view is not None and view.reading is not None
            self.say(OPENING if reads else "Nothing was run for this row.")
            return
        ids = chosen.verdict.evidence if chosen.verdict else ()
        found = raw_output.find_measurement(view, ids, chosen.test)
        if found is not None:
            page = RawScreen(found[0].test.id, found[1], tab=self.tab)
        else:
            page = RawScreen(chosen.test, verdict=chosen.verdict, tab=self.tab)
        self.post_message(OpenPage(page))

    def action_in_full(self) -> None:
        """How the node stands, what the description says of it, and every remark on it."""
        if self.run_view is not None and self.seen is not None:
            _, lead, rest = make_node_headline(self.run_view, self.seen)
            said = [("stands", [lead + rest]), ("also", [self.said]), ("remarks", self.remarks.said)]
            self.post_message(ReadInFull(f"node {sanitize(self.node)}", said))

    def action_walk(self, step: int) -> None:
        """To the next result that is not a pass, or the one before."""
        self.results.walk(step, lambda each: each.state not in (State.PASS, State.MEASURED))

    def action_in_fabric(self) -> None:
        self.post_message(ShowInFabric(self.node))

    def action_filter(self) -> None:
        """List the results of the session, those of this node, and take what else they are filtered by."""
        from benchconsole.console.tui.screens.area import begin_filter  # not to look at a node

        begin_filter(self, "results", f"{sanitize(self.node)} ")

    def action_facts(self) -> None:
        self.post_message(OpenPage(FactsScreen(self.node, tab=self.tab)))

    def action_finding(self) -> None:
        found, view = self.seen.finding if self.seen else None, self.run_view
        static = static_findings.find_static_finding(view, [self.node]) if view is not None else None
        if found is not None and view is not None:
            self.post_message(OpenFinding(view.findings.index(found)))
        elif static is not None:
            self.post_message(OpenStatic(static.where))
        else:
            self.say("No finding speaks of this node.")

    def action_repeat(self) -> None:
        if self.seen is not None:
            self.post_message(PlanRun(only=tuple(result.test.id for result in self.seen.results)))

    def action_copy(self) -> None:
        if self.results.chosen is not None:
            self.post_message(Copy(_as_text([self.results.chosen]), "the result"))

    def action_copy_all(self) -> None:
        self.post_message(Copy(_as_text(self.results.items), f"{self.results.count} results"))


def _share_height(page: NodeScreen) -> None:
    """Raw keeps three rows, results two; then the path, the inventory and all results get what they want."""
    low = page.size.height < 20
    words = 2 if page.said and not low else 1
    page.headline.styles.height = words
    room = page.size.height - (3 if low else 5) - words
    gap = 0 if page.size.height < 24 else 1
    remarks = min(len(page.remarks.said), 1 if low else _MOST_REMARKS)
    page.remarks.styles.height = remarks
    room -= remarks
    results = min(page.results.count + 1, 3)
    raw = min(4, max(room - results, 0))
    room -= results + raw
    inventory = min(page.inventory.wanted, room) if room > 2 else 0
    room -= inventory
    more = min(max(page.results.count + 1 - results, 0), max(room, 0))
    results, room = results + more, room - more
    path = min(page.path.wanted, room) if room > 2 else 0
    room -= path
    for widget, height in ((page.inventory, inventory), (page.results, results), (page.path, path)):
        spare = gap if room >= gap and height else 0
        room -= spare
        widget.styles.height = height + spare


def _as_text(some: Sequence[NodeResult]) -> str:
    heads = ("state", "probe", "metric", "measured", "expected", "from", "of exp", "limit", "verdict")
    lines = ["\t".join(heads)]
    for each in some:
        cells = (SIGNS[each.state].word, each.probe, each.metric, each.measured, each.expected, each.source, each.share,
                 each.limit, each.verdict_words)  # fmt: skip
        lines.append("\t".join(cells))
    return "\n".join(lines) + "\n"


def describe_node(view: RunView, seen: NodeView) -> str:
    """The finding of the description on a node by its own name; where a virtual machine runs, what forwards."""
    node = seen.node
    own = next((each for each in view.static or () if each.where == node.id), None)
    words = [f"virtual on {sanitize(node.host)}, over its cables"] if node.host is not None else []
    words += ["forwards between the networks that it is cabled to"] if node.forwards else []
    words += [f"description, {SEVERITIES[own.severity].word}: {sanitize(own.text)}"] if own is not None else []
    return "; ".join(words)


def make_node_headline(view: RunView, seen: NodeView) -> tuple[State | None, str, str]:
    """The worst that is known of a node, in one sentence."""
    name, finding = sanitize(seen.node.id), seen.finding
    if finding is not None:
        lead, rest = clauses(sanitize(finding.where), sanitize(finding.what))
        return seen.state, lead, rest
    if seen.state is State.UNREACHABLE:
        failure = next((each for each in seen.failures if each.stage.means_unreachable), None)
        why = sanitize(failure.detail or failure.stage.value) if failure else "no answer"
        return seen.state, f"{name} could not be asked:", f" {why}. Its tests are not counted as passed."
    worst = next((each for each in list_node_results(view, seen) if each.state is not State.PASS), None)
    if worst is not None and worst.verdict is None:
        return worst.state, f"{name}: {worst.probe}", f", {worst.verdict_words}"
    if worst is not None:
        return worst.state, f"{name}: {worst.subject} {worst.measured}", f" of {worst.expected}, {worst.verdict_words}"
    if not seen.results and view.reading is not None:
        stands, how_far = tell_reading(view.reading)
        return None, f"The session is {stands}", how_far
    if not seen.results:
        return None, f"{name} was not tested yet.", ""
    if seen.state is State.PASS:
        return seen.state, f"{name} passes", f" {count(len(seen.results), 'test')}."
    if seen.state is State.MEASURED:
        return seen.state, f"{name} was tested and not judged:", " nothing of it was held against a threshold."
    return seen.state, f"{name}: not all of its planned tests have run.", ""
