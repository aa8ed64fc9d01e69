"""Owns the list of the start page: ways in, sessions with what was tested, and the one to resume."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from console.tui.drawing import (
    BLANK,
    BOLD,
    FAIL,
    KEY,
    MUTED,
    STRONG,
    TEXT,
    WATCH,
    Line,
    Piece,
    Row,
    clip,
    sign,
    width_of,
)
from console.tui.start import Past, Start
from console.tui.widgets.listing import Listing
from console.view import State
from console.wording import plain


class Opening(StrEnum):
    """Which part of the page an entry belongs to."""

    WAY = "ways"
    SESSION = "sessions"
    RESUME = "resume"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that can be chosen."""

    action: Start
    key: str
    word: str
    help: str
    part: Opening
    value: str = ""
    past: Past | None = None


class Menu(Listing):
    """A page of a few parts with one cursor through all of them."""

    def __init__(self, entries: Sequence[Entry], version: str) -> None:
        super().__init__()
        self.entries = tuple(entries)
        self.version = version

    @property
    def count(self) -> int:
        """How many entries there are."""
        return len(self.entries)

    @property
    def chosen(self) -> Entry | None:
        """The entry under the cursor."""
        return self.entries[self.cursor] if self.cursor < len(self.entries) else None

    def draw(self, width: int, height: int) -> list[Row]:
        """Title, parts with their headings, the promise; the rows around the cursor where it is low."""
        inner = min(width, 100)
        roomy = height >= 20
        rows: list[Row] = [BLANK, BLANK] if roomy else []
        title = Line(inner).to(3).put("benchconsole", STRONG).put("  accept, tune and repair a cluster", MUTED)
        rows.append(title.right((Piece(plain(self.version), MUTED),), margin=3).row())
        rows += [BLANK, BLANK] if roomy else [BLANK]
        at = 0
        for part in Opening:
            entries = [(index, each) for index, each in enumerate(self.entries) if each.part is part]
            if not entries:
                continue
            if part is Opening.SESSION:
                rows.append(self._sessions_heading(inner))
            for index, _ in entries:
                at = len(rows) if index == self.cursor else at
                rows.append(self._drawn_row(index, inner))
            rows += [BLANK, BLANK] if part is Opening.WAY and roomy else [BLANK]
        rows += self._promise(inner)
        if len(rows) > height:
            start = max(0, min(at - height // 2, len(rows) - height))
            rows = rows[start:]
        return rows

    def row(self, index: int, width: int) -> Row:
        """One entry."""
        entry = self.entries[index]
        if entry.past is not None:
            return self._session(entry, entry.past, width)
        line = Line(width).to(1)
        if entry.part is Opening.RESUME:
            line.to(4).put("resume  ", MUTED).put(entry.word, STRONG).put(" ")
            return (
                line.put(clip(entry.help, max(line.room - 5, 0)), MUTED).right((Piece(entry.key, KEY),), margin=3).row()
            )
        line.to(4).put(entry.key, KEY).put("  ").put(entry.word, TEXT, 20)
        return line.put(clip(entry.help, max(line.room - 2, 0)), MUTED).row()

    def _columns(self, width: int) -> tuple[int, int, int]:
        """Widths of label, fabric and time; the last two go first when it narrows."""
        pasts = [each.past for each in self.entries if each.past is not None]
        label = max([8, *(width_of(plain(past.label)) for past in pasts)])
        fabric = max([6, *(width_of(plain(past.fabric)) for past in pasts)])
        when = max([4, *(width_of(past.when) for past in pasts)])
        return min(label, 20), min(fabric, 14) if width >= 70 else 0, min(when, 16) if width >= 60 else 0

    def _sessions_heading(self, width: int) -> Row:
        label, fabric, when = self._columns(width)
        line = Line(width).to(4).put("sessions", MUTED, label + 3).put("  ")
        for name, wide in (("fabric", fabric), ("when", when)):
            line.put(name, MUTED, wide).put("  " if wide else "")
        line.put("tested", MUTED, 16, ">")
        return line.put("  verdict", MUTED).row()

    def _session(self, entry: Entry, past: Past, width: int) -> Row:
        label, fabric, when = self._columns(width)
        line = Line(width).to(4).put(entry.key or " ", KEY).put("  ").put(entry.word, BOLD, label).put("  ")
        for text, wide in ((plain(past.fabric), fabric), (plain(past.when), when)):
            line.put(text, MUTED, wide).put("  " if wide else "")
        line.put(f"{past.tested:,} of {past.total:,}", TEXT, 16, ">").put("  ")
        return line.extend(verdict_row(past)).row()

    def _promise(self, width: int) -> list[Row]:
        line = Line(width).to(4).put("Nothing is sent to any node before you press ", MUTED).put("enter", KEY)
        return [line.put(" on a plan you have seen.", MUTED).row()]


def verdict_row(past: Past) -> Row:
    """``✗ 4  ▲ 4  ∅`` in columns of their own."""
    made: list[Piece] = []
    for number, glyph, tone in ((past.fails, "✗", FAIL), (past.watches, "▲", WATCH)):
        text = f"{glyph} {number}" if number else ""
        made.append(Piece(f"{text:<5}", tone._replace(bold=True)))
    if past.untested:
        made.append(sign(State.UNREACHABLE))
    elif not past.fails and not past.watches:
        made = [Piece("· pass", MUTED)]
    return tuple(made)
