"""The schema that editors read: it is the shipped file, takes what the program takes, and refuses plain slips."""

import json

import jsonschema
import pytest
import yaml

from benchconsole.topology.description.raw import SCHEMA_FILE, format_schema, make_schema
from tests.fabrics import SMALL

VALIDATOR = jsonschema.Draft202012Validator(make_schema())


def test_the_shipped_file_is_the_schema() -> None:
    assert SCHEMA_FILE.read_text() == format_schema(), "run: python docs/reference/generate.py"
    jsonschema.Draft202012Validator.check_schema(json.loads(SCHEMA_FILE.read_text()))


@pytest.mark.parametrize("path", sorted((SCHEMA_FILE.parent / "examples").glob("*.yaml")), ids=lambda path: path.name)
def test_examples_fit(path: object) -> None:
    document = json.loads(json.dumps(yaml.safe_load(open(str(path)))))  # noqa: SIM115, PTH123
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []


def test_slips_are_seen() -> None:
    document = yaml.safe_load(SMALL.replace("role: spine", "role: spin").replace("count: 2", "cuont: 2"))
    messages = [error.message for error in VALIDATOR.iter_errors(document)]
    assert len(messages) == 2
