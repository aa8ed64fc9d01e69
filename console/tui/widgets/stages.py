"""The stages of a run: rounds done as a wire, time, time left, and the worst result."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.rows import link_glyphs
from benchconsole.console.tui.rows.clock import lasting
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, sign, word_tone
from benchconsole.console.tui.rows.themes import BOLD, MUTED, STRONG, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.run_view import StageView, State, worst
from benchconsole.console.view.wording import SIGNS
from benchconsole.topology.units import counted

_LEAST_RESULT, _WIDEST_RESULT = 21, 44
"""Cells that results have before the words on what runs."""


class StageFold(NamedTuple):
    """The stages that have a row, those done that share the first one, and how many more wait.

    ``done_waits``: the first row counts those that wait, too, for there is no other one.
    """

    done: Sequence[StageView]
    shown: Sequence[StageView]
    waiting: int
    done_waits: bool = False


def fold_stages(stages: Sequence[StageView], room: int) -> StageFold:
    """The stages in ``room`` rows: those that passed fold first, then those done longest ago; the one that runs stays.

    Where none runs the next one stays, and after the last one the last that did not pass.
    """
    passed = [place for place, each in enumerate(stages) if _is_done(each) and each.state is State.PASS]
    folds_passed = len(passed) > 1
    if len(stages) <= room or (folds_passed and len(stages) - len(passed) < room):
        folded = passed if folds_passed and len(stages) > room else []
        shown = [each for place, each in enumerate(stages) if place not in folded]
        return StageFold([stages[place] for place in folded], shown, 0)
    others = [place for place in range(len(stages)) if place not in passed] or passed[-1:]
    ahead = [place for place in others if not _is_done(stages[place])]
    here = next((place for place in others if stages[place].state is State.RUNNING), (ahead or others[-1:])[0])
    over = [place for place in others if place != here and place not in ahead]
    ahead = [place for place in ahead if place != here]
    free = max(room - 1 - bool(ahead), 0)
    is_folded = bool(passed) or len(over) > free
    free = max(free - is_folded, 0)
    kept = over[max(len(over) - free, 0) :]
    free = room - 1 - is_folded - len(kept)
    following = ahead if len(ahead) <= free else ahead[: max(free - 1, 0)]
    chosen = {here, *kept, *following}
    folded = [place for place, each in enumerate(stages) if place not in chosen and _is_done(each)]
    waiting = len(ahead) - len(following)
    if room < 2:
        return StageFold((), [stages[here]], 0)
    if len(folded) == 1 and (free or not waiting):  # as many rows as its own
        chosen, folded = chosen | {*folded}, []
    shown = [stages[place] for place in sorted(chosen)]
    return StageFold([stages[place] for place in folded], shown, waiting, done_waits=free < 1)


def _is_done(stage: StageView) -> bool:
    return stage.done == stage.rounds and stage.state is not State.RUNNING


def _tell_done(fold: StageFold) -> Row:
    """``✗ 7 stages done, worst fail``: how many share the row, with the sign of the worst."""
    low = worst(each.state for each in fold.done)
    count = counted(len(fold.done), "stage")
    how = {State.PASS: " and passed", State.MEASURED: ""}.get(low, f", worst {SIGNS[low].word}")
    more = f", and {fold.waiting:,} more" if fold.waiting and fold.done_waits else ""
    return (sign(low), CellText(f" {count} done{how}{more}", MUTED))


class Stages(CellWidget):
    """One row a stage; what is done folds into one row where it is tight, and what waits is counted."""

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
        fold = fold_stages(self.stages, height - 1)
        if fold.done:
            rows.append(CellLine(width).to(1).extend(_tell_done(fold)).row())
        line_of = (name, about, wire, 9 if left else 0)
        rows += [self._stage(stage, line_of=line_of, width=width) for stage in fold.shown]
        if fold.waiting and not fold.done_waits:
            rows.append(CellLine(width).to(3).put(f"and {fold.waiting:,} more", MUTED).row())
        return rows

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
