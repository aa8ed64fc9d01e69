"""Facts of a node against the declared ones: differences in full, the rest in one line."""

from benchconsole.console.text.cells import clip_text
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.rows.text_rows import CellLine, Row, sign, value_tone
from benchconsole.console.tui.rows.themes import MUTED, STRONG, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.run_view import NodeView, State, state_of
from benchconsole.console.view.wording import format_expected, format_measured
from benchconsole.probes.model.judgement import Level, Verdict, Yardstick
from benchconsole.probes.model.labels import tell_labels
from benchconsole.probes.model.probe_names import INVENTORY
from benchconsole.topology.units import counted as count


class InventoryView(CellWidget):
    """Facts that differ; then how many are as declared, with the first of them."""

    DEFAULT_CSS = "InventoryView { height: 3; }"

    differing: tuple[Verdict, ...] = ()
    same: tuple[Verdict, ...] = ()
    facts = 0

    def show(self, node: NodeView) -> None:
        found = [each for each in node.verdicts if each.kind is Yardstick.HARDWARE]
        self.differing = tuple(sorted((e for e in found if e.level is not Level.PASS), key=lambda e: state_of(e).rank))
        self.same = tuple(each for each in found if each.level is Level.PASS)
        self.facts = sum(len(result.facts) for result in node.results if result.test.probe == INVENTORY)
        self.redraw()

    @property
    def wanted(self) -> int:
        return 1 + (len(self.differing) + 1 + (1 if self.same else 0) if self.differing else 0)

    def draw(self, width: int, height: int) -> list[Row]:
        total = len(self.differing) + len(self.same)
        line = CellLine(width).to(1).put("inventory", MUTED).to(13)
        if not total:
            words = f"{self.facts} facts read, nothing declared to hold them against" if self.facts else "not read yet"
            return [line.put(words, MUTED).row()]
        same = ", ".join(f"{_name(each)} {format_measured(each)}" for each in self.same)
        differ = len(self.differing)
        if not differ:
            return [line.put(clip_text(f"{total} as declared: {same}", line.room - 1), MUTED).row()]
        rows = [
            line.put(
                f"{differ} of {count(total, 'declared fact')} {'differs' if differ == 1 else 'differ'}", MUTED
            ).row()
        ]
        x = min(max([14, *(len(_name(each)) + 5 for each in self.differing)]), max(width // 3, 14))
        rows.append(
            CellLine(width).to(3).put("fact", MUTED).to(x).put("here", MUTED).to(x + 16).put("declared", MUTED).row()
        )
        rows += [self._difference(each, x, width) for each in self.differing]
        if same:
            rows.append(
                CellLine(width).to(3).put(clip_text(f"{len(self.same)} as declared: {same}", width - 4), MUTED).row()
            )
        return rows

    def _difference(self, verdict: Verdict, x: int, width: int) -> Row:
        state = state_of(verdict)
        line = CellLine(width).to(1).extend((sign(state),)).to(3).put(_name(verdict), STRONG, x - 5).to(x)
        line.put(format_measured(verdict), value_tone(state if state is not State.UNKNOWN else State.WATCH), 14).to(
            x + 16
        )
        line.put(format_expected(verdict), TEXT, 14).to(x + 32)
        because = "" if verdict.because.startswith("declared") else sanitize(verdict.because)
        return line.put(clip_text(because, max(line.room - 1, 0)), MUTED).row()


def _name(verdict: Verdict) -> str:
    return sanitize(" ".join([verdict.metric, *tell_labels(verdict.labels)]))
