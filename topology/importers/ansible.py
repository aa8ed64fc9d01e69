"""Reads Ansible inventories, INI and YAML: hosts become nodes; there are no cables in them.

Taken are names (with their ranges), ``ansible_host`` as the address, ``ansible_user`` and ``ansible_port``
where all hosts share them, and roles from the names of groups. Templates are data here: a value that holds one
is left out. ``group_vars`` and ``host_vars`` are not read. Raises TopologyError for inventories made by
plugins, and for ranges of more hosts than a machine has.

Source: Ansible, "How to build your inventory"; plugins ``ini`` and ``yaml``.
"""

import re
import shlex
import string
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchconsole.topology.description.document import Document, Imported, Location, source_text
from benchconsole.topology.description.document import parse as parse_yaml
from benchconsole.topology.errors import Position
from benchconsole.topology.importers.draft import Draft
from benchconsole.topology.importers.host_groups import HostGroups
from benchconsole.topology.importers.source_text import Lines, refuse, refuse_cut
from benchconsole.topology.selection import MAX_NODES

_SECTION = re.compile(r"\s*\[([^:\]\s]+)(?::([^\]\s]+))?\]\s*(?:[#;].*)?")
_YAML = re.compile(r"(?m)^(?:---|[A-Za-z_][A-Za-z0-9_-]*\s*:\s*(?:#.*)?$)")
_RANGE = re.compile(r"\[([A-Za-z]|\d{1,12}):([A-Za-z]|\d{1,12})(?::(\d{1,9}))?\]")
_PORT = re.compile(r"(.*):(\d{1,5})", re.DOTALL)
_GROUP_KEYS = ("hosts", "vars", "children")


def read(paths: Sequence[Path], speed: str | None = None) -> Imported:
    """One file. There is no link in it, so ``speed`` is for nothing. Raises TopologyError."""
    (path,) = paths
    return parse(source_text(path), str(path), speed)


def parse(text: str, name: str, speed: str | None = None) -> Imported:
    """The text of one inventory of either kind. Raises TopologyError with every problem."""
    refuse_cut(text, name, "]}")
    draft = Draft(name, text)
    inventory = HostGroups(draft)
    if _is_yaml(text):
        _Yaml(parse_yaml(text, name), inventory).whole()
    else:
        _Ini(text, name, inventory).whole()
    inventory.finish()
    return draft.finish(speed)


def _is_yaml(text: str) -> bool:
    """Whether the first line that says anything is one of YAML: INI has no ``key:`` at a line's end."""
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith(("#", ";")):
            return _YAML.match(line) is not None or line.startswith("{")
    return False


class _Ini:
    """Walks an inventory in INI."""

    def __init__(self, text: str, name: str, inventory: HostGroups) -> None:
        self.text = text
        self.places = Lines(text, name)
        self.inventory = inventory

    def whole(self) -> None:
        group, kind = "ungrouped", "hosts"
        offset = 0
        for line in self.text.split("\n"):
            where = self.places.at(offset + len(line) - len(line.lstrip()))
            section = _SECTION.fullmatch(line)
            if section is not None:
                group, kind = section[1], section[2] or "hosts"
                self.inventory.group(group)
                if kind not in _GROUP_KEYS:
                    self.inventory.draft.problem(where, f"the section [{group}:{kind}]", "[GROUP], :children or :vars")
            elif line.strip() and not line.lstrip().startswith(("#", ";")):
                self.line(line.strip(), where, group, kind)
            offset += len(line) + 1

    def line(self, line: str, where: Position, group: str, kind: str) -> None:
        """One line that is no section and no comment."""
        if kind == "vars":
            key, equals, value = line.partition("=")
            if not equals:
                self.inventory.draft.problem(where, repr(line[:60]), "name=value")
            self.inventory.variables(group, {key.strip(): _unquote(value.strip())})
            return
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            self.inventory.draft.problem(where, repr(line[:60]), "quotes that close")
            return
        if not words:
            return
        if kind == "children":
            self.inventory.child(group, words[0], where)
            return
        pairs = [word.partition("=") for word in words[1:]]
        if any(not equals for _, equals, _ in pairs):
            self.inventory.draft.problem(where, repr(line[:60]), "a host and name=value pairs")
        for host, port in _expand_range(words[0], where, self.inventory.draft):
            told = {key: value for key, _, value in pairs} | port
            self.inventory.host(group, host, told, where)


class _Yaml:
    """Walks an inventory in YAML."""

    def __init__(self, source: Document, inventory: HostGroups) -> None:
        self.source = source
        self.inventory = inventory
        inventory.draft.problems.extend(source.problems)

    def whole(self) -> None:
        if not isinstance(self.source.data, dict) or "plugin" in self.source.data:
            raise refuse(self.source.at(()), "no inventory of hosts", "groups with hosts, vars and children")
        for name, body in self.source.data.items():
            self.group(name, body, (name,))

    def mapping(self, data: object, here: Location) -> Mapping[str, object]:
        if data is not None and not isinstance(data, dict):
            self.inventory.draft.problem(self.source.at(here), "no mapping", "a mapping (key: value)")
        return data if isinstance(data, dict) else {}

    def group(self, name: str, data: object, here: Location) -> None:
        """One group and everything below it."""
        body = self.mapping(data, here)
        self.inventory.group(name)
        for key in body:
            if key not in _GROUP_KEYS:
                where = self.source.key_at((*here, key))
                self.inventory.draft.problem(where, f"unknown key {key!r}", f"one of {', '.join(_GROUP_KEYS)}")
        self.inventory.variables(name, _list_texts(self.mapping(body.get("vars"), (*here, "vars"))))
        for pattern, written in self.mapping(body.get("hosts"), (*here, "hosts")).items():
            at: Location = (*here, "hosts", pattern)
            told = _list_texts(self.mapping(written, at))
            for host, port in _expand_range(pattern, self.source.key_at(at), self.inventory.draft):
                self.inventory.host(name, host, told | port, self.source.key_at(at))
        for child, inner in self.mapping(body.get("children"), (*here, "children")).items():
            at = (*here, "children", child)
            self.inventory.child(name, child, self.source.key_at(at))
            self.group(child, inner, at)


def _list_texts(variables: Mapping[str, object]) -> dict[str, str]:
    """The variables that have a plain value, as text."""
    return {key: str(value) for key, value in variables.items() if isinstance(value, str | int)}


def _unquote(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text


def _expand_range(pattern: str, where: Position, draft: Draft) -> Iterator[tuple[str, dict[str, str]]]:
    """The hosts that ``node[01:16]`` stands for, each with the port that ``host:port`` gives it."""
    ranges = _RANGE.sub("", pattern)
    port = _PORT.fullmatch(pattern) if ":" in ranges else None
    names = port[1] if port is not None else pattern
    choices = []
    total = 1
    for match in _RANGE.finditer(names):
        size = _count_range(match[1], match[2], int(match[3] or 1))
        total *= size
        if size == 0 or total > MAX_NODES:
            expected = f"a range that runs forward, of at most {MAX_NODES:,} hosts"
            draft.problem(where, f"the range {match[0]}", expected)
            return
        choices.append((match, size))
    parts = [""]
    end = 0
    for match, _ in choices:
        members = _list_members(match[1], match[2], int(match[3] or 1))
        parts = [part + names[end : match.start()] + member for part in parts for member in members]
        end = match.end()
    for part in parts:
        yield part + names[end:], {"ansible_port": port[2]} if port is not None else {}


def _count_range(first: str, last: str, step: int) -> int:
    """How many members a range has; 0 when it has none or is no range."""
    if first.isdigit() != last.isdigit() or step == 0:
        return 0
    low, high = (int(first), int(last)) if first.isdigit() else map(string.ascii_letters.index, (first, last))
    if first.isdigit() and first.startswith("0") and len(first) > 1 and len(first) != len(last):
        return 0
    return max(0, (high - low) // step + 1)


def _list_members(first: str, last: str, step: int) -> list[str]:
    if first.isdigit():
        width = len(first) if first.startswith("0") else 0
        return [str(number).zfill(width) for number in range(int(first), int(last) + 1, step)]
    letters = string.ascii_letters
    return list(letters[letters.index(first) : letters.index(last) + 1 : step])
