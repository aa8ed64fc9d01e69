"""An imported source as a file of our own: comments beside what was inferred, the same fabric."""

import pytest

from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.importers import import_text
from benchconsole.topology.writing.topology_file import write
from tests.topology.importers.sources import FORMATS, described, graph, heard, told


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_written_is_the_same_fabric(name: str) -> None:
    parse, text = FORMATS[name]
    imported = parse(text)
    fabric, again = described(imported), load_text(write(imported, ["head"], "suites: {}\n"), "w")
    for part in ("nodes", "switches", "links", "vlans", "groups", "mlags", "networks", "access", "name"):
        assert getattr(again, part) == getattr(fabric, part), part


def test_comments_say_what_was_inferred_and_what_is_missing() -> None:
    parse, text = FORMATS["slurm"]
    lines = write(parse(text), ["a head", "with \x1b[31m colours"]).splitlines()
    assert lines[:4] == ["# a head", "# with ?[31m colours", "#", "# Left out, or not in the source:"]
    (spine,) = (line for line in lines if line.startswith("  spine1:"))
    assert spine.split("  # ") == ["  spine1: {role: spine}".ljust(58), "role inferred from its name"]
    assert '  - {from: "n[1-4,9]", to: leaf1, speed: 25 Gb/s}'.ljust(58) + "  # speed as given" in lines


def test_a_source_without_cables_gets_instructions() -> None:
    parse, text = FORMATS["ssh-config"]
    written = write(parse(text), [])
    assert "# links:" in written
    assert "# switches:" in written
    assert "\nlinks:" not in written


LONG = [f"{kind}{number * 7919 % 9973}-{number}x" for number in range(60) for kind in ("web", "db", "kvm")]
SOURCES = {
    "ansible": "[all]\n" + "\n".join(LONG),
    "ssh-config": "\n".join(f"Host {name}" for name in LONG),
    "slurm": "SwitchName=s Nodes=" + ",".join(LONG),
    "containerlab": "topology:\n  nodes:\n" + "".join(f"    {name}: {{kind: linux}}\n" for name in LONG),
    "netbox": graph({name: {"role": "server"} for name in LONG}, []),
    "lldp": told(*(heard(f"eth{number}", name, "Eth1") for number, name in enumerate(LONG))),
}


@pytest.mark.parametrize("name", SOURCES)
def test_many_irregular_names_are_written_so_that_they_can_be_read_again(name: str) -> None:
    text = SOURCES[name]
    parse = FORMATS["lldp"][0] if name == "lldp" else lambda each: import_text(name, each, "f", "1 Gb/s")
    imported = parse(text)
    fabric, again = described(imported), load_text(write(imported, []), "w")
    assert set(again.nodes) | set(again.switches) >= set(LONG)
    assert (again.nodes, again.switches, again.links) == (fabric.nodes, fabric.switches, fabric.links)
