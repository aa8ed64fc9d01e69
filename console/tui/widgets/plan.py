"""A plan as text: stages with rounds, tests and minutes, then effects on the nodes and coverage."""

from collections.abc import Sequence

from benchconsole.console.text.cells import clip_text, measure_width, wrap_text
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.rows.clock import lasting
from benchconsole.console.tui.rows.text_rows import BLANK, CellLine, Row, wrap_under
from benchconsole.console.tui.rows.themes import ACTIVE, BOLD, MUTED, STRONG, TEXT
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.view.run_view import State
from benchconsole.console.view.session_control import PlanNotes, Proposal
from benchconsole.console.view.wording import SIGNS
from benchconsole.probes.model.measuring import Round
from benchconsole.topology.units import counted as count

_GUTTER = 12


class PlanView(Listing[Row]):
    """Lines that scroll where there are more than fit."""

    CURSOR = False

    suite = ""
    suites: Sequence[str | None] = ()
    rounds: Sequence[Round] = ()
    notes = PlanNotes()
    ends = ""
    instead = ""
    options: Sequence[str] = ()
    command = ""
    _lines: tuple[int, Sequence[Row]] = (0, ())

    def say(self, words: str) -> None:
        """Words in place of a plan."""
        self.instead, self.rounds, self.notes, self.ends = words, (), PlanNotes(), ""
        self.options, self.command = (), ""
        self._lines = (0, ())
        self.redraw()

    def show(self, suite: str, proposal: Proposal, suites: Sequence[str | None]) -> None:
        self.instead = ""
        self.suite, self.suites = suite, suites
        self.rounds, self.notes, self.ends = proposal.rounds, proposal.notes, proposal.ends
        self.options, self.command = proposal.chosen, proposal.command
        self._lines = (0, ())
        self.redraw()

    @property
    def count(self) -> int:
        return len(self.lines(self.size.width))

    def row(self, index: int, width: int) -> Row:
        return self.lines(width)[index]

    def lines(self, width: int) -> Sequence[Row]:
        """Everything, for this width."""
        if self._lines[0] != width or not self._lines[1]:
            self._lines = (width, self._made(width))
        return self._lines[1]

    def _made(self, width: int) -> list[Row]:
        if self.instead:
            return wrap_under("", [self.instead], width, _GUTTER, 4)
        if not self.rounds:
            return self._without_rounds(width)
        tests = sum(len(each.tests) for each in self.rounds)
        seconds = sum(each.seconds for each in self.rounds)
        head = CellLine(width).to(1)
        head.put(f"{sanitize(self.suite) + ': ' if self.suite else ''}{count(len(self.rounds), 'round')}", STRONG)
        head.put(f", {count(tests, 'test')}, about {lasting(seconds)}.", TEXT)
        if len(self.suites) > 1:
            words = f" one of {len(self.suites)} suites" if self.suite in self.suites else " a suite instead"
            head.put("   ").put("tab", ACTIVE).put(words, MUTED)
        rows = [
            head.row(),
            *_tell_overrun(self.notes.overrun, width),
            *wrap_under("time limit", self.notes.limits, width, _GUTTER, 4),
            *_tell_options(self.options, self.command, width),
            BLANK,
        ]
        rows += self._stages(width)
        for name, texts in (
            ("does", self.notes.effects),
            ("covers", self.notes.covers),
            ("shows", self.notes.shows),
        ):
            rows += [BLANK, *wrap_under(name, texts, width, _GUTTER, 8)] if texts else []
        return [*rows, *self._held_back(width), *_promise(width)]

    def _without_rounds(self, width: int) -> list[Row]:
        """The lines where there is nothing to run: other work that is left, and what is held back."""
        if self.ends:
            head = CellLine(width).to(1).put("This session was interrupted after its last round.", STRONG).row()
            does = wrap_under("does", [self.ends], width, _GUTTER, 4)
            return [head, *_tell_options(self.options, self.command, width), BLANK, *does, *_promise(width)]
        head = CellLine(width).to(1).put("There is nothing to run.", STRONG).row()
        return [head, *_tell_options(self.options, self.command, width), *self._held_back(width)]

    def _held_back(self, width: int) -> list[Row]:
        texts = [f"{SIGNS[State.HELD].glyph} {each}" for each in self.notes.held_back]
        return [BLANK, *wrap_under("held back", texts, width, _GUTTER, 4)] if texts else []

    def _stages(self, width: int) -> list[Row]:
        stages: dict[str, list[Round]] = {}
        for each in self.rounds:
            stages.setdefault(each.stage, []).append(each)
        name = min(max([5, *(measure_width(sanitize(stage)) for stage in stages)]), 20)
        head = CellLine(width).to(1).put("stage", MUTED, name).put("  ").put("rounds", MUTED, 6, ">").put("  ")
        rows = [
            head.put("tests", MUTED, 7, ">").put("  ").put("time", MUTED, 8, ">").put("  what it is for", MUTED).row()
        ]
        for stage, rounds in stages.items():
            tests = sum(len(each.tests) for each in rounds)
            line = (
                CellLine(width).to(1).put(sanitize(stage), BOLD, name).put("  ").put(f"{len(rounds):,}", TEXT, 6, ">")
            )
            line.put("  ").put(f"{tests:,}", TEXT, 7, ">").put("  ")
            line.put(lasting(sum(each.seconds for each in rounds)), TEXT, 8, ">").put("  ")
            first, *more = wrap_text(sanitize(rounds[0].because), max(line.room - 1, 16)) or [""]
            at = line.at
            rows.append(line.put(first, MUTED).row())
            rows += [CellLine(width).to(at).put(words, MUTED).row() for words in more]
        return rows


def _tell_options(chosen: Sequence[str], command: str, width: int) -> list[Row]:
    """The chosen options, and the command line that does the same."""
    rows = wrap_under("chosen", [", ".join(chosen)], width, _GUTTER, 4) if chosen else []
    return rows + (wrap_under("command", [command], width, _GUTTER, 6, MUTED) if command else [])


def _tell_overrun(seconds: float, width: int) -> list[Row]:
    """By how much a tool that hangs prolongs a round at most; nothing where that is not known."""
    words = f"Each round in which a tool hangs takes up to {lasting(seconds)} longer."
    return [CellLine(width).to(1).put(clip_text(words, width - 2), MUTED).row()] if seconds else []


def _promise(width: int) -> list[Row]:
    line = CellLine(width).to(1).put("Nothing is sent to any node before you press ", MUTED).put("enter", ACTIVE)
    return [BLANK, line.put(".", MUTED).row()]
