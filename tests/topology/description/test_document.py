"""Our own YAML: values by the core schema, every position, and nothing that constructs, multiplies or hides."""

import contextlib
import tracemalloc

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.description import document
from benchconsole.topology.description.document import MAX_DEPTH, read_text
from benchconsole.topology.errors import TopologyError


def first(text: str) -> str:
    with pytest.raises(TopologyError) as caught:
        read_text(text, "t")
    return str(caught.value.problems[0])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5), ("-5", -5), ("0777", 777), ("0o17", 15), ("0x1F", 31), ("1.5", 1.5), ("1e3", 1000.0), (".5", 0.5),
        ("true", True), ("False", False), ("no", "no"), ("on", "on"), ("null", None), ("~", None), ("", None),
        ("12:34:56", "12:34:56"), ("2026-11-21", "2026-11-21"), ("1_000", "1_000"), (".inf", ".inf"), (".nan", ".nan"),
        ("1e308", 1e308), ("1e999", "1e999"), ("-1.5e309", "-1.5e309"),
        ("'5'", "5"), ('"true"', "true"), ("10 Gb/s", "10 Gb/s"), ("=", "="), ("<<", "<<"), ("!!str 5", "5"), ("!!int 5", 5),
    ],
)  # fmt: skip
def test_scalars(text: str, value: object) -> None:
    found = read_text(f"a: {text}\n", "t").data
    assert found == {"a": value}
    assert isinstance(found, dict)
    assert type(found["a"]) is type(value)


def test_every_key_and_value_has_its_place() -> None:
    found = read_text("a: 1\nb:\n  - {c: x, d: [1, 2]}\n  - y\n", "t")
    assert found.data == {"a": 1, "b": [{"c": "x", "d": [1, 2]}, "y"]}
    places = {location: (place.line, place.column) for location, place in found.values.items()}
    assert places["b", 0, "d", 1] == (3, 19)
    assert places["b", 1] == (4, 5)
    key = found.keys["b", 0, "d"]
    assert (key.line, key.column) == (3, 12)


def test_an_alias_is_what_its_anchor_is_and_stands_where_it_is_written() -> None:
    found = read_text("a: &x {k: 1}\nb: *x\n", "t")
    assert found.data == {"a": {"k": 1}, "b": {"k": 1}}
    assert found.at(("b", "k")).line == 2


@pytest.mark.fault("F02")
def test_all_duplicate_keys_are_seen_and_what_they_hold_is_left_out() -> None:
    found = read_text("a: 1\na: {deep: [1, {x: 2}]}\nb: 2\na: 3\n", "t")
    assert found.data == {"a": 1, "b": 2}
    assert [str(each.where) for each in found.problems] == ["t:2:1", "t:4:1"]


@pytest.mark.fault("F01")
@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a: *x\n", "t:1:4: the alias *x, expected an anchor &x before it"),
        ("a: 1\n---\nb: 2\n", "t:2:1: a second document"),
        ("a: \x1b[31m\n", "t:1:4: the control character 0x1b"),
        ("a: \x00\n", "t:1:4: the control character 0x00"),
        ("a: {\n", "t:2:1: broken YAML"),
        ("a: b: c\n", "t:1:5: broken YAML"),
        ("a:\n\t- b\n", "t:2:1: broken YAML"),
        ("a: @x\n", "t:1:4: broken YAML"),
        ("", "t:1:1: an empty file"),
        ("# only words\n", "t:1:1: an empty file"),
        ("a: " + "[" * 5000, "unfolds without end"),
        ("a: " + "[" * 5000 + "]" * 5000, "unfolds without end"),
        ("[" * 200_000, "unfolds without end"),
        ("{" * 100_000, f"t:1:{MAX_DEPTH + 2}: a file that unfolds without end"),  # passed over, and no further
    ],
)
def test_what_is_no_topology_is_one_line(text: str, what: str) -> None:
    assert what in first(text)


@pytest.mark.fault("F01", "I10")
def test_tags_construct_nothing() -> None:
    found = read_text("a: !!python/object/apply:os.system [id]\nb: !evil x\nc: !!binary aGk=\n", "t")
    assert found.data == {"a": ["id"], "b": "x", "c": "aGk="}
    assert [each.found for each in found.problems] == [
        "the tag 'python/object/apply:os.system'", "the tag '!evil'", "the tag 'binary'",
    ]  # fmt: skip


@pytest.mark.fault("F01", "I10")
def test_a_tag_on_a_collection_is_a_problem() -> None:
    assert [str(each.where) for each in read_text("a: !!set {x}\nb: !x [1]\n", "t").problems] == ["t:1:4", "t:2:4"]


@pytest.mark.fault("F01", "I10")
def test_alias_bombs_cost_nothing() -> None:
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)
    )
    tracemalloc.start()
    try:
        assert "unfolds without end" in first(bomb)
        assert tracemalloc.get_traced_memory()[1] < 50 * 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.fault("F01", "I10")
def test_a_file_with_too_many_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_VALUES", 500)
    assert "unfolds without end" in first("a: [" + "1," * 500 + "1]\n")
    assert read_text("a: [" + "1," * 400 + "1]\n", "t").problems == []


@pytest.mark.fault("F01")
@settings(max_examples=300)
@given(st.text(alphabet="ab:-[]{}&*!|>'\"#%@,? \n\t\x1b\u2028", max_size=60))
def test_any_text_is_a_document_or_one_error(text: str) -> None:
    with contextlib.suppress(TopologyError):
        found = read_text(text, "t")
        assert isinstance(found.data, dict | list | str | int | float | bool | None)


_plain = st.recursive(
    st.one_of(st.integers(-(10**6), 10**6), st.booleans(), st.none(), st.text(alphabet="ab 1:-#[]{}'\"x", max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=150)
@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), _plain, min_size=1, max_size=4))
def test_what_a_writer_writes_is_read_back(value: dict[str, object]) -> None:
    for flow in (True, False):
        assert read_text(yaml.safe_dump(value, default_flow_style=flow), "t").data == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("links:\n  - {from: n[01-08], to: leaf1}\n",
         't:2:13: broken YAML: the node set n[01-08] without quotes, expected quotes, as "n[01-08]", for node sets in'),
        ("x: [a, b[1-2]]\n", "t:1:9: broken YAML: the node set b[1-2] without quotes"),
        ("x: {n[1-2]: {}}\n", "t:1:6: broken YAML: the node set n[1-2] without quotes"),
        ("x: {nodes: @all}\n", "t:1:12: broken YAML: the group @all without quotes"),
        ('x: [{from: "n{l}", to: leaf{l}, speed: 1G}]\n', "t:1:28: broken YAML: leaf{l} without quotes, expected quotes"),
        ("a:\n  \u2013 {b: c}\n", "the dash '\u2013' (U+2013), expected the minus - before an item of a list"),
        ("a: &a {b: 1}\nc: {<<: *a}\n", "t:2:5: the merge key <<, expected the keys themselves, or a template"),
    ],
)  # fmt: skip
def test_the_common_mistakes_are_told_with_their_remedy(text: str, said: str) -> None:
    try:
        found = [str(problem) for problem in read_text(text, "t").problems]
    except TopologyError as error:
        found = str(error).splitlines()
    assert any(said in line for line in found), found


def test_merge_keys_of_other_tools_bring_the_keys_that_are_not_there() -> None:
    text = "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: [*a, *b], x: 9}\nd:\n  '<<': 1\n"
    document = read_text(text, "t", merges=True)
    assert not document.problems
    assert document.data == {
        "a": {"x": 1, "y": 2}, "b": {"y": 3, "z": 4}, "c": {"x": 9, "y": 2, "z": 4}, "d": {"<<": 1},
    }  # fmt: skip
    assert "without a mapping" in str(read_text("c: {<<: 1}\n", "t", merges=True).problems[0])
