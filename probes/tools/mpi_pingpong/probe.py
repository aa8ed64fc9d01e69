"""The pair probe ``mpi-pingpong``: latency and bandwidth between two nodes as an MPI program sees them.

Two ranks, one on each node, started by Open MPI from the sending node. Latency is half a round trip of a few
bytes. Bandwidth is a stream of windows of large messages, as osu_bw sends them, never a ping-pong: one that
waits for every answer reads twice the rate of a link whose queue empties meanwhile.

The ranks are Python with mpi4py, because Debian packages no MPI benchmark that runs on two hosts without
compiling; its calls cost 0.1 us, which is part of the latency. Each rank must own the data address of its node.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import (
    Metric,
    Output,
    PlanError,
    ProbeOutputError,
    Reading,
    Shape,
    Shown,
    Target,
    Unit,
    labels,
)
from benchconsole.probes.launch import DEFAULTS, Job, Options
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.numbers import parse_count, require_positive
from benchconsole.probes.readers.readings import refuse_failed
from benchconsole.probes.tools.mpi.program import MpiProgram
from benchconsole.probes.tools.python.script_runner import find_result

_SCRIPT = "pingpong.py"
_START = (
    "from mpi4py import MPI; world = MPI.COMM_WORLD; "
    f'exec(world.bcast(open("{_SCRIPT}").read() if world.rank == 0 else None))'
)
_PINGPONG = r"""
import json, math, socket, statistics, sys

SMALL = 8
BATCHES, BATCH_SECONDS = 10, 0.05
seconds, message, window = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
addresses = sys.argv[4:]
rank, other = world.rank, 1 - world.rank
small, large, answer = bytearray(SMALL), bytearray(message), bytearray(1)


def owns(address):
    for family, kind, _, _, place in socket.getaddrinfo(address, 0, type=socket.SOCK_DGRAM):
        try:
            with socket.socket(family, kind) as probe:
                probe.bind(place)
                return True
        except OSError:
            continue
    return False


def trips(count):
    for _ in range(count):
        if rank == 0:
            world.Send(small, other)
            world.Recv(small, other)
        else:
            world.Recv(small, other)
            world.Send(small, other)


def windows(count, sender):
    for _ in range(count):
        if rank == sender:
            MPI.Request.Waitall([world.Isend(large, other) for _ in range(window)])
            world.Recv(answer, other)
        else:
            MPI.Request.Waitall([world.Irecv(large, other) for _ in range(window)])
            world.Send(answer, other)


def timed(work, *given):
    world.Barrier()
    begun = MPI.Wtime()
    work(*given)
    return world.bcast(MPI.Wtime() - begun)


def latency():
    trips(5)
    count = max(5, min(20000, int(5 * BATCH_SECONDS / timed(trips, 5))))
    return statistics.median(timed(trips, count) / count / 2 for _ in range(BATCHES))


def rate(sender):
    count = max(1, math.ceil(seconds / timed(windows, 1, sender)))
    return count * window * message / timed(windows, count, sender)


if world.size != 2:
    sys.exit(f"found {world.size} ranks, expected 2")
lost = [host for host in world.allgather(None if owns(addresses[rank]) else MPI.Get_processor_name()) if host]
if lost:
    sys.exit(f"a rank on {', '.join(lost)} does not own the data address {', '.join(addresses)} of its node")
found = {"latency": latency(), "out": rate(0), "in": rate(1)}
if rank == 0:
    sizes = {"small": SMALL, "message": message, "window": window}
    print(json.dumps({"benchmark": "mpi-pingpong", **sizes, **found, "end": True}))
"""


class MpiPingpong(MpiProgram):
    """Options: ``seconds`` of sending in each direction, ``message`` (size) and ``window`` (messages under way),
    ``python`` (its name or path), and those of ``probes.launch.Options``.
    """

    name = "mpi-pingpong"
    label_names = frozenset(("direction", "size", "window"))
    summary = "MPI between two nodes: latency of small messages, bandwidth of windows of large ones"
    source = "DESY storage characterisation, MPI ping-pong over InfiniBand and TCP"
    metrics = (
        Metric("mpi-pingpong.latency", Unit.SECOND, "half a round trip of 8 bytes, median of ten series"),
        Metric("mpi-pingpong.bandwidth", Unit.BYTE_RATE, "payload of windows of large messages", Shown.NETWORK),
    )
    tools = MappingProxyType({"mpirun": "openmpi-bin", "python3": "python3-mpi4py"})
    options = MappingProxyType({"seconds": 2, "message": "256 KiB", "window": 16, "python": "python3", **DEFAULTS})
    shape = Shape.PAIR

    def estimate(self, options: Mapping[str, str | int | float]) -> float:
        """Seconds of both directions, a window to learn the rate of each, the latency and the start."""
        return 2.0 * self.given(options).whole("seconds", 1, 3600) + 8.0

    def job(self, target: Target) -> Job:
        if target.peer is None:
            raise PlanError("mpi-pingpong needs a pair of nodes")
        given = self.given(target.options)
        nodes = (target.node, target.peer)
        message = given.size("message", 65_536, 2**30)
        numbers = (str(given.whole("seconds", 1, 3600)), str(message), str(given.whole("window", 1, 1024)))
        program = (given.text("python"), "-c", _START, *numbers, *(node.data_address for node in nodes))
        seconds = 3 * self.estimate(target.options) + 60
        return Job(nodes, program, 2, seconds, Options.of(given.values), {_SCRIPT: _PINGPONG})

    def parse(self, output: Output) -> Sequence[Reading]:
        refuse_failed(output, "mpirun")
        document = find_result(output.text, self.name)
        sizes = {name: parse_count(str(document.get(name, ""))) for name in ("small", "message", "window")}
        if None in sizes.values():
            raise ProbeOutputError(shorten(str(sizes)), "the sizes of messages as whole numbers")
        windows = {"size": sizes["message"], "window": sizes["window"]}
        readings = []
        for name, metric, unit, marks in (
            ("latency", "latency", Unit.SECOND, {"size": sizes["small"]}),
            ("out", "bandwidth", Unit.BYTE_RATE, {"direction": "out", **windows}),
            ("in", "bandwidth", Unit.BYTE_RATE, {"direction": "in", **windows}),
        ):
            value, raw = require_positive(document.get(name), metric), f"{metric} {document.get(name)}"
            readings.append(Reading(f"mpi-pingpong.{metric}", value, unit, labels(**marks), raw))
        return readings
