"""Node sets in a filter: ``n[1-4]`` keeps the rows of these nodes, be one a row's node or an end of its pair."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Protocol

from benchconsole.console.tui.rows.scales import Scale
from benchconsole.topology.errors import SelectionError

NODE_COLUMNS = ("node", "from", "to", "of", "nodes", "where", "link", "name")
"""Columns of words that name nodes, as far as a table has them."""

ONE_NAME = frozenset(("node", "from", "to"))
"""Those of them that hold one name and nothing else."""

_MEANT = re.compile(r"[\w.-]\[[0-9]")
_RANGES = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"([0-9]+)(?:-([0-9]+)(?:/[0-9]+)?)?")
_WORD = re.compile(r"[\w.-]+(?:\[[0-9,/-]+\][\w.-]*)*")


class NodeSetError(ValueError):
    """Why a word is no node set, with the place of the character, from 1 on."""


class Named(Protocol):
    """A row as far as its nodes are looked for."""

    def words(self, column: str) -> str:
        """The text of a column."""

    @property
    def everything(self) -> str:
        """All its text."""


def is_node_set(word: str) -> bool:
    """Whether ``word`` is meant as a node set: a digit follows a bracket in a name. ``[3]`` alone is text."""
    return _MEANT.search(word) is not None


def read_node_set(word: str) -> frozenset[str]:
    """The names that ``word`` stands for, in lower case, as filters ignore it. NodeSetError where it is no set."""
    from benchconsole.topology.selection import expand  # brings ClusterShell, and most filters are words

    place, found = _find_fault(word)
    try:
        if not found:
            return frozenset(map(str.lower, expand(word)))
    except SelectionError as error:
        found = str(error).removeprefix(f"{word!r} ").removeprefix("is not a node set: ")
    raise NodeSetError(f"character {place} of the node set: {found}")


def _find_fault(word: str) -> tuple[int, str]:
    """The first character, from 1 on, that cannot stand in a node set, and why; the first one where all can."""
    opened = 0
    for place, letter in enumerate(word, 1):
        if letter == "[" and opened:
            return place, "a [ inside of [ ]"
        if letter == "]" and not opened:
            return place, "a ] without its ["
        opened = place if letter == "[" else 0 if letter == "]" else opened
    if opened:
        return opened, "a [ without its ]"
    for ranges in _RANGES.finditer(word):
        place = ranges.start(1) + 1
        for part in ranges[1].split(","):
            numbers = _RANGE.fullmatch(part)
            if numbers is None:
                return place, f"{part!r} is no range; expected numbers such as 1-4,7"
            if numbers[2] and int(numbers[2]) < int(numbers[1]):
                return place, f"the range {part} runs backwards"
            place += len(part) + 1
    return 1, ""


def find_node_columns(columns: Mapping[str, Scale | None]) -> tuple[str, ...]:
    """The columns of a table that name nodes."""
    return tuple(name for name in NODE_COLUMNS if name in columns and columns[name] is None)


class _Lowered(dict[str, str]):
    """Texts in lower case, of which each is made once: a hundred thousand pairs name the same nodes."""

    def __missing__(self, text: str) -> str:
        found = self[text] = text.lower()
        return found


def read_names(rows: Iterable[Named], column: str) -> list[str]:
    """The name that each row has in ``column``, which holds one name, in lower case."""
    lowered = _Lowered()
    return [lowered[row.words(column)] for row in rows]


def read_names_in(columns: tuple[str, ...]) -> Callable[[Named], tuple[str, ...]]:
    """The reader of the names of a row in ``columns``, in lower case; in all its text where there are none."""
    if not columns:
        return lambda row: _split_names(row.everything)
    if ONE_NAME.issuperset(columns):
        return lambda row: tuple([row.words(column).lower() for column in columns])
    return lambda row: tuple([name for column in columns for name in list_names(row.words(column))])


@lru_cache(maxsize=65_536)  # tables of results name the same nodes again and again
def list_names(text: str) -> tuple[str, ...]:
    """Every name in ``text``, in lower case: both of ``n1>n2``, all eight of ``n[1-8]``."""
    return _split_names(text.lower())


def _split_names(text: str) -> tuple[str, ...]:
    names: list[str] = []
    for word in _WORD.findall(text):
        try:
            names += read_node_set(word) if "[" in word else (word,)
        except NodeSetError:  # text that looks like a set
            names.append(word)
    return tuple(names)
