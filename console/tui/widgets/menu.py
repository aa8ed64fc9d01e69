"""The list of the start page: ways in, sessions with their tests, and the one to resume."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from textual import events

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.rows.text_rows import BLANK, CellLine, CellText, Row, sign
from benchconsole.console.tui.rows.themes import BOLD, KEY, MUTED, STRONG, TEXT
from benchconsole.console.tui.start_model import Past, Start
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.view.session_verdict import STATES
from benchconsole.console.view.stored_verdict import ListedVerdict


class Opening(StrEnum):
    """Which part of the page an entry belongs to."""

    WAY = "ways"
    SESSION = "sessions"
    RESUME = "resume"


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """One thing that can be chosen."""

    action: Start
    key: str
    word: str
    help: str
    part: Opening
    value: str = ""
    past: Past | None = None


class StartMenu(Listing[MenuEntry]):
    """A page of a few parts with one cursor through all of them."""

    def __init__(self, entries: Sequence[MenuEntry], version: str) -> None:
        super().__init__()
        self.items = tuple(entries)
        self.version = version
        self._drawn: Sequence[int | None] = ()
        """The entry of each row that was drawn, None for a row of words."""

    def draw(self, width: int, height: int) -> list[Row]:
        """Title, parts with their headings, the promise; the rows around the cursor where it is low."""
        inner = min(width, 100)
        roomy = height >= 20
        rows: list[Row] = [BLANK, BLANK] if roomy else []
        title = CellLine(inner).to(3).put("benchconsole", STRONG).put("  accept, tune and repair a cluster", MUTED)
        rows.append(title.right((CellText(sanitize(self.version), MUTED),), margin=3).row())
        rows += [BLANK, BLANK] if roomy else [BLANK]
        at, places = 0, dict[int, int]()
        for part in Opening:
            entries = [(index, each) for index, each in enumerate(self.items) if each.part is part]
            if not entries:
                continue
            if part is Opening.SESSION:
                rows.append(self._sessions_heading(inner))
            for index, _ in entries:
                at = len(rows) if index == self.cursor else at
                places[len(rows)] = index
                rows.append(self._drawn_row(index, inner))
            rows += [BLANK, BLANK] if part is Opening.WAY and roomy else [BLANK]
        promise = CellLine(inner).to(4).put("Nothing is sent to a node before you press ", MUTED).put("enter", KEY)
        rows.append(promise.put(" on its name, or on a plan.", MUTED).row())
        start = max(0, min(at - height // 2, len(rows) - height))
        self._drawn = [places.get(row) for row in range(start, len(rows))]
        return rows[start:]

    def on_click(self, event: events.Click) -> None:
        """Go to the entry that was drawn there; a second click opens it. Between the parts stand rows of words."""
        event.prevent_default()  # the list would take the row for the entry of this number
        index = self._drawn[event.y] if 0 <= event.y < len(self._drawn) else None
        if index is None:
            return
        if event.chain > 1:
            self.choose()
        else:
            self.go(index)

    def row(self, index: int, width: int) -> Row:
        entry = self.items[index]
        if entry.past is not None:
            return self._session(entry, entry.past, width)
        line = CellLine(width).to(1)
        if entry.part is Opening.RESUME:
            line.to(4).put("resume  ", MUTED).put(entry.word, STRONG).put(" ")
            line.put(clip_text(entry.help, max(line.room - 4 - measure_width(entry.key), 0)), MUTED)
            return line.right((CellText(entry.key, KEY),), margin=3).row()
        keys = max(measure_width(each.key) for each in self.items if each.part is Opening.WAY)
        line.to(4).put(entry.key, KEY, keys).put("  ").put(entry.word, TEXT, 20)
        return line.put(clip_text(entry.help, max(line.room - 2, 0)), MUTED).row()

    def _columns(self, width: int) -> tuple[int, int, int]:
        """Widths of label, fabric and time; the last two go first when it narrows."""
        pasts = [each.past for each in self.items if each.past is not None]
        label = max([8, *(measure_width(sanitize(past.label)) for past in pasts)])
        fabric = max([6, *(measure_width(sanitize(past.fabric)) for past in pasts)])
        when = max([4, *(measure_width(past.when) for past in pasts)])
        return min(label, 20), min(fabric, 14) if width >= 70 else 0, min(when, 16) if width >= 60 else 0

    def _sessions_heading(self, width: int) -> Row:
        label, fabric, when = self._columns(width)
        line = CellLine(width).to(4).put("sessions", MUTED, label + 3).put("  ")
        for name, wide in (("fabric", fabric), ("when", when)):
            line.put(name, MUTED, wide).put("  " if wide else "")
        line.put("tested", MUTED, 16, ">")
        return line.put("  verdict", MUTED).row()

    def _session(self, entry: MenuEntry, past: Past, width: int) -> Row:
        label, fabric, when = self._columns(width)
        line = CellLine(width).to(4).put(entry.key or " ", KEY).put("  ").put(entry.word, BOLD, label).put("  ")
        for text, wide in ((sanitize(past.fabric), fabric), (sanitize(past.when), when)):
            line.put(text, MUTED, wide).put("  " if wide else "")
        line.put(f"{past.tested:,} of {past.total:,}", TEXT, 16, ">").put("  ")
        return line.extend(verdict_row(past.verdict, max(line.room - 4, 0))).row()


def verdict_row(verdict: ListedVerdict, width: int) -> Row:
    """``✗ fail, 4 below``: the verdict with its sign, without one where it is not known; a word where it is narrow."""
    words = sanitize(verdict.words)
    if measure_width(words) > width:
        words = clip_text(verdict.outcome or words.partition(":")[0], width)
    if verdict.outcome is None:
        return (CellText(words, MUTED),)
    return (sign(STATES[verdict.outcome]), CellText(f" {words}", TEXT))
