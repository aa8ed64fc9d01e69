"""JSON with positions: the same values as the standard library, the place of each, and nothing odd accepted."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.errors import TopologyError
from benchconsole.topology.importers import json_text
from benchconsole.topology.importers.json_text import parse_document, parse_documents

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.floats(-1e6, 1e6) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(value=VALUES, indent=st.sampled_from([None, 1]), plain=st.booleans())
def test_the_values_are_those_of_the_standard_library(value: object, indent: int | None, plain: bool) -> None:
    found = parse_document(json.dumps(value, indent=indent, ensure_ascii=plain), "f")
    assert found.data == value
    assert not found.problems


@settings(max_examples=150, deadline=None)
@given(text=st.text(st.sampled_from('{}[]":,0123.eE+-truefalsn \\u/x\n'), max_size=30))
def test_what_the_standard_library_refuses_is_refused(text: str) -> None:
    try:
        wanted = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        with pytest.raises(TopologyError):
            parse_document(text, "f")
    else:
        found = parse_document(text, "f")
        assert found.problems or found.data == wanted


def _refuse(word: str) -> None:
    raise ValueError(word)


def test_every_key_and_value_has_its_place() -> None:
    found = parse_document('{"a": [1,\n  {"b": "x"}]}', "f")
    assert str(found.key_at(("a", 1, "b"))) == "f:2:4"
    assert str(found.at(("a", 1, "b"))) == "f:2:9"
    assert str(found.at(("a", 0))) == "f:1:8"


def test_two_values_in_one_file_are_two_documents() -> None:
    first, second = parse_documents('{"a": 1}\n{"a": 2}\n', "f")
    assert (first.data, second.data, str(second.at(()))) == ({"a": 1}, {"a": 2}, "f:2:1")
    with pytest.raises(TopologyError, match="f:2:1: a second JSON value"):
        parse_document('{"a": 1}\n{"a": 2}\n', "f")


@pytest.mark.parametrize("text", ["[" * 53 + "]" * 53, "[" + "1," * 1000 + "1]"])
def test_what_has_no_end_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "MAX_VALUES", 1000)
    with pytest.raises(TopologyError, match="a file without end"):
        parse_document(text, "f")
