"""Who is named when several nodes together, or the clients of a storage system, are below what is asked."""

import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.model.judgement import ClosedRound, Confidence, Finding, Level, Suspect
from tests.probes.judging.sets import METRICS, close_sets, site

Told = tuple[Suspect, str, Confidence]
CERTAIN, LIKELY, POSSIBLE = Confidence.CERTAIN, Confidence.LIKELY, Confidence.POSSIBLE
NODE, SET, SYSTEM, SERVER, GATEWAY = Suspect.NODE, Suspect.SET, Suspect.SYSTEM, Suspect.STORAGE, Suspect.GATEWAY


def find(*rounds: ClosedRound) -> tuple[Finding, ...]:
    return list_findings(JudgingContext(site(), METRICS), rounds)


def tell(*rounds: ClosedRound) -> list[Told]:
    return sorted((each.suspect, each.where, each.confidence) for each in find(*rounds))


def run(*sets: tuple[str, float], metric: str = "hpl.rate") -> list[Told]:
    """The findings after tests on these sets, each in a round of its own."""
    described = site()
    return tell(*(close_sets(described, number, each, metric=metric) for number, each in enumerate(sets, start=1)))


@pytest.mark.parametrize(
    ("sets", "found"),
    [
        ([("n[1-8]", 0.6)], [(SET, "n[1-8]", POSSIBLE)]),  # never its first member
        ([("n[1-8]", 1.0)], []),
        ([("n[1-4]", 0.6), ("n[5-8]", 1.0)], [(SET, "n[1-4]", POSSIBLE)]),
        # what low sets have in common, where a set without it is good
        ([("n[1-2]", 0.6), ("n[2-3]", 0.6), ("n[3-4]", 1.0), ("n[5-6]", 1.0)], [(NODE, "n2", CERTAIN)]),
        ([("n[1-4]", 0.6), ("n[4-7]", 0.6), ("n[1-3]", 1.0), ("n[5-8]", 1.0)], [(NODE, "n4", CERTAIN)]),
        ([("n[1-4]", 0.6), ("n[3-6]", 0.6), ("n[5-8]", 1.0)], [(SET, "n[3-4]", POSSIBLE)]),
        # one observation: the others of it are cleared, but of a pair the way between them is suspected as much
        ([("n[1-4]", 0.6), ("n[1-3]", 1.0), ("n[5-8]", 1.0)], [(NODE, "n4", LIKELY)]),
        ([("n[1-2]", 0.6), ("n1,n3", 1.0), ("n[3-4]", 1.0)], [(SET, "n2", POSSIBLE)]),
        # two causes
        (
            [("n[1-2]", 0.6), ("n[2-3]", 0.6), ("n[5-6]", 0.6), ("n[6-7]", 0.6)]
            + [(pair, 1.0) for pair in ("n1,n3", "n5,n7", "n4,n8", "n[3-4]")],
            [(NODE, "n2", CERTAIN), (NODE, "n6", CERTAIN)],
        ),
        # all low alike: one finding on all of them
        ([("n[1-2]", 0.6), ("n[3-4]", 0.6), ("n[5-6]", 0.6)], [(SET, "n[1-6]", POSSIBLE)]),
        ([("n[1-2]", 0.6), ("n[3-4]", 0.6), ("n[5-6]", 0.6), ("n[7-8]", 1.0)], [(SET, "n[1-6]", POSSIBLE)]),  # 75 %
        # nodes by themselves: where the probe tested no sets, each is at fault itself
        ([("n1", 0.6), ("n2", 0.6), ("n3", 1.0)], [(NODE, "n1", LIKELY), (NODE, "n2", LIKELY)]),
        # where it did, they clear nodes
        ([("n[1-2]", 0.6), ("n1", 1.0), ("n[3-4]", 1.0)], [(SET, "n2", POSSIBLE)]),
        # every member was in a good set
        ([("n[1-4]", 0.6), ("n[1-2]", 1.0), ("n[3-4]", 1.0)], [(SET, "n[1-4]", POSSIBLE)]),
    ],
)
def test_the_smallest_that_explains_all_low_sets_is_named(sets: list[tuple[str, float]], found: list[Told]) -> None:
    assert run(*sets) == found


def test_a_node_that_is_in_all_low_sets_is_not_named_where_no_set_was_without_it() -> None:
    ((suspect, where, confidence),) = run(("n[1-2]", 0.6), ("n1,n3", 0.6), ("n1,n4", 0.6))
    assert (suspect, where, confidence) == (SET, "n[1-4]", POSSIBLE)


@pytest.mark.parametrize(
    "sets",
    [
        [("n[1-2]", 0.6), ("n1,n3", 0.6)],
        [("n[1-3]", 0.6), ("n1,n[4-5]", 0.6), ("n1,n[6-8]", 1.0)],  # larger, so that it clears none
    ],
)
def test_a_node_is_not_named_where_no_good_set_is_without_it(sets: list[tuple[str, float]]) -> None:
    assert run(*sets) == [(SET, "n1", POSSIBLE)]
    described = site()
    (found,) = find(*(close_sets(described, number, each, metric="hpl.rate") for number, each in enumerate(sets, 1)))
    assert found.what.endswith("every low test has it")
    assert found.cannot_tell.startswith("whether it is n1: no good test shows it")


@pytest.mark.parametrize(
    ("small", "large", "by_number"),
    [(("n[1-2]", 1.0), ("n[1-8]", 0.6), True), (("n[1-6]", 1.0), ("n[1-8]", 0.6), False), (("n[1-5]", 1.0), ("n[1-8]", 0.6), True)],
)  # fmt: skip
def test_a_growing_set_may_fail_by_its_number_of_nodes(
    small: tuple[str, float], large: tuple[str, float], by_number: bool
) -> None:
    described = site()
    (finding,) = find(
        close_sets(described, 1, small, metric="hpl.rate"), close_sets(described, 2, large, metric="hpl.rate")
    )
    assert ("whether it is their number" in finding.cannot_tell) is by_number
    assert finding.where == ("n[1-8]" if by_number else "n[7-8]")
    assert finding.suspect is SET


def test_what_is_too_slow_with_few_nodes_is_not_cleared_and_not_named_by_a_large_set() -> None:
    (finding,) = find(*(close_sets(site(), number, each) for number, each in enumerate(
        [("n[1-2]", 0.3), ("n[1-4]", 0.6), ("n[1-8]", 1.0)], start=1)))  # fmt: skip
    assert (finding.suspect, finding.where) == (SET, "n[1-2]")
    assert "8 nodes reached it" in finding.cannot_tell


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ({"n1": 1.0, "n2": 0.5, "n3": 1.0, "n4": 1.0}, [(NODE, "n2", CERTAIN)]),
        ({"n1": 0.5, "n2": 0.5, "n3": 0.5, "n4": 0.5}, [(SET, "n[1-4]", POSSIBLE)]),
    ],
)
def test_the_client_whose_own_rate_is_low_is_named(parts: dict[str, float], found: list[Told]) -> None:
    assert tell(close_sets(site(), 1, ("n[1-4]", 0.9), metric="fio.read", clients=[parts])) == found


@pytest.mark.parametrize(
    ("own", "merged"), [(0.55, True), (0.70, True), (0.71, False), (0.9, False)]  # of a set that lacks 0.4
)  # fmt: skip
def test_the_known_fault_of_a_member_explains_the_set_where_it_is_large_enough(own: float, merged: bool) -> None:
    described = site()
    alone = close_sets(described, 1, ("n3", own), metric="fio.read", alone=True)
    found = find(alone, close_sets(described, 2, ("n[1-4]", 0.6), metric="hpl.rate"))
    assert [each.where for each in found if each.suspect is NODE] == ["n3"]
    assert any("n[1-4]: hpl.rate 600 MFLOP/s" in line for line in found[-1].because + found[0].because)
    if merged:
        assert len(found) == 1
        assert found[0].tests == ("1/0", "2/0")
    else:
        (together,) = (each for each in found if each.suspect is SET)
        assert any(line.startswith("n3 is low by itself") for line in together.because)


def test_two_members_with_faults_are_told_and_neither_is_named() -> None:
    described = site()
    alone = close_sets(described, 1, ("n3", 0.5), ("n4", 0.5), metric="fio.read", alone=True)
    found = find(alone, close_sets(described, 2, ("n[1-4]", 0.6), metric="hpl.rate"))
    (together,) = (each for each in found if each.suspect is SET)
    assert len(found) == 3
    assert [line.split()[0] for line in together.because[1:]] == ["n3", "n4"]


# -- storage


def ask(system: str, *clients: tuple[str, float], number: int = 1) -> ClosedRound:
    """A round in which each client reads from a storage system by itself."""
    return close_sets(site(), number, *clients, metric="fio.read", shared=system, alone=True)


NEAR = [f"n{number}" for number in range(1, 9)]


@pytest.mark.parametrize(
    ("low", "good", "found"),
    [
        (8, 0, [(SYSTEM, "lake", LIKELY)]),
        (6, 2, [(SYSTEM, "lake", LIKELY)]),  # 75 %
        (5, 3, [(NODE, f"n{number}", CERTAIN) for number in range(1, 6)]),
        (1, 7, [(NODE, "n1", CERTAIN)]),
        (3, 0, [(SYSTEM, "lake", LIKELY)]),
        (2, 0, [(NODE, "n1", LIKELY), (NODE, "n2", LIKELY)]),
        (0, 8, []),
    ],
)
def test_storage_is_named_where_its_clients_are_low_alike(low: int, good: int, found: list[Told]) -> None:
    rates = [(name, 0.5 if place < low else 1.0) for place, name in enumerate(NEAR[: low + good])]
    told = [(suspect, where, LIKELY if suspect is NODE else sure) for suspect, where, sure in tell(ask("lake", *rates))]
    assert told == [(suspect, where, LIKELY) for suspect, where, _ in found]


def test_the_only_server_of_a_system_is_named_as_a_server() -> None:
    found = find(ask("home", *((name, 0.5) for name in NEAR)), ask("lake", *((name, 1.0) for name in NEAR), number=2))
    ((finding,)) = found
    assert (finding.suspect, finding.element, finding.nodes_at) == (SERVER, "nfs", ("nfs",))
    assert "which of its" not in finding.cannot_tell


def test_clients_that_are_good_elsewhere_are_cleared_by_two() -> None:
    both = (("n1", 0.5), ("n2", 0.5))
    assert tell(ask("lake", *both)) == [(NODE, "n1", LIKELY), (NODE, "n2", LIKELY)]
    good = ask("home", ("n1", 1.0), ("n2", 1.0), number=2)
    assert tell(ask("lake", *both), good) == [(SYSTEM, "lake", LIKELY)]


def test_a_client_that_is_low_on_every_system_is_named() -> None:
    rates = [("n1", 0.5), *((name, 1.0) for name in NEAR[1:])]
    assert {(suspect, where) for suspect, where, _ in tell(ask("lake", *rates), ask("home", *rates, number=2))} == {
        (NODE, "n1")
    }


def test_clients_behind_gateways_that_alone_are_low_lead_to_the_gateways() -> None:
    far = [(f"m{number}", 0.5) for number in range(1, 5)]
    (finding,) = find(ask("lake", *far, *((name, 1.0) for name in NEAR)))
    assert (finding.suspect, finding.where, finding.nodes_at) == (GATEWAY, "gw[1-2]", ())
    assert finding.nodes == ("m1", "m2", "m3", "m4")
    assert "which of the 2 gateways" in finding.cannot_tell
    mixed = find(ask("lake", *far[:3], ("m4", 1.0), *((name, 1.0) for name in NEAR)))
    assert {each.suspect for each in mixed} == {NODE}


def test_two_sets_of_clients_that_share_nothing_but_a_system_lead_to_it() -> None:
    described = site()
    both = close_sets(described, 1, ("n[1-4]", 0.5), ("n[5-8]", 0.5), shared="lake")
    assert tell(both) == [(SYSTEM, "lake", LIKELY)]
    one = close_sets(described, 1, ("n[1-4]", 0.5), ("n[3-6]", 0.5), shared="lake")
    assert [suspect for suspect, _, _ in tell(one)] == [SET]
    assert "lake" in find(one)[0].cannot_tell


def test_several_probes_on_one_system_are_one_finding() -> None:
    sets = close_sets(site(), 2, ("n[1-4]", 0.5), ("n[5-8]", 0.5), shared="lake")
    (finding,) = find(ask("lake", *((name, 0.5) for name in NEAR)), sets)
    assert len(finding.tests) == 10


def test_the_known_fault_of_a_server_explains_the_clients() -> None:
    clients = ask("lake", *((name, 0.5) for name in NEAR))
    server = close_sets(site(), 2, ("st2", 0.4), metric="hpl.rate", alone=True)
    (finding,) = find(clients, server)
    assert (finding.suspect, finding.where) == (SERVER, "st2")
    assert len(finding.tests) == 9


def test_the_worst_level_counts() -> None:
    found = find(ask("lake", *((name, 0.5) for name in NEAR)))
    assert found[0].level is Level.FAIL
