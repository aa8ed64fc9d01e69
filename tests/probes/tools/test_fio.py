import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes import scratch
from benchconsole.probes.api import Output, Part, PlanError, ProbeOutputError, RemoteError, Target
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.plugins.probe_output import read_output
from benchconsole.probes.testing import Check, FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.fio.probe import Fio
from tests.probes.tools.captures import ROOT, Said, contract_cases, noise, output, read, said, text, values

NAMES = sorted(path.name for path in (ROOT / "fio").iterdir() if "full" not in path.name)
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


def test_labels_say_what_the_options_say() -> None:
    labels = {one.metric: dict(one.labels) for one in Fio().parse(output("fio/2.10-invalid.json"))}
    assert labels["fio.read"] == {
        "pattern": "random", "block": "4KiB", "job": "mixed", "mix": "50", "depth": "1", "direct": "1",
        "ioengine": "libaio",
    }  # fmt: skip
    assert labels["fio.write"]["block"] == "64KiB"
    assert dict(Fio().parse(output("fio/3.0.json"))[0].labels)["direct"] == "0"


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


def test_kib_is_a_thousand_where_fio_says_so() -> None:
    assert {labels["block"] for _, labels, _ in found_in("kib-3.33.json")} == {"4000B"}


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
    marks = {"pattern": "sequential", "block": "64KiB", "job": "c", "clients": "3"}
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


def test_hosts_that_one_fio_drove_are_told_apart_from_their_sum() -> None:
    rates = {labels["client"]: value for metric, labels, value in found_in("client-3.33.json") if metric == "fio.write"}
    assert rates == {"192.0.2.2": 5114295880, "192.0.2.1": 5016351968, "all": 10130647848}
    assert rates["all"] == rates["192.0.2.1"] + rates["192.0.2.2"]


def test_what_is_verified_says_so() -> None:
    found = [(metric, labels["verify"]) for metric, labels, _ in found_in("verify-3.33.json")]
    assert ("fio.read", "crc32c") in found
    assert ("fio.write", "crc32c") in found


@pytest.mark.parametrize(
    ("options", "block"),
    [
        ({"bsrange": "4k-64k"}, "4KiB-64KiB"), ({"bssplit": "4k/30:64k/70"}, "4KiB/30:64KiB/70"),
        ({"bssplit": "8KiB/50,16k/"}, "8000B/50,16KiB/"), ({"bsrange": "odd"}, "odd"),
        ({"bs": "65536"}, "64KiB"), ({"blocksize": "64K"}, "64KiB"), ({"bs": "64k", "kb_base": "1024"}, "64KiB"),
    ],
)  # fmt: skip
def test_sizes_are_written_in_one_notation_and_none_of_those_that_are_drawn_is_called_the_block(
    options: dict[str, str], block: str
) -> None:
    document = json.loads(text("fio/clones-3.33.json"))
    for job in document["jobs"]:
        del job["job options"]["bs"]
        job["job options"].update(options)
    assert {dict(one[2])["block"] for one in read(Fio(), json.dumps(document))} == {block}


def test_with_a_base_of_1000_a_k_is_1000_and_kib_is_1024() -> None:
    document = json.loads(text("fio/kib-3.33.json"))
    options = document["jobs"][0]["job options"]
    options.update(kb_base="1000", bs="4k", size="4m")
    assert {dict(one[2])["block"] for one in read(Fio(), json.dumps(document))} == {"4000B"}
    options["bsrange"] = "4k-4KiB"
    assert {dict(one[2])["block"] for one in read(Fio(), json.dumps(document))} == {"4000B-4KiB"}


def changed(name: str, options: Mapping[str, str | None], levels: Mapping[str, float] | None = None) -> dict[str, str]:
    """The labels of the first reading of a transcript whose job has other options, or none for None."""
    capture = text(f"fio/{name}")
    document = json.loads(capture[capture.index("{") :])
    for job in document["jobs"]:
        merged = {**job["job options"], **options}
        job["job options"] = {key: value for key, value in merged.items() if value is not None}
        if levels is not None:
            job["iodepth_level"] = levels
    return dict(read(Fio(), json.dumps(document))[0][2])


@pytest.mark.parametrize(
    ("options", "label"),
    [
        ({"direct": None}, "0"), ({"direct": "0"}, "0"), ({"direct": "1"}, "1"), ({"direct": None, "buffered": "0"}, "1"),
        ({"direct": None, "buffered": "1"}, "0"), ({"direct": None, "atomic": "1"}, "1"),
    ],
)  # fmt: skip
def test_a_job_says_whether_it_passed_the_page_cache(options: dict[str, str | None], label: str) -> None:
    assert changed("group-3.33.json", options)["direct"] == label


@pytest.mark.parametrize(
    ("options", "mix"),
    [
        ({}, "50"), ({"rw": "rw"}, "50"), ({"rw": "readwrite"}, "50"), ({"rwmixread": "70"}, "70"),
        ({"rwmixwrite": "30"}, "70"), ({"rwmixwrite": "30", "rwmixread": "60"}, "60"), ({"rwmixwrite": "200"}, "50"),
    ],
)  # fmt: skip
def test_a_job_that_reads_and_writes_says_how_much_of_each(options: dict[str, str], mix: str) -> None:
    assert changed("capped-3.33.json", options)["mix"] == mix


def test_a_job_of_one_direction_has_no_mix() -> None:
    assert "mix" not in changed("io-size-3.33.json", {"rwmixread": "70"})


@pytest.mark.parametrize(
    ("asked", "levels", "depth"),
    [
        ("16", {"1": 100.0, "2": 0.0, "16": 0.0}, "1"),
        ("16", {"1": 0.1, "8": 0.1, "16": 99.8, "32": 0.0}, "16"),
        ("12", {"1": 0.1, "8": 99.9, "16": 0.0}, "12"),
        ("16", {"1": 0.1, "8": 99.9, "16": 0.0}, "8"),
        ("256", {"1": 0.1, "32": 0.0, ">=64": 99.9}, "256"),
        ("64", {"1": 0.1, "32": 99.9, ">=64": 0.0}, "32"),
        (None, {"1": 100.0}, "1"),
        ("16", {}, "1"),
    ],
)
def test_the_depth_is_the_one_that_was_used(asked: str | None, levels: dict[str, float], depth: str) -> None:
    assert changed("capped-3.33.json", {"iodepth": asked}, levels)["depth"] == depth


def test_a_job_whose_depth_was_capped_is_no_point_of_a_sweep_over_depth() -> None:
    target = Target(a_node(), None, {"depth": 16}, labels=(("depth", "16"),))
    with pytest.raises(ProbeOutputError, match="depth=1, expected depth=16"):
        read_output(Fio(), output("fio/capped-3.33.json"), target)
    readings, _ = read_output(Fio(), output("fio/capped-3.33.json"), replace(target, labels=(("depth", "1"),)))
    assert readings


def test_an_engine_that_moves_nothing_and_a_flush_after_every_write_are_told() -> None:
    nothing = {dict(one.labels)["ioengine"] for one in Fio().parse(output("fio/null-3.33.json"))}
    flushed = Fio().parse(output("fio/fsync-3.33.json"))
    assert nothing == {"null"}
    assert {(dict(one.labels)["fsync"], dict(one.labels)["end_fsync"]) for one in flushed} == {("4", "1")}
    syncs = {(one.metric, dict(one.labels).get("statistic")): one.value for one in flushed if "sync" in one.metric}
    assert syncs == {
        ("fio.sync_latency", None): pytest.approx(797173.636667e-9), ("fio.sync_percentile", "p50"): 164864e-9,
        ("fio.sync_percentile", "p99"): pytest.approx(2113536e-9),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"fsync": "1"}, {"fsync": "1"}), ({"fdatasync": "8"}, {"fdatasync": "8"}), ({"sync": "dsync"}, {"sync": "dsync"}),
        ({"fsync": "0", "sync": "none"}, {}), ({"rw": "read", "fsync": "1"}, {}),
    ],
)  # fmt: skip
def test_what_was_flushed_is_a_condition_of_writes_only(given: dict[str, str], told: dict[str, str]) -> None:
    marks = changed("io-size-3.33.json" if "rw" in given else "group-3.33.json", given)
    assert {name: value for name, value in marks.items() if "sync" in name and name != "ioengine"} == told


def test_defaults_are_told_only_where_the_options_are_whole() -> None:
    document = json.loads(text("fio/2.2.10.json"))
    bare = dict(read(Fio(), json.dumps(document))[0][2])
    assert not bare.keys() & {"direct", "ioengine", "depth", "mix"}
    document["jobs"][0]["job options"] = {"rw": "randread"}
    older = dict(read(Fio(), json.dumps(document))[0][2])
    assert (older["direct"], older["depth"]) == ("0", "1")
    assert "ioengine" not in older


def test_errors_that_fio_went_on_from_are_errors() -> None:
    spoiled = text("fio/group-3.33.json").replace('"error" : 0', '"error" : 0, "total_err" : 3, "first_error" : 5')
    with pytest.raises(ProbeOutputError, match="total_err 3"):
        Fio().parse(Output((), spoiled.encode()))
    complaint = b"fio: io_u error on file /x/c.0.0: Input/output error: write offset=4096, buflen=65536\n"
    with pytest.raises(ProbeOutputError, match="io_u error"):
        Fio().parse(replace(output("fio/group-3.33.json"), stderr=complaint))


def test_a_full_disk_is_a_failure_although_a_rate_is_printed() -> None:
    full = text("fio/disk-full-3.33.json")
    assert '"bw_bytes" : 1677721600' in full
    for spoiled in (full, full[full.index("{\n") :].split("fio: io_u")[0]):
        with pytest.raises(ProbeOutputError):
            Fio().parse(Output((), spoiled.encode()))


@pytest.mark.parametrize("value", ["-1", "1e999", "18446744073709551616", "null", '"fast"', "NaN", "-nan"])
def test_an_absurd_rate_is_refused(value: str) -> None:
    with pytest.raises(ProbeOutputError):
        Fio().parse(Output((), text("fio/2.2.10.json").replace('"bw" : 20480', f'"bw" : {value}').encode()))


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
    "printed",
    [
        b"a: (groupid=0, jobs=1): err= 0: pid=1\n  write: IOPS=800, BW=100MiB/s (105MB/s)(500MiB/5001msec)\n",
        b"a: (groupid=0, jobs=1): err= 0: pid=1\n  write: io=512000KB, bw=102400KB/s, iops=800, runt=  5000msec\n",
        b"3;fio-3.33;c;0;0;0;0;0;0;0;0;0.000000;0.000000\n",
    ],
)
def test_text_for_people_and_terse_lines_are_not_read(printed: bytes) -> None:
    with pytest.raises(ProbeOutputError, match="output-format=json: its text rounds"):
        Fio().parse(Output((), printed))


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


# The script itself, run here: it is the part that could hurt a node.


def script(root: Path | str, **options: str | int | float) -> list[str]:
    chosen = {"scratch": str(root), "size": "1 MiB", "seconds": 1, **options}
    return list(Fio().command(Target(a_node(), options=MappingProxyType(chosen))))


@pytest.fixture
def played(tmp_path: Path) -> dict[str, str]:
    """An environment whose fio and df are played: they write down how they were called."""
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "fio").write_text(
        '#!/bin/sh\nprintf "%s\\n" "$*" >> "$CALLS"\n'
        'for word; do case $word in --directory=*) touch "${word#*=}/data";; esac; done\n'
        '[ -z "$HANGS" ] || { echo ready > "$HANGS"; exec sleep 60; }\nexit "${FAILS:-0}"\n'
    )
    (tools / "df").write_text('#!/bin/sh\necho head\necho "some device $DF /a b"\n')
    for tool in tools.iterdir():
        tool.chmod(0o755)
    calls = str(tmp_path / "calls")
    return {"PATH": f"{tools}:{os.environ['PATH']}", "CALLS": calls, "DF": "100000 1000 99000 1%", "HANGS": ""}


def run(argv: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, timeout=30)


def test_four_runs_one_after_the_other_in_a_directory_of_its_own(tmp_path: Path, played: dict[str, str]) -> None:
    root = tmp_path / "scratch with blanks; and 'quotes'"
    root.mkdir()
    done = run(script(root), {**played, "BENCHCONSOLE_SESSION": "s-17"})
    assert (done.returncode, done.stderr, list(root.iterdir())) == (0, "", [])
    calls = Path(played["CALLS"]).read_text().splitlines()
    assert [call.split("--rw=")[1].split()[0] for call in calls] == ["write", "read", "randwrite", "randread"]
    for call in calls:
        assert f"--directory={root}/benchconsole.s-17." in call
        for guard in (
            "--unlink=1",
            "--allow_mounted_write=0",
            "--direct=1",
            "--size=1048576",
            "--time_based",
            "--runtime=1",
        ):
            assert guard in call


def test_jobs_depth_and_mix_are_passed_on(tmp_path: Path, played: dict[str, str]) -> None:
    root = tmp_path / "scratch"
    root.mkdir()
    assert run(script(root, jobs=3, depth=8, mix=70), played).returncode == 0
    calls = Path(played["CALLS"]).read_text().splitlines()
    assert [call.split("--name=")[1].split()[0] for call in calls] == [
        "sequential-write", "sequential-read", "random-write", "random-read", "random-mixed",
    ]  # fmt: skip
    assert all("--ioengine=libaio --numjobs=3 --iodepth=8 " in call for call in calls)
    assert ["--rwmixread=70" in call for call in calls] == [False] * 4 + [True]
    declared = Fio().demands(Target(a_node(), options=MappingProxyType({"size": "1 GiB", "jobs": 3, "mix": 70})))
    assert declared.writes == 5 * 3 * 2**30


def test_room_for_the_files_of_all_jobs_is_asked_for(tmp_path: Path, played: dict[str, str]) -> None:
    root = tmp_path / "scratch"
    root.mkdir()
    tight = {**played, "DF": "100000 85000 15000 85%"}
    assert run(script(root, jobs=4), tight).returncode == 0
    assert run(script(root, jobs=5), tight).returncode == scratch.REFUSED


@pytest.mark.parametrize(
    ("df", "refused"),
    [
        ("100000 1000 99000 1%", False),
        ("100000 98000 2000 98%", True),  # less than twice the size
        ("100000 89500 10500 90%", True),  # less than a tenth would be left
        ("100000 88000 12000 88%", False),
        ("- - - -", True),
        ("", True),
    ],
)
def test_a_scratch_without_room_is_refused_before_anything_is_written(
    tmp_path: Path, played: dict[str, str], df: str, refused: bool
) -> None:
    root = tmp_path / "scratch"
    root.mkdir()
    done = run(script(root), {**played, "DF": df})
    assert (done.returncode == scratch.REFUSED and "refused" in done.stderr) is refused
    assert Path(played["CALLS"]).exists() is not refused
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("root", ["relative", "/nowhere/at/all", "/tmp/with:colon", ""])
def test_a_scratch_that_cannot_be_used_is_refused(played: dict[str, str], root: str) -> None:
    done = run(script(root), played)
    assert (done.returncode, "refused" in done.stderr) == (scratch.REFUSED, True)
    assert not Path(played["CALLS"]).exists()


async def test_a_refusal_of_the_node_is_no_failed_tool() -> None:
    said = Output((), b"", b"benchconsole: refused: /scratch has no room\n", scratch.REFUSED, node="n1")
    with pytest.raises(RemoteError) as raised:
        await Fio().run(FakeContact(FakeRemote("n1").when("sh", answers=said)), Target(a_node()))
    failure = raised.value.failure
    assert (failure.stage, failure.detail, failure.node) == (FailedAt.REFUSED, "/scratch has no room", "n1")
    assert raised.value.output is not None


def test_what_it_writes_is_declared_and_taken_from_what_all_share() -> None:
    alone = Fio().demands(Target(a_node(), options=MappingProxyType({"size": "1 GiB"})))
    assert (alone.writes, dict(alone.shared), Part.DISK in alone.alone) == (4 * 2**30, {}, True)
    shared = Fio().demands(Target(a_node(), options=MappingProxyType({"size": "1 GiB", "shared": "home"})))
    assert dict(shared.shared) == {"filesystem:home": 2**30}
    with pytest.raises(PlanError):
        Fio().demands(Target(a_node(), options=MappingProxyType({"size": "1 GB/s"})))


def test_a_failing_run_ends_all_and_removes_the_directory(tmp_path: Path, played: dict[str, str]) -> None:
    root = tmp_path / "scratch"
    root.mkdir()
    assert run(script(root), {**played, "FAILS": "5"}).returncode == 5
    assert len(Path(played["CALLS"]).read_text().splitlines()) == 1
    assert list(root.iterdir()) == []


def test_a_missing_tool_is_told_as_the_shell_would(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("sh", "mktemp", "df", "awk", "rm", "id", "ls", "expr"):
        (tools / tool).symlink_to(shutil.which(tool) or tool)
    assert run(script(tmp_path), {"PATH": str(tools)}).returncode == 127


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_fio_and_removes_the_directory(tmp_path: Path, played: dict[str, str], number: int) -> None:
    root, ready = tmp_path / "scratch", tmp_path / "ready"
    root.mkdir()
    os.mkfifo(ready)
    with subprocess.Popen(script(root), env={**played, "HANGS": str(ready)}, stdout=-1, stderr=-1) as going:
        assert ready.read_text() == "ready\n"
        assert len(list(root.iterdir())) == 1
        began = time.monotonic()
        going.send_signal(number)
        assert going.wait(timeout=10) == 128 + number
    assert time.monotonic() - began < 5
    assert list(root.iterdir()) == []


@pytest.mark.skipif(
    shutil.which("fio") is None and not os.environ.get("CI"), reason="fio is not installed here (in CI this fails)"
)
def test_a_real_run_is_read(tmp_path: Path) -> None:
    target = Target(
        a_node(), options=MappingProxyType({"scratch": str(tmp_path), "size": "1 MiB", "seconds": 1, "direct": 0})
    )
    done = subprocess.run(Fio().command(target), capture_output=True, check=False, timeout=60)
    found = Fio().parse(Output((), done.stdout, done.stderr, done.returncode))
    assert len(found) == 20
    assert {dict(one.labels)["direct"] for one in found} == {"0"}
    assert list(tmp_path.iterdir()) == []


async def test_the_time_allowed_follows_the_options() -> None:
    here = FakeRemote("n1", lenient=True)
    await Fio().run(FakeContact(here), Target(a_node(), options=MappingProxyType({"seconds": 60})))
    assert here.calls[0].timeout > Fio().estimate({"seconds": 60}) > 240


@pytest.mark.parametrize(
    "options",
    [
        {"size": "much"},
        {"size": 64},
        {"size": "100 B"},
        {"seconds": 0},
        {"seconds": "5 s"},
        {"direct": 2},
        {"large": "1M"},
        {"jobs": 0},
        {"depth": 0},
        {"depth": 4, "direct": 0},
        {"mix": 101},
    ],
)
def test_options_that_cannot_be_read_are_refused(options: dict[str, str | int | float]) -> None:
    with pytest.raises(PlanError):
        Fio().command(Target(a_node(), options=MappingProxyType(options)))


def test_a_failed_script_gives_no_number() -> None:
    with pytest.raises(ProbeOutputError, match="refused"):
        Fio().parse(replace(output("fio/own-3.33.json"), exit_status=3, stderr=b"benchconsole: refused: no room\n"))


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        ({"seconds": 5, "size": "512 B"}, 24.0),
        ({"seconds": 5, "size": "100 MB"}, 26.0),  # a second for the file of each of two runs that read
        ({"seconds": 5, "size": "100 MB", "jobs": 4}, 32.0),
        ({"seconds": 5, "size": "100 MB", "mix": 70}, 33.0),
    ],
)
def test_the_files_of_runs_that_read_are_laid_out_before(options: dict[str, str | int], seconds: float) -> None:
    assert Fio().estimate(options) == pytest.approx(seconds, abs=1e-4)
