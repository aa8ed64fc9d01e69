"""Owns the JSON schema of a topology file, for editors: keys, types and words; never its meaning.

The shipped copy is ``topology/topology.schema.json``, written by ``python docs/reference/generate.py``.
"""

import json
from pathlib import Path
from typing import Any

from topology.description.raw import RawFile

FILE = Path(__file__).parents[1] / "topology.schema.json"
_EXPRESSION = {"type": "string", "pattern": r"^\{.+\}$"}


def schema() -> dict[str, Any]:
    """The schema (draft 2020-12) of a file as it is written, its templates included."""
    whole = RawFile.model_json_schema(by_alias=True)
    whole["title"] = "A machine for benchconsole"
    whole["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    opened: dict[str, Any] = _open(whole)
    return opened


def _open(here: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Whole numbers may also be written as an expression of a template."""
    if isinstance(here, list):
        return [_open(each) for each in here]
    if not isinstance(here, dict):
        return here
    if here.get("type") == "integer" and "const" not in here:
        number = {key: here[key] for key in ("type", "minimum", "maximum") if key in here}
        rest = {key: value for key, value in here.items() if key not in number}
        return {**rest, "anyOf": [number, _EXPRESSION]}
    return {key: _open(value) for key, value in here.items()}


def written() -> str:
    """The text of the shipped file."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"
