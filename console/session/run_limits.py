"""The limits of a run: caps, tests at once and time, read, recorded and said; how long an allocation lasts. Pure.

Caps and tests at once are recorded when a session begins: its plan and its expectations follow from them. A time limit
is of one run: whoever goes on with the session may give another.
"""

import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate

from benchconsole.console.exits import BadInput
from benchconsole.console.session.metadata import SessionChoice
from benchconsole.console.session.stored_fabric import LINK_CAP, STORAGE_CAP
from benchconsole.console.view.events import TIME_LIMIT
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.model.round_bounds import MOST_TESTS
from benchconsole.topology.description.caps import parse_link_cap, parse_storage_cap
from benchconsole.topology.errors import find_near
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.units import Unit, UnitError, counted, duration, format_byte_rate, parse

CLOSING_SECONDS = 15.0
"""Seconds of a time limit that are kept for the end of a run: values set back, nodes searched, connections closed."""

_LONGEST = 365 * 86400.0
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")

# -- caps


def read_caps(fabric: Fabric, given: Sequence[str]) -> dict[str, str | int | float]:
    """The options that record caps which were ``given`` as ``50%`` or ``SYSTEM=2GB/s``.

    BadInput for what is no cap, for two caps on the same, and for one that is looser than that of the file.
    """
    found: dict[str, str | int | float] = {}
    for text in given:
        option, cap, own = _read_cap(fabric, text)
        if option in found:
            raise BadInput(f"benchconsole: --cap {text}: another --cap is on the same, expected one for each")
        if own is not None and cap > own:
            allowed = _format_cap(option, own).rpartition("=")[2]
            raise BadInput(f"benchconsole: --cap {text} is looser than the cap of the file, expected at most {allowed}")
        found[option] = cap
    return found


def _read_cap(fabric: Fabric, text: str) -> tuple[str, float, float | None]:
    """The option that records a cap, the cap, and that of the file on the same; None without one."""
    system, sign, rate = text.partition("=")
    try:
        if not sign:
            return LINK_CAP, parse_link_cap(text), fabric.caps.link
        if system in fabric.storage:
            return f"{STORAGE_CAP}{system}", parse_storage_cap(rate), fabric.caps.storage.get(system)
    except UnitError as error:
        hint = "" if sign else ", or SYSTEM=RATE for a storage system"
        raise BadInput(f"benchconsole: --cap {text}: {error}{hint}") from None
    near = find_near(system, fabric.storage)
    hint = f"; did you mean {near}?" if near else ""
    known = f"one of {', '.join(fabric.storage)}" if fabric.storage else "a file with a section storage"
    raise BadInput(f"benchconsole: --cap {text}: no such storage system, expected {known}{hint}")


def list_caps(options: Mapping[str, str | int | float]) -> list[str]:
    """The caps that ``options`` record, as they are given."""
    return [_format_cap(name, float(value)) for name, value in options.items() if is_cap(name)]


def _format_cap(option: str, cap: float) -> str:
    if option == LINK_CAP:
        return f"{cap * 100:.15g}%"
    return f"{option.removeprefix(STORAGE_CAP)}={format_byte_rate(cap).replace(' ', '')}"


def join_units(words: Sequence[str]) -> list[str]:
    """Caps in ``words``, each with a unit that was typed apart: ``50`` and ``%`` are one."""
    found: list[str] = []
    for word in words:
        if found and "=" not in word and not word[:1].isdigit():
            found[-1] += word
        else:
            found.append(word)
    return found


def is_cap(option: str) -> bool:
    """Whether an option of a session records a cap."""
    return option == LINK_CAP or option.startswith(STORAGE_CAP)


# -- tests at once


def read_tests_at_once(text: str) -> int:
    """The most tests of one round; BadInput for what is no number of them, or more than any round has."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
    if not 1 <= number <= MOST_TESTS:
        raise BadInput(f"benchconsole: --tests-at-once {text}, expected a whole number from 1 to {MOST_TESTS:,}")
    return number


# -- time


def read_time_limit(within: str | None, until: str | None) -> tuple[str, str]:
    """A time limit in the words that were typed, each half empty where it is None.

    BadInput for what is none, and for two of them.
    """
    if within is not None and until is not None:
        raise BadInput("benchconsole: --within and --until, expected one of them")
    if within is not None:
        _read_within(within)
    if until is not None and not _CLOCK.fullmatch(until):
        raise BadInput(f"benchconsole: --until {until}, expected a time of the clock such as 06:00")
    return " ".join((within or "").split()), until or ""


def _read_within(text: str) -> float:
    try:
        seconds = parse(text, Unit.SECOND)
    except UnitError as error:
        raise BadInput(f"benchconsole: --within: {error}") from None
    if not CLOSING_SECONDS < seconds <= _LONGEST:
        least, most = f"{CLOSING_SECONDS:.0f} s that are kept for the end of the run", f"{_LONGEST / 86400:.0f} d"
        raise BadInput(f"benchconsole: --within {text}, expected more than the {least}, and at most {most}")
    return seconds


def find_deadline(choice: SessionChoice, now: float) -> float | None:
    """The moment (UTC seconds) at which a run that begins ``now`` is to be over; None without a time limit.

    ``until`` is the next time that the clock of this machine shows it.
    """
    if choice.within:
        return now + _read_within(choice.within)
    match = _CLOCK.fullmatch(choice.until)
    if match is None:
        return None
    here = time.localtime(now)
    hour, minute = int(match[1]), int(match[2])
    days = (time.mktime((here.tm_year, here.tm_mon, here.tm_mday + day, hour, minute, 0, 0, 0, -1)) for day in range(3))
    return next(moment for moment in days if moment > now)


def say_time_limit(choice: SessionChoice) -> str:
    """The time limit as it is noted with the session: ``within 2 h``; empty without one."""
    limit = f"within {choice.within}" if choice.within else f"until {choice.until}" if choice.until else ""
    return f"{limit}: no round begins that is not expected to be over by then" if limit else ""


def count_fitting(rounds: Sequence[Round], seconds: float) -> int:
    """How many of ``rounds``, one after the other, are over in so many seconds with the end of the run.

    By their own estimates.
    """
    return sum(ends + CLOSING_SECONDS <= seconds for ends in accumulate(each.seconds for each in rounds))


def fits_before(deadline: float | None, each: Round, now: float) -> bool:
    """Whether a round that begins ``now`` is expected to leave the time that the end of the run takes."""
    return deadline is None or now + each.seconds + CLOSING_SECONDS <= deadline


def list_time_limit(choice: SessionChoice, rounds: Sequence[Round], now: float) -> Iterator[str]:
    """Whether the plan fits in the time limit of ``choice``, and which round is the last that does, in a sentence.

    Nothing without a time limit.
    """
    deadline = find_deadline(choice, now)
    if deadline is None or not rounds:
        return
    limit = duration(deadline - now)
    fitting = count_fitting(rounds, deadline - now)
    if fitting == len(rounds):
        needed = sum(each.seconds for each in rounds) + CLOSING_SECONDS
        beyond = _tell_confirmation(choice.confirm_seconds, deadline - now - needed)
        yield f"the whole plan fits in {limit}: about {duration(needed)} with its end{beyond}"
    elif fitting:
        last, left = rounds[fitting - 1], counted(len(rounds) - fitting, "round")
        yield f"round {last.number}, {last.stage}, is the last that fits in {limit}; {left} left for another run"
    else:
        needed = rounds[0].seconds + CLOSING_SECONDS
        yield f"no round fits in {limit}: the first takes about {duration(needed)} with the end of the run"


def _tell_confirmation(most: float, spare: float) -> str:
    """The rounds that confirm findings, where they may last longer than the seconds that a plan leaves ``spare``."""
    if most <= spare:
        return ""
    return f"; rounds that confirm findings take up to {duration(most)} more, those that no longer fit are left"


def describe_time_stop(plan: Sequence[Round], closed: Collection[int]) -> str:
    """Why a run ended at its time limit, and how many rounds of its ``plan`` are left; ``closed`` are numbers."""
    left = sum(each.number not in closed for each in plan)
    return f"{TIME_LIMIT}, {left:,} of {counted(len(plan), 'round')} left"


# -- an allocation of the scheduler

ALLOCATION_SPARE = 900.0
"""Seconds that an allocation lasts beyond the time that is foreseen: nodes answer late, and are searched at the end."""

_RUN_AGAIN = 2.0
"""How many times the plan's own estimate is foreseen: rounds take longer, are run again, and are confirmed."""


def compute_allocation_seconds(choice: SessionChoice, rounds: Sequence[Round], now: float) -> float:
    """How long an allocation is asked for to run ``rounds``: twice their estimates, or the time limit if that is less.

    With what is to spare.
    """
    foreseen, _ = _foresee(choice, rounds, now)
    return foreseen + ALLOCATION_SPARE


def describe_allocation(choice: SessionChoice, rounds: Sequence[Round], nodes: int, now: float) -> str:
    """The request to the scheduler for ``rounds``, in a sentence: ``6 nodes for 45:00: ...``."""
    foreseen, words = _foresee(choice, rounds, now)
    lasting, spare = duration(foreseen + ALLOCATION_SPARE), duration(ALLOCATION_SPARE)
    return f"{counted(nodes, 'node')} for {lasting}: {words}, {duration(foreseen)}, and {spare} to spare"


def _foresee(choice: SessionChoice, rounds: Sequence[Round], now: float) -> tuple[float, str]:
    """How many seconds a run is expected to last at most, and what says so."""
    planned = _RUN_AGAIN * sum(each.seconds for each in rounds)
    deadline = find_deadline(choice, now)
    if deadline is None or planned <= deadline - now:
        return planned, "twice the time of the plan"
    return deadline - now, "the time limit"
