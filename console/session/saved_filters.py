"""Filters that the user keeps by name: for each area its own, in ``filters.yaml`` of the configuration folder."""

import re
from collections.abc import Mapping
from pathlib import Path

from benchconsole.console.session.user_files import (
    find_config_path,
    hold_user_file,
    read_user_file,
    write_user_file,
)
from benchconsole.topology.errors import TopologyError, find_near

FILE = "filters.yaml"

AREAS = (
    "nodes", "findings", "links", "rounds", "pairs", "results", "curves", "criteria", "sessions", "compare", "subjects",
    "facts", "raw", "history", "plot", "filters",
)  # fmt: skip
"""Where ``/`` filters, each with filters of its own."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
NAME_WORDS = "up to 40 letters, digits, dots, dashes and underscores"

LONGEST = 1000
"""Characters of a filter."""

MOST = 1000
"""Filters of all areas together."""

_HEAD = (
    "# Filters of benchconsole: `:save-filter NAME` adds one, `@NAME` after / uses it, `x` on `:filters` removes it.\n"
)

Known = Mapping[str, Mapping[str, str]]
"""Area to name to text."""


class SavedFilters:
    """The filters of one user; the file is read again whenever it is another one."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or find_config_path(FILE)
        self._seen: tuple[int, ...] | None = None
        self._known: Known | TopologyError = {}

    def read(self) -> Known:
        """Every filter, in the order of the file. TopologyError where the file is refused."""
        seen = self._look()
        if seen != self._seen:
            try:
                self._known = _read(self.path)
            except TopologyError as error:
                self._known = error
            self._seen = seen
        if isinstance(self._known, TopologyError):
            raise self._known
        return self._known

    def find(self, area: str, name: str) -> str:
        """The text of a filter. LookupError says in words why there is none."""
        if area not in AREAS:
            raise LookupError(f"no filter is kept for {area}: nothing is filtered there on the screen")
        try:
            known = self.read().get(area, {})
        except TopologyError as error:
            raise LookupError(f"saved filters are not used: {error.problems[0]}") from error
        if name in known:
            return known[name]
        near = find_near(name, known)
        hint = f"did you mean @{near}?" if near else f"saved are {' '.join(f'@{each}' for each in known)}"
        raise LookupError(f"no saved filter of {area}, {hint}" if known else f"no filter of {area} is saved")

    def save(self, area: str, name: str, text: str) -> str:
        """Keep ``text`` under ``name``; the text that it replaces, empty where none.

        FileError and TopologyError say why nothing was written, ValueError what is wrong with name, area or text.
        """
        _check(area, name, text)
        with hold_user_file(self.path):
            known = {each: dict(filters) for each, filters in _read(self.path).items()}
            before = known.get(area, {}).get(name, "")
            known.setdefault(area, {})[name] = text
            if sum(map(len, known.values())) > MOST:
                raise ValueError(f"there are {MOST:,} saved filters already; remove one first")
            write_user_file(self.path, _format(known))
        return before

    def remove(self, area: str, name: str) -> str:
        """Forget a filter; its text, empty where it had gone. FileError and TopologyError as for ``save``."""
        with hold_user_file(self.path):
            known = {each: dict(filters) for each, filters in _read(self.path).items()}
            text = known.get(area, {}).pop(name, "")
            if text:
                write_user_file(self.path, _format(known))
        return text

    def _look(self) -> tuple[int, ...]:
        """The numbers of the file that change when it does, or those who may write it."""
        try:
            found = self.path.stat()
        except OSError:
            return ()
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _check(area: str, name: str, text: str) -> None:
    if area not in AREAS:
        raise ValueError(f"no filter is kept for {area}")
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a filter, expected {NAME_WORDS}")
    if not _is_text(text):
        raise ValueError(f"the filter is no text of at most {LONGEST:,} characters")
    if re.search(rf"(?:^|[\s&!])@{re.escape(name)}(?![\w.-])", text):
        raise ValueError(f"@{name} would contain itself; choose another name")


def _is_text(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip()) and len(text) <= LONGEST and text.isprintable()


def _read(path: Path) -> Known:
    """The filters of a file; TopologyError lists everything that is wrong with it."""
    document = read_user_file(path)
    if document is None:
        return {}
    from benchconsole.topology.description.document import ProblemReport, describe_value

    report = ProblemReport(document, document.problems)
    known: dict[str, dict[str, str]] = {}
    data = document.data
    if not isinstance(data, dict):
        report.add((), describe_value(data), "areas with their filters, such as nodes: {slow: throughput<9}")
        data = {}
    for area, filters in data.items():
        if area not in AREAS:
            report.add_key((area,), f"the area {area!r}", f"one of {', '.join(AREAS)}", find_near(area, AREAS))
        elif not isinstance(filters, dict | None):
            report.add((area,), describe_value(filters), "filters by name, such as {slow: throughput<9}")
        else:
            for name, text in (filters or {}).items():
                if not NAME.fullmatch(name):
                    report.add_key((area, name), f"the name {name!r}", NAME_WORDS)
                elif not _is_text(text):
                    report.add(
                        (area, name), describe_value(text), f"printable text in quotes, at most {LONGEST:,} characters"
                    )
                else:
                    known.setdefault(area, {})[name] = str(text)
    if sum(map(len, known.values())) > MOST:
        report.add((), f"{sum(map(len, known.values())):,} filters", f"at most {MOST:,}")
    if report.problems:
        raise TopologyError(report.problems)
    return known


def _format(known: Known) -> str:
    """The text of the file: every filter in quotes, areas and names in their order."""
    from benchconsole.topology.writing.yaml_text import format_scalar, quote

    lines = [_HEAD]
    for area, filters in known.items():
        lines += [f"{area}:\n"] if filters else []
        lines += [f"  {format_scalar(name)}: {quote(text)}\n" for name, text in filters.items()]
    return "".join(lines)
