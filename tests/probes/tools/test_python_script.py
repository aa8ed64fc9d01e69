"""Common properties of the scripts that run on nodes, and how they are brought there."""

import ast
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchconsole.probes import scratch
from benchconsole.probes.api import Output, Part, ProbeOutputError, RemoteError, Target
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.reach.slurm.local_steps import LocalRemote
from benchconsole.probes.testing import FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.aggregate import probe as aggregate
from benchconsole.probes.tools.archive import node_script
from benchconsole.probes.tools.detector_stream import probe as detector_stream
from benchconsole.probes.tools.python import script_runner
from benchconsole.probes.tools.python.script_runner import (
    draw_gate,
    make_command,
    make_script,
    run_released,
    wrap_in_scratch,
)
from benchconsole.probes.tools.skim import probe as skim

SCRIPTS = {
    "detector-stream": detector_stream.DetectorStream.script,
    "aggregate": aggregate.Aggregate.script,
    "skim": skim.Skim.script,
    "archive, receiver": node_script.RECEIVER,
    "archive, sender": node_script.SENDER,
}
PYTHON = sys.executable


def run(argv: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=30)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_python_3_6_and_bears_any_login_shell(name: str) -> None:
    ast.parse(SCRIPTS[name], feature_version=(3, 6))
    for word in make_command("python3", SCRIPTS[name]):
        assert "\n" not in word
        assert "\\" not in word
        assert "'" not in word
        assert not re.search(r"![^= ]", word)


@pytest.mark.parametrize("text", ["x = '1'", "print('a\\n')", "a = ~1", "print(not!x)", "# ä"])
def test_text_that_a_shell_or_the_folding_would_change_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="in line"):
        make_script(text)


def test_words_reach_the_script_as_they_are() -> None:
    hostile = "$(touch x)';|&`x` \n-rf ~"
    done = run(make_command(PYTHON, make_script("print(json.dumps([gate] + words))"), hostile, "", gate="g"))
    assert done.stdout == '["g", "$(touch x)\';|&`x` \\n-rf ~", ""]\n', done.stderr


def test_a_module_that_lies_about_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('ours')")
    done = subprocess.run(
        make_command(PYTHON, make_script("report(1)")), cwd=tmp_path, capture_output=True, check=False, timeout=30
    )
    assert (done.returncode, done.stderr) == (0, b"")


GANG = """
def work(number, ready):
    mark("began-%d" % number)
    start = ready()
    {body}
    return [number, start]


def mark(name):
    open(name, "w").close()


print(json.dumps(gang(3, work)))
"""


def test_all_begin_together_and_all_are_heard() -> None:
    done = run(
        wrap_in_scratch(make_command(PYTHON, make_script(GANG.format(body="pass"))), "/tmp", size=1024, files=16)
    )
    found = ast.literal_eval(done.stdout)
    assert [number for number, _ in found] == [1, 2, 3], done.stderr
    assert len({start for _, start in found}) == 1


def test_one_that_fails_fails_the_test_and_says_why(tmp_path: Path) -> None:
    body = "sys.exit(7) if number == 2 else None"
    done = run(
        wrap_in_scratch(make_command(PYTHON, make_script(GANG.format(body=body))), str(tmp_path), size=1024, files=16)
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "process 2: SystemExit: 7" in done.stderr
    assert "a process of the test failed" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_every_process_and_removes_what_they_wrote(tmp_path: Path, number: int) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    root = tmp_path / "root"
    root.mkdir()
    body = "sys.stdout.write(str(os.getpid()) + chr(10)); sys.stdout.flush(); time.sleep(60)"
    argv = wrap_in_scratch(make_command(PYTHON, make_script(GANG.format(body=body))), str(root), size=1024, files=16)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as going:
        assert going.stdout is not None
        processes = [int(going.stdout.readline()) for _ in range(3)]
        assert len(list(root.iterdir())) == 1
        going.send_signal(number)
        assert going.wait(timeout=20) == 128 + number
    assert [each for each in processes if Path(f"/proc/{each}").exists()] == []
    assert list(root.iterdir()) == []


def test_a_node_without_python_is_told_as_the_shell_would(tmp_path: Path) -> None:
    done = run(wrap_in_scratch(make_command("no-such-python", make_script("pass")), str(tmp_path), size=1024, files=16))
    assert (done.returncode, done.stderr) == (127, "benchconsole: no-such-python: command not found\n")


async def test_what_waits_behind_its_gate_begins_when_the_round_does() -> None:
    gate, here = draw_gate(), LocalRemote("s-1", "n1")
    contact = FakeContact(here)
    argv = make_command(PYTHON, make_script("await_round(); print(5)"), gate=gate)
    said = await run_released(contact, argv, python=PYTHON, gate=gate, timeout=30)
    assert (said.text, said.exit_status, contact.gathered) == ("benchconsole: prepared\n5\n", 0, 1)


async def test_nobody_is_waited_for_where_there_is_no_gate() -> None:
    assert run(make_command(PYTHON, make_script("await_round(); print(5)"))).stdout == "5\n"


async def test_a_gate_that_does_not_open_is_what_failed() -> None:
    here = LocalRemote("s-1", "n1")
    waiting = ["sh", "-c", "echo benchconsole: prepared; sleep 60"]
    said = await run_released(FakeContact(here), waiting, python=PYTHON, gate=draw_gate(), timeout=30)
    assert said.exit_status == 1
    assert "ConnectionRefusedError" in said.error_text


async def test_a_refusal_of_the_node_is_no_failed_tool() -> None:
    said = Output((), b"", b"benchconsole: refused: /scratch has no room\n", scratch.REFUSED, node="n1")
    for probe in (detector_stream.DetectorStream(), aggregate.Aggregate(), skim.Skim()):
        with pytest.raises(RemoteError) as raised:
            await probe.run(FakeContact(FakeRemote("n1").when("sh", answers=said)), Target(a_node()))
        failure = raised.value.failure
        assert (failure.stage, failure.detail, failure.node) == (FailedAt.REFUSED, "/scratch has no room", "n1")


def test_what_they_write_is_declared_and_taken_from_what_all_share() -> None:
    for probe in (detector_stream.DetectorStream(), aggregate.Aggregate(), skim.Skim()):
        alone = probe.demands(Target(a_node(), options=probe.options))
        assert (dict(alone.shared), Part.DISK in alone.alone) == ({}, True)
        assert alone.writes == probe.space(probe.options) > 0
        shared = probe.demands(Target(a_node(), options={**probe.options, "shared": "home"}))
        assert dict(shared.shared) == {"filesystem:home": alone.writes}


DOCUMENT = b'{"benchmark": "x", "version": 1, "streams": 2, "end": true}\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "0 whole results"),
        (DOCUMENT * 2, "2 whole results"),
        (DOCUMENT[:-5], "0 whole results"),
        (DOCUMENT.replace(b"true", b"1"), "1 whole results"),
        (DOCUMENT.replace(b', "end": true', b""), "1 whole results"),
        (DOCUMENT.replace(b'"x"', b'"y"'), "0 whole results"),
        (DOCUMENT.replace(b'"version": 1', b'"version": 2'), "version 2"),
    ],
)
def test_only_one_whole_document_is_read(text: bytes, words: str) -> None:
    with pytest.raises(ProbeOutputError, match=words):
        script_runner.read_document(Output((), text), "x")
    assert script_runner.read_count(script_runner.read_document(Output((), DOCUMENT), "x"), "streams") == 2


@pytest.mark.parametrize("value", [True, 2.0, "2", None, 0, -1, 10**16, [2]])
def test_a_count_is_a_whole_number_and_nothing_else(value: object) -> None:
    with pytest.raises(ProbeOutputError, match="as streams"):
        script_runner.read_count({"streams": value}, "streams")


@pytest.mark.parametrize("value", [True, 0, -1.0, "2", None, float("nan"), float("inf"), 1e15])
def test_a_time_is_a_positive_number_and_nothing_else(value: object) -> None:
    with pytest.raises(ProbeOutputError, match="as seconds"):
        script_runner.read_seconds({"seconds": value}, "seconds")


def test_a_cache_is_excluded_only_by_what_the_kernel_counted() -> None:
    assert script_runner.find_cache_label([({"fetched": 90}, 100), ({"fetched": 100}, 100)]) == "dropped"
    for other in (89, 0, None, True, "100", -100, 1e300):
        assert script_runner.find_cache_label([({"fetched": 100}, 100), ({"fetched": other}, 100)]) == "unproven"
