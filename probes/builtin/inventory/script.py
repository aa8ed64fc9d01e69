"""Owns the one command of the inventory and the marks that keep its answers apart.

Every answer stands between two lines that carry a random word given as the command's argument,
so that no text on the node can pass for one of them, and the second tells the exit status.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from probes.builtin.captured import whole_lines
from probes.builtin.inventory.sysctl import KEYS

_SCRIPT = r"""
mark=benchconsole-$1
PATH=$PATH:/usr/sbin:/sbin
limit=
command -v timeout >/dev/null 2>&1 && limit='timeout 10'
answer() {
    name=$1
    shift
    printf '%s begin %s\n' "$mark" "$name"
    case $1 in each_*) "$@";; *) $limit "$@";; esac </dev/null 2>/dev/null
    status=$?
    printf '\n%s end %s %d\n' "$mark" "$name" "$status"
    return "$status"
}
each_nic() {
    command -v ethtool >/dev/null 2>&1 || return 127
    for nic in /sys/class/net/*; do
        nic=${nic##*/}
        [ "$nic" = lo ] && continue
        printf 'Settings for %s:\n' "$nic"
        $limit ethtool -i "$nic"
        $limit ethtool "$nic"
    done
    return 0
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
    for key in @KEYS@; do
        value=$(cat "/proc/sys/$key") && printf '%s = %s\n' "$(printf %s "$key" | tr / .)" "$value"
    done
    return 0
}
answer kernel uname -srm
answer os-release cat /etc/os-release
answer lscpu lscpu -J || answer lscpu lscpu || answer cpuinfo cat /proc/cpuinfo
answer meminfo cat /proc/meminfo
answer numactl numactl --hardware
answer lsblk lsblk -J -b -d -o NAME,SIZE,MODEL,SERIAL,VENDOR,TYPE,ROTA
answer ip ip -j -d addr || answer ip ip link || answer sysfs each_file /sys/class/net/*/mtu /sys/class/net/*/operstate
answer ethtool each_nic ||
    answer sysfs each_file /sys/class/net/*/speed /sys/class/net/*/duplex /sys/class/net/*/carrier
answer bonding each_file /proc/net/bonding/*
answer lldpctl each_neighbour
answer dmidecode dmidecode -t 0 -t 1 -t 17 -t 127 || answer sysfs each_file /sys/class/dmi/id/*_*
answer sysctl each_setting
answer sysfs each_file /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor
exit 0
"""

SCRIPT = _SCRIPT.replace("@KEYS@", " ".join(key.replace(".", "/") for key in KEYS))
"""Fixed text for ``sh -c``; its only argument is the word of the marks."""

_MARK = re.compile(
    r"benchconsole-(?P<word>[0-9a-f]{8,64}) (?P<what>begin|end) (?P<name>[a-z-]+)(?: (?P<status>[0-9]{1,3}))?"
)
_WORD = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True, slots=True)
class Answer:
    """What one source said, whole, and with which exit status it ended."""

    source: str
    status: int
    text: str


def command(word: str) -> list[str]:
    """The argument list that asks everything; ``word`` is 8 to 64 hexadecimal digits."""
    return ["sh", "-c", SCRIPT, "benchconsole-inventory", word]


def word_of(argv: tuple[str, ...], text: str) -> str | None:
    """The word of the marks: the command's argument, or of a capture without command its first mark's."""
    if argv and _WORD.fullmatch(argv[-1]):
        return argv[-1]
    found = (_MARK.fullmatch(line) for line in whole_lines(text))
    return next((match["word"] for match in found if match), None)


def answers(text: str, word: str) -> Iterator[Answer]:
    """The answers in ``text`` whose end was seen, in order."""
    name, lines = "", list[str]()
    for line in whole_lines(text):
        mark = _MARK.fullmatch(line)
        if mark is None or mark["word"] != word:
            lines.append(line)
        elif mark["what"] == "end" and mark["name"] == name and mark["status"]:
            yield Answer(name, int(mark["status"]), "".join(f"{line}\n" for line in lines))
            name = ""
        else:
            name, lines = mark["name"], []


def written(word: str, said: list[Answer]) -> str:
    """What the command prints for these answers; the other direction of ``answers``."""
    return "".join(
        f"benchconsole-{word} begin {one.source}\n{one.text}\nbenchconsole-{word} end {one.source} {one.status}\n"
        for one in said
    )
