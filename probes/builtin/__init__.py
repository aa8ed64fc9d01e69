"""Owns the probes that come with the console, registered by the hook that a stranger's plugin uses.

Every module here imports ``probes.api``, what ``probes`` offers to authors of probes (``scratch``,
``serving``, ``hygiene.devices``, ``launch``), the standard library and this package, nothing else.
Refuses to be special: nothing in here is reachable for a built-in that is not for a plugin.
"""

from collections.abc import Sequence
from importlib import import_module

from probes.api import Probe, hook

BUILTIN = (
    "inventory:Inventory",
    "iperf3:Iperf3",
    "nuttcp:Nuttcp",
    "qperf:Qperf",
    "netperf:Netperf",
    "fio:Fio",
    "fio_device:FioDevice",
    "bonnie:Bonnie",
    "sysbench:Sysbench",
    "h5perf:H5perf",
    "mpi_pingpong:MpiPingpong",
    "hpcc:Hpcc",
    "imb:Imb",
    "imb:ImbSet",
    "osu:Osu",
    "osu:OsuSet",
    "hpl:Hpl",
    "stream:Stream",
    "detector_stream:DetectorStream",
    "aggregate:Aggregate",
    "skim:Skim",
    "archive:Archive",
    "ping:Ping",
    "traceroute:Traceroute",
    "sockperf:Sockperf",
    "dd:Dd",
    "iozone:Iozone",
    "ior:Ior",
    "mdtest:Mdtest",
    "availability:Availability",
)
"""Module and class of each probe, in the order of the catalogue."""


@hook
def bench_probes() -> Sequence[Probe]:
    """Return the built-in probes; their modules are imported here and not with the package."""
    found = []
    for each in BUILTIN:
        module, _, name = each.partition(":")
        found.append(getattr(import_module(f"{__name__}.{module}"), name)())
    return found
