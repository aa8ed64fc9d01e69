"""The protection of others from a run, in words: its waves, and the canary that watches it."""

from dataclasses import dataclass
from typing import NamedTuple

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.run_view import RunView, State
from benchconsole.probes.model.measuring import Round
from benchconsole.topology.units import counted

_SHOWN = 4
"""Earlier waves whose loads are told."""


@dataclass(frozen=True, slots=True)
class Wave:
    """Where a round stands among those of its stage: the ``place`` of ``waves``, with ``loads`` at once.

    A load is a test, or the tests of a bundle, which are never torn. ``before`` are the loads of the waves before it.
    """

    stage: str
    place: int
    waves: int
    loads: int
    before: tuple[int, ...]


class SafetyLine(NamedTuple):
    """One fact: its name, a sign where it has one, and the words."""

    name: str
    state: State | None
    words: str


def count_loads(each: Round) -> int:
    """The loads of a round that waves keep together."""
    if each.is_mixed:
        return 1
    return len({test.bundle or test.id for test in each.tests})


def goes_in_waves(view: RunView) -> bool:
    """Whether the rounds that were planned last begin with 1, 2, 4 ... loads at once."""
    return bool(view.plan) and _find_plan(view, view.plan[-1]) is not None


def _find_plan(view: RunView, each: Round) -> range | None:
    """The numbers of the rounds that were planned in waves together with ``each``."""
    return next((numbers for numbers in view.waves if each.number in numbers), None)


def find_wave(view: RunView, each: Round) -> Wave | None:
    """The wave that a round is, among those that were planned with it; None where it is none."""
    numbers = _find_plan(view, each)
    if numbers is None:
        return None
    rounds = [other for other in view.plan if other.number in numbers and other.stage == each.stage]
    place = next((at for at, other in enumerate(rounds) if other.number == each.number), None)
    if place is None:
        return None
    before = tuple(count_loads(other) for other in rounds[:place])
    return Wave(each.stage, place + 1, len(rounds), count_loads(each), before)


def list_safety(view: RunView) -> tuple[SafetyLine, ...]:
    """The wave that runs, and the canary; nothing where nobody else can be harmed by what is known."""
    return (*_tell_waves(view), *_tell_canary(view))


def _tell_waves(view: RunView) -> tuple[SafetyLine, ...]:
    if view.current is None:
        return _tell_growth(view) if goes_in_waves(view) else ()
    wave = find_wave(view, view.current)
    if wave is None:
        return ()
    shown = [f"{loads:,}" for loads in wave.before[-_SHOWN:]]
    more = "... " if len(wave.before) > _SHOWN else ""
    before = f", after {more}{', '.join(shown)}" if shown else ""
    place = f"wave {wave.place:,} of {wave.waves:,} of {sanitize(wave.stage)}"
    return (SafetyLine("waves", State.RUNNING, f"{place}: {counted(wave.loads, 'load')} at once{before}"),)


def _tell_growth(view: RunView) -> tuple[SafetyLine, ...]:
    """The rule, between rounds and afterwards."""
    stages = len({each.stage for each in view.plan if _find_plan(view, each) is not None})
    word = "began" if view.ended is not None else "begins"
    return (SafetyLine("waves", None, f"each of {counted(stages, 'stage')} {word} with 1, 2, 4 ... loads at once"),)


def _tell_canary(view: RunView) -> tuple[SafetyLine, ...]:
    canary = view.canary
    if canary is None:
        return ()
    words = sanitize(canary.words)
    if not canary.watches:
        return (SafetyLine("canary", State.WATCH, f"keeps still: {words.removeprefix('canary ')}"),)
    if view.ended is not None:
        return (SafetyLine("canary", None, words.replace(" pings ", " pinged ").replace("tests run", "tests ran")),)
    quiet = "; no alarm so far" if view.current is not None else ""
    return (SafetyLine("canary", State.RUNNING, f"{words}{quiet}"),)
