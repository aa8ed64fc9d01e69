"""A subnet of 8 switches and 32 hosts, simulated by ibsim and told by the real tools: described, broken, and compared."""

import json
import os
import re
import shutil
import socket as socket_library
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

from benchconsole import topology
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.importers import import_sources
from benchconsole.topology.model.fabric import Flow, NodeId
from tests.lab.host import wait_for
from tests.probes.tools.inventory.simulators import DEADLINE, listens, running
from tests.scenarios.commands import benchconsole
from tests.topology import referee

PATH = f"{os.environ['PATH']}:/usr/sbin"
pytestmark = pytest.mark.skipif(
    not all(shutil.which(tool, path=PATH) for tool in ("ibsim", "ibnetdiscover", "opensm"))
    and not os.environ.get("CI"),
    reason="NOT TESTED: infiniband-diags, ibsim-utils or opensm is not installed here (in CI this fails)",
)

LEAVES, SPINES, HOSTS, TRUNK = 4, 4, 8, 2
CABLES = LEAVES * HOSTS + LEAVES * SPINES * TRUNK
RATE = "4xQDR"


def write_fabric() -> str:
    """The fat tree in the language of ibsim: hosts on the first ports of a leaf, then two cables to each spine."""
    beside: dict[str, dict[int, tuple[str, int]]] = {}

    def join(a: str, port: int, b: str, far: int) -> None:
        beside.setdefault(a, {})[port] = (b, far)
        beside.setdefault(b, {})[far] = (a, port)

    for leaf in range(1, LEAVES + 1):
        for host in range(1, HOSTS + 1):
            join(f"leaf{leaf}", host, f"n{(leaf - 1) * HOSTS + host:02}", 1)
        for spine in range(1, SPINES + 1):
            for cable in range(1, TRUNK + 1):
                port, far = HOSTS + (spine - 1) * TRUNK + cable, (leaf - 1) * TRUNK + cable
                join(f"leaf{leaf}", port, f"spine{spine}", far)
    text = ""
    for name, ports in sorted(beside.items(), key=lambda item: not item[0].startswith("n")):
        is_host = name.startswith("n")
        text += f'{"Hca 1" if is_host else "Switch 24"} "{name}"\n'
        for port, (other, its_port) in sorted(ports.items()):
            told = f'lid 0 lmc 0 "{other}" lid 0' if is_host else f'"{other}" lid 0'
            text += f'[{port}] "{other}"[{its_port}] # {told} {RATE}\n'
        text += "\n"
    return text


@dataclass(frozen=True, slots=True)
class Subnet:
    """The simulator: the words that its console takes, and tools that run at the host n01."""

    socket: str
    console: int

    def ask(self, *command: str) -> str:
        """The output of a tool; it has to end with 0."""
        environment = {**os.environ, "IBSIM_SOCKNAME": self.socket, "SIM_HOST": "n01", "PATH": PATH}
        done = subprocess.run(
            ["ibsim-run", *command], env=environment, capture_output=True, text=True, timeout=DEADLINE, check=True
        )
        return done.stdout

    def unlink(self, switch: str, port: int) -> None:
        """Pull a cable, and wait until the tools see that it is gone."""
        before = self.ask("ibnetdiscover").count("\n[")
        os.write(self.console, f'Unlink "{switch}"[{port}]\n'.encode())
        wait_for(lambda: self.ask("ibnetdiscover").count("\n[") == before - 2, DEADLINE, f"{switch}:{port} to be gone")


@pytest.fixture
def subnet(tmp_path: Path) -> Iterator[Subnet]:
    (tmp_path / "fabric").write_text(write_fabric())
    socket = f"bcf{os.getpid()}"
    argv = ["env", f"IBSIM_SOCKNAME={socket}", "ibsim", "-s", str(tmp_path / "fabric")]
    with running(argv, tmp_path / "ibsim.log", is_ready=listens(None, "unix", f"@{socket}:ctl@")) as process:
        assert process.stdin is not None
        yield Subnet(socket, process.stdin.fileno())


def test_a_simulated_subnet_is_described_and_what_breaks_in_it_is_found(subnet: Subnet, tmp_path: Path) -> None:
    cluster, dump = tmp_path / "cluster.yaml", tmp_path / "subnet.txt"
    dump.write_text(subnet.ask("ibnetdiscover", "-f"))
    assert benchconsole("init", cluster, "--from", "ib", dump).code == 0
    fabric = topology.load(cluster)
    assert len(fabric.nodes) == LEAVES * HOSTS
    assert sorted(fabric.switches) == [f"{role}{n}" for role in ("leaf", "spine") for n in (1, 2, 3, 4)]
    assert sum(link.count for link in fabric.links.values()) == CABLES
    assert {link.speed * 8 for link in fabric.links.values()} == {32e9}
    assert benchconsole("check", cluster).code == 0
    healthy = benchconsole("diff", cluster, "--from", "ib", dump)
    assert (healthy.code, f"{CABLES} of {CABLES} cables as described" in healthy.out) == (0, True)

    subnet.ask("ibportstate", "-D", "0,1", "3", "width", "1")  # from n01 over its leaf, whose port 3 leads to n03
    subnet.unlink("leaf2", HOSTS + 2 * TRUNK + 1)
    dump.write_text(subnet.ask("ibnetdiscover"))
    broken = benchconsole("diff", cluster, "--json", "--from", "ib", dump)
    found = json.loads(broken.out)
    assert broken.code == 1
    assert [(row["kind"], row["devices"], row["seen"], row["text"]) for row in found["differences"]] == [
        ("fewer cables", ["leaf2", "spine3"], "1 of 2 cables", ""),
        ("narrow", ["leaf1:3", "n03:1"], "8.00 Gb/s, 1xQDR", "1 of 4 lanes"),
    ]
    assert found["differences"][0]["described"] == "leaf2:13 to spine3:3"
    assert found["cables"] == {"described": CABLES, "as_described": CABLES - 2, "without_rate": 0}


SSHD = """\
ListenAddress 127.0.0.1:{port}
PidFile none
UsePAM no
StrictModes no
PermitRootLogin yes
HostKey {home}/host
AuthorizedKeysFile {home}/user.pub
SetEnv HOME={home} PATH={home}/bin:/usr/bin:/bin LD_PRELOAD={library} IBSIM_SOCKNAME={socket} SIM_HOST=n01
"""
COUNTER = """\
#!/bin/sh
exec /usr/sbin/ibqueryerrors --skip-sl "$@"
"""
"""The simulator gives the first 256 bytes of an answer; the tool reads the service levels beyond them, and may crash."""
SSH_CONFIG = """\
Host n01
  HostName 127.0.0.1
  Port {port}
  User root
  IdentityFile {home}/user
  UserKnownHostsFile {home}/known
"""


@pytest.fixture
def asked_home(subnet: Subnet, tmp_path: Path) -> Iterator[Path]:
    """A home whose ssh_config reaches n01: a real sshd, behind which commands run in the simulated subnet."""
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True, mode=0o700)
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home / name], check=True)
    with socket_library.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    library = subnet.ask("sh", "-c", "echo $LD_PRELOAD").strip()
    words = {"port": port, "home": home, "library": library, "socket": subnet.socket}
    (home / "sshd").write_text(SSHD.format_map(words))
    (home / ".ssh" / "config").write_text(SSH_CONFIG.format_map(words))
    (home / ".ssh" / "config").chmod(0o600)
    (home / "bin").mkdir()
    (home / "bin" / "ibqueryerrors").write_text(COUNTER)
    (home / "bin" / "ibqueryerrors").chmod(0o755)
    (home / "known").write_text(f"[127.0.0.1]:{port} {(home / 'host.pub').read_text()}")
    argv, log = ["/usr/sbin/sshd", "-D", "-e", "-f", str(home / "sshd")], home / "sshd.log"
    with running(argv, log, is_ready=lambda: "listening" in log.read_text()):
        yield home


@pytest.fixture
def manager(subnet: Subnet, tmp_path: Path) -> Iterator[None]:
    """OpenSM in the simulated subnet: without a subnet manager no node may read counters."""
    simulated = [f"IBSIM_SOCKNAME={subnet.socket}", "SIM_HOST=n02", f"OSM_TMP_DIR={tmp_path}", f"PATH={PATH}"]
    argv = ["env", "-C", str(tmp_path), *simulated, "ibsim-run", "opensm", "-f", str(tmp_path / "opensm.log")]
    counts = ("ibqueryerrors", "-c", "--skip-sl")
    with running(argv, tmp_path / "opensm.out", is_ready=lambda: "Summary" in subnet.ask(*counts)):
        yield


@pytest.mark.skipif(os.geteuid() != 0 and not os.environ.get("CI"), reason="NOT TESTED: sshd for root (in CI it runs)")
@pytest.mark.usefixtures("manager")
def test_a_node_that_is_asked_over_ssh_tells_the_same_subnet(subnet: Subnet, asked_home: Path, tmp_path: Path) -> None:
    cluster, home = tmp_path / "cluster.yaml", str(asked_home)
    described = benchconsole("init", cluster, "--from", "ib", "--ask", "n01", HOME=home)
    assert described.code == 0, described.err
    assert len(topology.load(cluster).nodes) == LEAVES * HOSTS
    # The file names its own way to the node as any file does.
    text = cluster.read_text().replace("\nnodes:", f"\nssh: {{config: {asked_home}/.ssh/config}}\nnodes:", 1)
    cluster.write_text(text)
    healthy = benchconsole("diff", cluster, "--from", "ib", "--ask", "n01", HOME=home)
    assert (healthy.code, f"{CABLES} of {CABLES} cables as described" in healthy.out) == (0, True), healthy.err
    subnet.unlink("leaf2", HOSTS + 2 * TRUNK + 1)
    broken = benchconsole("diff", cluster, "--json", "--from", "ib", "--ask", "n01", HOME=home)
    assert broken.out, broken.err
    assert [row["kind"] for row in json.loads(broken.out)["differences"]] == ["fewer cables"]


@pytest.mark.parametrize("command", [["ibnetdiscover", "-p"], ["ibnetdiscover", "-g"], ["iblinkinfo", "-l"]])
def test_other_outputs_of_the_real_tools_tell_the_same_subnet(
    subnet: Subnet, tmp_path: Path, command: list[str]
) -> None:
    cluster, dump, other = tmp_path / "cluster.yaml", tmp_path / "subnet.txt", tmp_path / "other.txt"
    dump.write_text(subnet.ask("ibnetdiscover"))
    other.write_text(subnet.ask(*command))
    assert benchconsole("init", cluster, "--from", "ib", dump).code == 0
    compared = benchconsole("diff", cluster, "--from", "ib", other)
    assert compared.code == 0, compared.out


def follow(tables: str, subnet: str) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """By hand: the cables from each host to each, as (device, port) where traffic enters them."""
    far: dict[tuple[str, str], tuple[str, str]] = {}
    here = ""
    for line in subnet.splitlines():
        if node := re.match(r'(?:Switch|Ca)\s+\d+ "[^"]+"\s+# "([^"]+)"', line):
            here = node[1]
        elif cable := re.match(r'\[(\d+)\](?:\(\w+\))?\s+"[^"]+"\[(\d+)\](?:\(\w+\))?\s+#.*?"([^"]+)" lid', line):
            far[here, cable[1]] = (cable[3], cable[2])
    port: dict[tuple[str, str], str] = {}
    for line in tables.splitlines():
        if begun := re.match(r"Unicast lids .*\('?(\w+)'?\):", line):
            here = begun[1]
        elif entry := re.match(r"0x\w{4} (\d{3}) .*: '(\w+)'", line):
            port[here, entry[2]] = str(int(entry[1]))
    hosts = [f"n{number:02}" for number in range(1, LEAVES * HOSTS + 1)]
    found = {}
    for source in hosts:
        for sink in (host for host in hosts if host != source):
            way = [(source, "1")]
            while far[way[-1]][0] != sink:
                switch = far[way[-1]][0]
                way.append((switch, port[switch, sink]))
            found[source, sink] = way
    return found


def test_flows_follow_the_tables_of_a_real_subnet_manager(subnet: Subnet, tmp_path: Path) -> None:
    cluster, dump, tables, log = (tmp_path / each for each in ("cluster.yaml", "subnet.txt", "tables.txt", "log"))
    folders = (f"OSM_TMP_DIR={tmp_path}", f"OSM_CACHE_DIR={tmp_path}")
    subnet.ask("env", *folders, "opensm", "--once", "-R", "updn", "-D", "0x43", "-f", str(log))
    dump.write_text(subnet.ask("ibnetdiscover"))
    tables.write_text(subnet.ask("dump_fts"))
    assert benchconsole("init", cluster, "--from", "ib", dump, tables).code == 0
    files = (tables, tmp_path / "opensm-lfts.dump", tmp_path / "opensm.fdbs")
    told = [import_sources("ib", [dump, each]).document.data for each in files]
    assert told[0] == told[1] == told[2]

    fabric = topology.load(cluster)
    ways = follow(tables.read_text(), dump.read_text())
    hosts = sorted(fabric.nodes)
    flows = [Flow(NodeId(a), NodeId(b)) for a, b in zip(hosts, hosts[11:] + hosts[:11], strict=True)]
    shares = [{(*way, ""): Fraction(1) for way in ways[flow.source, flow.sink]} for flow in flows]
    capacity = {way: Fraction(32 * 10**9, 8) for each in shares for way in each}
    goodput = fabric.goodput_of(next(iter(fabric.links.values())))
    filled = [float(rate) * goodput for rate in referee.fill(capacity, shares)]
    assert [each.value for each in expect(fabric, flows)] == pytest.approx(filled, rel=1e-9)
    assert benchconsole("diff", cluster, "--from", "ib", dump, tables).code == 0
