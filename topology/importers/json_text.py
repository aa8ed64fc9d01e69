"""Reads JSON as a Document, with the limits of YAML: plain values with the position of every key and value."""

import re
from json import JSONDecoder

from benchconsole.topology.description.document import MAX_DEPTH, MAX_VALUES, Document, Lines, Location
from benchconsole.topology.errors import Position, Problem, TopologyError, refuse

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,18})(\.\d{1,30})?([eE][+-]?\d{1,3})?(?![\d.])")
_WORDS = {"true": True, "false": False, "null": None}
_STRINGS = JSONDecoder()
_SURROGATE = re.compile("[\ud800-\udfff]")


def parse_documents(text: str, name: str) -> list[Document]:
    """Every JSON value of ``text``, in order: tools that are run twice write two. Raises TopologyError."""
    reader = _Reader(text, name)
    found = []
    at = reader.skip(0)
    while at < len(text):
        document, at = reader.document(at)
        found.append(document)
        at = reader.skip(at)
    if not found:
        raise refuse(Position(name, 1, 1), "an empty file", "JSON")
    return found


def parse_document(text: str, name: str) -> Document:
    """``text`` as one JSON value. Raises TopologyError."""
    found = parse_documents(text, name)
    if len(found) > 1:
        raise refuse(found[1].at(()), "a second JSON value", "one")
    return found[0]


class _Reader:
    """Walks one text; every method takes an offset and gives the offset behind what it read."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.lines = Lines(text, name)
        self.seen = 0
        self.into = Document(name, text)

    def skip(self, at: int) -> int:
        """The offset of the next thing that is no white space."""
        match = _SPACE.match(self.text, at)
        return match.end() if match else at

    def document(self, at: int) -> tuple[Document, int]:
        self.into = Document(self.name, self.text)
        self.into.data, at = self.value(at, ())
        return self.into, at

    def broken(self, at: int, expected: str) -> TopologyError:
        found = f"broken JSON: {self.text[at]!r}" if at < len(self.text) else "broken JSON: the end of the file"
        return refuse(self.lines.at(at), found, expected)

    def value(self, at: int, location: Location) -> tuple[object, int]:
        self.seen += 1
        if self.seen > MAX_VALUES or len(location) > MAX_DEPTH:
            limit = f"at most {MAX_VALUES:,} values, {MAX_DEPTH} deep"
            raise refuse(self.lines.at(at), "a file without end", limit)
        self.into.values[location] = self.lines.at(at)
        character = self.text[at : at + 1]
        if character == "{":
            return self.mapping(at, location)
        if character == "[":
            return self.sequence(at, location)
        if character == '"':
            return self.string(at)
        return self.word(at)

    def word(self, at: int) -> tuple[object, int]:
        for word, value in _WORDS.items():
            if self.text.startswith(word, at):
                return value, at + len(word)
        match = _NUMBER.match(self.text, at)
        if match is None:
            raise self.broken(at, "a JSON value")
        whole = match[1] is None and match[2] is None
        return (int(match[0]) if whole else float(match[0])), match.end()

    def string(self, at: int) -> tuple[str, int]:
        try:
            text, end = _STRINGS.raw_decode(self.text, at)
        except ValueError:
            raise self.broken(at, "text that ends in '\"'") from None
        if _SURROGATE.search(text):
            raise refuse(self.lines.at(at), "half of a character (a lone surrogate)", "Unicode text")
        return text, end

    def sequence(self, at: int, location: Location) -> tuple[list[object], int]:
        found: list[object] = []
        at = self.skip(at + 1)
        if self.text.startswith("]", at):
            return found, at + 1
        while True:
            item, at = self.value(at, (*location, len(found)))
            found.append(item)
            at, more = self.next_item(at, "]")
            if not more:
                return found, at

    def mapping(self, at: int, location: Location) -> tuple[dict[str, object], int]:
        found: dict[str, object] = {}
        at = self.skip(at + 1)
        if self.text.startswith("}", at):
            return found, at + 1
        while True:
            at = self.member(at, location, found)
            at, more = self.next_item(at, "}")
            if not more:
                return found, at

    def member(self, at: int, location: Location, found: dict[str, object]) -> int:
        if not self.text.startswith('"', at):
            raise self.broken(at, "a key in quotes")
        key, behind = self.string(at)
        here = (*location, key)
        colon = self.skip(behind)
        if not self.text.startswith(":", colon):
            raise self.broken(colon, "':' behind the key")
        value, end = self.value(self.skip(colon + 1), here)
        if key in found:
            line = self.into.keys[here].line
            problem = f"key {key!r} a second time (first in line {line})"
            self.into.problems.append(Problem(self.lines.at(at), problem, "each key once"))
        else:
            self.into.keys[here] = self.lines.at(at)
            found[key] = value
        return end

    def next_item(self, at: int, closing: str) -> tuple[int, bool]:
        """The offset of what follows an item, and whether that is a further item."""
        at = self.skip(at)
        if self.text.startswith(closing, at):
            return at + 1, False
        if not self.text.startswith(",", at):
            raise self.broken(at, f"',' or '{closing}'")
        return self.skip(at + 1), True
