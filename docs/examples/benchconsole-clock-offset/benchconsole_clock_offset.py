"""How far the clock of a node is from NTP time, as chrony sees it."""

from benchconsole.probes.api import Metric, Probe, ProbeOutputError, Reading, Unit, UnitError, hook, parse


class ClockOffset(Probe):
    name = "clock-offset"
    summary = "Distance of the system clock from NTP time"
    metrics = (Metric("clock-offset.system", Unit.SECOND, "distance from NTP time, either way"),)
    tools = {"chronyc": "chrony"}

    def command(self, target):
        return ["chronyc", "-c", "tracking"]

    def parse(self, output):
        line, ended, _ = output.text.partition("\n")
        fields = line.rstrip("\r").split(",")
        if not ended or len(fields) != 14 or fields[13] == "Not synchronised":
            raise ProbeOutputError(line[:80] or "nothing", "the 14 fields of a synchronised chronyc -c tracking")
        try:
            distance = parse(f"{fields[4].lstrip('-')} s", Unit.SECOND)
        except UnitError as error:
            raise ProbeOutputError(error.found, error.expected) from error
        return [Reading("clock-offset.system", distance, Unit.SECOND, raw=fields[4])]


@hook
def bench_probes():
    return [ClockOffset()]
