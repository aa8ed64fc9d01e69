"""The headline and its reason: the worst fact on the screen in one sentence."""

import re

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, sign
from benchconsole.console.tui.rows.themes import MUTED, STRONG, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.run_view import State


class Headline(CellWidget):
    """``what`` is a sentence, its first clause bold; ``why`` follows in muted; ``aside`` stands at the right."""

    DEFAULT_CSS = "Headline { height: 2; }"

    state: State | None = None
    lead = ""
    what = ""
    why = ""
    aside = ""

    def show(self, state: State | None, lead: str, what: str, *, why: str = "", aside: str = "") -> None:
        self.state, self.lead, self.what, self.why, self.aside = state, lead, what, why, aside
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        if not (self.lead or self.what):
            return []
        line = CellLine(width).to(1)
        if self.state is not None:
            line.extend((sign(self.state),)).put(" ")
        room = line.room - 1
        aside = self.aside if width >= 100 else re.sub("^(finding|fault|unknown) ", "", self.aside)
        aside = aside.replace(" of ", "/") if width < 100 and re.fullmatch(r"[\d,]+ of [\d,]+", aside) else aside
        room -= measure_width(aside) + 2 if aside else 0
        text = self.lead + self.what
        first, rest = _broken(text, max(room, 8)) if height > 1 else (clip_text(text, max(room, 8)), "")
        split = min(len(self.lead), len(first))
        line.put(first[:split], STRONG).put(first[split:], TEXT)
        if aside:
            line.right((CellText(aside, MUTED),))
        indent = 3 if self.state is not None else 1
        if height < 2 or not (rest or self.why):
            return [line.row()]
        second = CellLine(width).to(indent).put(rest, TEXT)
        gap = "   " if rest else ""
        second.put(clip_text(gap + self.why, max(second.room - 1, 0)), MUTED)
        return [line.row(), second.row()]


def _broken(text: str, room: int) -> tuple[str, str]:
    """``text`` in two rows: both numbers of a headline are never cut away for want of one."""
    if measure_width(text) <= room:
        return text, ""
    fits = max(end for end in range(len(text) + 1) if measure_width(text[:end]) <= room)
    cut = text.rfind(" ", 0, fits + 1)
    if cut <= 0:
        return clip_text(text, room), ""
    return text[:cut].rstrip(), text[cut:].lstrip()


def clauses(where: str, what: str) -> tuple[str, str]:
    """A finding as a bold lead and the rest: ``n3 out gives 2.97 of 9.90 Gb/s`` and `` with every partner``."""
    head = f"{where}: " if re.match(r"[\d▸]", what) else f"{where} "
    cut = re.search(r"[;:,.](?= )| with ", what)
    if cut is None or cut.start() < 4:
        return head + what, ""
    return head + what[: cut.start()], what[cut.start() :]
