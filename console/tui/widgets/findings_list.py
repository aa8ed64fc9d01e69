"""Owns the list of findings: suspect, where, what, how many nodes, how sure, how many tests."""

from collections.abc import Sequence

from console.tui.drawing import MUTED, STRONG, TEXT, Line, Piece, Row, clip, sign, width_of
from console.tui.reading import Fault
from console.tui.widgets.listing import Listing
from console.view import State
from console.wording import plain


class FindingsList(Listing):
    """One row a finding, in the order in which they were ranked."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: Sequence[Fault] = ()
        self.nothing = "No fault was found."

    def show(self, faults: Sequence[Fault], nothing: str) -> None:
        """Other findings; the cursor stays on its element. ``nothing`` is said where there are none."""
        here = self.chosen
        self.faults, self.nothing = faults, nothing
        if here is not None:
            self.cursor = next((i for i, each in enumerate(faults) if each.where == here.where), self.cursor)
        self.redraw()

    @property
    def chosen(self) -> Fault | None:
        """The finding under the cursor."""
        return self.faults[self.cursor] if self.cursor < len(self.faults) else None

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.faults)

    def heading(self, width: int) -> list[Row]:
        """Names of the columns."""
        if not self.faults:
            return []
        where, what, wide = self._columns(width)
        line = Line(width).to(3).put("suspect", MUTED, 9).put("where", MUTED, where + 2).put("what", MUTED, what)
        line.put("  ").put("nodes", MUTED, 6, ">")
        if width >= 70:
            line.put("  ").put("confidence", MUTED, 10)
        if wide:
            line.put("  ").put("tests", MUTED, 6, ">")
        return [line.row()]

    def row(self, index: int, width: int) -> Row:
        """One finding."""
        fault = self.faults[index]
        finding = fault.finding
        where, what, wide = self._columns(width)
        strong = fault.state is State.FAIL
        suspect = "no answer" if finding is None else _suspect(finding.suspect.value)
        line = Line(width).to(1).extend((sign(fault.state), Piece(" "))).put(suspect, MUTED, 9)
        line.put(clip(fault.where, where), STRONG if strong else TEXT, where + 2)
        line.put(clip(fault.what, what), TEXT, what).put("  ")
        nodes = len(finding.nodes) if finding else len(fault.nodes)
        line.put(f"{nodes:,}", TEXT, 6, ">")
        if width >= 70:
            line.put("  ").put(finding.confidence.value if finding else "certain", MUTED, 10)
        if wide:
            line.put("  ").put(f"{len(finding.tests):,}" if finding else "–", TEXT, 6, ">")
        return line.row()

    def empty(self, width: int) -> list[Row]:
        """Say so, and what that rests on."""
        return [Line(width).to(1).put(plain(self.nothing), TEXT).row()]

    def _columns(self, width: int) -> tuple[int, int, bool]:
        """Width of where and what, and whether there is room for the number of tests."""
        wide = width >= 100
        where = min(max([6, *(width_of(each.where) for each in self.faults)]), 20 if wide else 15)
        longest = max([8, *(width_of(each.what) for each in self.faults)])
        return where, min(longest, _room(width, where, wide=wide)), wide


def _room(width: int, where: int, *, wide: bool) -> int:
    """What the other columns leave for what is wrong."""
    return max(width - 23 - where - (12 if width >= 70 else 0) - (8 if wide else 0), 8)


def _suspect(value: str) -> str:
    return {"nic": "NIC", "lag": "LAG"}.get(value, value)
