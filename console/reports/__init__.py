"""Owns the registry of report formats and the one way a report reaches a file.

A format is a module with ``render(view, out, options)``; it is imported only when it is asked
for (Jinja2 alone costs 50 ms). Refuses to overwrite a file without being told to, and never
writes through a link or into a device.
"""

import difflib
import os
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, TextIO, cast

from console.reports.content import DEFAULTS, Options
from console.reports.errors import ReportError
from console.view import RunView

__all__ = ["FORMATS", "Format", "Options", "ReportError", "render", "write"]


@dataclass(frozen=True, slots=True)
class Format:
    """Where a format lives, the ending of its files, and what it is for."""

    module: str
    suffix: str
    summary: str


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "html": Format("console.reports.html", ".html", "one page to print and sign"),
        "md": Format("console.reports.markdown", ".md", "for tickets and mail"),
        "csv": Format("console.reports.table_csv", ".csv", "one row per verdict, base units"),
        "json": Format("console.reports.document_json", ".json", "everything, versioned"),
        "text": Format("console.reports.text", ".txt", "the grouped summary"),
    }
)


class _Renderer(Protocol):
    def render(self, view: RunView, out: TextIO, options: Options) -> None: ...


def _renderer(name: str) -> _Renderer:
    known = FORMATS.get(name)
    if known is None:
        near = difflib.get_close_matches(name, FORMATS, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]}" if near else "choose one of these"
        raise ReportError(f"report format {name!r}", f"expected one of {', '.join(FORMATS)}", hint)
    return cast(_Renderer, import_module(known.module))


def render(name: str, view: RunView, out: TextIO, options: Options = DEFAULTS) -> None:
    """Write ``view`` in the format ``name`` to an open text stream, in pieces."""
    _renderer(name).render(view, out, options)


def write(name: str, view: RunView, path: Path, options: Options = DEFAULTS, *, force: bool = False) -> None:
    """Write a report to ``path``, whole or not at all, readable by its owner only.

    Raises ReportError when the file is there already (unless ``force``), when it is no plain
    file, and when the directory or the disk refuses.
    """
    renderer = _renderer(name)
    _check(path, force)
    try:
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.", suffix=".part")
    except OSError as error:
        raise ReportError(f"report {path}", _reason(error), "Choose a directory that can be written") from error
    try:
        # newline="": every format ends its own lines, and CSV may hold line ends within a cell.
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="") as out:
            renderer.render(view, out, options)
            out.flush()
            os.fsync(out.fileno())
        _put(part, path, force)
    except OSError as error:
        raise ReportError(
            f"report {path}", _reason(error), "Nothing was written; free space or choose another place"
        ) from error
    finally:
        with suppress(FileNotFoundError):
            Path(part).unlink()


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _check(path: Path, force: bool) -> None:
    """Refuse early what ``_put`` would refuse after the work is done."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise ReportError(f"report {path}", _reason(error), "Choose another place") from error
    # A rename over a device would replace the device itself.
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        raise ReportError(
            f"report {path}", "it is no plain file", "Name a file, or leave -o away to write to the terminal"
        )
    if not force:
        raise ReportError(f"report {path}", "it is there already", "Choose another name, or overwrite it with --force")


def _put(part: str, path: Path, force: bool) -> None:
    """Give the finished file its name; a link planted meanwhile is replaced or refused, never followed."""
    if force:
        Path(part).replace(path)
        return
    try:
        os.link(part, path)
    except FileExistsError:
        _check(path, force)
        raise
    except OSError:
        # Some file systems know no hard links; there the check and the rename are two steps.
        _check(path, force)
        Path(part).replace(path)
