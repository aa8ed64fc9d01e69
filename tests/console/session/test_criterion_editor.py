"""Criteria that are edited: what is wrong is said, the file stays the operator's, and the session is judged again."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from benchconsole.console.cli.common import load_installed_probes
from benchconsole.console.session.controller import SessionController
from benchconsole.console.session.criterion_editor import CriterionEditError, CriterionForm, CriterionProposal
from benchconsole.console.session.followed_session import FollowedSessionError
from benchconsole.console.session.loop_thread import LoopThread
from benchconsole.console.session.replay_clock import ReplayClock
from benchconsole.console.session.replayed_session import open_replayed
from benchconsole.console.session.session import Session
from benchconsole.console.text.atomic_write import FileError
from benchconsole.console.view.events import Event, SessionOpened
from benchconsole.console.view.run_view import State
from benchconsole.store.errors import StoreError
from benchconsole.store.store import Store
from benchconsole.topology.description.resolve import load
from benchconsole.topology.model.fabric import Criterion, NodeId
from tests import plain_sqlite
from tests.console.session.test_controller import Watched
from tests.scenarios.test_judging_trials import FABRIC, WEAK, Site, iperf3, stream


def levels(site: Site) -> dict[str, str]:
    """The level of the one number by the clause that asks for it."""
    return {each["source"]: each["level"] for each in site.verdicts()}


TYPED = {"metric": "stream.triad", "at_least": "65 GB/s", "source": "4.1.2"}


def is_told_anew(events: list[Event]) -> bool:
    return any(isinstance(event, SessionOpened) and event.anew for event in events)


class Opened:
    """A stored session as the screen holds it."""

    def __init__(self, control: SessionController, session: Session, latest: Watched) -> None:
        self.control = control
        self.session = session
        self.latest = latest

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        assert self.latest.view is not None
        return self.latest.view.fabric.criteria

    async def form(self, place: int | None = None) -> CriterionForm:
        return await self.control.criteria.begin(None if place is None else self.criteria[place])

    async def propose(
        self, typed: Mapping[str, str], path: Path | None = None, place: int | None = None
    ) -> CriterionProposal:
        form = await self.form(place)
        return await self.control.criteria.propose(form, {**form.values, **typed}, str(path or form.path))

    async def write(self, proposal: CriterionProposal) -> str:
        """Write it, and wait until the screen has what was judged."""
        said = await self.control.criteria.write(proposal)
        await self.latest.until(is_told_anew)
        return said


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """50 GB/s measured on one node, of which 40 are asked."""
    site = Site(tmp_path, [WEAK])
    site.ingest("stream", stream(50.0), "--node", "n1")
    return site


@asynccontextmanager
async def opened(site: Site) -> AsyncIterator[Opened]:
    with Store.open(site.folder / "s.db", create=False) as store:
        session = Session.stored(store, "last", load_installed_probes())
        control, latest = SessionController(session, LoopThread(), operator="ann"), Watched()
        following = asyncio.create_task(control.follow(latest.take))
        try:
            await latest.until(bool)
            yield Opened(control, session, latest)
        finally:
            following.cancel()
            await control.close()


async def test_a_criterion_is_added_to_the_file_and_the_session_is_judged_with_it(site: Site) -> None:
    before = site.topology.read_text()
    async with opened(site) as it:
        proposal = await it.propose(TYPED)
        assert site.topology.read_text() == before
        assert proposal.notes == ()
        assert [line for line in proposal.diff if line[0] in "+-"] == [
            f"--- {site.topology}", f"+++ {site.topology}",
            '+  - {metric: stream.triad, at_least: 65 GB/s, source: "4.1.2"}',
        ]  # fmt: skip
        said = await it.write(proposal)
        assert "judged again: Below its threshold" in said
        view = it.latest.view
        assert view is not None
        assert [(each.required, each.source) for each in view.fabric.criteria] == [(40e9, "4.1.1"), (65e9, "4.1.2")]
        assert view.nodes[NodeId("n1")].state is State.FAIL
        assert [line.text for line in view.log if "judged again" in line.text] == [
            "criteria: judged again by ann with the criteria of site.yaml, which are not those of the file of the session"
        ]
        assert len([line for line in view.log if line.text.startswith("round 1 closed")]) == 1
    assert site.topology.read_text() == f'{before}  - {{metric: stream.triad, at_least: 65 GB/s, source: "4.1.2"}}\n'
    assert levels(site) == {"4.1.1": "pass", "4.1.2": "fail"}


async def test_a_run_after_the_judgement_still_tells_the_screen_its_intervals(site: Site) -> None:
    async with opened(site) as it:
        await it.write(await it.propose(TYPED))
        assert it.control._require_driven() is not it.session
        assert it.control._require_driven().is_watched


async def test_the_judgement_before_stays_in_the_database(site: Site) -> None:
    async with opened(site) as it:
        await it.control.criteria.write(await it.propose(TYPED))
    with closing(plain_sqlite.connect(site.folder / "s.db")) as connection:
        (judgements,) = connection.execute("SELECT count(DISTINCT judged_by) FROM judging").fetchone()
    assert judgements == 2
    await asyncio.to_thread(site.call, "judge", "last")
    assert levels(site) == {"4.1.1": "pass"}


async def test_the_second_edit_stands_on_the_first(site: Site) -> None:
    async with opened(site) as it:
        await it.write(await it.propose(TYPED))
        proposal = await it.propose({"at_least": "45 GB/s"}, place=1)
        assert proposal.notes == ()
        await it.control.criteria.write(proposal)
    assert 'at_least: 45 GB/s, source: "4.1.2"' in site.topology.read_text()
    assert levels(site) == {"4.1.1": "pass", "4.1.2": "pass"}


async def test_what_is_typed_is_checked_as_a_file_is(site: Site) -> None:
    async with opened(site) as it:
        for typed, said in (
            ({"metric": "stream.triat", "at_least": "1 GB/s"}, "unknown metric 'stream.triat'"),
            ({"metric": "stream.triad"}, "no bound, expected one of at_least and at_most"),
            ({"metric": "stream.triad", "at_least": "65"}, "65, expected a rate"),
            ({"metric": "stream.triad", "at_least": "65 Gb/s"}, "a rate in bits"),
            ({"metric": "stream.triad", "at_most": "65 GB/s"}, "at_least: more of it is better"),
            ({"metric": "stream.triad", "at_least": "65 GB/s", "nodes": "m1"}, "m1"),
            (
                {"metric": "stream.triad", "at_least": "65 GB/s", "where": "a: {b"},
                "where: 'a: {b', expected labels such as threads: 8",
            ),
            ({"metric": "stream.triad", "at_least": "65 GB/s", "where": "colour: red"}, "unknown label 'colour'"),
            ({"at_least": "65 GB/s"}, "metric: nothing"),
        ):
            with pytest.raises(CriterionEditError) as caught:
                await it.propose(typed)
            assert any(said in reason for reason in caught.value.reasons), caught.value.reasons
        with pytest.raises(CriterionEditError, match=r"Nothing is changed\."):
            await it.propose({}, place=0)


async def test_a_file_that_asks_otherwise_by_now_says_what_else_will_count(site: Site) -> None:
    more = "{metric: stream.copy, at_least: 10 GB/s}"
    site.topology.write_text(site.topology.read_text().replace("10 Gb/s", "25 Gb/s") + f"  - {more}\n")
    async with opened(site) as it:
        proposal = await it.propose(TYPED)
    assert "describes something else than the session was begun with" in proposal.notes[0]
    assert "differs in more from what judges the session now" in proposal.notes[1]
    assert proposal.notes[2] == "stream.copy: at least 10.0 GB/s, of which the file asks nothing"


async def test_a_criterion_that_the_file_does_not_hold_any_more_is_offered_in_another_file(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = site.folder / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    site.topology.write_text(site.topology.read_text().replace("40 GB/s", "41 GB/s"))
    async with opened(site) as it:
        form = await it.form(0)
        assert form.path == "site.yaml"
        assert "does not hold this criterion as it judges the session now" in form.note
        assert form.values["at_least"] == "40 GB/s"


async def test_a_session_without_its_file_is_offered_a_new_one(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    text = site.topology.read_text()
    site.topology.unlink()
    folder = site.folder / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "site.yaml").write_text("mine")
    async with opened(site) as it:
        form = await it.form()
        assert form.path == "site-2.yaml"
        assert "is not there" in form.note
        proposal = await it.propose(TYPED)
        assert proposal.before is None
        assert "is new" in proposal.notes[0]
        assert proposal.diff[0] == "--- /dev/null"
        await it.control.criteria.write(proposal)
    written = (folder / "site-2.yaml").read_text()
    assert written.startswith(text)
    assert len(load(folder / "site-2.yaml").criteria) == 2
    assert (folder / "site.yaml").read_text() == "mine"


async def test_a_new_file_that_appears_meanwhile_is_not_written_over(site: Site) -> None:
    path = site.folder / "new.yaml"
    async with opened(site) as it:
        proposal = await it.propose(TYPED, path)
        path.write_text("theirs")
        with pytest.raises(FileError, match="it is there already"):
            await it.control.criteria.write(proposal)
    assert path.read_text() == "theirs"
    assert levels(site) == {"4.1.1": "pass"}


async def test_a_file_that_is_saved_between_diff_and_consent_is_left_and_nothing_is_judged(site: Site) -> None:
    async with opened(site) as it:
        proposal = await it.propose(TYPED)
        site.topology.write_text("theirs")
        with pytest.raises(FileError, match="it was changed meanwhile"):
            await it.control.criteria.write(proposal)
        assert len(it.criteria) == 1
    assert site.topology.read_text() == "theirs"
    with Store.open(site.folder / "s.db", create=False) as store:
        assert [note.kind for note in store.session(store.find_session("last")).read_notes()].count("criteria") == 0


async def test_where_the_judgement_is_not_stored_the_error_says_so_and_the_session_stays(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchconsole.store.session_store import SessionStore

    async def refuse(*_: object, **__: object) -> None:
        raise StoreError("the database", "disk full")

    async with opened(site) as it:
        proposal = await it.propose(TYPED)
        monkeypatch.setattr(SessionStore, "append_verdicts", refuse)
        with pytest.raises(StoreError):
            await it.control.criteria.write(proposal)
        assert len(it.criteria) == 1
    assert levels(site) == {"4.1.1": "pass"}


async def test_marks_of_order_and_line_ends_of_a_file_stay(site: Site) -> None:
    content = b"\xef\xbb\xbf" + site.topology.read_bytes().replace(b"\n", b"\r\n")
    site.topology.write_bytes(content)
    async with opened(site) as it:
        await it.control.criteria.write(await it.propose(TYPED))
    written = site.topology.read_bytes()
    assert written.startswith(content)
    assert written.count(b"\n") == written.count(b"\r\n")


async def test_nothing_is_taken_while_a_run_goes_on(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(site) as it:
        proposal = await it.propose(TYPED)
        monkeypatch.setattr(Session, "running", True)
        for asked in (it.form(), it.control.criteria.write(proposal)):
            with pytest.raises(CriterionEditError, match="it has to end first"):
                await asked
        monkeypatch.undo()
        with Store.open(site.folder / "s.db", create=False) as other:
            await other.session(other.find_session("last")).claim()
            for asked in (it.form(), it.control.criteria.write(proposal)):
                with pytest.raises(CriterionEditError, match="Another console runs this session"):
                    await asked
    assert "4.1.2" not in site.topology.read_text()


async def test_a_session_that_is_played_again_takes_none(site: Site) -> None:
    with Store.open(site.folder / "s.db", create=False) as store:
        played = open_replayed(store, "last", load_installed_probes(), ReplayClock(60))
        assert played is not None
        control = SessionController(played, LoopThread())
        with pytest.raises(FollowedSessionError):
            await control.criteria.begin()
        await control.close()


async def test_before_anything_has_run_the_file_that_was_opened_is_edited(site: Site) -> None:
    probes = load_installed_probes()
    site.topology.write_text(FABRIC)
    with Store.open(site.folder / "none.db") as store:
        session = Session(load(site.topology), probes, store)
        control, latest = SessionController(session, LoopThread()), Watched()
        following = asyncio.create_task(control.follow(latest.take))
        await latest.until(bool)
        form = await control.criteria.begin()
        proposal = await control.criteria.propose(form, TYPED, form.path)
        await control.criteria.write(proposal)
        await latest.until(is_told_anew)
        assert latest.view is not None
        assert len(latest.view.fabric.criteria) == 1
        assert latest.view.fabric.text == site.topology.read_text()
        site.topology.write_text(FABRIC)
        with pytest.raises(CriterionEditError, match="was changed since it was opened"):
            await control.criteria.propose(form, {**TYPED, "source": "9"}, form.path)
        following.cancel()
        await control.close()


async def test_a_share_is_known_again_in_a_file_that_was_read_without_its_metrics(tmp_path: Path) -> None:
    site = Site(tmp_path, ["metric: iperf3.throughput, at_least: 50 %, of: capacity, source: 1.1.1"])
    await asyncio.to_thread(site.ingest, "iperf3", iperf3(9.0), "--node", "n1", "--peer", "n2")
    async with opened(site) as it:
        form = await it.form(0)
        assert (form.values["at_least"], form.values["of"], form.note) == ("50 %", "capacity", "")
        proposal = await it.propose({"at_least": "60 %"}, place=0)
        assert proposal.notes == ()
        assert proposal.fabric.criteria[0].required == pytest.approx(0.6)


async def test_what_is_not_asked_for_stays_in_a_criterion_that_is_changed(tmp_path: Path) -> None:
    written = "metric: stream.triad, at_least: 40 GB/s, round: 1 GB/s, author: Bo, date: 2026-01-02"
    site = Site(tmp_path, [written])
    await asyncio.to_thread(site.ingest, "stream", stream(50.0), "--node", "n1")
    async with opened(site) as it:
        with pytest.raises(CriterionEditError, match="no bound"):
            await it.propose({"at_least": ""}, place=0)
        await it.control.criteria.write(await it.propose({"target": "60 GB/s"}, place=0))
    assert f"{{{written}, target: 60 GB/s}}" in site.topology.read_text()


async def test_a_criterion_that_no_file_holds_is_to_be_added_anew(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site.folder)
    before = site.topology.read_text()
    async with opened(site) as it:
        await it.write(await it.propose(TYPED))
        site.topology.write_text(before)
        with pytest.raises(CriterionEditError) as caught:
            await it.form(1)
    assert [reason.partition(" does not hold")[0] for reason in caught.value.reasons] == [
        "site.yaml", "The description that the session was begun with",
    ]  # fmt: skip


async def test_a_file_in_the_working_folder_is_named_from_there_and_written(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(site) as it:
        assert (await it.form()).path == str(site.topology)
    monkeypatch.chdir(site.topology.parent)
    async with opened(site) as it:
        form = await it.form()
        assert form.path == "site.yaml"
        proposal = await it.propose(TYPED)
        assert proposal.diff[0] == "--- site.yaml"
        assert (await it.control.criteria.write(proposal)).startswith("written: site.yaml;")
    (other := site.folder / "other").mkdir()
    monkeypatch.chdir(other)
    async with opened(site) as it:
        assert (await it.form()).path == str(site.topology)
