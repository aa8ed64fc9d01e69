"""How a session was run, and what was left: in the formats for people."""

import pytest

from benchconsole.console.reports import ReportOptions, conduct
from benchconsole.console.reports.content import SessionDetails
from benchconsole.console.view.run_view import State
from benchconsole.probes.model.measuring import Proof
from benchconsole.store.model import SessionNote
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from tests.console.reports import fixture
from tests.console.reports.hard import TOLD
from tests.console.reports.test_every_format import text_of

PEOPLE = ["html", "md", "text"]
CLEAN = tuple(Proof(NodeId(f"n{number}"), asked=True) for number in range(1, 4))


def flat(text: str) -> str:
    """Text without what a format puts between its words."""
    return " ".join(text.replace("|", " ").split())


@pytest.mark.parametrize("kind", PEOPLE)
def test_overrides_stopped_rounds_and_gaps_of_the_plan_are_printed(kind: str) -> None:
    found = flat(text_of(kind, fixture.hard(), ReportOptions(details=TOLD)))
    for words in (
        "--allow-untested was given",
        "alice means production nodes st1",
        "round 4 (chassis): canary n01",
        "no test reaches m1 over sp2",
        "the database was full for 12 s",
    ):
        assert words in found, words
    plain = flat(text_of(kind, fixture.all_passed()))
    assert "onduct" not in plain
    assert "allow-untested" not in plain


@pytest.mark.parametrize("kind", PEOPLE)
def test_what_is_left_is_named_beside_what_was_proven(kind: str) -> None:
    found = flat(text_of(kind, fixture.hard()))
    assert (
        "Nothing of ours is left on 12 of 14 nodes; 1 could not be searched, on 1 something of ours is left." in found
    )
    assert "2 leftovers had to be ended or removed on 1 node" in found
    assert "process 4711 (iperf3 -s" in found
    assert "no answer on port 22" in found


@pytest.mark.parametrize("kind", PEOPLE)
def test_a_session_whose_nodes_were_not_searched_says_so(kind: str) -> None:
    assert conduct.NOT_SEARCHED in flat(text_of(kind, fixture.all_passed()))
    running = replace(fixture.all_passed(), ended=None)
    assert "earched" not in text_of(kind, running)


@pytest.mark.parametrize(
    ("proofs", "said"),
    [
        ((), "The nodes were not searched for anything of ours."),
        (CLEAN[:1], "Nothing of ours is left on the 1 node."),
        (CLEAN, "Nothing of ours is left on any of the 3 nodes."),
        (
            (replace(CLEAN[0], ended=1), *CLEAN[1:]),
            (
                "Nothing of ours is left on any of the 3 nodes."
                " Before that, 1 leftover had to be ended or removed on 1 node."
            ),
        ),
        (
            (replace(CLEAN[0], left=("process 1 (x)",)),),
            "Nothing of ours is left on 0 of 1 node; on 1 something of ours is left.",
        ),
        (
            (replace(CLEAN[0], asked=False), CLEAN[1]),
            "Nothing of ours is left on 1 of 2 nodes; 1 could not be searched.",
        ),
        ((replace(CLEAN[0], asked=False),), "The node could not be searched for anything of ours."),
        (
            tuple(replace(each, asked=False) for each in CLEAN),
            "None of the 3 nodes could be searched for anything of ours.",
        ),
    ],
)
def test_the_sentence(proofs: tuple[Proof, ...], said: str) -> None:
    assert conduct.format_cleanliness(proofs) == said


def test_exceptions_fold_over_nodes_and_what_is_left_comes_first() -> None:
    silent = [Proof(NodeId(f"n{number}"), asked=False, detail="unreachable") for number in range(1, 6)]
    holding = Proof(NodeId("n9"), asked=True, left=("process 7 (x)", "directory /scratch/benchconsole.s.x"))
    found = conduct.list_leftovers([*silent, holding, *CLEAN])
    assert [(each.state, each.nodes, each.number) for each in found] == [
        (State.WATCH, "n9", 1),
        (State.WATCH, "n9", 1),
        (State.UNREACHABLE, "n[1-5]", 5),
    ]


def test_nodes_without_an_answer_fold_although_each_has_an_address_of_its_own() -> None:
    silent = [Proof(NodeId(f"n{number}"), False, detail=f"unreachable: 10.0.0.{number} is down") for number in (1, 2)]
    alone = Proof(NodeId("n7"), asked=False, detail="there is no grep")
    assert [(each.text, each.nodes) for each in conduct.list_leftovers([*silent, alone])] == [
        ("unreachable, each for a reason of its own", "n[1-2]"),
        ("there is no grep", "n7"),
    ]


@pytest.mark.parametrize("kind", PEOPLE)
def test_ten_thousand_proofs_fold(kind: str) -> None:
    whole = tuple(Proof(NodeId(f"n{number}"), asked=True) for number in range(10_000))
    held = tuple(replace(proof, left=(f"process {number} (x)",)) for number, proof in enumerate(whole))
    view = fixture.all_passed()
    assert len(text_of(kind, replace(view, proofs=whole))) < len(text_of(kind, view)) + 1_000
    found = text_of(kind, replace(view, proofs=held))
    assert len(found) < 60_000
    assert "more exception" in found


LIMITS: dict[str, str | int | float] = {
    "cap.link": 0.125,
    "cap.storage fs": 2e9,
    "cap.storage home": "fast",
    "tests.at_once": 4,
}


def test_an_option_that_was_not_used_is_not_printed() -> None:
    told = SessionDetails(
        {"allow_untested": 0, "careful": 1, "override.by": "alice", "{x}": "{y}", **LIMITS},
        (SessionNote("note", "n", 1.0),),
    )
    view = replace(fixture.hard(), stopped={}, held="the database is full")
    assert [(line.kind, line.text) for line in conduct.list_conduct(view, told)] == [
        ("option", "--careful was given: rounds began small, and a canary pair was watched"),
        ("override", "that was decided by alice"),
        ("option", "{x}: {y}"),
        ("option", "--cap was given: tests were planned to load no link above 12.5 % one way"),
        ("option", "--cap was given: tests were planned to ask fs for at most 2.00 GB/s together"),
        ("option", "cap.storage home: fast"),
        ("option", "--tests-at-once was given: rounds were planned with at most 4 tests"),
        ("note", "n"),
        ("held", "the database is full"),
    ]
