import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.probes.readers.documents import find_arrays, find_documents

VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KEYED = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.none(), max_size=4)


@given(st.lists(KEYED, max_size=4))
def test_every_whole_document_is_found(values: list[dict[str, object]]) -> None:
    written = [{"jobs": value} for value in values]
    text = "note {here}\n" + "\n".join(json.dumps(document) for document in written) + "\nend\n"
    assert list(find_documents(text, first="jobs")) == written


@given(KEYED, st.data())
def test_a_cut_document_is_not_found(value: dict[str, object], data: st.DataObject) -> None:
    text = json.dumps({"jobs": {"jobs": value}}, indent=1)
    cut = data.draw(st.integers(0, len(text) - 1))
    assert not list(find_documents(text[:cut], first="jobs"))


def test_the_inside_of_a_cut_document_is_not_taken_for_the_whole() -> None:
    assert not list(find_documents('{\n "end": {},\n "server_output_json": {\n  "end": {"a": 1}\n }\n', first="end"))


def test_what_some_versions_write_in_place_of_json_is_mended() -> None:
    assert list(find_documents('{"a": -nan, "b": [1, 2,], "c": inf,}', first="a")) == [
        {"a": None, "b": [1, 2], "c": None}
    ]
    assert list(find_documents('{"a": "nan, inf"}', first="a")) == [{"a": "nan, inf"}]


def test_empty_objects_may_stand_before_the_first_of_an_array() -> None:
    assert list(find_arrays('[{},{},{"ifname":"a"}]', first="ifname")) == [[{}, {}, {"ifname": "a"}]]


@pytest.mark.parametrize(
    "text", ['{"a":' * 50_000, '{"a":\n' * 5_000, '{"a":[' * 9_000, "{" * 100_000, '{"a": 1' + "0" * 9_000]
)
def test_hostile_nesting_ends_without_a_document(text: str) -> None:
    assert not list(find_documents(text, first="a"))


@given(VALUES)
def test_whole_documents_are_read_as_python_reads_them(value: object) -> None:
    text = json.dumps({"first": value})
    (found,) = find_documents(text, first="first")
    assert repr(found) == repr(json.loads(text))


@pytest.mark.parametrize(
    "value", ["1e400", "-0", "123456789012345678901234567890", "2.2250738585072011e-308", '"\\ud800"', '"\ud800"']
)
def test_values_that_other_readers_refuse_are_read(value: str) -> None:
    text = f'{{"first": {value}}}'
    (found,) = find_documents(text, first="first")
    assert repr(found) == repr(json.loads(text))
