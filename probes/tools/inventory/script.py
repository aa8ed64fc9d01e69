"""The one command of the inventory, and the marks that keep its answers apart.

Every answer stands between two lines that carry a random word given as the command's argument, so that no text on the
node can pass for one of them, and the second tells the exit status. Each tool has 10 seconds, the loops over disks and
interfaces 35 together.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from benchconsole.probes.readers.lines import find_match, join_lines, read_lines
from benchconsole.probes.tools.inventory.readers.system import KEYS

SUMMED = r"""NR == 1 { n = NF; print "SUM"; next }
{
    sum = 0
    for (i = 2; i <= n + 1 && i <= NF && $i ~ /^[0-9]+$/; i++) sum += $i
    if (sum == 0) next
    if ($1 ~ /^[0-9]+:$/ && ++rows > 256) { bounded = 1; next }
    rest = ""
    for (; i <= NF; i++) rest = rest " " $i
    printf "%s %.0f%s\n", $1, sum, rest
}
END { if (bounded) print "# only the first 256 interrupts" }"""
"""The sums of counters per processor as awk makes them, exact up to 2^53. Rows that are all zero are left out, and
numbered ones after 256.
"""

_SCRIPT = r"""
mark=benchconsole-$1
PATH=$PATH:/usr/sbin:/sbin:/opt/MegaRAID/storcli:/opt/MegaRAID/perccli:/opt/dell/srvadmin/bin
limit=
command -v timeout >/dev/null 2>&1 && limit='timeout 10'
root=
[ "${2-}" = sudo ] && [ "$(id -u 2>/dev/null)" != 0 ] && root='sudo -n'
begun=$(date +%s 2>/dev/null) || begun=0
answer() {
    name=$1
    shift
    printf '%s begin %s\n' "$mark" "$name"
    case $1 in each_*) "$@";; *) $limit "$@";; esac </dev/null 2>/dev/null
    status=$?
    printf '\n%s end %s %d\n' "$mark" "$name" "$status"
    return "$status"
}
perhaps() {
    # what is not installed is not asked for
    command -v "$2" >/dev/null 2>&1 || return 127
    answer "$@"
}
in_time() {
    [ "$begun" = 0 ] && return 0
    [ $(($(date +%s) - begun)) -lt 35 ]
}
each_nic() {
    command -v ethtool >/dev/null 2>&1 || return 127
    # ports and bonds first: a host of containers has hundreds of virtual interfaces
    listed=
    for nic in /sys/class/net/*/device /sys/class/net/*/bonding /sys/class/net/*/mtu; do
        [ -e "$nic" ] || continue
        nic=${nic%/*}
        nic=${nic##*/}
        case " lo $listed" in *" $nic "*) continue;; esac
        listed="$listed$nic "
    done
    count=0
    # a name may hold a star
    set -f
    for nic in $listed; do
        count=$((count + 1))
        if [ "$count" -gt 64 ] || ! in_time; then
            printf '# only the first %d interfaces\n' "$((count - 1))"
            break
        fi
        printf 'Settings for %s:\n' "$nic"
        $limit ethtool -i "$nic"
        $limit ethtool "$nic"
        [ -e "/sys/class/net/$nic/device" ] && each_part
    done
    set +f
    return 0
}
each_part() {
    for part in a g l c; do $limit ethtool "-$part" "$nic"; done
    $limit ethtool -k "$nic" | grep -E '^[A-Z]|^(rx-ch|tx-ch|scatter|tcp-seg|generic|large|ntuple|receive-h)'
    printf 'Settings for %s:\n' "$nic"
    $limit ethtool -S "$nic" | grep -Ev ': 0$|^ *\[|[rt]x_?(queue_)?[0-9]' |
        grep -E '^NIC|err|drop|discard|miss|crc|fifo|pause|timeout|overrun|out_of_buf' | head -n 40
}
each_neighbour() {
    # lldpctl before 1.0 knows only json
    $limit lldpctl -f json0 2>&1 || $limit lldpctl -f json 2>&1
}
each_file() {
    # files that cannot be read make grep fail although it told the others
    $limit grep -sH . "$@"
    return 0
}
each_setting() {
    # a setting is given to one read alone: what reads byte by byte would see its first digit
    (cd /proc/sys && $limit grep -sH . @KEYS@ | sed 's/:/ = /')
    return 0
}
each_processor() {
    # the first processor is enough, and 256 of them are too many
    $limit grep -m 40 : /proc/cpuinfo
}
each_table() {
    $root $limit dmidecode -t 0 -t 1 -t 2 -t 17 -t 127
}
each_port() {
    command -v perfquery >/dev/null 2>&1 || return 127
    $root $limit perfquery -x
}
each_mount() {
    grep -Ev '^[^ ]+ [^ ]+ (overlay|tmpfs|proc|sysfs|cgroup2?|nsfs|devpts|squashfs|mqueue|bpf) ' /proc/self/mounts |
        head -n 200
}
each_release() {
    cat /etc/os-release || cat /etc/redhat-release
}
each_disk() {
    $limit lsblk -J -b -d -o NAME,SIZE,MODEL,SERIAL,VENDOR,TYPE,ROTA,TRAN,REV,SCHED ||
        $limit lsblk -J -b -d -o NAME,SIZE,MODEL,SERIAL,VENDOR,TYPE,ROTA ||
        $limit lsblk -P -b -d -o NAME,SIZE,MODEL,TYPE,ROTA
}
each_smart() {
    count=0
    for disk in /sys/block/sd* /sys/block/nvme*n*; do
        [ -e "$disk" ] || continue
        count=$((count + 1))
        if [ "$count" -gt 64 ] || ! in_time; then
            printf '# only the first %d disks\n' "$((count - 1))"
            return 0
        fi
        # a disk that sleeps is left asleep
        printf 'smartctl of /dev/%s\n' "${disk##*/}"
        $root $limit smartctl -n standby -i -H -A --json=c "/dev/${disk##*/}" | grep '^{' ||
            $root $limit smartctl -n standby -i -H -A "/dev/${disk##*/}"
    done
    return 0
}
each_sum() {
    command -v awk >/dev/null 2>&1 || return 127
    $limit awk '@SUMMED@' "$1"
}
each_softirq() {
    each_sum /proc/softirqs || return "$?"
    $limit ps -e -o comm= -o time= | grep '^ksoftirqd/'
    return 0
}
each_binding() {
    count=0
    for port in /sys/class/net/*/device; do
        nic=${port%/device}
        for line in "$port"/msi_irqs/* "$port"/../msi_irqs/*; do
            [ -e "$line" ] || continue
            count=$((count + 1))
            if [ "$count" -gt 512 ]; then
                echo '# only the first 512 bindings'
                return 0
            fi
            file=/proc/irq/${line##*/}/smp_affinity_list
            read -r cpus <"$file" && printf '%s %s:%s\n' "${nic##*/}" "$file" "$cpus"
        done
    done
    return 0
}
each_machine() {
    found=$($limit systemd-detect-virt --vm) || [ "$found" = none ] || return 1
    echo "vm: $found"
    found=$($limit systemd-detect-virt --container)
    echo "container: ${found:-none}"
}
each_raid() {
    for tool in storcli64 storcli perccli64 perccli; do
        command -v "$tool" >/dev/null 2>&1 || continue
        # it writes a log where it stands, unless told not to
        $root $limit "$tool" /call show J nolog
        return 0
    done
    return 127
}
each_volume() {
    command -v omreport >/dev/null 2>&1 || return 127
    for part in controller pdisk vdisk; do
        case $part in
            pdisk) $root $limit omreport storage pdisk controller=0;;
            *) $root $limit omreport storage "$part";;
        esac
    done
    return 0
}
each_sensor() {
    command -v ipmitool >/dev/null 2>&1 || return 127
    $root $limit ipmitool mc info && $root $limit ipmitool sdr
}
each_cache() {
    index=/sys/devices/system/cpu/cpu0/cache/index
    each_file $index*/level $index*/type $index*/size $index*/shared_cpu_list
}
each_fc() {
    hosts=0
    for host in /sys/class/fc_host/host*; do [ -e "$host" ] && hosts=$((hosts + 1)); done
    [ -d /sys/class ] && echo "hosts: $hosts"
    each_file /sys/class/fc_host/host*/port_state /sys/class/fc_host/host*/speed /sys/class/fc_host/host*/port_name
}
each_service() {
    running=$($limit ps -e -o comm=) || return 127
    for service in irqbalance tuned; do
        if printf '%s\n' "$running" | grep -qx "$service"; then echo "$service: yes"; else echo "$service: no"; fi
    done
    sed 's/^/profile: /' /etc/tuned/active_profile
    return 0
}
each_version() {
    for tool in mpirun gcc gfortran clang icx nvc ceph qemu-system-x86_64 openstack apptainer singularity slurmd lfs; do
        command -v "$tool" >/dev/null 2>&1 && in_time || continue
        case $tool in
            qemu*) named=qemu;;
            slurmd) named=slurm;;
            singularity) named=apptainer;;
            lfs) named=lustre;;
            *) named=$tool;;
        esac
        asked=--version
        [ "$tool" = slurmd ] && asked=-V
        $limit "$tool" "$asked" 2>&1 | head -n 8 | sed "s/^/$named: /"
    done
    sed 's/^/beegfs: /' /sys/module/beegfs/version
    [ -x /usr/lpp/mmfs/bin/mmdiag ] && $root $limit /usr/lpp/mmfs/bin/mmdiag --version | sed 's/^/gpfs: /'
    return 0
}
answer kernel uname -srm
answer os-release each_release
answer lscpu lscpu -J || answer lscpu lscpu || answer cpuinfo each_processor
answer meminfo cat /proc/meminfo
answer numactl numactl --hardware
answer lsblk each_disk
answer ip ip -j -d -s addr || answer ip ip addr ||
    answer sysfs each_file /sys/class/net/*/mtu /sys/class/net/*/operstate
answer ethtool each_nic ||
    answer sysfs each_file /sys/class/net/*/speed /sys/class/net/*/duplex /sys/class/net/*/carrier
answer bonding each_file /proc/net/bonding/*
answer lldpctl each_neighbour
answer dmidecode each_table || answer sysfs each_file /sys/class/dmi/id/*_*
answer sysctl each_setting
answer sysfs each_file /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor
perhaps cmdline cat /proc/cmdline
perhaps mounts each_mount
perhaps df df -PTl -B1 -x tmpfs -x devtmpfs -x overlay -x squashfs
perhaps mdstat cat /proc/mdstat
perhaps virt each_machine
perhaps hwloc hwloc-info
perhaps interrupts each_sum /proc/interrupts
perhaps softirqs each_softirq
perhaps irq each_binding
perhaps caches each_cache
perhaps fibre-channel each_fc
perhaps modules each_file /sys/module/*/version
perhaps services each_service
perhaps versions each_version
perhaps ibstat ibstat
perhaps perfquery each_port
perhaps smartctl each_smart
perhaps storcli each_raid
perhaps omreport each_volume
perhaps ipmitool each_sensor
exit 0
"""

SCRIPT = _SCRIPT.replace("@KEYS@", " ".join(key.replace(".", "/") for key in KEYS)).replace("@SUMMED@", SUMMED)
"""Fixed text for ``sh -c``; its arguments are the word of the marks and, where it may, ``sudo``."""

_MARK = re.compile(
    r"benchconsole-(?P<word>[0-9a-f]{8,64}) (?P<edge>begin|end) (?P<name>[a-z-]+)(?: (?P<status>[0-9]{1,3}))?"
)


@dataclass(frozen=True, slots=True)
class Answer:
    """The whole text of one source, and the exit status with which it ended."""

    source: str
    status: int
    text: str


def make_command(word: str, *, sudo: bool = False) -> list[str]:
    """The argument list that asks everything; ``word`` is 8 to 64 hexadecimal digits."""
    return ["sh", "-c", SCRIPT, "benchconsole-inventory", word, *(["sudo"] if sudo else [])]


def find_word(argv: tuple[str, ...], text: str) -> str | None:
    """The word of the marks: the command's argument, or of a capture without command its first mark's."""
    if re.fullmatch(r"[0-9a-f]{8,64}", "".join(argv[4:5])):
        return argv[4]
    mark = find_match(_MARK, read_lines(text))
    return mark["word"] if mark else None


def find_answers(text: str, word: str) -> Iterator[Answer]:
    """The answers in ``text`` whose end was seen, in order."""
    lines = join_lines(read_lines(text))
    name, begun = "", 0
    for mark, start, end in _find_marks(lines, word):
        if mark["edge"] == "end" and mark["name"] == name and mark["status"]:
            yield Answer(name, int(mark["status"]), lines[begun:start])
            name = ""
        else:
            name, begun = mark["name"], end


def _find_marks(lines: str, word: str) -> Iterator[tuple[re.Match[str], int, int]]:
    """The lines that are marks with ``word``: the match, where the line begins, and where the next one does."""
    sought, end = f"benchconsole-{word} ", 0
    while (start := lines.find(sought, end)) >= 0:
        end = lines.index("\n", start) + 1
        at_begin = start == 0 or lines[start - 1] == "\n"
        if at_begin and (mark := _MARK.fullmatch(lines, start, end - 1)):
            yield mark, start, end
