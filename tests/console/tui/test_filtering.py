"""The filter language: it means what it says, and says what it does not understand."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.console.tui.queries.filtering import Filter, FilterError, KeptOrder, ReadRows, compile_filter
from benchconsole.console.tui.rows.scales import Scale, scale_for
from benchconsole.console.view.run_view import State
from benchconsole.console.view.wording import SIGNS
from benchconsole.topology.units import Shown, Unit

GIGABITS = Scale(Unit.BYTE_RATE, "Gb/s", 1.25e8, 2)
SECONDS = Scale(Unit.SECOND, "µs", 1e-6, 1)
COLUMNS = {"state": None, "node": None, "under": None, "throughput": GIGABITS, "latency": SECONDS}


@dataclass
class Row:
    texts: dict[str, str]
    numbers: dict[str, float | None] = field(default_factory=dict)

    def words(self, column: str) -> str:
        return self.texts.get(column, "")

    def number(self, column: str) -> float | None:
        return self.numbers.get(column)

    @property
    def everything(self) -> str:
        return "\n".join(self.texts.values()).lower()


def row(state: str = "pass", node: str = "n1", gbps: float | None = 9.9) -> Row:
    value = None if gbps is None else gbps * 1.25e8
    return Row({"state": state, "node": node, "under": "leaf1"}, {"throughput": value})


Sorts = list[tuple[str, bool]]


def sort_key(column: str) -> Callable[[Row], str | float]:
    """The key of a column of these rows."""
    return (lambda one: one.number(column) or 0.0) if column == "throughput" else (lambda one: one.words(column))


def keeps(text: str, one: Row) -> bool:
    return compile_filter(text, COLUMNS).select(ReadRows([one])) == [one]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", True),
        ("n1", True),
        ("N1 LEAF", True),
        ("n2", False),
        ("!n2", True),
        ("!n1", False),
        ("n2|n1", True),
        ("state=pass", True),
        ("state!=pass", False),
        ("state=fail|pass", True),
        ("throughput<9.5", False),
        ("throughput >= 9.5 Gb/s", True),
        ("throughput<9500 Mb/s", False),
        ("through>9", True),
        ("node~n", True),
        ("node!~n", False),
        ("node=n1", True),
        ("!node=n1", False),
        ("state=pass & throughput>9 & n1", True),
        ("state=pass & throughput>9 & n2", False),
        ("state=pass &", True),
        ("~n[0-9]", True),
        ("~^N1$", True),
        ("~^leaf[12]$ & ~s{2}", True),
        ("~n.*leaf", False),
        ("!~^n2", True),
        ("!~^n1", False),
        ("node~~^n\\d$", True),
        ("node!~~^n\\d$", False),
        ("!node~~^n\\d$", False),
        ("under~~1$ & state=pass", True),
    ],
)
def test_what_a_filter_keeps(text: str, kept: bool) -> None:
    assert keeps(text, row()) is kept


@pytest.mark.parametrize(
    ("text", "word", "said"),
    [
        ("leave<9", "leave", "no such column"),
        ("throughput<9,5", "9,5", "a number uses a point: 9.5"),
        ("throughput<fast", "fast", "a number such as 9.5"),
        ("throughput<9 mb", "9 mb", "a number such as"),
        ("state=broken", "broken", "a state"),
        ("node<3", "node<", "this column holds words"),
        ("throughput<", "throughput<", "a value after it"),
        ("nodd=n1", "nodd", "did you mean node?"),
        ("~n[12", "~n[12", "character 2 of the expression: unterminated character set"),
        ("!~*", "!~*", "character 1 of the expression: nothing to repeat"),
        ("node~~(n", "node~~(n", "character 1 of the expression: missing )"),
        ("~", "~", "a regular expression after it"),
    ],
)
def test_a_word_that_is_not_understood_is_named(text: str, word: str, said: str) -> None:
    with pytest.raises(FilterError) as caught:
        compile_filter(f"n1 & {text}", COLUMNS)
    assert caught.value.word == word
    assert said in caught.value.expected


@pytest.mark.fault("I04")
@given(st.text(max_size=60))
def test_any_text_is_a_filter_or_an_error_that_names_a_word(text: str) -> None:
    named = ""
    try:
        kept = keeps(text, row())
    except FilterError as error:
        named = error.word and error.expected
        kept = False
    assert named or kept in (True, False)


_ROWS = st.lists(
    st.builds(row, st.sampled_from(["pass", "fail"]), st.text("n12", max_size=3), st.sampled_from([None, 1.0, 9.9]))
)
_WORDS = st.sampled_from(
    ["n", "N1", "!2", "1|2", "!", "state=fail", "!node~1", "node=n1", "throughput<5", "latency>0", "~^n1", "!~1$"]
)


@given(_ROWS, st.lists(st.lists(_WORDS, max_size=3).map(" & ".join), max_size=4))
def test_rows_that_were_read_once_give_what_each_gives_alone(rows: list[Row], typed: list[str]) -> None:
    read = ReadRows(rows)
    for text in typed:
        kept = compile_filter(text, COLUMNS).select(read)
        assert [id(each) for each in kept] == [id(each) for each in rows if keeps(text, each)]


_SORTS = st.lists(st.tuples(st.sampled_from(["state", "node", "throughput"]), st.booleans()), max_size=3)


@given(st.lists(_ROWS, min_size=1, max_size=3), st.lists(st.tuples(st.integers(0, 2), _SORTS), max_size=6))
def test_an_order_that_was_kept_is_the_order_made_anew(
    several: list[list[Row]], asked: list[tuple[int, Sorts]]
) -> None:
    kept = KeptOrder[Row]()
    for place, sorts in asked:
        every = several[place % len(several)]
        expected = list(every)
        for column, descending in reversed(sorts):
            expected.sort(key=sort_key(column), reverse=descending)
        chosen = kept.select(Filter(""), every, sorts, sort_key)
        assert [id(each) for each in chosen] == [id(each) for each in expected]


def test_a_filter_that_takes_too_long_hides_nothing_and_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row(node="a" * 3000), row(node="b")]
    kept, slow = KeptOrder[Row](), compile_filter("~(.*a){30}b", COLUMNS)
    assert kept.select(slow, rows) == rows
    assert kept.refused is not None
    assert "takes too long: 0.05 s" in kept.refused[1].expected
    monkeypatch.setattr(Filter, "select", lambda *_: pytest.fail("tried again"))
    assert kept.select(slow, [*rows, row()]) == [*rows, row()]
    monkeypatch.undo()
    assert kept.select(compile_filter("~^b", COLUMNS), rows) == rows[1:]
    assert kept.refused is None
    with pytest.raises(FilterError, match=r"takes too long"):
        slow.select(ReadRows(rows))


@given(st.floats(0.01, 100), st.floats(0.01, 100))
def test_below_and_not_below_share_out_all_rows(value: float, bound: float) -> None:
    one = row(gbps=value)
    assert keeps(f"throughput<{bound:.6f}", one) is not keeps(f"throughput>={bound:.6f}", one)


@given(st.sampled_from(State), st.sampled_from(State))
def test_states_compare_by_their_words(one: State, other: State) -> None:
    word = SIGNS[one].word
    assert keeps(f"state={other.value}", row(state=word)) is (one is other)
    assert keeps(f"state!={SIGNS[other].word}", row(state=word)) is (one is not other)


@given(st.text("abn12", max_size=6), st.text("abn12", min_size=1, max_size=3))
def test_a_word_and_its_inverse_never_agree(node: str, word: str) -> None:
    one = row(node=node)
    assert keeps(word, one) is not keeps(f"!{word}", one)


def test_what_was_not_measured_is_neither_above_nor_below() -> None:
    for value in (None, float("nan")):
        one = row(gbps=value)
        assert not keeps("throughput<1000", one)
        assert not keeps("throughput>0", one)
        assert keeps("throughput!=9.9", one)


@pytest.mark.parametrize(
    ("unit", "shown", "values", "symbol", "texts"),
    [
        (Unit.BYTE_RATE, Shown.NETWORK, [9.9 * 1.25e8, 2.97 * 1.25e8], "Gb/s", ["9.90", "2.97"]),
        (Unit.BYTE_RATE, Shown.STORAGE, [1.64e9, 690e6, 148e6, 148e6], "MB/s", ["1,640", "690", "148", "148"]),
        (Unit.BYTE, Shown.MEMORY, [2.0**37, 112 * 2.0**30], "GiB", ["128", "112"]),
        (Unit.SECOND, Shown.PLAIN, [11.4e-6, 12e-6], "µs", ["11.4", "12.0"]),
        (Unit.ONE, Shown.PERCENT, [0.5], "%", ["50"]),
        (Unit.ONE, Shown.PLAIN, [float("nan"), 3.0], "", ["?", "3"]),
        (Unit.FLOP_RATE, Shown.PLAIN, [696e9], "GFLOP/s", ["696"]),
    ],
)
def test_a_column_has_one_scale(unit: Unit, shown: Shown, values: list[float], symbol: str, texts: list[str]) -> None:
    scale = scale_for(unit, shown, values)
    assert scale.symbol == symbol
    assert [scale.shown(value) for value in values] == texts
