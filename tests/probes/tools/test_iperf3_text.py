import pytest

from benchconsole.probes.api import Output, ProbeOutputError
from benchconsole.probes.tools.iperf3.probe import Iperf3
from tests.probes.tools.captures import output, read, text
from tests.probes.tools.torn import one_line_lost_or_twice


def test_a_client_that_was_interrupted_gives_no_number_also_behind_a_timestamp() -> None:
    said_last = "Tue Nov 10 12:00:01 2026 iperf3: interrupt - the client has terminated by signal Interrupt(2)\n"
    with pytest.raises(ProbeOutputError, match="interrupt"):
        Iperf3().parse(Output((), (text("iperf3/timestamps-rev-3.12.txt") + said_last).encode()))


def test_a_summary_whose_streams_are_missing_is_not_taken_for_one_of_one_stream() -> None:
    """Of two streams the head is lost but for one line: each stream by itself is no throughput."""
    lines = text("iperf3/tcp-3.12.txt").splitlines(keepends=True)
    second = next(number for number, line in enumerate(lines) if "connected to" in line) + 1
    found = read(Iperf3(), "".join(lines[second:]))
    assert [value for metric, value, _ in found if metric == "iperf3.throughput"] == [23.5e9 / 8]


@pytest.mark.parametrize("rate", ["inf", "-nan", "-1", "1e999", "0.00"])
def test_an_absurd_rate_in_the_text_is_refused(rate: str) -> None:
    changed = text("iperf3/tcp1-3.12.txt").replace(
        "18.7 Gbits/sec                  receiver", f"{rate} Gbits/sec   receiver"
    )
    with pytest.raises(ProbeOutputError):
        Iperf3().parse(Output((), changed.encode()))


def test_intervals_are_not_summed_when_the_receiver_is_missing() -> None:
    whole = text("iperf3/tcp-3.12.txt")
    assert read(Iperf3(), "".join(line for line in whole.splitlines(True) if "receiver" not in line)) == []


def marked(name: str, metric: str) -> list[tuple[float, dict[str, str]]]:
    return [(one.value, dict(one.labels)) for one in Iperf3().parse(output(f"iperf3/{name}")) if one.metric == metric]


def test_the_sums_of_old_datagrams_are_read_though_nothing_counts_below_them() -> None:
    """The direction, which the head does not tell, has no label; four streams stand in the whole summary."""
    marks, share = {"protocol": "udp", "streams": "4"}, 1463349 / 4796257
    ((rate, of_rate),) = marked("udp-streams-3.1.txt", "iperf3.throughput")
    ((loss, of_loss),) = marked("udp-streams-3.1.txt", "iperf3.loss")
    assert (rate, loss) == pytest.approx((5.56e9 / 8 * (1 - share), share), rel=1e-12)
    assert of_rate == of_loss == marks
    streams = [value for value, _ in marked("udp-streams-3.1.txt", "iperf3.stream")]
    lost = (366275 / 1199208, 365999 / 1198655, 365525 / 1199197, 365550 / 1199197)
    assert streams == pytest.approx([1.39e9 / 8 * (1 - each) for each in lost], rel=1e-12)


def test_counts_that_are_not_those_of_the_share_beside_them_are_no_loss() -> None:
    marks = {"direction": "in", "protocol": "udp"}
    assert marked("udp-contradictory-3.4.txt", "iperf3.throughput") == [(380e6 / 8, marks)]
    assert marked("udp-contradictory-3.4.txt", "iperf3.loss") == []
    assert marked("udp-day-3.12.txt", "iperf3.throughput")[0][0] == 1000e6 / 8
    assert marked("udp-day-3.12.txt", "iperf3.loss") == []


def test_a_jitter_longer_than_the_run_is_left_out() -> None:
    assert marked("udp-few-3.1.txt", "iperf3.throughput")[0][0] == 1.16e6 / 8
    assert marked("udp-few-3.1.txt", "iperf3.jitter") == []


def test_a_server_that_is_stopped_after_its_runs_takes_nothing_from_them() -> None:
    whole = text("iperf3/server-stopped-3.16.txt")
    expected = [(11.0e9 / 8, {"direction": "in", "omit": "0", "protocol": "tcp", "streams": "1"})]
    assert marked("server-stopped-3.16.txt", "iperf3.throughput") == expected
    stopped = whole[: whole.rindex("receiver\n")] + "receiver\n^Ciperf3: interrupt - the server has terminated\n"
    assert read(Iperf3(), stopped) == []


@pytest.mark.parametrize("closed", ["", "\niperf Done.\n"])
def test_a_summary_alone_is_read_where_it_is_known_to_be_whole(closed: str) -> None:
    whole = text("iperf3/tcp1-3.12.txt")
    tail = whole[whole.rindex("[ ID]") : whole.index("iperf Done.")].rstrip() + "\n"
    found = {metric: value for metric, value, _ in read(Iperf3(), tail + closed)}
    assert found.get("iperf3.throughput") == (18.7e9 / 8 if closed else None)


def test_two_summaries_below_each_other_are_two_runs() -> None:
    whole = text("iperf3/tcp1-3.12.txt")
    tail = whole[whole.rindex("[ ID]") :]
    runs = [dict(marks).get("run") for metric, _, marks in read(Iperf3(), tail + tail) if metric == "iperf3.throughput"]
    assert runs == [None, "2"]


def streams(capture: str) -> dict[str, float]:
    found = [(dict(marks), float(value)) for name, value, marks in read(Iperf3(), capture) if name == "iperf3.stream"]
    return {marks["stream"]: value for marks, value in found}


def test_a_stream_keeps_its_number_when_lines_of_others_are_lost_or_told_twice() -> None:
    whole = streams(text("iperf3/tcp-3.12.txt"))
    assert list(whole) == ["1", "2"]
    for spoiled in one_line_lost_or_twice(text("iperf3/tcp-3.12.txt")):
        assert streams(spoiled).items() <= whole.items()


@pytest.mark.parametrize(
    ("printed", "spoiled"),
    [("18.7 Gbits/sec", "8.7 Gbits/sec"), ("18.7 Gbits/sec", "18.7 Mbits/sec"), ("0.00-", "5.00-")],
)
def test_a_rate_that_is_not_the_bytes_over_the_seconds_of_its_line_is_refused(printed: str, spoiled: str) -> None:
    whole = text("iperf3/tcp1-3.12.txt")
    at = whole.index(printed, whole.index("sender"))
    with pytest.raises(ProbeOutputError, match="bytes"):
        Iperf3().parse(Output((), (whole[:at] + spoiled + whole[at + len(printed) :]).encode()))


def test_options_that_iperf3_refused_are_told_in_its_words() -> None:
    refused = b"iperf3: parameter error - only one test end condition (-t, -n, -k) may be specified\n"
    with pytest.raises(ProbeOutputError, match="only one test end condition"):
        Iperf3().parse(Output((), refused))
