"""A cluster described by asking its nodes: the form, the answers as they come, the name of the file, and consent.

Every sheet stands on the one before, so that escape comes back to it as it was. Nothing is written before the last one.
"""

import asyncio
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from textual import on

from benchconsole.console.exits import BadInput
from benchconsole.console.text.name_sets import fold_names, group_alike
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.typed_path import read_typed_path
from benchconsole.console.tui.fabric_map.shape import FabricShape, read_shape
from benchconsole.console.tui.rows.text_rows import CellLine, Row, wrap_under
from benchconsole.console.tui.rows.themes import FAIL, MUTED, TEXT
from benchconsole.console.tui.screens.asked_fabric import AskedFabricPage
from benchconsole.console.tui.screens.base.sheet import Sheet
from benchconsole.console.tui.screens.choice import ChoiceSheet
from benchconsole.console.tui.screens.password import PasswordSheet
from benchconsole.console.tui.widgets.field_notes import FieldNotes
from benchconsole.console.tui.widgets.form_input import FormInput
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.options import Option
from benchconsole.console.tui.widgets.tabs import Badges
from benchconsole.topology.errors import SelectionError, TopologyError
from benchconsole.topology.units import counted

if TYPE_CHECKING:
    from benchconsole.console.session.asked_topology import AskedNodes, ToldTopology, TopologyAsking, TopologyDraft
    from benchconsole.topology.analysis.static_finding import StaticFinding

MEANINGS = {
    "nodes": "the nodes that are asked, such as n[01-16] st1",
    "all-hosts": "yes: every host that your ssh_config names, too",
    "ssh-config": "another ssh_config than your own; the topology names it",
    "sudo": "yes: ask as the administrator, through sudo, where lldpd answers root only",
    "link-speed": "the speed of links whose nodes tell of none, such as 25 Gb/s",
}
"""The fields, by the words of the command."""
FILE = "file"
"""The name of the file among the fields, asked for in the end."""
FORM_ROWS = 3
REPLACE = (
    Option("k", "keep it", "write nothing, and choose another name", "keep"),
    Option("r", "replace it", "what is in it is lost", "replace"),
)
_SUDO = "sudo wants a password. It is asked for once, given to sudo on those nodes only, and kept nowhere."
REFUSED = (BadInput, SelectionError, TopologyError)
"""Errors whose words are for whoever typed."""


def put_in_words(error: Exception) -> list[str]:
    """The sentences of an error as the command says them, without the name of the program."""
    return [sanitize(line.removeprefix("benchconsole: ")) for line in str(error).splitlines()]


class AskNodesSheet(Sheet[None]):
    """Asks for nodes, and leads on. ``fields`` hold what is typed, also when the sheet was left and is opened again.

    ``written`` is given the name of a topology file that was written.
    """

    KEYS = (("enter", "ask these nodes over SSH"), ("up down", "field"), ("esc", "ask nobody"))

    def __init__(
        self, asking: "TopologyAsking", fields: MutableMapping[str, str], file: Path, written: Callable[[Path], object]
    ) -> None:
        super().__init__("describe a cluster by asking its nodes", Badges())
        self.asking = asking
        self.fields = fields
        self.file = file
        self.written = written
        self.form = FormInput(tuple(MEANINGS), fields, lambda name, _: ["yes"] if name in ("all-hosts", "sudo") else [])
        self.notes = FieldNotes("")
        self.parts = (self.form, self.notes)

    def on_mount(self) -> None:
        super().on_mount()
        self._show()

    def on_resize(self) -> None:
        self.form.styles.height = max(min(len(MEANINGS), self.size.height - 2 - FORM_ROWS), 1)
        self.notes.styles.height = FORM_ROWS

    @on(LineInput.Changed)
    def _show(self) -> None:
        self.fields.update(self.form.typed)
        self.notes.show(MEANINGS[self.form.here], [(each, "") for each in self.form.completions])

    @on(FormInput.Filled)
    def _filled(self, event: FormInput.Filled) -> None:
        from benchconsole.console.session.asked_topology import read_fields

        if not self.is_active:
            return
        try:
            nodes = read_fields(event.typed)
        except REFUSED as error:
            self.notes.complain(put_in_words(error))
        else:
            self.app.push_screen(AskingSheet(self.asking, nodes, self.file), self._take)

    def _take(self, found: "FoundTopology | None") -> None:
        """Show the fabric, on which the name of the file is asked for."""
        if found is not None:
            save = partial(self._save, found.told)
            self.app.push_screen(AskedFabricPage(found.draft, found.static, found.shape, save))

    def _save(self, told: "ToldTopology") -> None:
        self.app.push_screen(SaveSheet(told, self.fields[FILE], self._keep_name), self._end)

    def _keep_name(self, name: str) -> None:
        self.fields[FILE] = name

    def _end(self, file: Path | None) -> None:
        if file is not None:
            self.written(file)


class FoundTopology(NamedTuple):
    """The answers of the nodes, the topology made of them, the findings of the description alone, and its map."""

    told: "ToldTopology"
    draft: "TopologyDraft"
    static: "Sequence[StaticFinding]"
    shape: FabricShape


class Answers(Listing[tuple[str, str]]):
    """How many nodes have answered, and why others did not. ``items`` are nodes with reasons, empty where they did."""

    CURSOR = False
    DEFAULT_CSS = "Answers { height: 10; }"

    def __init__(self, total: int) -> None:
        super().__init__()
        self.total = total
        self.wrong: Sequence[str] = ()
        self._lines: tuple[tuple[int, int, int], Sequence[Row]] = ((-1, 0, 0), ())

    def lines(self, width: int) -> Sequence[Row]:
        """A line for each reason, with its nodes, and what went wrong in the end."""
        key = len(self.items), len(self.wrong), width
        if self._lines[0] != key:
            alike = group_alike((node, why) for node, why in self.items if why)
            rows = [row for each in self.wrong for row in wrap_under("", [each], width, 2, 20, FAIL)]
            for why, nodes in alike:
                rows += wrap_under("", [f"{fold_names(nodes)}: {sanitize(why)}"], width, 2, 20, TEXT)
            self._lines = key, rows
        return self._lines[1]

    @property
    def count(self) -> int:
        return len(self.lines(self.size.width))

    def heading(self, width: int) -> list[Row]:
        failed = sum(1 for _, why in self.items if why)
        left = self.total - len(self.items)
        words = f"{len(self.items) - failed:,} of {counted(self.total, 'node')} answered"
        line = CellLine(width).to(1).put(words, TEXT).put(f", {failed:,} failed" if failed else "", FAIL)
        return [line.put(f", {left:,} still asked" if left else "", MUTED).row()]

    def row(self, index: int, width: int) -> Row:
        return self.lines(width)[index]


class RootPasswordSheet(PasswordSheet):
    """Asks for the password of ``sudo`` while nodes are asked."""

    KEYS = (("enter", "give it to sudo"), ("esc", "give none"))


class AskingSheet(Sheet[FoundTopology]):
    """Dismisses with the topology that the nodes told of; stays where there is none. Escape stops the questions."""

    KEYS = (("esc", "stop, and back to the form"), ("up down", "scroll"))
    TICK = 0.1

    def __init__(self, asking: "TopologyAsking", nodes: "AskedNodes", file: Path) -> None:
        super().__init__("asking nodes", Badges())
        self.asking = asking
        self.nodes = nodes
        self.file = file
        self.heard: list[tuple[str, str]] = []
        self.answers = Answers(len(nodes.list_names()))
        self.parts = (self.answers,)

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(self.TICK, self._show)
        self.run_worker(self._ask(), exit_on_error=False)

    def on_resize(self) -> None:
        self.answers.styles.height = max(min(12, self.size.height - 2), 1)

    def _show(self) -> None:
        """Show the answers that the other thread has heard by now."""
        if len(self.heard) != len(self.answers.items):
            self.answers.items = tuple(self.heard)
            self.answers.redraw()

    async def _ask(self) -> None:
        self.asking.passwords.answered_by(self._ask_password)
        told = await self.asking.ask(self.nodes, lambda node, why: self.heard.append((node, why)))
        self._show()
        try:
            found = await asyncio.to_thread(_make_draft, told, self.file)
        except TopologyError as error:
            self._complain(put_in_words(error))
            return
        if found is None:
            self._complain(["no node answered: nothing was written"])
        else:
            self.dismiss(found)

    def _complain(self, reasons: Sequence[str]) -> None:
        self.answers.wrong = reasons
        self.answers.redraw()

    async def _ask_password(self, prompt: str) -> str | None:
        """The answer of whoever sits here; the sheet goes with the question, answered or not."""
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        sheet = RootPasswordSheet(prompt, Badges(), _SUDO)
        self.app.push_screen(sheet, lambda text: None if answer.done() else answer.set_result(text))
        try:
            return await answer
        finally:
            sheet.dismiss(None)


def _make_draft(told: "ToldTopology", file: Path) -> FoundTopology | None:
    from benchconsole.topology.analysis.static_analysis import make_static_report

    draft = told.draft(file)
    if draft is None:
        return None
    return FoundTopology(told, draft, make_static_report(draft.fabric).findings, read_shape(draft.fabric))


class SaveSheet(Sheet[Path]):
    """Dismisses with the file that was written. ``keep`` is told of the name as it is typed."""

    KEYS = (("enter", "write the file"), ("esc", "write nothing"))

    def __init__(self, told: "ToldTopology", name: str, keep: Callable[[str], object]) -> None:
        super().__init__("write the topology", Badges())
        self.told = told
        self.keep = keep
        self.form = FormInput((FILE,), {FILE: name}, lambda _name, _lines: [])
        self.notes = FieldNotes("")
        self.notes.styles.height = FORM_ROWS
        self.parts = (self.form, self.notes)

    def on_mount(self) -> None:
        super().on_mount()
        self._show()

    @on(LineInput.Changed)
    def _show(self) -> None:
        name = self.form.typed[FILE]
        self.keep(name)
        there = " It is there already: you are asked whether it is replaced." if _is_there(name) else ""
        self.notes.show(f"Nothing is written before enter.{there}", ())

    @on(FormInput.Filled)
    def _filled(self, event: FormInput.Filled) -> None:
        if not self.is_active:
            return
        name = event.typed[FILE].strip()
        if not _is_there(name):
            self._write(read_typed_path(name), force=False)
            return
        words = f"{sanitize(name)} is there already."
        sheet = ChoiceSheet("replace a file", words, REPLACE, Badges())
        self.app.push_screen(
            sheet, lambda answer: self._write(read_typed_path(name), force=True) if answer == "replace" else None
        )

    def _write(self, file: Path, *, force: bool) -> None:
        from benchconsole.console.session.topology_writing import refuse_file_name, write_topology

        try:
            refuse_file_name(file)
            draft = self.told.draft(file)
            if draft is not None:
                write_topology(file, draft.text, force=force)
        except REFUSED as error:
            self.notes.complain(put_in_words(error))
        else:
            self.dismiss(file)


def _is_there(name: str) -> bool:
    """Whether a file of this name would be overwritten; a link that leads nowhere is one, too."""
    path = read_typed_path(name.strip())
    try:
        return bool(name.strip()) and (path.is_symlink() or path.exists())
    except (OSError, ValueError):
        return False


def begin_fields(file: str) -> Mapping[str, str]:
    """The form as it begins: nothing is asked for."""
    return {**dict.fromkeys(MEANINGS, ""), FILE: file}
