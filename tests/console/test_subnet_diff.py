"""``diff --from ib`` and ``init --from ib``: the page, the JSON, the endings, and a host that is asked."""

import asyncio
import json
from pathlib import Path

import pytest

from benchconsole import topology
from benchconsole.console.cli import main
from benchconsole.console.exits import BadInput, Exit
from benchconsole.console.session.subnet_asking import ask_subnet, read_subnet
from benchconsole.console.static_report.subnet_diff import compare_files, format_subnet, make_subnet_record
from benchconsole.probes.api import Node, Output, RemoteError
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.probes.model.remote import Remote
from benchconsole.probes.testing import FakeRemote
from benchconsole.topology.infiniband.dump_files import SubnetFiles, read_dump
from benchconsole.topology.model.fabric import NodeId
from tests.topology.infiniband.writers import Plan, plan_fat_tree, write_blocks, write_links

PLAN = plan_fat_tree(2, 2, 2, trunk=2)
ERRORS = 'Errors for "x"\n   GUID 0xa0000 port 3: [LinkDownedCounter == 7]\n'


class Command:
    """The program, run in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._patch = monkeypatch
        self._capsys = capsys

    def __call__(self, *words: object) -> tuple[int, str, str]:
        """Exit code, output and what stands on standard error."""
        self._patch.setattr("sys.argv", ["benchconsole", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = self._capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


@pytest.fixture
def cluster(tmp_path: Path, run: Command) -> Path:
    """A file that was written from a dump, with the dump beside it."""
    (tmp_path / "dump").write_text(write_blocks(PLAN))
    code, out, _ = run("init", tmp_path / "c.yaml", "--from", "ib", tmp_path / "dump")
    assert (code, out.splitlines()[0].partition(": ")[2]) == (Exit.PASSED, "4 nodes, 4 switches, 8 links")
    return tmp_path / "c.yaml"


def slowed() -> Plan:
    """The same fabric, one link at one lane and one cable of a trunk out."""
    cables = [(a, b, 1 if a == (0x10000, 1) else width, speed) for a, b, width, speed in PLAN.cables]
    return Plan(PLAN.nodes, [cable for cable in cables if cable[0] != (0xA0000, 3)])


def test_equal_different_partial_and_nothing_to_compare(cluster: Path, run: Command) -> None:
    dump = cluster.with_name("dump")
    code, out, _ = run("diff", cluster, "--from", "ib", dump)
    assert (code, "no difference in what was compared" in out) == (Exit.PASSED, True)
    dump.write_text(write_blocks(slowed()))
    code, out, _ = run("diff", cluster, "--from", "ib", dump)
    assert code == Exit.BELOW
    assert [line.split()[0] for line in out.splitlines() if line.startswith(("narrow", "fewer", "missing"))] == [
        "fewer",
        "narrow",
    ]
    assert "1 of 2 cables" in out
    assert "10 of 12 cables as described" in " ".join(out.split())
    dump.write_text(write_links(Plan(PLAN.nodes[::-1], PLAN.cables), line=True))
    code, out, _ = run("diff", cluster, "--from", "ib", dump)
    assert (code, "partial: the dump ends in the ports of a switch" in " ".join(out.split())) == (Exit.UNTESTED, True)
    cluster.write_text("schema: 1\nfabric: none\nnodes:\n  n1: {}\n")
    code, out, _ = run("diff", cluster, "--from", "ib", dump)
    assert (code, "nothing was compared" in " ".join(out.split())) == (Exit.UNTESTED, True)


def test_json_has_the_same_with_counters(cluster: Path, run: Command) -> None:
    errors = cluster.with_name("errors")
    errors.write_text(ERRORS)
    code, out, _ = run("diff", cluster, "--json", "--from", "ib", cluster.with_name("dump"), errors)
    found = json.loads(out)
    assert code == Exit.BELOW
    assert found["differences"] == [
        {"kind": "errors", "devices": ["leaf1:3"], "described": "", "seen": "LinkDownedCounter 7", "text": ""}
    ]
    assert (found["complete"], found["counters_read"], found["cables"]["as_described"]) == (True, True, 12)
    assert found["thresholds"]["SymbolErrorCounter"] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--from", "ib"], "neither saved files nor --ask, expected one of them"),
        (["--from", "ib", "dump", "--ask", "n01"], "both saved files and --ask"),
        (["--ask", "n01"], "--ask and --sudo without --from ib"),
        (["-w", "n01", "--from", "ib", "dump"], "-w or -x with --from ib, expected neither"),
        (["--from", "ib", "dump", "--sudo"], "--sudo without --ask"),
        (["--from", "ib", "--ask", "n1"], "--ask n1, expected a node of the file; did you mean n01?"),
        (["--from", "ib", "absent"], "absent:1:1: a file that cannot be read"),
    ],
)
def test_misuse_ends_with_2_and_one_message(
    cluster: Path, run: Command, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    monkeypatch.chdir(cluster.parent)
    code, out, err = run("diff", cluster, *words)
    assert (code, out, said in err) == (Exit.BAD_INPUT, "", True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--ask", "n1"], "expected: benchconsole init FILE --from ib --ask HOST"),
        (["--from", "slurm", "--ask", "n1"], "expected: benchconsole init FILE --from ib --ask HOST"),
        (["--from", "ib", "--ask", "n1; reboot"], "expected the name of a host"),
    ],
)
def test_only_one_host_is_asked_and_only_for_a_subnet(
    tmp_path: Path, run: Command, words: list[str], said: str
) -> None:
    code, _, err = run("init", tmp_path / "new.yaml", *words)
    assert (code, said in err) == (Exit.BAD_INPUT, True)
    assert not (tmp_path / "new.yaml").exists()


def test_text_of_the_subnet_reaches_the_terminal_made_safe(cluster: Path) -> None:
    dump = write_blocks(PLAN).replace("n01 mlx5_0", "\x1b[31mevil\x07 mlx5_0")
    found = compare_files(topology.load(cluster), SubnetFiles(read_dump(dump, "d\x1bump"), "ibnetdiscover"), "d\x1bump")
    page = "\n".join(format_subnet(found, 100))
    assert found.report.differences
    assert "\x1b" not in page
    assert "\x07" not in page
    json.dumps(make_subnet_record(found), allow_nan=False)


# -- a host that is asked


class OneReach:
    """A reach of one played host."""

    def __init__(self, host: FakeRemote | RemoteError) -> None:
        self.host = host
        self.closed = False

    async def remote(self, node: Node) -> Remote:
        if isinstance(self.host, RemoteError):
            raise self.host
        return self.host

    async def close(self) -> None:
        self.closed = True


def ask(cluster: Path, host: FakeRemote | RemoteError) -> tuple[SubnetFiles, OneReach]:
    reach = OneReach(host)
    node = topology.load(cluster).nodes[NodeId("n01")]
    return read_subnet(asyncio.run(ask_subnet(reach, node, counters=True)), "n01"), reach


def test_a_host_is_asked_for_the_subnet_and_its_counters_and_for_nothing_that_clears_them(cluster: Path) -> None:
    host = FakeRemote("n01")
    host.when("ibnetdiscover", answers=Output((), write_blocks(PLAN, full=True).encode()))
    host.when("ibqueryerrors", answers=Output((), ERRORS.encode(), exit_status=1))
    found, reach = ask(cluster, host)
    assert [each.errors for each in found.counters or ()] == [{"LinkDownedCounter": 7}]
    assert [call.argv[4:] for call in host.calls] == [
        ("ibnetdiscover", "-f"),
        ("ibqueryerrors", "--suppress-common"),
    ]
    assert reach.closed
    assert found.subnet.lanes


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Output((), b"", b"sh: ibnetdiscover: not found\n", exit_status=127), "the package infiniband-diags"),
        (Output((), b"", b"ibwarn: x\ncan't open UMAD port\n", exit_status=255), "and said: can't open UMAD port"),
        (Output((), b"part", truncated=True), "printed more than is read"),
        (Output((), b" \n"), "ended with 0 and said: nothing"),
        (Output((), b"part", exit_status=139), "ibnetdiscover was ended by signal 11, expected its own end"),
        (Output((), b"part", exit_status=None, signal="SEGV"), "ibnetdiscover was ended by signal SEGV"),
    ],
)
def test_a_host_that_cannot_tell_is_a_sentence_with_its_reason(cluster: Path, answer: Output, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        ask(cluster, FakeRemote("n01").when("ibnetdiscover", answers=answer))
    assert said in str(refused.value)


def test_a_host_that_is_not_reached_is_a_sentence(cluster: Path) -> None:
    with pytest.raises(BadInput, match=r"n01: .*no route"):
        ask(cluster, RemoteError(Failure(FailedAt.UNREACHABLE, "no route", NodeId("n01"))))
