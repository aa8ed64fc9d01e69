"""The guard in front of raw devices, on loop devices that carry everything a disk can carry."""

import os
import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes import scratch
from benchconsole.probes.api import PlanError, RemoteError, Target
from benchconsole.probes.blank_devices import (
    BLANK,
    Confirmation,
    confirm_disks,
    list_confirmations,
    require_agreement,
)
from benchconsole.probes.model.measuring import FailedAt, Output
from benchconsole.probes.testing import PROBE_CHECKS, FakeContact, a_node
from benchconsole.probes.tools.fio.device_probe import FioDevice
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Node, NodeId, Stage, Suite
from tests.probes.hygiene.local import Here
from tests.probes.tools.captures import output

pytestmark = pytest.mark.fault("F41", "I17")

SERIAL = "WD-42 7"
LOOK = scratch.script(BLANK + 'blank "$1" "$2"; printf "%s %s\\n" "$device" "$bytes"')
SIZE = 32 * 2**20
TOOLS = ("losetup", "mkswap", "mkfs.ext4", "blkid", "wipefs", "unshare", "partx")


def _may_loop() -> bool:
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    return os.geteuid() == 0 and not missing and Path("/dev/loop-control").exists()


needs_loops = pytest.mark.skipif(  # in CI it runs, and fails where it cannot
    not _may_loop() and not os.environ.get("CI"), reason="NOT TESTED: loop devices want root and util-linux"
)


@dataclass
class Disk:
    """A loop device, and a sysfs that gives it a serial number, which loop devices have not."""

    directory: Path
    device: str

    @property
    def sysfs(self) -> Path:
        return self.directory / "sys"

    @property
    def entry(self) -> Path:
        return self.sysfs / "block" / self.device.removeprefix("/dev/")

    def show(self) -> None:
        """Show everything that the kernel shows of it now."""
        shutil.rmtree(self.sysfs, ignore_errors=True)
        self.entry.mkdir(parents=True)
        for real in Path("/sys/block", self.entry.name).iterdir():
            (self.entry / real.name).symlink_to(real)
        (self.entry / "serial").unlink(missing_ok=True)
        (self.entry / "serial").write_text(f"  {SERIAL} \n")

    def instead(self, name: str, text: str) -> None:
        """Show ``text`` in the place of one attribute."""
        (self.entry / name).unlink()
        (self.entry / name).write_text(text)


def tool(*argv: str | Path) -> None:
    subprocess.run(list(map(str, argv)), check=True, capture_output=True)


@contextmanager
def looped(directory: Path, image: bytes = b"", *options: str) -> Iterator[Disk]:
    """A loop device over a file that begins with ``image``; taken down whatever happens."""
    path = directory / "disk.img"
    path.write_bytes(image)
    os.truncate(path, SIZE)
    asked = ["losetup", "-f", "--show", "-P", *options, str(path)]
    device = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    disk = Disk(directory, device)
    try:
        if image == partitioned():
            subprocess.run(["partx", "-a", device], check=False, capture_output=True)  # a kernel may not read tables
        disk.show()
        yield disk
    finally:
        tool("losetup", "-d", device)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with looped(tmp_path) as made:
        yield made


def partitioned() -> bytes:
    """A DOS partition table with one Linux partition."""
    entry = struct.pack("<B3sB3sII", 0, b"\0\0\0", 0x83, b"\0\0\0", 2048, 32768)
    return b"\0" * 446 + entry + b"\0" * 48 + b"\x55\xaa"


def lvm() -> bytes:
    """The label of an LVM physical volume in the second sector."""
    rest = struct.pack("<I8s32s", 32, b"LVM2 001", b"a" * 32).ljust(512 - 20, b"\0")
    crc = zlib.crc32(rest, 0xF597A6CF ^ 0xFFFFFFFF) ^ 0xFFFFFFFF
    return b"\0" * 512 + b"LABELONE" + struct.pack("<QI", 1, crc) + rest


def raid() -> bytes:
    """A superblock of Linux RAID, version 1.2, 4 KiB into the disk."""
    block = bytearray(1024)
    struct.pack_into("<II", block, 0, 0xA92B4EFC, 1)
    block[16:32] = bytes(range(16))
    struct.pack_into("<Q", block, 144, 8)
    return b"\0" * 4096 + bytes(block)


@dataclass(frozen=True)
class Device:
    """A disk that was blank when it was looked at. ``size`` in bytes."""

    path: str
    serial: str
    size: int


@dataclass(frozen=True)
class Refusal:
    """Why a disk may not be written to."""

    because: str


async def look(disk: Disk, serial: str = SERIAL) -> Device | Refusal:
    output = await Here("devices").run(("sh", "-c", LOOK, "blank", serial, str(disk.sysfs)), timeout=30)
    if because := scratch.reason(output):
        return Refusal(because)
    assert output.exit_status == 0, output
    path, size = output.text.split()
    return Device(path, serial, int(size))


@needs_loops
async def test_a_blank_disk_is_found_by_its_serial(disk: Disk) -> None:
    assert await look(disk) == Device(disk.device, SERIAL, SIZE)


@needs_loops
@pytest.mark.parametrize(
    ("image", "because"),
    [(partitioned, "has partitions"), (lvm, "LVM2_member"), (raid, "linux_raid_member")],
    ids=["partition table", "LVM", "RAID"],
)
async def test_what_the_first_sectors_say_is_refused(tmp_path: Path, image: Callable[[], bytes], because: str) -> None:
    with looped(tmp_path, image()) as disk:
        found = await look(disk)
        assert isinstance(found, Refusal)
        assert because in found.because
        (disk.sysfs / "block").rename(disk.sysfs / "hidden")  # nor is it blank when the kernel has seen no partition
        disk.entry.mkdir(parents=True)
        for name in ("size", "ro", "dev", "serial"):
            (disk.entry / name).write_text((disk.sysfs / "hidden" / disk.entry.name / name).read_text())
        found = await look(disk)
        assert isinstance(found, Refusal)
        assert "is not blank" in found.because


@needs_loops
@pytest.mark.parametrize(("make", "because"), [("mkswap", "TYPE=swap"), ("mkfs.ext4", "TYPE=ext4")])
async def test_signatures_are_refused_until_they_are_gone(disk: Disk, make: str, because: str) -> None:
    tool(make, disk.device)
    found = await look(disk)
    assert isinstance(found, Refusal)
    assert because in found.because
    tool("wipefs", "-aq", disk.device)
    assert isinstance(await look(disk), Device)


@needs_loops
async def test_a_mounted_disk_is_refused_although_its_signature_is_gone(disk: Disk, tmp_path: Path) -> None:
    mount = tmp_path / "mnt"
    mount.mkdir()
    tool("mkfs.ext4", "-q", disk.device)
    tool("mount", disk.device, mount)
    try:
        tool("wipefs", "-afq", disk.device)
        found = await look(disk)
    finally:
        tool("umount", mount)
    assert isinstance(found, Refusal)
    assert f"is mounted at {mount}" in found.because


@needs_loops
async def test_a_mount_that_only_a_container_sees_is_refused(disk: Disk, tmp_path: Path) -> None:
    mount = tmp_path / "mnt"
    mount.mkdir()
    tool("mkfs.ext4", "-q", disk.device)
    with contained(disk, mount):
        found = await look(disk)
    assert isinstance(found, Refusal)
    assert "mounted in a container" in found.because


@contextmanager
def contained(disk: Disk, mount: Path) -> Iterator[None]:
    """The disk mounted where only one other process sees it, its signature wiped."""
    inside = 'mount "$0" "$1" && wipefs -afq "$0" && echo mounted && read -r end; umount "$1"'
    argv = ["unshare", "--mount", "--propagation", "private", "sh", "-c", inside, disk.device, str(mount)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as container:
        assert container.stdout is not None
        assert container.stdout.readline() == b"mounted\n"
        try:
            yield
        finally:
            container.communicate(b"\n")


@needs_loops
async def test_a_partition_that_is_mounted_saves_its_disk(tmp_path: Path) -> None:
    mount = tmp_path / "mnt"
    mount.mkdir()
    with looped(tmp_path, partitioned()) as disk:
        part = f"{disk.device}p1"
        tool("mkfs.ext4", "-q", part)
        tool("mount", part, mount)
        try:
            found = await look(disk)
        finally:
            tool("umount", mount)
    assert isinstance(found, Refusal)
    assert "has partitions" in found.because


@needs_loops
async def test_a_disk_in_use_as_swap_is_refused_as_that(disk: Disk) -> None:
    tool("mkswap", disk.device)
    try:
        tool("swapon", disk.device)
    except subprocess.CalledProcessError:
        pytest.skip("NOT TESTED: this kernel takes no swap")
    try:
        found = await look(disk)
    finally:
        tool("swapoff", disk.device)
    assert isinstance(found, Refusal)
    assert "in use as swap" in found.because


@needs_loops
async def test_what_the_kernel_says_of_the_disk_is_refused(disk: Disk) -> None:
    for attribute, text, because in (
        ("size", "0\n", "has no size"),
        ("ro", "1\n", "is read-only"),
        ("dev", "", "cannot tell the number"),
    ):
        disk.instead(attribute, text)
        found = await look(disk)
        assert isinstance(found, Refusal)
        assert because in found.because
        disk.show()
    for attribute, because in (("holders", "is held by dm-3"), ("slaves", "is made of dm-3")):
        (disk.entry / attribute).unlink()
        (disk.entry / attribute / "dm-3").mkdir(parents=True)
        found = await look(disk)
        assert isinstance(found, Refusal)
        assert because in found.because
        disk.show()


@needs_loops
async def test_a_serial_must_mean_one_disk(disk: Disk) -> None:
    for wrong in ("", "WD-42", "WD-42 7 ", "*", "$(true)", "-n"):
        found = await look(disk, wrong)
        assert isinstance(found, Refusal)
        assert "serial number" in found.because
    other = disk.sysfs / "block" / "loop999"
    other.mkdir()
    (other / "size").write_text("1\n")
    (other / "serial").write_text(SERIAL)
    found = await look(disk)
    assert isinstance(found, Refusal)
    assert "two disks" in found.because
    (other / "serial").unlink()
    (other / "device").mkdir()
    (other / "device" / "vpd_pg80").write_bytes(b"\0\x80\0\x08  " + SERIAL.encode() + b" ")
    found = await look(disk)
    assert isinstance(found, Refusal)
    assert "two disks" in found.because


@needs_loops
def test_an_ordinary_user_can_prove_nothing(disk: Disk) -> None:
    argv = ["setpriv", "--reuid=65534", "--clear-groups", "sh", "-c", LOOK, "blank", SERIAL, str(disk.sysfs)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.returncode, "only root may read it" in done.stderr) == (77, True)


@pytest.mark.fault("F15")
def test_a_node_without_the_tools_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sh").symlink_to("/bin/sh")
    done = subprocess.run(
        ["sh", "-c", LOOK, "blank", SERIAL, "/sys"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "there is no blkid" in done.stderr) == (77, True)


# -- who must have agreed

LISTED = replace(a_node("st1"), blank_disks=(SERIAL, "other"))


@pytest.mark.parametrize(
    ("node", "options", "said"),
    [
        (LISTED, {}, "names no disk"),
        (
            LISTED,
            {"serial": "third", "confirmed": "third"},
            "third is not listed for node st1, listed are WD-42 7, other",
        ),
        (a_node("st1"), {"serial": SERIAL, "confirmed": SERIAL}, "listed are none"),
        (LISTED, {"serial": SERIAL}, "nobody has confirmed it"),
        (LISTED, {"serial": SERIAL, "confirmed": "other"}, "nobody has confirmed it"),
        (LISTED, {"serial": SERIAL, "confirmed": "yes"}, "nobody has confirmed it"),
    ],
)
def test_a_plan_without_agreement_is_refused(node: Node, options: dict[str, str | int | float], said: str) -> None:
    target = Target(node, options=MappingProxyType(options))
    for ask in (FioDevice().demands, FioDevice().command):
        with pytest.raises(PlanError, match=said):
            ask(target)


def test_what_was_agreed_to_is_planned() -> None:
    options: dict[str, str | int | float] = {"serial": SERIAL, "confirmed": SERIAL, "size": "2 MiB"}
    assert require_agreement(LISTED, options, "fio-device") == SERIAL
    demands = FioDevice().demands(Target(LISTED, options=MappingProxyType(options)))
    assert demands.writes == 2 * 2 * 2**20
    assert demands.alone


TOPOLOGY = """
schema: 1
fabric: tiny
switches: {leaf1: {role: leaf}}
nodes:
  n[1-2]: {role: compute}
  st1: {role: storage, blank_disks: [WD-1, WD-2]}
links:
  - {from: "n[1-2],st1", to: leaf1, speed: 10 Gb/s}
"""


def _suite(*stages: Stage) -> Suite:
    return Suite("s", stages)


def test_a_person_is_asked_for_each_disk_and_the_answer_goes_into_the_plan() -> None:
    st1 = NodeId("st1")
    stage = Stage("fio-device", (st1,), MappingProxyType({"serial": "WD-1"}))
    harmless = Stage("fio", (st1,), MappingProxyType({"serial": "WD-1"}))
    fabric = load_text(TOPOLOGY, "tiny.yaml")
    from benchconsole.probes.tools.fio.probe import Fio

    probes = {"fio-device": FioDevice(), "fio": Fio()}
    suite = _suite(harmless, stage)
    (asked,) = list_confirmations(fabric, suite, probes)
    assert asked == Confirmation(st1, "WD-1", "everything on the disk with serial number WD-1 of node st1")
    assert asked.serial == "WD-1"
    assert asked.accepts("WD-1")
    assert not any(map(asked.accepts, ("", "wd-1", " WD-1", "WD-1 ", "yes", "WD-11")))
    assert list_confirmations(fabric, suite, probes, nodes=[NodeId("n1")]) == ()
    assert confirm_disks(suite, ["WD-2"]) == suite
    after = confirm_disks(suite, [asked.serial])
    assert list_confirmations(fabric, after, probes) == ()
    assert after.stages[1].options == {"serial": "WD-1", "confirmed": "WD-1"}


# -- the probe

# The parser is that of fio, under other names; the checks that run a probe do so with its defaults, which are refused.
OF_THE_NAMES = [
    check
    for check in PROBE_CHECKS
    if check.__name__ in ("declaration_is_complete", "transcripts_are_read", "readings_match_declaration")
]


@pytest.mark.parametrize("check", OF_THE_NAMES, ids=lambda check: check.__name__)
def test_contract(check: Callable[[FioDevice, Sequence[Output]], None]) -> None:
    check(FioDevice(), [output("fio/own-3.33.json")])


@pytest.fixture
def played(tmp_path: Path) -> Path:
    """A directory whose fio writes down how it was called."""
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "fio").write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> {tmp_path}/calls\n')
    (tools / "fio").chmod(0o755)
    return tools


def _target(node: Node = LISTED, **options: str | int | float) -> Target:
    chosen: dict[str, str | int | float] = {"serial": SERIAL, "confirmed": SERIAL, "size": "1 MiB", "seconds": 1}
    return Target(node, options=MappingProxyType({**chosen, **options}))


@needs_loops
async def test_reads_may_not_write_and_writes_go_to_the_listed_disk(disk: Disk, played: Path) -> None:
    contact = FakeContact(Here("devices", str(played)))
    await FioDevice(str(disk.sysfs)).run(contact, _target())
    calls = (played.parent / "calls").read_text().splitlines()
    assert [call.split("--rw=")[1].split()[0] for call in calls] == ["read", "randread", "write", "randwrite"]
    assert [("--readonly" in call, "--allow_mounted_write=0" in call) for call in calls] == [
        (True, False),
        (True, False),
        (False, True),
        (False, True),
    ]
    assert all(f"--filename={disk.device} " in call and "--size=1048576 " in call for call in calls)


@needs_loops
@pytest.mark.parametrize("make", ["mkswap", "mkfs.ext4"])
async def test_a_disk_that_is_not_blank_is_never_given_to_fio(disk: Disk, played: Path, make: str) -> None:
    tool(make, disk.device)
    with pytest.raises(RemoteError) as raised:
        await FioDevice(str(disk.sysfs)).run(FakeContact(Here("devices", str(played))), _target())
    assert raised.value.failure.stage is FailedAt.REFUSED
    assert "is not blank" in raised.value.failure.detail
    assert not (played.parent / "calls").exists()
    assert raised.value.output is not None


@needs_loops
async def test_a_disk_smaller_than_the_test_is_refused(disk: Disk, played: Path) -> None:
    with pytest.raises(RemoteError, match="are to be written"):
        await FioDevice(str(disk.sysfs)).run(FakeContact(Here("devices", str(played))), _target(size="64 MiB"))
    assert not (played.parent / "calls").exists()


@needs_loops
@pytest.mark.skipif(
    shutil.which("fio") is None and not os.environ.get("CI"), reason="fio is not installed here (in CI this fails)"
)
async def test_a_real_run_overwrites_the_blank_disk_and_only_as_far_as_it_was_told(disk: Disk) -> None:
    probe = FioDevice(str(disk.sysfs))
    (said,) = await probe.run(FakeContact(Here("devices")), _target())
    assert said.exit_status == 0, said.error_text
    # It flushes only at its end: no flush between the writes is timed, as in outputs of others that are brought in.
    flushes = {"fio-device.sync_latency", "fio-device.sync_percentile"}
    assert {one.metric for one in probe.parse(said)} == {metric.name for metric in probe.metrics} - flushes
    content = (disk.directory / "disk.img").read_bytes()
    assert any(content[: 2**20])
    assert not any(content[2**20 :])
    assert isinstance(await look(disk), Device)
