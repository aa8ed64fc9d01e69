"""TCP throughput between two nodes with iperf 2, which prints a line of CSV for each of its streams."""

import re

from benchconsole.probes import api
from benchconsole.probes.serving import serving

STREAM = re.compile(r"\d{14}(?:,[^,]+,\d+){2},\d+,0\.0-[\d.]+,\d+,(\d{1,15})")


class Iperf2(api.Probe):
    name = "iperf2"
    summary = "TCP throughput between two nodes, as the sender counts it"
    metrics = (api.Metric("iperf2.throughput", api.Unit.BYTE_RATE, "payload", api.Shown.NETWORK, api.Against.FABRIC),)
    tools = {"iperf": "iperf"}
    options = {"seconds": 5, "parallel": 4, "bandwidth": ""}
    sending_options = api.SendingOptions(streams="parallel", rate="bandwidth")
    safety, shape = api.Safety.LOADS, api.Shape.PAIR

    def estimate(self, options):
        return self.given(options).whole("seconds", 1) + 2.0

    async def run(self, contact, target):
        seconds, sending = self.given(target.options).whole("seconds", 1), self.sending(target.options)
        argv = ["iperf", "-c", target.peer.data_address, "-t", str(seconds), "-P", str(sending.streams), "-y", "C"]
        argv += ["-b", str(int(8 * sending.rate / sending.streams))] if sending.rate else []
        server = ["iperf", "-s", "-p"]
        async with serving(contact.there, lambda port: [*server, str(port)], timeout=seconds + 90) as (port, _):
            await contact.together()
            return [await contact.here.run([*argv, "-p", str(port)], timeout=seconds + 30)]

    def parse(self, output):
        rates = [int(row[1]) for line in output.text.split("\n")[:-1] if (row := STREAM.fullmatch(line))]
        streams = int(output.argv[output.argv.index("-P") + 1]) if "-P" in output.argv else 1
        if len(rates) != streams:
            raise api.ProbeOutputError(f"{len(rates)} streams", f"{streams}, each to its end")
        return [api.Reading("iperf2.throughput", sum(rates) / 8, api.Unit.BYTE_RATE)]


@api.hook
def bench_probes():
    return [Iperf2()]
