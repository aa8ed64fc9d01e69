"""Writes a topology file to start from."""

from pathlib import Path

import click

from console.exits import BadInput

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


@click.command("init")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), default="cluster.yaml")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
def command(file: Path, force: bool) -> None:
    """Write a commented topology to FILE (default cluster.yaml), to be edited by hand."""
    if file.exists() and not force:
        raise BadInput(f"benchconsole: {file} exists already, expected a new name (or --force)")
    fabric = "".join(letter if letter.isalnum() else "-" for letter in file.stem) or "cluster"
    try:
        file.write_text(TEMPLATE.format(name=file, fabric=fabric), encoding="utf-8")
    except OSError as error:
        raise BadInput(f"benchconsole: {file} cannot be written: {error.strerror}") from None
    click.echo(f"wrote {file}; edit it, then: benchconsole check {file}")
