"""Abilities of the terminal, read from the environment: ASCII or more, and how many colours."""

import locale
from collections.abc import Mapping

from msgspec import Struct

from benchconsole.console.tui.rows.themes import DEFAULT_THEME, Depth, describe_unknown_theme, find_theme

_SIXTEEN = ("linux", "xterm", "xterm-16color", "screen", "vt220", "ansi", "cons25")


class Terminal(Struct, frozen=True):
    """The abilities of a terminal, and its theme. ``refused`` says which wish of the environment is not followed."""

    ascii: bool = False
    depth: Depth = Depth.FULL
    theme: str = DEFAULT_THEME
    refused: str = ""


def detect(environment: Mapping[str, str], encoding: str | None = None) -> Terminal:
    """Read the environment: BENCHCONSOLE_ASCII, BENCHCONSOLE_COLOR, BENCHCONSOLE_THEME, NO_COLOR, TERM."""
    encoding = encoding if encoding is not None else locale.getpreferredencoding(False)
    utf8 = encoding.lower().replace("-", "").replace("_", "") in ("utf8", "cp65001")
    wanted = environment.get("BENCHCONSOLE_THEME", "")
    theme = find_theme(wanted)
    return Terminal(
        ascii=environment.get("BENCHCONSOLE_ASCII", "") not in ("", "0") or not utf8,
        depth=_depth(environment),
        theme=theme or DEFAULT_THEME,
        refused=f"BENCHCONSOLE_THEME: {describe_unknown_theme(wanted)}" if wanted and theme is None else "",
    )


def _depth(environment: Mapping[str, str]) -> Depth:
    asked = environment.get("BENCHCONSOLE_COLOR", "")
    named = {"none": Depth.NONE, "16": Depth.SIXTEEN, "full": Depth.FULL, "24": Depth.FULL}
    if asked in named:
        return named[asked]
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return Depth.NONE
    if environment.get("COLORTERM") in ("truecolor", "24bit"):
        return Depth.FULL
    return Depth.SIXTEEN if environment.get("TERM", "") in _SIXTEEN else Depth.FULL
