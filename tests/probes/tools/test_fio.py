"""Numbers of fio: units of every version, jobs, clones, groups and hosts, and outputs that are refused."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Output, ProbeOutputError
from benchconsole.probes.testing import Check
from benchconsole.probes.tools.fio.probe import Fio
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import ROOT, Said, contract_cases, noise, output, read, said, text, values

NAMES = sorted(
    path.name for path in (ROOT / "fio").iterdir() if not re.match("disk-full|interrupted|several|unified", path.name)
)


OWN_LABELS = {
    ("read", "sequential", "1MiB"),
    ("write", "sequential", "1MiB"),
    ("read", "random", "4KiB"),
    ("write", "random", "4KiB"),
}


@contract_cases(NAMES)
def test_contract(check: Check, names: list[str]) -> None:
    check(Fio(), [output(f"fio/{name}") for name in names])


def test_our_own_run_gives_four_rates_with_operations_and_latency() -> None:
    found = Fio().parse(output("fio/own-3.33.json"))
    assert len(found) == 20
    rates = {one for one in found if one.metric in ("fio.read", "fio.write")}
    assert {(one.metric[4:], dict(one.labels)["pattern"], dict(one.labels)["block"]) for one in rates} == OWN_LABELS


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("2.2.10.json", {"fio.read": 20480 * 1024, "fio.read_iops": 5120, "fio.read_latency": 250e-6}),
        ("3.0.json", {"fio.write": 102400 * 1024, "fio.write_iops": 800, "fio.write_latency": 1.25e-3}),
        ("2.10-invalid.json", {"fio.read": 2976 * 1024, "fio.write": 3000 * 1024, "fio.read_iops": 744.13}),
        ("status-interval-3.33.json", {"fio.write": 619327210}),
        ("status-interval-size-3.33.json", {"fio.write": 453274927}),
    ],
)
def test_units_of_every_version(name: str, expected: dict[str, float]) -> None:
    found = values(Fio().parse(output(f"fio/{name}")))
    assert {metric: found[metric] for metric in expected} == {
        metric: [pytest.approx(value, rel=1e-9)] for metric, value in expected.items()
    }


def test_jobs_of_one_name_are_told_apart() -> None:
    one = text("fio/2.2.10.json").partition('"jobs" : [\n')[2].rpartition("\n  ]")[0]
    both = text("fio/2.2.10.json").replace(one, f"{one},\n{one}")
    assert [dict(found.labels).get("number") for found in Fio().parse(Output((), both.encode()))] == ["1"] * 4 + [
        "2"
    ] * 4


def found_in(name: str) -> list[tuple[str, dict[str, str], float]]:
    return [(one.metric, dict(one.labels), one.value) for one in Fio().parse(output(f"fio/{name}"))]


def test_percentiles_are_of_the_same_unit_as_the_mean() -> None:
    tails = [(labels["statistic"], value) for metric, labels, value in found_in("client-3.33.json") if "perc" in metric]
    assert [statistic for statistic, _ in tails] == ["p50", "p99"] * 2
    assert [value for _, value in tails] == pytest.approx([2896e-9, 49920e-9, 2896e-9, 51456e-9])
    old = [value for metric, _, value in found_in("2.2.10.json") if metric == "fio.read_percentile"]
    printed = re.findall(r'"99.0+" : (\d+)', text("fio/2.2.10.json"))
    assert old == [pytest.approx(float(each) * 1e-6) for each in printed]


def test_jobs_that_end_before_their_time_are_read() -> None:
    for name, ways in (("io-size-3.33.json", {"fio.read"}), ("mixed-blocks-3.33.json", {"fio.read", "fio.write"})):
        rates = {metric: value for metric, _, value in found_in(name) if metric in ways}
        printed = re.findall(r'"bw_bytes" : ([1-9]\d*)', text(f"fio/{name}"))
        assert list(rates.values()) == [float(rate) for rate in printed]
        assert rates.keys() == ways


def test_a_run_that_ended_because_its_rate_was_steady_is_whole() -> None:
    rates = [value for metric, _, value in found_in("steady-3.33.json") if metric == "fio.write"]
    assert rates == [float(re.findall(r'"bw_bytes" : ([1-9]\d*)', text("fio/steady-3.33.json"))[0])]
    unsteady = text("fio/steady-3.33.json").replace('"attained" : 1', '"attained" : 0')
    assert read(Fio(), unsteady) == []


def test_a_sum_of_reads_and_writes_is_refused_by_the_option_that_made_it() -> None:
    with pytest.raises(ProbeOutputError, match=r"job u with one sum of reads and writes.*unified_rw_reporting"):
        Fio().parse(output("fio/unified-3.33.json"))
    both = text("fio/io-size-3.33.json").replace('"read" : {', '"mixed" : {},\n"read" : {')
    assert read(Fio(), both) == said(Fio().parse(output("fio/io-size-3.33.json")))


@pytest.mark.parametrize(("option", "value"), [("loops", "1"), ("number_ios", "512")])
def test_what_loops_and_a_number_of_operations_ask_for_is_known(option: str, value: str) -> None:
    document = json.loads(text("fio/io-size-3.33.json"))
    options = document["jobs"][0]["job options"]
    options["size"] = options.pop("io_size") if option == "loops" else "8m"
    options.pop("io_size", None)
    options[option] = value
    assert read(Fio(), json.dumps(document))
    options[option] = str(int(value) + 1)
    assert read(Fio(), json.dumps(document)) == []


def test_clones_are_read_one_by_one_with_their_sum() -> None:
    rates = [(labels, value) for metric, labels, value in found_in("clones-3.33.json") if metric == "fio.write"]
    document = json.loads(text("fio/clones-3.33.json"))
    jobs = [(job["write"]["bw_bytes"], job["write"]["runtime"]) for job in document["jobs"]]
    assert [value for labels, value in rates if "number" in labels] == [rate for rate, _ in jobs]
    total = sum(rate * time for rate, time in jobs) / max(time for _, time in jobs)
    assert [value for labels, value in rates if labels.get("clients") == "3"] == [pytest.approx(total)]
    assert total == pytest.approx(3 * 32 * 2**20 / (max(time for _, time in jobs) * 1e-3), rel=1e-6)


def test_a_clone_that_is_missing_leaves_no_sum() -> None:
    document = json.loads(text("fio/clones-3.33.json"))
    del document["jobs"][2]
    for job in document["jobs"]:
        job["eta"] = 0
    found = read(Fio(), json.dumps(document))
    assert found
    assert not any(("clients", "3") in marks for _, _, marks in found)


def test_a_group_says_how_many_it_sums() -> None:
    rates = [(labels, value) for metric, labels, value in found_in("group-3.33.json") if metric == "fio.write"]
    printed = float(re.findall(r'"bw_bytes" : ([1-9]\d*)', text("fio/group-3.33.json"))[0])
    marks = {"pattern": "sequential", "block": "64KiB", "job": "c", "clients": "3", "size": "32MiB"}
    assert rates == [({**marks, "depth": "1", "direct": "1", "ioengine": "psync"}, printed)]


@pytest.mark.parametrize(
    "options",
    [{"name": "other"}, {"rw": "randread"}, {"bs": "4k"}, {"bs": "1m"}],
    ids=lambda options: " ".join(*options.items()),
)
def test_a_group_with_the_options_of_its_last_job_is_refused(options: dict[str, str]) -> None:
    """fio 3.33 prints one entry for all jobs of a group, with the name of the first and the options of the last."""
    document = json.loads(text("fio/group-3.33.json"))
    document["jobs"][0]["job options"].update(options)
    with pytest.raises(ProbeOutputError, match="c with options of another job"):
        Fio().parse(Output((), json.dumps(document).encode()))


def test_a_group_of_jobs_that_are_alike_is_refused() -> None:
    """Recorded: three sections of a job file, each with a file of its own, and ``group_reporting``."""
    with pytest.raises(ProbeOutputError, match="disk0 with options of another job"):
        Fio().parse(output("fio/several-3.33.json"))


@pytest.mark.parametrize(
    ("name", "threads", "options", "is_read"),
    [
        ("own-3.33.json", 1.4, {}, True),
        ("own-3.33.json", 2.0, {}, False),
        ("own-3.33.json", 2.0, {"ramp_time": "1"}, True),
        ("own-3.33.json", 2.0, {"ramp_time": "1m"}, True),
        ("own-3.33.json", 2.0, {"ramp_time": "a while"}, True),
        ("own-3.33.json", 2.0, {"numjobs": "2"}, True),
        ("own-3.33.json", 4.0, {"numjobs": "2"}, False),
        ("group-3.33.json", 3.0, {}, True),
        ("group-3.33.json", 3.0, {"numjobs": "1"}, False),
        ("loops-verify-3.33.json", 2.3, {}, True),
        ("verify-3.33.json", 4.0, {}, True),  # 2 and 1 ms: of a short run the clock says too little
    ],
)
def test_threads_of_other_jobs_are_seen_by_the_sum_of_their_times(
    name: str, threads: float, options: dict[str, str], is_read: bool
) -> None:
    document, _ = json.JSONDecoder().raw_decode(text(f"fio/{name}"))
    for job in document["jobs"]:
        job["job options"].update(options)
        job["job_runtime"] = round(threads * max(job[way]["runtime"] for way in ("read", "write")))
    assert bool(read(Fio(), json.dumps(document))) is is_read


def test_hosts_that_one_fio_drove_are_told_apart_from_their_sum() -> None:
    rates = {labels["client"]: value for metric, labels, value in found_in("client-3.33.json") if metric == "fio.write"}
    assert rates == {"192.0.2.2": 5114295880, "192.0.2.1": 5016351968, "all": 10130647848}
    assert rates["all"] == rates["192.0.2.1"] + rates["192.0.2.2"]


def test_errors_that_fio_went_on_from_are_errors() -> None:
    spoiled = text("fio/group-3.33.json").replace('"error" : 0', '"error" : 0, "total_err" : 3, "first_error" : 5')
    with pytest.raises(ProbeOutputError, match="total_err 3"):
        Fio().parse(Output((), spoiled.encode()))
    complaint = b"fio: io_u error on file /x/c.0.0: Input/output error: write offset=4096, buflen=65536\n"
    with pytest.raises(ProbeOutputError, match="io_u error"):
        Fio().parse(replace(output("fio/group-3.33.json"), stderr=complaint))


@pytest.mark.parametrize("name", ["interrupted-size-3.33.json", "interrupted-time-3.33.json"])
def test_a_run_that_a_signal_ended_is_no_result_although_fio_says_error_0(name: str) -> None:
    """Recorded: the options ask for a size that was not moved, or for no size; ``eta`` is 0 of both."""
    whole = text(f"fio/{name}")
    assert whole.count('"error" : 0,') == whole.count('"eta" : 0,') == 1
    said, _, document = whole.partition("{")
    for captured in (output(f"fio/{name}"), Output((), f"{{{document}".encode(), said.encode())):
        with pytest.raises(ProbeOutputError, match=r"fio: terminating on signal (?:2|15)\b"):
            Fio().parse(captured)


def test_a_full_disk_is_a_failure_although_a_rate_is_printed() -> None:
    full = text("fio/disk-full-3.33.json")
    assert '"bw_bytes" : 1677721600' in full
    for spoiled in (full, full[full.index("{\n") :].split("fio: io_u")[0]):
        with pytest.raises(ProbeOutputError):
            Fio().parse(Output((), spoiled.encode()))


@pytest.mark.fault("F16")
@pytest.mark.parametrize("value", ["-1", "1e999", "18446744073709551616", "null", '"fast"', "NaN", "-nan"])
def test_an_absurd_rate_is_refused(value: str) -> None:
    with pytest.raises(ProbeOutputError):
        Fio().parse(Output((), text("fio/2.2.10.json").replace('"bw" : 20480', f'"bw" : {value}').encode()))


@pytest.mark.fault("F16")
@pytest.mark.parametrize("field", ["iops", "bw_bytes", "mean"])
@pytest.mark.parametrize("value", ["-1", "1e999", "18446744073709551616", "null", '"fast"', "NaN", "-nan", "0", "true"])
def test_no_absurd_number_of_any_field_becomes_a_reading(field: str, value: str) -> None:
    """Nothing, or an error: never zero, never what the field says; the other fields stay as they were."""
    whole = text("fio/own-3.33.json")
    allowed = set(said(Fio().parse(output("fio/own-3.33.json"))))
    spoiled = re.sub(rf'("{field}" : )[0-9.]+', rf"\g<1>{value}", whole)
    assert spoiled != whole
    found = read(Fio(), spoiled)
    assert set(found) <= allowed
    assert all(isinstance(one[1], float) and one[1] > 0 for one in found)


@pytest.mark.fault("F16")
def test_half_a_document_is_an_error_and_messages_before_a_whole_one_are_not() -> None:
    whole = text("fio/own-3.33.json")
    with pytest.raises(ProbeOutputError):
        Fio().parse(Output((), whole[: whole.index('"read"') + 300].encode()))
    messages = "fio: this platform does not support process shared mutexes\nnote: both iodepth >= 1\n{ half\n"
    assert read(Fio(), messages + whole) == said(Fio().parse(output("fio/own-3.33.json")))


def test_servers_that_started_nothing_are_no_result() -> None:
    """fio 3.43 ends with status 0 and an empty list where its servers refused the job."""
    nothing = '{"fio version": "fio-3.43", "global options": {}, "client_stats": [], "disk_util": []}'
    for captured in (nothing, text("fio/client-3.33.json") + nothing):
        with pytest.raises(ProbeOutputError, match="client_stats without a job"):
            Fio().parse(Output((), captured.encode()))


def test_a_job_that_moved_nothing_is_no_result() -> None:
    nothing = text("fio/2.2.10.json").replace('"bw" : 20480', '"bw" : 0')
    with pytest.raises(ProbeOutputError, match="zero bytes"):
        Fio().parse(Output((), nothing.encode()))


@pytest.mark.parametrize(
    ("printed", "form"),
    [
        (
            "a: (groupid=0, jobs=1): err= 0: pid=1\n  write: IOPS=800, BW=100MiB/s (105MB/s)\n",
            "text for people in line 1",
        ),
        ("a: (groupid=0, jobs=1): err= 0: pid=1\n  write: io=512000KB, bw=102400KB/s\n", "text for people in line 1"),
        ("2;a;0;0;0;0;0;0;0;0;0.000000;0.000000;0\n", r"terse output \(version 2\) in line 1"),
        (
            "a: Laying out IO file\n3;fio-3.33;a;0;0;1856;232000;3625;8;0;0;0.000000;0.000000\n",
            r"terse output \(version 3\) in line 2",
        ),
        ("4;fio-3.33;a;0;0;0;0;0;0;0;0;0.000000;0.000000\n", r"terse output \(version 4\) in line 1"),
        ("5;fio-3.33;a;0;0;0;0;0;0;0;0;0.000000;0.000000\n", r"terse output \(version 5\) in line 1"),
        ("3;fio-3.33;a;0\n", "no finished job in a whole JSON document"),
    ],
)
def test_text_for_people_and_terse_lines_are_refused_by_name_and_line(printed: str, form: str) -> None:
    with pytest.raises(ProbeOutputError, match=f"found .*{form}.* --output-format=json"):
        Fio().parse(Output((), printed.encode()))


def test_json_beside_terse_lines_is_read() -> None:
    terse = "3;fio-3.33;a;0;0;1856;232000;3625;8;0;0;0.000000;0.000000\n"
    assert Fio().parse(Output((), (terse + text("fio/3.0.json")).encode())) == Fio().parse(output("fio/3.0.json"))


@pytest.mark.fault("F16")
@given(st.sampled_from(NAMES), noise, noise)
@settings(max_examples=60, deadline=None)
def test_noise_around_it_changes_nothing(name: str, before: str, after: str) -> None:
    found = read(Fio(), before + text(f"fio/{name}") + after)
    assert found == said(Fio().parse(output(f"fio/{name}")))


@given(st.sampled_from(NAMES), st.data())
@settings(max_examples=60, deadline=None)
def test_noise_inside_it_gives_no_other_value(name: str, data: st.DataObject) -> None:
    lines = text(f"fio/{name}").splitlines(keepends=True)
    place = data.draw(st.integers(0, len(lines)))
    found: list[Said] = read(Fio(), "".join([*lines[:place], data.draw(noise), *lines[place:]]))
    assert set(found) <= set(said(Fio().parse(output(f"fio/{name}"))))


def test_carriage_returns_change_nothing() -> None:
    assert read(Fio(), text("fio/own-3.33.json").replace("\n", "\r\n")) == read(Fio(), text("fio/own-3.33.json"))
