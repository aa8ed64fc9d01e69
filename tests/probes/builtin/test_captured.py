import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probes.api import Output, ProbeOutputError
from probes.builtin.captured import arrays, documents, fields, one_line, real, refuse_failed, whole, whole_lines

KEYED = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.none(), max_size=4)


def test_a_line_without_its_end_is_not_read() -> None:
    assert whole_lines("one\ntwo\r\nprogress\rthree\ncut") == ["one", "two", "three"]


@given(st.lists(KEYED, max_size=4))
def test_every_whole_document_is_found(values: list[dict[str, object]]) -> None:
    written = [{"jobs": value} for value in values]
    text = "note {here}\n" + "\n".join(json.dumps(document) for document in written) + "\nend\n"
    assert list(documents(text, first="jobs")) == written


@given(KEYED, st.data())
def test_a_cut_document_is_not_found(value: dict[str, object], data: st.DataObject) -> None:
    text = json.dumps({"jobs": {"jobs": value}}, indent=1)
    cut = data.draw(st.integers(0, len(text) - 1))
    assert not list(documents(text[:cut], first="jobs"))


def test_the_inside_of_a_cut_document_is_not_taken_for_the_whole() -> None:
    assert not list(documents('{\n "end": {},\n "server_output_json": {\n  "end": {"a": 1}\n }\n', first="end"))


def test_what_some_versions_write_in_place_of_json_is_mended() -> None:
    assert list(documents('{"a": -nan, "b": [1, 2,], "c": inf,}', first="a")) == [{"a": None, "b": [1, 2], "c": None}]
    assert list(documents('{"a": "nan, inf"}', first="a")) == [{"a": "nan, inf"}]


def test_empty_objects_may_stand_before_the_first_of_an_array() -> None:
    assert list(arrays('[{},{},{"ifname":"a"}]', first="ifname")) == [[{}, {}, {"ifname": "a"}]]


@pytest.mark.parametrize(
    "text", ['{"a":' * 50_000, '{"a":\n' * 5_000, '{"a":[' * 9_000, "{" * 100_000, '{"a": 1' + "0" * 9_000]
)
def test_hostile_nesting_ends_without_a_document(text: str) -> None:
    assert not list(documents(text, first="a"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1.0),
        (2.5, 2.5),
        (True, None),
        ("1", None),
        (None, None),
        (float("inf"), None),
        (float("nan"), None),
        (10**400, None),
    ],
)
def test_only_finite_json_numbers_are_numbers(value: object, expected: float | None) -> None:
    assert real(value) == expected


def test_fields_need_a_key_and_a_value() -> None:
    assert list(fields(["a: 1", "b:", ": 2", "no separator", " c :d:e "])) == [("a", "1"), ("c", "d:e")]


@pytest.mark.parametrize(
    ("text", "number"), [("12", 12), ("-1", None), ("1.0", None), ("٣", None), ("9" * 14, None), ("", None)]
)
def test_whole_numbers(text: str, number: int | None) -> None:
    assert whole(text) == number


def test_one_line_keeps_what_can_be_printed() -> None:
    assert one_line("a\x1b[31m\n b\x00c") == "a [31m b c"
    assert one_line("x" * 500, 10) == "x" * 9 + "…"


@pytest.mark.parametrize(("status", "signal"), [(1, None), (None, "KILL"), (0, "TERM")])
def test_a_failed_command_is_refused_with_its_last_words(status: int | None, signal: str | None) -> None:
    with pytest.raises(ProbeOutputError, match="last words"):
        refuse_failed(Output((), b"1 2 3", b"first\nlast words\n", status, signal), "tool")
