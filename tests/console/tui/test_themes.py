"""Colours: every token reads on its ground, as stated; a style always exists."""

import pytest
from rich.style import Style

from benchconsole.console.tui.rows.themes import RAMP, THEMES, TOKENS, Depth, Ground, Ink, Palette, Tone, textual_themes

STATED = {
    "bench-dark": "fg 12.9 bright 18.3 muted 6.1 faint 2.3 track 1.5 accent 8.7 pass 7.3 watch 9.4 fail 6.9 unreachable 8.6 running 9.1 running_cell 4.7 load 3.5 slot 4.1",
    "bench-light": "fg 13.0 bright 19.4 muted 5.7 faint 1.8 track 1.3 accent 6.4 pass 5.1 watch 4.9 fail 7.6 unreachable 6.6 running 6.2 running_cell 3.0 load 3.2 slot 3.1",
    "bench-contrast": "fg 18.4 bright 21.0 muted 9.8 faint 6.2 track 4.1 accent 12.3 pass 13.4 watch 14.5 fail 9.6 unreachable 12.5 running 15.3 running_cell 8.6 load 8.3 slot 10.9",
    "bench-deutan": "fg 12.9 bright 18.3 muted 6.1 faint 2.3 track 1.5 accent 10.3 pass 6.6 watch 13.9 fail 7.8 unreachable 18.3 running 8.7 running_cell 4.8 load 3.3 slot 4.1",
    "bench-tritan": "fg 12.9 bright 18.3 muted 6.1 faint 2.3 track 1.5 accent 10.3 pass 6.6 watch 10.8 fail 6.1 unreachable 18.3 running 13.8 running_cell 5.9 load 3.5 slot 3.9",
}  # fmt: skip
ON_FILL = {"bench-dark": 7.5, "bench-light": 6.9, "bench-contrast": 8.7, "bench-deutan": 6.1, "bench-tritan": 7.4}
TEXT = ("fg", "bright", "muted", "accent", "pass", "watch", "fail", "unreachable", "running")
GRAPHICS = ("running_cell", "load", "slot")


def luminance(colour: str) -> float:
    def linear(value: int) -> float:
        share = value / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(int(colour[i : i + 2], 16)) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", THEMES)
def test_every_token_has_the_contrast_that_is_stated(name: str) -> None:
    tokens = THEMES[name]
    words = STATED[name].split()
    for token, stated in zip(words[::2], map(float, words[1::2]), strict=True):
        assert contrast(tokens[token], tokens["bg"]) == pytest.approx(stated, abs=0.06), token
    assert contrast(tokens["on_fill"], tokens["fill"]) == pytest.approx(ON_FILL[name], abs=0.06)


@pytest.mark.parametrize("name", THEMES)
def test_text_and_graphics_are_readable(name: str) -> None:
    tokens = THEMES[name]
    assert all(contrast(tokens[token], tokens["bg"]) >= 4.5 for token in TEXT)
    assert all(contrast(tokens[token], tokens["bg"]) >= 2.95 for token in GRAPHICS)
    assert contrast(tokens["fg"], tokens["sel"]) >= 4.5
    assert contrast(tokens["bright"], tokens["badge"]) >= 4.5
    assert contrast(tokens["on_accent"], tokens["accent"]) >= 4.5


def test_high_contrast_is_that_of_wcag_level_aaa() -> None:
    """7 for text (success criterion 1.4.6); graphics as other themes have text, and decoration as they have graphics."""
    tokens = THEMES["bench-contrast"]
    for ground in ("bg", "panel"):
        assert all(contrast(tokens[token], tokens[ground]) >= 7 for token in TEXT)
    assert all(contrast(tokens[token], tokens["bg"]) >= 4.5 for token in GRAPHICS)
    assert all(contrast(tokens[token], tokens["bg"]) >= 3 for token in ("faint", "track"))
    for ink, ground in (
        ("fg", "sel"),
        ("bright", "sel"),
        ("bright", "badge"),
        ("on_accent", "accent"),
        ("on_fill", "fill"),
    ):
        assert contrast(tokens[ink], tokens[ground]) >= 7, (ink, ground)


@pytest.mark.parametrize("name", THEMES)
def test_the_ramp_goes_one_way(name: str) -> None:
    steps = [luminance(THEMES[name][ink]) for ink in RAMP]
    assert steps == sorted(steps, reverse=name == "bench-light")


@pytest.mark.parametrize("depth", Depth)
@pytest.mark.parametrize("name", THEMES)
def test_every_tone_has_a_style(name: str, depth: Depth) -> None:
    palette = Palette(name, depth)
    for ink in Ink:
        for ground in Ground:
            tone = Tone(ink, ground, bold=True)
            assert isinstance(palette.style(tone), Style)
            assert palette.style(tone) is palette.style(Tone(ink, ground, bold=True))
            if depth is Depth.NONE:
                assert palette.style(tone).color is None
                assert palette.style(tone).bgcolor is None


def test_without_colour_faults_and_selection_still_stand_out() -> None:
    palette = Palette(depth=Depth.NONE)
    fail = palette.style(Tone(Ink.ON_FILL, Ground.FILL))
    assert fail.bold
    assert fail.reverse
    assert palette.style(Tone(Ink.WATCH)).bold
    assert palette.style(Tone(Ink.FG, Ground.SEL)).reverse
    assert not palette.style(Tone(Ink.MUTED)).bold


def test_textual_knows_the_same_themes() -> None:
    assert [theme.name for theme in textual_themes()] == list(THEMES)
    assert all(set(TOKENS) <= set(tokens) for tokens in THEMES.values())
