"""Node sets in a filter: they mean nodes, and a bad one is told with its place."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.console.tui.queries.filtering import FilterError, ReadRows, compile_filter
from benchconsole.console.tui.queries.node_sets import NodeSetError, is_node_set, list_names, read_node_set

NODES = {"node": None, "why": None}
PAIRS = {"from": None, "to": None, "why": None}
RESULTS = {"of": None, "why": None}
FACTS = {"fact": None, "value": None}


@dataclass
class Row:
    texts: dict[str, str]

    def words(self, column: str) -> str:
        return self.texts.get(column, "")

    def number(self, _column: str) -> float | None:
        return None

    @property
    def everything(self) -> str:
        return "\n".join(self.texts.values()).lower()


def keeps(text: str, columns: dict[str, None], **texts: str) -> bool:
    one = Row(texts)
    return compile_filter(text, columns).select(ReadRows([one])) == [one]


@pytest.mark.parametrize(
    ("text", "node", "kept"),
    [
        ("n[001-040,052]", "n040", True),
        ("n[001-040,052]", "n052", True),
        ("n[001-040,052]", "n041", False),
        ("n[001-040,052]", "n40", False),
        ("n[1-3]-ib", "n2-ib", True),
        ("n[1-3]-ib", "n2", False),
        ("N[1-3]", "n2", True),
        ("n[1-3]", "N2", True),
        ("!n[1-4]", "n4", False),
        ("!n[1-4]", "n5", True),
        ("n[1-2]|n[7-8]", "n8", True),
        ("n[1-2]|n[7-8]", "n5", False),
        ("n[1-2],st1", "st1", True),
        ("n[1-2]|slow", "n9", True),
        ("n[1-2]|fast", "n9", False),
        ("!n[1-2]|slow", "n9", False),
        ("node=n[1-4]", "n4", True),
        ("node=n[1-4]", "n5", False),
        ("node!=n[1-4]", "n5", True),
        ("!node=n[1-4]", "n4", False),
        ("node=n[1-4]|st1", "st1", True),
        ("n[1-4] & why~slow", "n1", True),
        ("n[1-4] slow", "n5", False),
        ("n[1", "n1", False),
    ],
)
def test_which_nodes_a_set_keeps(text: str, node: str, kept: bool) -> None:
    if text == "n[1":
        with pytest.raises(FilterError):
            keeps(text, NODES, node=node)
        return
    assert keeps(text, NODES, node=node, why="slow link") is kept


@pytest.mark.parametrize(
    ("columns", "texts", "kept"),
    [
        (PAIRS, {"from": "n1", "to": "n9"}, True),
        (PAIRS, {"from": "n9", "to": "n2"}, True),
        (PAIRS, {"from": "n9", "to": "n8", "why": "n1"}, False),
        (RESULTS, {"of": "n9>n2"}, True),
        (RESULTS, {"of": "n[2-9]"}, True),
        (RESULTS, {"of": "n[3-9]"}, False),
        (FACTS, {"fact": "peer", "value": "of n1:eth0"}, True),
        (FACTS, {"fact": "peer", "value": "n11"}, False),
    ],
)
def test_either_end_of_a_pair_and_every_node_of_a_set_count(
    columns: dict[str, None], texts: dict[str, str], kept: bool
) -> None:
    assert keeps("n[1-2]", columns, **texts) is kept
    assert keeps("!n[1-2]", columns, **texts) is not kept


def test_a_column_with_pairs_takes_sets_too() -> None:
    assert keeps("of=n[1-2]", RESULTS, of="n9>n2")
    assert not keeps("of!=n[1-2]", RESULTS, of="n9>n2")
    assert keeps("of=n[1-8]", RESULTS, of="n[1-8]")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("n[1-", "character 2 of the node set: a [ without its ]"),
        ("n[1]]", "character 5 of the node set: a ] without its ["),
        ("n[1[2]]", "character 4 of the node set: a [ inside of [ ]"),
        ("n[3-1]", "character 3 of the node set: the range 3-1 runs backwards"),
        ("n[1-4,x]", "character 7 of the node set: 'x' is no range"),
        ("n[1,,2]", "character 5 of the node set: '' is no range"),
        ("n[1-4]-", "character 1 of the node set: 'n1-' is not a host name"),
        ("n[1-999999999]", "character 1 of the node set: stands for more than 200,000 names"),
    ],
)
def test_a_bad_set_is_told_with_its_place(word: str, said: str) -> None:
    with pytest.raises(NodeSetError) as caught:
        read_node_set(word)
    assert str(caught.value).startswith(said)
    with pytest.raises(FilterError) as refused:
        compile_filter(f"slow & !{word}", NODES)
    assert said in refused.value.expected
    assert refused.value.word == word


@pytest.mark.parametrize("word", ["[3]", "n[", "a[x]", "[ 5]", "leaf3", "n[-1]"])
def test_other_brackets_are_text(word: str) -> None:
    assert not is_node_set(word)
    assert keeps(word, NODES, node="n1", why=f"says {word} here")


@given(st.text("n[]0-9,|!@^/ -", max_size=20))
def test_any_text_is_a_filter_or_an_error_that_names_a_word_of_it(text: str) -> None:
    word = text
    try:
        compile_filter(text, NODES)
    except FilterError as error:
        word = error.word
    assert word in text
    assert word or not text


@given(st.sets(st.integers(1, 60), min_size=1), st.integers(1, 60))
def test_a_set_keeps_exactly_its_members(numbers: set[int], node: int) -> None:
    text = f"n[{','.join(map(str, sorted(numbers)))}]"
    assert keeps(text, NODES, node=f"n{node}") is (node in numbers)


def test_names_in_text() -> None:
    assert list_names("n1>N2") == ("n1", "n2")
    assert set(list_names("n[1-3]")) == {"n1", "n2", "n3"}
    assert list_names("n3:eth0 NIC") == ("n3", "eth0", "nic")
    assert list_names("a[3-1]") == ("a[3-1]",)
