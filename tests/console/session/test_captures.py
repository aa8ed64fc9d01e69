"""Captures: what belongs together, what replaces what, and what stands beside what."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchconsole.console.cli import command
from benchconsole.console.exits import BadInput, Exit

TOPOLOGY = """\
schema: 1
fabric: small
network: {mtu: 1500}
switches: {leaf1: {role: leaf}}
nodes: {"n[1-4]": {role: compute}}
links: [{from: "n[1-4]", to: leaf1, speed: 1 Gb/s}]
criteria:
  - {metric: dd.throughput, where: {operation: read}, at_least: 200 MB/s, nodes: n1}
  - {metric: dd.throughput, where: {operation: write}, at_least: 100 MB/s, nodes: n1}
"""
NETPERF = """\
MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

131072  16384  16384    10.00     {}
"""
EARLY, LATE = ("--at", "2026-11-01T10:00:00Z"), ("--at", "2026-11-02T10:00:00Z")
READ = ("--labels", "operation=read")
Ingest = Callable[..., tuple[int, str]]


def dd(rate: int) -> str:
    """The output of dd for a file of 2 GiB; ``rate`` in MB/s."""
    return f"2048+0 records in\n2048+0 records out\n2147483648 bytes (2.1 GB) copied, {2147.483648 / rate:.6f} s, {rate} MB/s\n"


@pytest.fixture
def ingest(tmp_path: Path) -> Ingest:
    """Ingests texts, each in a file of its own, and gives the exit code with everything that was said."""
    topology = tmp_path / "small.yaml"
    topology.write_text(TOPOLOGY)

    def run(probe: str, texts: list[str], *options: str) -> tuple[int, str]:
        files = [tmp_path / f"{number}.txt" for number, _ in enumerate(texts)]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text)
        ends = () if "--node" in options or "--members" in options else ("--node", "n1")
        words = ["ingest", str(topology), probe, *map(str, files), *ends, *options, "--db", str(tmp_path / "s.db")]
        done = CliRunner().invoke(command, words)
        if isinstance(done.exception, BadInput):
            return Exit.BAD_INPUT, str(done.exception)
        assert isinstance(done.exception, SystemExit | None), done.exception
        return done.exit_code, " ".join(done.output.split())

    return run


def call(folder: Path, *words: str) -> str:
    done = CliRunner().invoke(command, [*words, "--db", str(folder / "s.db")])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.stdout


def document(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(call(folder, "report", "last", "--format", "json"))
    return found


def test_reading_and_writing_captured_apart_both_count(ingest: Ingest, tmp_path: Path) -> None:
    assert ingest("dd", [dd(359)], *READ, "--label", "x", *EARLY)[0] == Exit.UNTESTED  # writing is not tested yet
    code, said = ingest("dd", [dd(108)], "--labels", "operation=write", "--session", "x", *LATE)
    assert code == Exit.PASSED, said
    assert "2 of 2 planned tests" in said


def test_a_session_begins_and_ends_with_its_outputs(ingest: Ingest, tmp_path: Path) -> None:
    ingest("dd", [dd(359)], *READ, "--label", "x", "--at", "2026-11-05T10:00:00Z")
    ingest("dd", [dd(108)], "--labels", "operation=write", "--session", "x", *EARLY)
    ingest("dd", [dd(300)], *READ, "--node", "n2", "--session", "x", "--at", "2026-11-03T10:00:00Z")
    assert "2026-11-01 10:00:00 UTC to 2026-11-05 10:00:00 UTC" in call(tmp_path, "show")
    ingest("dd", [dd(300)], *READ, "--node", "n3", "--session", "x", "--at", "2026-11-07T10:00:00Z")
    assert "2026-11-01 10:00:00 UTC to 2026-11-07 10:00:00 UTC" in call(tmp_path, "show")


@pytest.mark.parametrize(("first", "second"), [(359, 150), (150, 359)])
@pytest.mark.parametrize("at", [(), EARLY])
def test_outputs_of_one_test_that_contradict_each_other_both_count(
    ingest: Ingest, tmp_path: Path, first: int, second: int, at: tuple[str, ...]
) -> None:
    ingest("dd", [dd(first)], *READ, "--label", "x", *at)
    code, said = ingest("dd", [dd(second)], *READ, "--session", "x", *at)
    assert code == Exit.BELOW, said
    told = f"n1 dd.throughput block=1MiB number=1 read size=2GiB: {first} MB/s of "
    assert told in said
    assert "nobody said which replaces which, so each is judged" in said
    assert told in " ".join(call(tmp_path, "report", "last", "--format", "md").replace("\\", "").split())
    found = document(tmp_path)
    assert [one["value"] for one in found["measurements"]] == [
        pytest.approx(rate * 1e6, rel=1e-4) for rate in (first, second)
    ]
    assert sorted(one["level"] for one in found["verdicts"]) == ["fail", "pass"]


def test_outputs_that_contradict_each_other_in_one_call_both_count(ingest: Ingest, tmp_path: Path) -> None:
    code, said = ingest("dd", [dd(359), dd(150), dd(358)], *READ)
    assert code == Exit.BELOW, said
    assert said.count("nobody said which replaces which") == 2
    turns = [one["labels"].get("repetition") for one in document(tmp_path)["measurements"]]
    assert turns == [None, "2", "3"]


def test_alike_outputs_are_not_told(ingest: Ingest) -> None:
    again = dd(359).replace("2048+0 records in", "2048+0  records in")
    assert "replaces which" not in ingest("dd", [dd(359), again], *READ)[1]


def test_what_is_said_to_be_later_replaces(ingest: Ingest, tmp_path: Path) -> None:
    ingest("dd", [dd(150)], *READ, "--label", "x", *EARLY)
    code, said = ingest("dd", [dd(359)], *READ, "--session", "x", *LATE)
    assert code == Exit.UNTESTED, said
    assert "150 MB/s failed at 2026-11-01 10:00:00 UTC, then 359 MB/s passed" in call(tmp_path, "show")


def test_of_several_that_count_none_is_replaced(ingest: Ingest) -> None:
    ingest("dd", [dd(150), dd(151)], *READ, "--label", "x", *EARLY)
    code, said = ingest("dd", [dd(359)], *READ, "--session", "x", *LATE)
    assert (code, "3 of 3 planned tests" in said) == (Exit.BELOW, True)


def test_an_output_counts_once(ingest: Ingest) -> None:
    assert "a second time, expected each output once" in ingest("dd", [dd(359), dd(359)], *READ)[1]
    ingest("dd", [dd(359)], *READ, "--label", "x")
    code, said = ingest("dd", [dd(359)], *READ, "--session", "x", "--at", "2026-11-01T10:00:00Z")
    assert (code, "a second time" in said) == (Exit.BAD_INPUT, True)


def test_flows_that_ran_one_after_the_other_share_no_link(ingest: Ingest, tmp_path: Path) -> None:
    """Two flows of 460 Mb/s from one NIC of 1 Gb/s fill it together, and are half of it each by itself."""
    (tmp_path / "small.yaml").write_text(
        TOPOLOGY.partition("criteria:")[0] + "criteria: [{metric: netperf.throughput, at_least: 80 %, of: capacity}]\n"
    )
    texts, pair = [NETPERF.format("460.12"), NETPERF.format("461.40")], ("--node", "n1", "--peer", "n2")
    code, said = ingest("netperf", texts, *pair)
    assert code == Exit.BELOW, said
    assert "941 Mb/s" in said
    assert ingest("netperf", [NETPERF.format("461.40")], *pair, "--label", "x", *EARLY)[0] == Exit.BELOW


@pytest.mark.parametrize(("option", "code"), [((), Exit.BELOW), (("--at-once",), Exit.UNTESTED)])
def test_only_flows_that_ran_at_once_share_the_link_of_their_sink(
    ingest: Ingest, tmp_path: Path, option: tuple[str, ...], code: int
) -> None:
    (tmp_path / "small.yaml").write_text(
        TOPOLOGY.partition("criteria:")[0] + "criteria: [{metric: netperf.throughput, at_least: 80 %, of: capacity}]\n"
    )
    files = [tmp_path / f"n{number}.txt" for number in (1, 2)]
    for file, rate in zip(files, ("460.12", "461.40"), strict=True):
        file.write_text(NETPERF.format(rate))
    words = ("ingest", tmp_path / "small.yaml", "netperf", *files, "--peer", "n3", *option, "--db", tmp_path / "s.db")
    done = CliRunner().invoke(command, [*map(str, words)])
    assert done.exit_code == code, done.output


def test_a_point_of_a_sweep_makes_a_curve(ingest: Ingest, tmp_path: Path) -> None:
    for number, (threads, rate) in enumerate({"1": 100, "2": 200, "4": 390, "8": 395}.items()):
        into = ("--session", "fig1") if number else ("--label", "fig1")
        said = ingest("dd", [dd(rate)], *READ, "--stage", "figure 1", "--point", f"rate={threads} MB/s", *into)[1]
        assert f"{number + 1} of {number + 1} planned test" in said
    page = call(tmp_path, "report", "last", "--format", "md")
    assert "figure 1 over rate ingested" in page
    assert "knee at rate=4 MB/s" in page


def test_clients_of_a_point_ran_at_once(ingest: Ingest, tmp_path: Path) -> None:
    for number in (1, 2, 4):
        texts = [dd(100 - place) for place in range(number)]
        files = [tmp_path / f"n{place + 1}.txt" for place in range(number)]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text)
        into = ("--label", "x") if number == 1 else ("--session", "x")
        words = ("ingest", str(tmp_path / "small.yaml"), "dd", *map(str, files), "--point", f"clients={number}", *into)
        call(tmp_path, *words, *READ)
    page = call(tmp_path, "report", "last", "--format", "md")
    assert "dd over clients ingested: dd.throughput" in page
    assert "maximum clients=4, 394 MB/s" in page
    (tmp_path / "n2.txt").write_text(dd(90))
    again = [str(tmp_path / f"n{number}.txt") for number in (2, 3)]  # of n2 there is one of this point already
    point = ("--point", "clients=2", "--session", "x", *READ)
    call(tmp_path, "ingest", str(tmp_path / "small.yaml"), "dd", *again, *point)
    labelled = [one["labels"] for one in document(tmp_path)["measurements"]]
    assert [one.get("repetition") for one in labelled if one["clients"] == "2"] == [None, None, "2", "2"]
    code, said = ingest("dd", [dd(99)], "--point", "clients=2", *READ, "--session", "x")
    assert (code, "found 1 output with clients=2, expected as many" in said) == (Exit.BAD_INPUT, True)


def test_a_point_that_the_output_contradicts_gives_no_number(ingest: Ingest) -> None:
    code, said = ingest("dd", [dd(359)], *READ, "--point", "block=2 MiB")
    assert (code, "dd.throughput with block=1MiB, expected block=2 MiB" in said) == (Exit.UNTESTED, True)
    assert "0 of 1 planned test" in said


def test_two_cohorts_of_one_session_stand_beside_each_other(ingest: Ingest, tmp_path: Path) -> None:
    ingest("dd", [dd(150)], *READ, "--cohort", "tuning=before", "--label", "x", *EARLY)
    code, said = ingest("dd", [dd(359)], *READ, "--cohort", "tuning=after", "--session", "x", *LATE)
    assert (code, "2 of 2 planned tests" in said) == (Exit.BELOW, True)
    assert "cohort 2026-11-02 10:00:00 UTC: tuning=after: dd ingested" in said
    assert [one["labels"]["tuning"] for one in document(tmp_path)["measurements"]] == ["before", "after"]


def test_sessions_that_are_one_cohort_each_can_be_compared(ingest: Ingest, tmp_path: Path) -> None:
    for name, rate in (("before", 150), ("after", 359)):
        texts = [dd(rate + place) for place in range(5)]
        ingest("dd", texts, *READ, "--cohort", f"tuning={name}", "--label", name)
    page = " ".join(call(tmp_path, "compare", "before", "after").split())
    assert "B against A: better" in page


def test_the_command_that_printed_them_is_said_and_kept(ingest: Ingest, tmp_path: Path) -> None:
    """LLNL kept a row of netperf without its heading, and the command in an appendix."""
    row = "4194304 4194304 1048576    600.02     112.62   \n"
    command = "netmonnp -H levi1-eth2 -B -l 600 -f M -P 0 -- -m 1M -M 1M -S 2M -s 2M"
    pair = ("--node", "n1", "--peer", "n2")
    assert "0 of 1 planned test" in ingest("netperf", [row], *pair)[1]
    ingest("netperf", [row], *pair, "--command", command)
    (told,) = document(tmp_path)["measurements"]
    assert told["value"] == pytest.approx(112.62 * 2**20)
    code, _ = ingest("dd", [dd(359)], "--command", "dd if=/mnt/f of=/dev/null bs=1M")
    assert code == Exit.UNTESTED
    assert [one["labels"]["operation"] for one in document(tmp_path)["measurements"]] == ["read"]
    code, said = ingest("dd", [dd(359)], "--command", "dd if=/mnt/f of=/dev/null", "--labels", "operation=write")
    assert "found operation=read, expected operation=write" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--command", "dd 'if"), "No closing quotation, expected a command as a shell takes it"),
        (("--point", "blok=1 MiB"), "did you mean block?"),
        (("--point", "block"), "expected AXIS=VALUE, the value up to 60 letters"),
        (("--point", "size=1", "--point", "size=2"), "expected each axis once"),
        (("--cohort", "tuning"), "expected DIMENSION=NAME"),
        (("--cohort", "end_fsync=1"), "found a label of dd, expected another word, or --labels"),
        (("--stage", "mixed"), "--stage mixed: expected up to 60 letters"),
    ],
)
def test_conditions_that_cannot_be_meant_are_refused(
    ingest: Ingest, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    code, found = ingest("dd", [dd(359)], *options)
    assert (code, said in found) == (Exit.BAD_INPUT, True), found
    assert not (tmp_path / "s.db").exists()
