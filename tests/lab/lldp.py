"""LLDP in a laboratory: a real lldpd on every node and every switch, started when a test wants it.

Owned here: starting them, waiting until they hear each other, ending them.
Refused here: what is cabled to what; they find out.

A node has a root of its own, so its lldpd has the usual places. A switch is a network
namespace only: its lldpd gets PID and mount namespaces of its own, with a /run of its own.
"""

from __future__ import annotations

import json
import signal
import subprocess
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.lab.host import ENVIRONMENT, Identity, together, wait_for
from tests.lab.observe import processes_of
from tests.lab.state import StateDirectory

if TYPE_CHECKING:
    from tests.lab.site import Site

SETTINGS = """\
configure system hostname {name}
configure lldp tx-interval 1
configure lldp tx-hold 4
"""

# Runs as PID 1 of its namespaces. /proc is still the outer one, so that it tells the outer pid.
_ON_SWITCH = """\
set -eu
read -r stat </proc/self/stat
identity=$1
settings=$2
set -- $stat
mount -t tmpfs -o size=1m,mode=755 lab-run /run
mkdir -m 755 /run/lldpd
# lldpcli reads them as a user of its own, whom the laboratory's directory is closed to.
printf %s "$settings" >/run/lldpd.conf
chmod 644 /run/lldpd.conf
echo "$1 ${22}" >"$identity.new"
mv "$identity.new" "$identity"
exec lldpd -d -O /run/lldpd.conf
"""

# The `unshare` of every switch that this process started: somebody has to collect their exit status.
_children: list[subprocess.Popen[bytes]] = []


def start(site: Site, seconds: float = 30) -> None:
    """Let every node that runs and every switch speak LLDP; returns when each node hears its switch."""
    together(partial(_start_switch, site), [name for name in site.plan.switches if not _speaks(site.state, name)])
    nodes = [name for name in site.plan.nodes if site.running(name)]
    together(partial(_start_node, site), [name for name in nodes if not _daemons(site, name)])
    for name in nodes:
        wait_for(partial(_hears_its_switch, site, name), seconds, f"{name} to hear its switch")


def stop(state: StateDirectory, site: Site | None = None) -> None:
    """End what `start` started; without a site only on switches, for nodes end with all that is theirs."""
    together(_end, [Identity.read(path) for path in sorted(state.nodes.glob("*.lldp"))])
    for path in state.nodes.glob("*.lldp"):
        path.unlink()
    if site is not None:
        for name in filter(site.running, site.plan.nodes):
            together(_end, _daemons(site, name))
    while _children:
        _children.pop().wait(20)


def heard(site: Site, node: str) -> dict[str, str]:
    """Ports of a node and the name of who is heard there, as its own lldpctl tells."""
    document = json.loads(site.inside(node, "lldpctl", "-f", "json0"))
    interfaces = [entry for group in document["lldp"] for entry in group.get("interface", [])]
    return {entry["name"]: entry["chassis"][0]["name"][0]["value"] for entry in interfaces}


def _hears_its_switch(site: Site, node: str) -> bool:
    return site.plan.node(node).switch in heard(site, node).values()


def _start_switch(site: Site, name: str) -> None:
    identity = _file(site.state, name)
    # Slave: a namespace that is unmounted outside must not live on in here.
    apart = ["unshare", "--mount", "--propagation", "slave", "--pid", "--fork"]
    command = site.switch(name).argv(*apart, "sh", "-c", _ON_SWITCH, "lldpd", str(identity), SETTINGS.format(name=name))
    quiet = subprocess.DEVNULL
    _children.append(
        subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, env=ENVIRONMENT, start_new_session=True)
    )
    wait_for(identity.exists, 10, f"lldpd of {name} to start")


def _start_node(site: Site, name: str) -> None:
    run_directory = site.root(name) / "run"
    (run_directory / "lldpd").mkdir(exist_ok=True)
    settings = run_directory / "lldpd.conf"
    settings.write_text(SETTINGS.format(name=name))
    settings.chmod(0o644)
    site.inside(name, "lldpd", "-O", "/run/lldpd.conf")
    wait_for((run_directory / "lldpd.socket").exists, 10, f"lldpd of {name} to start")


def _daemons(site: Site, node: str) -> list[Identity]:
    return [each.identity for each in processes_of(site.pid(node)) if each.argv and each.argv[0].startswith("lldpd")]


def _file(state: StateDirectory, switch: str) -> Path:
    return state.nodes / f"{switch}.lldp"


def _speaks(state: StateDirectory, switch: str) -> bool:
    found = Identity.read(_file(state, switch))
    return found is not None and found.alive()


def _end(process: Identity | None) -> None:
    if process is not None:
        process.signal(signal.SIGKILL)
        wait_for(lambda: not process.alive(), 20, "lldpd to end")
