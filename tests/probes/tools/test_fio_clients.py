import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes import scratch
from benchconsole.probes.api import FailedAt, Output, PlanError, ProbeOutputError, Remote, RemoteError, Target
from benchconsole.probes.testing import HANGS, PROBE_CHECKS, Answer, Check, FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.fio.clients_probe import FioClients
from benchconsole.probes.tools.fio.probe import Fio
from benchconsole.topology.copying import replace
from tests.probes.reach.ssh.conftest import wait_until
from tests.probes.tools.captures import Said, noise, output, read, said, text

OWN = "fio-clients/own-3.33.json"
NODES = ["n1", "n2", "n3"]
READY = "benchconsole: listening\n"


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(FioClients(), [output(OWN)])


def runs(captured: str = OWN) -> list[dict[str, Any]]:
    """The documents of a transcript, read without the parser."""
    decoder, whole = json.JSONDecoder(), text(captured)
    return [decoder.raw_decode(whole, found.start())[0] for found in re.finditer(r"^\{$", whole, re.MULTILINE)]


def written(*documents: object) -> str:
    """A transcript of ours with these documents."""
    return "\n".join(["benchconsole: clients n1 n2 n3", *(json.dumps(each, indent=2) for each in documents), ""])


def rates(found: list[Said], way: str = "write") -> dict[str, list[str | float]]:
    """Rates of one direction by client."""
    by: dict[str, list[str | float]] = {}
    for metric, value, marks in found:
        if metric.endswith(f".{way}"):
            by.setdefault(dict(marks)["client"], []).append(value)
    return by


def test_every_node_is_read_under_its_name_and_the_sum_once() -> None:
    found = said(FioClients().parse(output(OWN)))
    for way, run in zip(("write", "read"), runs(), strict=True):
        *jobs, total = run["client_stats"]
        expected = {f"n{job['hostname'].rpartition('.')[2]}": [job[way]["bw_bytes"]] for job in jobs}
        assert rates(found, way) == {**expected, "all": [total[way]["bw_bytes"]]}
        assert total["jobname"] == "All clients"


def test_the_sum_carries_what_all_have_in_common_and_how_many_it_sums() -> None:
    sums = [dict(one.labels) for one in FioClients().parse(output(OWN)) if ("client", "all") in one.labels]
    assert {(each["pattern"], each["block"], each["clients"]) for each in sums} == {
        ("sequential", "1MiB", "3"),
        ("random", "4KiB", "3"),
    }
    assert all("job" not in each for each in sums)


def test_a_sum_over_those_that_were_reached_is_not_the_sum_of_all_that_report() -> None:
    """fio 3.33, one host of three out of reach: "All clients" is three jobs of four, and fio ends with status 0."""
    (total,) = [job for job in runs("fio/unreached-3.33.json")[0]["client_stats"] if job["jobname"] == "All clients"]
    found = said(Fio().parse(output("fio/unreached-3.33.json")))
    assert total["write"]["bw_bytes"] == 12708912761
    assert len(rates(found)) == 2
    assert not any(value == total["write"]["bw_bytes"] for _, value, _ in found)
    with pytest.raises(ProbeOutputError, match="fio: connect"):
        Fio().parse(replace(output("fio/unreached-3.33.json"), stderr=b"fio: connect; No such file or directory\n"))


@pytest.mark.parametrize("where", [0, 1, 3])
def test_of_several_sums_only_the_whole_one_is_read(where: int) -> None:
    run = runs()[0]
    early = json.loads(json.dumps(run["client_stats"][-1]))
    early["write"].update(io_bytes=1048576, bw_bytes=999)
    run["client_stats"].insert(where, early)
    assert rates(read(FioClients(), written(run))) == rates(read(FioClients(), written(runs()[0])))


@pytest.mark.parametrize(("key", "by"), [("io_bytes", 1), ("io_bytes", -1), ("runtime", 1), ("runtime", -1)])
def test_a_sum_that_is_not_that_of_the_jobs_beside_it_is_left_out(key: str, by: int) -> None:
    run = runs()[0]
    run["client_stats"][-1]["write"][key] += by
    assert set(rates(read(FioClients(), written(run)))) == set(NODES)
    for absent in (None, "much", float("nan")):
        run["client_stats"][-1]["write"][key] = absent
        assert set(rates(read(FioClients(), written(run)))) <= set(NODES)


def test_sums_of_fio_2_are_rounded_down_to_kib() -> None:
    run = runs()[0]
    for job in run["client_stats"]:
        del job["write"]["bw_bytes"], job["read"]["bw_bytes"]
        job["write"]["io_bytes"] //= 1024
    run["client_stats"][-1]["write"]["io_bytes"] += 2
    whole = rates(read(FioClients(), written(run)))
    assert whole["all"] == [run["client_stats"][-1]["write"]["bw"] * 1024.0]
    run["client_stats"][-1]["write"]["io_bytes"] += 2
    assert "all" not in rates(read(FioClients(), written(run)))


def test_a_run_without_one_of_its_clients_is_no_result() -> None:
    run = runs()[0]
    gone = run["client_stats"].pop(1)
    name = f"n{gone['hostname'].rpartition('.')[2]}"
    with pytest.raises(ProbeOutputError, match=f"no sequential fio.write of {name}"):
        FioClients().parse(Output((), written(run).encode()))


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("client: host=/tmp/benchconsole.s.Ab1/4e4e.2 disconnected", "n2"),
        ("client </tmp/a b/benchconsole.s.Ab1/4e4e.3>: exited with error 28", "n3"),
    ],
)
def test_who_ended_early_is_named(line: str, name: str) -> None:
    spoiled = text(OWN).replace("\n{\n", f"\n{line}\n\n{{\n", 1)
    with pytest.raises(ProbeOutputError, match=f"the fio of {name} ended early"):
        FioClients().parse(Output((), spoiled.encode(), exit_status=1))
    with pytest.raises(ProbeOutputError, match="client"):
        Fio().parse(Output((), spoiled.encode()))


def test_why_a_client_ended_early_is_told() -> None:
    why = "<n2> fio: io_u error on file w.0.0: No space left on device: write offset=0, buflen=4096"
    lines = f"{why}\nclient </tmp/benchconsole.s.Ab1/4e4e.2>: exited with error 28\n"
    with pytest.raises(ProbeOutputError, match=r"the fio of n2 ended early: <n2> fio: io_u error .* No space left"):
        FioClients().parse(Output((), f"benchconsole: clients n1 n2 n3\n{lines}".encode(), exit_status=1))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda whole: whole.replace("benchconsole: clients n1 n2 n3\n", ""),
        lambda whole: whole.replace("clients n1 n2 n3\n", "clients n1 n2\n"),
        lambda whole: whole + "benchconsole: clients n7 n8 n9\n",
        lambda whole: re.sub(r'"hostname" : "[^"]*"', '"hostname" : "192.0.2.1"', whole),
    ],
)
def test_clients_without_a_name_are_refused(spoil: Any) -> None:
    assert spoil(text(OWN)) != text(OWN)
    with pytest.raises(ProbeOutputError):
        FioClients().parse(Output((), spoil(text(OWN)).encode()))


@given(noise, noise)
@settings(max_examples=30, deadline=None)
def test_noise_around_it_changes_nothing(before: str, after: str) -> None:
    assert read(FioClients(), before + text(OWN) + after) == said(FioClients().parse(output(OWN)))


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_noise_inside_it_gives_no_other_value(data: st.DataObject) -> None:
    lines = text(OWN).splitlines(keepends=True)
    place = data.draw(st.integers(0, len(lines)))
    found = read(FioClients(), "".join([*lines[:place], data.draw(noise), *lines[place:]]))
    assert set(found) <= set(said(FioClients().parse(output(OWN))))


# Options that hosts have in common, and those that fio only wrote into one object.


def of_two(first: dict[str, str], second: dict[str, str], ports: tuple[int, int] = (8765, 8765)) -> str:
    """The output of ``fio --client`` for two hosts with these global options."""
    entries = []
    for host, port in zip(("h1", "h1" if ports[0] != ports[1] else "h2"), ports, strict=True):
        moved = {"io_bytes": 2**20, "bw_bytes": 2**20, "bw": 1024, "iops": 16.0, "runtime": 1000, "total_ios": 16}
        entries.append({"jobname": "j", "error": 0, "write": moved, "hostname": host, "port": port})
    shared = ",".join(
        f"{json.dumps(name)}: {json.dumps(value)}" for each in (first, second) for name, value in each.items()
    )
    return f'{{"fio version": "fio-3.33", "global options": {{{shared}}}, "client_stats": {json.dumps(entries)}}}'


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ({"rw": "write", "bs": "64k"}, {"pattern": "sequential", "block": "64KiB"}),
        ({"rw": "write", "bs": "4k"}, {}),
        ({"rw": "write"}, {}),
        ({"rw": "write", "bs": "64k", "iodepth": "8"}, {}),
        ({}, {}),
    ],
)
def test_options_that_not_all_hosts_had_label_nothing(second: dict[str, str], expected: dict[str, str]) -> None:
    """A block of which it is not certain that both had it is not called 64 KiB for either."""
    found = read(Fio(), of_two({"rw": "write", "bs": "64k"}, second))
    labels = [dict(marks) for metric, _, marks in found if metric == "fio.write"]
    assert [{name: each[name] for name in ("pattern", "block") if name in each} for each in labels] == [expected] * 2


def test_servers_of_one_host_are_told_by_their_ports() -> None:
    same = {"rw": "write", "bs": "64k"}
    found = read(Fio(), of_two(same, same, (8765, 8766)))
    assert rates(found) == {"h1:8765": [2**20], "h1:8766": [2**20]}


def entry(name: str, moved: list[tuple[int, int]], host: str) -> dict[str, object]:
    """One entry of ``client_stats``: bytes and milliseconds, summed up as fio does."""
    total, longest = sum(each for each, _ in moved), max(time for _, time in moved)
    rate = total * 1000 // longest
    way = {"io_bytes": total, "bw_bytes": rate, "bw": rate // 1024, "iops": 1.0 + rate, "runtime": longest}
    return {"jobname": name, "error": 0, "write": way, "hostname": host, "port": 8765}


@given(st.lists(st.tuples(st.integers(2**30, 2**38), st.integers(1000, 10**6)), min_size=2, max_size=6), st.data())
@settings(max_examples=200, deadline=None)
def test_whatever_fio_sums_up_only_the_sum_of_all_is_read(moved: list[tuple[int, int]], data: st.DataObject) -> None:
    """Sums over any of the hosts, in any order among them: each host once, and the whole sum once or not at all."""
    hosts = [entry("j", [each], f"h{number}") for number, each in enumerate(moved)]
    chosen = data.draw(st.lists(st.sets(st.sampled_from(range(len(moved))), min_size=1), max_size=4))
    sums = [entry("All clients", [moved[number] for number in some], "h0") for some in chosen]
    listed = data.draw(st.permutations([*hosts, *sums]))
    found = rates(read(Fio(), json.dumps({"fio version": "fio-3.33", "client_stats": listed})))
    whole = [sum(each for each, _ in moved) * 1000 // max(time for _, time in moved)]
    expected = whole if any(len(some) == len(moved) for some in chosen) else []
    assert found.pop("all", []) == expected
    assert found == {f"h{number}": [size * 1000 // time] for number, (size, time) in enumerate(moved)}


# The way from the options to the nodes, with nodes that are played.


class Joint(FakeRemote):
    """A played node whose sockets can be joined; ``joints`` is what was."""

    def __init__(self, node: str, joints: list[tuple[str, str, str]]) -> None:
        super().__init__(node)
        self.joints = joints

    def joined(self, path: str, far: Remote, far_path: str) -> AbstractAsyncContextManager[None]:
        return self._joined(path, far, far_path)

    @asynccontextmanager
    async def _joined(self, path: str, far: Remote, far_path: str) -> AsyncIterator[None]:
        self.joints.append((path, far.node, far_path))
        yield


def played(server: dict[str, Answer] | None = None, versions: tuple[str, ...] = ("3.33",) * 3) -> list[Joint]:
    """Three nodes whose servers listen, or do what ``server`` says of a node."""
    joints: list[tuple[str, str, str]] = []
    nodes: list[Joint] = []
    for number, version in enumerate(versions, 1):
        name = f"n{number}"
        where = f"fio-{version}\n/tmp/benchconsole.s.{name}/tok.{number}\n".encode()
        # a server that goes on has been heard, and has not ended
        answer = (server or {}).get(name, HANGS)
        node = Joint(name, joints)
        node.when("benchconsole-fio-server", answers=answer)
        node.when("benchconsole-fio-where", answers=Output((), where))
        node.when("benchconsole-fio-clients", answers=output(OWN))
        nodes.append(node)
    return nodes


@contextmanager
def listening(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Servers that hang have said that they listen."""
    from benchconsole.probes.testing import fake

    said_by_fake = fake.FakeRunning.says

    async def says(self: Any, wanted: str, *, timeout: float) -> None:
        if self._answer is not HANGS:
            await said_by_fake(self, wanted, timeout=timeout)

    with monkeypatch.context() as patched:
        patched.setattr(fake.FakeRunning, "says", says)
        yield


def target(nodes: list[Joint], **options: str | int | float) -> Target:
    members = tuple(a_node(node.node) for node in nodes)
    return Target(members[0], None, MappingProxyType(options), members)


async def test_all_servers_are_joined_with_the_first_node_and_driven_from_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nodes = played()
    with listening(monkeypatch):
        (outcome,) = await FioClients().run(FakeContact(*nodes), target(nodes, seconds=2, runs="write randread"))
    assert outcome.stdout == output(OWN).stdout
    base = "/tmp/benchconsole.s.n1/tok"
    assert sorted(nodes[0].joints) == [
        (f"{base}.2", "n2", "/tmp/benchconsole.s.n2/tok.2"),
        (f"{base}.3", "n3", "/tmp/benchconsole.s.n3/tok.3"),
    ]
    driving = nodes[0].calls[-1].argv
    assert driving[-5:] == ("write randread", base, "n1", "n2", "n3")
    assert [node.running for node in nodes] == [[], [], []]
    names = {node.node: node.calls[0].argv[-1] for node in nodes}
    assert {name.partition(".")[2] for name in names.values()} == {"1", "2", "3"}
    assert len({name.partition(".")[0] for name in names.values()}) == 1


async def test_nodes_with_different_versions_are_refused_with_both(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = played(versions=("3.33", "3.33", "3.28"))
    with listening(monkeypatch), pytest.raises(RemoteError, match=r"has fio-3\.28, n1 has fio-3\.33") as raised:
        await FioClients().run(FakeContact(*nodes), target(nodes))
    assert (raised.value.failure.stage, raised.value.failure.node) == (FailedAt.REFUSED, "n3")
    assert [node.running for node in nodes] == [[], [], []]


async def test_a_node_that_refuses_its_scratch_is_named_and_the_others_are_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refusal = Output((), b"", b"benchconsole: refused: /scratch has no room\n", scratch.REFUSED)
    nodes = played({"n2": refusal})
    with listening(monkeypatch), pytest.raises(RemoteError, match="has no room") as raised:
        await FioClients().run(FakeContact(*nodes), target(nodes))
    assert (raised.value.failure.stage, raised.value.failure.node) == (FailedAt.REFUSED, "n2")
    assert [node.running for node in nodes] == [[], [], []]


async def test_a_server_that_ends_in_mid_run_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = Output((), READY.encode(), b"benchconsole: fio was ended by signal 9\n", 1)
    nodes = played({"n3": ended})
    nodes[0]._answers.pop()
    nodes[0].when("benchconsole-fio-clients", answers=HANGS)
    with listening(monkeypatch), pytest.raises(RemoteError, match=r"in mid-run: .* signal 9") as raised:
        await FioClients().run(FakeContact(*nodes), target(nodes))
    assert (raised.value.failure.stage, raised.value.failure.node) == (FailedAt.TOOL, "n3")
    assert [node.running for node in nodes] == [[], [], []]


async def test_nodes_that_cannot_be_joined_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = played()
    plain = FakeRemote("n1")
    plain._answers = nodes[0]._answers
    with listening(monkeypatch), pytest.raises(RemoteError, match="over SSH") as raised:
        await FioClients().run(FakeContact(plain, *nodes[1:]), target(nodes))
    assert raised.value.failure.stage is FailedAt.REFUSED
    assert plain.running == []


def test_what_it_writes_is_that_of_all_nodes() -> None:
    nodes = played()
    chosen: dict[str, str | int | float] = {"file": "1 GiB", "jobs": 2, "runs": "write,read", "shared": "home"}
    found = FioClients().demands(target(nodes, **chosen))
    assert (found.writes, dict(found.shared)) == (3 * 2 * 2 * 2**30, {"filesystem:home": 3 * 2 * 2**30})
    server = FioClients()._server(target(nodes, **chosen))
    assert server[-2] == str(3 * 2 * 2**30)
    assert FioClients().estimate(chosen) < FioClients().estimate({**chosen, "runs": ""})


@pytest.mark.parametrize(
    "options",
    [{"file": "much"}, {"runs": "trim"}, {"runs": "randrw"}, {"depth": 4, "direct": 0}, {"jobs": 0}],
)
def test_options_that_cannot_be_read_are_refused(options: dict[str, str | int | float]) -> None:
    with pytest.raises(PlanError):
        FioClients().command(Target(a_node(), options=MappingProxyType(options)))


def test_a_mixed_run_can_be_asked_for_alone() -> None:
    assert FioClients().runs({"mix": 70, "runs": "randrw"}) == ["randrw"]


# The scripts themselves, run here.


def server(root: Path, name: str, size: str = "1000000") -> list[str]:
    argv = list(FioClients()._server(Target(a_node(), options=MappingProxyType({"scratch": str(root)}))))
    return [*argv[:-2], size, "20", name]


@contextmanager
def started(argv: list[str], **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(argv, stdout=-1, stderr=-1, env={**os.environ, **environment}) as going:
        try:
            assert going.stdout
            assert going.stdout.readline() == READY.encode()
            yield going
        finally:
            going.terminate()
            going.wait(timeout=10)


installed = pytest.mark.skipif(
    shutil.which("fio") is None and not os.environ.get("CI"), reason="fio is not installed here (in CI this fails)"
)


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory whose path leaves room for a socket's."""
    with tempfile.TemporaryDirectory(prefix="fio-", dir="/tmp") as made:
        yield Path(made)


@installed
def test_two_real_servers_are_driven_and_leave_nothing(place: Path) -> None:
    roots = [place / "first with a blank", place / "second"]
    for root in roots:
        root.mkdir()
    chosen: dict[str, str | int | float] = {
        "scratch": str(place),
        "file": "1 MiB",
        "seconds": 1,
        "direct": 0,
        "runs": "write",
    }
    nodes = (a_node("n1"), a_node("n2"))
    argv = list(FioClients().command(Target(nodes[0], None, MappingProxyType(chosen), nodes)))
    with started(server(roots[0], "tok.1")), started(server(roots[1], "tok.2")):
        (first,), (second,) = (list(root.glob("benchconsole.*")) for root in roots)
        (first / "tok.2").symlink_to(second / "tok.2")
        assert {path.stat().st_mode & 0o777 for path in (first, second)} == {0o700}
        argv[-3] = str(first / "tok")
        done = subprocess.run(argv, capture_output=True, check=False, timeout=60)
    found = said(FioClients().parse(Output((), done.stdout, done.stderr, done.returncode)))
    assert set(rates(found)) == {"n1", "n2", "all"}
    assert all(dict(marks)["direct"] == "0" for _, _, marks in found)
    assert sorted(path.name for path in place.rglob("*")) == ["first with a blank", "second"]


@installed
@pytest.mark.parametrize("deaf", [False, True])
@pytest.mark.parametrize("first", ["script", "fio"])
def test_a_server_that_is_ended_removes_its_directory_even_when_nobody_listens(
    place: Path, deaf: bool, first: str
) -> None:
    """The watchdog signals both; whichever goes first, the shell may say "Terminated" to a connection that is lost.

    Like the watchdog, the test signals until all is over: fio loses a signal that comes just before it waits.
    """
    with started(server(place, "tok.1")) as going:
        assert len(list(place.iterdir())) == 1
        if deaf:
            assert going.stdout
            assert going.stderr
            going.stdout.close()
            going.stderr.close()
        (fio,) = Path(f"/proc/{going.pid}/task/{going.pid}/children").read_text().split()
        if first == "script":
            os.kill(going.pid, signal.SIGTERM)

        def is_over() -> bool:
            with suppress(ProcessLookupError):  # the script may have ended it by now
                os.kill(int(fio), signal.SIGTERM)
            return going.poll() is not None

        wait_until(is_over)
        assert going.returncode == (128 + signal.SIGTERM if first == "script" else 1)
    assert list(place.iterdir()) == []


@installed
def test_a_server_that_is_killed_says_so(place: Path) -> None:
    with started(server(place, "tok.1")) as going:
        (fio,) = Path(f"/proc/{going.pid}/task/{going.pid}/children").read_text().split()
        os.kill(int(fio), signal.SIGKILL)
        assert going.wait(timeout=10) == 1
        assert going.stderr
        assert b"fio was ended by signal 9" in going.stderr.read()
    assert list(place.iterdir()) == []


@installed
def test_a_path_too_long_for_a_socket_is_refused_before_fio_cuts_it(tmp_path: Path) -> None:
    root = tmp_path / ("x" * 100)
    root.mkdir()
    done = subprocess.run(server(root, "tok.1"), capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == scratch.REFUSED
    assert "too long for a Unix socket (103 bytes)" in done.stderr
    assert list(root.iterdir()) == []


def test_a_missing_tool_is_told_as_the_shell_would(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "sh").symlink_to(shutil.which("sh") or "sh")
    done = subprocess.run(server(tmp_path, "tok.1"), env={"PATH": str(tools)}, capture_output=True, check=False)
    assert done.returncode == 127
