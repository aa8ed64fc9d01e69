"""Names of keys: as Textual has them, as people write them in a keymap, and as the screen shows them."""

import string
from collections.abc import Iterable

from textual.keys import _character_to_key

NAMES = {
    "up": "↑", "down": "↓", "left": "←", "right": "→", "enter": "enter", "escape": "esc", "tab": "tab",
    "space": "space", "backspace": "backspace", "delete": "delete", "insert": "insert", "home": "home", "end": "end",
    "pageup": "pgup", "pagedown": "pgdn", **{f"f{number}": f"F{number}" for number in range(1, 25)},
}  # fmt: skip
"""Keys that print nothing, and how they are shown."""

_SIGNS = {_character_to_key(sign): sign for sign in string.punctuation}
_ALSO = {
    "esc": "escape", "return": "enter", "pgup": "pageup", "pgdn": "pagedown", "page_up": "pageup",
    "page_down": "pagedown", "del": "delete", "ins": "insert", **{shown: name for name, shown in NAMES.items()},
    " ": "space",
}  # fmt: skip

HELD = ("alt", "ctrl", "shift")
"""Keys that are held with another, in the order in which Textual names them."""

_SAME = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+j": "enter", "ctrl+h": "backspace"}
"""Keys that a terminal sends as another key."""

EXPECTED = "a character, a name such as f4, pageup or space, or one of these behind ctrl+, alt+ or shift+"


class KeyNameError(ValueError):
    """The mistake in the name of a key; ``near`` is what may have been meant."""

    def __init__(self, found: str, expected: str = EXPECTED, near: str | None = None) -> None:
        self.found = found
        self.expected = expected
        self.near = near
        super().__init__(f"{found}, expected {expected}")


def read_key(written: str) -> str:
    """A key as people write it (``F4``, ``/``, ``esc``), by its name in Textual. KeyNameError for what is none."""
    *held, last = written.split("+") if len(written) > 1 and not written.endswith("+") else [written]
    if len(written) > 2 and written.endswith("++"):
        held, last = written[:-2].split("+"), "+"
    held = sorted({each.strip().lower() for each in held})
    key = _read_single(last.strip() or last, written)
    if not set(held) <= set(HELD):
        raise KeyNameError(f"the key {written!r}")
    is_typed = len(key) == 1 or key in _SIGNS
    if "shift" in held and is_typed:
        meant = f" such as {last.upper()}" if last.upper() != last else ""
        raise KeyNameError(f"the key {written!r}", f"the character that it types{meant}")
    if held == ["ctrl"] and is_typed and not (key.isascii() and key.isalpha() and len(key) == 1):
        raise KeyNameError(f"the key {written!r}, which most terminals do not send", "a letter behind ctrl+")
    whole = "+".join((*held, key.lower() if held else key))
    if whole in _SAME:
        raise KeyNameError(f"the key {written!r}, which terminals send as {_SAME[whole]}", "another key")
    return whole


def _read_single(text: str, written: str) -> str:
    if len(text) == 1 and text.isprintable() and text != " " and text not in _ALSO:
        return _character_to_key(text)
    name = _ALSO.get(text) or _ALSO.get(text.lower()) or text.lower()
    if name in NAMES or name in _SIGNS:
        return name
    from benchconsole.topology.errors import find_near

    raise KeyNameError(f"the key {written!r}", near=find_near(name, (*NAMES, *_SIGNS)) if len(name) > 1 else None)


def show_key(key: str) -> str:
    """A key of Textual as the screen shows it: ``/`` for slash, ``F4``, ``esc``."""
    *held, last = key.split("+")
    return "+".join((*held, NAMES.get(last) or _SIGNS.get(last) or last))


def show_keys(keys: Iterable[str]) -> tuple[str, ...]:
    """Several of them."""
    return tuple(map(show_key, keys))


def write_key(shown: str) -> str:
    """A key that is shown, as people write it: the name of one that prints nothing, in letters."""
    key = read_key(shown)
    return key if key in NAMES and NAMES[key].lower() != key else shown
