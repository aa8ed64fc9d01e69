"""``ingest``: captured outputs become a judged session, under their own name, and nothing is believed blindly."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from benchconsole.console.cli import command
from benchconsole.console.session.session import Session
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.store.store import Store
from benchconsole.topology.description.resolve import load_text
from tests.reports.typed_outputs import type_iperf3
from tests.store.played import numbers

TRANSCRIPTS = Path(__file__).parents[2] / "probes/tools/transcripts"
SLOW, FAST, BROKEN = (TRANSCRIPTS / f"iperf3/{name}" for name in ("tcp-3.1.json", "tcp-3.12.txt", "refused-3.12.json"))
TOPOLOGY = """\
schema: 1
fabric: small
network: {mtu: 1500}
switches:
  leaf1: {role: leaf}
nodes:
  n[1-4]: {role: compute}
links:
  - {from: "n[1-4]", to: leaf1, speed: 1 Gb/s}
criteria:
  - {metric: iperf3.throughput, at_least: 80 %, of: capacity}
"""
Ingest = Callable[..., Result]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "s.db"


@pytest.fixture
def ingest(tmp_path: Path, db: Path) -> Ingest:
    topology = tmp_path / "small.yaml"
    topology.write_text(TOPOLOGY)

    def run(probe: str, *arguments: str | Path, at: str = "2026-11-01T10:00:00Z") -> Result:
        more = ["--at", at, "--db", str(db)]
        return CliRunner().invoke(command, ["ingest", str(topology), probe, *map(str, arguments), *more])

    return run


def document(db: Path) -> dict[str, object]:
    done = CliRunner().invoke(command, ["report", "last", "--format", "json", "--db", str(db)])
    assert done.exit_code == 0, done.output
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_capture_is_judged_against_the_described_path_and_kept_word_for_word(ingest: Ingest, db: Path) -> None:
    done = ingest("iperf3", SLOW, "--node", "n1", "--peer", "n2", "--label", "by hand")
    assert done.exit_code == 3, done.output
    assert "Missing: no test of n[3-4] (2 nodes of the file)." in " ".join(done.stdout.split())
    with Store.open(db) as store:
        (found,) = store.list_sessions()
        (number,) = [one for one in numbers(db) if one["metric"] == "iperf3.throughput"]
        (stored,) = store.session(found.id).read_rounds(load_text(TOPOLOGY, "small.yaml"))
        assert stored.results[0].outputs[0].stdout == SLOW.read_bytes()
    assert (found.label, found.started, number["at"], number["stage"]) == (
        "by hand", 1793527200.0, 1793527200.0, "iperf3 ingested",
    )  # fmt: skip
    assert number["value"] == pytest.approx(9.399903e8 / 8)


def test_outputs_that_were_brought_in_are_of_no_suite(ingest: Ingest, db: Path) -> None:
    """A suite was never asked for; a run that is planned from there asks for the one that counts."""
    assert ingest("iperf3", SLOW, "--node", "n1", "--peer", "n2").exit_code == 3
    session = document(db)["session"]
    assert isinstance(session, dict)
    assert session["suite"] == ""
    said = CliRunner().invoke(command, ["report", "last", "--format", "md", "--db", str(db)]).stdout
    assert "default" not in said
    with Store.open(db) as store:
        stored = Session.stored(store, "last", load_probes().probes)
        assert stored.suite == ""
        assert {each.probe for each in stored.propose()} > {"iperf3"}


def test_what_no_wire_carries_does_not_pass(ingest: Ingest) -> None:
    done = ingest("iperf3", FAST, "--node", "n1", "--peer", "n2")
    assert done.exit_code == 3
    words = " ".join(done.stdout.split())
    assert (
        "23.5 Gb/s over n1 out, which carries 1.00 Gb/s as described: the number or the description is wrong" in words
    )


def test_what_cannot_be_read_is_a_test_without_a_number(ingest: Ingest, db: Path) -> None:
    done = ingest("iperf3", SLOW, BROKEN, "--node", "n1", "--peer", "n2")
    assert done.exit_code == 3
    assert "unable to connect to server" in done.stdout
    covered = document(db)["coverage"]
    assert isinstance(covered, dict)
    assert (covered["planned"], covered["tested"], covered["failed_to_run"]) == (2, 1, 1)


def test_files_are_of_the_nodes_that_they_are_named_after(ingest: Ingest, tmp_path: Path, db: Path) -> None:
    said = (TRANSCRIPTS / "fio/own-3.33.json").read_bytes()
    for name in ("n2.json", "n3.json"):
        (tmp_path / name).write_bytes(said)
    done = ingest("fio", tmp_path / "n2.json", tmp_path / "n3.json")
    assert done.exit_code == 3, done.output
    assert "Not judged, neither passed nor failed: nothing was held against a threshold" in " ".join(
        done.stdout.split()
    )
    assert {one["node"] for one in numbers(db)} == {"n2", "n3"}


def test_several_outputs_ran_one_after_another_unless_they_are_said_to_have_run_together(
    ingest: Ingest, tmp_path: Path, db: Path
) -> None:
    """Half of a link each is all of it only at once: two runs of half a link, one after the other, are below it."""
    files = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for file, rate in zip(files, (0.058, 0.06), strict=True):
        file.write_text(type_iperf3(rate))  # 464 and 480 Mb/s of 1 Gb/s
    assert ingest("iperf3", *files, "--node", "n1", "--peer", "n2").exit_code == 1
    rates = [one for one in numbers(db) if one["metric"] == "iperf3.throughput"]
    assert [one["value"] for one in rates] == [5.75e7, 6e7], "none of both counts in place of the other"
    assert ingest("iperf3", *files, "--node", "n1", "--peer", "n2", "--at-once").exit_code == 3, "n3 and n4 are missing"


def test_more_can_be_added_to_a_session_of_the_same_fabric(ingest: Ingest, db: Path) -> None:
    ingest("iperf3", SLOW, "--node", "n1", "--peer", "n2")
    done = ingest("iperf3", SLOW, "--node", "n3", "--peer", "n4", "--session", "last")
    assert done.exit_code == 0, done.output
    assert "· Everything was judged and passed: 2 of 2 planned tests gave a result." in " ".join(done.stdout.split())
    with Store.open(db) as store:
        (found,) = store.list_sessions()
        assert (found.rounds_closed, found.tested, found.state.value) == (2, 2, "complete")
        assert found.verdict is not None
        assert found.verdict.outcome == "pass"


def test_a_session_of_another_fabric_is_refused(ingest: Ingest, db: Path, tmp_path: Path) -> None:
    ingest("iperf3", SLOW, "--node", "n1", "--peer", "n2")
    (tmp_path / "small.yaml").write_text(TOPOLOGY.replace("fabric: small", "fabric: other"))
    done = ingest("iperf3", SLOW, "--node", "n1", "--peer", "n2", "--session", "last")
    assert (done.exit_code, "is of fabric small" in str(done.exception)) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["iperf3", SLOW, "--node", "n1"], "expected a sender and a receiver"),
        (["iperf3", SLOW, "--node", "n1", "--peer", "n1"], "expected a sender and a receiver"),
        (["iperf3", SLOW, "--node", "n9", "--peer", "n1"], "no node 'n9'"),
        (["fio", SLOW, "--node", "n1", "--peer", "n2"], "expected one node"),
        (["fio", SLOW], "name it with --node"),
        (["fio", "/nowhere/n1.json"], "cannot be read"),
        (["hpcc", SLOW, "--node", "n1", "--members", "n[1-2]"], "the one or the others"),
        (["nosuch", SLOW, "--node", "n1"], "unknown probe"),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_stored(
    ingest: Ingest, db: Path, arguments: list[str], words: str
) -> None:
    done = ingest(*arguments)
    assert words in str(done.exception), done.output
    with Store.open(db) as store:
        assert store.list_sessions() == ()


@pytest.mark.parametrize("at", ["yesterday", "2026-11-01T10:00:00", "2999-01-01T00:00:00Z", ""])
def test_a_moment_has_a_zone_and_has_passed(ingest: Ingest, at: str) -> None:
    assert "expected a moment of the past with its zone" in str(ingest("fio", SLOW, "--node", "n1", at=at).exception)


def test_numbers_of_a_part_of_an_output_are_labelled_and_told(ingest: Ingest, db: Path, tmp_path: Path) -> None:
    part = tmp_path / "part.txt"
    part.write_bytes(FAST.read_bytes().partition(b"iperf Done.")[0])
    done = ingest("iperf3", part, "--node", "n1", "--peer", "n2")
    assert f"{part}: it does not end as its tool does, so the result may be partial" in done.stderr
    measured = document(db)["measurements"]
    assert isinstance(measured, list)
    assert measured
    assert {each["labels"].get("partial") for each in measured} == {"possible"}
    ingest("iperf3", FAST, "--node", "n1", "--peer", "n2")
    whole = document(db)["measurements"]
    assert isinstance(whole, list)
    assert {each["labels"].get("partial") for each in whole} == {None}


DD = "2048+0 records in\n2048+0 records out\n2147483648 bytes (2.1 GB) copied, 10.1158 s, {}\n"


def test_labels_that_the_output_does_not_tell_keep_two_captures_of_a_node_apart(
    ingest: Ingest, db: Path, tmp_path: Path
) -> None:
    capture = tmp_path / "n1.txt"
    capture.write_text(DD.format("212 MB/s"))
    assert ingest("dd", capture, "--labels", "operation=read", "--label", "x").exit_code == 3
    assert ingest("dd", capture, "--labels", "operation=write", "--session", "x").exit_code == 3
    told = document(db)["measurements"]
    assert [one["labels"]["operation"] for one in told] == ["read", "write"]  # type: ignore[attr-defined]
    assert document(db)["coverage"]["tested"] == 2  # type: ignore[index]


def test_the_cohorts_of_the_file_are_labels_of_what_is_ingested(ingest: Ingest, db: Path, tmp_path: Path) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(TOPOLOGY + "cohorts: {kind: {virtual: n1}}\n")
    capture = tmp_path / "n1.txt"
    capture.write_text(DD.format("212 MB/s"))
    ingest("dd", capture)
    told = document(db)["measurements"]
    assert [one["labels"]["kind"] for one in told] == ["virtual"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["operaton=read"], "expected NAME=VALUE with one of block, cached, direct, end_fsync, number"),
        (["operaton=read"], "did you mean operation?"),
        (["operation"], "expected NAME=VALUE"),
        (["operation=>= read"], "the value up to 60 letters"),
        (["operation=read", "operation=write"], "each name once"),
    ],
)
def test_a_label_that_no_number_carries_is_refused(
    ingest: Ingest, db: Path, tmp_path: Path, given: list[str], said: str
) -> None:
    capture = tmp_path / "n1.txt"
    capture.write_text(DD.format("212 MB/s"))
    done = ingest("dd", capture, *(word for text in given for word in ("--labels", text)))
    assert said in str(done.exception)
    assert not db.exists()


@pytest.mark.parametrize(("given", "numbers_read"), [("operation=write", 1), ("operation=read", 0)])
def test_an_output_that_says_otherwise_than_its_label_gives_no_number(
    ingest: Ingest, db: Path, tmp_path: Path, given: str, numbers_read: int
) -> None:
    capture = tmp_path / "n1.txt"
    mark = "benchconsole-dd operation=write size=2147483648 block=1048576 direct=1 sync=1 cache=0\n"
    capture.write_text(mark + DD.format("212 MB/s"))
    done = ingest("dd", capture, "--labels", given)
    assert len(document(db)["measurements"]) == numbers_read  # type: ignore[arg-type]
    assert ("found operation=write, expected operation=read" in " ".join(done.stdout.split())) == (numbers_read == 0)
