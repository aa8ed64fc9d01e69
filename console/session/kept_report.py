"""Reports for people on large sessions: kept with the session, so that whoever asks again need not wait for them.

A report is kept under its format, its options and the program that made it, and counts as long as nothing that it
rests on has changed (``store.schema.tables.REPORT_BASIS``).
"""

import asyncio
import io
import json
import secrets
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

import benchconsole
from benchconsole.console.session.installed_program import find_program
from benchconsole.console.text.cells import to_ascii
from benchconsole.store.errors import StoreError
from benchconsole.store.reading.report_reading import read_kept_report
from benchconsole.store.session_summary import SessionState
from benchconsole.topology.copying import replace

if TYPE_CHECKING:
    from benchconsole.console.reports.content import ReportOptions, SessionDetails
    from benchconsole.console.view.run_view import RunView
    from benchconsole.store.store import Store

FOR_PEOPLE = frozenset(("text", "html", "md"))
"""Formats whose size does not grow with the number of results."""

LARGE = 20_000
"""Results and verdicts of a session from which on its reports are kept: fewer are read anew in a second."""


def has_many_results(view: "RunView") -> bool:
    """Whether reports on a session are worth keeping, by its results and verdicts."""
    in_columns = sum(len(each.value) for each in view.passed)
    return len(view.results) + sum(map(len, view.verdicts.values())) + in_columns >= LARGE


def is_large(store: "Store", key: str) -> bool:
    """Whether reports on a stored session are worth keeping, by its judged verdicts."""
    from benchconsole.store.reading.passed_reading import count_passed

    return count_passed(store.session(key)) >= LARGE


Write = Callable[[TextIO], object]
"""Writes a whole report to an open stream."""


class KeptReport:
    """One report on a session: ``read`` gives what is kept of it, ``make`` makes it anew.

    ``basis`` is what it rests on (``read_report_basis``), read before the session is: what changes meanwhile makes what
    is kept void. None where that is not known: then nothing is kept.
    """

    def __init__(self, store: "Store", key: str, format_: str, options: "ReportOptions", basis: str | None) -> None:
        self._store = store
        self._key = key
        self._format = format_
        self._options = options
        self._basis = basis
        stored = store.session(key).describe()
        is_over = stored.state is not SessionState.RUNNING and stored.ended is not None
        self._may_be_kept = is_over and format_ in FOR_PEOPLE and basis is not None
        named = () if format_ == "text" else (options.version,)
        self._name = json.dumps((format_, *named, options.width, find_program()))

    def read(self) -> Write | None:
        """The kept report; None where none is kept that still holds."""
        kept = read_kept_report(self._store.session(self._key), self._name) if self._may_be_kept else None
        return None if kept is None else self.give(kept)

    def make(self, view: "RunView", details: "SessionDetails") -> Write:
        """The report on ``view`` of the session, with its ``details``; kept where it is large and the database can."""
        from benchconsole.console.reports import render

        options = replace(self._options, details=details)
        if not self._may_be_kept or not has_many_results(view):
            return lambda out: render(self._format, view, out, options)
        kept = render_report(self._format, view, options)
        self.keep(kept)
        return self.give(kept)

    def keep(self, kept: str) -> None:
        """Keep the report, as ``render_report`` gives it, where the database can."""
        if self._may_be_kept and self._basis is not None and self._store.read_only is None:
            # A database that refuses costs nothing but the wait of whoever asks next.
            with suppress(StoreError):
                asyncio.run(self._store.keep_report(self._key, self._name, self._basis, kept))

    def give(self, kept: str) -> Write:
        """The report that ``render_report`` made, with its operator."""
        mark, _, text = kept.partition("\n")
        # Only the text report knows the option, and no operator.
        if self._format == "text":
            return lambda out: out.write(to_ascii(text) if self._options.ascii else text)
        return lambda out: out.write(text.replace(mark, self._format_operator()))

    def _format_operator(self) -> str:
        from benchconsole.console.reports import find_page
        from benchconsole.console.reports.content import NOT_RECORDED

        operator = self._options.operator
        return find_page(self._format).format_operator(operator) if operator else NOT_RECORDED


def render_report(format_: str, view: "RunView", options: "ReportOptions") -> str:
    """A report that names any operator: it begins with the mark that stands in it for one.

    No node could know the mark, and print it.
    """
    from benchconsole.console.reports import render

    made, mark = io.StringIO(), secrets.token_hex(16)
    render(format_, view, made, replace(options, ascii=False, operator=mark))
    return f"{mark}\n{made.getvalue()}"


def render_reports(
    view: "RunView", details: "SessionDetails", formats: Collection[str] = FOR_PEOPLE
) -> Mapping[str, str]:
    """Reports by format as ``render_report`` gives them, in the form in which commands make them."""
    from benchconsole.console.reports import ReportOptions

    options = ReportOptions(version=benchconsole.__version__, details=details)
    return {format_: render_report(format_, view, options) for format_ in sorted(formats)}


def keep_reports(store: "Store", key: str, reports: Mapping[str, str], basis: str | None) -> None:
    """Keep ``reports`` on a session, as ``render_reports`` gives them, where ``basis`` is known."""
    from benchconsole.console.reports import ReportOptions

    options = ReportOptions(version=benchconsole.__version__)
    for format_, kept in reports.items():
        KeptReport(store, key, format_, options, basis).keep(kept)
