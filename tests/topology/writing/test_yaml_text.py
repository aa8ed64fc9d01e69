"""Values as YAML that both readers take for the same value, whatever stands in them."""

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.description.document import read_text
from benchconsole.topology.writing.yaml_text import format_comment, format_flow, format_scalar, quote

TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    ["null", "yes", "No", "~", "1e3", "0x10", "12:30", "- a", "a: b", "#x", "[1]", "{", "*a", "&a", "!t", "%", "@", "25 Gb/s", "n"]
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(value=VALUES)
def test_flow_reads_back_as_the_same_value(value: object) -> None:
    text = f"x: {format_flow(value)}\n"
    assert read_text(text, "f").data == {"x": value}
    assert yaml.safe_load(text) == {"x": value}


@settings(max_examples=200, deadline=None)
@given(text=TEXT)
def test_keys_and_comments_stay_on_their_line(text: str) -> None:
    written = f"{format_scalar(text, flow=False)}: 1  # {format_comment(text)}\n"
    assert read_text(written, "f").data == {text: 1}
    assert all(character.isprintable() for character in written.rstrip("\n"))


def test_what_needs_no_quotes_has_none() -> None:
    assert format_flow({"role": "leaf", "speed": "25 Gb/s", "from": "n[1-2]", "n": None}) == (
        '{role: leaf, speed: 25 Gb/s, from: "n[1-2]", "n": null}'
    )
    assert format_scalar("n[01-16]", flow=False) == "n[01-16]"
    assert quote('{"a": 1}') == "'{\"a\": 1}'"
    assert quote("\x1b[31m") == '"\\x1b[31m"'
