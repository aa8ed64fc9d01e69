"""The cables and switches of a laboratory, in the kernel.

Owned here: namespaces of switches, bridges, veth pairs, rates (TBF at both ends), routes.
Refused here: deciding what should be; `plan.py` and `routes.py` say that. Nothing here
remembers a state either: what is up is asked from the kernel.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from tests.lab.host import LabError, attempt, run, together, wait_for
from tests.lab.plan import Member, NodePlan, Plan
from tests.lab.routes import routes
from tests.lab.state import NETNS

_BRIDGE = "type bridge stp_state 0 forward_delay 0"
# A whole GSO packet (64 KiB) must fit the bucket, or the kernel cuts it up at great cost.
_BURST = 128 * 1024
# Measured with 4 pairs on 4 uplinks: 30 ms fill them and share evenly, 100 ms do neither.
_QUEUE_SECONDS = 0.03

# Hash policy 1 uses the hash the sending socket left in the packet, the same on every
# switch; policy 3 with chosen fields (addresses, protocol, ports) and a seed is a switch's own.
_SWITCH_SETTINGS = """\
set_to() {{ echo "$2" >"/proc/sys/net/ipv4/$1" || echo "$1" >&2; }}
echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
set_to ip_forward 1
set_to fib_multipath_hash_policy 3
set_to fib_multipath_hash_fields 55
set_to fib_multipath_hash_seed {seed}
set_to conf/all/ignore_routes_with_linkdown 1
set_to conf/default/ignore_routes_with_linkdown 1
set_to conf/all/rp_filter 0
set_to conf/default/rp_filter 0
"""


@dataclass(frozen=True)
class Space:
    """A network namespace, by the file that stands for it."""

    path: str

    @classmethod
    def of_switch(cls, plan: Plan, name: str) -> Space:
        """The namespace of a switch."""
        if name not in plan.switches:
            raise LabError(f"there is no switch {name!r} in this laboratory")
        return cls(f"{NETNS}/{plan.switches[name].namespace}")

    @classmethod
    def of_process(cls, pid: int) -> Space:
        """The namespace that a process lives in."""
        return cls(f"/proc/{pid}/ns/net")

    def argv(self, *command: str) -> list[str]:
        """The command, to be run in here."""
        return ["nsenter", f"--net={self.path}", *command]

    def ip(self, lines: Iterable[str]) -> None:
        """Lines for `ip`, in one process; the first that fails is an error."""
        run(self.argv("ip", "-batch", "-"), stdin="\n".join(lines) + "\n")

    def tc(self, lines: Iterable[str]) -> None:
        """Lines for `tc`, in one process."""
        run(self.argv("tc", "-batch", "-"), stdin="\n".join(lines) + "\n")

    def lose(self, port: str, percent: int) -> None:
        """Drop this share of what arrives at a port, by chance (netem is rarer in kernels than netfilter)."""
        hook = f"type filter hook ingress device {port} priority 0"
        rules = f"chain arriving {{ {hook}; policy accept; numgen random mod 100 < {percent} drop; }}"
        run(self.argv("nft", "-f", "-"), stdin=f"table netdev {_loss(port)} {{\n{rules}\n}}\n")

    def keep(self, port: str) -> None:
        """Drop nothing more at a port; one that loses nothing is no error."""
        attempt(self.argv("nft", "delete", "table", "netdev", _loss(port)))

    def ports(self) -> dict[str, bool]:
        """Every port and whether the kernel's readers see a carrier on it."""
        links = json.loads(run(self.argv("ip", "-j", "link", "show")))
        return {link["ifname"]: "LOWER_UP" in link["flags"] for link in links}


def _loss(port: str) -> str:
    return f"loss_{port}"


def shape(port: str, mbit: float) -> str:
    """The `tc` line that gives what leaves this port a rate."""
    kbit = max(1, round(mbit * 1000))
    limit = _BURST + round(kbit * 125 * _QUEUE_SECONDS)
    return f"qdisc replace dev {port} root tbf rate {kbit}kbit burst {_BURST} limit {limit}"


def hardware(address: str) -> str:
    """The hardware address that goes with an IP address: a node that rebooted keeps both,
    or neighbours would talk to the old one for half a minute."""
    return ":".join(["02", "00", *(f"{int(part):02x}" for part in address.split("."))])


def build_switches(plan: Plan) -> list[str]:
    """Make the management bridge, every switch and every trunk; tell what was not possible."""
    spec = plan.spec
    lines = [
        f"link add {spec.bridge} address {hardware(f'{spec.management}.0.1')} {_BRIDGE}",
        f"address add {spec.management}.0.1/16 dev {spec.bridge}",
        f"link set {spec.bridge} up",
    ]
    lines += [f"netns add {switch.namespace}" for switch in plan.switches.values()]
    lines += [_trunk(plan, member) for member in plan.members]
    run(["ip", "-batch", "-"], stdin="\n".join(lines) + "\n")
    together(lambda name: _ready_switch(plan, name), plan.switches)
    reroute(plan)
    return sorted({line for name in plan.switches for line in _settings(plan, name)})


def _trunk(plan: Plan, member: Member) -> str:
    leaf, spine = plan.switches[member.leaf], plan.switches[member.spine]
    return (
        f"link add {member.port(leaf.name)} netns {leaf.namespace} type veth "
        f"peer name {member.port(spine.name)} netns {spine.namespace}"
    )


def _settings(plan: Plan, name: str) -> list[str]:
    """Set the switch's forwarding; give the names of settings this kernel does not have."""
    script = _SWITCH_SETTINGS.format(seed=plan.switches[name].seed)
    done = attempt(Space.of_switch(plan, name).argv("sh", "-c", script))
    return [line for line in done.stderr.splitlines() if line and " " not in line]


def _ready_switch(plan: Plan, name: str) -> None:
    space, switch = Space.of_switch(plan, name), plan.switches[name]
    lines, rates = ["link set lo up"], []
    if switch.gateway:
        lines += [
            f"link add br0 address {hardware(switch.gateway)} {_BRIDGE}",
            f"address add {switch.gateway}/24 dev br0",
            "link set br0 up",
        ]
    for member in plan.members_of(name):
        port = member.port(name)
        lines += [f"address add {member.address(name)}/31 dev {port}", f"link set {port} up"]
        rates.append(shape(port, member.mbit))
    space.ip(lines)
    if rates:
        space.tc(rates)


def wire_nodes(plan: Plan, pids: dict[str, int]) -> None:
    """Plug nodes in: a management cable to the root, a data cable to the switch."""
    nodes = [plan.node(name) for name in pids]
    lines: list[str] = []
    for node in nodes:
        lines += _cables(plan, node, pids[node.name])
    run(["ip", "-batch", "-"], stdin="\n".join(lines) + "\n")
    run(
        ["tc", "-batch", "-"],
        stdin="".join(shape(n.management_port, plan.spec.management_mbit) + "\n" for n in nodes),
    )
    together(lambda name: _ready_ports(plan, name, nodes), {n.switch for n in nodes})
    together(lambda node: _ready_node(plan, node, pids[node.name]), nodes)


def _cables(plan: Plan, node: NodePlan, pid: int) -> list[str]:
    port, switch = node.management_port, plan.switches[node.switch]
    management, data = hardware(node.management), hardware(node.data)
    return [
        f"link add {port} type veth peer name mgmt0 address {management} netns {pid}",
        f"link set {port} master {plan.spec.bridge} up",
        f"link add {node.name} netns {switch.namespace} type veth peer name eth0 address {data} netns {pid}",
    ]


def _ready_ports(plan: Plan, switch: str, nodes: list[NodePlan]) -> None:
    here = [node for node in nodes if node.switch == switch]
    space = Space.of_switch(plan, switch)
    space.ip(f"link set {node.name} master br0 up" for node in here)
    space.tc(shape(node.name, node.mbit) for node in here)


def _ready_node(plan: Plan, node: NodePlan, pid: int) -> None:
    space = Space.of_process(pid)
    space.ip(
        [
            "link set lo up",
            f"address add {node.management}/16 dev mgmt0",
            f"address add {node.data}/24 dev eth0",
            "link set mgmt0 up",
            "link set eth0 up",
            f"route add default via {node.gateway} dev eth0",
        ]
    )
    space.tc([shape("eth0", node.mbit), shape("mgmt0", plan.spec.management_mbit)])


def unwire_node(plan: Plan, node: NodePlan) -> None:
    """Pull both cables of a node out; cables that are gone already are no error."""
    attempt(["ip", "link", "delete", node.management_port])
    attempt(Space.of_switch(plan, node.switch).argv("ip", "link", "delete", node.name))


def set_member(plan: Plan, member: Member, *, up: bool) -> None:
    """Take a trunk cable down, or up again, and tell every switch."""
    state = "up" if up else "down"
    # One end is enough: the other loses its carrier, as with a cable that is pulled.
    Space.of_switch(plan, member.leaf).ip([f"link set {member.port(member.leaf)} {state}"])
    reroute(plan)


def members_up(plan: Plan) -> list[Member]:
    """The trunk cables that are not taken down, asked from the kernel."""
    found: list[Member] = []
    for name, switch in plan.switches.items():
        if switch.role == "leaf":
            space = Space.of_switch(plan, name)
            links = json.loads(run(space.argv("ip", "-j", "link", "show")))
            enabled = {link["ifname"] for link in links if "UP" in link["flags"]}
            found += [m for m in plan.members_of(name) if m.port(name) in enabled]
    return found


def reroute(plan: Plan) -> None:
    """Install the routes that fit the cables that are up, on every switch."""
    lines = routes(plan, members_up(plan))
    together(lambda name: Space.of_switch(plan, name).ip(lines[name]), lines)


def await_carriers(plan: Plan, seconds: float = 10) -> None:
    """Wait until every switch sees what was plugged in; the kernel tells once a second."""

    def settled(switch: str) -> bool:
        ports = Space.of_switch(plan, switch).ports()
        wanted = {m.port(switch) for m in plan.members_of(switch) if m in up}
        wanted |= {node.name for node in plan.nodes_on(switch)} & ports.keys()
        return all(ports.get(port, False) for port in wanted)

    up = set(members_up(plan))
    for name in plan.switches:
        wait_for(partial(settled, name), seconds, f"carriers on {name}")
