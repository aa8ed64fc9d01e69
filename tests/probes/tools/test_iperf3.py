import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Output, ProbeOutputError, ToolError
from benchconsole.probes.testing import PROBE_CHECKS, Check
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import ROOT, noise, output, read, said, text, values
from tests.probes.tools.torn import line_ends_and_colours_change_nothing, one_line_lost_or_twice

BROKEN = (
    "bidir-3.7.json",
    "error-3.18.json",
    "refused-3.12.json",
    "rev-omit-3.1.json",
    "server-reverse-3.12.txt",
    "stream-error-3.17.jsonl",
)
NAMES = sorted(path.name for path in (ROOT / "iperf3").iterdir() if path.name not in BROKEN)


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Iperf3(random.Random(7)), [output(f"iperf3/{name}") for name in NAMES])


def labelled(name: str) -> dict[tuple[str, str], float]:
    """Metric and direction to value, streams left out."""
    found = Iperf3().parse(output(f"iperf3/{name}"))
    return {(one.metric, dict(one.labels)["direction"]): one.value for one in found if one.metric != "iperf3.stream"}


@pytest.mark.parametrize(
    ("name", "direction", "bits"),
    [
        ("tcp-3.12.json", "out", 22335932851.84228),
        ("stream-3.17.jsonl", "out", 22335932851.84228),
        ("tcp-3.1.json", "out", 9.399903e8),
        ("rev-3.12.json", "in", 12050054014.49052),
        ("bidir-3.12.json", "out", 9478702813.062166),
        ("bidir-3.12.json", "in", 2758773835.315552),
        ("udp-3.12.json", "out", 100117983.22352305),
        ("udploss-3.12.json", "out", 24907906924.69182),
        ("udp-3.1.json", "out", 8.75e7),
        ("udprev-3.12.json", "in", 50063196.0372993),
        ("udpbidir-3.12.json", "in", 50060292.90610528),
        ("server-3.12.json", "in", 20962757.567336854),
        ("tcp-3.12.txt", "out", 23.5e9),
        ("tcp1-3.12.txt", "out", 18.7e9),
        ("tcpM-3.12.txt", "out", 1961 * 2**20 * 8),
        ("rev-3.12.txt", "in", 19.6e9),
        ("bidir-3.12.txt", "out", 1.52e9),
        ("bidir-3.12.txt", "in", 13.4e9),
        ("udp-3.12.txt", "out", 100e6),
        ("udp-3.1.txt", "out", 97.8e6 * 0.8),
        ("udpbidir-3.12.txt", "in", 50.0e6),
        ("server-3.12.txt", "in", 23.5e9),
        ("timestamps-rev-3.12.txt", "in", 19.6e9),
        ("udp-loss-3.17.jsonl", "in", 1581216000),
        ("sctp-3.9.json", "out", 1.59e9),
    ],
)
def test_throughput_is_what_the_receiver_got(name: str, direction: str, bits: float) -> None:
    assert labelled(name)["iperf3.throughput", direction] == pytest.approx(bits / 8, rel=1e-9)


def test_what_was_lost_and_sent_again_is_told() -> None:
    assert labelled("tcp-3.12.json")["iperf3.retransmits", "out"] == 12
    assert labelled("udploss-3.12.json")["iperf3.loss", "out"] == pytest.approx(3248 / 55180)
    assert labelled("udp-3.1.json")["iperf3.jitter", "out"] == pytest.approx(0.25e-3)
    assert labelled("udp-3.1.txt")["iperf3.loss", "out"] == pytest.approx(0.2)


def find_conditions(whole: object) -> dict[str, float]:
    """The readings beside the rates, of the first run; of processors with their end."""
    found = Iperf3().parse(Output((), json.dumps(whole).encode()))
    rates = ("iperf3.throughput", "iperf3.stream", "iperf3.retransmits", "iperf3.loss", "iperf3.jitter")
    return {
        one.metric.removeprefix("iperf3.") + dict(one.labels).get("end", ""): one.value
        for one in found
        if one.metric not in rates
    }


def test_the_connection_and_the_processors_of_both_ends_are_told() -> None:
    assert find_conditions(json.loads(text("iperf3/tcp-3.12.json"))) == pytest.approx(
        {
            "rtt": 37.5e-6,
            "cwnd": 785796 + 1047728,
            "window": 13033472 + 13969408,
            "mss": 32768,
            "resent": 12 / (5584977920 / 32768 + 12),
            "cpusender": 0.8601804928,
            "cpureceiver": 0.5105875787,
        }
    )


def test_a_client_that_receives_is_told_nothing_of_the_sender_but_its_processor() -> None:
    assert find_conditions(json.loads(text("iperf3/rev-3.12.json"))) == pytest.approx(
        {"mss": 32768, "resent": 0.0, "cpusender": 0.9925652156, "cpureceiver": 0.4206102611}
    )


@pytest.mark.parametrize(("version", "share"), [("3.15", 0.86018), ("3.16", 0.43009), ("4.0", 0.43009)])
def test_a_processor_is_shared_by_all_streams_before_each_has_a_thread(version: str, share: float) -> None:
    whole = json.loads(text("iperf3/tcp-3.12.json"))
    whole["start"]["version"] = f"iperf {version}"
    assert find_conditions(whole)["cpusender"] == pytest.approx(share, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "value", "gone"),
    [
        ("mean_rtt", 0, "rtt"),
        ("mean_rtt", -1, "rtt"),
        ("mean_rtt", "36", "rtt"),
        ("mean_rtt", 3.7e9, "rtt"),
        ("max_snd_cwnd", 0, "cwnd"),
        ("max_snd_wnd", None, "window"),
        ("max_snd_wnd", 2e15, "window"),
    ],
)
def test_a_number_that_one_stream_does_not_tell_is_not_told_of_all(name: str, value: object, gone: str) -> None:
    whole = json.loads(text("iperf3/tcp-3.12.json"))
    known = find_conditions(whole)
    whole["end"]["streams"][1]["sender"][name] = value
    assert find_conditions(whole) == pytest.approx({metric: known[metric] for metric in known if metric != gone})


@pytest.mark.parametrize(("told", "late"), [(0, 0.0), (86, 0.01), (8631, None), (-1, None), ("3", None)])
def test_datagrams_out_of_order_are_told_by_the_end_that_received(told: object, late: float | None) -> None:
    whole = json.loads(text("iperf3/udprev-3.12.json"))
    (stream,) = whole["end"]["streams"]
    stream["udp"] |= {"out_of_order": told, "packets": 8600}
    assert find_conditions(whole).get("reordered") == late
    stream["udp"]["sender"] = True
    assert "reordered" not in find_conditions(whole)


def test_streams_are_numbered_and_add_up() -> None:
    found = Iperf3().parse(output("iperf3/udploss-3.12.json"))
    streams = {dict(one.labels)["stream"]: one.value for one in found if one.metric == "iperf3.stream"}
    assert list(streams) == ["1", "2"]
    assert sum(streams.values()) == pytest.approx(24907906924.69182 / 8, rel=1e-9)
    assert {dict(one.labels)["streams"] for one in found} == {"2"}


@pytest.mark.fault("F17")
@pytest.mark.parametrize("name", BROKEN)
def test_a_run_that_failed_gives_no_number(name: str) -> None:
    with pytest.raises(ProbeOutputError):
        Iperf3().parse(output(f"iperf3/{name}"))


@pytest.mark.parametrize(("name", "protocol"), [("sctp-3.9.json", "sctp"), ("udp-loss-3.17.jsonl", "udp")])
def test_the_protocol_is_the_one_that_was_run(name: str, protocol: str) -> None:
    assert {dict(one.labels)["protocol"] for one in Iperf3().parse(output(f"iperf3/{name}"))} == {protocol}


@pytest.mark.fault("F17")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("error-3.18.json", "unable to connect to server"),
        ("refused-3.12.json", "unable to connect to server"),
        ("stream-error-3.17.jsonl", "error in the JSON"),
    ],
)
@pytest.mark.parametrize("status", [0, 1])
def test_a_failure_is_told_in_the_words_of_the_tool(name: str, words: str, status: int) -> None:
    with pytest.raises(ToolError, match=words):
        Iperf3().parse(replace(output(f"iperf3/{name}"), exit_status=status))


def test_what_was_sent_is_not_taken_for_what_arrived() -> None:
    """A line of the sender that lost its end and part of the next, and a sum without its count of the lost."""
    whole = text("iperf3/tcpM-3.12.txt")
    spliced = whole.replace(whole[whole.index(" sender") : whole.rindex("receiver")], "  ", 1)
    assert spliced.count("sender") == whole.count("sender") - 1
    assert read(Iperf3(), spliced) == []
    uncounted = text("iperf3/udp-3.1.json").replace('"lost_packets"', '"packets_lost"')
    assert read(Iperf3(), uncounted) == []


def test_a_stream_that_got_nothing_has_no_rate() -> None:
    starved = text("iperf3/sctp-3.9.json").replace(
        '"bytes": 1987500000, "bits_per_second": 1590000000.0, "sender": true}\n\t\t\t}],',
        '"bytes": 0, "bits_per_second": 0, "sender": true}\n\t\t\t}],',
    )
    assert starved != text("iperf3/sctp-3.9.json")
    assert [metric for metric, _, _ in read(Iperf3(), starved)] == ["iperf3.throughput"]


def test_a_jitter_of_days_is_left_out() -> None:
    changed = text("iperf3/udp-3.1.json").replace('"jitter_ms":\t0.25', '"jitter_ms":\t6.11273e+08')
    assert changed != text("iperf3/udp-3.1.json")
    assert "iperf3.jitter" not in {metric for metric, _, _ in read(Iperf3(), changed)}


@pytest.mark.parametrize("rate", ["Infinity", "-Infinity", "NaN", "-1", "1e300", "null", '"9"', "true", "0"])
def test_an_absurd_rate_is_refused(rate: str) -> None:
    changed = text("iperf3/tcp-3.1.json").replace("9.399903e+08", rate)
    with pytest.raises(ProbeOutputError):
        Iperf3().parse(Output((), changed.encode()))


def test_zero_bytes_are_no_rate() -> None:
    changed = text("iperf3/tcp-3.1.json").replace('"bytes":	1175000000', '"bytes":	0')
    assert read(Iperf3(), changed) == []


def test_a_complaint_beside_numbers_is_a_failure() -> None:
    good = output("iperf3/tcp-3.12.json")
    for spoiled in (replace(good, stderr=b"iperf3: error - control socket has closed\n"), replace(good, exit_status=1)):
        with pytest.raises(ProbeOutputError):
            Iperf3().parse(spoiled)
    assert Iperf3().parse(replace(good, stderr=b"warning: UDP block size exceeds TCP MSS\n"))


@given(st.sampled_from(NAMES), noise, noise)
@settings(max_examples=80, deadline=None)
def test_noise_around_it_changes_nothing(name: str, before: str, after: str) -> None:
    whole = text(f"iperf3/{name}")
    found = read(Iperf3(), before + whole + after)
    assert found == said(Iperf3().parse(output(f"iperf3/{name}")))


@pytest.mark.parametrize("name", NAMES)
def test_line_ends_and_colours_change_nothing(name: str) -> None:
    line_ends_and_colours_change_nothing(Iperf3(), f"iperf3/{name}")


def test_two_runs_in_one_capture_are_two_results() -> None:
    both = values(Iperf3().parse(Output((), (text("iperf3/tcp1-3.12.txt") + text("iperf3/rev-3.12.txt")).encode())))
    assert both["iperf3.throughput"] == [18.7e9 / 8, 19.6e9 / 8]


def test_without_its_start_the_streams_tell_the_direction() -> None:
    events = text("iperf3/udp-loss-3.17.jsonl").splitlines(keepends=True)
    found = read(Iperf3(), "".join(event for event in events if '"event":"start"' not in event.replace(" ", "")))
    assert {dict(marks)["direction"] for _, _, marks in found} == {"in"}


def test_sums_of_two_directions_under_one_name_are_refused() -> None:
    """As 3.7 writes them: the second is what a reader of JSON keeps, and nothing says of which way it is."""
    with pytest.raises(ProbeOutputError, match="one direction of two"):
        Iperf3().parse(output("iperf3/bidir-3.7.json"))


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".json")])
def test_a_line_of_json_that_is_lost_or_told_twice_gives_no_other_number(name: str) -> None:
    true = {(metric, value) for metric, value, _ in read(Iperf3(), text(f"iperf3/{name}"))}
    for spoiled in one_line_lost_or_twice(text(f"iperf3/{name}")):
        assert {(metric, value) for metric, value, _ in read(Iperf3(), spoiled)} <= true


@pytest.mark.parametrize("lost", ["version", "reverse", "omit"])
def test_a_reversed_run_that_may_be_inflated_is_refused_also_where_a_key_of_it_is_lost(lost: str) -> None:
    whole = json.loads(text("iperf3/rev-omit-3.1.json"))
    for part in (whole["start"], whole["start"]["test_start"]):
        part.pop(lost, None)
    with pytest.raises(ProbeOutputError, match="omits a start"):
        Iperf3().parse(Output((), json.dumps(whole).encode()))


@pytest.mark.parametrize("name", ["rev-3.12.json", "udprev-3.12.json", "bidir-3.12.json", "udpbidir-3.12.json"])
def test_directions_and_streams_that_contradict_each_other_are_left_out(name: str) -> None:
    whole = read(Iperf3(), text(f"iperf3/{name}"))
    for spoiled in one_line_lost_or_twice(text(f"iperf3/{name}")):
        for metric, value, marks in read(Iperf3(), spoiled):
            assert any(each[:2] == (metric, value) and set(marks) <= set(each[2]) for each in whole)


# -- a tail that is left out


def tailed(title: str, *, intervals: int = 3, **changed: object) -> Output:
    """The run of 2 s after 1 s that is omitted, with this title, the first of its intervals, and other settings."""
    document = json.loads(text("iperf3/tcp-3.12.json"))
    document["intervals"] = document["intervals"][:intervals]
    document["start"]["test_start"] |= changed
    return Output(("iperf3",), json.dumps({**document, "title": title}).encode())


def test_what_counts_of_a_run_with_a_tail_is_what_was_sent_between_its_start_and_its_tail() -> None:
    (found,) = Iperf3().parse(tailed("tail=1"))
    assert found.value == pytest.approx(2831155200 / 1.000585, rel=1e-5)
    told = dict(found.labels)
    assert (told["omit"], told["seconds"], told["tail"], told["streams"]) == ("1", "1", "1", "2")
    assert (told["direction"], told["protocol"]) == ("out", "tcp")


def test_an_interval_that_reaches_into_what_was_omitted_does_not_count() -> None:
    """iperf3 3.12 on a busy node: bytes of 1 s, 2 s long, from 1 s to 1 s."""
    document = json.loads(tailed("tail=1", duration=4).text)
    third = {"sum": {**document["intervals"][-1]["sum"], "start": 2.0, "end": 3.0}}
    document["intervals"].append(third)
    document["intervals"][1]["sum"]["seconds"] = 2.0
    (found,) = Iperf3().parse(Output(("iperf3",), json.dumps(document).encode()))
    assert found.value == pytest.approx(2753822720 / 0.999766, rel=1e-5)


@pytest.mark.parametrize("title", ["tail=0", "tail=x", "a tail=1", ""])
def test_any_other_title_leaves_nothing_out(title: str) -> None:
    found = Iperf3().parse(tailed(title))
    assert found[0].value == pytest.approx(22335932851.84228 / 8)
    assert not any("tail" in dict(each.labels) for each in found)


def test_a_tail_whose_run_has_lost_intervals_gives_no_number() -> None:
    for spoiled in (tailed("tail=1", intervals=1), tailed("tail=2"), tailed("tail=1", intervals=2, duration=4)):
        with pytest.raises(ProbeOutputError):
            Iperf3().parse(spoiled)
