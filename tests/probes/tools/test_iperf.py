"""iperf 2: which line is the whole run, who counted it, and what may not be read from it."""

import random
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Output, PlanError, ProbeOutputError, Target
from benchconsole.probes.testing import PROBE_CHECKS, Check, a_node
from benchconsole.probes.tools.iperf.probe import Iperf
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import ROOT, output
from tests.probes.tools.spoiled import SPOILED_CHECKS, SpoiledCheck

ALL = sorted(f"iperf/{path.name}" for path in (ROOT / "iperf").iterdir())
NAMES = [name for name in ALL if "broken" not in name]
FLOW = Target(a_node("n1", "192.0.2.1", "10.0.0.1"), a_node("n2", "192.0.2.2", "10.0.0.2"))
HEAD = """\
Client connecting to 192.0.2.2, TCP port 5001
[  3] local 192.0.2.1 port 45678 connected with 192.0.2.2 port 5001
"""
WHOLE = "[  3]  0.0-10.0 sec  1.10 GBytes   942 Mbits/sec\n"
SHORT = "[  3]  0.0- 2.0 sec   225 MBytes   942 Mbits/sec\n"


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Iperf(random.Random(7)), [output(name) for name in NAMES])


@pytest.mark.parametrize("check", SPOILED_CHECKS, ids=lambda check: check.__name__)
def test_spoiled_output_gives_no_other_number(check: SpoiledCheck) -> None:
    check(Iperf(), NAMES)


@pytest.mark.parametrize(
    ("name", "rate", "marks"),
    [
        ("tcp-2.0.5.txt", 942e6 / 8, {"counted": "sender", "streams": "1", "seconds": "10"}),
        ("tcp-2.1.8.txt", 19.3e9 / 8, {"counted": "sender", "streams": "1", "seconds": "2"}),
        ("tcp-mbytes-2.1.8.txt", 2208 * 2**20, {"counted": "sender", "streams": "1", "seconds": "1"}),
        ("tcp-enhanced-2.1.8.txt", 16.1e9 / 8, {"counted": "sender", "streams": "1"}),
        ("tcp-streams-intervals-2.1.8.txt", 39.3e9 / 8, {"counted": "sender", "streams": "4", "seconds": "2"}),
        ("udp-2.1.8.txt", 105e6 / 8, {"counted": "receiver", "size": "1470", "protocol": "udp"}),
        ("udp-streams-2.0.5.txt", 1949e6 / 8, {"counted": "receiver", "size": "8972", "streams": "2"}),
        ("server-tcp-2.1.8.txt", 19.4e9 / 8, {"counted": "receiver", "protocol": "tcp"}),
        ("server-udp-2.1.8.txt", 105e6 / 8, {"counted": "receiver", "protocol": "udp"}),
    ],
)
def test_the_whole_run_is_read_in_its_unit_and_who_counted_it(name: str, rate: float, marks: dict[str, str]) -> None:
    found = {each.metric: each for each in Iperf().parse(output(f"iperf/{name}"))}
    assert found["iperf.throughput"].value == pytest.approx(rate)
    assert marks.items() <= dict(found["iperf.throughput"].labels).items()


def test_loss_and_jitter_are_those_of_the_server() -> None:
    found = Iperf().parse(output("iperf/udp-streams-2.0.5.txt"))
    assert [(each.metric, dict(each.labels).get("stream")) for each in found] == [
        ("iperf.throughput", None), ("iperf.loss", None), ("iperf.jitter", "1"), ("iperf.jitter", "2"),
    ]  # fmt: skip
    assert [each.value for each in found[1:]] == pytest.approx([(139 + 6966) / (2 * 139323), 13e-6, 21e-6])


@pytest.mark.parametrize(
    ("said", "is_read"),
    [
        (HEAD + WHOLE, True),
        (HEAD + SHORT, False),
        (f"$ iperf -c 192.0.2.2 -t 2\n{HEAD}{SHORT}", True),
        (f"$ iperf -c 192.0.2.2\n{HEAD}{SHORT}", False),
        (f"$ iperf -c 192.0.2.2 -t 2 -n 1G\n{HEAD}{SHORT}", False),
        (f"$ iperf -c 192.0.2.2 -t 20 -i 10\n{HEAD}{WHOLE}", False),
        (HEAD + SHORT + SHORT.replace("0.0- 2.0", "2.0- 4.0"), False),
        (HEAD + SHORT + WHOLE.replace("0.0-10.0", "2.0-10.0").replace("1.10 G", " 900 M"), False),
        (HEAD + WHOLE.replace("942 M", "842 M"), False),
        (HEAD + WHOLE.replace("942 M", "942 "), False),
        (HEAD.replace("TCP", "UDP") + WHOLE, False),
        (HEAD * 2 + WHOLE, False),
        (HEAD + WHOLE + WHOLE.replace("[  3]", "[  4]"), False),
        (HEAD + HEAD.splitlines(keepends=True)[1].replace("[  3]", "[  4]") + WHOLE, False),
        (HEAD.replace("port 5001\n[", "port 5001\nServer listening on TCP port 5001\n[") + WHOLE, False),
        (HEAD.partition("\n")[0] + "\n" + WHOLE, False),
        (f"{HEAD}write failed: Connection reset by peer\n{WHOLE}", False),
    ],
)
def test_what_is_not_certainly_the_whole_of_one_run_is_refused(said: str, is_read: bool) -> None:
    if is_read:
        assert [each.value for each in Iperf().parse(Output((), said.encode()))] == [942e6 / 8]
    else:
        with pytest.raises(ProbeOutputError):
            Iperf().parse(Output((), said.encode()))


@pytest.mark.parametrize(
    ("times", "moved", "is_read"),
    [
        ("0.00-10.00", "1.10 GBytes", True),
        ("0.00-10.01", "1.10 GBytes", True),
        ("0.00-9.98", "1.10 GBytes", True),
        ("0.00-9.00", "1012 MBytes", False),
        ("0.00-1.00", "112 MBytes", False),
        ("0.00-1.03", "116 MBytes", True),
        ("0.0000-10.0007", "1.10 GBytes", True),
        ("0.0000-10.0000", "1.10 GBytes", False),
        ("0.0-10.0", "1.10 GBytes", True),
        ("0.0- 1.0", "112 MBytes", False),
    ],
)
def test_a_line_that_ends_at_a_whole_second_is_an_interval_by_its_digits(times: str, moved: str, is_read: bool) -> None:
    """Two digits by the format of ``IPERFTimeFrmt`` of a build without fast sampling, not recorded."""
    said = f"{HEAD}[ ID] Interval       Transfer     Bandwidth\n[  3] {times} sec  {moved}   942 Mbits/sec\n"
    if is_read:
        assert [each.value for each in Iperf().parse(Output((), said.encode()))] == [942e6 / 8]
    else:
        with pytest.raises(ProbeOutputError, match="may be an interval"):
            Iperf().parse(Output((), said.encode()))


@pytest.mark.parametrize("name", [name for name in ALL if "broken" in name])
def test_a_run_that_failed_gives_no_number(name: str) -> None:
    with pytest.raises(ProbeOutputError):
        Iperf().parse(output(name))


def test_the_data_of_the_other_end_is_inward() -> None:
    said = (HEAD.replace("5001\n[", "5001\n[ *").replace("[ *  3", "[ *3").rstrip() + " (reverse)\n") + WHOLE.replace(
        "  3", " *3"
    )
    (found,) = Iperf().parse(Output((), said.encode()))
    assert {"direction": "in", "counted": "receiver"}.items() <= dict(found.labels).items()


def test_the_client_is_told_what_was_asked_for() -> None:
    options = {**Iperf.options, "protocol": "udp", "bitrate": "8 Gb/s", "streams": 2, "seconds": 3, "length": "8972 B"}
    argv = Iperf().client(replace(FLOW, options=MappingProxyType(options)), 5001)
    assert " ".join(argv) == "iperf -c 10.0.0.2 -p 5001 -t 3 -P 2 -f k -u -b 4000000000 -l 8972"
    argv = Iperf().client(replace(FLOW, options=Iperf.options), 5001)
    assert " ".join(argv) == "iperf -c 10.0.0.2 -p 5001 -t 10 -P 4 -f k"
    assert FLOW.peer is not None
    six = replace(FLOW, peer=replace(FLOW.peer, data_address="fd00::2"), options=Iperf.options)
    assert " ".join(Iperf().client(six, 5001)) == "iperf -c fd00::2 -p 5001 -t 10 -P 4 -f k -V"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"protocol": "udp"}, "bitrate"),
        ({"protocol": "sctp"}, "protocol"),
        ({"streams": 0}, "streams"),
        ({"bitrate": "1 b/s", "streams": 4}, "bitrate"),
        ({"protocol": "udp", "bitrate": "1 Gb/s", "length": "1 MB"}, "length"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, str | int], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        Iperf().client(replace(FLOW, options=MappingProxyType({**Iperf.options, **options})), 5001)
