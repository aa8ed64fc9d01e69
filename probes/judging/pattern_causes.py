"""Causes of low throughput from patterns in the matrix of pairs, beside the components that explain it.

A pattern that agrees with a component is said in the finding on it. Observations that no component explains are one
finding on the pattern. Everything slow alike replaces the findings on components: no element is at fault for all of it.
But where one component alone explains it, the finding on that says that what all hosts share would look the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchconsole.probes.judging.attribution import Cause
from benchconsole.probes.judging.patterns import Pattern, PatternKind
from benchconsole.probes.judging.set_cover import LowVerdict, is_assumed

AGREES = 0.75
"""Share of the slow cells of a pattern, and of the pairs of a cause, that both have where they are the same."""

CLEARLY = 0.75
"""A flow below this share of what everything gives is slow beside it."""

ALL = 0.9
"""Share of the low observations that one component must explain to stand beside "everything"."""


Explain = Callable[[Sequence[LowVerdict]], tuple[list[Cause], list[LowVerdict]]]
"""Observations to the causes that explain them, and those that none explains."""


@dataclass(frozen=True, slots=True, eq=False)
class PatternCause:
    """A pattern with the low observations that it explains and no component does."""

    pattern: Pattern
    seen: tuple[LowVerdict, ...]


def explain_low(
    low: Sequence[LowVerdict], explain: Explain, find: Callable[[], Sequence[Pattern]]
) -> tuple[list[Cause], list[PatternCause], list[LowVerdict], Sequence[Pattern]]:
    """Causes, patterns with what they explain instead, what nothing explains, and all patterns.

    ``explain`` names components; where everything is slow alike, only for what is slower than that. ``find`` is asked
    for the patterns where something is low.
    """
    causes, open_ = explain(low)
    patterns = find() if low else ()
    found: list[PatternCause] = []
    for pattern in patterns:
        is_everything = pattern.kind is PatternKind.EVERYTHING
        if is_everything and find_rival(pattern, causes, open_) is not None:
            continue
        seen = tuple(each for each in (low if is_everything else open_) if _is_in(each, pattern))
        # A pattern of which causes explain the most has no cause of its own.
        known = sum(_is_in(each, pattern) for cause in causes for each in cause.seen)
        if seen and (is_everything or len(seen) >= known):
            found.append(PatternCause(pattern, seen))
            explained = {id(each) for each in seen}
            left = [each for each in (low if is_everything else open_) if id(each) not in explained]
            causes, open_ = explain(left) if is_everything else (causes, left)
    return causes, found, open_, patterns


def find_rival(pattern: Pattern, causes: Sequence[Cause], rest: Sequence[LowVerdict]) -> Cause | None:
    """The cause that explains nearly all of what is slow as well as "everything" does."""
    total = len(rest) + sum(len(each.seen) for each in causes)
    enough = (each for each in causes if len(each.seen) >= ALL * total > 1)
    return next(enough, None) if pattern.kind is PatternKind.EVERYTHING else None


def _is_in(low: LowVerdict, pattern: Pattern) -> bool:
    """Whether a pattern explains an observation: its flows are cells of it, or no slower than everything is.

    Of streams whose paths are only assumed nothing is said: they meet by chance.
    """
    if is_assumed(low):
        return False
    if pattern.kind is PatternKind.EVERYTHING:
        return all(each.value >= CLEARLY * pattern.level * each.expected.value for each in low[1])
    return all((each.flow.source, each.flow.sink) in pattern.pairs for each in low[1])


def find_agreeing(patterns: Sequence[Pattern], causes: Sequence[Cause], cause: Cause) -> tuple[Pattern, ...]:
    """The patterns that are the same as a cause by the pairs that are slow, or that it alone rivals."""
    own = {(each.flow.source, each.flow.sink) for _, flows in cause.seen for each in flows}
    found = []
    for pattern in patterns:
        both = len(own & pattern.pairs)
        is_same = both >= AGREES * max(len(own), pattern.slow)
        if is_same if pattern.kind is not PatternKind.EVERYTHING else find_rival(pattern, causes, ()) is cause:
            found.append(pattern)
    return tuple(found)
