import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Output, ProbeOutputError
from benchconsole.probes.testing import PROBE_CHECKS, Check
from benchconsole.probes.tools.netperf.probe import Netperf
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import ROOT, noise, output, read, said, text
from tests.probes.tools.spoiled import (
    a_line_that_is_lost_gives_no_other_number,
    noise_inside_and_a_cut_give_no_other_number,
)
from tests.probes.tools.torn import line_ends_and_colours_change_nothing, one_line_lost_or_twice

ALL = sorted(path.name for path in (ROOT / "netperf").iterdir())
NAMES = [name for name in ALL if not name.startswith("broken")]
BROKEN = [name for name in ALL if name.startswith("broken")]


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Netperf(), [output(f"netperf/{name}") for name in NAMES])


@pytest.mark.parametrize(
    ("name", "value", "test", "direction"),
    [
        ("tcp-2.7.0.txt", 465.14e6 / 8, "TCP_STREAM", "out"),
        ("tcp-mbytes-2.7.0.txt", 56.72 * 2**20, "TCP_STREAM", "out"),
        ("tcp-cpu-gbytes-2.7.0.txt", 0.05 * 2**30, "TCP_STREAM", "out"),
        ("maerts-kbits-2.7.0.txt", 423703.37e3 / 8, "TCP_MAERTS", "in"),
        ("sendfile-gbits-2.7.0.txt", 0.47e9 / 8, "TCP_SENDFILE", "out"),
        ("udp-2.7.0.txt", 266.13e6 / 8, "UDP_STREAM", "out"),
        ("udp-cpu-kbytes-2.7.0.txt", 29009.6 * 2**10, "UDP_STREAM", "out"),
        ("udp-keys-2.7.0.txt", 213.58e6 / 8, "UDP_STREAM", "out"),
        ("tcp-v2-interim-2.7.0.txt", 468.95e6 / 8, "TCP_STREAM", "out"),
        ("tcp-csv-2.7.0.txt", 471.18e6 / 8, "TCP_STREAM", "out"),
        ("omni-2.7.0.txt", 455.99e6 / 8, "omni", "out"),
        ("omni-keys-2.7.0.txt", 447.50e6 / 8, "omni", "in"),
        ("tcp-keys-bare-2.7.0.txt", 442.67e6 / 8, None, None),
        ("tcp-mbytes-2.1.txt", 182.92 * 2**20, "TCP_STREAM", "out"),
        ("udp-mbytes-2.1.txt", 197.05 * 2**20, "UDP_STREAM", "out"),
        ("tcp-cpu-2.4.5.txt", 9413.46e6 / 8, "TCP_STREAM", "out"),
        ("udp-2.4.5.txt", 927.67e6 / 8, "UDP_STREAM", "out"),
    ],
)
def test_what_arrived_is_read_in_its_unit(name: str, value: float, test: str | None, direction: str | None) -> None:
    (found,) = [each for each in Netperf().parse(output(f"netperf/{name}")) if each.metric == "netperf.throughput"]
    assert found.value == pytest.approx(value, rel=1e-12)
    assert (dict(found.labels).get("test"), dict(found.labels).get("direction")) == (test, direction)


@pytest.mark.parametrize(
    ("name", "rate", "test"),
    [
        ("tcprr-2.7.0.txt", 23076.17, "TCP_RR"),
        ("udprr-cpu-2.7.0.txt", 25267.38, "UDP_RR"),
        ("tcpcrr-2.7.0.txt", 4019.54, "TCP_CRR"),
        ("omni-rr-2.7.0.txt", 23113.46, "omni"),
        ("tcprr-2.4.5.txt", 29150.15, "TCP_RR"),
        ("tcprr-all-2.7.0.txt", 30336.17, "TCP_RR"),
    ],
)
def test_requests_are_counted_per_second(name: str, rate: float, test: str) -> None:
    found = [each for each in Netperf().parse(output(f"netperf/{name}")) if each.metric == "netperf.transactions"]
    assert [(each.value, dict(each.labels)["test"]) for each in found] == [(rate, test)]
    assert "netperf.throughput" not in [metric for metric, _, _ in read(Netperf(), text(f"netperf/{name}"))]


def test_latencies_are_round_trips_with_their_statistic() -> None:
    found = {
        dict(marks).get("statistic"): value for name, value, marks in read(Netperf(), text(ALL_KEYS)) if "lat" in name
    }
    expected = {"mean": 32.964e-6, "min": 14e-6, "max": 9224e-6, "p50": 15e-6, "p90": 16e-6, "p99": 49e-6}
    assert found == pytest.approx(expected, rel=1e-12)


ALL_KEYS = "netperf/tcprr-all-2.7.0.txt"


def test_percentiles_of_a_csv_are_read_of_requests_only() -> None:
    names = "Throughput,Throughput Units,99th Percentile Latency Microseconds"
    requests = "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 () port 0 AF_INET to 192.0.2.2 () port 0 AF_INET"
    found = {name: value for name, value, _ in read(Netperf(), f"{requests}\n{names}\n408.78,Trans/s,5793\n")}
    assert found == pytest.approx({"netperf.transactions": 408.78, "netperf.latency": 5793e-6})
    stream = requests.replace("REQUEST/RESPONSE", "STREAM")
    found = {name: value for name, value, _ in read(Netperf(), f"{stream}\n{names}\n408.78,10^6bits/s,5793\n")}
    assert found == pytest.approx({"netperf.throughput": 408.78e6 / 8})


def test_the_time_of_a_call_is_no_round_trip() -> None:
    stream = "MIGRATED TCP STREAM TEST from 0.0.0.0 () port 0 AF_INET to 192.0.2.2 () port 0 AF_INET\n"
    assert read(Netperf(), f"{stream}RT_LATENCY=-1.000\nMEAN_LATENCY=270.10\nP99_LATENCY=300\n") == []


def test_losses_are_shares_of_what_was_sent() -> None:
    losses = {
        name: next(value for metric, value, _ in read(Netperf(), text(f"netperf/{name}")) if metric == "netperf.loss")
        for name in NAMES
        if name.startswith("udp-")
    }
    assert losses == pytest.approx(
        {
            "udp-2.4.5.txt": 1 - 17702 / 18240,
            "udp-2.7.0.txt": 1 - 22610 / 25481,
            "udp-cpu-kbytes-2.7.0.txt": 1 - 21234 / 24945,
            "udp-keys-2.7.0.txt": 1 - 26702080 / 29466496,
            "udp-mbytes-2.1.txt": 1 - 63001 / 63054,
        }
    )


def test_pairs_stand_behind_their_sum() -> None:
    first, *others = Netperf().parse(output("netperf/pairs-2.7.0.txt"))
    assert first.value == pytest.approx((284.68 + 194.76) * 1e6 / 8)
    assert dict(first.labels) == {
        "direction": "out",
        "protocol": "tcp",
        "test": "TCP_STREAM",
        "statistic": "sum",
        "pairs": "2",
    }
    assert {(each.metric[8:], dict(each.labels)["pair"]): each.value for each in others} == pytest.approx(
        {
            ("throughput", "198.51.100.1>198.51.100.2"): 284.68e6 / 8,
            ("retransmits", "198.51.100.1>198.51.100.2"): 8314,
            ("throughput", "192.0.2.1>192.0.2.2"): 194.76e6 / 8,
            ("retransmits", "192.0.2.1>192.0.2.2"): 6558,
        }
    )


def test_there_is_no_sum_without_every_pair() -> None:
    lines = text("netperf/pairs-2.7.0.txt").splitlines(True)
    found = read(Netperf(), "".join(lines[:-1]))
    assert {dict(marks).get("pair") for _, _, marks in found} == {"198.51.100.1>198.51.100.2"}
    three = "".join(lines).replace("over 2 pairs", "over 3 pairs")
    assert all("pair" in dict(marks) for _, _, marks in read(Netperf(), three))


# -- what is refused


@pytest.mark.parametrize("name", BROKEN)
def test_what_failed_or_has_no_unit_gives_no_number(name: str) -> None:
    with pytest.raises(ProbeOutputError):
        Netperf().parse(output(f"netperf/{name}"))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("udp-2.4.5.txt", "927.67", "0.00"),
        ("udp-2.4.5.txt", "927.67", "-nan"),
        ("udp-2.4.5.txt", "17702", "18241"),
        ("udp-2.4.5.txt", "17702            927.67", ""),
        ("udp-2.4.5.txt", "10^6bits/sec", "10^5bits/sec"),
        ("tcp-2.7.0.txt", "465.14", "inf"),
        ("tcp-2.7.0.txt", "465.14", "0.00"),
        ("tcp-2.7.0.txt", "465.14", "465,14"),
        ("tcp-2.7.0.txt", "465.14", "465.14 3"),
        ("tcp-2.7.0.txt", "secs.    10^6bits/sec", "secs."),
        ("tcp-cpu-2.4.5.txt", "   0.385   0.807", ""),
        ("tcprr-2.4.5.txt", "29150.15", "+++++"),
        ("omni-keys-2.7.0.txt", "447.50", "-1.00"),
        ("omni-keys-2.7.0.txt", "447.50", "nan"),
        ("omni-keys-2.7.0.txt", "10^6bits/s", "furlongs/s"),
        ("omni-2.7.0.txt", "10^6bits/s", "10^6bits/h"),
    ],
)
def test_a_spoiled_result_gives_nothing(name: str, old: str, new: str) -> None:
    assert old in text(f"netperf/{name}")
    assert read(Netperf(), text(f"netperf/{name}").replace(old, new)) == []


def test_a_complaint_or_a_bad_end_spoils_numbers() -> None:
    good = output("netperf/tcp-2.7.0.txt")
    error = b"netperf: data recv error: Connection reset by peer\n"
    for spoiled in (
        replace(good, stderr=error),
        replace(good, stdout=good.stdout + error),
        replace(good, exit_status=1),
    ):
        with pytest.raises(ProbeOutputError):
            Netperf().parse(spoiled)
    assert Netperf().parse(replace(good, stderr=b"enable_enobufs failed: getprotobyname\n"))


@pytest.mark.parametrize("name", ["broken-confidence-2.7.0.txt", "broken-pair-2.7.0.txt"])
def test_what_netperf_complained_of_is_no_result_wherever_its_head_was_cut(name: str) -> None:
    lines = text(f"netperf/{name}").splitlines(keepends=True)
    assert all(read(Netperf(), "".join(lines[start:])) == [] for start in range(len(lines)))


def test_a_banner_that_is_not_known_ends_what_was_known_of_the_run_before() -> None:
    whole = text("netperf/tcp-2.7.0.txt")
    sctp = whole.replace("MIGRATED TCP STREAM TEST", "SCTP 1-TO-MANY STREAM TEST")
    assert sctp != whole
    sizes = {"size": "16384", "send_buffer": "16384", "receive_buffer": "131072"}
    assert [dict(marks) for _, _, marks in read(Netperf(), whole + sctp)] == [
        {"direction": "out", "protocol": "tcp", "test": "TCP_STREAM", **sizes}, sizes,
    ]  # fmt: skip


def test_numbers_behind_something_else_are_not_of_the_table() -> None:
    whole = text("netperf/tcp-2.7.0.txt")
    row = whole.splitlines(True)[-1]
    assert read(Netperf(), whole.replace(row, f"something else\n{row}")) == []


# -- noise and cuts


@given(st.sampled_from(NAMES), noise, noise)
@settings(max_examples=60, deadline=None)
def test_noise_around_it_changes_nothing(name: str, before: str, after: str) -> None:
    whole = text(f"netperf/{name}")
    assert read(Netperf(), before + whole + after) == said(Netperf().parse(output(f"netperf/{name}")))


def test_noise_inside_and_a_cut_give_nothing_else() -> None:
    noise_inside_and_a_cut_give_no_other_number(Netperf(), [f"netperf/{name}" for name in NAMES])


@pytest.mark.parametrize("name", NAMES)
def test_line_ends_and_colours_change_nothing(name: str) -> None:
    line_ends_and_colours_change_nothing(Netperf(), f"netperf/{name}")


def test_columns_are_read_by_the_names_above_them() -> None:
    found = read(Netperf(), text("netperf/tcprr-columns-2.7.0.txt"))
    latencies = {dict(marks)["statistic"]: value for name, value, marks in found if name == "netperf.latency"}
    expected = {"min": 307e-6, "mean": 333.18e-6, "max": 4840e-6, "p99": 384e-6}
    assert latencies == pytest.approx(expected, rel=1e-12)
    assert [value for name, value, _ in found if name == "netperf.transactions"] == [2999.744]
    omni = {name: value for name, value, _ in read(Netperf(), text("netperf/omni-columns-2.7.0.txt"))}
    assert omni == pytest.approx({"netperf.throughput": 25220.39e6 / 8}, rel=1e-12)


def test_columns_whose_names_are_cut_are_not_read() -> None:
    whole = text("netperf/tcprr-columns-2.7.0.txt")
    lines = whole.splitlines(keepends=True)
    for gone in (1, 2, 3):
        left = read(Netperf(), "".join(lines[:gone] + lines[gone + 1 :]))
        assert {name for name, _, _ in left} == set()


def test_bytes_of_requests_that_tell_late_what_they_are_are_refused() -> None:
    late = "THROUGHPUT=0.49\nTHROUGHPUT_UNITS=10^6bits/s\nRT_LATENCY=32.964\n"
    assert read(Netperf(), late) == []


def test_a_line_that_is_lost_gives_no_other_number() -> None:
    a_line_that_is_lost_gives_no_other_number(Netperf(), [f"netperf/{name}" for name in NAMES])


def test_a_line_told_twice_is_no_second_result() -> None:
    whole = {(metric, value) for metric, value, _ in read(Netperf(), text(ALL_KEYS))}
    for spoiled in one_line_lost_or_twice(text(ALL_KEYS)):
        found = read(Netperf(), spoiled)
        assert {(metric, value) for metric, value, _ in found} <= whole
        assert not any("run" in dict(marks) for _, _, marks in found)


STREAM = """MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 192.0.2.2 () port 0 AF_INET : demo
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    UNIT/sec

131072  16384  16384    1.04       RATE
"""


def stream(unit: str, rate: str) -> str:
    return STREAM.replace("UNIT", unit).replace("RATE", rate)


def test_a_table_without_its_banner_is_not_of_the_test_before_it() -> None:
    one, bare = stream("10^6bits", "941.50"), stream("MBytes", "56.00").partition("\n")[2]
    assert len(read(Netperf(), one)) == 1
    assert read(Netperf(), one + bare) == read(Netperf(), one)


def test_two_tables_whose_lines_are_mixed_are_refused() -> None:
    one, other = (each.splitlines(keepends=True) for each in (stream("10^6bits", "941.50"), stream("MBytes", "56.00")))
    for at in range(1, len(one) - 1):
        mixed = "".join([*one[:at], *other[:5], *one[at:], *other[5:]])
        found = read(Netperf(), mixed)
        assert {value for _, value, _ in found} <= {941.50e6 / 8, 56 * 2**20}, mixed


@pytest.mark.parametrize("cut", ["941.5", "941.", "941"])
def test_a_rate_with_fewer_decimals_than_netperf_prints_was_cut(cut: str) -> None:
    assert read(Netperf(), stream("10^6bits", cut)) == []


@pytest.mark.parametrize(
    ("said_behind", "told"),
    [
        ("first burst 0", {}), ("first burst 16", {"burst": "16"}), ("nodelay : first burst 0", {"nodelay": "1"}),
        ("nodelay : demo : first burst 8", {"nodelay": "1", "burst": "8"}),
    ],
)  # fmt: skip
def test_requests_under_way_and_small_segments_at_once_are_conditions(said_behind: str, told: dict[str, str]) -> None:
    banner = text("netperf/tcprr-2.7.0.txt").replace("demo : first burst 0", said_behind)
    ((_, _, marks),) = read(Netperf(), banner)
    assert {name: value for name, value in marks if name in ("burst", "nodelay")} == told


def test_the_table_of_omni_tells_request_and_response() -> None:
    whole = text("netperf/omni-rr-2.7.0.txt").replace("69120       1       1 ", "69120       64      1024 ")
    ((_, _, marks),) = read(Netperf(), whole)
    assert {name: value for name, value in marks if name in ("request", "response")} == {
        "request": "64", "response": "1024",
    }  # fmt: skip


def test_rows_without_heading_are_those_of_the_command_above_them() -> None:
    (one,) = Netperf().parse(output("netperf/bare-tcp-mbytes-2.3.txt"))
    assert one.value == pytest.approx(112.62 * 2**20)
    marks = dict(one.labels)
    assert (marks["test"], marks["direction"], marks["size"]) == ("TCP_STREAM", "out", "1048576")
    found = Netperf().parse(output("netperf/bare-runs-2.4.5.txt"))
    assert [(each.metric, dict(each.labels)["test"]) for each in found] == [
        ("netperf.throughput", "TCP_STREAM"),
        ("netperf.throughput", "TCP_MAERTS"),
        ("netperf.throughput", "UDP_STREAM"),
        ("netperf.loss", "UDP_STREAM"),
        ("netperf.transactions", "TCP_RR"),
    ]
    rates = [9413.46e6 / 8, 9.39e9 / 8, 927.67e6 / 8, 1 - 17702 / 18240, 29150.15]
    assert [each.value for each in found] == pytest.approx(rates)


ROW = "4194304 4194304 1048576    600.02     112.62   \n"


def test_rows_without_heading_are_those_of_a_command_that_was_said() -> None:
    argv = ("netmonnp", "-H", "levi1-eth2", "-f", "M", "-P", "0", "--", "-m", "1M")
    found = Netperf().parse(Output(argv, (ROW + ROW.replace("112", "113")).encode()))
    assert [each.value for each in found] == pytest.approx([112.62 * 2**20, 113.62 * 2**20])
    assert [dict(each.labels).get("run") for each in found] == [None, "2"]


@pytest.mark.parametrize(
    "said",
    [
        "",
        "$ netperf -H n2 -f M\n",
        "$ netperf -H n2 -P 0 -t TCP_RR\n",
        "$ netperf -H n2 -P 0 -t SCTP_STREAM\n",
        "$ netperf -H n2 -P 0 -f x\n",
        "$ netperf -H n2 -P 0 -c\n",
        "$ netperf -H n2 -D -f M -P 0\n",
        "$ netperf -H n2 -P 0 --unknown\n",
        "$ netperf -H n2 -P 0 -- -k\n",
        "$ netperf -H n2 -P 0; date\n",
    ],
)
def test_a_row_whose_columns_are_not_certain_is_refused(said: str) -> None:
    assert Netperf().parse(Output((), f"$ netperf -H n2 -P 0\n{ROW}".encode()))
    with pytest.raises(ProbeOutputError):
        Netperf().parse(Output((), f"{said}{ROW}".encode()))


@pytest.mark.parametrize("rows", [ROW * 2, ROW[:-12] + "\n", ROW.replace("600.02", "600")])
def test_one_whole_row_belongs_to_a_command(rows: str) -> None:
    with pytest.raises(ProbeOutputError):
        Netperf().parse(Output((), f"$ netperf -H n2 -P 0\n{rows}".encode()))
