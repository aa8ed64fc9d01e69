"""Owns the step from plain data to the shape of a topology file, with every mistake reported at once.

What is wrong is cut out and the rest is validated again, so that mistakes of meaning in the
rest can be reported in the same breath.
"""

import copy
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from topology import raw
from topology.errors import Problem, TopologyError
from topology.importers.native import Document, Location
from topology.selection import near

_CLASS_PARTS: dict[str, type[BaseModel]] = {
    "cpu": raw.RawCpu, "memory": raw.RawMemory, "nic": raw.RawNic, "disk": raw.RawDisk,
    "kernel": raw.RawKernel, "bios": raw.RawBios, "os": raw.RawOs,
}  # fmt: skip
_SECTIONS: dict[str, tuple[int, type[BaseModel]]] = {
    "ssh": (1, raw.RawAccess),
    "network": (1, raw.RawNetwork),
    "classes": (2, raw.RawClass),
    "switches": (2, raw.RawSwitch),
    "nodes": (2, raw.RawNode),
    "links": (2, raw.RawLink),
    "criteria": (2, raw.RawCriterion),
}
_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "dict_type": "a mapping (key: value)",
    "model_type": "a mapping (key: value)",
    "list_type": "a list",
}


def _model_at(location: Location) -> type[BaseModel] | None:
    if not location:
        return raw.RawTopology
    depth, model = _SECTIONS.get(str(location[0]), (0, None))
    if len(location) == depth:
        return model
    if location[0] == "classes" and len(location) == 3:
        return _CLASS_PARTS.get(str(location[2]))
    return None


def _known_keys(location: Location) -> list[str]:
    model = _model_at(location)
    if model is None:
        return []
    return [field.alias or name for name, field in model.model_fields.items()]


def _real(location: tuple[Any, ...], data: object, *, missing: bool) -> Location:
    """``location`` without the names of union members that pydantic adds."""
    found: list[str | int] = []
    here = data
    for index, part in enumerate(location):
        if (isinstance(here, dict) and part in here) or (
            isinstance(here, list) and isinstance(part, int) and part < len(here)
        ):
            here = here[part]
        elif not (missing and index == len(location) - 1):
            continue
        found.append(part)
    return tuple(found)


def _written(value: object) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return "nothing" if value is None else repr(value)


def _problem(error: ErrorDetails, document: Document) -> Problem:
    kind = error["type"]
    missing = kind == "missing"
    location = _real(error["loc"], document.data, missing=missing)
    if kind == "extra_forbidden":
        known = _known_keys(location[:-1])
        word = str(location[-1])
        expected = f"one of {', '.join(known)}" if known else "a known key"
        return Problem(document.key_at(location), f"unknown key {word!r}", expected, near(word, known))
    if missing:
        return Problem(document.at(location[:-1]), f"no key {location[-1]!r}", f"{location[-1]}: ...")
    found = _written(error["input"])
    if kind == "literal_error":
        allowed = [word.strip("'") for word in error["ctx"]["expected"].replace(" or ", ", ").split(", ")]
        expected = allowed[0] if len(allowed) == 1 else f"one of {', '.join(allowed)}"
        return Problem(document.at(location), found, expected, near(str(error["input"]), allowed))
    message = str(error["msg"])
    expected = _EXPECTED.get(kind, message.removeprefix("Input should be ").removeprefix("Value error, "))
    return Problem(document.at(location), found, expected)


def _cut(data: object, location: Location) -> None:
    """Remove what stands at ``location``, leaving list positions as they are."""
    here: Any = data
    for part in location[:-1]:
        here = here[part]
    if isinstance(here, dict):
        here.pop(location[-1], None)
    elif isinstance(here, list) and isinstance(location[-1], int) and location[-1] < len(here):
        here[location[-1]] = None


def validate(document: Document) -> tuple[raw.RawTopology | None, list[Problem]]:
    """The file's shape, or None when nothing is left to work with, and every problem of shape.

    Items of lists that had to be cut keep their index, so that positions stay right.
    """
    if not isinstance(document.data, dict):
        start = document.at(())
        raise TopologyError([Problem(start, _written(document.data), "a mapping with schema, fabric, nodes, links")])
    data = copy.deepcopy(document.data)
    problems: dict[tuple[Any, ...], Problem] = {}
    for attempt in range(6):
        try:
            return raw.RawTopology.model_validate(data), list(problems.values())
        except ValidationError as failure:
            for error in failure.errors(include_url=False):
                location = _real(error["loc"], data, missing=error["type"] == "missing")
                if attempt == 0:
                    problems.setdefault(location, _problem(error, document))
                cut = location[:-1] if error["type"] == "missing" else location
                if not cut:
                    return None, list(problems.values())
                _cut(data, cut)
    return None, list(problems.values())
