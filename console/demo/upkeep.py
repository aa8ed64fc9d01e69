"""Owns what a simulated node's tools and files say of how it runs: boot line, mounts, interrupts, health of its parts.

In the shapes of the real tools, derived from the same hardware as ``console.demo.hardware``. Nothing here is planted:
what a scenario takes from a node shows elsewhere. Refuses to know how it is asked (``console.demo.survey`` does).
"""

import json

from console.demo.hardware import Box
from console.demo.network import noise

_QUEUES = 24
_SYSTEM_DISKS = 2
_SCRATCH = 3_998_614_552_576


def cmdline(box: Box) -> str:
    """``/proc/cmdline``."""
    release = box.text("kernel.release", "6.1.0-28-amd64")
    return f"BOOT_IMAGE=/boot/vmlinuz-{release} root=/dev/sda2 ro quiet nosmt transparent_hugepage=madvise\n"


def mounts(box: Box) -> str:
    """``/proc/self/mounts`` without what the kernel makes up."""
    rows = ["/dev/sda2 / ext4 rw,relatime,errors=remount-ro 0 0", "/dev/sda1 /boot ext4 rw,relatime 0 0"]
    if box.disks > _SYSTEM_DISKS:
        rows.append("/dev/md0 /scratch xfs rw,noatime,attr2,inode64,logbufs=8,logbsize=32k,noquota 0 0")
    return "\n".join(rows) + "\n"


def df(box: Box) -> str:
    """``df -PTl -B1``."""
    used = int(18e9 * noise(box.node.id, "df", spread=0.4))
    rows = [
        ("/dev/sda2", "ext4", 391_553_187_840, used, "/"),
        ("/dev/sda1", "ext4", 1_020_702_720, 91_234_304, "/boot"),
    ]
    if box.disks > _SYSTEM_DISKS:
        rows.append(("/dev/md0", "xfs", _SCRATCH * (box.disks - _SYSTEM_DISKS - 2), used * 30, "/scratch"))
    lines = [
        f"{device} {kind} {size} {taken} {size - taken} {-(-taken * 100 // size)}% {place}"
        for device, kind, size, taken, place in rows
    ]
    return "\n".join(["Filesystem Type 1-blocks Used Available Capacity Mounted on", *lines]) + "\n"


def mdstat(box: Box) -> str:
    """``/proc/mdstat``: what is not of the system is one array."""
    data = box.disks - _SYSTEM_DISKS
    if data <= 0:
        return "Personalities : \nunused devices: <none>\n"
    members = " ".join(f"sd{chr(ord('c') + each)}[{each}]" for each in range(data))
    return (
        "Personalities : [raid6] [raid5] [raid4] \n"
        f"md0 : active raid6 {members}\n"
        f"      {_SCRATCH // 1024 * (data - 2)} blocks super 1.2 level 6, 512k chunk, algorithm 2 "
        f"[{data}/{data}] [{'U' * data}]\n      \nunused devices: <none>\n"
    )


def virt(_: Box) -> str:
    """What the script makes of ``systemd-detect-virt`` on bare metal."""
    return "vm: none\ncontainer: none\n"


def hwloc(box: Box) -> str:
    """``hwloc-info``: caches of one size for all cores."""
    sockets, cores = int(box.number("cpu.sockets", 2)), int(box.number("cpu.cores", 24))
    levels = [("Machine", 1), ("Package", sockets), ("L3Cache", sockets), ("L2Cache", cores), ("L1dCache", cores)]
    levels += [("L1iCache", cores), ("Core", cores), ("PU", cores)]
    rows = [
        f"{' ' * depth}depth {depth}:\t{count} {name} (type #{depth})" for depth, (name, count) in enumerate(levels)
    ]
    return "\n".join([*rows, "Special depth -3:\t2 NUMANode (type #13)"]) + "\n"


def interrupts(box: Box) -> str:
    """``/proc/interrupts``, summed over the processors as the script sums them."""
    rows = ["SUM", "8: 1 IR-IO-APIC 8-edge rtc0", "9: 4 IR-IO-APIC 9-fasteoi acpi"]
    for queue in range(_QUEUES):
        count = int(6e6 * noise(box.node.id, "irq", queue, spread=0.9))
        rows.append(f"{100 + queue}: {count} IR-PCI-MSI {1572864 + queue}-edge mlx5_comp{queue}@pci:0000:03:00.0")
    rows += ["NMI: 5012 Non-maskable interrupts", "LOC: 912345678 Local timer interrupts"]
    rows += [
        "RES: 1203456 Rescheduling interrupts",
        "CAL: 4456123 Function call interrupts",
        "TLB: 309871 TLB shootdowns",
    ]
    return "\n".join(rows) + "\n"


def softirqs(box: Box) -> str:
    """``/proc/softirqs``, summed, and the time that each ``ksoftirqd`` took."""
    rows = ["SUM", "TIMER: 401233411", "NET_TX: 12033", "NET_RX: 912345611", "BLOCK: 2033811", "TASKLET: 50311"]
    rows += ["SCHED: 300122311", "HRTIMER: 1022", "RCU: 281234411"]
    rows += [f"ksoftirqd/{cpu} 00:00:{cpu % 7:02d}" for cpu in range(int(box.number("cpu.cores", 24)))]
    return "\n".join(rows) + "\n"


def bindings(box: Box) -> str:
    """Which processors serve the queues of the data port."""
    cores = int(box.number("cpu.cores", 24))
    return "".join(
        f"{box.interface} /proc/irq/{100 + queue}/smp_affinity_list:{queue % cores}\n" for queue in range(_QUEUES)
    )


def smartctl(box: Box) -> str:
    """``smartctl -i -H -A --json=c`` of each disk."""
    return "".join(f"smartctl of /dev/sd{chr(ord('a') + disk)}\n{_health(box, disk)}\n" for disk in range(box.disks))


def _health(box: Box, disk: int) -> str:
    name, system = f"/dev/sd{chr(ord('a') + disk)}", disk < _SYSTEM_DISKS
    known = {
        "json_format_version": [1, 0],
        "smartctl": {"version": [7, 3], "argv": ["smartctl", "-i", "-H", "-A", "--json=c", name], "exit_status": 0},
        "device": {"name": name, "info_name": f"{name} [SAT]", "type": "sat", "protocol": "ATA"},
        "model_name": "INTEL SSDSC2BX400G4R" if system else "ST4000NM0023",
        "serial_number": f"{box.serial}{disk:02d}",
        "firmware_version": "G201DL2B" if system else "GS0F",
        "user_capacity": {"bytes": 400_088_457_216 if system else 4_000_787_030_016},
        "rotation_rate": 0 if system else 7200,
        "smart_status": {"passed": True},
        "power_on_time": {"hours": 20_000 + int(2000 * noise(box.node.id, "hours", disk, spread=1.0))},
        "temperature": {"current": 27 + disk % 5},
    }
    return json.dumps(known, separators=(",", ":"))


def ipmitool(box: Box) -> str:
    """``ipmitool mc info`` and ``ipmitool sdr``."""
    warm = int(40 + 4 * noise(box.node.id, "warm", spread=1.0))
    head = {"Device ID": "32", "Device Revision": "1", "Firmware Revision": "2.60", "IPMI Version": "2.0"}
    sensors = [("Inlet Temp", "22 degrees C"), ("Exhaust Temp", "35 degrees C")]
    sensors += [("Temp", f"{warm + socket} degrees C") for socket in range(int(box.number("cpu.sockets", 2)))]
    sensors += [(f"Fan{fan}A", f"{4560 + 120 * fan} RPM") for fan in range(1, 7)]
    sensors += [("Voltage 1", "230 Volts"), ("Current 1", "0.80 Amps"), ("Pwr Consumption", "182 Watts")]
    lines = [f"{key:<26}: {value}" for key, value in head.items()]
    lines += [f"{name:<16} | {value:<17} | ok" for name, value in sensors]
    return "\n".join(lines) + "\n"
