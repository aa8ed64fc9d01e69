"""Reader of our own YAML: bytes to plain values, with the position of every key and value.

Works on the parser's events, so that no tag constructs anything and duplicate keys are seen with both positions.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from benchconsole.topology.errors import Position, Problem, refuse
from benchconsole.topology.units import Unit, UnitError, parse

Location = tuple[str | int, ...]

MAX_BYTES = 16 * 2**20
MAX_DEPTH = 50
MAX_VALUES = 500_000
_CORE = "tag:yaml.org,2002:"
_ENDLESS, _PLAIN = "a file that unfolds without end", "a plain topology file"
_LIST_DASH = re.compile(r"\s*([\u2010-\u2015\u2212])\s")
_MINUS = "the minus - before an item of a list"
_BARE = re.compile(r"(?:[A-Za-z0-9_.@-]+\[[0-9,/-]*\][A-Za-z0-9_.-]*)+|@[A-Za-z0-9_.:-]+")
_VARIABLE = re.compile(r"[A-Za-z0-9_.-]+(?:\{[^{}:\"]+\}[A-Za-z0-9_.-]*)+")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")


@dataclass(slots=True)
class Document:
    """Plain values (dict, list, str, int, float, bool, None) and where each of them stands.

    ``keys`` and ``values`` map a location such as ``("links", 0, "speed")`` to its position. ``repeated`` are places of
    keys that stand a second time, where the last of them counts.
    """

    file: str
    text: str
    data: object = None
    keys: dict[Location, Position] = field(default_factory=dict)
    values: dict[Location, Position] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    repeated: list[Position] = field(default_factory=list)

    def at(self, location: Location) -> Position:
        """Where the value at ``location`` stands, or its nearest written ancestor."""
        for length in range(len(location), -1, -1):
            found = self.values.get(location[:length])
            if found is not None:
                return found
        return Position(self.file, 1, 1)

    def key_at(self, location: Location) -> Position:
        return self.keys.get(location) or self.at(location)


class ProblemReport:
    """Collects problems at locations of one document, so that one mistake does not hide the next."""

    def __init__(self, document: Document, problems: Iterable[Problem] = ()) -> None:
        self.document = document
        self.problems = list(problems)

    def add(self, location: Location, found: str, expected: str, near_match: str | None = None) -> None:
        self.problems.append(Problem(self.document.at(location), found, expected, near_match))

    def add_key(self, location: Location, found: str, expected: str, near_match: str | None = None) -> None:
        self.problems.append(Problem(self.document.key_at(location), found, expected, near_match))

    def quantity(self, written: object, location: Location, read: Unit | Callable[[str], float]) -> float | None:
        """A quantity in base units; None where nothing is written, and for a problem."""
        if written is None:
            return None
        try:
            return parse(str(written), read) if isinstance(read, Unit) else read(str(written))
        except UnitError as error:
            self.add(location, repr(written), error.expected, error.suggestion)
            return None

    def share(self, written: object, location: Location) -> float | None:
        """A share above 0 and up to 1; None where nothing is written, and for a problem."""
        found = self.quantity(written, location, Unit.ONE)
        if found is not None and not 0 < found <= 1:
            self.add(location, repr(written), "more than 0 % and at most 100 %")
            return None
        return found


@dataclass(frozen=True, slots=True)
class Imported:
    """A foreign source as a Document in the shape of our own file; its positions lead into the source.

    ``notes`` says beside an entry what was inferred for it; ``remarks`` say what the source has
    that was not taken, and what it does not have.
    """

    document: Document
    notes: Mapping[Location, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


def source_text(path: Path) -> str:
    """The text of one file. TopologyError for what cannot be read, is no UTF-8, or is too large or endless."""
    start = Position(str(path), 1, 1)
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise refuse(start, f"a file that cannot be read ({error.strerror})", "a readable file") from None
    if len(raw) > MAX_BYTES:
        raise refuse(start, f"a file of more than {MAX_BYTES // 2**20} MiB", "a smaller one")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        where = Position(str(path), line, column)
        raise refuse(where, f"the byte 0x{raw[error.start]:02x}", "text in UTF-8") from None


class Lines:
    """Turns offsets of one text into positions."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self._starts = [0, *(end.end() for end in re.finditer("\n", text))]

    def at(self, offset: int) -> Position:
        """The line and column of ``offset``, both from 1."""
        line = bisect_right(self._starts, offset)
        return Position(self.name, line, offset - self._starts[line - 1] + 1)


class _Reader:
    """Fills a Document from the events of a YAML parser, so that nothing is ever constructed by a tag."""

    def __init__(self, document: Document, *, merges: bool, last_counts: bool) -> None:
        self.document = document
        self.merges = merges
        self.last_counts = last_counts
        self.seen = 0
        self.anchors: dict[str, tuple[object, int]] = {}
        self.loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)(document.text)

    def next(self) -> yaml.Event:
        """The next event. TopologyError where the text is no YAML."""
        try:
            event: yaml.Event = self.loader.get_event()
        except yaml.MarkedYAMLError as error:
            where = self.position(error.problem_mark or error.context_mark)
            found = (error.problem or "no YAML").strip()
            known = _explain_line(self.document.text, where)
            if known is not None:
                raise refuse(where, f"broken YAML: {known[0]}", known[1]) from None
            raise refuse(where, f"broken YAML: {found}", _describe_expected(found)) from None
        except (yaml.YAMLError, ValueError) as error:
            found = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise refuse(self.position(None), f"broken YAML: {found}", "one YAML document") from None
        return event

    def document_value(self) -> object:
        event = self.next()
        while isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
            event = self.next()
        if isinstance(event, yaml.StreamEndEvent):
            raise refuse(self.position(None), "an empty file", "a topology (see: benchconsole init)")
        found = self.read(event, ())
        self.next()
        after = self.next()
        if not isinstance(after, yaml.StreamEndEvent):
            raise refuse(self.position(after.start_mark), "a second document", "one YAML document")
        return found

    def position(self, mark: Any) -> Position:  # noqa: ANN401 - marks of the two parsers share no type
        """Where ``mark`` stands; the start of the file without one."""
        if mark is None:
            return Position(self.document.file, 1, 1)
        return Position(self.document.file, mark.line + 1, mark.column + 1)

    def problem(self, where: Position, found: str, expected: str) -> None:
        self.document.problems.append(Problem(where, found, expected))

    def read(self, event: yaml.Event, location: Location) -> object:
        self.seen += 1
        where = self.position(event.start_mark)
        if self.seen > MAX_VALUES or len(location) > MAX_DEPTH:
            raise refuse(where, _ENDLESS, _PLAIN)
        self.document.values[location] = where
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                raise refuse(where, f"the alias *{event.anchor}", f"an anchor &{event.anchor} before it")
            found, size = self.anchors[event.anchor]
            self.seen += size
            return found
        before = self.seen
        if isinstance(event, yaml.CollectionStartEvent) and event.tag not in _COLLECTIONS:
            self._tagged(event.tag, where)
        if isinstance(event, yaml.ScalarEvent):
            found = self._scalar(event, where)
        elif isinstance(event, yaml.MappingStartEvent):
            found = self._mapping(location)
        else:
            found = self._sequence(location)
        if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            self.anchors[event.anchor] = (found, self.seen - before + 1)
        return found

    def _sequence(self, location: Location) -> list[object]:
        found: list[object] = []
        while not isinstance(event := self.next(), yaml.SequenceEndEvent):
            found.append(self.read(event, (*location, len(found))))
        return found

    def _mapping(self, location: Location) -> dict[str, object]:
        found: dict[str, object] = {}
        merged: dict[str, object] = {}
        while not isinstance(event := self.next(), yaml.MappingEndEvent):
            place = self.position(event.start_mark)
            if not isinstance(event, yaml.ScalarEvent):
                self.problem(place, "a key that is not a word", "a name")
                self._pass_over(event)
                self._pass_over(self.next())
                continue
            name = str(event.value)
            where = (*location, name)
            dash = _LIST_DASH.match(name) if event.implicit[0] else None
            if dash is not None:
                self.problem(place, f"the dash {dash[1]!r} (U+{ord(dash[1]):04X})", _MINUS)
            if name == "<<" and event.implicit[0]:
                self._merge(place, where, merged)
                continue
            first = self.document.keys.get(where)
            if first is not None and self.last_counts:
                self.document.repeated.append(place)
            elif first is not None:
                self.problem(place, f"key {name!r} a second time (first in line {first.line})", "each key once")
                self._pass_over(self.next())
                continue
            self.document.keys[where] = place
            found[name] = self.read(self.next(), where)
        for name, value in merged.items():
            found.setdefault(name, value)
        return found

    def _merge(self, place: Position, where: Location, merged: dict[str, object]) -> None:
        """Read the value of a merge key into ``merged``, what comes first before what comes later."""
        value = self.read(self.next(), where)
        if not self.merges:
            self.problem(place, "the merge key <<", "the keys themselves, or a template (templates and use)")
            return
        for part in value if isinstance(value, list) else [value]:
            if not isinstance(part, dict):
                self.problem(place, "a merge key << without a mapping", "<<: *anchor of a mapping")
                return
            for name, inner in part.items():
                merged.setdefault(name, inner)

    def _pass_over(self, event: yaml.Event) -> None:
        depth = 0
        while True:
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth <= 0:
                return
            if depth > MAX_DEPTH:  # libyaml takes seconds for a hundred thousand brackets
                raise refuse(self.position(event.start_mark), _ENDLESS, _PLAIN)
            event = self.next()

    def _tagged(self, tag: str, where: Position) -> None:
        self.problem(where, f"the tag {tag.removeprefix(_CORE)!r}", "a plain value without a tag")

    def _scalar(self, event: yaml.ScalarEvent, where: Position) -> object:
        text = str(event.value)
        tag = event.tag
        if tag is not None and tag != "!":
            name = tag.removeprefix(_CORE)
            if not tag.startswith(_CORE) or name not in _TAGS:
                self._tagged(tag, where)
                return text
            return _TAGS[name](text)
        return _make_scalar(text) if event.implicit[0] else text


def _explain_line(text: str, where: Position) -> tuple[str, str] | None:
    """Words for the found and the expected text of a common mistake: a set, a group or a dash."""
    line = text.split("\n")[where.line - 1] if where.line <= text.count("\n") + 1 else ""
    dash = _LIST_DASH.match(line)
    if dash is not None:
        return f"the dash {dash[1]!r} (U+{ord(dash[1]):04X})", _MINUS
    column = where.column - 1
    for found in _BARE.finditer(line):
        if found.start() <= column <= found.end():
            what = "group" if found[0].startswith("@") else "node set"
            return f"the {what} {found[0]} without quotes", f'quotes, as "{found[0]}", for node sets in braces'
    for found in _VARIABLE.finditer(line):
        if found.start() <= column <= found.end():
            return f"{found[0]} without quotes", f'quotes, as "{found[0]}", for names with variables in braces'
    return None


def _describe_expected(problem: str) -> str:
    if "\\t" in problem or "tab" in problem or "cannot start any token" in problem:
        return "spaces for indentation, and quotes around text that begins with a sign"
    return "well-formed YAML (check brackets, colons and indentation at this place)"


def _make_scalar(text: str) -> object:
    """An unquoted scalar by the core schema (YAML 1.2, chapter 10.3); what is too large for a number is text."""
    if text in _WORDS:
        return _WORDS[text]
    if not text or text[0] not in "+-.0123456789":
        return text
    try:
        if _INTEGER.fullmatch(text):
            return int(text, 0) if text[:2] in ("0x", "0o") else int(text)
        number = float(text) if _FLOAT.fullmatch(text) else math.inf
        return number if math.isfinite(number) else text
    except ValueError:
        return text


_WORDS: dict[str, object] = dict.fromkeys(("", "~", "null", "Null", "NULL"))
_WORDS |= dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_COLLECTIONS = (None, "!", f"{_CORE}map", f"{_CORE}seq")
_TAGS: dict[str, Callable[[str], object]] = {
    "str": str,
    **dict.fromkeys(("int", "float", "bool", "null"), _make_scalar),
}


def describe_value(value: object) -> str:
    """A plain value in the words of a problem."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return "nothing" if value is None else repr(value)


def read(path: Path) -> Document:
    """Read a file. Raises TopologyError when it is not one YAML document at all."""
    return read_text(source_text(path), str(path))


def read_text(text: str, name: str, *, merges: bool = False, last_counts: bool = False) -> Document:
    """Read ``text``, called ``name`` in messages. TopologyError when it is not one YAML document.

    ``merges``: a key ``<<`` brings the keys of another mapping, as in files of other tools; ours has templates.
    ``last_counts``: of a key that stands twice the last one counts, as for Ansible; else it is a problem.

    Problems that leave the rest readable (duplicate keys, tags) are collected in the Document.
    """
    document = Document(name, text)
    control = _CONTROL.search(text)
    if control is not None:
        found = f"the control character 0x{ord(control[0]):02x}"
        raise refuse(Lines(text, name).at(control.start()), found, "plain text")
    document.data = _Reader(document, merges=merges, last_counts=last_counts).document_value()
    return document
