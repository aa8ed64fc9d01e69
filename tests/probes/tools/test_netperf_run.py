import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes.api import PlanError, ProbeOutputError, RemoteError, Target
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.reach.slurm.local_steps import LocalRemote
from benchconsole.probes.testing import FakeContact, a_node
from benchconsole.probes.tools.netperf.probe import Netperf
from benchconsole.topology.copying import replace

FLOW = Target(a_node("n1", "192.0.2.1", "10.0.0.1"), a_node("n2", "192.0.2.2", "10.0.0.2"))
PAIRS = "127.0.0.1>127.0.0.2, 127.0.1.1>127.0.1.2"


def flow(**options: str | int | float) -> Target:
    return replace(FLOW, options=MappingProxyType(options))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {},
            [
                "-t",
                "TCP_STREAM",
                "-l",
                "5",
                "-P",
                "1",
                "--",
                "-k",
                "LOCAL_SEND_SIZE,THROUGHPUT_UNITS,THROUGHPUT,LOCAL_TRANSPORT_RETRANS",
            ],
        ),
        (
            {"seconds": 600, "message": "1 MiB", "window": "2 MiB"},
            [
                *("-t", "TCP_STREAM", "-l", "600", "-P", "1", "--", "-m", "1048576", "-M", "1048576"),
                *(
                    "-s",
                    "2097152",
                    "-S",
                    "2097152",
                    "-k",
                    "LOCAL_SEND_SIZE,THROUGHPUT_UNITS,THROUGHPUT,LOCAL_TRANSPORT_RETRANS",
                ),
            ],
        ),
        (
            {"test": "UDP_STREAM"},
            [
                *("-t", "UDP_STREAM", "-l", "5", "-P", "1", "--", "-R", "1", "-m", "1472", "-M", "1472"),
                *("-k", "LOCAL_SEND_SIZE,THROUGHPUT_UNITS,THROUGHPUT,LOCAL_BYTES_SENT,REMOTE_BYTES_RECVD"),
            ],
        ),
        (
            {"test": "UDP_RR", "response": "1 KiB"},
            [
                *("-t", "UDP_RR", "-l", "5", "-P", "1", "--", "-r", "1,1024"),
                *("-k", "REQUEST_SIZE,RESPONSE_SIZE,THROUGHPUT_UNITS,THROUGHPUT,RT_LATENCY,P99_LATENCY"),
            ],
        ),
        (
            {"test": "TCP_SENDFILE", "file": "/data/x"},
            ["-t", "TCP_SENDFILE", "-l", "5", "-F", "/data/x", "-P", "1", "--"],
        ),
    ],
)
def test_the_client_is_asked_for_what_the_options_say(options: dict[str, str | int], words: list[str]) -> None:
    argv = Netperf().client(flow(**options), 20_000)
    assert argv[:7] == ["env", "LC_ALL=C", "netperf", "-H", "10.0.0.2,4", "-p", "20000"]
    assert argv[7:] == [*words, "-L", "10.0.0.1,4", "-H", "10.0.0.2,4"]


def test_a_name_is_bound_to_nothing() -> None:
    target = Target(a_node("n1", data_address="n1.example"), a_node("n2", data_address="n2.example"))
    assert Netperf().client(target, 20_000)[-3:] == [
        *("LOCAL_SEND_SIZE,THROUGHPUT_UNITS,THROUGHPUT,LOCAL_TRANSPORT_RETRANS", "-H", "n2.example")
    ]


@pytest.mark.parametrize(
    "options",
    [
        {"test": "SCTP_STREAM"},
        {"seconds": 0},
        {"message": "1M"},
        {"test": "UDP_STREAM", "message": "65508 B"},
        {"window": "12 B"},
        {"test": "TCP_RR", "request": "0 B"},
        {"test": "TCP_SENDFILE"},
        {"test": "TCP_SENDFILE", "file": "relative"},
        {"addresses": "10.0.1.1"},
        {"addresses": "n1>n2"},
        {"addresses": "10.0.1.1>10.0.2.1>10.0.3.1"},
        {"addresses": "fe80::1%eth0>fe80::2%eth0"},
        {"addresses": "10.0.1.1>10.0.2.1, 10.0.1.1>10.0.2.1"},
        {"addresses": "$(reboot)>10.0.2.1"},
        {"test": "TCP_RR", "addresses": "10.0.1.1>10.0.2.1"},
    ],
)
def test_options_that_cannot_be_met_are_refused(options: dict[str, str | int]) -> None:
    with pytest.raises(PlanError):
        Netperf().demands(flow(**options))


# -- against a played netperf

NETSERVER = f"""#!{sys.executable}
import socket, sys
words = sys.argv[1:]
assert words[:4] == ["-D", "-N", "-L", "127.0.0.2,4"] and words[4] == "-p", words
listening = socket.create_server(("127.0.0.2", int(words[5])))
print("Starting netserver", flush=True)
while True:
    listening.accept()
"""
CLIENT = f"""#!{sys.executable}
import json, os, socket, sys
words = sys.argv[1:]
told = dict(zip(words[: words.index("--")][::2], words[: words.index("--")][1::2]))
own = words[words.index("--") + 1 :]
with open(os.environ["PLAYED"] + "." + str(os.getpid()), "w") as log:
    json.dump(words, log)
host, port = told["-H"], int(told["-p"])
assert host == "127.0.0.2,4" and os.environ["LC_ALL"] == "C", words
socket.create_connection((host.partition(",")[0], port), timeout=5).close()
here = own[own.index("-L") + 1]
rate = {{"127.0.0.1,4": "284.68", "127.0.1.1,4": "194.76"}}[here]
print("MIGRATED TCP STREAM TEST from", here, "() port 0 AF_INET to", own[own.index("-H") + 1], flush=True)
if own[own.index("-H") + 1] == "127.0.1.3,4":
    sys.exit("netperf: send_omni: connect_data_socket failed: Network is unreachable")
for key in own[own.index("-k") + 1].split(","):
    print(key, {{"THROUGHPUT": rate, "THROUGHPUT_UNITS": "10^6bits/s"}}.get(key, "7"), sep="=")
"""


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[list[str]]]:
    """Both programs on the path, and what the client was called with."""
    for name, program in (("netserver", NETSERVER), ("netperf", CLIENT)):
        (tmp_path / name).write_text(program)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("PLAYED", str(tmp_path / "called"))
    return lambda: [json.loads(path.read_text()) for path in sorted(tmp_path.glob("called.*"))]


def here_and_there() -> FakeContact:
    session = f"s{secrets.token_hex(4)}"
    return FakeContact(LocalRemote(session, "n1"), LocalRemote(session, "n2"))


NEAR = Target(a_node("n1", data_address="127.0.0.1"), a_node("n2", data_address="127.0.0.2"))


async def test_one_pair_runs_between_the_data_addresses(played: Callable[[], list[list[str]]]) -> None:
    contact = here_and_there()
    (ran,) = await Netperf().run(contact, NEAR)
    found = {each.metric: each.value for each in Netperf().parse(ran)}
    assert found == pytest.approx({"netperf.throughput": 284.68e6 / 8, "netperf.retransmits": 7})
    assert (len(played()), contact.gathered) == (1, 1)
    assert played()[0][-4:] == ["-L", "127.0.0.1,4", "-H", "127.0.0.2,4"]


async def test_all_pairs_run_at_once_and_are_summed(played: Callable[[], list[list[str]]]) -> None:
    target = replace(NEAR, options=MappingProxyType({"addresses": PAIRS, "message": "1 MiB"}))
    (ran,) = await Netperf().run(here_and_there(), target)
    first, *others = Netperf().parse(ran)
    assert first.value == pytest.approx((284.68 + 194.76) * 1e6 / 8)
    assert {dict(each.labels)["pair"] for each in others} == {"127.0.0.1>127.0.0.2", "127.0.1.1>127.0.1.2"}
    assert sorted((words[-3], words[-1]) for words in played()) == [
        ("127.0.0.1,4", "127.0.0.2,4"),
        ("127.0.1.1,4", "127.0.1.2,4"),
    ]


async def test_one_pair_that_fails_fails_the_sum(played: Callable[[], list[list[str]]]) -> None:
    target = replace(NEAR, options=MappingProxyType({"addresses": PAIRS.replace("127.0.1.2", "127.0.1.3")}))
    (ran,) = await Netperf().run(here_and_there(), target)
    with pytest.raises(ProbeOutputError, match=r"EXIT=1 over 127\.0\.1\.1"):
        Netperf().parse(ran)
    assert len(played()) == 2


@pytest.mark.parametrize("options", [{}, {"addresses": PAIRS}])
def test_a_node_without_netperf_ends_with_127(options: dict[str, str], tmp_path: Path) -> None:
    for tool in ("env", "sh", "awk"):
        (tmp_path / tool).symlink_to(str(shutil.which(tool)))
    argv = Netperf().client(replace(NEAR, options=MappingProxyType(options)), 20_000)
    done = subprocess.run(argv, env={"PATH": str(tmp_path)}, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 127
    assert "netperf" in done.stderr


async def test_a_peer_without_netserver_is_told_as_such(played: Callable[[], list[list[str]]], tmp_path: Path) -> None:
    (tmp_path / "netserver").write_text("#!/bin/sh\necho netserver: command not found >&2; exit 127\n")
    with pytest.raises(RemoteError, match="netserver: command not found") as raised:
        await Netperf().run(here_and_there(), NEAR)
    assert (raised.value.failure.stage, raised.value.failure.node) == (FailedAt.MISSING_TOOL, "n2")
    assert played() == []


def test_the_time_needed_follows_the_options() -> None:
    assert Netperf().estimate({"seconds": 600}) > 600
