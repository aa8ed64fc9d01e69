"""Plain data of a YAML document, validated against the shape that its file must have: every mistake at once.

Each wrong part is cut out and the rest is validated again, so that mistakes of meaning can be reported beside it.
"""

import copy
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from benchconsole.topology.copying import replace
from benchconsole.topology.description import raw
from benchconsole.topology.description.document import Document, Location, describe_value
from benchconsole.topology.errors import Problem, find_near, refuse

Shape = TypeVar("Shape", bound=BaseModel)

_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "dict_type": "a mapping (key: value)",
    "model_type": "a mapping (key: value)",
    "list_type": "a list",
}


def _list_models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        return
    arguments = get_args(annotation)
    if get_origin(annotation) is dict:
        arguments = arguments[1:]
    for argument in arguments:
        yield from _list_models(argument)


def _find_model(location: Location, shape: type[BaseModel]) -> type[BaseModel] | None:
    here = shape
    deep = 0
    for part in location:
        if deep:
            deep -= 1
            continue
        fields = {field.alias or name: field for name, field in here.model_fields.items()}
        found = fields.get(str(part))
        following = next(_list_models(found.annotation), None) if found else None
        if found is None or following is None:
            return None
        here, deep = following, _count_levels(found.annotation)
    return None if deep else here


def _count_levels(annotation: object) -> int:
    """How many names or places lead from a value of this annotation to the model in it."""
    within = max((_count_levels(each) for each in get_args(annotation)), default=0)
    return within + (get_origin(annotation) in (dict, list))


def _list_known_keys(location: Location, shape: type[BaseModel]) -> list[str]:
    model = _find_model(location, shape)
    if model is None:
        return []
    names = [field.alias or name for name, field in model.model_fields.items()]
    return [*names, "templates", "use"] if model is raw.RawTopology else names


def _find_location(location: tuple[Any, ...], data: object, *, missing: bool) -> Location:
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


def _make_problem(error: ErrorDetails, document: Document, shape: type[BaseModel]) -> Problem:
    kind = error["type"]
    missing = kind == "missing"
    location = _find_location(error["loc"], document.data, missing=missing)
    if kind == "extra_forbidden":
        known = _list_known_keys(location[:-1], shape)
        word = str(location[-1])
        expected = f"one of {', '.join(known)}" if known else "a known key"
        return Problem(document.key_at(location), f"unknown key {word!r}", expected, find_near(word, known))
    if missing:
        return Problem(document.at(location[:-1]), f"no key {location[-1]!r}", f"{location[-1]}: ...")
    found = describe_value(error["input"])
    if isinstance(error["input"], str) and _is_quoted(error):
        return Problem(document.at(location), f"{found} in quotes", f"{error['input']} without quotes")
    if kind == "literal_error":
        allowed = [word.strip("'") for word in error["ctx"]["expected"].replace(" or ", ", ").split(", ")]
        expected = allowed[0] if len(allowed) == 1 else f"one of {', '.join(allowed)}"
        return Problem(document.at(location), found, expected, find_near(str(error["input"]), allowed))
    message = str(error["msg"])
    expected = _EXPECTED.get(kind, message.removeprefix("Input should be ").removeprefix("Value error, "))
    return Problem(document.at(location), found, expected)


def _is_quoted(error: ErrorDetails) -> bool:
    """Whether the text of a value would be right as a number."""
    allowed = str(error.get("ctx", {}).get("expected", ""))
    wants_number = error["type"] in ("int_type", "int_from_float") or allowed.isdecimal()
    return wants_number and str(error["input"]).isdecimal()


def _cut(data: object, location: Location) -> None:
    """Remove what stands at ``location``, leaving list positions as they are; it may have gone with its mapping."""
    here: Any = data
    for part in location[:-1]:
        if isinstance(here, dict) and part not in here:
            return
        here = here[part]
        if here is None:
            return
    if isinstance(here, dict):
        here.pop(location[-1], None)
    elif isinstance(here, list) and isinstance(location[-1], int) and location[-1] < len(here):
        here[location[-1]] = None


def _drop_outer(located: Sequence[tuple[Location, ErrorDetails]]) -> Iterator[tuple[Location, ErrorDetails]]:
    """Mistakes without those of a mapping, of which another kind of value would do, where something in it is wrong.

    The mapping is what was meant, and its own mistake is told.
    """
    within = {location[:length] for location, _ in located for length in range(len(location))}
    for location, error in located:
        if location not in within or not isinstance(error["input"], dict):
            yield location, error


def _join_problems(known: Problem | None, further: Problem, error: ErrorDetails) -> Problem:
    """One problem of a value: a word that would do as well is named beside what else is expected."""
    if known is None:
        return further
    if error["type"] != "literal_error":
        return known
    return replace(known, expected=f"{known.expected} or {further.expected}", near=known.near or further.near)


def validate(document: Document, shape: type[Shape], main_keys: str) -> tuple[Shape | None, list[Problem]]:
    """The file's content in its ``shape``, or None when nothing is left to work with, and every problem of shape.

    TopologyError where the document is no mapping; it names ``main_keys`` as what is expected. Items of lists that had
    to be cut keep their index, so that positions stay right.
    """
    if not isinstance(document.data, dict):
        raise refuse(document.at(()), describe_value(document.data), f"a mapping with {main_keys}")
    data: Any = document.data
    problems: dict[tuple[Any, ...], Problem] = {}
    for attempt in range(6):
        try:
            return shape.model_validate(data), list(problems.values())
        except ValidationError as failure:
            if attempt == 0:
                data = copy.deepcopy(data)  # mistakes are cut out of the copy; a file without any is never copied
            errors = failure.errors(include_url=False)
            located = [(_find_location(each["loc"], data, missing=each["type"] == "missing"), each) for each in errors]
            for location, error in _drop_outer(located):
                if attempt == 0:
                    problem = _make_problem(error, document, shape)
                    problems[location] = _join_problems(problems.get(location), problem, error)
                cut = location[:-1] if error["type"] == "missing" else location
                if not cut:
                    return None, list(problems.values())
                _cut(data, cut)
    return None, list(problems.values())
