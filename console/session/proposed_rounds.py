"""The rounds that a session would run, and the notes that a run of them begins with. Pure."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from benchconsole.console.view.events import (
    LEFT_OUT,
    SPARED,
    SPARED_NONE,
    WAVES,
    Noticed,
    make_noticed,
    name_omission,
    say_waves,
)
from benchconsole.probes.blank_devices import Confirmation
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.model.omission import Omission


class ProposedRounds(NamedTuple):
    """``rounds`` of a suite, what of it is ``left_out``, and the disks that nobody has confirmed yet.

    ``spared`` names nodes that are not loaded because somebody else needs them: a plan that ``is_suite`` says anew who
    they are, repeats and what is owed do not. ``in_waves``: each stage grows from one load.
    """

    rounds: tuple[Round, ...]
    left_out: tuple[Omission, ...] = ()
    unconfirmed: tuple[Confirmation, ...] = ()
    spared: tuple[Omission, ...] = ()
    is_suite: bool = False
    in_waves: bool = False


def list_plan_notes(
    proposed: ProposedRounds, fresh: Sequence[Round], owed: Sequence[Round], before: Iterable[Noticed]
) -> tuple[tuple[str, str], ...]:
    """The notes, kind and text, that a run begins with whose rounds ``fresh`` join the plan (at least one).

    ``owed`` are the rounds that the session owed, ``before`` the notes that it has. Its note on nodes left alone is
    taken back where this plan leaves none alone. Tests that a stopped round left out come again in waves.
    """
    omissions = ((LEFT_OUT, proposed.left_out), (SPARED, proposed.spared))
    told = [(name_omission(kind, each.reason), each.words) for kind, found in omissions for each in found]
    last = next((each for each in reversed([*before]) if each.kind == SPARED), None)
    is_known = last is None or last == make_noticed(SPARED, SPARED_NONE, last.at)
    if proposed.is_suite and not proposed.spared and not is_known:
        told.append((SPARED, SPARED_NONE))
    numbers = {each.number for each in fresh}
    if proposed.in_waves or tuple(fresh) == tuple(each for each in owed if each.number in numbers):
        told.append((WAVES, say_waves(fresh)))
    return tuple(told)
