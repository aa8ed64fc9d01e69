"""Regular expressions of a filter, which never hold up the screen: those that could are given a bounded time.

The engine backtracks, so an expression with repeats or groups may take exponential time. ``regex`` can be told when
to give up (docs/decisions/060-regular-expressions.md).
"""

import re
import time
import warnings
from collections.abc import Iterable, Iterator

LONGEST = 200
"""Characters of an expression."""

MOST = 100
"""Times that a repeat may ask for; a billion takes the memory of the machine before any time is over."""

_BRACE = re.compile(r"(?<!\\)((?:\\\\)*)\{(?P<inside>[0-9]*,?[0-9]*\})?")
"""A brace that stands for itself has a backslash; inside of others are numbers."""

SECONDS = 0.5
"""The CPU time of the console that all rows together may take, as the engine counts it, and at most twice that."""

SECONDS_OF_ONE = 0.05
"""The CPU time of one row: an exponential expression is found out by its first long row."""

_TOGETHER = 10
"""Rows between two looks at the clock, which cost as much as a search."""

_PLAIN = re.compile(r"[^*+?{(\\]*(?:\\[A-Zbdswbnt.|^$\[\]\\/-][^*+?{(\\]*)*")
"""Without repeats, groups and references: at each place of a text every character of it is looked at once at most."""


class ExpressionError(ValueError):
    """The mistake in an expression; ``place`` is that of the character, from 1 on, None where it is all of it."""

    def __init__(self, found: str, place: int | None = None) -> None:
        self.place = place
        super().__init__(found if place is None else f"character {place} of the expression: {found}")


class SlowExpressionError(ExpressionError):
    """The rows could not be looked through in the time that there is."""

    def __init__(self) -> None:
        super().__init__(f"takes too long: {SECONDS_OF_ONE:g} s for a row, or {SECONDS:g} s for all of them")


class Expression:
    """A regular expression without regard to case; ``^`` and ``$`` are the ends of a line, ``.`` stays in it."""

    def __init__(self, text: str) -> None:
        """ExpressionError where ``text`` is none, and where its engine could need much memory for it."""
        import regex  # here: most filters are words, and the screen does not wait for it

        _check(text)
        try:
            with warnings.catch_warnings(action="ignore"):  # of syntax that means something else in some years
                re.compile(text)  # first: what only the other engine knows is none, and its repeats are bounded
                self._pattern = regex.compile(text, regex.IGNORECASE | regex.MULTILINE, cache_pattern=False)
        except (re.error, regex.error) as error:
            raise ExpressionError(error.msg, None if error.pos is None else error.pos + 1) from error
        except (RecursionError, OverflowError, MemoryError, ValueError) as error:
            raise ExpressionError("too large or too deeply nested") from error
        self._is_plain = _PLAIN.fullmatch(text) is not None

    def find_in(self, texts: Iterable[str]) -> Iterator[bool]:
        """Whether each text holds it. SlowExpressionError when all together take longer than ``SECONDS``."""
        search = self._pattern.search
        if self._is_plain:
            return (search(text) is not None for text in texts)
        return self._find_in_time(texts)

    def _find_in_time(self, texts: Iterable[str]) -> Iterator[bool]:
        search, ends = self._pattern.search, time.process_time() + SECONDS
        for at, text in enumerate(texts):
            if at % _TOGETHER == 0 and time.process_time() >= ends:
                raise SlowExpressionError
            try:
                found = search(text, timeout=SECONDS_OF_ONE) is not None
            except (TimeoutError, MemoryError):
                raise SlowExpressionError from None
            yield found


def _check(text: str) -> None:
    """ExpressionError for what the engine would take, and should not be given."""
    if len(text) > LONGEST:
        raise ExpressionError(f"longer than {LONGEST} characters")
    for brace in _BRACE.finditer(text):
        inside = brace["inside"]
        if inside is None:
            raise ExpressionError("a repeat such as {2,5}, or \\{ for the brace itself", brace.end())
        if any(int(number) > MOST for number in inside[:-1].split(",") if number):
            raise ExpressionError(f"a repeat of more than {MOST}", brace.start("inside") + 1)
