"""Notes as events: the kind of an omission carries its reason, and older or newer notes are still what they are."""

import pytest

from benchconsole.console.view.events import (
    CANARY,
    LEFT_OUT,
    SPARED,
    Noticed,
    is_time_stop,
    make_noticed,
    name_omission,
)
from benchconsole.probes.model.omission import OmissionReason


@pytest.mark.parametrize("kind", [LEFT_OUT, SPARED])
@pytest.mark.parametrize("reason", OmissionReason)
def test_the_reason_of_an_omission_comes_back_from_its_note(kind: str, reason: OmissionReason) -> None:
    named = name_omission(kind, reason)
    assert make_noticed(named, "a: b (c)", 1.0) == Noticed(f"{kind}: a: b (c)", 1.0, kind, reason)


@pytest.mark.parametrize("rest", ["", " (", " ()", " (moon)", " (capped", " (capped) more", " (CAPPED)"])
def test_a_note_without_a_reason_that_is_known_is_an_omission_all_the_same(rest: str) -> None:
    noticed = make_noticed(f"{LEFT_OUT}{rest}", "a: b", 1.0)
    assert noticed.left_out
    assert noticed.text == "left out: a: b"
    assert (noticed.reason is OmissionReason.NOT_RECORDED) is (rest != " (capped")


@pytest.mark.parametrize("kind", [CANARY, "label", "drained (capped)", "left outside (capped)", "", "(capped)"])
def test_other_notes_are_no_omission(kind: str) -> None:
    noticed = make_noticed(kind, "words", 1.0)
    assert noticed == Noticed(f"{kind}: words", 1.0, kind)
    assert not noticed.left_out


@pytest.mark.parametrize(
    ("because", "is_stop"), [("stopped at its time limit, 1 of 2 rounds left", True), ("stopped", False), ("", False)]
)
def test_only_a_time_limit_is_one(because: str, is_stop: bool) -> None:
    assert is_time_stop(because) is is_stop
