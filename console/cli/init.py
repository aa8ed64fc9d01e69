"""Writes a topology file to start from: a commented example, or what another tool knows of the machine."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from benchconsole import topology
from benchconsole.console.exits import BadInput, Exit, complain
from benchconsole.console.session.topology_writing import (
    DEFAULT_FILE,
    SCHEMA_COPY,
    count_elements,
    format_topology,
    list_inferences,
    name_fabric,
    read_link_speed,
    refuse_file_name,
    write_text_file,
    write_topology,
)
from benchconsole.console.text.sanitize import sanitize
from benchconsole.topology.description.document import Imported, source_text
from benchconsole.topology.importers import FORMATS, SEVERAL, import_sources, import_text, sniff
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.selection import NAME

if TYPE_CHECKING:
    from benchconsole.console.session.asked_topology import AskedNodes

ASKED = "ssh"
"""The word after --from by which the nodes are asked themselves."""
_LOOKED_AT = 20
"""Files of a directory that are looked at for its format."""
TEMPLATE = """\
# A machine for benchconsole. Check it with: benchconsole check {name}
# Speeds of links are in bits (25 Gb/s), sizes and storage rates in bytes (64 GiB, 1.5 GB/s).
schema: 1
fabric: {fabric}

# How the nodes are reached. Without this section your own ssh_config counts.
# ssh: {{user: bench, port: 22, identity: ~/.ssh/id_ed25519}}

network: {{mtu: 9000}}                     # decides how much of a link is payload

classes:                                  # what nodes are declared to have; leave out what you do not know
  compute:
    cpu: {{sockets: 2, cores: 32}}
    memory: {{total: 256 GiB, dimms: 16}}
    nic: {{speed: 25 Gb/s, mtu: 9000}}
  storage:
    memory: {{total: 128 GiB}}
    nic: {{speed: 100 Gb/s, mtu: 9000}}

switches:
  spine[1-2]: {{role: spine}}
  leaf[1-2]: {{role: leaf}}

nodes:                                    # names are what ssh is given, unless there is an address
  n[01-16]: {{class: compute}}
  n[17-32]: {{class: compute}}
  st[1-2]: {{class: storage, role: storage}}

links:                                    # every device of "from" to every device of "to"
  - {{from: "n[01-16]", to: leaf1, speed: 25 Gb/s}}
  - {{from: "n[17-32]", to: leaf2, speed: 25 Gb/s}}
  - {{from: "leaf[1-2]", to: "spine[1-2]", speed: 100 Gb/s, count: 2}}   # a LAG of two
  - {{from: st1, to: spine1, speed: 100 Gb/s}}
  - {{from: st2, to: spine2, speed: 100 Gb/s}}

criteria:                                 # what the contract asks for; 80 % of capacity holds without it
  - {{metric: iperf3.throughput, at_least: 80 %, of: capacity}}
  - metric: fio.read
    where: {{pattern: sequential}}
    nodes: "@storage"
    at_least: 1.5 GB/s
    round: 0.1 GB/s
    source: contract 4.1

suites:
  default:
    - {{probe: inventory}}
    - {{probe: iperf3, design: neighbours, streams: 4, seconds: 5}}        # every NIC, both ways
    - {{probe: iperf3, design: trunks, streams: 8, seconds: 5}}            # every link between switches
    - {{probe: fio, nodes: "@storage", scratch: /scratch, size: 1 GiB, seconds: 5}}
"""


CHECKLIST = """\
# Steps of an acceptance beside its numbers: functions that somebody has to show, for benchconsole checklist.
# Steps without "run" are done by hand. Commands run on the machine where the console runs, without a shell.
schema: 1
checklist: {fabric}
source: the contract
topology: {name}
steps:
  - id: log-in
    text: A user with an account logs in, and sees the home directory.
  - id: batch-job
    text: A job of every node of the machine is queued, runs and ends with its output.
    run: [sh, -c, 'srun --nodes="$(sinfo -h -o %D | head -n 1)" hostname']
    timeout: 10 min
  - id: mounted
    text: The home directories are mounted; a step like this for each file system of the contract.
    run: [findmnt, --mountpoint, /home]
  - id: clocks
    text: The clock here is within 10 ms of its source, which is that of all nodes.
    run: [chronyc, waitsync, "1", "0.01"]
  - id: restored
    text: A file that was removed is restored from the backup.
  - id: monitored
    text: A node that is switched off is told by the monitoring, and to whom.
"""
_CHECKLISTS = Path(topology.__file__).parent / "examples" / "checklists"
EXAMPLES = sorted((Path(topology.__file__).parent / "examples").glob("*.yaml"))


@click.command("init")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), default=DEFAULT_FILE)
@click.argument("sources", nargs=-1, type=click.Path(path_type=Path), metavar="[SOURCE]...")
@click.option(
    "--from",
    "source_format",
    type=click.Choice(["auto", *FORMATS, ASKED]),
    default=None,
    help="Read SOURCE in this format; ssh: ask the nodes SOURCE, such as n[01-16].",
)
@click.option(
    "--example", type=click.Choice([path.stem for path in EXAMPLES]), default=None, help="A published machine instead."
)
@click.option("--link-speed", default=None, metavar="SPEED", help='Speed of links whose source has none: "25 Gb/s".')
@click.option("--ask", metavar="HOST", default=None, help="With --from ib: ask this host over SSH (ibnetdiscover).")
@click.option("--all-hosts", is_flag=True, help="With --from ssh: every host that your ssh_config names.")
@click.option(
    "--ssh-config",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    metavar="FILE",
    help="With --from ssh: this ssh_config instead of your own; the topology names it.",
)
@click.option("--sudo", is_flag=True, help="With --ask or --from ssh: as the administrator, through sudo.")
@click.option("--yes", is_flag=True, help="With --from ssh: write without asking.")
@click.option("--schema", is_flag=True, help=f"Write {SCHEMA_COPY} beside FILE, for editors on other machines.")
@click.option("--checklist", is_flag=True, help="Write NAME-checklist.yaml beside FILE: functions to be shown.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
def command(
    file: Path, sources: tuple[Path, ...], source_format: str | None, example: str | None, link_speed: str | None,
    ask: str | None, all_hosts: bool, ssh_config: Path | None, sudo: bool, yes: bool, schema: bool, checklist: bool,
    force: bool,
) -> None:  # fmt: skip
    """Write a commented topology to FILE (default cluster.yaml), to be edited by hand.

    With --from it says what SOURCE says: a file of another tool, for lldp the files of all nodes
    or their directory, for ib the files of one subnet, or what one host tells of it (--ask). Values that
    were inferred, and those that the source does not have, stand in comments. The first line tells
    editors where the schema is.

    With --from ssh the nodes are asked themselves: your ssh_config says how they are reached, their
    host keys are verified, and nothing on them is changed. They tell their LLDP neighbours, speeds,
    bonds, addresses and hardware. The fabric is shown before it is saved, and at a terminal you are
    asked. Exit codes then: 0 every node told its cables and address, 2 bad input, 3 something is missing in the
    file (comments say what), no node answered, or you said no.

    \b
      benchconsole init cluster.yaml --from containerlab lab.clab.yml
      benchconsole init cluster.yaml --from slurm /etc/slurm/topology.conf --link-speed "25 Gb/s"
      benchconsole init cluster.yaml --from lldp lldp/
      benchconsole init cluster.yaml --from ib subnet.txt node-name-map
      benchconsole init cluster.yaml --from ib --ask n01
      benchconsole init cluster.yaml --from ssh "n[01-16]" st1
    """
    from benchconsole.topology.description.resolve import load_text, resolve

    _refuse_misuse(file, sources, source_format, asked=ask is not None or all_hosts, force=force)
    if (ask or (sudo and source_format != ASKED)) and (source_format != "ib" or sources or not ask):
        raise BadInput("benchconsole: --ask and --sudo, expected: benchconsole init FILE --from ib --ask HOST")
    _refuse_asking(source_format, all_hosts or yes or ssh_config is not None)
    if checklist:
        _write_checklist(file, example, force=force)
    if example is not None:
        if source_format is not None:
            raise BadInput("benchconsole: --example and --from, expected one of them")
        write_topology(file, next(path for path in EXAMPLES if path.stem == example).read_text("utf-8"), copy=schema)
        click.echo(f"wrote {file}, a published machine; look at it with: benchconsole check {file}")
        return
    if source_format is None:
        write_topology(file, TEMPLATE.format(name=file, fabric=name_fabric(file)), copy=schema)
        click.echo(f"wrote {file}; edit it, then: benchconsole check {file}")
        return
    if source_format == ASKED:
        nodes = _choose_nodes(sources, all_hosts, ssh_config, link_speed, sudo=sudo)
        _write_asked(file, nodes, yes=yes, copy=schema, force=force)
    chosen = _find_format(sources) if source_format == "auto" else source_format
    if len(sources) > 1 and chosen not in SEVERAL:
        raise BadInput(f"benchconsole: {len(sources)} sources, expected one for {chosen}")
    speed = read_link_speed(link_speed)
    imported = _ask_host(ask, speed, sudo=sudo) if ask else import_sources(chosen, sources, speed)
    described = resolve(imported.document, file)
    more = f" and {len(sources) - 1} more" if len(sources) > 1 else ""
    source = ask or f"{sources[0]}{more}"
    text = format_topology(imported, described, f"{source} ({chosen})", file)
    load_text(text, file)  # before it is written: a file that cannot be read again helps nobody
    write_topology(file, text, copy=schema)
    click.echo("\n".join(_format_outcome(imported, described, chosen, file)))


def _choose_nodes(
    sources: tuple[Path, ...], all_hosts: bool, ssh_config: Path | None, link_speed: str | None, *, sudo: bool
) -> "AskedNodes":
    from benchconsole.console.session.asked_topology import AskedNodes

    speed = read_link_speed(link_speed)
    return AskedNodes([str(each) for each in sources], all_hosts, ssh_config, sudo, speed)


def _write_asked(file: Path, nodes: "AskedNodes", *, yes: bool, copy: bool, force: bool) -> NoReturn:
    """Ask, show, and write with consent; ends the command with its exit code."""
    from benchconsole.console.cli.asked_topology import agree_to_write, ask_nodes, show_fabric

    draft = ask_nodes(nodes, name_fabric(file)).draft(file)
    if draft is None:
        complain("no node answered: nothing was written")
        raise click.exceptions.Exit(Exit.UNTESTED)
    for gap in draft.unaddressed:
        complain(gap)
    click.echo("\n".join([*show_fabric(draft.fabric), *_format_inferences(draft.imported)]))
    if not yes and not agree_to_write(file):
        raise click.exceptions.Exit(Exit.UNTESTED)
    write_topology(file, draft.text, copy=copy, force=force)
    click.echo(f"wrote {file} from {ASKED}: {count_elements(draft.fabric)}\nedit it, then: benchconsole check {file}")
    raise click.exceptions.Exit(Exit.UNTESTED if draft.gaps else Exit.PASSED)


def _ask_host(host: str, speed: str | None, *, sudo: bool) -> Imported:
    """The subnet that ``host`` is in, as it tells; your own ssh_config says how it is reached."""
    import asyncio

    from benchconsole.console.cli import common
    from benchconsole.console.session.subnet_asking import ask_subnet
    from benchconsole.topology.description.document import read_text
    from benchconsole.topology.description.resolve import resolve

    if not NAME.fullmatch(host):
        raise BadInput(f"benchconsole: --ask {host!r}, expected the name of a host or of an entry of your ssh_config")
    alone = resolve(read_text(f"schema: 1\nfabric: subnet\nnodes:\n  {host}: {{}}\n", "--ask"), Path("--ask"))
    reach = common.make_asking_reach(alone, "init")
    text = asyncio.run(ask_subnet(reach, alone.nodes[NodeId(host)], counters=False, sudo=sudo))
    return import_text("ib", text.dump, f"{host} (ibnetdiscover)", speed)


def _refuse_misuse(
    file: Path, sources: tuple[Path, ...], source_format: str | None, *, asked: bool, force: bool
) -> None:
    if source_format is None and sources:
        raise BadInput(f"benchconsole: {sources[0]} without --from, expected --from and one of {', '.join(FORMATS)}")
    if source_format == ASKED and not sources and not asked:
        raise BadInput("benchconsole: no node, expected: benchconsole init FILE --from ssh NODES..., or --all-hosts")
    if source_format is not None and not sources and not asked:
        raise BadInput(f"benchconsole: no source, expected: benchconsole init FILE --from {source_format} SOURCE")
    if source_format is not None:
        refuse_file_name(file)
    if any(source.resolve() == file.resolve() for source in sources):
        raise BadInput(f"benchconsole: {file} is a source itself, expected another name for the topology")
    if file.exists() and not force:
        raise BadInput(f"benchconsole: {file} exists already, expected a new name (or --force)")


def _refuse_asking(source_format: str | None, is_chosen: bool) -> None:
    if is_chosen and source_format != ASKED:
        raise BadInput("benchconsole: --all-hosts, --ssh-config or --yes, expected --from ssh beside it")


def _write_checklist(file: Path, example: str | None, *, force: bool) -> None:
    """The checklist of an example, or one to start from, beside the topology ``file`` that it names."""
    path = file.with_name(f"{file.stem}-checklist.yaml")
    if path.exists() and not force:
        raise BadInput(f"benchconsole: {path} exists already, expected a new name of {file} (or --force)")
    own = _CHECKLISTS / f"{example}.yaml"
    if own.exists():
        text = re.sub(r"(?m)^topology: .*$", f"topology: {file.name}", own.read_text("utf-8"))
    else:
        text = CHECKLIST.format(fabric=name_fabric(file), name=file.name)
    write_text_file(path, text)
    click.echo(f"wrote {path}; look at it with: benchconsole checklist {path}")


def _find_format(sources: tuple[Path, ...]) -> str:
    if sources[0].is_dir():
        inside = sorted(path for path in sources[0].iterdir() if path.is_file())
        return "ib" if any(sniff(source_text(path)) == "ib" for path in inside[:_LOOKED_AT]) else "lldp"
    found = sniff(source_text(sources[0]))
    if found is None:
        raise BadInput(
            f"benchconsole: {sources[0]} looks like none of {', '.join(FORMATS)}, expected --from and one of them"
        )
    return found


def _format_outcome(imported: Imported, fabric: Fabric, chosen: str, file: Path) -> Iterator[str]:
    yield f"wrote {file} from {chosen}: {count_elements(fabric)}"
    yield from _format_inferences(imported)
    yield f"edit it, then: benchconsole check {file}"


def _format_inferences(imported: Imported) -> Iterator[str]:
    """Each kind of inference, and each remark, as a line of the terminal."""
    yield from (f"  {line}" for line in list_inferences(imported))
    yield from (f"  note: {sanitize(remark)}" for remark in imported.remarks)
