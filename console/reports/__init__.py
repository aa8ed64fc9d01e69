"""The registry of report formats, and the one way a report reaches a file.

A format is a module with ``render(view, out, options)``; it is imported only when it is asked
for (Jinja2 alone costs 50 ms). How a file is written is ``console.text.atomic_write``.
"""

import difflib
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Protocol, TextIO, cast

from benchconsole.console.reports.content import DEFAULTS, ReportOptions
from benchconsole.console.text.atomic_write import FileError, write_whole
from benchconsole.console.view.run_view import RunView

__all__ = ["FORMATS", "ReportError", "ReportFormat", "ReportOptions", "find_renderer", "render", "save", "write"]


class ReportError(FileError):
    """A report that cannot be written."""


class ReportFormat(NamedTuple):
    """Where a format lives, the ending of its files, and what it is for."""

    module: str
    suffix: str
    summary: str


FORMATS: Mapping[str, ReportFormat] = MappingProxyType(
    {
        "html": ReportFormat("benchconsole.console.reports.html", ".html", "one page to print and sign"),
        "md": ReportFormat("benchconsole.console.reports.markdown", ".md", "for tickets and mail"),
        "csv": ReportFormat("benchconsole.console.reports.table_csv", ".csv", "one row per verdict, base units"),
        "json": ReportFormat("benchconsole.console.reports.document_json", ".json", "everything, versioned"),
        "text": ReportFormat("benchconsole.console.reports.text_summary", ".txt", "the grouped summary"),
    }
)


class _Renderer(Protocol):
    def render(self, view: RunView, out: TextIO, options: ReportOptions) -> None: ...


class _Page(Protocol):
    def format_operator(self, operator: str) -> str: ...


def find_renderer(name: str) -> _Renderer:
    """The module of a format; ReportError for one that there is not."""
    known = FORMATS.get(name)
    if known is None:
        near = difflib.get_close_matches(name, FORMATS, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]}" if near else "choose one of these"
        raise ReportError(f"report format {name!r}", f"expected one of {', '.join(FORMATS)}", hint)
    return cast(_Renderer, import_module(known.module))


def find_page(name: str) -> _Page:
    """The module of a format for people that names the operator in its title, once."""
    return cast(_Page, find_renderer(name))


def render(name: str, view: RunView, out: TextIO, options: ReportOptions = DEFAULTS) -> None:
    """Write ``view`` in the format ``name`` to an open text stream, in pieces."""
    find_renderer(name).render(view, out, options)


def write(name: str, view: RunView, path: Path, options: ReportOptions = DEFAULTS, *, force: bool = False) -> None:
    """Write a report to ``path`` as ``save`` does."""
    renderer = find_renderer(name)
    save(lambda out: renderer.render(view, out, options), path, force=force)


def save(fill: Callable[[TextIO], object], path: Path, *, force: bool = False) -> None:
    """Let ``fill`` write a file as ``write_whole`` does, readable by its owner only; ReportError where that fails."""
    try:
        write_whole(path, fill, force=force)
    except FileError as error:
        raise ReportError(f"report {path}", error.found, error.do) from error
