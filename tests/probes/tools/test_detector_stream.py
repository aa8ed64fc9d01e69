import json
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Output, PlanError, ProbeOutputError, Target
from benchconsole.probes.reach.slurm.local_steps import LocalRemote
from benchconsole.probes.testing import PROBE_CHECKS, Check, FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.detector_stream.probe import DetectorStream
from benchconsole.probes.tools.python.script_runner import make_command
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import ROOT, noise, output, read, said, text, values

NAMES = sorted(path.name for path in (ROOT / "detector-stream").iterdir())
Options = dict[str, str | int | float]


def left(place: Path) -> list[str]:
    """The sorted names of the files in ``place``."""
    return sorted(each.name for each in place.iterdir())


def document(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text(f"detector-stream/{name}").splitlines()[-1])
    return found


def parsed(found: dict[str, Any]) -> dict[str, list[str | float]]:
    return values(DetectorStream().parse(Output((), json.dumps(found).encode())))


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(DetectorStream(), [output(f"detector-stream/{name}") for name in NAMES])


def test_one_that_recovers_is_unstable_by_its_own_frames() -> None:
    found = values(DetectorStream().parse(output("detector-stream/hiccup.txt")))
    assert found == {
        # stream 1 ends 5 ms after its last deadline: 10 * 9 MB in 1.005 s; stream 2 holds its rate
        "detector-stream.throughput": [pytest.approx(180e6 / 1.005)],
        "detector-stream.rate": [pytest.approx(90e6 / 1.005), pytest.approx(90e6)],
        "detector-stream.misses": [0.2, 0.3],
        "detector-stream.late": [0.0, 0.1],
        "detector-stream.lateness": [pytest.approx(0.04), pytest.approx(0.15)],
        "detector-stream.longest": [1.0, 3.0],
        "detector-stream.wakeup": [pytest.approx(0.0012), pytest.approx(0.0009)],
        "detector-stream.grade": ["unstable"],
    }


def test_frames_that_were_given_up_are_misses() -> None:
    found = values(DetectorStream().parse(output("detector-stream/gave-up.txt")))
    # 4 frames of 9 MB in 4 periods of 0.1 s and 2.6 s more; both streams wrote 14 in that time
    assert found["detector-stream.rate"] == [pytest.approx(12e6), pytest.approx(90e6)]
    assert found["detector-stream.throughput"] == [pytest.approx(126e6 / 3)]
    assert found["detector-stream.misses"] == found["detector-stream.late"] == [1.0, 0.0]
    assert found["detector-stream.longest"] == [10.0, 0.0]
    assert found["detector-stream.lateness"] == [pytest.approx(2.6), 0.0]
    assert found["detector-stream.grade"] == ["unusable"]


@pytest.mark.parametrize("name", ["four-streams.txt", "appended-sync-end.txt", "too-fast.txt"])
def test_a_recorded_run_says_what_its_times_say(name: str) -> None:
    whole, found = document(name), values(DetectorStream().parse(output(f"detector-stream/{name}")))
    period = 1e6 / whole["rate"]
    times = [each["finished_us"] for each in whole["results"]]
    late = [sum(one > period for one in each) / len(each) for each in times]
    ends = [len(each) * period + max(0, each[-1]) for each in times]
    moved = whole["size"] * sum(len(each) for each in times)
    assert found["detector-stream.late"] == late
    assert found["detector-stream.misses"] == [sum(one > 0 for one in each) / len(each) for each in times]
    assert found["detector-stream.throughput"] == [pytest.approx(moved / max(ends) * 1e6)]
    grades = {"four-streams.txt": "stable", "appended-sync-end.txt": "stable", "too-fast.txt": "unusable"}
    assert found["detector-stream.grade"] == [grades[name]]


def test_labels_say_what_was_asked_for() -> None:
    found = DetectorStream().parse(output("detector-stream/appended-sync-end.txt"))
    asked = {
        "frames": "20",
        "size": "1000000",
        "hertz": "50",
        "streams": "2",
        "layout": "appended",
        "sync": "end",
    }
    assert dict(found[0].labels) == asked
    assert dict(found[-2].labels) == {**asked, "stream": "2"}


def graded(times: list[int], frames: int = 10) -> str | float:
    """The grade of one stream at 10 Hz."""
    one = {"number": 1, "wakeup_us": 0, "finished_us": times}
    whole = {**document("hiccup.txt"), "frames": frames, "streams": 1, "results": [one]}
    return parsed(whole)["detector-stream.grade"][0]


def test_the_grades_are_where_they_are_said_to_be() -> None:
    assert graded([0] * 10) == "stable"
    assert graded([100_000] * 9 + [0]) == "stable"  # a miss each time, and never by more than a period
    assert graded([100_001] + [50_000] * 9) == "unstable"
    assert graded([100_001] * 5 + [50_000] * 5) == "unstable"
    assert graded([100_001] * 6 + [50_000] * 4) == "unusable"
    assert graded([0] * 9 + [111_111]) == "unstable"  # 10 frames in 11.11 periods: 90 %
    assert graded([0] * 9 + [111_112]) == "unusable"
    assert graded([0] * 9) == "unstable"  # the last one was given up
    assert graded([0] * 4) == "unusable"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("frames", 9),
        ("frames", "10"),
        ("size", 0),
        ("size", 9e6),
        ("rate", 0),
        ("rate", True),
        ("rate", 1e7),
        ("streams", 1),
        ("streams", 3),
        ("layout", "tape"),
        ("sync", "none"),
        ("results", []),
        ("version", 2),
        ("end", False),
    ],
)
def test_a_document_that_contradicts_itself_is_refused(key: str, value: object) -> None:
    with pytest.raises(ProbeOutputError):
        parsed({**document("hiccup.txt"), key: value})


@pytest.mark.parametrize(
    "times",
    [
        [],
        [0] * 11,
        [0] * 9 + [1.5],
        [0] * 9 + [True],
        [0] * 9 + [None],
        [0] * 9 + ["1"],
        [0] * 9 + [10**12],
        [-100_003] + [0] * 9,  # before the frame was there
        [200_000, 99_997] + [99_997] * 8,  # before the one in front
    ],
)
def test_times_that_cannot_be_are_refused(times: list[object]) -> None:
    one = {"number": 1, "wakeup_us": 0, "finished_us": times}
    with pytest.raises(ProbeOutputError):
        parsed({**document("hiccup.txt"), "streams": 1, "results": [one]})


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-1", "1e999", '"x"', "null"])
@pytest.mark.parametrize(("field", "found"), [("size", 9000000), ("rate", 10.0), ("frames", 10), ("wakeup_us", 1200)])
def test_no_absurd_number_becomes_a_reading(field: str, value: str, found: float) -> None:
    whole = text("detector-stream/hiccup.txt")
    spoiled = whole.replace(f'"{field}": {found}', f'"{field}": {value}')
    assert spoiled != whole
    assert read(DetectorStream(), spoiled) == []


def test_a_run_that_failed_gives_nothing_whatever_it_printed() -> None:
    full = b"OSError: No space left on device\n"
    failed = replace(output("detector-stream/hiccup.txt"), exit_status=1, stderr=full)
    with pytest.raises(ProbeOutputError, match="No space left"):
        DetectorStream().parse(failed)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMES), noise, noise, st.data())
def test_noise_and_cuts_never_give_another_number(name: str, before: str, after: str, data: st.DataObject) -> None:
    whole = said(DetectorStream().parse(output(f"detector-stream/{name}")))
    full = before + text(f"detector-stream/{name}").replace("\n", data.draw(st.sampled_from(["\n", "\r\n"]))) + after
    assert read(DetectorStream(), full) == whole
    assert read(DetectorStream(), full[: data.draw(st.integers(0, len(full)))]) in ([], whole)
    place = data.draw(st.integers(0, len(full)))
    assert read(DetectorStream(), f"{full[:place]}\n{data.draw(noise)}\n{full[place:]}") in ([], whole)


# The command and the script.


def target(**options: str | int | float) -> Target:
    return Target(a_node(), options=MappingProxyType({**DetectorStream.options, **options}))


def test_the_pilatus_of_the_report_in_words_of_the_command() -> None:
    asked: Options = {"frames": 2000, "size": "9 MB", "rate": "50 Hz", "streams": 4, "scratch": "/gpfs"}
    probe, argv = DetectorStream(), list(DetectorStream().command(target(**asked)))
    assert argv[:2] == ["sh", "-c"]
    assert argv[3:7] == ["benchconsole-python", "/gpfs", "72000000000", "8020"]
    assert argv[7:10] == ["python3", "-I", "-c"]
    assert argv[12:] == ["", "2000", "9000000", "50.0", "4", "files", "frame", "10.0"]
    assert probe.space(target(**asked).options) == 72e9
    assert probe.estimate(target(**asked).options) == 44
    assert probe.demands(target(**asked)).writes == 72e9


@pytest.mark.parametrize(
    "options",
    [
        {"frames": 9},
        {"frames": 100_001},
        {"frames": 10_000, "streams": 16},
        {"streams": 0},
        {"streams": 17},
        {"size": "9 Mb"},
        {"size": 9_000_000},
        {"rate": "50"},
        {"rate": "0.05 Hz"},
        {"rate": "20 kHz"},
        {"layout": "one"},
        {"sync": "none"},
    ],
)
async def test_options_out_of_range_are_refused_before_anything_is_sent(options: Options) -> None:
    here = FakeRemote("n1", lenient=True)
    with pytest.raises(PlanError, match=f"option {next(iter(options))}"):
        await DetectorStream().run(FakeContact(here), target(**options))
    assert here.calls == []


@pytest.mark.parametrize(("layout", "sync"), [("files", "frame"), ("appended", "end")])
async def test_a_real_run_keeps_its_schedule(tmp_path: Path, layout: str, sync: str) -> None:
    asked = target(scratch=str(tmp_path), frames=10, size="64 KiB", rate="50 Hz", streams=2, layout=layout, sync=sync)
    contact = FakeContact(LocalRemote("s-1", "n1"))
    (done,) = await DetectorStream().run(contact, asked)
    found = values(DetectorStream().parse(done))
    assert (contact.gathered, left(tmp_path)) == (1, [])
    whole = json.loads(done.text.splitlines()[-1])
    assert [len(each["finished_us"]) for each in whole["results"]] == [10, 10]
    for each, rate in zip(whole["results"], found["detector-stream.rate"], strict=True):
        assert rate == pytest.approx(655360 / (0.2 + max(0, each["finished_us"][-1]) / 1e6))
    assert dict(DetectorStream().parse(done)[0].labels)["layout"] == layout


def test_what_cannot_be_written_fails_and_says_so(tmp_path: Path) -> None:
    argv = list(DetectorStream().command(target(scratch=str(tmp_path), frames=10, size="1 MiB", rate="50 Hz")))
    limited = ["sh", "-c", 'ulimit -f 64; exec "$@"', "limited", *argv]
    done = subprocess.run(limited, capture_output=True, text=True, check=False, timeout=30)
    assert (done.returncode, done.stdout.strip()) == (1, "")
    assert "File too large" in done.stderr
    assert list(tmp_path.iterdir()) == []


def played(tmp_path: Path, slow: str, *, grace: float, sync: str) -> list[int]:
    """Times of a stream of 10 frames at 100 Hz, whose function ``slow`` takes a tenth of a second each time."""
    script = DetectorStream.script.replace("\nfound = gang(", f"\n{slow} = lambda *_: time.sleep(0.1)\nfound = gang(")
    argv = make_command(sys.executable, script, "10", "1000", "100.0", "1", "appended", sync, str(grace))
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 0, done.stderr
    times: list[int] = json.loads(done.stdout)["results"][0]["finished_us"]
    return times


def test_the_last_frame_waits_until_all_are_on_the_disk(tmp_path: Path) -> None:
    times = played(tmp_path, "settle", grace=60, sync="end")
    assert len(times) == 10
    assert times[-1] >= 100_000 - 10_000  # begun a period before its deadline, at the earliest


def test_the_schedule_does_not_wait_for_a_slow_file_system(tmp_path: Path) -> None:
    times = played(tmp_path, "write_all", grace=60, sync="frame")
    assert len(times) == 10
    assert all(late >= (number + 1) * 90_000 for number, late in enumerate(times))


def test_a_stream_that_is_hopelessly_behind_gives_up(tmp_path: Path) -> None:
    times = played(tmp_path, "write_all", grace=0.1, sync="frame")
    assert 1 <= len(times) <= 4  # more than 0.2 s behind after the third, at the latest
