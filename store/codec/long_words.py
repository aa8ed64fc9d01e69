"""Long words of command lines, as they lie in the file: each of them once, with its number in every place where it is.

The script of the inventory has 10 kB, and every node is told the same one. A command line is a JSON array of strings in
the store; a number among them stands for a long word.
"""

import json
import re
from collections.abc import Callable

from benchconsole.store.codec.values import dump_json

LONG = 256
"""Characters from which a word is kept apart."""

_MAY_HOLD_NUMBER = re.compile(r"[\[,][0-9]")


def number_words(argv: str, find_number: Callable[[str], int]) -> str:
    """``argv`` with the number of each long word in its place."""
    if len(argv) < LONG:
        return argv
    words = json.loads(argv)
    return dump_json([find_number(word) if len(word) >= LONG else word for word in words], "an argument list")


def restore_words(argv: str, find_word: Callable[[int], str]) -> str:
    """``argv`` as it was numbered; ValueError where it is no array of words and numbers."""
    if _MAY_HOLD_NUMBER.search(argv) is None:
        return argv
    words = json.loads(argv)
    if not isinstance(words, list):
        raise ValueError(f"{argv[:80]!r} is no array of words")
    return dump_json([find_word(word) if isinstance(word, int) else word for word in words], "an argument list")
