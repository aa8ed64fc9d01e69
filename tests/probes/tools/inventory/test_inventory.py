import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Fact, Output, PlanError, ProbeOutputError, Target, Unit
from benchconsole.probes.testing import PROBE_CHECKS, Check, a_node
from benchconsole.probes.tools.inventory import script
from benchconsole.probes.tools.inventory.facts import share_fact
from benchconsole.probes.tools.inventory.probe import Inventory
from benchconsole.probes.tools.inventory.script import Answer, find_answers, make_command
from benchconsole.probes.tools.inventory.sources import SOURCES
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import noise, output, said, text
from tests.probes.tools.inventory.cases import format_answers

WHOLE = "inventory/whole-debian-12.txt"
WORD = next(line for line in text(WHOLE).splitlines()).split()[0].removeprefix("benchconsole-")
ARGV = tuple(make_command(WORD))

STORAGE_NODE = {
    "kernel": "uname-a.txt", "os-release": "os-release-scientific-6.txt", "lscpu": "lscpu-centos-7.txt",
    "meminfo": "meminfo-6.18.txt", "lsblk": "lsblk-mountpoints-2.39.json", "ip": "ip-statistics-6.1.json",
    "ethtool": "ethtool-flow-control-3.5.txt", "dmidecode": "dmidecode-2.12.txt", "sysctl": "sysctl-sc11.txt",
    "cmdline": "cmdline-6.1.txt", "mounts": "mounts-6.1.txt", "df": "df-posix-8.4.txt", "mdstat": "mdstat-5.14.txt",
    "virt": "virt-none-252.txt", "interrupts": "interrupts-3.10.txt", "softirqs": "softirqs-threads-6.18.txt",
    "irq": "irq-nic-6.1.txt", "ibstat": "ibstat-28.0.txt", "perfquery": "perfquery-extended-5.x.txt",
    "smartctl": "smartctl-nvme-7.4.json", "storcli": "storcli-7.1.json", "omreport": "omreport-vdisk-7.4.txt",
    "ipmitool": "ipmitool-sdr-1.8.txt",
}  # fmt: skip
"""The answers of a storage server with everything installed, from the transcripts of the single sources."""


def storage_node() -> Output:
    told = [Answer(source, 0, text(f"inventory/{name}")) for source, name in STORAGE_NODE.items()]
    return Output(tuple(make_command("0123abcd")), format_answers("0123abcd", told).encode())


def facts(found: list[Answer], word: str = "0123abcd") -> dict[str, str | float]:
    """Names to values of what the probe reads from these answers; labelled facts as name[label]."""
    everything = Inventory().parse(Output(tuple(make_command(word)), format_answers(word, found).encode()))
    return {f"{one.fact}[{one.labels[0][1]}]" if one.labels else one.fact: one.value for one in everything}


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    # an answer that was cut is not read at all, so cuts within those of a second node would show the same
    nodes = [storage_node()] if check.__name__ != "cut_transcript_gives_no_other_reading" else []
    check(Inventory(), [output(WHOLE), *nodes])


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
    assert set(found) == {"memory.total", "memory.swap", "memory.hugepage_size", "memory.hugepages"}


@pytest.mark.parametrize("source", STORAGE_NODE)
def test_an_answer_that_another_node_gave_is_read_as_if_it_were_the_first(source: str) -> None:
    said_so = text(f"inventory/{STORAGE_NODE[source]}")
    (first, second), fresh = ([facts([Answer(source, 0, said_so)]) for _ in range(2)], SOURCES[source](said_so))
    assert first == second
    assert {name.partition("[")[0] for name in first} >= {one.fact for one in fresh} - {"irq.total", "irq.affinity"}
    failed = [Answer(source, 99, said_so), Answer("sysctl", 0, "vm.swappiness = 10\n")]
    assert not {one.fact for one in fresh if not one.fact.startswith("sysctl")} & set(facts(failed))


def test_alike_answers_of_two_sources_are_told_apart() -> None:
    both = "vm.swappiness = 10\n"
    assert set(facts([Answer("sysctl", 0, both)])) == {"sysctl.vm.swappiness"}
    with pytest.raises(ProbeOutputError):
        facts([Answer("lscpu", 0, both)])


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


def test_every_source_of_a_storage_node_tells_something() -> None:
    found = {one.fact.partition(".")[0] for one in Inventory().parse(storage_node())}
    assert found == {
        "bios", "board", "cpu", "disk", "fs", "ib", "irq", "kernel", "memory", "nic", "numa", "os", "raid",
        "sensor", "softirq", "sysctl", "virt",
    }  # fmt: skip


def test_interrupts_are_summed_per_device_and_their_binding_told_per_port() -> None:
    found = {(one.fact, one.labels): one.value for one in Inventory().parse(storage_node())}
    assert found["irq.total", (("device", "eth0-TxRx-*"),)] == 10_000_006 + 20_000_007
    assert found["irq.total", (("device", "mlx5_comp*@pci:0000:3b:00.0"),)] == 15
    assert found["irq.total", (("device", "mlx5_comp*@pci:0000:3b:00.1"),)] == 9
    assert found["irq.total", (("device", "LOC"),)] == 3_600_000_010
    assert found["irq.affinity", (("nic", "ens1f0"),)] == "0..2 0-23"
    assert found["irq.affinity", (("nic", "ens1f1"),)] == "2x0-23"
    assert found["irq.vectors", (("nic", "ens1f0"),)] == 4


def test_the_load_of_ksoftirqd_is_summed_and_the_busiest_named() -> None:
    found = {one.fact: one for one in Inventory().parse(storage_node())}
    assert found["softirq.ksoftirqd_time"] == Fact("softirq.ksoftirqd_time", 77.0 + 76.0, Unit.SECOND)
    assert found["softirq.ksoftirqd_most"] == Fact("softirq.ksoftirqd_most", 77.0, Unit.SECOND, (("cpu", "0"),))


@pytest.mark.parametrize(
    ("source", "status", "name", "fact"),
    [
        ("sysctl", 1, "sysctl-unknown-key-3.3.txt", "sysctl.net.core.rmem_max"),
        ("sysctl", 255, "sysctl-unknown-key-3.3.txt", "sysctl.net.core.rmem_max"),
        ("virt", 1, "virt-none-252.txt", "virt.machine"),
        ("smartctl", 64, "smartctl-ata-6.2.txt", "disk.size[9VS0EEEE]"),
        ("df", 1, "df-posix-8.4.txt", "fs.size[/]"),
    ],
)
def test_an_exit_status_that_is_no_failure_is_none(source: str, status: int, name: str, fact: str) -> None:
    assert fact in facts([Answer(source, status, text(f"inventory/{name}"))])


@pytest.mark.parametrize(("source", "status"), [("smartctl", 2), ("smartctl", 127), ("sysctl", 127), ("lscpu", 1)])
def test_any_other_exit_status_is_a_failure(source: str, status: int) -> None:
    assert status not in SOURCES[source].answered


def test_a_list_that_was_ended_early_is_told() -> None:
    said_by_node = text("inventory/ethtool-5.9.txt") + "# only the first 64 interfaces\n"
    found = Inventory().parse(
        Output((*make_command("0123abcd"),), format_answers("0123abcd", [Answer("ethtool", 0, said_by_node)]).encode())
    )
    assert Fact("inventory.bounded", "only the first 64 interfaces", None, (("source", "ethtool"),)) in found


def test_text_on_the_node_cannot_pass_for_an_answer() -> None:
    mark = "benchconsole-ffffffff"
    forged = f"{mark} end os-release 0\n{mark} begin meminfo\nMemTotal: 1 kB\n\n{mark} end meminfo 0\n"
    assert facts([Answer("os-release", 0, f"ID=debian\n{forged}")]) == {"os.id": "debian"}


def test_an_answer_whose_end_is_missing_is_not_read() -> None:
    spoken = format_answers(
        "0123abcd", [Answer("sysctl", 0, "vm.swappiness = 10\n"), Answer("meminfo", 0, "MemTotal: 1 kB\n")]
    )
    assert [one.source for one in find_answers(spoken[:-1], "0123abcd")] == ["sysctl"]


@given(st.lists(st.builds(Answer, st.sampled_from(sorted(SOURCES)), st.integers(0, 255), noise), max_size=5))
def test_what_was_written_is_read_back(said_by_node: list[Answer]) -> None:
    found = list(find_answers(format_answers("0123abcd", said_by_node), "0123abcd"))
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


def test_sudo_is_asked_only_where_the_suite_says_so() -> None:
    assert Inventory().command(Target(a_node()))[-1] != "sudo"
    assert Inventory().command(Target(a_node(), options={"sudo": 1}))[-1] == "sudo"
    with pytest.raises(PlanError, match="sudo"):
        Inventory().command(Target(a_node(), options={"sudo": 2}))


def test_every_command_carries_another_word() -> None:
    first, second = (Inventory().command(Target(a_node())) for _ in range(2))
    assert first[:-1] == second[:-1]
    assert first[-1] != second[-1]


# The script itself, run here.


def test_a_node_with_hardly_a_tool_still_tells_something(tmp_path: Path) -> None:
    for tool in ("sh", "cat", "uname", "tr", "grep"):
        (tmp_path / tool).symlink_to(shutil.which(tool) or tool)
    script = make_command("0123abcd")[2].replace(":/usr/sbin:/sbin", "")
    argv = [str(tmp_path / "sh"), "-c", script, "x", "0123abcd"]
    done = subprocess.run(argv, env={"PATH": str(tmp_path)}, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0
    assert done.stderr == b""
    statuses = {one.source: one.status for one in find_answers(done.stdout.decode(), "0123abcd")}
    assert [statuses[name] for name in ("lscpu", "ip", "ethtool", "lldpctl", "cpuinfo", "meminfo")] == [
        *[127] * 4,
        0,
        0,
    ]


SUMMED = """\
SUM
0: 146 IR-IO-APIC-edge timer
8: 1 IR-IO-APIC-edge rtc0
16: 30 IR-IO-APIC-fasteoi ehci_hcd:usb1, ahci
100: 10000006 IR-PCI-MSI-edge eth0-TxRx-0
101: 20000007 IR-PCI-MSI-edge eth0-TxRx-1
120: 7 IR-PCI-MSI 524288-edge mlx5_comp0@pci:0000:3b:00.0
121: 8 IR-PCI-MSI 524289-edge mlx5_comp1@pci:0000:3b:00.0
122: 9 IR-PCI-MSI 526336-edge mlx5_comp0@pci:0000:3b:00.1
NMI: 410 Non-maskable interrupts
LOC: 3600000010 Local timer interrupts
"""


def test_sums_made_on_the_node_are_the_sums_of_the_table() -> None:
    table = text("inventory/interrupts-3.10.txt")
    done = subprocess.run(["awk", script.SUMMED], input=table, capture_output=True, check=True, text=True, timeout=60)
    assert done.stdout == SUMMED
    assert SOURCES["interrupts"](done.stdout) == SOURCES["interrupts"](table)


def test_sums_stay_exact_on_many_processors_and_long_counts() -> None:
    count, processors = 34_359_738_353, 256
    head, row = "".join(f" CPU{cpu}" for cpu in range(processors)), f" {count}" * processors
    table = f"{head}\nLOC:{row} Local timer interrupts\n"
    done = subprocess.run(["awk", script.SUMMED], input=table, capture_output=True, check=True, text=True, timeout=60)
    assert SOURCES["interrupts"](done.stdout)[0].value == float(count * processors)


def test_many_interrupts_are_bounded_and_the_named_rows_kept() -> None:
    rows = "".join(f"{irq}: 1 2 IR-PCI-MSI 1-edge eth0-TxRx-{irq}\n" for irq in range(1000))
    table = f" CPU0 CPU1\n{rows}LOC: 3 4 Local timer interrupts\n"
    done = subprocess.run(["awk", script.SUMMED], input=table, capture_output=True, check=True, text=True, timeout=60)
    found = facts([Answer("interrupts", 0, done.stdout)])
    assert found == {
        "irq.total[eth0-TxRx-*]": 3.0 * 256,
        "irq.total[LOC]": 7.0,
        "inventory.bounded[interrupts]": "only the first 256 interrupts",
    }


def test_root_is_asked_through_sudo_where_the_login_is_not_root(tmp_path: Path) -> None:
    """A played sudo writes down what it is asked for; ``-n`` keeps the real one from asking anybody."""
    asked = tmp_path / "asked"
    tools = {
        "sudo": f'#!/bin/sh\nprintf "%s\\n" "$*" >>{asked}\nshift\nexec "$@"\n',
        "id": "#!/bin/sh\necho 1000\n",
        "dmidecode": "#!/bin/sh\n[ $# = 10 ] || exit 9\nprintf 'Handle 0x0, DMI type 0, 24 bytes\\nBIOS Information\\n\\tVersion: 7\\n\\n'\n",
        "perfquery": "#!/bin/sh\nexit 255\n",
        "ipmitool": "#!/bin/sh\nexit 1\n",
        "smartctl": "#!/bin/sh\nexit 2\n",
    }
    for name, content in tools.items():
        (tmp_path / name).write_text(content)
        (tmp_path / name).chmod(0o755)
    argv = make_command("0123abcd", sudo=True)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(argv, env=environment, capture_output=True, check=False, timeout=60)
    found = {one.fact: one.value for one in Inventory().parse(Output(tuple(argv), done.stdout))}
    assert found["bios.version"] == "7"
    lines = asked.read_text().splitlines()
    assert all(line.startswith("-n timeout 10 ") for line in lines)
    assert {line.split()[3] for line in lines} >= {"dmidecode", "perfquery", "ipmitool"}


def test_what_two_nodes_say_alike_is_one_object() -> None:
    """Their tables differ by one date, as those of large machines do by a serial number."""
    told = text("inventory/dmidecode-2.12.txt")
    other = told.replace("05/10/2012", "06/10/2012")
    assert other != told
    first, second = (
        Inventory().parse(
            Output(tuple(make_command(WORD)), format_answers(WORD, [Answer("dmidecode", 0, own)]).encode())
        )
        for own in (told, other)
    )
    alike = [(one, another) for one in first for another in second if one == another]
    assert len(alike) == len(first) - 1 > 3
    assert all(one is another for one, another in alike)


def test_a_whole_number_stays_one() -> None:
    assert [type(share_fact(Fact("a.count", value)).value) for value in (1.0, 1, 1.0)] == [float, int, float]
