import random
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Output, PlanError, ProbeOutputError, RemoteError, Target
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.testing import PROBE_CHECKS, Check, FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.nuttcp.probe import Nuttcp
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import ROOT, noise, output, read, said, text
from tests.probes.tools.spoiled import (
    a_line_that_is_lost_gives_no_other_number,
    noise_inside_and_a_cut_give_no_other_number,
)
from tests.probes.tools.torn import line_ends_and_colours_change_nothing

ALL = sorted(path.name for path in (ROOT / "nuttcp").iterdir())
NAMES = [name for name in ALL if not name.startswith("broken")]
BROKEN = [name for name in ALL if name.startswith("broken")]
FLOW = Target(a_node("n1", "192.0.2.1", "10.0.0.1"), a_node("n2", "192.0.2.2", "10.0.0.2"))
LISTENS = Output((), b"benchconsole: listening\n", exit_status=None)
WORDS = ("env", "LC_ALL=C", "nuttcp")


def flow(**options: str | int | float) -> Target:
    return replace(FLOW, options=MappingProxyType(options))


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Nuttcp(random.Random(7)), [output(f"nuttcp/{name}") for name in NAMES])


def one(name: str, metric: str) -> tuple[float, dict[str, str]]:
    found = [each for each in Nuttcp().parse(output(f"nuttcp/{name}")) if each.metric == f"nuttcp.{metric}"]
    assert len(found) == 1
    return found[0].value, dict(found[0].labels)


@pytest.mark.parametrize(
    ("name", "mbps", "direction", "protocol", "streams"),
    [
        ("tcp-verbose-parse-6.1.2.txt", 476.0850, "out", "tcp", "1"),
        ("tcp-reverse-verbose-6.1.2.txt", 477.9518, "in", "tcp", "1"),
        ("tcp-two-streams-verbose-6.1.2.txt", 478.5274, "out", "tcp", "2"),
        ("tcp-interval-verbose-parse-6.1.2.txt", 477.8279, "out", "tcp", "1"),
        ("udp-verbose-6.1.2.txt", 100.1881, "out", "udp", "1"),
        ("udp-reverse-verbose-parse-6.1.2.txt", 198.6174, "in", "udp", "1"),
        ("tcp-verbose-5.5.5.txt", 9865.9951, "out", "tcp", "1"),
        ("tcp-streams-verbose-8.2.2.txt", 24605.7202, "out", "tcp", "2"),
    ],
)
def test_the_receiver_of_a_verbose_run_counts(
    name: str, mbps: float, direction: str, protocol: str, streams: str
) -> None:
    value, marks = one(name, "throughput")
    assert value == pytest.approx(mbps * 1e6 / 8, rel=1e-12)
    sent = {"direction": direction, "protocol": protocol, "streams": streams}
    assert {name: marks[name] for name in sent} == sent


@pytest.mark.parametrize(
    ("name", "mbps", "marks"),
    [
        ("tcp-interval-brief-6.1.2.txt", 459.6606, {"protocol": "tcp"}),
        ("tcp-brief-parse-6.1.2.txt", 478.3588, {"protocol": "tcp"}),
        ("tcp-ident-brief-6.1.2.txt", 476.3581, {"protocol": "tcp"}),
        ("tcp-brief-5.5.5.txt", 989.9746, {}),
        ("tcp-brief-8.2.2.txt", 9871.5102, {"protocol": "tcp"}),
        ("tcp-streams-brief-8.2.2.txt", 24654.1175, {"protocol": "tcp"}),
        ("udp-running-brief-6.1.2.txt", 98.6099, {"protocol": "udp"}),
        ("udp-brief-parse-6.1.2.txt", 99.8262, {"protocol": "udp"}),
        ("udp-brief-4.1.1.txt", 100.0031, {"protocol": "udp"}),
        ("udp-jitter-brief-8.2.2.txt", 299.9998, {"protocol": "udp"}),
    ],
)
def test_the_last_line_of_a_brief_run_counts(name: str, mbps: float, marks: dict[str, str]) -> None:
    value, found = one(name, "throughput")
    assert value == pytest.approx(mbps * 1e6 / 8, rel=1e-12)
    assert found == marks


def test_losses_are_shares_of_what_was_sent() -> None:
    assert one("udp-verbose-6.1.2.txt", "loss")[0] == pytest.approx(9 / 8929)
    assert one("udp-reverse-verbose-parse-6.1.2.txt", "loss")[0] == pytest.approx(123 / 17857)
    assert one("udp-running-brief-6.1.2.txt", "loss")[0] == pytest.approx(368 / 24414)
    assert one("udp-brief-parse-6.1.2.txt", "loss")[0] == pytest.approx(19 / 12207)
    assert one("udp-brief-4.1.1.txt", "loss")[0] == pytest.approx(244 / 15473)
    assert one("udp-jitter-brief-8.2.2.txt", "loss")[0] == pytest.approx(3 / 41800)


def test_without_counts_the_percentage_is_read() -> None:
    only = text("nuttcp/udp-brief-4.1.1.txt").replace(" 244 / 15473 drop/pkt", "")
    assert [value for name, value, _ in read(Nuttcp(), only) if name == "nuttcp.loss"] == pytest.approx([0.0158])


def test_a_burst_has_a_loss_and_no_rate() -> None:
    lost, marks = one("burst-large-verbose-parse-6.1.2.txt", "burst_loss")
    assert (lost, marks["packets"], marks["direction"]) == (775 / 3000, "3000", "out")
    none, marks = one("burst-small-reverse-verbose-6.1.2.txt", "burst_loss")
    assert (none, marks["packets"], marks["direction"]) == (0, "65", "in")
    assert [name for name, _, _ in read(Nuttcp(), text("nuttcp/burst-small-reverse-verbose-6.1.2.txt"))] == [
        "nuttcp.burst_loss"
    ]


def test_round_trips_and_processors() -> None:
    assert one("tcp-reverse-verbose-6.1.2.txt", "rtt")[0] == pytest.approx(0.128e-3)
    assert one("tcp-brief-8.2.2.txt", "rtt")[0] == pytest.approx(0.18e-3)
    cpu = {marks: value for name, value, marks in read(Nuttcp(), text("nuttcp/tcp-brief-8.2.2.txt")) if "cpu" in name}
    assert {dict(marks)["end"]: value for marks, value in cpu.items()} == {"sender": 0.43, "receiver": 0.71}


def test_no_retransmissions_are_believed_only_of_versions_that_count_them() -> None:
    assert one("tcp-streams-verbose-8.2.2.txt", "retransmits")[0] == 31
    assert one("tcp-brief-8.2.2.txt", "retransmits")[0] == 12
    assert one("tcp-streams-brief-8.2.2.txt", "retransmits")[0] == 31
    none = text("nuttcp/tcp-streams-verbose-8.2.2.txt").replace("retrans = 31 ( 20+11 )", "retrans = 0")
    assert 0 in [value for name, value, _ in read(Nuttcp(), none) if name == "nuttcp.retransmits"]
    for old in ("tcp-verbose-parse-6.1.2.txt", "tcp-brief-parse-6.1.2.txt"):
        assert "retrans=0" in text(f"nuttcp/{old}")
        assert "nuttcp.retransmits" not in [name for name, _, _ in read(Nuttcp(), text(f"nuttcp/{old}"))]
    host = text("nuttcp/tcp-brief-8.2.2.txt").replace("retrans", "host-retrans")
    assert "nuttcp.retransmits" not in [name for name, _, _ in read(Nuttcp(), host)]


# -- what is refused


@pytest.mark.parametrize("name", BROKEN)
def test_a_run_that_failed_gives_no_number(name: str) -> None:
    with pytest.raises(ProbeOutputError):
        Nuttcp().parse(output(f"nuttcp/{name}"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("9871.5102", "0.0000"),
        ("9871.5102", "nan"),
        ("9871.5102", "inf"),
        ("9871.5102", "-9871.5102"),
        ("9871.5102", "987.1510"),
        ("9871.5102", "+++++"),
        ("11769.2500", "1176.9250"),
        ("12 retrans", "12 retrans of"),
        ("0.18 msRTT", "0.18 ms"),
    ],
)
def test_a_spoiled_brief_line_gives_nothing(old: str, new: str) -> None:
    assert old in text("nuttcp/tcp-brief-8.2.2.txt")
    assert read(Nuttcp(), text("nuttcp/tcp-brief-8.2.2.txt").replace(old, new)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rate_Mbps=198.6174", "rate_Mbps=0.0000"),
        ("rate_Mbps=198.6174", "rate_Mbps=-nan"),
        ("rate_Mbps=198.6174", "rate_Mbps=19.8617"),
        ("drop=123", "drop=-5"),
        ("drop=123", "drop=17858"),
        ("pkt=17857", "pkt=0"),
        ("drop=123 pkt=17857 data_loss=0.68913", ""),
        ("mode=udp", "mode=sctp"),
    ],
)
def test_a_spoiled_verbose_run_gives_nothing(old: str, new: str) -> None:
    whole = text("nuttcp/udp-reverse-verbose-parse-6.1.2.txt")
    assert old in whole
    assert read(Nuttcp(), whole.replace(old, new)) == []


def test_ends_that_do_not_agree_on_the_bytes_are_refused() -> None:
    whole = text("nuttcp/tcp-reverse-verbose-6.1.2.txt")
    assert whole.count("59.5038 MB") == 2
    assert read(Nuttcp(), whole.replace("59.5038 MB", "58.5038 MB", 1)) == []


def test_a_verbose_run_without_its_receiver_is_no_result() -> None:
    whole = text("nuttcp/tcp-verbose-5.5.5.txt")
    assert read(Nuttcp(), "".join(line for line in whole.splitlines(True) if "nuttcp-r" not in line)) == []
    assert read(Nuttcp(), "".join(line for line in whole.splitlines(True) if "nuttcp-t" not in line)) == []


def test_the_sender_of_classic_mode_is_no_receiver() -> None:
    assert read(Nuttcp(), "   59.9544 MB /   1.06 sec =  476.4064 Mbps 14 %TX\n") == []


def test_a_complaint_or_a_bad_end_spoils_numbers() -> None:
    good = output("nuttcp/tcp-brief-8.2.2.txt")
    error = b"nuttcp-t: v8.2.2: Error: timeout while draining socket send queue\n"
    for spoiled in (
        replace(good, stderr=error),
        replace(good, stdout=good.stdout + error),
        replace(good, exit_status=1),
    ):
        with pytest.raises(ProbeOutputError):
            Nuttcp().parse(spoiled)
    warning = b'nuttcp-t: Warning="IP_frags_or_no_data_reception_since_buflen=8972_>_ctlconnmss=1448"\n'
    assert Nuttcp().parse(replace(good, stderr=warning)) == Nuttcp().parse(good)


# -- noise and cuts


@given(st.sampled_from(NAMES), noise, noise)
@settings(max_examples=60, deadline=None)
def test_noise_around_it_changes_nothing(name: str, before: str, after: str) -> None:
    whole = text(f"nuttcp/{name}")
    assert read(Nuttcp(), before + whole + after) == said(Nuttcp().parse(output(f"nuttcp/{name}")))


def test_noise_inside_and_a_cut_give_nothing_else() -> None:
    noise_inside_and_a_cut_give_no_other_number(Nuttcp(), [f"nuttcp/{name}" for name in NAMES])


@pytest.mark.parametrize("name", NAMES)
def test_line_ends_and_colours_change_nothing(name: str) -> None:
    line_ends_and_colours_change_nothing(Nuttcp(), f"nuttcp/{name}")


def test_two_runs_in_one_capture_are_two_results() -> None:
    both = text("nuttcp/tcp-verbose-5.5.5.txt") + text("nuttcp/tcp-reverse-verbose-6.1.2.txt")
    rates = {dict(marks)["direction"]: value for name, value, marks in read(Nuttcp(), both) if "through" in name}
    assert rates == pytest.approx({"out": 9865.9951 * 125e3, "in": 477.9518 * 125e3})


# -- the commands


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ["-t", "-T5", "-N1"]),
        ({"reverse": 1, "seconds": 3, "streams": 4}, ["-r", "-T3", "-N4"]),
        ({"window": "4 MiB", "bitrate": "480 Mb/s"}, ["-t", "-w4096", "-T5", "-N1", "-R480000"]),
        ({"mode": "udp"}, ["-t", "-T5", "-N1", "-u", "-Ru", "-l1472"]),
        ({"mode": "udp", "bitrate": "1 GB/s", "length": "8972 B"}, ["-t", "-T5", "-N1", "-R8000000", "-u", "-l8972"]),
        ({"mode": "burst", "burst": 300, "length": "8972 B"}, ["-t", "-u", "-Ru", "-n300", "-l8972"]),
    ],
)
def test_the_client_is_asked_for_what_the_options_say(options: dict[str, str | int], words: list[str]) -> None:
    argv = Nuttcp().client(flow(**options), 20_000, 20_100)
    assert argv[:3] == list(WORDS)
    assert [word for word in argv[3:-1] if word not in ("-v", "-fparse", "-P20000", "-p20100")] == words
    assert argv[-1] == "10.0.0.2"


def test_ipv6_is_asked_for_at_both_ends() -> None:
    target = Target(a_node("n1", data_address="fd00::1"), a_node("n2", data_address="fd00::2"))
    assert "-6" in Nuttcp().client(target, 20_000, 20_100)
    assert Nuttcp().server(target, 20_000) == ["nuttcp", "-1", "--nofork", "-6", "-P20000"]
    assert "-6" not in Nuttcp().client(FLOW, 20_000, 20_100)


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "sctp"},
        {"seconds": 0},
        {"streams": 129},
        {"bitrate": "fast"},
        {"bitrate": "100 b/s"},
        {"mode": "burst", "bitrate": "1 Gb/s"},
        {"mode": "burst", "burst": 1},
        {"mode": "udp", "length": "65508 B"},
        {"mode": "udp", "length": 1400},
        {"window": "1000 B"},
        {"window": "1500 B"},
        {"reverse": 2},
    ],
)
def test_options_that_cannot_be_met_are_refused(options: dict[str, str | int]) -> None:
    with pytest.raises(PlanError, match="option"):
        Nuttcp().demands(flow(**options))


async def test_the_server_is_one_off_in_the_foreground_and_bursts_have_one_each() -> None:
    here, there = FakeRemote("n1"), FakeRemote("n2")
    there.when("nuttcp", "-1", "--nofork", answers=LISTENS)
    here.when("nuttcp", "-n65", answers=output("nuttcp/burst-small-reverse-verbose-6.1.2.txt"))
    contact = FakeContact(here, there)
    outputs = await Nuttcp(random.Random(3)).run(contact, flow(mode="burst", bursts=3))
    assert (len(outputs), len(there.calls), contact.gathered) == (3, 3, 1)
    for server, client in zip(there.calls, here.calls, strict=True):
        control = int(server.argv[-1].removeprefix("-P"))
        assert server.argv[4:] == (str(control), "tcp", "nuttcp", "-1", "--nofork", f"-P{control}")
        (data,) = (int(word[2:]) for word in client.argv if word.startswith("-p"))
        assert f"-P{control}" in client.argv
        assert data != control
    assert there.running == []


async def test_a_missing_server_is_told_as_such() -> None:
    there = FakeRemote("n2").when("nuttcp", answers=Output((), b"", b"nuttcp: command not found\n", 127))
    with pytest.raises(RemoteError) as raised:
        await Nuttcp().run(FakeContact(FakeRemote("n1"), there), flow())
    assert raised.value.failure.stage is FailedAt.TOOL
    assert "command not found" in raised.value.failure.detail


def test_the_time_needed_follows_the_options() -> None:
    assert Nuttcp().estimate({"seconds": 30}) > 30
    assert Nuttcp().estimate({"mode": "burst", "bursts": 10}) >= 30


def test_runs_of_one_capture_are_told_apart() -> None:
    found = [
        (value, dict(marks))
        for name, value, marks in read(Nuttcp(), text("nuttcp/tcp-three-runs-6.1.2.txt"))
        if name == "nuttcp.throughput"
    ]
    rates = [21401.1338e6 / 8, 22135.0164e6 / 8, 21707.4017e6 / 8]
    assert [value for value, _ in found] == pytest.approx(rates, rel=1e-12)
    assert [marks.get("run") for _, marks in found] == [None, "2", "3"]


def test_a_line_that_is_lost_gives_no_other_number() -> None:
    a_line_that_is_lost_gives_no_other_number(Nuttcp(), [f"nuttcp/{name}" for name in NAMES])
