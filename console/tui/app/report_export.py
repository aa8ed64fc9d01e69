"""Reports written from the screen: the export sheet, ``:export``, and the file."""

from pathlib import Path

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.app.navigation import Navigation
from benchconsole.console.tui.app.run_orders import Work
from benchconsole.console.tui.app.shown_session import ShownSession
from benchconsole.console.tui.screens.export import FORMATS, ExportSheet, ExportTarget
from benchconsole.console.view.run_view import RunView


class ReportExport:
    """Writes the stored results of ``session`` beside the screen, and says where the file is."""

    def __init__(self, session: ShownSession, navigation: Navigation, work: Work) -> None:
        self._session = session
        self._navigation = navigation
        self._work = work

    def ask(self) -> None:
        self._navigation.ask(ExportSheet(self._session.file_stem, self._session.badges), self._write)

    def write_typed(self, text: str) -> None:
        """Write what ``:export`` was given: ``md report.md``; without a path the file is named after the session."""
        kind, _, path = text.partition(" ")
        formats = [option.value for option in FORMATS]
        if kind not in formats:
            self._navigation.say(f"no format {sanitize(kind)}; there are {' '.join(formats)}", wrong=True)
            return
        self._write(ExportTarget(kind, Path(path or f"{self._session.file_stem}.{kind}").expanduser()))

    def _write(self, target: ExportTarget | None) -> None:
        view = self._session.latest.view
        if target is not None and view is not None:
            self._work(self._export(target, view))

    async def _export(self, target: ExportTarget, view: RunView) -> None:
        if self._session.control is None:
            return
        try:
            path = await self._session.control.export(target.kind, view, target.path)
        except OSError as error:
            self._navigation.say(f"{target.path}: {error.strerror or error}", wrong=True)
        else:
            self._navigation.say(f"written: {path}")
