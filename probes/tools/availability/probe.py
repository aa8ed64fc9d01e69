"""The probe ``availability``: one sample of a node, its login, its uptime, and whether services on it answer.

A node that cannot be reached gives no output: ``benchconsole availability`` counts it as down.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import (
    Comparator,
    Contact,
    Fact,
    Metric,
    Output,
    Probe,
    ProbeOutputError,
    Reading,
    Safety,
    Shape,
    Shown,
    Target,
    Unit,
    labels,
)
from benchconsole.probes.readers.lines import shorten, strip_lines
from benchconsole.probes.readers.readings import refuse_failed
from benchconsole.probes.tools.availability import record_reader

_HEAD = "benchconsole-availability 1"
_END = "benchconsole-availability end"
_SERVICES = ("port", "unit", "path")
_MOST_PATIENCE = 60
_BOOT = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UPTIME = re.compile(r"[0-9]{1,12}\.[0-9]{2}")
_UNIT = re.compile(r"[A-Za-z0-9:_.@\\][A-Za-z0-9:_.@\\-]{0,254}")
_SAID = re.compile(r"(boot_id|uptime|port|unit|path)=(\S.{0,80})")
_ANSWERS = {"answered": 1.0, "silent": 0.0}
_STATES = {
    **dict.fromkeys(("active", "reloading", "refreshing"), 1.0),
    **dict.fromkeys(("inactive", "failed", "activating", "deactivating"), 0.0),
}
"""States of a unit in the words of systemctl(1), and whether it runs."""

_SCRIPT = """
address=$1 port=$2 unit=$3 path=$4 seconds=$5

# A tool that no signal ends (a dead file system) must not hold this command: it is left behind, without our streams.
ends_well() {
    local status=
    exec 9< <(exec 2>/dev/null </dev/null; timeout -s KILL "$seconds" "$@" >/dev/null; echo "$?")
    read -r -t "$((seconds + 1))" -u 9 status
    exec 9<&-
    if [ "$status" = 127 ]; then echo unknown; elif [ "$status" = 0 ]; then echo answered; else echo silent; fi
}

echo "benchconsole-availability 1"
read -r boot_id < /proc/sys/kernel/random/boot_id && echo "boot_id=$boot_id" || exit 1
read -r uptime _ < /proc/uptime && echo "uptime=$uptime" || exit 1
if [ "$port" != 0 ]; then
    echo "port=$(ends_well bash -c 'exec 3<>"/dev/tcp/$1/$2"' bash "$address" "$port")"
fi
if [ -n "$unit" ]; then
    state=$(timeout -s KILL "$seconds" systemctl is-active -- "$unit" 2>/dev/null </dev/null)
    echo "unit=${state:-unknown}"
fi
if [ -n "$path" ]; then
    echo "path=$(ends_well stat -f -- "$path")"
fi
echo "benchconsole-availability end"
"""


class Availability(Probe):
    """A login, a trivial command, and the services that its options name."""

    name = "availability"
    label_names = frozenset(("case", "excluded", "nodes", "nodes_up", "seconds", "service"))
    summary = "One sample of a node: it answers, since when it is up, and whether a port, unit or file system answers"
    source = "Jetstream acceptance report, 4.1.3 and 5.1.3"
    metrics = (
        Metric(
            "availability.up",
            Unit.ONE,
            "1: the node took a login and answered a trivial command",
            sense=Comparator.AT_LEAST,
        ),
        Metric("availability.answer", Unit.SECOND, "time from sending that command to its end, services included"),
        Metric(
            "availability.service",
            Unit.ONE,
            "1: the service that was asked for answered, 0: it did not",
            sense=Comparator.AT_LEAST,
        ),
        Metric(
            "availability.share",
            Unit.ONE,
            "share of the time that a system was up, as benchconsole availability --json tells it",
            Shown.PERCENT,
            sense=Comparator.AT_LEAST,
        ),
    )
    tools = MappingProxyType({"bash": "bash", "timeout": "coreutils"})
    options = MappingProxyType[str, str | int | float]({"port": 0, "unit": "", "path": "", "patience": 5})
    safety = Safety.READS
    shape = Shape.NODE

    def command(self, target: Target) -> Sequence[str]:
        given = self.given(target.options)
        port, unit = given.whole("port", 0, 65_535), given.text("unit")
        if unit and not _UNIT.fullmatch(unit):
            raise given.refused("unit", "the name of a systemd unit, such as nginx.service")
        path = given.path("path") if given.text("path") else ""
        words = (str(port), unit, path, str(given.whole("patience", 1, _MOST_PATIENCE)))
        script = ("bash", "-c", _SCRIPT, "benchconsole-availability", target.node.data_address, *words)
        return ("env", "LC_ALL=C", *script)

    async def run(self, contact: Contact, target: Target) -> Sequence[Output]:
        """Ask once; a node on which every service hangs still has the time to say so."""
        patience = self.given(target.options).whole("patience", 1, _MOST_PATIENCE)
        limit = 15.0 + 2 * len(_SERVICES) * (patience + 1)
        return (await contact.here.run(self.command(target), timeout=limit),)

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds of one sample of a node where everything answers."""
        return 1.0

    def parse(self, output: Output) -> Sequence[Reading | Fact]:
        """Read one sample, or the record of a whole watch.

        ProbeOutputError unless it is whole, where a service could not be asked, and where the watch cannot tell.
        """
        refuse_failed(output, self.name)
        if record_reader.is_record(output.text):
            return [record_reader.read_record(output.text)]
        said = _read_sample(output.text)
        if not _BOOT.fullmatch(said.get("boot_id", "")):
            raise ProbeOutputError(shorten(said.get("boot_id", "no boot id")), "the boot id of the node")
        if not _UPTIME.fullmatch(said.get("uptime", "")):
            raise ProbeOutputError(shorten(said.get("uptime", "no uptime")), "the uptime of the node in seconds")
        found: list[Reading | Fact] = [
            Reading("availability.up", 1.0, Unit.ONE, (), f"boot_id={said['boot_id']}"),
            Fact("boot.id", said["boot_id"]),
            Fact("boot.uptime", float(said["uptime"]), Unit.SECOND),
        ]
        if output.seconds > 0:
            found.append(Reading("availability.answer", output.seconds, Unit.SECOND, (), f"{output.seconds} s"))
        for name in (service for service in _SERVICES if service in said):
            known, state = _STATES if name == "unit" else _ANSWERS, said[name]
            if state not in known:
                raise ProbeOutputError(f"{name}={shorten(state)}", f"one of {', '.join(sorted(known))}")
            raw = f"{name}={state}"
            found.append(Reading("availability.service", known[state], Unit.ONE, labels(service=name), raw))
        return found


def _read_sample(text: str) -> dict[str, str]:
    """The values between head and end of the only sample, by name."""
    lines = strip_lines(text)
    if lines.count(_HEAD) != 1 or lines.count(_END) != 1:
        raise ProbeOutputError("no whole sample", f"one that begins with {_HEAD!r} and ends with {_END!r}")
    found: dict[str, str] = {}
    for line in lines[lines.index(_HEAD) + 1 : lines.index(_END)]:
        match = _SAID.fullmatch(line)
        if match is not None and found.setdefault(match[1], match[2]) != match[2]:
            raise ProbeOutputError(f"{match[1]} twice", "each once")
    return found
