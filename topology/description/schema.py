"""JSON schema of a topology file, for editors: keys, types and words, not their meaning.

The shipped copy is ``topology/topology.schema.json``, written by ``python docs/reference/generate.py``.
"""

import json
from pathlib import Path
from typing import Any

from benchconsole.topology.description.raw import RawFile

FILE = Path(__file__).parents[1] / "topology.schema.json"
_EXPRESSION = {"type": "string", "pattern": r"^\{.+\}$"}


def make_schema() -> dict[str, Any]:
    """The schema (draft 2020-12) of a file as it is written, its templates included."""
    whole = RawFile.model_json_schema(by_alias=True)
    whole["title"] = "A machine for benchconsole"
    whole["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    opened: dict[str, Any] = _allow_expressions(whole)
    return opened


def _allow_expressions(here: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Whole numbers may also be written as an expression of a template."""
    if isinstance(here, list):
        return [_allow_expressions(each) for each in here]
    if not isinstance(here, dict):
        return here
    if here.get("type") == "integer" and "const" not in here:
        number = {key: here[key] for key in ("type", "minimum", "maximum") if key in here}
        rest = {key: value for key, value in here.items() if key not in number}
        return {**rest, "anyOf": [number, _EXPRESSION]}
    return {key: _allow_expressions(value) for key, value in here.items()}


def format_schema() -> str:
    """The text of the shipped file."""
    return json.dumps(make_schema(), indent=1, ensure_ascii=False) + "\n"
