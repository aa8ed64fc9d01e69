import json
import socket
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes import scratch
from benchconsole.probes.api import Output, Part, PlanError, ProbeOutputError, RemoteError, Target
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.reach.slurm.local_steps import LocalRemote
from benchconsole.probes.serving import READY, listening
from benchconsole.probes.testing import PROBE_CHECKS, Check, FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.archive.probe import Archive
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import ROOT, noise, output, read, said, text, values

NAMES = sorted(path.name for path in (ROOT / "archive").iterdir() if "broken" not in path.name)
Options = dict[str, str | int | float]


def left(place: Path) -> list[str]:
    """The sorted names of the files in ``place``."""
    return sorted(each.name for each in place.iterdir())


def document(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text(f"archive/{name}").splitlines()[-1])
    return found


def parse(found: dict[str, Any]) -> dict[str, list[str | float]]:
    return values(Archive().parse(Output((), json.dumps(found).encode())))


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Archive(), [output(f"archive/{name}") for name in NAMES])


def test_the_sum_is_over_the_time_in_which_all_ran() -> None:
    found = Archive().parse(output("archive/uneven.txt"))
    assert values(found) == {
        # from 1.5 s to 3.0 s: 15 MB of the first at 10 MB/s, 3.75 MB of the second at 2.5 MB/s
        "archive.throughput": [pytest.approx(18.75e6 / 1.5)],
        "archive.transfer": [pytest.approx(10e6), pytest.approx(2.5e6)],
        "archive.spread": [pytest.approx(4.0)],
    }
    asked = {
        "cache": "unproven",
        "direction": "out",
        "streams": "2",
        "size": "26214400",
        "source": "files",
        "sink": "discard",
    }
    assert [dict(one.labels) for one in found] == [asked, {**asked, "stream": "1"}, {**asked, "stream": "2"}, asked]


@pytest.mark.parametrize("name", ["memory.txt", "files.txt"])
def test_a_recorded_run_says_what_its_samples_say(name: str) -> None:
    samples = [each["samples"] for each in document(name)["results"]]
    begin, end = max(each[0][0] for each in samples), min(each[-1][0] for each in samples)

    def by(each: list[list[int]], moment: int) -> float:
        """Bytes at a moment, by walking along the samples."""
        for (at, held), (later, more) in pairwise(each):
            if at <= moment <= later:
                return held + (more - held) * (moment - at) / (later - at)
        raise AssertionError(moment)

    moved = sum(by(each, end) - by(each, begin) for each in samples)
    rates = [(each[-1][1] - each[0][1]) / (each[-1][0] - each[0][0]) * 1e6 for each in samples]
    found = values(Archive().parse(output(f"archive/{name}")))
    assert found["archive.throughput"] == [pytest.approx(moved / (end - begin) * 1e6)]
    assert found["archive.transfer"] == pytest.approx(rates)
    assert found["archive.spread"] == [pytest.approx(max(rates) / min(rates))]


def test_one_transfer_is_its_own_sum() -> None:
    whole = document("uneven.txt")
    whole |= {"streams": 1, "results": whole["results"][:1]}
    assert parse(whole) == {"archive.throughput": [10e6], "archive.transfer": [10e6]}


@pytest.mark.parametrize(
    "samples",
    [
        [],
        [[1000000, 1000000]],
        [[1000000, 1000000], [2000000]],
        [[1000000, 1000000], [2000000, 21000000, 7]],
        [[1000000, 1000000], [1000000, 21000000]],  # no time
        [[1000000, 1000000], [2000000, 2000000], [2000000, 3000000], [3000000, 21000000]],
        [[3000000, 1000000], [1000000, 21000000]],
        [[1000000, 22000000], [3000000, 21000000]],
        [[1000000, 1000000], [2000000, 500000], [3000000, 21000000]],
        [[1000000, 1000000], [3000000, 20999999]],  # not what was sent
        [[1000000, 21000000], [3000000, 21000000]],  # all of it came before the clock was read
        [[1000000, 1000000], [3000000, 21000000.0]],
        [[1000000, False], [3000000, 21000000]],
        [[-1, 1000000], [3000000, 21000000]],
        [[1000000, 1000000], [10**13, 21000000]],
        [[1000000, 1000000], [1600000, 21000000]],  # together for 0.1 s
        [[4000000, 1000000], [5000000, 21000000]],  # never together
        "many",
    ],
)
def test_samples_that_cannot_be_are_refused(samples: object) -> None:
    whole = document("uneven.txt")
    whole["results"][0]["samples"] = samples
    with pytest.raises(ProbeOutputError):
        parse(whole)


@pytest.mark.parametrize(
    ("key", "value"),
    [("streams", 3), ("streams", 2.0), ("size", 1), ("source", "tape"), ("sink", None), ("results", []), ("end", 1)],
)
def test_a_document_that_contradicts_itself_is_refused(key: str, value: object) -> None:
    with pytest.raises(ProbeOutputError):
        parse({**document("uneven.txt"), key: value})


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-1", "1e999", "null", "0"])
def test_no_absurd_number_becomes_a_reading(value: str) -> None:
    for number in ("21000000", "5500000", "3500000", "26214400"):
        assert read(Archive(), text("archive/uneven.txt").replace(number, value)) == []


def test_a_run_that_failed_gives_nothing_whatever_it_printed() -> None:
    with pytest.raises(ProbeOutputError, match="hung up"):
        Archive().parse(replace(output("archive/files.txt"), exit_status=1, stderr=b"OSError: the receiver hung up\n"))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMES), noise, noise, st.data())
def test_noise_and_cuts_never_give_another_number(name: str, before: str, after: str, data: st.DataObject) -> None:
    whole = said(Archive().parse(output(f"archive/{name}")))
    full = before + text(f"archive/{name}") + after
    assert read(Archive(), full) == whole
    assert read(Archive(), full[: data.draw(st.integers(0, len(full)))]) in ([], whole)
    place = data.draw(st.integers(0, len(full)))
    assert read(Archive(), f"{full[:place]}\n{data.draw(noise)}\n{full[place:]}") in ([], whole)


# The commands, and both ends for real.


def target(**options: str | int | float) -> Target:
    """Two nodes on the loopback interface."""
    nodes = (a_node("n1", "127.0.0.1"), a_node("n2", "127.0.0.2"))
    return Target(*nodes, MappingProxyType({**Archive.options, **options}))


def test_the_nine_sessions_of_the_report_in_words_of_the_commands() -> None:
    asked, probe = target(size="10 GiB", seconds=60, source="files", sink="files", scratch="/lustre"), Archive()
    sender, receiver = probe.sender(asked, 20_001, word="w"), probe.receiver(asked, 20_001, word="w", idle=90.0)
    written = 9 * 10 * 2**30
    assert sender[4:7] == receiver[4:7] == ["/lustre", str(written), "25"]
    assert sender[12:] == [
        "",
        "9",
        str(10 * 2**30),
        "60.0",
        "1",
        "20001",
        "w",
        "127.0.0.2",
        "127.0.0.1",
        "60.0",
        "files",
    ]
    assert receiver[12:] == ["", "9", "1", "20001", "w", "127.0.0.2", "90.0", "60.0"]
    assert probe.space(asked.options) == written
    assert probe.demands(asked).alone == {Part.DISK}
    assert probe.demands(asked).writes == 2 * written
    assert dict(probe.demands(target(sink="files", shared="archive")).shared) == {"filesystem:archive": 9 * 2**30}
    assert probe.estimate(asked.options) == pytest.approx(64 + written / 100e6)


def test_memory_to_nowhere_needs_no_disk() -> None:
    assert (
        Archive().sender(target(), 20_001, word="w")[0]
        == Archive().receiver(target(), 20_001, word="w", idle=9.0)[0]
        == "python3"
    )
    assert Archive().space(target().options) == Archive().demands(target()).writes == 0
    assert Archive().demands(target()).alone == frozenset()
    assert Archive().estimate(target(seconds=30).options) == 34


@pytest.mark.parametrize(
    "options",
    [
        {"streams": 0},
        {"streams": 65},
        {"size": "1 KiB"},
        {"size": "1 GB/s"},
        {"seconds": 0},
        {"seconds": "long"},
        {"source": "tape"},
        {"sink": "null"},
    ],
)
async def test_options_out_of_range_are_refused_before_anything_is_sent(options: Options) -> None:
    here, there = FakeRemote("n1", lenient=True), FakeRemote("n2", lenient=True)
    with pytest.raises(PlanError, match=f"option {next(iter(options))}"):
        await Archive().run(FakeContact(here, there), target(**options))
    with pytest.raises(PlanError, match=f"option {next(iter(options))}"):
        Archive().demands(target(**options)) and Archive().estimate(target(**options).options)
    assert here.calls == there.calls == []


def test_a_node_alone_has_nobody_to_send_to() -> None:
    with pytest.raises(PlanError, match="a pair of nodes"):
        Archive().sender(Target(a_node()), 1, word="w")


@pytest.mark.parametrize(("source", "sink"), [("memory", "discard"), ("files", "files")])
async def test_a_real_run_moves_everything_and_leaves_nothing(tmp_path: Path, source: str, sink: str) -> None:
    contact = FakeContact(LocalRemote("s-1", "n1"), LocalRemote("s-1", "n2"))
    asked = target(streams=3, size="256 MiB", seconds=1, source=source, sink=sink, scratch=str(tmp_path))
    if sink == "files":
        asked = target(streams=2, size="40 MiB", source=source, sink=sink, scratch=str(tmp_path))
    (done,) = await Archive().run(contact, asked)
    whole = json.loads(done.text.splitlines()[-1])
    assert (contact.gathered, left(tmp_path)) == (1, [])
    for each in whole["results"]:
        assert each["sent"] == each["samples"][-1][1]
        assert sink == "discard" or each["sent"] == 40 * 2**20
        times = [at for at, _ in each["samples"]]
        assert times == sorted(times)


class Receiver:
    """A receiver of one transfer on a port of its own, with its words."""

    def __init__(self, *, idle: float = 20.0, address: str = "127.0.0.2") -> None:
        with socket.create_server(("127.0.0.2", 0)) as found:
            self.port = int(found.getsockname()[1])
        node = replace(a_node("n2", "127.0.0.2"), data_address=address)
        asked = replace(target(streams=1, size="1 MiB", python=sys.executable), peer=node)
        argv = listening(Archive().receiver(asked, self.port, word="w" * 32, idle=idle), self.port)
        self.going = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def connect(self) -> socket.socket:
        """To be called once it listens."""
        return socket.create_connection(("127.0.0.2", self.port), timeout=10)

    def listens(self) -> "Receiver":
        """Return when it does."""
        assert self.going.stdout is not None
        assert self.going.stdout.readline() == f"{READY}\n"
        return self

    def ended(self) -> tuple[int, str]:
        _, said = self.going.communicate(timeout=30)
        return self.going.returncode, said


def test_strangers_are_no_transfers() -> None:
    receiver = Receiver().listens()
    for words in (b"GET / HTTP/1.0\r\n\r\n" + b"x" * 32, b""):
        with receiver.connect() as stranger:
            stranger.sendall(words)
            stranger.shutdown(socket.SHUT_WR)
            assert stranger.recv(10) == b""
    with receiver.connect() as ours:
        ours.sendall(b"w" * 32 + b"01")
        assert ours.recv(1) == b"r"
        ours.sendall(b"x" * 5000)
        ours.shutdown(socket.SHUT_WR)
        with ours.makefile("rb") as answer:
            counted = json.loads(answer.read())
    assert counted["received"] == counted["samples"][-1][1] == 5000
    assert receiver.ended() == (0, "")


def test_a_receiver_without_a_sender_ends_by_itself() -> None:
    assert Receiver(idle=0.3).ended() == (1, "no sender came within 0.3 s\n")


def test_a_sender_that_dies_is_a_failure() -> None:
    receiver = Receiver().listens()
    with receiver.connect() as ours:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        ours.sendall(b"w" * 32 + b"01")
        assert ours.recv(1) == b"r"
    status, words = receiver.ended()
    assert status == 1
    assert "ConnectionResetError" in words


def test_a_name_that_only_this_node_has_is_not_listened_on() -> None:
    status, words = Receiver(address="localhost").ended()
    assert status == 1
    assert "localhost is" in words
    assert "an address that the other node can reach" in words


def test_a_sender_without_a_receiver_says_so() -> None:
    argv = Archive().sender(target(streams=2, size="1 MiB", python=sys.executable), 1, word="w" * 32)
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=30)
    assert (done.returncode, done.stdout) == (1, "")
    assert "ConnectionRefusedError" in done.stderr
    assert "failed before it began" in done.stderr


def test_a_receiver_that_counts_less_is_a_failure() -> None:
    with socket.create_server(("127.0.0.2", 0)) as listener:
        port = int(listener.getsockname()[1])
        argv = Archive().sender(target(streams=1, size="1 MiB", python=sys.executable), port, word="w" * 32)
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as sender:
            listener.settimeout(20)
            connection = listener.accept()[0]
            with connection, connection.makefile("rb") as heard:
                assert heard.read(34) == b"w" * 32 + b"01"
                connection.sendall(b"r")
                assert len(heard.read()) == 2**20
                connection.sendall(b'{"received": 1048575, "samples": []}')
            words = sender.communicate(timeout=20)
    assert sender.returncode == 1
    assert words[0] == ""
    assert "sent 1048576 bytes, 1048575 arrived" in words[1]


@pytest.mark.parametrize("full", ["n1", "n2"])
async def test_either_end_may_refuse_its_directory(full: str) -> None:
    refusal = Output((), b"", b"benchconsole: refused: no room\n", scratch.REFUSED)
    good = Output((), f"{READY}\nbenchconsole: prepared\n".encode(), exit_status=None)
    ends = [
        FakeRemote(name).when("sh", answers=replace(refusal, node=name) if name == full else good)
        for name in ("n1", "n2")
    ]
    with pytest.raises(RemoteError) as raised:
        await Archive().run(FakeContact(*ends), target(source="files", sink="files"))
    failure = raised.value.failure
    assert (failure.stage, failure.detail, failure.node) == (FailedAt.REFUSED, "no room", full)


async def test_it_waits_for_its_round_with_the_receiver_listening() -> None:
    here, there = FakeRemote("n1", lenient=True), FakeRemote("n2", lenient=True)
    contact = FakeContact(here, there)
    await Archive().run(contact, target())
    assert contact.gathered == 1
    assert [call.argv[0] for call in there.calls] == ["sh"]
    assert [(call.argv[0], call.started) for call in here.calls] == [("python3", True), ("python3", False)]
    assert here.running == there.running == []
