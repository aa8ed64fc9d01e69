"""The notes at the beginning of a run: what its plan leaves out and alone, and which of its rounds go in waves."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from benchconsole.console.session.proposed_rounds import ProposedRounds, list_plan_notes
from benchconsole.console.view.events import (
    LEFT_OUT,
    SPARED,
    SPARED_NONE,
    WAVES,
    Noticed,
    make_noticed,
    name_omission,
    read_waves,
    say_waves,
)
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.model.omission import Omission, OmissionReason
from benchconsole.probes.planning.plan_rounds import plan, split_into_waves
from tests.fabrics import SMALL, fabric
from tests.probes.played import PROBES

USED = Omission("n1: a job of bob; not loaded", OmissionReason.IN_USE)
LEFT = Omission("fio: no", OmissionReason.CAPPED)
OF_USED = (name_omission(SPARED, USED.reason), USED.words)
OF_LEFT = (name_omission(LEFT_OUT, LEFT.reason), LEFT.words)
KNOWN = make_noticed(*OF_USED, 1.0)
NONE = make_noticed(SPARED, SPARED_NONE, 2.0)


@pytest.fixture
def rounds(tmp_path: Path) -> tuple[Round, ...]:
    described = fabric(tmp_path, SMALL)
    return split_into_waves(plan(described, described.suites["default"], PROBES))


@pytest.mark.parametrize(
    ("before", "proposed", "kinds"),
    [
        ((), ProposedRounds((), is_suite=True), []),
        ((KNOWN,), ProposedRounds((), is_suite=True), [(SPARED, SPARED_NONE)]),
        ((KNOWN, NONE), ProposedRounds((), is_suite=True), []),
        ((KNOWN, NONE, KNOWN), ProposedRounds((), is_suite=True), [(SPARED, SPARED_NONE)]),
        ((KNOWN,), ProposedRounds(()), []),
        ((KNOWN,), ProposedRounds((), spared=(USED,), is_suite=True), [OF_USED]),
        ((), ProposedRounds((), (LEFT,), (), (USED,), is_suite=True), [OF_LEFT, OF_USED]),
    ],
)
def test_a_plan_takes_back_what_the_one_before_left_alone_and_a_repeat_does_not(
    rounds: tuple[Round, ...], before: Sequence[Noticed], proposed: ProposedRounds, kinds: list[tuple[str, str]]
) -> None:
    assert list_plan_notes(proposed, rounds[2:], (), before) == tuple(kinds)


def test_waves_are_noted_of_a_plan_in_waves_and_of_what_a_stop_left_out(rounds: tuple[Round, ...]) -> None:
    fresh = rounds[2:4]
    noted = ((WAVES, say_waves(fresh)),)
    assert list_plan_notes(ProposedRounds(fresh, in_waves=True), fresh, (), ()) == noted
    assert list_plan_notes(ProposedRounds(rounds), fresh, rounds[:4], ()) == noted
    assert list_plan_notes(ProposedRounds(fresh), fresh, rounds[:2], ()) == ()
    assert read_waves(say_waves(fresh)) == range(3, 5)
    assert read_waves("rounds without numbers") is None
