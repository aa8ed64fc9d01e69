"""Conditions of fio's numbers: block, direct, mix, depth, engine and flushes, set or at their defaults."""

import json
from collections.abc import Mapping

import pytest

from benchconsole.probes.api import ProbeOutputError, Target
from benchconsole.probes.plugins.probe_output import read_output
from benchconsole.probes.testing import a_node
from benchconsole.probes.tools.fio.probe import Fio
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import output, read, text


def test_labels_say_what_the_options_say() -> None:
    labels = {one.metric: dict(one.labels) for one in Fio().parse(output("fio/2.10-invalid.json"))}
    assert labels["fio.read"] == {
        "pattern": "random", "block": "4KiB", "job": "mixed", "mix": "50", "depth": "1", "direct": "1",
        "ioengine": "libaio",
    }  # fmt: skip
    assert labels["fio.write"]["block"] == "64KiB"
    assert dict(Fio().parse(output("fio/3.0.json"))[0].labels)["direct"] == "0"


def test_kib_is_a_thousand_where_fio_says_so() -> None:
    assert {dict(one.labels)["block"] for one in Fio().parse(output("fio/kib-3.33.json"))} == {"4000B"}


def test_what_is_verified_says_so() -> None:
    found = [(one.metric, dict(one.labels)["verify"]) for one in Fio().parse(output("fio/verify-3.33.json"))]
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


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"rate": "100m"}, {"rate": "100m"}), ({"rate_iops": "500", "thinktime": "0"}, {"rate_iops": "500"}),
        ({"thinktime": "10ms"}, {"thinktime": "10ms"}), ({"rate": "0"}, {}),
    ],
)  # fmt: skip
def test_what_held_a_job_back_is_told(given: dict[str, str], told: dict[str, str]) -> None:
    limits = ("rate", "rate_iops", "thinktime")
    assert {name: value for name, value in changed("group-3.33.json", given).items() if name in limits} == told


def test_defaults_are_told_only_where_the_options_are_whole() -> None:
    document = json.loads(text("fio/2.2.10.json"))
    bare = dict(read(Fio(), json.dumps(document))[0][2])
    assert not bare.keys() & {"direct", "ioengine", "depth", "mix"}
    document["jobs"][0]["job options"] = {"rw": "randread"}
    older = dict(read(Fio(), json.dumps(document))[0][2])
    assert (older["direct"], older["depth"]) == ("0", "1")
    assert "ioengine" not in older
