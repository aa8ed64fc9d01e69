"""Agreeing to lose what is on one disk: which disk that is, and its serial number typed out."""

from collections.abc import Iterator
from typing import NamedTuple

from textual import on

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.rows.text_rows import BLANK, CellLine, CellText, Row, wrap_under
from benchconsole.console.tui.rows.themes import BOLD, FAIL, MUTED, STRONG
from benchconsole.console.tui.screens.base.sheet import Sheet
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.console.tui.widgets.tabs import Badges
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.blank_devices import Confirmation
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import disk_size

_INDENT = 11
_NOT_KNOWN = "not known: no inventory of this session shows it"
_LAST_LOOK = (
    "The node is asked once more right before the write: unless the disk is blank then, nothing is written and the "
    "test fails. Without the serial number, the plan leaves this disk out."
)


class DiskFacts(NamedTuple):
    """The facts of a disk in inventories of the session; empty where none shows it."""

    device: str = ""
    size: str = ""


def seen(view: RunView | None, node: NodeId, serial: str) -> DiskFacts:
    """The disk with this serial number, as the newest inventory of ``node`` shows it."""
    if view is None or node not in view.nodes:
        return DiskFacts()
    sizes: dict[str, float] = {}
    names: list[str] = []
    for fact in (fact for result in view.nodes[node].results for fact in result.facts):
        name = dict(fact.labels).get("disk", "")
        if fact.fact == "disk.size" and isinstance(fact.value, float):
            sizes[name] = fact.value
        elif fact.fact == "disk.serial" and fact.value == serial:
            names.append(name)
    if not names:
        return DiskFacts()
    size = sizes.get(names[-1])
    return DiskFacts(f"/dev/{names[-1]}", disk_size(size) if size is not None else "")


class DiskLoss(CellWidget):
    """Node, device, serial number, size, and what is lost."""

    DEFAULT_CSS = "DiskLoss { height: auto; }"

    def __init__(self, asked: Confirmation, disk: DiskFacts) -> None:
        super().__init__()
        self.asked = asked
        self.disk = disk

    def lines(self, width: int) -> Iterator[Row]:
        device, size = self.disk.device or _NOT_KNOWN, self.disk.size or ("unknown" if self.disk.device else _NOT_KNOWN)
        for name, text in (
            ("node", self.asked.node),
            ("serial", self.asked.serial),
            ("device", device),
            ("size", size),
        ):
            yield CellLine(width).to(1).put(name, MUTED).to(_INDENT).put(sanitize(text), BOLD).row()
        yield from wrap_under("lost", [f"{self.asked.lost}, for good"], width, _INDENT, 4, STRONG)
        yield BLANK
        yield from wrap_under("", [_LAST_LOOK], width, _INDENT, 4, MUTED)
        yield BLANK

    def draw(self, width: int, height: int) -> list[Row]:
        return list(self.lines(width))


class DiskSheet(Sheet[str]):
    """Dismisses with the serial number as it was typed when it is the right one."""

    KEYS = (("enter", "agree"), ("esc", "leave this disk out"))

    def __init__(self, asked: Confirmation, disk: DiskFacts, badges: Badges) -> None:
        super().__init__("overwrite a disk", badges)
        self.asked = asked
        self.loss = DiskLoss(asked, disk)
        self.prompt = LineInput("type its serial number:")
        self.parts = (self.loss, self.prompt)

    def on_resize(self) -> None:
        self.loss.styles.height = max(min(len(list(self.loss.lines(self.size.width))), self.size.height - 3), 1)

    @on(LineInput.Changed)
    def _changed(self) -> None:
        self.prompt.show()

    @on(LineInput.Entered)
    def _entered(self, event: LineInput.Entered) -> None:
        if self.asked.accepts(event.text):
            self.dismiss(self.asked.serial)
        else:
            self.prompt.show(note=(CellText("that is not it", FAIL),))
