"""Owns reading our own YAML: bytes to plain values plus the position of every key and value.

Works on the composed node graph, so that no tag constructs anything and duplicate keys are
seen with both positions. Refuses non-core tags, and files that are too large, too deep or
multiply themselves by aliases.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from topology.errors import Position, Problem, TopologyError

Location = tuple[str | int, ...]

MAX_BYTES = 16 * 2**20
MAX_DEPTH = 50
MAX_VALUES = 500_000
_CORE = "tag:yaml.org,2002:"


@dataclass(slots=True)
class Document:
    """Plain values (dict, list, str, int, float, bool, None) and where each of them stands.

    ``keys`` and ``values`` map a location such as ``("links", 0, "speed")`` to its position.
    """

    file: str
    text: str
    data: object = None
    keys: dict[Location, Position] = field(default_factory=dict)
    values: dict[Location, Position] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def at(self, location: Location) -> Position:
        """Where the value at ``location`` stands, or its nearest written ancestor."""
        for length in range(len(location), -1, -1):
            found = self.values.get(location[:length])
            if found is not None:
                return found
        return Position(self.file, 1, 1)

    def key_at(self, location: Location) -> Position:
        """Where the key of ``location`` stands."""
        return self.keys.get(location) or self.at(location)


def _text(path: Path, name: str) -> str:
    start = Position(name, 1, 1)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise TopologyError([Problem(start, "a file of more than 16 MiB", "a topology file")])
        raw = path.read_bytes()
    except OSError as error:
        found = f"a file that cannot be read ({error.strerror})"
        raise TopologyError([Problem(start, found, "a readable topology file")]) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        found = f"the byte 0x{raw[error.start]:02x}"
        raise TopologyError([Problem(Position(name, line, column), found, "text in UTF-8")]) from None


def _compose(text: str, name: str) -> Node | None:
    try:
        node: Node | None = YAML(typ="rt", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = Position(name, mark.line + 1, mark.column + 1) if mark else Position(name, 1, 1)
        found = (error.problem or "broken YAML").strip()
        raise TopologyError([Problem(where, f"broken YAML: {found}", _cure(found))]) from None
    except (YAMLError, RecursionError, ValueError) as error:
        found = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise TopologyError([Problem(Position(name, 1, 1), f"broken YAML: {found}", "one YAML document")]) from None
    return node


def _cure(problem: str) -> str:
    if "\\t" in problem or "tab" in problem:
        return "spaces for indentation"
    return "well-formed YAML (check brackets, colons and indentation at this place)"


class _Reader:
    """Walks the node graph once and fills a Document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.seen = 0

    def position(self, node: Node) -> Position:
        return Position(self.document.file, node.start_mark.line + 1, node.start_mark.column + 1)

    def problem(self, node: Node, found: str, expected: str) -> None:
        self.document.problems.append(Problem(self.position(node), found, expected))

    def read(self, node: Node, location: Location) -> object:
        self.seen += 1
        if self.seen > MAX_VALUES or len(location) > MAX_DEPTH:
            where = self.position(node)
            raise TopologyError([Problem(where, "a file that unfolds without end", "a plain topology file")])
        self.document.values[location] = self.position(node)
        if isinstance(node, MappingNode):
            return self._mapping(node, location)
        if isinstance(node, SequenceNode):
            return [self.read(item, (*location, index)) for index, item in enumerate(node.value)]
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        raise TypeError(f"YAML gave a {type(node).__name__}")

    def _mapping(self, node: MappingNode, location: Location) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                self.problem(key, "a key that is not a word", "a name")
                continue
            name = str(key.value)
            where = (*location, name)
            if where in self.document.keys:
                first = self.document.keys[where]
                self.problem(key, f"key {name!r} a second time (first in line {first.line})", "each key once")
                continue
            self.document.keys[where] = self.position(key)
            found[name] = self.read(value, where)
        return found

    def _scalar(self, node: ScalarNode) -> object:
        tag = str(node.tag)
        text = str(node.value)
        if not tag.startswith(_CORE) or tag.removeprefix(_CORE) not in _SCALARS:
            self.problem(node, f"the tag {tag.removeprefix(_CORE)!r}", "a plain value without a tag")
            return text
        if node.style in ("'", '"'):
            return text
        try:
            return _SCALARS[tag.removeprefix(_CORE)](text)
        except ValueError:
            return text


def _boolean(text: str) -> object:
    return text.lower() == "true"


def _nothing(_text: str) -> object:
    return None


_SCALARS: dict[str, Callable[[str], object]] = {
    "str": str,
    "int": lambda text: int(text.replace("_", ""), 0) if text.lower().startswith(("0x", "0o")) else int(text),
    "float": float,
    "bool": _boolean,
    "null": _nothing,
    "timestamp": str,
}


def read(path: Path) -> Document:
    """Read a file. Raises TopologyError when it is not one YAML document at all."""
    return parse(_text(path, str(path)), str(path))


def parse(text: str, name: str) -> Document:
    """Read ``text``, called ``name`` in messages. TopologyError when it is not one YAML document.

    Problems that leave the rest readable (duplicate keys, tags) are collected in the Document.
    """
    document = Document(name, text)
    node = _compose(text, name)
    if node is None:
        raise TopologyError([Problem(Position(name, 1, 1), "an empty file", "a topology (see: benchconsole init)")])
    document.data = _Reader(document).read(node, ())
    return document
