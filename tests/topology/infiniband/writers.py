"""A subnet as the tools print it, written from a plain plan: shares no code with the readers.

A plan is a list of nodes, each of a kind (``S`` switch, ``H`` adapter, ``R`` router), a GUID, a description and
a number of ports, and a list of cables between (GUID, port) with a width and a speed.
"""

import itertools
from dataclasses import dataclass, field

HEAD = "#\n# Topology file: generated on Wed Aug  6 16:11:23 2025\n#\n# Initiated from node {0:016x} port {0:016x}\n"
GBPS = {"SDR": "2.5", "DDR": "5.0", "QDR": "10.0", "FDR10": "10.0", "FDR": "14.0625", "EDR": "25.78125",
        "HDR": "53.125", "NDR": "106.25", "XDR": "212.5"}  # fmt: skip
WIDTH_BITS = {1: 1, 4: 2, 8: 4, 12: 8, 2: 16}
SPEED_BITS = {"SDR": 1, "DDR": 2, "QDR": 4, "FDR": 256, "EDR": 512, "HDR": 1024, "NDR": 2048, "XDR": 4096,
              "FDR10": 65536}  # fmt: skip


@dataclass(frozen=True)
class Planned:
    kind: str
    guid: int
    name: str
    ports: int


@dataclass
class Plan:
    nodes: list[Planned] = field(default_factory=list)
    cables: list[tuple[tuple[int, int], tuple[int, int], int, str]] = field(default_factory=list)

    def node(self, guid: int) -> Planned:
        return next(node for node in self.nodes if node.guid == guid)

    def lid(self, guid: int) -> int:
        return [node.guid for node in self.nodes].index(guid) + 1

    def ends(self, guid: int) -> list[tuple[int, int, int, int, str]]:
        """Port, far GUID, far port, width and speed of each cable of a node, by port."""
        found = [(a[1], *b, width, speed) for a, b, width, speed in self.cables if a[0] == guid]
        found += [(b[1], *a, width, speed) for a, b, width, speed in self.cables if b[0] == guid]
        return sorted(found)

    def port_guid(self, guid: int, port: int) -> int:
        return guid if self.node(guid).kind == "S" else guid + port


def plan_fat_tree(
    leaves: int, spines: int, hosts: int, trunk: int = 1, adapters: int = 1, rate: tuple[int, str] = (4, "EDR")
) -> Plan:
    """``hosts`` on each leaf with ``adapters`` each, ``trunk`` cables from each leaf to each spine."""
    plan = Plan()
    down = hosts * adapters
    for number in range(spines):
        plan.nodes.append(Planned("S", 0xE0000 + number, f"MF0;spine{number + 1}:MQM8700/U1", leaves * trunk))
    for leaf in range(leaves):
        plan.nodes.append(Planned("S", 0xA0000 + leaf, f"MF0;leaf{leaf + 1}:MQM8700/U1", down + spines * trunk))
    for leaf, host, adapter in itertools.product(range(leaves), range(hosts), range(adapters)):
        guid = 0x10000 + (leaf * hosts + host) * 0x100 + adapter * 0x10
        plan.nodes.append(Planned("H", guid, f"n{leaf * hosts + host + 1:02} mlx5_{adapter}", 1))
        plan.cables.append(((guid, 1), (0xA0000 + leaf, host * adapters + adapter + 1), *rate))
    for leaf, spine, cable in itertools.product(range(leaves), range(spines), range(trunk)):
        near, far = (0xA0000 + leaf, down + spine * trunk + cable + 1), (0xE0000 + spine, leaf * trunk + cable + 1)
        plan.cables.append((near, far, *rate))
    return plan


def write_blocks(plan: Plan, *, full: bool = False) -> str:
    """``ibnetdiscover``, with ``full`` as ``-f`` prints it: switches first."""
    words = {"S": ("Switch", "switchguid"), "H": ("Ca", "caguid"), "R": ("Rt", "rtguid")}
    text = HEAD.format(plan.nodes[-1].guid)
    for node in sorted(plan.nodes, key=lambda node: "SHR".index(node.kind)):
        word, key = words[node.kind]
        text += f"\nvendid=0x2c9\ndevid=0x{'d2f0' if node.kind == 'S' else '1017'}\nsysimgguid=0x{node.guid:x}\n"
        text += f"{key}=0x{node.guid:x}" + (f"({node.guid:x})" if node.kind == "S" else "") + "\n"
        text += f'{word}\t{node.ports} "{node.kind}-{node.guid:016x}"\t\t# "{node.name}"'
        text += f" enhanced port 0 lid {plan.lid(node.guid)} lmc 0\n" if node.kind == "S" else "\n"
        for port, far, far_port, width, speed in plan.ends(node.guid):
            other = plan.node(far)
            own = "" if node.kind == "S" else f"({plan.port_guid(node.guid, port):x}) "
            beyond = "" if other.kind == "S" else f"({plan.port_guid(far, far_port):x}) "
            text += f'[{port}]{own}\t"{other.kind}-{far:016x}"[{far_port}]{beyond}\t\t# '
            text += f"lid {plan.lid(node.guid)} lmc 0 " if node.kind != "S" else ""
            text += f'"{other.name}" lid {plan.lid(far)} {width}x{speed}' + (" s=4 w=2 v=4" if full else "") + "\n"
    return text


def write_port_list(plan: Plan) -> str:
    """``ibnetdiscover -p``."""
    words = {"S": "SW", "H": "CA", "R": "RT"}
    text = ""
    for node in plan.nodes:
        ends = {end[0]: end for end in plan.ends(node.guid)}
        for port in range(node.ports, 0, -1):
            head = f"{words[node.kind]} {plan.lid(node.guid):5} {port:2} 0x{plan.port_guid(node.guid, port):016x}"
            if port not in ends:
                text += f"{head} 4x SDR{'':36}'{node.name}'\n"
                continue
            _, far, far_port, width, speed = ends[port]
            other = plan.node(far)
            text += f"{head} {width}x {speed} - {words[other.kind]} {plan.lid(far):5} {far_port:2} "
            text += f"0x{plan.port_guid(far, far_port):016x} ( '{node.name}' - '{other.name}' )\n"
    return text


def write_links(plan: Plan, *, line: bool) -> str:
    """``iblinkinfo``, with ``line`` as ``-l`` prints it."""
    text = ""
    for node in plan.nodes:
        ends = {end[0]: end for end in plan.ends(node.guid)}
        if not line:
            text += f"Switch: 0x{node.guid:016x} {node.name}:\n" if node.kind == "S" else f"CA: {node.name}:\n"
        for port in range(1, node.ports + 1):
            own = f"0x{plan.port_guid(node.guid, port):016x} "
            text += f'{own}"{node.name:>30}" ' if line else "      " + (own if node.kind != "S" else "")
            text += f"{plan.lid(node.guid):6} {port:4}[  ] =="
            if port not in ends:
                text += '(                Down/ Polling)==>             [  ] "" ( )\n'
                continue
            _, far, far_port, width, speed = ends[port]
            told = f"{GBPS[speed]} Gbps{' (FDR10)' if speed == 'FDR10' else ''}"
            text += f"({width:2}X {told:>18} Active/  LinkUp)==>  "
            text += f"0x{plan.port_guid(far, far_port):016x} " if line else ""
            text += f'{plan.lid(far):6} {far_port:4}[  ] "{plan.node(far).name}" ( )\n'
    return text


def write_link_list(plan: Plan) -> str:
    """``opensm-subnet.lst``."""
    words = {"S": "SW", "H": "CA", "R": "RT"}

    def one(guid: int, port: int) -> str:
        node = plan.node(guid)
        return (
            f"{{ {words[node.kind]} Ports:{node.ports:02X} SystemGUID:{guid:016x} NodeGUID:{guid:016x} "
            f"PortGUID:{plan.port_guid(guid, port):016x} VenID:000002C9 DevID:D2F0 Rev:000000A0 {{{node.name}}} "
            f"LID:{plan.lid(guid):04X} PN:{port:02X} }}"
        )

    text = ""
    for node in plan.nodes:
        for port, far, far_port, width, speed in plan.ends(node.guid):
            told = "FDR10" if speed == "FDR10" else GBPS[speed].removesuffix(".0").split(".")[0]
            told = {"SDR": "2.5", "HDR": "50", "NDR": "100", "XDR": "200"}.get(speed, told)
            text += f"{one(node.guid, port)} {one(far, far_port)} PHY={width}x LOG=ACT SPD={told}\n"
    return text


def write_tables(plan: Plan, firmware: dict[int, str] | None = None, *, links: bool = True, counters: str = "") -> str:
    """``ibdiagnet2.db_csv``."""
    kinds = {"H": 1, "S": 2, "R": 3}
    text = "# ibdiagnet2\nSTART_NODES\nNodeDesc,NumPorts,NodeType,ClassVersion,BaseVersion,SystemImageGUID,NodeGUID,PortGUID\n"
    for node in plan.nodes:
        guid = f"0x{node.guid:016x}"
        text += f'"{node.name}",{node.ports},{kinds[node.kind]},1,1,{guid},{guid},{guid}\n'
    text += "END_NODES\n\n\nSTART_PORTS\nNodeGuid,PortGuid,PortNum,LID,VLCap,LinkWidthActv,LinkSpeedActv,PortState\n"
    for node in plan.nodes:
        for port, _, _, width, speed in plan.ends(node.guid):
            guid = f"0x{plan.port_guid(node.guid, port):016x}"
            text += (
                f"0x{node.guid:016x},{guid},{port},{plan.lid(node.guid)},4,{WIDTH_BITS[width]},{SPEED_BITS[speed]},4\n"
            )
    text += "END_PORTS\n\n\nSTART_NODES_INFO\nNodeGUID,FWInfo_PSID,FWInfo_Extended_Major,FWInfo_Extended_Minor,FWInfo_Extended_SubMinor\n"
    for number, version in (firmware or {}).items():
        parts = ",".join(hex(int(part)) for part in version.split("."))
        text += f"0x{number:016x},MT_0000000000,{parts}\n"
    text += "END_NODES_INFO\n\n\n"
    if links:
        text += "START_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n"
        for a, b, _, _ in plan.cables:
            text += f"0x{a[0]:016x},{a[1]},0x{b[0]:016x},{b[1]}\n"
        text += "END_LINKS\n\n\n"
    return text + counters


def write_net_dump(plan: Plan) -> str:
    """``ibdiagnet2.net_dump``: switches only."""
    text = ""
    for node in plan.nodes:
        if node.kind != "S":
            continue
        text += f'\n"{node.name}", Mellanox, 0x{node.guid:016x}, LID {plan.lid(node.guid)}\n'
        text += " #  : IB# : Sta : PhysSta : MTU : LWA : LSA : FEC mode : Retran : Neighbor Guid : N# : NLID : Neighbor Description\n"
        ends = {end[0]: end for end in plan.ends(node.guid)}
        for port in range(1, node.ports + 1):
            if port not in ends:
                text += f"{port} : {port} : DOWN : POLLING : N/A : N/A : N/A : N/A : N/A : N/A : N/A : N/A : \n"
                continue
            _, far, far_port, width, speed = ends[port]
            told = {"SDR": "2.5", "DDR": "5", "QDR": "10", "FDR": "14", "EDR": "25", "HDR": "50", "NDR": "100",
                    "XDR": "200", "FDR10": "FDR10"}[speed]  # fmt: skip
            text += f"{port} : {port} : ACT : LINK UP : 5 : {width}x : {told} : NO-FEC : NO-RTR : 0x{far:016x} : "
            text += f'{far_port} : {plan.lid(far)} : "{plan.node(far).name}"\n'
    return text


WRITERS = {
    "ibnetdiscover": write_blocks,
    "ibnetdiscover -f": lambda plan: write_blocks(plan, full=True),
    "ibnetdiscover -p": write_port_list,
    "iblinkinfo": lambda plan: write_links(plan, line=False),
    "iblinkinfo -l": lambda plan: write_links(plan, line=True),
    "subnet.lst": write_link_list,
    "ibdiagnet2.db_csv": write_tables,
    "ibdiagnet2.net_dump": write_net_dump,
}
"""Name of an output to what writes it."""
