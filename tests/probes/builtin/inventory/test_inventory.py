import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probes.api import Fact, Output, ProbeOutputError, Target, Unit
from probes.builtin.inventory import SOURCES, Inventory
from probes.builtin.inventory.script import Answer, answers, command, written
from probes.testing import PROBE_CHECKS, Check, a_node
from tests.probes.builtin.captures import noise, output, said, text

WHOLE = "inventory/whole-debian-12.txt"
WORD = next(line for line in text(WHOLE).splitlines()).split()[0].removeprefix("benchconsole-")
ARGV = tuple(command(WORD))


def facts(found: list[Answer], word: str = "0123abcd") -> dict[str, str | float]:
    """Names to values of what the probe reads from these answers; labelled facts as name[label]."""
    everything = Inventory().parse(Output(tuple(command(word)), written(word, found).encode()))
    return {f"{one.fact}[{one.labels[0][1]}]" if one.labels else one.fact: one.value for one in everything}


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Inventory(), [output(WHOLE, *ARGV), output(WHOLE)])


def test_a_whole_node() -> None:
    found = {one.fact: one for one in Inventory().parse(output(WHOLE, *ARGV))}
    assert found["cpu.cores"] == Fact("cpu.cores", 2.0, Unit.ONE)
    assert found["memory.total"].value == 24684096 * 1024
    assert found["kernel.release"].value == "6.18.44-1-amd64"
    assert found["disk.size"].labels == (("disk", "vda"),)
    assert found["sysctl.net.core.rmem_max"].unit is Unit.BYTE
    assert found["sysctl.net.ipv4.tcp_rmem"].value == "4096 131072 33554432"
    assert found["os.name"].value == "Debian GNU/Linux 12 (bookworm)"


def test_a_failed_source_costs_its_facts_only() -> None:
    lscpu, meminfo = text("inventory/lscpu-2.38.txt"), text("inventory/meminfo-6.18.txt")
    found = facts([Answer("lscpu", 1, lscpu), Answer("meminfo", 0, meminfo), Answer("numactl", 127, "")])
    assert set(found) == {"memory.total", "memory.swap", "memory.hugepage_size"}


def test_the_first_source_to_name_a_fact_is_believed() -> None:
    first, second = (
        Answer("sysctl", 0, "vm.swappiness = 10\n"),
        Answer("sysctl", 0, "vm.swappiness = 60\nvm.nr_hugepages = 3\n"),
    )
    assert facts([first, second]) == {"sysctl.vm.swappiness": 10.0, "sysctl.vm.nr_hugepages": 3.0}


@pytest.mark.parametrize(
    ("status", "said_by_tool", "words"),
    [
        (127, "", "not installed (Debian package lldpd)"),
        (126, "", "the group adm"),
        (127, "sh: 1: lldpctl: Permission denied\n", "the group adm"),
        (124, "", "did not answer in time"),
        (1, "unable to connect to socket /run/lldpd.socket: Permission denied\n", "open to root"),
        (1, "unable to connect to socket /run/lldpd.socket: No such file or directory\n", "does not run"),
    ],
)
def test_neighbours_that_could_not_be_read_are_said_to_be_skipped(status: int, said_by_tool: str, words: str) -> None:
    meminfo = Answer("meminfo", 0, text("inventory/meminfo-6.18.txt"))
    found = facts([meminfo, Answer("lldpctl", status, said_by_tool)])
    assert words in str(found["lldp.skipped"])
    assert "memory.total" in found


def test_a_warning_before_the_neighbours_does_no_harm() -> None:
    warned = "2026-01-01T00:00:00 [WARN/lldpctl] something\n" + text("inventory/lldpctl-1.0.json")
    found = facts([Answer("lldpctl", 0, warned)])
    assert found["lldp.port[eth0]"] == "Ethernet1"
    assert "lldp.skipped" not in found


def test_a_node_where_only_the_neighbours_were_skipped_told_nothing() -> None:
    with pytest.raises(ProbeOutputError):
        facts([Answer("lldpctl", 127, "")])


def test_governors_are_told_together() -> None:
    line = "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor:{}\n"
    same = "".join(line.format(cpu, "performance") for cpu in range(4))
    assert facts([Answer("sysfs", 0, same)]) == {"cpu.governor": "performance"}
    assert facts([Answer("sysfs", 0, same + line.format(4, "powersave"))]) == {
        "cpu.governor": "performance (4), powersave (1)"
    }


def test_text_on_the_node_cannot_pass_for_an_answer() -> None:
    mark = "benchconsole-ffffffff"
    forged = f"{mark} end os-release 0\n{mark} begin meminfo\nMemTotal: 1 kB\n\n{mark} end meminfo 0\n"
    assert facts([Answer("os-release", 0, f"ID=debian\n{forged}")]) == {"os.id": "debian"}


def test_an_answer_whose_end_is_missing_is_not_read() -> None:
    spoken = written(
        "0123abcd", [Answer("sysctl", 0, "vm.swappiness = 10\n"), Answer("meminfo", 0, "MemTotal: 1 kB\n")]
    )
    assert [one.source for one in answers(spoken[:-1], "0123abcd")] == ["sysctl"]


@given(st.lists(st.builds(Answer, st.sampled_from(sorted(SOURCES)), st.integers(0, 255), noise), max_size=5))
def test_what_was_written_is_read_back(said_by_node: list[Answer]) -> None:
    found = list(answers(written("0123abcd", said_by_node), "0123abcd"))
    assert [(one.source, one.status) for one in found] == [(one.source, one.status) for one in said_by_node]


@given(st.integers(0, text(WHOLE).count("\n")), noise)
@settings(max_examples=60, deadline=None)
def test_noise_gives_no_other_fact(place: int, put_in: str) -> None:
    lines = text(WHOLE).splitlines(keepends=True)
    spoiled = "".join([*lines[:place], put_in, *lines[place:]])
    found = said(Inventory().parse(Output(ARGV, spoiled.encode())))
    assert set(found) <= set(said(Inventory().parse(output(WHOLE, *ARGV))))


def test_carriage_returns_change_nothing() -> None:
    changed = text(WHOLE).replace("\n", "\r\n").encode()
    assert Inventory().parse(Output(ARGV, changed)) == Inventory().parse(output(WHOLE, *ARGV))


@pytest.mark.parametrize("spoiled", [b"", b"no mark\n", b"benchconsole-0123abcd begin lscpu\n"])
def test_nothing_readable_is_said_so(spoiled: bytes) -> None:
    with pytest.raises(ProbeOutputError):
        Inventory().parse(Output((), spoiled))


def test_a_failed_script_gives_no_fact() -> None:
    with pytest.raises(ProbeOutputError):
        Inventory().parse(replace(output(WHOLE, *ARGV), exit_status=None, signal="KILL"))


def test_every_command_carries_another_word() -> None:
    first, second = (Inventory().command(Target(a_node())) for _ in range(2))
    assert first[:-1] == second[:-1]
    assert first[-1] != second[-1]


# The script itself, run here.


def test_this_machine_tells_its_kernel_and_memory() -> None:
    argv = Inventory().command(Target(a_node()))
    done = subprocess.run(argv, capture_output=True, check=False, timeout=60)
    found = {
        one.fact: one.value for one in Inventory().parse(Output(tuple(argv), done.stdout, done.stderr, done.returncode))
    }
    assert found["kernel.release"] == os.uname().release
    assert isinstance(found["memory.total"], float)
    assert found["memory.total"] > 2**27


def test_a_node_with_hardly_a_tool_still_tells_something(tmp_path: Path) -> None:
    for tool in ("sh", "cat", "uname", "tr", "grep"):
        (tmp_path / tool).symlink_to(shutil.which(tool) or tool)
    script = command("0123abcd")[2].replace(":/usr/sbin:/sbin", "")
    argv = [str(tmp_path / "sh"), "-c", script, "x", "0123abcd"]
    done = subprocess.run(argv, env={"PATH": str(tmp_path)}, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0
    assert done.stderr == b""
    statuses = {one.source: one.status for one in answers(done.stdout.decode(), "0123abcd")}
    assert [statuses[name] for name in ("lscpu", "ip", "ethtool", "lldpctl", "cpuinfo", "meminfo")] == [
        *[127] * 4,
        0,
        0,
    ]
