"""Rows of cells: widths are exact, wires tell what they are given, paint sends only what differs."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from benchconsole.console.text.cells import clip_text, fit_text, measure_width, wrap_clipped
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.rows import link_glyphs
from benchconsole.console.tui.rows.strips import Painter, differing, to_ascii
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, plain_text, row_width, selected
from benchconsole.console.tui.rows.themes import FAIL_CELL, MUTED, TEXT, Ground, Ink, Tone
from benchconsole.console.view.run_view import State
from benchconsole.console.view.wording import SIGNS

ANY_TEXT = st.text(max_size=40).map(sanitize)

JOINED = (
    "🇩🇪",
    "🇩",
    "👍🏻",
    "🏻",
    "❤\ufe0f",
    "👩\u200d💻",
    "1\ufe0f\u20e3",
    "e\u0301",
    "a\u0903",
    "न\u093f",
    "\u1100\u1161",
)
"""Texts that terminals draw in other widths than their characters have, before they are made plain."""


@given(ANY_TEXT, ANY_TEXT)
@example(sanitize("🇩"), sanitize("🇪"))
@example("👍", sanitize("🏻"))
@example("❤", sanitize("\ufe0f"))
@example("a", "\u0903")
def test_texts_beside_each_other_take_what_each_of_them_takes(one: str, other: str) -> None:
    """Also as Textual counts, which cuts what is sent to the terminal."""
    assert measure_width(one + other) == measure_width(one) + measure_width(other) == cell_len(one + other)


@pytest.mark.parametrize("text", JOINED)
def test_an_emoji_of_several_characters_moves_no_column(text: str) -> None:
    line = CellLine(40).put(sanitize(f"{text}n1")).put("|").to(30).put("|").row()
    assert row_width(line) == cell_len(plain_text(line)) == 31


@given(ANY_TEXT, st.integers(0, 60), st.sampled_from("<>^"))
def test_fitted_text_has_exactly_the_width(text: str, width: int, align: str) -> None:
    assert measure_width(fit_text(text, width, align)) == width


@given(ANY_TEXT, st.integers(0, 60))
def test_clipped_text_is_never_wider(text: str, width: int) -> None:
    assert measure_width(clip_text(text, width)) <= width


@given(st.lists(st.tuples(ANY_TEXT, st.integers(0, 30)), max_size=6), st.integers(0, 50))
def test_a_line_is_never_wider_than_it_may_be(parts: list[tuple[str, int]], width: int) -> None:
    line = CellLine(width)
    for text, column in parts:
        line.to(column).put(text).put(text, width=5, align=">")
    line.right((CellText("end"),))
    assert row_width(line.row()) <= width


@given(st.lists(ANY_TEXT, max_size=5), st.integers(1, 60), st.booleans())
def test_a_strip_fills_its_width_with_styled_segments(texts: list[str], width: int, only_ascii: bool) -> None:
    row = tuple(CellText(text, tone) for text, tone in zip(texts, [TEXT, MUTED, FAIL_CELL] * 2, strict=False))
    strip = Painter(ascii=only_ascii).strip(row, width)
    assert sum(measure_width(segment.text) for segment in strip) == width
    assert all(segment.style is not None for segment in strip)
    if only_ascii:
        assert all(32 <= ord(character) <= 126 for segment in strip for character in segment.text)


def test_blanks_join_their_neighbour() -> None:
    row = (CellText("a", MUTED), CellText("   "), CellText("b", MUTED), CellText(" "), CellText("c", MUTED))
    assert len(list(Painter().strip(row, 20))) == 1


@pytest.mark.parametrize(
    ("load", "lost", "drawn"),
    [
        (0.0, 0.0, "──────────────"),
        (0.36, 0.0, "━━━━━─────────"),
        (1.0, 0.0, "━━━━━━━━━━━━━━"),
        (0.5, 0.5, "━━━━━━━×××××××"),
        (0.97, 0.0, "━━━━━━━━━━━━━╾"),
        (0.001, 0.0, "╾─────────────"),
        (7.0, 0.0, "━━━━━━━━━━━━━━"),
        (0.2, 0.001, "━━━──────────×"),
    ],
)
def test_wires(load: float, lost: float, drawn: str) -> None:
    assert plain_text(link_glyphs.wire(14, load, lost=lost)) == drawn


@given(st.integers(0, 80), st.floats(-1, 3), st.floats(0, 1))
def test_a_wire_has_its_length(width: int, load: float, lost: float) -> None:
    assert row_width(link_glyphs.wire(width, load, lost=lost)) == width


@pytest.mark.parametrize(
    ("inward", "outward", "drawn"),
    [
        (None, None, "  – ─────│─────   – "),
        (0.0, 0.0, "  0 ─────│─────   0 "),
        (0.001, 0.004, " <1 ────╼│╾────  <1 "),
        (0.005, 0.1, "  0 ────╼│╾────  10 "),
        (0.25, 0.5, " 25 ────━│━━╾──  50 "),
        (0.95, 0.9, " 95 ╼━━━━│━━━━╾  90 "),
        (0.974, 0.975, " 97 ╼━━━━│━━━━━  98 "),
        (0.994, 0.995, " 99 ━━━━━│━━━━━ 100 "),
        (1.0, 1.02, "100 ━━━━━│━━━━━ 102 "),
        (12.0, 0.0, "999 ━━━━━│─────   0 "),
    ],
)
def test_both_ways_of_a_link(inward: float | None, outward: float | None, drawn: str) -> None:
    """From 97.5 % on a side is full; ``100`` is said from 99.5 % on."""
    made = link_glyphs.both_ways(20, inward, outward, partial=(False, False))
    assert plain_text(made) == drawn
    assert to_ascii(plain_text(made)).isascii()


def test_both_ways_say_what_is_the_least_and_what_is_lost() -> None:
    assert plain_text(link_glyphs.both_ways(20, 1.0, 0.1, partial=(True, True))) == "100+━━━━━│╾────  10+"
    lost = plain_text(link_glyphs.both_ways(20, 1.0, 0.1, lost=0.5, partial=(False, False)))
    assert lost == "100 ××━━━│╾──××  10 "


@given(
    width=st.integers(link_glyphs.BOTH_LEAST, 60),
    inward=st.floats(0, 2) | st.none(),
    outward=st.floats(0, 2) | st.none(),
    lost=st.floats(0, 1),
)
def test_both_ways_have_one_mark_in_one_place(
    width: int, inward: float | None, outward: float | None, lost: float
) -> None:
    text = plain_text(link_glyphs.both_ways(width, inward, outward, lost=lost, partial=(False, True)))
    assert len(text) == width - (width % 2)
    assert text.index("│") == 4 + (width - 10) // 2


@pytest.mark.parametrize(
    ("share", "sign"),
    [
        (None, "–"), (0.0, "0"), (0.0999, "0"), (0.1, "1"), (0.5, "5"), (0.899, "8"), (0.9, "9"), (0.974, "9"),
        (0.975, "F"), (1.0, "F"), (1.3, "F"),
    ],
)  # fmt: skip
def test_the_load_of_a_node_in_one_cell(share: float | None, sign: str) -> None:
    assert link_glyphs.tenths(share).text == sign


@pytest.mark.parametrize(
    ("down", "up", "built", "drawn"),
    [
        (320, 160, 160, "━━━━━━━━┄┄┄┄┄┄┄┄"),
        (320, 120, 160, "━━━━━━××┄┄┄┄┄┄┄┄"),
        (640, 160, 160, "━━━━┄┄┄┄┄┄┄┄┄┄┄┄"),
        (160, 160, 160, "━━━━━━━━━━━━━━━━"),
        (160, 0, 160, "××××××××××××××××"),
    ],
)
def test_funnels(down: float, up: float, built: float, drawn: str) -> None:
    assert plain_text(link_glyphs.funnel(16, down, up, built)) == drawn


@pytest.mark.parametrize(
    ("count", "up", "state", "drawn"),
    [
        (2, 2, State.PASS, "▮▮"),
        (2, 1, State.FAIL, "▮▯"),
        (3, 2, State.WATCH, "▮▮▯"),
        (2, 2, State.FAIL, "▮◧"),
        (1, 0, State.FAIL, "▯"),
        (8, 8, State.PASS, "▮▮▮▮▮▮▮▮"),
        (16, 14, State.FAIL, "14/16"),
    ],
)
def test_slots(count: int, up: int, state: State, drawn: str) -> None:
    assert plain_text(link_glyphs.slots(count, up, state)) == drawn
    assert measure_width(drawn) <= link_glyphs.slots_width(count)


def test_a_lost_member_is_the_only_filled_slot() -> None:
    pieces = link_glyphs.slots(4, 3, State.FAIL)
    assert [(piece.text, piece.tone.ground is Ground.FILL) for piece in pieces] == [("▮▮▮", False), ("▯", True)]


def test_ratios() -> None:
    assert link_glyphs.ratio(320, 160) == "2.00:1"
    assert link_glyphs.ratio(320, 0) == "cut off"


def test_the_ramp_draws_what_is_missing() -> None:
    shares = (1.2, 0.97, 0.95, 0.92, 0.87, 0.8, 0.7, 0.5, 0.1)
    assert "".join(link_glyphs.ramp(share).text for share in shares) == "··▁▂▃▄▅▆▇"
    assert link_glyphs.ramp(-0.1).text == "█"
    assert link_glyphs.ramp(None).text == "–"


def test_a_selected_row_keeps_only_the_colour_of_its_sign() -> None:
    row = (CellText(" "), CellText("✗", FAIL_CELL), CellText(" fail", Tone(Ink.FAIL)), CellText(" quiet", MUTED))
    marked = selected(row)
    assert marked[0].text == "▌"
    assert [piece.tone.ink for piece in marked if piece.text.strip() in ("✗", "fail", "quiet")] == [
        Ink.ON_FILL,
        Ink.BRIGHT,
        Ink.FG,
    ]


@given(
    st.lists(st.tuples(ANY_TEXT, st.booleans()), max_size=5), st.lists(st.tuples(ANY_TEXT, st.booleans()), max_size=5)
)
@example([(sanitize("❤\ufe0f"), True), ("a", False)], [(sanitize("❤\ufe0f"), True), ("b", False)])
@example([(sanitize("🇩"), True), (sanitize("🇪"), False)], [(sanitize("🇩"), True), (sanitize("🇫"), False)])
@example([(sanitize("👍🏻"), True), ("a", False)], [(sanitize("👍🏻"), True), ("b", False)])
@example([("a\u0903", True), ("a", False)], [("a\u0903", True), ("b", False)])
@example([("1\u20e3", True), ("a", False)], [("1\u20e3", True), ("b", False)])
def test_what_differs_is_inside_what_is_sent_again(one: list[tuple[str, bool]], other: list[tuple[str, bool]]) -> None:
    old, new = (tuple(CellText(t, MUTED if m else TEXT) for t, m in each if t) for each in (one, other))
    span = differing(old, new)
    before, after = (_cells(row) for row in (old, new))
    changed = [i for i in range(max(len(before), len(after))) if before[i : i + 1] != after[i : i + 1]]
    if span is None:
        assert changed == []
    elif changed:
        assert span[0] <= changed[0]
        assert changed[-1] < span[1]


def _cells(row: tuple[CellText, ...]) -> list[tuple[str, Tone]]:
    made: list[tuple[str, Tone]] = []
    for text, tone in row:
        for character in text:
            made += [(character, tone)] * measure_width(character)
    return made


def test_ascii_keeps_the_width() -> None:
    assert to_ascii("━╾▮▯◧·") == "==#_%."
    assert to_ascii("日本") == "????"


def test_a_cut_in_ascii_is_no_end_of_a_sentence() -> None:
    assert to_ascii(clip_text("counted in spine2 to leaf4.", 18)) == "counted in spine2$"
    assert "$" not in to_ascii("".join(sign.glyph for sign in SIGNS.values()))


def test_wrapped_text_breaks_at_spaces_and_cuts_the_last_line() -> None:
    assert wrap_clipped("one two three four", 9, 2) == ["one two", "three fo…"]
    assert wrap_clipped("", 9, 2) == []
    assert wrap_clipped("word", 0, 2) == []
