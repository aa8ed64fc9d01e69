"""Colours of the screen: the value of every token in every theme. No other module of the screen names a colour.

A ``Tone`` says how a piece of text looks in words of the design (ink, ground, bold); a
``Palette`` turns it into a style of the terminal at hand: 24-bit, 16 colours, or none at all.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from rich.color import Color
from rich.style import Style
from textual.theme import Theme

from benchconsole.console.text.sanitize import sanitize


class Ink(StrEnum):
    """The meaning of a foreground."""

    FG = "fg"
    BRIGHT = "bright"
    MUTED = "muted"
    FAINT = "faint"
    TRACK = "track"
    ACCENT = "accent"
    PASS = "pass"
    WATCH = "watch"
    FAIL = "fail"
    UNREACHABLE = "unreachable"
    RUNNING = "running"
    RUNNING_CELL = "running_cell"
    LOAD = "load"
    SLOT = "slot"
    ON_FILL = "on_fill"
    ON_ACCENT = "on_accent"
    RAMP0 = "ramp0"
    RAMP1 = "ramp1"
    RAMP2 = "ramp2"
    RAMP3 = "ramp3"
    RAMP4 = "ramp4"
    RAMP5 = "ramp5"
    RAMP6 = "ramp6"
    RAMP7 = "ramp7"
    RAMP8 = "ramp8"


class Ground(StrEnum):
    """The meaning of a background."""

    BG = "bg"
    PANEL = "panel"
    SEL = "sel"
    FILL = "fill"
    BADGE = "badge"
    ACCENT = "accent"


class Tone(NamedTuple):
    """How a piece of text looks."""

    ink: Ink = Ink.FG
    ground: Ground = Ground.BG
    bold: bool = False


TEXT = Tone()
BOLD = Tone(bold=True)
BRIGHT = Tone(Ink.BRIGHT)
STRONG = Tone(Ink.BRIGHT, bold=True)
MUTED = Tone(Ink.MUTED)
FAINT = Tone(Ink.FAINT)
TRACK = Tone(Ink.TRACK)
ACCENT = Tone(Ink.ACCENT)
KEY = ACCENT
ACTIVE = Tone(Ink.ACCENT, bold=True)
PASS = Tone(Ink.PASS)
WATCH = Tone(Ink.WATCH)
WATCH_BOLD = Tone(Ink.WATCH, bold=True)
FAIL = Tone(Ink.FAIL)
FAIL_BOLD = Tone(Ink.FAIL, bold=True)
FAIL_CELL = Tone(Ink.ON_FILL, Ground.FILL)
LOAD = Tone(Ink.LOAD)
SLOT = Tone(Ink.SLOT)
RUNNING = Tone(Ink.RUNNING)
BADGE = Tone(Ink.BRIGHT, Ground.BADGE, bold=True)
FROZEN_BADGE = Tone(Ink.ON_ACCENT, Ground.ACCENT, bold=True)
JUMP = Tone(Ink.ON_ACCENT, Ground.ACCENT, bold=True)
HELD_BADGE = Tone(Ink.ON_FILL, Ground.FILL, bold=True)

RAMP = (Ink.RAMP0, Ink.RAMP1, Ink.RAMP2, Ink.RAMP3, Ink.RAMP4, Ink.RAMP5, Ink.RAMP6, Ink.RAMP7, Ink.RAMP8)
_DARK_RAMP = "#24303c #2a4660 #365e7e #52758f #6e8e9f #a1a487 #ceba71 #e6d590 #fff0b0"
_CONTRAST_RAMP = "#2c3a48 #3c587a #4a78a0 #6f98b8 #93b4c4 #bcbd8c #dcc670 #f0dd86 #fff3b8"
_LIGHT_RAMP = "#e4e6e6 #bdcfda #9bb7c9 #829eaf #6f868e #786941 #6b4f0e #533905 #3c2500"

TOKENS = [
    "bg", "panel", "sel", "fg", "bright", "muted", "faint", "track", "accent", "pass", "watch", "fail", "fill",
    "unreachable", "running", "running_cell", "load", "slot", "badge", "on_fill", "on_accent",
]  # fmt: skip


def _tokens(values: str, ramp: str) -> dict[str, str]:
    named = dict(zip(TOKENS, values.split(), strict=True))
    return named | {ink.value: colour for ink, colour in zip(RAMP, ramp.split(), strict=True)}


THEMES: dict[str, dict[str, str]] = {
    "bench-dark": _tokens(
        "#11151a #1a2027 #243a52 #d3d9df #ffffff #8b96a3 #47525e #2c3640 #6fb8ff #7fae90 #e8b13f #ff7468 #a3211b"
        " #c6a0ff #45c9c4 #2f8f8b #46708f #6b7885 #4b5663 #ffffff #11151a",
        _DARK_RAMP,
    ),
    "bench-light": _tokens(
        "#f7f6f2 #e9e7e0 #cadef4 #262c32 #000000 #59636d #b3b8bd #dcdad3 #0a5aa8 #3a7450 #8f6400 #a00c1c #b3161a"
        " #7538ad #00666f #4a9aa0 #5f8db5 #848d96 #d2cfc6 #ffffff #f7f6f2",
        _LIGHT_RAMP,
    ),
    "bench-contrast": _tokens(
        "#000000 #1f1f1f #003f7a #f0f0f0 #ffffff #aab2ba #8c8c8c #6e6e6e #7cd0ff #7fe39b #ffd23f #ff9086 #9c0000"
        " #e2b8ff #5cf2ea #2fb8b2 #6fa8dc #b4bcc4 #3a4656 #ffffff #000000",
        _CONTRAST_RAMP,
    ),
    "bench-deutan": _tokens(
        "#11151a #1a2027 #2c3b52 #d3d9df #ffffff #8b96a3 #47525e #2c3640 #8fc7ff #6f9fd0 #f3e27a #ff8a1f #a84300"
        " #ffffff #8fb7d8 #5f87a8 #456a94 #6b7885 #4b5663 #ffffff #11151a",
        _DARK_RAMP,
    ),
    "bench-tritan": _tokens(
        "#13151a #1c2027 #20403f #d8d9dc #ffffff #9095a0 #4b515c #2f363d #63d3d3 #5fa8a4 #ffb3c0 #ff5f57 #a5201c"
        " #ffffff #a8ece8 #4f9f9b #457577 #70757f #4f5560 #ffffff #13151a",
        _DARK_RAMP,
    ),
}
"""Every 24-bit theme by name; the first one is the default. Text of ``bench-contrast`` has WCAG's ratio of 7 (AAA)."""

DEFAULT_THEME = "bench-dark"

_ANSI_INK: dict[Ink, int | None] = {
    Ink.FG: None, Ink.BRIGHT: 15, Ink.MUTED: None, Ink.FAINT: 8, Ink.TRACK: 8, Ink.ACCENT: 14, Ink.PASS: 2,
    Ink.WATCH: 11, Ink.FAIL: 9, Ink.UNREACHABLE: 13, Ink.RUNNING: 14, Ink.RUNNING_CELL: 6, Ink.LOAD: 6,
    Ink.SLOT: 7, Ink.ON_FILL: 15, Ink.ON_ACCENT: 0, Ink.RAMP0: 8, Ink.RAMP1: 4, Ink.RAMP2: 4, Ink.RAMP3: 6,
    Ink.RAMP4: 6, Ink.RAMP5: 7, Ink.RAMP6: 3, Ink.RAMP7: 11, Ink.RAMP8: 15,
}  # fmt: skip
_ANSI_GROUND: dict[Ground, int | None] = {
    Ground.BG: None, Ground.PANEL: None, Ground.SEL: 4, Ground.FILL: 1, Ground.BADGE: 4, Ground.ACCENT: 14,
}  # fmt: skip


class Depth(StrEnum):
    """How many colours the terminal gives."""

    FULL = "24-bit"
    SIXTEEN = "16 colours"
    NONE = "no colour"


@dataclass(slots=True)
class Palette:
    """Tones to styles for one theme and one depth; equal tones share one Style object."""

    theme: str = DEFAULT_THEME
    depth: Depth = Depth.FULL
    _styles: dict[Tone, Style] = field(default_factory=dict)

    def style(self, tone: Tone) -> Style:
        """The style of ``tone``; never None, for a segment without one ends the monochrome filter."""
        found = self._styles.get(tone)
        if found is None:
            found = self._styles[tone] = self._make(tone)
        return found

    def _make(self, tone: Tone) -> Style:
        if self.depth is Depth.NONE:
            return _colourless(tone)
        if self.depth is Depth.SIXTEEN:
            return _sixteen(tone)
        tokens = THEMES[self.theme]
        return Style(color=tokens[tone.ink], bgcolor=tokens[tone.ground], bold=tone.bold or None)


def _sixteen(tone: Tone) -> Style:
    ink, ground = _ANSI_INK[tone.ink], _ANSI_GROUND[tone.ground]
    if ground == 4 and ink is None:
        ink = 15
    return Style(
        color=None if ink is None else Color.from_ansi(ink),
        bgcolor=None if ground is None else Color.from_ansi(ground),
        bold=tone.bold or None,
    )


def _colourless(tone: Tone) -> Style:
    """Emphasis without colour: fail bold reverse, watch and unreachable bold, selection reverse."""
    bold = tone.bold or tone.ink in (Ink.FAIL, Ink.WATCH, Ink.UNREACHABLE, Ink.ON_FILL)
    reverse = tone.ground in (Ground.FILL, Ground.SEL, Ground.BADGE, Ground.ACCENT)
    return Style(bold=bold or None, reverse=reverse or None)


def find_theme(name: str) -> str | None:
    """The theme of this name, which may lack ``bench-``; None where there is none."""
    return next((each for each in THEMES if name in (each, each.removeprefix("bench-"))), None)


def describe_unknown_theme(name: str) -> str:
    """Why ``name`` is no theme, in words."""
    return f"no theme {sanitize(name)}; there are {' '.join(THEMES)}"


def textual_themes() -> tuple[Theme, ...]:
    """The themes in Textual's terms, for the little that Textual itself paints."""
    made = []
    for name, tokens in THEMES.items():
        made.append(
            Theme(
                name=name,
                primary=tokens["accent"],
                secondary=tokens["load"],
                accent=tokens["accent"],
                foreground=tokens["fg"],
                background=tokens["bg"],
                surface=tokens["bg"],
                panel=tokens["panel"],
                success=tokens["pass"],
                warning=tokens["watch"],
                error=tokens["fail"],
                dark=name != "bench-light",
            )
        )
    return tuple(made)
