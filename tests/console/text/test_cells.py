"""Width, cutting and wrapping of text: bounds at every width, wide and joined characters, node sets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.console.text.cells import (
    ASCII_OF,
    clip_around,
    clip_text,
    cut_into_lines,
    fit_text,
    measure_width,
    wrap_clipped,
    wrap_names,
    wrap_text,
)
from benchconsole.console.text.sanitize import sanitize

TEXT = st.text(st.characters(codec="utf-8"), max_size=60).map(sanitize)
WORDS = st.lists(st.text("ab日é", min_size=1, max_size=12), min_size=1, max_size=12).map(" ".join)


@pytest.mark.parametrize(
    ("text", "width"),
    [("", 0), ("abc", 3), ("a\tb\x07", 2), ("\x7f", 0), ("日本", 4), ("e\N{COMBINING ACUTE ACCENT}", 1), ("▮▯…✗", 4), ("8\N{NO-BREAK SPACE}s", 3)],
)  # fmt: skip
def test_the_width_is_that_of_a_terminal(text: str, width: int) -> None:
    assert measure_width(text) == width


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}", "\N{WOMAN}\\u{200d}\N{GIRL}"),
        ("\N{REGIONAL INDICATOR SYMBOL LETTER D}\N{REGIONAL INDICATOR SYMBOL LETTER E}", "\\u{1f1e9}\\u{1f1ea}"),
        ("\N{HEAVY BLACK HEART}\N{VARIATION SELECTOR-16}", "\N{HEAVY BLACK HEART}\\u{fe0f}"),
        ("\N{THUMBS UP SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-1-2}", "\N{THUMBS UP SIGN}\\u{1f3fb}"),
        ("n\N{HANGUL FILLER}1\N{HALFWIDTH HANGUL FILLER}", "n\\u{3164}1\\u{ffa0}"),
        ("n\N{HANGUL CHOSEONG FILLER}\N{HANGUL JUNGSEONG FILLER}1", "n\\u{115f}\\u{1160}1"),
        ("n\N{COMBINING GRAPHEME JOINER}\N{BRAILLE PATTERN BLANK}1", "n\\u{34f}\\u{2800}1"),
        ("n 1\N{NO-BREAK SPACE}\N{EM SPACE}2", "n 1\\u{a0}\\u{2003}2"),
    ],
)
def test_what_joins_with_its_neighbours_is_made_plain_and_widths_add_up(text: str, plain: str) -> None:
    assert sanitize(text) == plain
    assert measure_width(plain) == sum(map(measure_width, plain))


def test_every_sign_of_ours_takes_one_column() -> None:
    from wcwidth import width

    assert [chr(code) for code in ASCII_OF if width(chr(code)) != 1] == []


@pytest.mark.parametrize(
    ("width", "clipped"),
    [
        (39, "iperf3.stream stream=1 omit=1 seconds=5"),
        (38, "iperf3.stream stream=1 omit=1 seconds…"),
        (30, "iperf3.stream stream=1 omit=1…"),
        (29, "…perf3.stream stream=1 omit=1"),
        (24, "….stream stream=1 omit=1"),
        (16, "…stream=1 omit=1"),
        (15, "…stream=1 omit…"),
        (2, "……"),
        (1, "…"),
        (0, ""),
    ],
)
def test_words_that_are_kept_lose_what_follows_them_then_what_is_before_them(width: int, clipped: str) -> None:
    assert clip_around("iperf3.stream stream=1 omit=1 seconds=5", "stream=1 omit=1", width) == clipped


@given(TEXT, TEXT, TEXT, st.integers(0, 70))
def test_a_text_clipped_around_words_is_never_wider(before: str, kept: str, after: str, width: int) -> None:
    assert measure_width(clip_around(f"{before} {kept} {after}", kept, width)) <= width


@given(TEXT, st.integers(0, 70))
def test_a_clipped_text_is_never_wider_and_says_that_it_was_cut(text: str, width: int) -> None:
    clipped = clip_text(text, width)
    assert measure_width(clipped) <= width
    assert clipped == text or not clipped or clipped.endswith("…")


@given(TEXT, st.integers(0, 70), st.sampled_from("<>^"))
def test_a_fitted_text_has_exactly_its_width(text: str, width: int, align: str) -> None:
    assert measure_width(fit_text(text, width, align)) == width


@pytest.mark.parametrize(("align", "fitted"), [("<", "ab   "), (">", "   ab"), ("^", " ab  ")])
def test_alignment(align: str, fitted: str) -> None:
    assert fit_text("ab", 5, align) == fitted


@given(WORDS, st.integers(2, 40))
def test_wrapped_lines_are_never_wider_and_lose_nothing(text: str, width: int) -> None:
    lines = wrap_text(text, width)
    assert all(measure_width(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_later_lines_begin_below_the_first_word_or_where_told() -> None:
    assert wrap_text("alpha beta gamma", 18, "head: ") == ["head: alpha beta", "      gamma"]
    assert wrap_text("alpha beta gamma", 11, indent="  ") == ["alpha beta", "  gamma"]


def test_a_word_that_is_too_long_is_broken_after_a_comma() -> None:
    assert wrap_text("n[1-3],n[5-7],n9", 8) == ["n[1-3],", "n[5-7],", "n9"]
    assert wrap_text("abcdefghij", 4) == ["abcd", "efgh", "ij"]


@pytest.mark.parametrize(
    ("most", "last"), [(1, "and 2 more lines of names"), (2, "and 1 more line of names"), (3, "n9")]
)
def test_names_that_are_left_out_are_counted(most: int, last: str) -> None:
    lines = wrap_names("n[01-03],x,n[05-07],y,n9,z " + "n9", 16, "", most)
    assert len(lines) == (most + 1 if last != "n9" else 3)
    assert lines[-1].endswith(last)


def test_the_last_line_of_a_clipped_text_says_that_there_is_more() -> None:
    assert wrap_clipped("alpha beta gamma delta", 11, 2) == ["alpha beta", "gamma delta"]
    assert wrap_clipped("alpha beta gamma delta epsilon", 11, 2) == ["alpha beta", "gamma delt…"]
    assert wrap_clipped("", 11, 2) == []


@given(text=TEXT, width=st.integers(2, 40))
def test_lines_that_are_cut_hold_every_character_and_fit(text: str, width: int) -> None:
    lines = cut_into_lines(text, width)
    assert "".join(lines) == text
    assert all(measure_width(line) <= width for line in lines)


def test_a_character_that_is_wider_than_the_line_stands_alone() -> None:
    assert cut_into_lines("日本", 1) == ["日", "本"]
    assert cut_into_lines("", 5) == [""]
