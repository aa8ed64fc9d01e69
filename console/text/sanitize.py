"""Text from a node, made safe to show anywhere. The bytes stay as they were in the store."""

import re
import unicodedata

CELL = 400
"""Characters of a cell or sentence at most, where nobody asked for another limit."""


_JOINING = re.compile(
    "[\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff]"
)
"""Characters whose width, or that of the one before, depends on what stands beside them (UTS 51, UAX 29)."""

_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]")
"""Letters and marks without ink: fillers of Hangul and Khmer, the joiner of graphemes, the blank of Braille.

Those of Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt) that no category gives away, and U+2800.
"""


def sanitize(text: str) -> str:
    """Text from a node made safe to show anywhere: one line, nothing that a terminal acts on.

    C0 controls become control pictures (``␛``), DEL ``␡``; C1, bidirectional marks, other format characters, surrogates
    and private-use characters become ``\\u{85}``, and so do those that make their neighbours wider or narrower
    (variation selectors, halves of flags, tones of skin): terminals do not agree on them, and columns would shift.
    Letters without ink and blanks other than the space do too, for two names that look alike are two names.
    The bytes stay as they were in the store.
    """
    if text.isascii() and text.isprintable():  # nearly every line, and a tenth of the time of the walk below
        return text
    return "".join(_plain_character(character) for character in text)


def _plain_character(character: str) -> str:
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return character
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    is_unseen = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs")
    if is_unseen or _JOINING.match(character) or _INVISIBLE.match(character):
        return f"\\u{{{code:x}}}"
    return character


def sanitize_lines(text: str) -> list[str]:
    """``text`` as safe lines; tabs become spaces, CRLF ends a line."""
    return [sanitize(line.expandtabs(8)) for line in re.split(r"\r\n|\n", text)]


def shorten_text(text: str, limit: int = CELL) -> str:
    """``text`` made plain and cut at ``limit`` characters; a cut says how long it was."""
    if len(text) <= limit:
        return sanitize(text)
    return f"{sanitize(text[:limit])} … (cut, {len(text):,} characters)"
