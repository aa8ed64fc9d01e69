"""An imported source as a file of our own: comments beside what was inferred, the same fabric."""

import pytest

from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.writing.topology_file import write
from tests.topology.importers.sources import FORMATS, described


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
