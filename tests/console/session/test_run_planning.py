"""A plan with options: what was chosen is in the plan, in words, in the command line, and in the store when it is run."""

import asyncio
from pathlib import Path

import pytest

from benchconsole.console.session.controller import SessionController
from benchconsole.console.session.metadata import SessionChoice
from benchconsole.console.session.safety import InUseError, SafetyPolicy
from benchconsole.console.session.session import Session
from benchconsole.console.tui.queries.run_safety import goes_in_waves
from benchconsole.console.view.events import CANARY_STILL, SPARED, SPARED_NONE, name_omission
from benchconsole.console.view.session_control import Proposal
from benchconsole.probes.model.errors import PlanError, ProbeOutputError
from benchconsole.probes.model.omission import Omission, OmissionReason
from benchconsole.store.store import Store
from benchconsole.topology.model.fabric import NodeId
from tests.console.session.test_controller import SUITE, Watched, conducted
from tests.console.session.test_run_limits import Kept

PRODUCTION = SUITE.replace("st[1-2]: {role: storage}", "st[1-2]: {role: storage, production: true}")


async def run(control: SessionController, proposal: Proposal) -> Watched:
    """Run what was proposed to its end."""
    latest = Watched()
    following = asyncio.create_task(control.follow(latest.take))
    await control.start(proposal.rounds)
    await latest.ended()
    following.cancel()
    return latest


def stages(proposal: Proposal) -> list[str]:
    return list(dict.fromkeys(each.stage for each in proposal.rounds))


def list_nodes(proposal: Proposal) -> set[str]:
    return {node.id for each in proposal.rounds for test in each.tests for node in test.target.nodes}


async def test_what_was_chosen_is_planned_run_and_recorded(tmp_path: Path) -> None:
    control, session = conducted(tmp_path)
    options = {"nodes": "n[1-4]", "exclude": "", "only": "inventory", "label": "after", "careful": "yes"}
    proposal = await control.propose("default", options={**options, "cohort": "phase=b"})
    assert stages(proposal) == ["inventory"]
    assert list_nodes(proposal) == {"n1", "n2", "n3", "n4"}
    assert [len(each.tests) for each in proposal.rounds] == [1, 2, 1]
    assert proposal.chosen == ("nodes n[1-4]", "only inventory", "label after", "cohort phase=b", "careful")
    assert proposal.command.startswith("benchconsole run")
    assert (
        "--suite default --nodes 'n[1-4]' --only inventory --label after --cohort phase=b --careful" in proposal.command
    )
    latest = await run(control, proposal)
    assert latest.view is not None
    assert latest.view.label == "after"
    assert goes_in_waves(latest.view)
    assert not session.has_begun or session.choice.only == ""
    with Store.open(tmp_path / "sessions.db", create=False) as store:
        new = store.session(store.find_session("after")).describe().new
    assert (new.selection, new.suite) == ("n[1-4]", "default")
    assert new.options == {"careful": 1, "cohort phase": "b", "only": "inventory"}
    await control.close()


async def test_a_session_that_has_begun_notes_what_later_plans_chose(tmp_path: Path) -> None:
    control, session = conducted(tmp_path)
    await run(control, await control.propose("default", options={"only": "inventory", "label": "one"}))
    form = control.planning.make_form("default", None, None, is_suite=True)
    assert "label" not in form.meanings
    assert "begun" in form.note
    proposal = await control.propose("default", options={"without": "inventory", "nodes": "n[1-2]", "careful": "yes"})
    assert stages(proposal) == ["iperf3 neighbours"]
    await run(control, proposal)
    assert session.choice.label == "one"
    notes = [(note.kind, note.text) for note in session.store.session(session.id).read_notes()]
    assert ("careful", "1") in notes
    assert ("without", "inventory") in notes
    assert session.store.session(session.id).describe().new.options == {"only": "inventory"}
    assert any(kind == CANARY_STILL for kind, _ in notes)
    assert goes_in_waves(session.view())
    await control.close()


async def test_options_that_were_left_leave_the_session_as_it_was(tmp_path: Path) -> None:
    control, session = conducted(tmp_path)
    await control.propose("default", options={"label": "left", "careful": "yes", "only": "inventory"})
    proposal = await control.propose("default")
    assert proposal.chosen == ()
    await run(control, proposal)
    new = session.store.session(session.id).describe().new
    assert (new.label, new.options, new.selection) == ("", {}, "")
    await control.close()


async def test_one_test_is_a_session_of_its_own(tmp_path: Path) -> None:
    control, session = conducted(tmp_path)
    proposal = await control.propose(None, test="iperf3 n1 n5", options={"label": "pair"})
    assert [test.target.key for each in proposal.rounds for test in each.tests] == ["n1>n5"]
    assert "--test 'iperf3 n1 n5' --label pair" in proposal.command
    await run(control, proposal)
    new = session.store.session(session.id).describe().new
    assert (new.suite, new.options) == ("single test", {"test": "iperf3 n1 n5"})
    assert [
        test.target.key for each in session.store.session(session.id).read_plan(session.fabric) for test in each.tests
    ] == ["n1>n5"]
    again = await control.propose("default")
    assert len(again.rounds) > 1
    await control.close()


async def test_what_is_owed_is_gone_on_with_by_resume(tmp_path: Path) -> None:
    control, session = conducted(tmp_path)
    proposal = await control.propose("default")
    await run(control, Proposal(proposal.rounds[:1]))
    session.plan = proposal.rounds
    session.complete = False
    owed = await control.propose(None)
    assert {each.number for each in owed.rounds} == {each.number for each in proposal.rounds[1:]}
    assert f"--resume {session.id}" in owed.command
    careful = await control.propose(None, options={"careful": "yes", "nodes": "n1"})
    assert careful.chosen == ("careful",)
    assert careful.command.endswith("--careful --db " + str(tmp_path / "sessions.db"))
    await control.close()


async def test_nodes_of_others_are_spared_named_and_recorded(tmp_path: Path) -> None:
    choice = SessionChoice(policy=SafetyPolicy(sparing=True))
    control, session = conducted(tmp_path, choice=choice, text=PRODUCTION)
    proposal = await control.propose("default")
    assert "st[1-2]: tagged production in the topology file; not loaded" in proposal.notes.held_back
    assert "--exclude 'st[1-2]'" in proposal.command
    assert any("still asked what only reads" in words for words in proposal.chosen)
    latest = await run(control, proposal)
    assert latest.view is not None
    words = "st[1-2]: tagged production in the topology file; not loaded"
    assert latest.view.spared == (Omission(words, OmissionReason.PRODUCTION),)
    notes = session.store.session(session.id).read_notes()
    assert [note.kind for note in notes] == [name_omission(SPARED, OmissionReason.PRODUCTION)]
    assert session.view().spared == latest.view.spared
    released = await control.propose("default", options={"i-mean-production": "st[1-2]"})
    assert released.notes.held_back == ()
    assert "--exclude" not in released.command
    await control.close()


async def test_who_is_spared_and_what_goes_in_waves_is_said_of_the_newest_plan(tmp_path: Path) -> None:
    choice = SessionChoice(policy=SafetyPolicy(sparing=True))
    control, session = conducted(tmp_path, choice=choice, text=PRODUCTION)
    await run(control, await control.propose("default"))
    spared = session.view().spared
    assert spared
    assert not goes_in_waves(session.view())
    await run(control, await control.propose(None, only=(session.plan[0].tests[0].id,)))
    assert session.view().spared == spared  # a repeat says nothing of who is left alone
    begun = len(session.plan)
    await run(control, await control.propose("default", options={"i-mean-production": "st[1-2]"}))
    view = session.view()
    assert view.spared == ()
    assert goes_in_waves(view)
    assert view.waves == (range(begun + 1, len(view.plan) + 1),)
    assert view.canary is not None
    await run(control, await control.propose("default", options={"i-mean-production": ""}))
    view = session.view()
    assert view.spared == spared
    assert not goes_in_waves(view)
    assert view.canary is None
    notes = session.store.session(session.id).read_notes()
    words = [each.words for each in spared]
    assert [note.text for note in notes if note.kind.startswith(SPARED)] == [*words, SPARED_NONE, *words]
    await control.close()


async def test_what_is_owed_on_a_node_that_somebody_took_meanwhile_is_told_and_refused(tmp_path: Path) -> None:
    taken: dict[str, str] = {}
    choice = SessionChoice(policy=SafetyPolicy(sparing=True, occupied=taken))
    control, session = conducted(tmp_path, choice=choice, text=PRODUCTION)
    proposal = await control.propose("default")
    await run(control, Proposal(proposal.rounds[:1]))
    session.plan, session.complete = proposal.rounds, False
    taken["n1"] = "a job of bob"
    assert (await control.propose("default")).notes.held_back
    owed = await control.propose(None)
    assert any("n1" in words and "a job of bob" in words for words in owed.notes.held_back)
    assert not any("not loaded" in words for words in owed.notes.held_back)
    assert "--exclude" not in owed.command
    with pytest.raises(InUseError):
        await control.start(owed.rounds)
    await control.close()


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"nodes": "n99"}, "n99"),
        ({"only": "fio"}, "unknown stage of suite 'default' 'fio'"),
        ({"i-mean-production": "n1"}, "not tagged production"),
        ({"confirm": "soon"}, "--confirm soon, expected minutes"),
        ({"cap": "fast"}, "--cap fast: found 'fast'"),
        ({"until": "soon"}, "--until soon, expected a time of the clock"),
    ],
)
async def test_what_is_wrong_is_said_by_the_form_and_refused_by_the_plan(
    tmp_path: Path, typed: dict[str, str], words: str
) -> None:
    control, _ = conducted(tmp_path)
    form = control.planning.make_form("default", [NodeId("n1")], None, is_suite=True)
    assert form.values == {"nodes": "n1"}
    assert form.choices["only"] == ("inventory", "iperf3 neighbours", "iperf3 trunks")
    assert form.list_mistakes({**dict.fromkeys(form.meanings, ""), "nodes": "n[1-2]"}) == ()
    (mistake,) = form.list_mistakes({**dict.fromkeys(form.meanings, ""), **typed})
    assert words in mistake
    assert not mistake.startswith("benchconsole")
    with pytest.raises(PlanError, match=words):
        await control.propose("default", options=typed)
    await control.close()


@pytest.mark.parametrize(
    ("text", "here", "first"),
    [
        ("ip", None, "iperf3"),
        ("iperf3 ", None, "iperf3 n1"),
        ("iperf3 ", "n5", "iperf3 n5"),
        ("iperf3 n5 ", "n5", "iperf3 n5 n1"),
        ("iperf3 n5 st", None, "iperf3 n5 st1"),
        ("nothing n", None, ""),
    ],
)
async def test_a_test_is_completed_word_by_word(tmp_path: Path, text: str, here: str | None, first: str) -> None:
    control, _ = conducted(tmp_path)
    found = control.planning.complete_test(text, None if here is None else NodeId(here))
    assert (found[0] if found else "") == first
    assert len(set(found)) == len(found)
    await control.close()


def test_who_plans_anew_judges_as_before(tmp_path: Path) -> None:
    _, session = conducted(tmp_path)
    assert isinstance(session, Session)
    assert session.meant is session.choice


async def test_limits_are_planned_said_and_recorded_and_time_is_of_one_run(tmp_path: Path) -> None:
    control, session = conducted(tmp_path, probes={"iperf3": Kept()})
    options = {"cap": "50 %", "tests-at-once": "3", "within": "30 s"}
    proposal = await control.propose("default", options=options)
    assert proposal.chosen == ("cap 50%", "tests-at-once 3", "within 30 s")
    assert "--cap 50% --tests-at-once 3 --within '30 s'" in proposal.command
    assert max(len(each.tests) for each in proposal.rounds) == 3
    assert all(
        test.target.options["bitrate"] for each in proposal.rounds for test in each.tests if each.probe != "inventory"
    )
    (words,) = proposal.notes.limits
    assert words.startswith("round 7, ")
    assert " is the last that fits in 30.0 s; " in words
    latest = await run(control, proposal)
    assert latest.view is not None
    assert latest.view.fabric.caps.link == 0.5
    stored = session.store.session(session.id)
    assert stored.describe().new.options == {"cap.link": 0.5, "tests.at_once": 3}
    assert [note.text for note in stored.read_notes() if note.kind == "time limit"] == [
        "within 30 s: no round begins that is not expected to be over by then"
    ]
    form = control.planning.make_form("default", None, None, is_suite=True)
    assert {"cap", "tests-at-once"}.isdisjoint(form.meanings)
    assert {"within", "until"} <= form.meanings.keys()
    assert "within" not in form.values
    again = await control.propose("default", options={"until": "06:00"})
    assert again.chosen == ("cap 50%", "tests-at-once 3", "until 06:00")
    assert max(len(each.tests) for each in again.rounds) == 3
    await control.close()


async def test_what_is_owed_may_be_given_another_time_limit(tmp_path: Path) -> None:
    control, session = conducted(tmp_path)
    proposal = await control.propose("default", options={"within": "1 h"})
    assert proposal.notes.limits[0].startswith("the whole plan fits in 1:00:00")
    await run(control, Proposal(proposal.rounds[:1]))
    session.plan = proposal.rounds
    session.complete = False
    owed = await control.propose(None)
    assert (owed.chosen, owed.notes.limits) == ((), ())
    limited = await control.propose(None, options={"within": "16 s"})
    assert limited.chosen == ("within 16 s",)
    assert limited.notes.limits[0].startswith("no round fits in 16.0 s")
    assert f"--resume {session.id} --within '16 s'" in limited.command
    await control.close()


async def test_a_plan_asks_who_uses_the_nodes_now(tmp_path: Path) -> None:
    jobs: dict[str, str] = {}

    async def ask() -> dict[str, str]:
        return dict(jobs)

    control, session = conducted(tmp_path)
    session.choice.policy = SafetyPolicy(sparing=True, ask=ask)
    loaded = {"without": "inventory"}
    assert list_nodes(await control.propose("default", options=loaded)) >= {"n1", "n2"}
    jobs["n2"] = "job 7 of kim runs there"
    proposal = await control.propose("default", options=loaded)
    assert "n2" not in list_nodes(proposal)
    assert any("job 7 of kim" in each for each in proposal.notes.held_back)
    jobs.clear()
    assert "n2" in list_nodes(await control.propose("default", options=loaded))
    await control.close()


async def test_nothing_is_planned_where_nobody_can_say_who_uses_the_nodes(tmp_path: Path) -> None:
    async def ask() -> dict[str, str]:
        raise ProbeOutputError("squeue: no answer", "squeue to answer")

    control, session = conducted(tmp_path)
    session.choice.policy = SafetyPolicy(sparing=True, ask=ask)
    with pytest.raises(PlanError, match=r"nobody can say which nodes are in use: .*squeue: no answer"):
        await control.propose("default")
    await control.close()


async def test_a_stored_session_keeps_to_its_nodes_and_stays_careful(tmp_path: Path) -> None:
    control, session = conducted(tmp_path)
    await run(control, await control.propose("default", options={"nodes": "n[1-4]", "careful": "yes"}))
    stored = Session.stored(session.store, session.id, session.probes)
    assert stored.choice.nodes == ("n1", "n2", "n3", "n4")
    assert stored.choice.policy.careful
    assert {node.id for each in stored.propose("default") for test in each.tests for node in test.target.nodes} <= {
        "n1", "n2", "n3", "n4",
    }  # fmt: skip
    await control.close()


async def test_repeats_go_in_waves_where_others_may_be_harmed(tmp_path: Path) -> None:
    control, session = conducted(tmp_path)
    await run(control, await control.propose("default", options={"only": "inventory"}))
    ids = [test.id for each in session.plan for test in each.tests]
    assert len(ids) >= 4
    assert [len(each.tests) for each in session.propose(only=ids)] == [len(ids)]
    session.choice.policy = SafetyPolicy(careful=True)
    widths = [len(each.tests) for each in session.propose(only=ids)]
    assert widths[:2] == [1, 2]
    assert sum(widths) == len(ids)
    assert session.proposed.in_waves
    await control.close()
