"""Edits of criteria in the text of a topology file: one is added or changed, and every other character stays."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import yaml

from benchconsole.topology.description.document import read_text
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.writing.yaml_text import format_flow, format_scalar

KEY = "criteria"
_NOTHING = ("", "~", "null", "Null", "NULL")
_BOUNDS = ("at_least", "at_most")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_REST_OF_LINE = re.compile(r"[ \t]*,?[ \t]*(?:#[^\r\n]*)?(?=\r?\n|$)")


class CriterionTextError(Exception):
    """A text in which a criterion cannot be written without touching something else: why, for people."""


def list_written(text: str, name: str) -> list[Mapping[str, object]]:
    """The criteria of the text of a file called ``name``, as they are written. TopologyError where it is no YAML."""
    data = read_text(text, name).data
    found = data.get(KEY) if isinstance(data, dict) else None
    return [each if isinstance(each, dict) else {} for each in found] if isinstance(found, list) else []


def add_criterion(text: str, values: Mapping[str, object]) -> str:
    """``text`` with a criterion behind the last one, written as that is; ``values`` are plain, by key, in order.

    CriterionTextError where it cannot be written without touching anything else.
    """
    expected = [*list_written(text, KEY), dict(values)]
    return _require_alike(text, _add(text, values), expected)


def change_criterion(text: str, index: int, changes: Mapping[str, object]) -> str:
    """``text`` with other values in the criterion at a place of the list; None takes a key away.

    Comments and the form of what is not changed stay. CriterionTextError as for ``add_criterion``.
    """
    expected = list_written(text, KEY)
    before = expected[index]
    taken = {name for name, value in changes.items() if value is None}
    expected[index] = {name: value for name, value in {**before, **changes}.items() if name not in taken}
    made, todo = text, dict(changes)
    gone = [name for name in _BOUNDS if name in before and name in todo and todo[name] is None]
    new = [name for name in _BOUNDS if name not in before and todo.get(name) is not None]
    if gone and new:
        made = _rename(made, index, gone[0], new[0])
        del todo[gone[0]]
    for name, value in todo.items():
        made = _remove(made, index, name) if value is None else _put(made, index, name, value)
    return _require_alike(text, made, expected)


def _require_alike(text: str, made: str, expected: list[Mapping[str, object]]) -> str:
    """``made`` where it says what ``text`` says, with the ``expected`` criteria."""
    before = read_text(text, KEY).data
    with suppress(TopologyError):
        if isinstance(before, dict) and read_text(made, KEY).data == {**before, KEY: expected}:
            return made
    raise CriterionTextError("the criteria are written in a form that is not edited here (anchors, aliases)")


# -- the place of a criterion


def _compose(text: str) -> Any:  # noqa: ANN401 - nodes of YAML have no types
    """The mapping that the text is. CriterionTextError where it is none in block form."""
    root = getattr(yaml, "CBaseLoader", yaml.BaseLoader)(text).get_single_node()
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise CriterionTextError("all of the file stands in braces")
    return root


def _find_list(text: str) -> tuple[Any, Any, Any]:
    """The mapping of the file, the key of the criteria and their list; None and None where there are none."""
    root = _compose(text)
    for key, value in root.value:
        if key.value == KEY:
            if value.start_mark.index < key.end_mark.index:
                raise CriterionTextError("the criteria are an alias of what stands elsewhere")
            return root, key, value
    return root, None, None


def _find_criterion(text: str, index: int) -> Any:  # noqa: ANN401 - as _compose
    found = _find_list(text)[2]
    if not isinstance(found, yaml.SequenceNode) or not isinstance(found.value[index], yaml.MappingNode):
        raise CriterionTextError("the criterion is no mapping of its own")
    if not found.start_mark.index <= found.value[index].start_mark.index <= found.end_mark.index:
        raise CriterionTextError("the criterion is an alias of what stands elsewhere")
    return found.value[index]


def _find_pair(item: Any, name: str) -> int:  # noqa: ANN401 - as _compose
    return next(place for place, (key, _) in enumerate(item.value) if key.value == name)


def _end(text: str, node: Any) -> int:  # noqa: ANN401 - as _compose
    """Where the content of a node ends, before comments and blank lines that follow it."""
    start: int = node.start_mark.index
    end: int = node.end_mark.index
    if isinstance(node, yaml.ScalarNode):
        return start + len(text[start:end].rstrip())
    if node.flow_style:
        return end
    inner = [each[1] if isinstance(node, yaml.MappingNode) else each for each in node.value]
    return max((_end(text, each) for each in inner), default=end)


def _line_end(text: str, place: int) -> int:
    found = text.find("\n", place)
    end = len(text) if found < 0 else found
    return end - 1 if text[:end].endswith("\r") and end > place else end


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _lay_out(values: Mapping[str, object], column: int, newline: str) -> str:
    """A mapping in block form whose keys stand in ``column``."""
    return (newline + " " * column).join(f"{key}: {_value(value)}" for key, value in values.items())


def _value(value: object) -> str:
    return format_flow(value) if isinstance(value, Mapping) else format_scalar(value)


# -- a criterion more


def _add(text: str, values: Mapping[str, object]) -> str:
    root, key, found = _find_list(text)
    newline, column = _newline(text), root.start_mark.column
    item = format_flow(values)
    if key is None:
        ended = "" if not text or text.endswith("\n") else newline
        indent = " " * column
        return f"{text}{ended}{indent}{KEY}:{newline}{indent}  - {item}{newline}"
    if isinstance(found, yaml.ScalarNode) and found.value in _NOTHING:
        start, end = found.start_mark.index, found.end_mark.index
        bare = text[:start].rstrip(" \t") + text[end:] if end > start else text
        place = _line_end(bare, key.end_mark.index)
        return f"{bare[:place]}{newline}{' ' * column}  - {item}{bare[place:]}"
    if not isinstance(found, yaml.SequenceNode):
        raise CriterionTextError("the criteria are no list")
    if found.flow_style:
        return _add_in_brackets(text, found, item, newline)
    last = found.value[-1]
    dash = found.start_mark.column
    if isinstance(last, yaml.MappingNode) and not last.flow_style:
        item = _lay_out(values, last.start_mark.column, newline)
    gap = max(last.start_mark.column - dash - 1, 1) if last.start_mark.line >= found.start_mark.line else 1
    place = _line_end(text, _end(text, last))
    return f"{text[:place]}{newline}{' ' * dash}-{' ' * gap}{item}{text[place:]}"


def _add_in_brackets(text: str, found: Any, item: str, newline: str) -> str:  # noqa: ANN401 - as _compose
    if not found.value:
        place = found.start_mark.index + 1
        return f"{text[:place]}{item}{text[place:]}"
    last = found.value[-1]
    end = _end(text, last)
    if last.start_mark.line == found.start_mark.line:
        return f"{text[:end]}, {item}{text[end:]}"
    rest = _REST_OF_LINE.match(text, end)
    place = rest.end() if rest is not None else end
    has_comma = rest is not None and rest[0].lstrip().startswith(",")
    comma, own = ("", ",") if has_comma else (",", "")
    return f"{text[:end]}{comma}{text[end:place]}{newline}{' ' * last.start_mark.column}{item}{own}{text[place:]}"


# -- other values in a criterion


def _rename(text: str, index: int, old: str, new: str) -> str:
    item = _find_criterion(text, index)
    key = item.value[_find_pair(item, old)][0]
    return text[: key.start_mark.index] + new + text[key.end_mark.index :]


def _put(text: str, index: int, name: str, value: object) -> str:
    """Write a value, in place of the one that is there."""
    item = _find_criterion(text, index)
    written = _value(value)
    if name in {key.value for key, _ in item.value}:
        found = item.value[_find_pair(item, name)][1]
        start, end = found.start_mark.index, _end(text, found)
        blank = " " if text[start - 1] == ":" else ""
        return text[:start] + blank + written + text[end:]
    end = _end(text, item.value[-1][1])
    if item.flow_style:
        return f"{text[:end]}, {name}: {written}{text[end:]}"
    place = _line_end(text, end)
    return f"{text[:place]}{_newline(text)}{' ' * item.start_mark.column}{name}: {written}{text[place:]}"


def _remove(text: str, index: int, name: str) -> str:
    item = _find_criterion(text, index)
    start, end = _span(text, item, _find_pair(item, name))
    return text[:start] + text[end:]


def _span(text: str, item: Any, place: int) -> tuple[int, int]:  # noqa: ANN401 - as _compose
    """The text that goes with a pair of a mapping: its comma, or its line."""
    key, value = item.value[place]
    if place == 0:
        following = item.value[1][0] if len(item.value) > 1 else None
        return key.start_mark.index, following.start_mark.index if following is not None else _end(text, value)
    if item.flow_style:
        return _end(text, item.value[place - 1][1]), _end(text, value)
    return _line_end(text, _end(text, item.value[place - 1][1])), _line_end(text, _end(text, value))


def list_diff(before: str, after: str, name: str) -> Iterator[str]:
    """The unified diff of two texts of a file, three lines of context, without line ends; empty where they are alike.

    One hunk, from the first line that differs to the last: an edit is one place of a file that may be long.
    """
    old, new = _LINE.findall(before), _LINE.findall(after)
    first = next((place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    shortest = min(len(old), len(new)) - first
    same = next((n for n in range(shortest) if old[-1 - n] != new[-1 - n]), shortest)
    if first == len(old) == len(new):
        return
    start = max(first - 3, 0)
    parts = [
        *((" ", line) for line in old[start:first]),
        *(("-", line) for line in old[first : len(old) - same]),
        *(("+", line) for line in new[first : len(new) - same]),
        *((" ", line) for line in old[len(old) - same : len(old) - same + 3]),
    ]
    counts = [sum(mark != other for mark, _ in parts) for other in "+-"]
    yield f"--- {name}" if before else "--- /dev/null"
    yield f"+++ {name}"
    places = (f"{sign}{start + (count > 0)},{count}" for sign, count in zip("-+", counts, strict=True))
    yield f"@@ {' '.join(places)} @@"
    for mark, line in parts:
        yield mark + line.rstrip("\r\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"
