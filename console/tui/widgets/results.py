"""The list of results of one node."""

from collections.abc import Sequence

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.tui.actions import find_key
from benchconsole.console.tui.queries.node_results import NodeResult
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, sign, value_tone
from benchconsole.console.tui.rows.themes import ACTIVE, MUTED, TEXT
from benchconsole.console.tui.widgets.listing import Listing, find_again
from benchconsole.console.view.run_view import State


class ResultList(Listing[NodeResult]):
    """The table of outcomes; its cursor chooses the path and the raw output that are shown below."""

    tested = False
    may_plan = True
    reading = False

    def show(self, results: Sequence[NodeResult], *, tested: bool, may_plan: bool, reading: bool = False) -> None:
        """``tested``: any test of the node has ended, with or without a row. ``may_plan``: a run may be planned.

        ``reading``: the session is being read, so that nothing is known of what it lacks.
        """
        self.tested, self.may_plan, self.reading = tested, may_plan, reading
        here, self.items = self.chosen, results
        self.cursor = find_again(here, results, lambda each: (each.test, each.metric), otherwise=0)
        self.redraw()

    def heading(self, width: int) -> list[Row]:
        line = CellLine(width).to(1).put("results", ACTIVE if self.has_focus else MUTED)
        for name, x, wide, align in self._columns(width):
            if name != "probe":
                line.to(x).put("of exp" if name == "share" else name, MUTED, wide, align)
        return [line.row()]

    def row(self, index: int, width: int) -> Row:
        each = self.items[index]
        quiet = each.state in (State.PASS, State.MEASURED)
        texts = {
            "probe": each.probe, "metric": each.metric, "measured": each.measured, "expected": each.expected,
            "from": each.source, "share": each.share, "limit": each.limit, "verdict": each.verdict_words,
        }  # fmt: skip
        line = CellLine(width).to(1).extend((sign(each.state), CellText(" ")))
        for name, x, wide, align in self._columns(width):
            tone = MUTED if (quiet and name in ("probe", "from", "limit", "verdict")) or name == "expected" else TEXT
            if name in ("measured", "share") and not quiet:
                tone = value_tone(each.state)
            line.to(x).put(clip_text(texts[name], wide), tone, wide, align)
        return line.row()

    def empty(self, width: int) -> list[Row]:
        if self.tested:
            line = CellLine(width).to(3).put("Its tests gave facts and no number.  ", MUTED)
            return [line.put(find_key("facts"), ACTIVE).put(" shows them", MUTED).row()]
        if self.reading:
            return [CellLine(width).to(3).put("The session is being read.", MUTED).row()]
        line = CellLine(width).to(3).put("No test has run on this node yet.  ", MUTED)
        return [(line.put(find_key("plan"), ACTIVE).put(" plans a run", MUTED) if self.may_plan else line).row()]

    def _columns(self, width: int) -> list[tuple[str, int, int, str]]:
        """Name, column, width and alignment; what says nothing is left out, what matters less goes as it narrows."""
        probe = min(max([7, *(measure_width(each.probe) for each in self.items)]), 10)
        longest = min(max([6, *(measure_width(each.metric) for each in self.items)]), 36 if width >= 120 else 30)
        source = min(max([4, *(measure_width(each.source) for each in self.items)]), 16)
        limit = min(max([14, *(measure_width(each.limit) for each in self.items)]), 28 if width >= 160 else 14)
        metric = longest if width >= 100 else min(longest, max(width - 58, 10))
        wanted = [
            ("probe", probe, "<"),
            ("metric", metric, "<"),
            ("measured", 11, ">"),
            ("expected", 11, ">"),
            ("from", source, "<"),
            ("share", 6, ">"),
            ("limit", limit, "<"),
            ("verdict", 24 if width >= 100 else 8, "<"),
        ]
        said = [("limit", any(each.limit for each in self.items)), ("from", any(each.source for each in self.items))]
        bare = [name for name, is_told in said if self.items and not is_told]
        wanted = [each for each in wanted if each[0] not in bare]
        for dropped in ("limit", "from", "verdict", "probe"):
            if sum(wide + 2 for _, wide, _ in wanted) + 2 <= width:
                break
            wanted = [each for each in wanted if each[0] != dropped]
        made, x = [], 3
        for name, wide, align in wanted:
            made.append((name, x, wide if name != "verdict" else max(width - x - 1, 0), align))
            x += wide + 2
        return made
