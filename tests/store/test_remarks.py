"""Remarks and baselines in the store: rows are only added, each is numbered, and what rests on them becomes void."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from benchconsole.probes.model.remark import About, Remark, RemarkKind, list_standing
from benchconsole.store.errors import ConflictError, RefusedError
from benchconsole.store.reading.remark_reading import read_all_remarks, read_remarks
from benchconsole.store.reading.report_reading import read_kept_report, read_report_basis
from benchconsole.store.session_summary import StoredVerdict
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from tests.store.played import FABRIC, new

SAID = Remark(RemarkKind.TUNING, About.NODE, "n1", "txqueuelen 10000\n\nset by hand", "ann", 900.0, 1000.0)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    with Store.open(tmp_path / "s.db") as opened:
        yield opened


async def test_remarks_come_back_as_they_were_with_a_number_of_their_session(store: Store) -> None:
    one, other = [store.session(await store.create_session(new(label), ())) for label in ("one", "other")]
    assert [await store.append_remark(each.id, SAID) for each in (one, one, other)] == [1, 2, 1]
    assert read_remarks(one) == (replace(SAID, number=1), replace(SAID, number=2))
    assert read_remarks(other) == (replace(SAID, number=1),)


async def test_the_remarks_of_all_sessions_are_those_of_each(store: Store) -> None:
    one, other, silent = [store.session(await store.create_session(new(), ())) for _ in range(3)]
    for each in (other, one, other):
        await store.append_remark(each.id, SAID)
    found = read_all_remarks(store.database)
    assert found == {each.id: read_remarks(each) for each in (one, other)}
    assert read_remarks(silent) == ()


async def test_a_withdrawn_remark_stays_and_stands_no_more(store: Store) -> None:
    session = store.session(await store.create_session(new(), ()))
    await store.append_remark(session.id, SAID)
    await store.append_remark(session.id, replace(SAID, at=100.0))
    gone = Remark(RemarkKind.WITHDRAWAL, About.SESSION, "", "a slip", "bob", 1100.0, 1100.0, withdraws=1)
    await store.append_remark(session.id, gone)
    assert len(read_remarks(session)) == 3
    assert [each.number for each in list_standing(read_remarks(session))] == [2]


async def test_a_withdrawal_of_what_is_not_there_is_refused(store: Store) -> None:
    session = store.session(await store.create_session(new(), ()))
    with pytest.raises(ConflictError, match="no remark 4"):
        await store.append_remark(session.id, replace(SAID, withdraws=4))
    with pytest.raises(RefusedError):
        await store.append_remark(session.id, replace(SAID, at=float("nan")))
    assert read_remarks(session) == ()


ACCEPTED = Remark(RemarkKind.ACCEPTED, About.FINDING, "nic n1 (n1, iperf3, fail)", "known", "ann", 900.0, 1000.0)


async def test_of_two_consoles_that_accept_one_finding_one_is_told_that_it_was_late(store: Store) -> None:
    session = store.session(await store.create_session(new(), ()))
    theirs = replace(ACCEPTED, by="bob")
    with Store.open(store.path) as other:
        told = await asyncio.gather(
            store.append_remark(session.id, ACCEPTED), other.append_remark(session.id, theirs), return_exceptions=True
        )
    (kept,) = read_remarks(session)
    assert told.count(1) == 1
    (late,) = (each for each in told if isinstance(each, ConflictError))
    assert (late.found, late.do) == (f"the finding is accepted already, by {kept.by}", "withdraw remark 1 first")


async def test_what_was_withdrawn_is_accepted_anew_and_withdrawn_once(store: Store) -> None:
    session = store.session(await store.create_session(new(), ()))
    gone = Remark(RemarkKind.WITHDRAWAL, About.SESSION, "", "a slip", "bob", 1100.0, 1100.0, withdraws=1)
    halves = replace(ACCEPTED, subject="nic \ud800")
    assert [await store.append_remark(session.id, each) for each in (ACCEPTED, halves)] == [1, 2]
    with pytest.raises(ConflictError, match="accepted already"):
        await store.append_remark(session.id, halves)
    await store.append_remark(session.id, gone)
    for each in (gone, replace(gone, withdraws=3), replace(gone, withdraws=-1)):
        with pytest.raises(ConflictError, match="that stands"):
            await store.append_remark(session.id, each)
    assert await store.append_remark(session.id, ACCEPTED) == 4


async def test_a_report_that_was_kept_is_void_after_a_remark(store: Store) -> None:
    key = await store.create_session(new(), ())
    await store.keep_report(key, "text", read_report_basis(store.session(key)), "as it was")
    assert read_kept_report(store.session(key), "text") == "as it was"
    await store.append_remark(key, SAID)
    assert read_kept_report(store.session(key), "text") is None


async def test_the_newest_baseline_of_a_machine_counts(store: Store) -> None:
    one, other = [await store.create_session(new(label), ()) for label in ("one", "other")]
    strange = await store.create_session(replace(new("strange"), fabric="another"), ())
    assert store.find_baseline(FABRIC.name) is None
    for key in (one, other, strange):
        await store.name_baseline(key, "ann", 5.0)
    found = store.find_baseline(FABRIC.name)
    assert found is not None
    assert (found.session, found.by, found.at) == (other, "ann", 5.0)
    assert {each.id for each in store.list_sessions() if each.is_baseline} == {other, strange}
    await store.drop_baseline(FABRIC.name, "bob", 6.0)
    assert store.find_baseline(FABRIC.name) is None
    assert {each.id for each in store.list_sessions() if each.is_baseline} == {strange}


@pytest.mark.parametrize(("text", "stays"), [("schema: 1\n", True), ("criteria: [{of: baseline}]\n", False)])
async def test_a_baseline_voids_the_verdicts_that_may_rest_on_it(store: Store, text: str, stays: bool) -> None:
    key = await store.create_session(replace(new(), topology=text), ())
    await store.append_verdict(key, StoredVerdict(1, "passed", "All passed.", ()))
    await store.name_baseline(key, "ann", 5.0)
    (listed,) = store.list_sessions()
    assert (listed.verdict is not None) is stays
