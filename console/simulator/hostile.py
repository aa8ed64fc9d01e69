"""The answers of a hostile node: words that no screen, report or shell should obey.

Text values become escape sequences, markup, formulas, script tags and broken UTF-8; numbers
in JSON become NaN. Keys, line ends and braces stay, because only an answer that is read at all
can do harm further on.
"""

import re
from collections.abc import Callable
from itertools import cycle

POISONS: tuple[bytes, ...] = (
    b"\x1b[2J\x1b[31mowned\x1b[0m",
    b"\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07",
    b"[bold red]owned[/] [link=file:///etc/passwd]x[/link]",
    b"<script>alert(1)</script>&amp;",
    b"=HYPERLINK('http://192.0.2.1','owned')",
    b"\xff\xfe\xc3\x28 broken",
    b"\xe2\x80\xae3v8-0862E\xe2\x80\xac",
    b"a\rb\x08\x08\x7f\xc2\x9b31mc",
)
"""Values for text; bytes, for some of them are not text. None holds a quote, a backslash or a line end."""

_TYPE_KEYS = frozenset((b"field", b"name", b"type", b"link_type", b"protocol"))
"""Keys whose value says what another value means; poisoned, it would only make the rest unread."""

_JSON_TEXT = re.compile(rb'"([^"]*)"(\s*:\s*)"[^"]*"')
_JSON_NUMBER = re.compile(rb"(?<=:)(\s*)-?\d[\d.eE+-]*(?=\s*[,}\]])")
_FIELD = re.compile(rb"^(\s*[^\s{}\[\]\"=:][^{}\[\]\"=:\n]*?(?: = |[:=]))([ \t]*)(\S.*)$", re.MULTILINE)


def make_spoiler() -> Callable[[bytes], bytes]:
    """A function that poisons what it is given; every value gets the next poison, over all calls."""
    poisons = cycle(POISONS)

    def poison_text(found: re.Match[bytes]) -> bytes:
        if found[1] in _TYPE_KEYS:
            return found[0]
        # JSON does not allow raw control characters, so the tool that wrote it would have escaped them.
        poison = re.sub(rb"[\x00-\x1f]", lambda raw: b"\\u%04x" % raw[0][0], next(poisons))
        return b'"%b"%b"%b"' % (found[1], found[2], poison)

    def poison_field(found: re.Match[bytes]) -> bytes:
        return found[1] + found[2] + next(poisons)

    def spoil(answer: bytes) -> bytes:
        if answer.lstrip()[:1] in (b"{", b"["):
            return _JSON_NUMBER.sub(rb"\1NaN", _JSON_TEXT.sub(poison_text, answer))
        return _FIELD.sub(poison_field, answer)

    return spoil
