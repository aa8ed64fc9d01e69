"""The diagnosis of answers, folded over nodes: pure, from nodes that are made up one by one."""

import json
from collections.abc import Mapping
from types import MappingProxyType

import pytest

from benchconsole.console.doctor.diagnosis import (
    DiagnosisLine,
    Grade,
    NodeAnswer,
    diagnose_nodes,
    list_usable_nodes,
    sample_nodes,
)
from benchconsole.console.doctor.doctor_page import format_page, make_document
from benchconsole.probes.hygiene.prerequisites import Health, Needs, ScratchRoom, Sudo, Tool
from benchconsole.probes.leftovers import LeftoverDirectory, LeftoverProcess, Leftovers
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId

FINE = Health(
    Sudo.ROOT,
    tools=MappingProxyType({"fio": "3.33", "iperf3": "3.20"}),
    rooms=MappingProxyType({"/scratch": ScratchRoom(2**40, 2**39)}),
    seconds=0.1,
)
NEEDS = Needs({name: Tool(name, name) for name in ("fio", "iperf3")}, {"/scratch": 0.0})
NAMES = tuple(NodeId(f"blade{number:03}") for number in range(1, 51))
A, B = "SHA256:" + "a" * 43, "SHA256:" + "b" * 43


def judged(
    odd: Mapping[str, NodeAnswer], needs: Needs = NEEDS, health: Health = FINE
) -> tuple[tuple[DiagnosisLine, ...], tuple[NodeId, ...]]:
    """Fifty nodes of which some are odd: the lines, and who can be used."""
    answers = [odd.get(name, NodeAnswer(name, health=health, seconds=0.2)) for name in NAMES]
    said = diagnose_nodes(answers, dict.fromkeys(NAMES, needs), "cluster.yaml")
    return said, list_usable_nodes(answers, said)


def failed(name: str, stage: FailedAt, detail: str) -> NodeAnswer:
    return NodeAnswer(NodeId(name), failure=Failure(stage, detail, NodeId(name)))


def well(name: str, health: Health = FINE, **more: object) -> NodeAnswer:
    return replace(NodeAnswer(NodeId(name), health=health, seconds=0.2), **more)  # type: ignore[arg-type]


def of(said: tuple[DiagnosisLine, ...], section: str, grade: Grade) -> list[tuple[str, tuple[str, ...]]]:
    return [(line.text, tuple(line.nodes)) for line in said if line.section == section and line.grade is grade]


def test_a_cluster_in_order_is_short_and_all_usable() -> None:
    said, fit = judged({})
    assert fit == NAMES
    assert {line.grade for line in said} == {Grade.FINE}
    assert ("50 of 50 nodes let us in", ()) in of(said, "login", Grade.FINE)
    assert ("fio 3.33", NAMES) in of(said, "tools", Grade.FINE)
    assert ("/scratch has 550 GB free or more (least on blade001)", ()) in of(said, "scratch", Grade.FINE)


@pytest.mark.fault("F15")
def test_missing_tools_fold_over_nodes_with_their_package() -> None:
    bare = replace(FINE, tools=MappingProxyType({"iperf3": "3.20"}))
    said, fit = judged({"blade017": well("blade017", bare), "blade044": well("blade044", bare)})
    assert of(said, "tools", Grade.BAD) == [("fio is not installed (Debian package fio)", ("blade017", "blade044"))]
    assert set(NAMES) - set(fit) == {"blade017", "blade044"}


@pytest.mark.fault("F15")
def test_an_old_iperf3_is_told_with_its_faults() -> None:
    for version, told in (("3.12", True), ("3.19", True), ("3.19.1", False), ("3.20", False), ("", False)):
        said, fit = judged({}, health=replace(FINE, tools=MappingProxyType({"fio": "3.33", "iperf3": version})))
        assert bool(of(said, "tools", Grade.NOTE)) is told, version
        assert fit == NAMES
    assert (
        "CVE-2025-54349"
        in of(judged({}, health=replace(FINE, tools={"iperf3": "3.12", "fio": ""}))[0], "tools", Grade.NOTE)[0][0]
    )


def test_unknown_keys_come_with_fingerprints_and_the_command_to_trust() -> None:
    said, fit = judged(
        {
            "blade003": failed("blade003", FailedAt.HOST_KEY_UNKNOWN, f"the host key offers {A}; compare"),
            "blade004": failed("blade004", FailedAt.HOST_KEY_UNKNOWN, f"the host key offers {A}; compare"),
            "blade009": failed("blade009", FailedAt.HOST_KEY_UNKNOWN, f"the host key offers {B}; compare"),
        }
    )
    assert of(said, "host keys", Grade.BAD) == [("host key not known", ("blade003", "blade004", "blade009"))]
    assert of(said, "host keys", Grade.NOTE) == [
        (A, ("blade003", "blade004")),
        (B, ("blade009",)),
        ("compare them with the nodes' own, then: benchconsole trust cluster.yaml -w 'blade[003-004,009]'", ()),
    ]
    assert len(fit) == 47


@pytest.mark.fault("I01")
def test_changed_keys_show_both_and_never_the_command_to_trust() -> None:
    changed = failed("blade003", FailedAt.HOST_KEY_CHANGED, f"has changed: known is {A} (known_hosts), offered {B}")
    said, _ = judged({"blade003": changed})
    assert of(said, "host keys", Grade.BAD) == [("HOST KEY CHANGED", ("blade003",))]
    assert (f"{A} is now {B}", ("blade003",)) in of(said, "host keys", Grade.NOTE)
    assert "benchconsole trust" not in " ".join(line.text for line in said)


def test_the_same_trouble_at_many_addresses_is_one_line() -> None:
    odd: dict[str, NodeAnswer] = {
        name: failed(name, FailedAt.UNREACHABLE, f"10.0.0.{number} port 22 refused the connection to {name}")
        for number, name in enumerate(NAMES[:30])
    }
    said, fit = judged(odd)
    (line,) = of(said, "login", Grade.BAD)
    assert line == ("unreachable: ADDRESS port 22 refused the connection to NODE", NAMES[:30])
    assert len(fit) == 20


def test_a_node_that_answers_nonsense_cannot_be_used() -> None:
    said, fit = judged({"blade003": NodeAnswer(NodeId("blade003"), complaint="found '' as the time")})
    assert of(said, "login", Grade.BAD) == [("no answer that can be read: found '' as the time", ("blade003",))]
    assert "blade003" not in fit


@pytest.mark.fault("I02")
def test_weak_algorithms_are_told() -> None:
    weak = {"cipher": "aes128-cbc", "mac": "hmac-sha1", "key": "ssh-rsa", "server": "OpenSSH sha1"}
    good = {"cipher": "aes256-gcm@openssh.com", "mac": "hmac-sha2-256-etm@openssh.com", "key": "ssh-ed25519"}
    said, fit = judged({"blade003": well("blade003", algorithms=weak), "blade004": well("blade004", algorithms=good)})
    assert {text for text, nodes in of(said, "login", Grade.NOTE) if nodes == ("blade003",)} == {
        "cipher aes128-cbc is weak",
        "mac hmac-sha1 is weak",
        "key ssh-rsa is weak",
    }
    assert fit == NAMES


@pytest.mark.fault("F15")
@pytest.mark.parametrize(
    ("sudo", "bad"),
    [(Sudo.ROOT, False), (Sudo.FREE, False), (Sudo.PASSWORD, False), (Sudo.REFUSED, True), (Sudo.ABSENT, True)],
)
def test_privileges_matter_where_the_suite_needs_them(sudo: Sudo, bad: bool) -> None:
    health = replace(FINE, sudo=sudo)
    said, fit = judged({}, replace(NEEDS, privileged=True), health)
    assert bool(of(said, "privileges", Grade.BAD)) is bad
    assert bool(fit) is not bad
    assert judged({}, NEEDS, health)[1] == NAMES


@pytest.mark.parametrize(
    ("offset", "said"),
    [
        (0.5, None),
        (2.4, None),  # within what is known
        (3.0, "about 3 s ahead of this machine"),
        (-40.0, "about 40 s behind this machine"),
        (-3 * 86_400.0, "wrong by 3 days, behind this machine"),
        (400 * 86_400.0, "wrong by 400 days, ahead of this machine"),
    ],
)
def test_clocks(offset: float, said: str | None) -> None:
    odd = well("blade003", replace(FINE, offset=offset, within=0.5))
    found, fit = judged({"blade003": odd})
    assert of(found, "clocks", Grade.NOTE) == ([(said, ("blade003",))] if said else [])
    assert fit == NAMES


def test_a_scratch_directory_that_cannot_be_used_or_is_full() -> None:
    unfit = replace(FINE, rooms=MappingProxyType({}), unfit=("/scratch: there is no directory /scratch",))
    full = replace(FINE, rooms=MappingProxyType({"/scratch": ScratchRoom(1000, 99)}))
    said, fit = judged({"blade003": well("blade003", unfit), "blade004": well("blade004", full)})
    assert of(said, "scratch", Grade.BAD) == [
        ("/scratch: there is no directory /scratch", ("blade003",)),
        ("/scratch has less than 10 % free", ("blade004",)),
    ]
    assert set(NAMES) - set(fit) == {"blade003", "blade004"}


def test_leftovers_are_named_by_session_with_the_command_that_ends_them() -> None:
    process = LeftoverProcess(1, 2, "abc", ("iperf3",))
    found = Leftovers((process, replace(process, pid=2)), (LeftoverDirectory("/scratch/benchconsole.def.x", "def"),))
    blind = Leftovers(unseen=("there is no grep",))
    said, fit = judged({"blade003": well("blade003", found=found), "blade004": well("blade004", found=blind)})
    assert of(said, "leftovers", Grade.NOTE) == [
        ("cannot be searched: there is no grep", ("blade004",)),
        ("something of session abc is left", ("blade003",)),
        ("something of session def is left", ("blade003",)),
        ("show and end it with: benchconsole clean cluster.yaml", ()),
    ]
    assert fit == NAMES


def test_slurm_and_slow_nodes_are_told() -> None:
    works, broken = replace(FINE, slurm="works"), replace(FINE, slurm="sinfo: error: timed out")
    slow = well("blade009", seconds=30.0)
    said, _ = judged({"blade003": well("blade003", works), "blade004": well("blade004", broken), "blade009": slow})
    assert of(said, "slurm", Grade.FINE) == [("works", ("blade003",))]
    assert of(said, "slurm", Grade.NOTE) == [("no answer: sinfo: error: timed out", ("blade004",))]
    assert of(said, "answers", Grade.NOTE) == [("took 30.1 s", ("blade009",))]


def test_a_page_keeps_to_eighty_columns_and_plain_text() -> None:
    names = tuple(NodeId(f"n{number}") for number in range(1, 4000, 3))
    said = (
        DiagnosisLine("login", Grade.BAD, "connection lost: \x1b[31m" + "long words " * 30, names),
        DiagnosisLine("tools", Grade.FINE, "fio 3.33"),
    )
    text = list(format_page(said, 1, 2000, width=80))
    assert max(map(len, text)) <= 80
    assert not any("\x1b" in line for line in text)
    assert text[0] == "login"
    assert text[-1] == "1 of 2,000 nodes can be used"
    assert len(text) < 20
    assert all(line.isascii() for line in format_page(said, 1, 2000, width=80, ascii_only=True))
    assert json.loads(json.dumps(make_document(said, (), names)))["lines"][0]["nodes"][0] == "n1"


def test_many_nodes_are_sampled_evenly() -> None:
    assert sample_nodes(NAMES, 100) == NAMES
    assert sample_nodes(NAMES, 5) == ("blade001", "blade011", "blade021", "blade031", "blade041")
