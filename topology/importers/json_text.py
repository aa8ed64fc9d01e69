"""Reads JSON as a Document, with the limits of YAML: plain values with the position of every key and value."""

import re
from json import JSONDecoder

from benchconsole.topology.description.document import MAX_DEPTH, MAX_VALUES, Document, Lines, Location
from benchconsole.topology.errors import Position, Problem, TopologyError, refuse

_SOLID = re.compile(r"[^ \t\n\r]")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,18})(\.\d{1,30})?([eE][+-]?\d{1,3})?(?![\d.])")
_WORDS = {"true": True, "false": False, "null": None}
_STRINGS = JSONDecoder()
_SURROGATE = re.compile("[\ud800-\udfff]")


def parse_documents(text: str, name: str) -> list[Document]:
    """Every JSON value of ``text``, in order: tools that are run twice write two. Raises TopologyError."""
    reader = _Reader(text, name)
    found = []
    while reader.offset < len(text):
        found.append(reader.document())
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
    """Walks one text; ``offset`` is that of the next thing that is no white space."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.lines = Lines(text, name)
        self.seen = 0
        self.into = Document(name, text)
        self.move(0)

    def move(self, offset: int) -> None:
        solid = _SOLID.search(self.text, offset)
        self.offset = solid.start() if solid else len(self.text)

    def take(self, sign: str) -> bool:
        """Whether ``sign`` is next; it is passed then."""
        found = self.text.startswith(sign, self.offset)
        if found:
            self.move(self.offset + len(sign))
        return found

    def document(self) -> Document:
        self.into = Document(self.name, self.text)
        self.into.data = self.value(())
        return self.into

    def broken(self, expected: str) -> TopologyError:
        found = repr(self.text[self.offset]) if self.offset < len(self.text) else "the end of the file"
        return refuse(self.lines.at(self.offset), f"broken JSON: {found}", expected)

    def value(self, location: Location) -> object:
        self.seen += 1
        where = self.lines.at(self.offset)
        if self.seen > MAX_VALUES or len(location) > MAX_DEPTH:
            raise refuse(where, "a file without end", f"at most {MAX_VALUES:,} values, {MAX_DEPTH} deep")
        self.into.values[location] = where
        if self.take("{"):
            return self.mapping(location)
        if self.take("["):
            return self.sequence(location)
        return self.string() if self.text.startswith('"', self.offset) else self.word()

    def word(self) -> object:
        for word, value in _WORDS.items():
            if self.take(word):
                return value
        match = _NUMBER.match(self.text, self.offset)
        if match is None:
            raise self.broken("a JSON value")
        self.move(match.end())
        return float(match[0]) if match[1] or match[2] else int(match[0])

    def string(self) -> str:
        try:
            text, end = _STRINGS.raw_decode(self.text, self.offset)
        except ValueError:
            raise self.broken("text that ends in '\"'") from None
        if _SURROGATE.search(text):
            raise refuse(self.lines.at(self.offset), "half of a character (a lone surrogate)", "Unicode text")
        self.move(end)
        return str(text)

    def has_more(self, closing: str, *, begun: bool) -> bool:
        """Whether a further item follows; the comma before it, or the end, is passed."""
        if self.take(closing):
            return False
        if begun and not self.take(","):
            raise self.broken(f"',' or '{closing}'")
        return True

    def sequence(self, location: Location) -> list[object]:
        found: list[object] = []
        while self.has_more("]", begun=bool(found)):
            found.append(self.value((*location, len(found))))
        return found

    def mapping(self, location: Location) -> dict[str, object]:
        found: dict[str, object] = {}
        while self.has_more("}", begun=bool(found)):
            where = self.lines.at(self.offset)
            if not self.text.startswith('"', self.offset):
                raise self.broken("a key in quotes")
            key = self.string()
            here = (*location, key)
            if not self.take(":"):
                raise self.broken("':' behind the key")
            value = self.value(here)
            if key in found:
                problem = f"key {key!r} a second time (first in line {self.into.keys[here].line})"
                self.into.problems.append(Problem(where, problem, "each key once"))
            else:
                self.into.keys[here] = where
                found[key] = value
        return found
