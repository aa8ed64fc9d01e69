"""A job: what runs where, how its ranks are started, and the command line of ``mpirun`` in the options of Open MPI 4.

Pure. Options of mpirun beyond the defaults are each for a failure that was seen (``docs/decisions/015-launchers.md``):
networks and ports by name, ranks spread over nodes, no spawning through other nodes, keepalives that notice a
dead node within a quarter of a minute, no wait for ranks that shall end, nothing read from stdin.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from math import ceil
from types import MappingProxyType

from benchconsole.probes.launch.network_choice import LaunchError, Rails, rails
from benchconsole.probes.readers.numbers import parse_address
from benchconsole.topology.model.fabric import Node

HOSTS = "hosts"
"""The hostfile's name in the directory of the run."""
SLURM_HOSTS = "hosts.slurm"
"""The same by the names that Slurm knows; the script takes it inside an allocation."""
_NODE_SILENT, _BETWEEN, _TRIES = 5, 2, 3
MOST_NODES = 1000
"""More lines of a hostfile than this do not fit the argument list that carries it to the head node."""

_CONTROL_PORTS = 500
"""Open MPI 4.1 aborts ("bit out of range 0 - FD_SETSIZE") on a range of 1024 and more for its own talk."""
_HOSTS = ("address", "name", "data")
_BIND = ("", "none", "core", "socket", "numa", "hwthread")
_TRANSPORTS = ("tcp", "auto")
_PORTS = re.compile(r"([0-9]{4,5})-([0-9]{4,5})")


@dataclass(frozen=True, slots=True)
class Options:
    """How ranks are started; each is an option of the suite.

    ``slots``: ranks that fit a node (0: its declared cores, else 1). ``hosts``: what the head node calls the
    others, their ``address``, ``name`` or ``data`` address. ``network``: the payload's network as CIDR or
    interface name (empty: from the data addresses). ``bind``: what ranks are bound to (empty: Open MPI's own
    choice). ``transport``: ``tcp``, or ``auto`` for whatever Open MPI finds best. ``ports``: first and last
    port that may be listened on. ``as_root``: 1 to start ranks as root where the login is root.
    ``mpirun``: its name, or its path where it is not on the PATH of a login without a terminal.
    ``scratch``: a directory of the head node for the files of the run.
    """

    slots: int = 0
    hosts: str = "address"
    network: str = ""
    bind: str = ""
    transport: str = "tcp"
    ports: str = "20000-31999"
    as_root: int = 0
    mpirun: str = "mpirun"
    scratch: str = "/tmp"  # noqa: S108 - a directory of our own is made below it

    @classmethod
    def of(cls, given: Mapping[str, str | int | float]) -> "Options":
        """The options of a stage; LaunchError names the first that cannot be used. Others are not looked at."""
        found = {name: given.get(name, default) for name, default in DEFAULTS.items()}
        text = {name: str(value) for name, value in found.items()}
        mpirun = text["mpirun"]
        is_path = mpirun.startswith("/") and mpirun.isprintable() and " " not in mpirun
        for name, is_fine, expected in (
            ("hosts", text["hosts"] in _HOSTS, "address, name or data"),
            ("bind", text["bind"] in _BIND, "none, core, socket, numa, hwthread, or nothing"),
            ("transport", text["transport"] in _TRANSPORTS, "tcp or auto"),
            ("as_root", found["as_root"] in (0, 1, "0", "1"), "0 or 1"),
            ("slots", re.fullmatch(r"[0-9]{1,5}", text["slots"]), "a whole number up to 99999, 0 for the cores"),
            ("mpirun", mpirun == "mpirun" or is_path, "mpirun, or an absolute path"),
            ("scratch", text["scratch"].startswith("/"), "an absolute path"),
        ):
            if not is_fine:
                raise LaunchError(f"option {name}: found {found[name]!r}, expected {expected}")
        words = {name: text[name] for name in ("hosts", "network", "bind", "transport", "ports", "mpirun", "scratch")}
        options = cls(int(text["slots"]), as_root=int(found["as_root"]), **words)
        options.port_ranges()
        return options

    def port_ranges(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """First and last port of the launcher's own talk, and of the payload."""
        match = _PORTS.fullmatch(self.ports)
        first, last = (int(match[1]), int(match[2])) if match else (0, 0)
        if not 1024 <= first < last <= 65535 or last - first < 63:
            raise LaunchError(f"option ports: found {self.ports!r}, expected at least 64 ports such as 20000-31999")
        middle = first + min((last - first) // 2, _CONTROL_PORTS)
        return (first, middle), (middle + 1, last)


DEFAULTS: Mapping[str, str | int | float] = MappingProxyType(asdict(Options()))
"""Options that a probe that launches adds to its own."""


def slots(node: Node, options: Options) -> int:
    """Ranks that fit ``node``: as asked, else its declared cores, else 1."""
    cores = node.hardware.facts.get("cpu.cores")
    declared = int(cores) if isinstance(cores, int | float) and cores >= 1 else 1
    return options.slots or declared


def host(node: Node, options: Options) -> str:
    """The head node's name for ``node``; LaunchError when that is no single word of a host name or address."""
    from benchconsole.topology.selection import NAME  # ClusterShell is slow to load, and every command loads the probes

    called = {"address": node.address, "name": str(node.id), "data": node.data_address}[options.hosts]
    if not (parse_address(called) or NAME.fullmatch(called)):
        raise LaunchError(f"{node.id}: found {called!r} as its {options.hosts}, expected a host name or an IP address")
    return called


def hostfile(nodes: Sequence[Node], options: Options, *, names: bool = False) -> str:
    """One line for each node, in order: ``10.0.0.1 slots=28``. ``names``: by the names of the file instead."""
    if len(nodes) > MOST_NODES:
        raise LaunchError(f"found {len(nodes)} nodes in one launch, expected at most {MOST_NODES}")
    return "".join(f"{node.id if names else host(node, options)} slots={slots(node, options)}\n" for node in nodes)


def tasks_per_node(nodes: Sequence[Node], options: Options) -> str:
    """The same slots as Slurm writes them: ``28(x4),32``."""
    runs = [(count, len(list(group))) for count, group in groupby(slots(node, options) for node in nodes)]
    return ",".join(f"{count}(x{length})" if length > 1 else str(count) for count, length in runs)


@dataclass(frozen=True, slots=True)
class Job:
    """One program on ``ranks`` ranks, spread evenly over ``nodes``; the first node is the head, with rank 0.

    ``seconds`` is the time after which it is ended. ``files`` (name to text) lie in the head's working
    directory, which is made for the run and removed with it; of ``results``, names of files that the program
    writes there, the text follows its own standard output. ``writes`` is bytes that those may take.
    ``environment`` is what each rank has in its own, besides the marker of the session.
    """

    nodes: tuple[Node, ...]
    program: tuple[str, ...]
    ranks: int
    seconds: float
    options: Options = Options()
    files: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    results: tuple[str, ...] = ()
    writes: float = 1_000_000.0
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        room = self.room
        if not self.nodes or not 1 <= self.ranks <= room:
            raise LaunchError(
                f"found {self.ranks} ranks for {room} slots on {len(self.nodes)} nodes, expected 1 or more that fit"
            )
        for name in (*self.files, *self.results):
            if not name.replace(".", "").replace("_", "").isalnum() or name.startswith("."):
                raise LaunchError(f"found {name!r} as the name of a file, expected letters, digits, '_' and '.'")

    @property
    def room(self) -> int:
        """The most ranks that fit."""
        return sum(slots(node, self.options) for node in self.nodes)

    @property
    def rails(self) -> Rails:
        """The networks that its ranks and its launcher take. Raises LaunchError."""
        if len(self.nodes) == 1 and not self.options.network:
            return Rails("lo", "lo")  # nothing leaves the node, whatever its addresses are called
        return rails(self.nodes, self.options.network)

    def arguments(self) -> list[str]:
        options, networks = self.options, self.rails
        argv = [options.mpirun, "--hostfile", HOSTS, "--map-by", "node", "--stdin", "none"]
        argv += ["--timeout", str(ceil(self.seconds)), "-x", "BENCHCONSOLE_SESSION"]
        for name, value in self.environment.items():
            argv += ["-x", f"{name}={value}"]
        if options.bind:
            argv += ["--bind-to", options.bind]
        for name, value in _parameters(options, networks).items():
            argv += ["--mca", name, value]
        return [*argv, "-np", str(self.ranks), *self.program]

    def texts(self) -> dict[str, str]:
        """Every file of the run, hostfiles included."""
        files = {HOSTS: hostfile(self.nodes, self.options), SLURM_HOSTS: hostfile(self.nodes, self.options, names=True)}
        return {**self.files, **files}


def _parameters(options: Options, networks: Rails) -> dict[str, str]:
    control, payload = options.port_ranges()
    found = {
        "orte_base_help_aggregate": "0",
        "plm_rsh_no_tree_spawn": "1",
        "plm_rsh_args": "-o BatchMode=yes -o ConnectTimeout=10",
        "odls_base_sigkill_timeout": "0",
        "oob_tcp_keepalive_time": str(_NODE_SILENT),
        "oob_tcp_keepalive_intvl": str(_BETWEEN),
        "oob_tcp_keepalive_probes": str(_TRIES),
        "oob_tcp_if_include": networks.control,
        "oob_tcp_dynamic_ipv4_ports": f"{control[0]}-{control[1]}",
        "btl_tcp_if_include": networks.data,
        "btl_tcp_port_min_v4": str(payload[0]),
        "btl_tcp_port_range_v4": str(payload[1] - payload[0] + 1),
    }
    # ob1 over TCP and memory: otherwise an InfiniBand card would carry what the description says Ethernet does
    return {**found, "pml": "ob1", "btl": "^openib,uct,usnic"} if options.transport == "tcp" else found
