"""What keeps a run from harming others, in words: its waves, and the canary that watches it."""

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


def find_wave(view: RunView, each: Round) -> Wave | None:
    """The wave that a round is; None where the session has none."""
    if not view.in_waves:
        return None
    rounds = [other for other in view.plan if other.stage == each.stage]
    place = next((at for at, other in enumerate(rounds) if other.number == each.number), None)
    if place is None:
        return None
    before = tuple(count_loads(other) for other in rounds[:place])
    return Wave(each.stage, place + 1, len(rounds), count_loads(each), before)


def list_safety(view: RunView) -> tuple[SafetyLine, ...]:
    """The wave that runs, and the canary; nothing where nobody else can be harmed by what is known."""
    return (*_tell_waves(view), *_tell_canary(view))


def _tell_waves(view: RunView) -> tuple[SafetyLine, ...]:
    if not view.in_waves:
        return ()
    wave = None if view.current is None else find_wave(view, view.current)
    if wave is None:
        stages = len({each.stage for each in view.plan})
        word = "began" if view.ended is not None else "begins"
        words = f"each of {counted(stages, 'stage')} {word} with 1, 2, 4 ... loads at once"
        return (SafetyLine("waves", None, words),) if view.plan else ()
    shown = [f"{loads:,}" for loads in wave.before[-_SHOWN:]]
    more = "... " if len(wave.before) > _SHOWN else ""
    before = f", after {more}{', '.join(shown)}" if shown else ""
    place = f"wave {wave.place:,} of {wave.waves:,} of {sanitize(wave.stage)}"
    return (SafetyLine("waves", State.RUNNING, f"{place}: {counted(wave.loads, 'load')} at once{before}"),)


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
