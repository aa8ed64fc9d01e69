"""The stages of a run: rounds done as a wire, time, time left, and the worst result."""

from collections.abc import Mapping, Sequence

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.rows import link_glyphs
from benchconsole.console.tui.rows.clock import lasting
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, sign, word_tone
from benchconsole.console.tui.rows.themes import BOLD, MUTED, STRONG, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.run_view import StageView, State

_LEAST_RESULT, _WIDEST_RESULT = 21, 44
"""Cells that results have before the words on what runs."""


class Stages(CellWidget):
    """One row a stage; what is done folds into one row where it is tight."""

    DEFAULT_CSS = "Stages { height: 4; }"

    def __init__(self) -> None:
        super().__init__()
        self.stages: Sequence[StageView] = ()
        self.because: Mapping[str, str] = {}
        self.results: Mapping[str, str] = {}

    def show(self, stages: Sequence[StageView], because: Mapping[str, str], results: Mapping[str, str]) -> None:
        """``because`` and ``results`` are words for each stage."""
        self.stages, self.because, self.results = stages, because, results
        self.redraw()

    @property
    def wanted(self) -> int:
        return len(self.stages) + 1

    def draw(self, width: int, height: int) -> list[Row]:
        if not self.stages or not height:
            return []
        name = min(max([5, *(measure_width(sanitize(stage.name)) for stage in self.stages)]), 18)
        wire = 24 if width >= 160 else 12 if width >= 100 else 8 if width >= 70 else 0
        left = any(stage.left + stage.overrun >= 0.5 for stage in self.stages)
        longest = max(map(measure_width, self.because.values()), default=0)
        result = min(max([_LEAST_RESULT, *map(measure_width, self.results.values())]), _WIDEST_RESULT)
        room = width - name - wire - result - (38 if left else 29)
        about = min(max(room, 0), max(longest, 9)) if width >= 90 else 0
        head = CellLine(width).to(1).put("stage", MUTED).to(3 + name + 2)
        if about:
            head.put("what runs", MUTED, about).put("  ")
        head.put("rounds", MUTED).to(head.at - 6 + wire + 9).put("time", MUTED, 9, ">")
        head.put("left", MUTED, 9 if left else 0, ">")
        rows = [head.put("   result", MUTED).row()]
        shown = list(self.stages)
        done = [stage for stage in shown if stage.done == stage.rounds and stage.state is State.PASS]
        if len(shown) + 1 > height and len(done) > 1:
            shown = [stage for stage in shown if stage not in done]
            rows.append(CellLine(width).to(1).put(f"· {len(done)} stages done and passed", MUTED).row())
        return rows + [
            self._stage(stage, line_of=(name, about, wire, 9 if left else 0), width=width) for stage in shown
        ]

    def _stage(self, stage: StageView, *, line_of: tuple[int, int, int, int], width: int) -> Row:
        name, about, wire, left = line_of
        waiting = not stage.done and stage.state is not State.RUNNING
        running = stage.state is State.RUNNING
        line = CellLine(width).to(1)
        line.extend((CellText(" "),) if waiting else (sign(stage.state),)).put(" ")
        line.put(sanitize(stage.name), STRONG if running else MUTED if waiting else TEXT, name).put("  ")
        if about:
            line.put(clip_text(self.because.get(stage.name, sanitize(stage.probe)), about), MUTED, about).put("  ")
        line.extend(link_glyphs.wire(wire, stage.done / stage.rounds if stage.rounds else 0.0))
        line.put(f"{stage.done:,}/{stage.rounds:,}", BOLD if running else MUTED, 9, ">")
        line.put(lasting(stage.seconds) if stage.done or running else "", TEXT, 9, ">")
        line.put(_format_left(stage), MUTED, left, ">").put("   ")
        result = self.results.get(stage.name, "")
        return line.put(clip_text(result, max(line.room - 1, 0)), word_tone(stage.state)).row()


def _format_left(stage: StageView) -> str:
    """About how much is left, or at most how much where a round takes longer than foreseen."""
    seconds = stage.left + stage.overrun
    return f"{'≤ ' if stage.overrun else ''}{lasting(seconds)}" if seconds >= 0.5 else ""
