"""Input scripts of IOR: their runs as stages, at IOR's own defaults, and nothing that the probe cannot run."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchconsole.console.cli import command
from benchconsole.console.exits import BadInput
from benchconsole.probes.api import PlanError
from benchconsole.probes.tools.ior.script_reader import format_stages, read_script

LLNL = """\
IOR START
intraTestBarriers=1
writeFile=1
readFile=1
useExistingTestFile=0
keepFile=0
checkWrite=0
fsync=1
reorderTasks=1
quitOnError=1
transferSize=512k
blockSize=32m
intertestdelay=5
verbose=1

testFile=/p/gbtest/ann/ior/iorData

# one file for each task
filePerProc=1
api=POSIX
numTasks=14
RUN
numTasks=28
RUN

 numTasks=56
RUN

IOR STOP
"""
SURVEY = {
    "access": "file-per-process", "api": "POSIX", "barriers": 1, "block": "32 MiB", "delay": 5, "end_fsync": 1,
    "reorder": 1, "repetitions": 1, "scratch": "/p/gbtest/ann/ior", "segments": 1, "tasks": [14, 28, 56],
    "transfer": "512 KiB",
}  # fmt: skip
DEFAULTS = {
    "access": "shared-file", "api": "POSIX", "barriers": 0, "block": "1 MiB", "delay": 0, "end_fsync": 0, "reorder": 0,
    "repetitions": 1, "segments": 1, "transfer": "256 KiB",
}  # fmt: skip


def test_runs_that_differ_in_their_tasks_are_one_sweep() -> None:
    assert read_script(LLNL, "s.ior") == [SURVEY]


def test_a_directive_holds_until_it_is_set_again_and_others_are_at_the_default_of_ior() -> None:
    text = "ior start\nnumtasks=4, API=mpiio\nRUN\nblocksize=4g\nRUN\nsegmentCount=3\nior stop\n"
    assert read_script(text, "s.ior") == [
        {**DEFAULTS, "api": "MPIIO", "tasks": 4},
        {**DEFAULTS, "api": "MPIIO", "tasks": 4, "block": "4 GiB"},
        {**DEFAULTS, "api": "MPIIO", "tasks": 4, "block": "4 GiB", "segments": 3},
    ]


def test_the_printed_suite_is_one_that_can_be_planned(tmp_path: Path) -> None:
    script, topology = tmp_path / "survey.ior", tmp_path / "t.yaml"
    script.write_text(LLNL)
    printed = CliRunner().invoke(command, ["probes", "ior", "--script", str(script)])
    assert printed.exit_code == 0, printed.output
    assert printed.stdout.splitlines()[2:] == format_stages(read_script(LLNL, "s"))
    topology.write_text(
        "schema: 1\nfabric: f\nswitches: {leaf: {role: leaf}}\nclasses: {blade: {cpu: {cores: 2}}}\n"
        'nodes: {"n[01-28]": {class: blade}}\nlinks: [{from: "n[01-28]", to: leaf, speed: 10 Gb/s}]\n' + printed.stdout
    )
    checked = CliRunner().invoke(command, ["check", str(topology), "--brief"])
    assert checked.exit_code == 0, checked.exception


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("writeFile=1", "writeFile=0", "s.ior:3: found writeFile=0, which the probe cannot run, expected writeFile=1"),
        ("checkWrite=0", "checkWrite=1", "expected checkWrite=0"),
        ("checkWrite=0", "useO_DIRECT=1", "expected useO_DIRECT=0"),
        ("verbose=1", "setAlignment=4k", "s.ior:14: found 'setAlignment=4k', expected a directive of IOR"),
        ("512k", "512 kB", "found 'transferSize=512 kB'"),
        ("=/p/gbtest", "=gbtest", "found 'testFile=gbtest/ann/ior/iorData'"),
        ("api=POSIX", "api=NCMPI", "found 'api=NCMPI'"),
        ("api=POSIX", "api", "found 'api', expected NAME=VALUE"),
        ("numTasks=28\nRUN", "RUN", "the same run twice"),
        ("IOR START\n", "", "s.ior:1: found 'intraTestBarriers=1', expected IOR START before it"),
        ("IOR STOP", "", "found no IOR STOP"),
        ("IOR STOP", "IOR START", "found IOR START, expected IOR START first"),
        (LLNL, "IOR START\nIOR STOP\n", "found no run"),
        (LLNL, "", "found no run"),
    ],
)
def test_what_the_probe_cannot_run_is_refused(old: str, new: str, said: str) -> None:
    with pytest.raises(PlanError) as refused:
        read_script(LLNL.replace(old, new), "s.ior")
    assert said in str(refused.value)


@pytest.mark.parametrize("names", [(), ("mdtest",), ("ior", "mdtest")])
def test_only_scripts_of_ior_are_read(tmp_path: Path, names: tuple[str, ...]) -> None:
    script = tmp_path / "survey.ior"
    script.write_text(LLNL)
    refused = CliRunner().invoke(command, ["probes", *names, "--script", str(script)])
    assert isinstance(refused.exception, BadInput)
    assert "expected ior, whose scripts are read" in str(refused.exception)
