import re
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Fact, ProbeOutputError
from benchconsole.probes.tools.inventory.sources import SOURCES
from tests.probes.tools.captures import ROOT, noise, or_nothing, said, text

NAMED = {"uname": "kernel", "os": "os-release", "fibre": "fibre-channel"}
FILES = sorted(path.name for path in (ROOT / "inventory").iterdir() if not path.name.startswith("whole"))
EVERY_BYTE = 800
"""Letters up to which a text is cut after each."""

CASES = [(NAMED.get(name.partition("-")[0], name.partition("-")[0]), name) for name in FILES]


def parsed(source: str, name: str) -> dict[str, str | float]:
    return shown(list(SOURCES[source](text(f"inventory/{name}"))))


def shown(found: list[Fact]) -> dict[str, str | float]:
    return {
        f"{one.fact}[{','.join(label for _, label in one.labels)}]" if one.labels else one.fact: one.value
        for one in found
    }


@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        (
            "lscpu",
            "lscpu-2.38.json",
            {"cpu.model": "AMD EPYC", "cpu.cores": 2.0, "cpu.threads": 2.0, "numa.nodes": 1.0},
        ),
        ("lscpu", "lscpu-2.38.txt", {"cpu.model": "AMD EPYC", "cpu.cores": 2.0, "cpu.sockets": 1.0}),
        ("lscpu", "lscpu-nested-2.40.json", {"cpu.cores": 64.0, "cpu.threads": 128.0, "cpu.mhz_max": 3737889900.0}),
        (
            "lscpu",
            "lscpu-2.32.txt",
            {"cpu.threads": 72.0, "cpu.cores": 36.0, "cpu.sockets": 2.0, "numa.cpus[1]": "18-35,54-71"},
        ),
        ("lscpu", "lscpu-centos-7.txt", {"cpu.cores": 16.0, "cpu.sockets": 2.0, "cpu.mhz_max": 3.4e9}),
        ("lsblk", "lsblk-2.38.json", {"disk.count": 1.0, "disk.size[vda]": 256 * 2.0**30}),
        ("lsblk", "lsblk-rounded-2.38.json", {"disk.count": 1.0, "disk.size[vda]": 256 * 2.0**30}),
        (
            "lsblk",
            "lsblk-old-2.27.json",
            {
                "disk.count": 2.0,
                "disk.size[sda]": 500107862016.0,
                "disk.model[sda]": "ST500NM0011",
                "disk.kind[nvme0n1]": "solid state",
            },
        ),
        ("ip", "ip-6.1.json", {"nic.mtu[eth0]": 1400.0, "nic.state[eth0]": "up"}),
        ("ip", "ip-6.1.txt", {"nic.mtu[eth0]": 1400.0, "nic.state[eth0]": "up"}),
        (
            "ethtool",
            "ethtool-5.9.txt",
            {
                "nic.speed[enp1s0f0]": 25e9 / 8,
                "nic.duplex[enp1s0f0]": "full",
                "nic.link[enp1s0f1]": "no",
                "nic.driver[enp1s0f1]": "mlx5_core",
            },
        ),
        ("ethtool", "ethtool-veth-6.1.txt", {"nic.driver[data0]": "veth", "nic.speed[data0,yes]": 10e9 / 8}),
        (
            "dmidecode",
            "dmidecode-3.3.txt",
            {
                "bios.vendor": "Example BIOS Inc.",
                "bios.version": "2.14.3",
                "system.product": "Blade 640",
                "memory.dimms": 2.0,
                "memory.installed": 48 * 2.0**30,
                "memory.dimm_sizes": "1 x 32 GiB, 1 x 16 GiB",
                "memory.dimm_size[NODE 0 A2]": 16 * 2.0**30,
                "memory.dimm_speed[NODE 0 A1]": 2.933e9,
            },
        ),
        ("meminfo", "meminfo-6.18.txt", {"memory.total": 24684096 * 1024.0}),
        ("cpuinfo", "cpuinfo-6.18.txt", {"cpu.model": "AMD EPYC", "cpu.cores_per_socket": 2.0}),
        (
            "sysctl",
            "sysctl-a.txt",
            {"sysctl.net.core.rmem_max": 4194304.0, "sysctl.net.ipv4.tcp_congestion_control": "bbr"},
        ),
        (
            "cpupower",
            "cpupower-5.10.txt",
            {"cpu.governor[0]": "performance", "cpu.governor[1]": "ondemand", "cpu.mhz_max[0]": 2.6e9},
        ),
        (
            "os-release",
            "os-release-debian-12.txt",
            {"os.name": "Debian GNU/Linux 12 (bookworm)", "os.id": "debian", "os.version": "12"},
        ),
        ("kernel", "uname-a.txt", {"kernel.release": "6.18.44-1-amd64"}),
        (
            "lldpctl",
            "lldpctl-1.0.json",
            {
                "lldp.neighbours": 2.0,
                "lldp.switch[eth0]": "leaf1.example.org",
                "lldp.chassis[eth1]": "0c:42:a1:00:00:01",
                "lldp.system[eth1]": "Test switch",
                "lldp.port[eth1]": "Ethernet2",
            },
        ),
        ("lldpctl", "lldpctl-one-1.0.json", {"lldp.neighbours": 1.0, "lldp.switch[eth0]": "leaf1.example.org"}),
        (
            "lldpctl",
            "lldpctl-nameless-0.9.json",
            {
                "lldp.switch[ens1f0]": None,
                "lldp.chassis[ens1f0]": "0c:42:a1:00:00:02",
                "lldp.port[ens1f0]": "517",
                "lldp.description[ens1f0]": "to rack 3",
                "lldp.system[ens1f0]": "unmanaged",
                "lldp.switch[eno1]": "n02",
                "lldp.system[eno1]": "Debian GNU/Linux",
                "lldp.port[eno1]": "eno1",
                "lldp.switch[2,eno1]": "n03",
                "lldp.port[2,eno1]": "0c:42:a1:00:00:04",
            },
        ),
        (
            "bonding",
            "bonding-lacp-5.14.txt",
            {
                "bond.mode[bond0]": "802.3ad",
                "bond.hash[bond0]": "layer3+4",
                "bond.aggregator[bond0]": "1",
                "bond.member_state[bond0,ens1f1]": "up",
                "bond.member_speed[bond0,ens1f1]": 25e9 / 8,
                "bond.member_aggregator[bond0,ens1f1]": "2",
                "bond.member_churn[bond0,ens1f0]": None,
                "bond.member_churn[bond0,ens1f1]": "churned",
            },
        ),
        (
            "bonding",
            "bonding-backup-3.10.txt",
            {
                "bond.mode": "active-backup",
                "bond.active": "em1",
                "bond.member_state[em2]": "down",
                "bond.member_speed[em2]": None,
            },
        ),
        ("numactl", "numactl-2.0.txt", {"numa.nodes": 2.0, "numa.memory[1]": 64507 * 2.0**20}),
    ],
)
def test_facts(source: str, name: str, expected: dict[str, str | float | None]) -> None:
    found = parsed(source, name)
    assert {key: found.get(key) for key in expected} == expected


def test_the_page_says_of_every_source_what_it_was_held_against() -> None:
    page = (Path(__file__).parents[4] / "docs" / "probes" / "inventory.md").read_text(encoding="utf-8")
    table = page.partition("**Held against.**")[2].partition("```")[0]
    assert set(SOURCES) <= set(re.findall(r"`([a-z-]+)`", table))


def test_every_source_but_sysfs_has_a_transcript() -> None:
    assert {source for source, _ in CASES} == set(SOURCES) - {"sysfs"}


def test_a_processor_with_two_kinds_of_cores_has_no_count_of_them() -> None:
    assert "cpu.cores" not in parsed("lscpu", "lscpu-two-kinds-2.38.txt")


def test_what_is_not_there_is_not_told() -> None:
    assert "nic.speed[enp1s0f1]" not in parsed("ethtool", "ethtool-5.9.txt")
    assert "memory.dimm_size[NODE 0 A3]" not in parsed("dmidecode", "dmidecode-3.3.txt")
    assert not any("lo]" in key or "ifb" in key for key in parsed("ip", "ip-6.1.json"))


def test_both_shapes_of_lldpctl_say_the_same() -> None:
    assert parsed("lldpctl", "lldpctl-two-1.0.json") == parsed("lldpctl", "lldpctl-1.0.json")


def test_nobody_heard_is_an_answer() -> None:
    assert parsed("lldpctl", "lldpctl-none-1.0.json") == {"lldp.neighbours": 0.0}


def test_two_bonds_are_kept_apart() -> None:
    one = text("inventory/bonding-lacp-5.14.txt")
    found = shown(list(SOURCES["bonding"](one + one.replace("bonding/bond0", "bonding/bond1").replace("ens1", "ens2"))))
    assert found["bond.mode[bond1]"] == "802.3ad"
    assert found["bond.member_state[bond1,ens2f0]"] == "up"
    assert "bond.member_state[bond1,ens1f0]" not in found


def test_what_an_interface_is_part_of() -> None:
    links = (
        '[{"ifname":"eth0","master":"bond0","operstate":"UP"},'
        '{"ifname":"bond0.7","link":"bond0","addr_info":[{"local":"10.0.0.1"}]}]'
    )
    found = shown(list(SOURCES["ip"](links)))
    assert (found["nic.master[eth0]"], found["nic.parent[bond0.7]"]) == ("bond0", "bond0")


def test_files_under_sys_stand_in_for_tools() -> None:
    lines = (
        "/sys/class/net/eth0/speed:25000\n/sys/class/net/eth0/duplex:full\n/sys/class/net/eth0/mtu:9000\n"
        "/sys/class/net/eth0/carrier:1\n/sys/class/net/eth1/carrier:0\n"
        "/sys/class/net/eth1/speed:-1\n/sys/class/net/eth2/speed:4294967295\n"
        "/sys/class/dmi/id/bios_version:1.2\n/sys/class/dmi/id/product_name:To Be Filled By O.E.M.\n"
        "/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor:powersave\n"
    )
    assert shown(list(SOURCES["sysfs"](lines))) == {
        "nic.speed[eth0]": 25e9 / 8,
        "nic.duplex[eth0]": "full",
        "nic.mtu[eth0]": 9000.0,
        "nic.link[eth0]": "yes",
        "nic.link[eth1]": "no",
        "bios.version": "1.2",
        "cpu.governor[3]": "powersave",
    }


@pytest.mark.parametrize(
    "form", ["6.1.0-18-amd64\n", "Linux 6.1.0-18-amd64 x86_64\n", "Linux version 6.1.0-18-amd64 (gcc) #1\n"]
)
def test_forms_of_the_kernel(form: str) -> None:
    assert SOURCES["kernel"](form)[0].value == "6.1.0-18-amd64"


def cuts(whole: str) -> list[int]:
    """Every byte of a short text; of a longer one all around the ends of its lines, and every seventh between."""
    if len(whole) < EVERY_BYTE:
        return list(range(len(whole)))
    ends = [place for place, letter in enumerate(whole) if letter == "\n"]
    around = {end + near for end in ends for near in (-2, -1, 0, 1, 2)}
    return sorted(length for length in around | set(range(0, len(whole), 7)) if 0 <= length < len(whole))


@pytest.mark.parametrize(("source", "name"), CASES)
def test_a_cut_gives_the_same_facts_or_fewer(source: str, name: str) -> None:
    whole = text(f"inventory/{name}")
    allowed = set(said(SOURCES[source](whole)))
    for length in cuts(whole):
        found = or_nothing(partial(SOURCES[source], whole[:length]))
        assert set(found) <= allowed, f"cut after {length}"


@given(st.sampled_from(CASES), st.data())
@settings(max_examples=150, deadline=None)
def test_noise_gives_no_other_fact(case: tuple[str, str], data: st.DataObject) -> None:
    source, name = case
    lines = text(f"inventory/{name}").splitlines(keepends=True)
    place = data.draw(st.integers(0, len(lines)))
    spoiled = "".join([*lines[:place], data.draw(noise), *lines[place:]])
    found = or_nothing(partial(SOURCES[source], spoiled))
    assert set(found) <= set(said(SOURCES[source](text(f"inventory/{name}"))))


@pytest.mark.parametrize(("source", "name"), CASES)
def test_carriage_returns_change_nothing(source: str, name: str) -> None:
    whole = text(f"inventory/{name}")
    assert SOURCES[source](whole.replace("\n", "\r\n")) == SOURCES[source](whole)


@given(st.sampled_from(sorted(SOURCES)), st.text(max_size=200) | noise)
@settings(max_examples=150)
def test_any_text_gives_facts_or_the_error(source: str, anything: str) -> None:
    or_nothing(partial(SOURCES[source], anything))


@pytest.mark.parametrize("source", sorted(SOURCES))
@pytest.mark.parametrize(
    "hostile", ["", "\n", "{" * 50_000, '{"lscpu":[' * 20_000, "[" * 50_000, "9" * 10_000 + "\n", "a: " * 50_000 + "\n"]
)
def test_hostile_text_gives_the_error(source: str, hostile: str) -> None:
    with pytest.raises(ProbeOutputError):
        SOURCES[source](hostile)
