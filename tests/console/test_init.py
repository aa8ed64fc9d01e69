"""Starting a topology file: the commented example, and what other tools know of the machine."""

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from benchconsole import topology
from benchconsole.console.cli import main
from benchconsole.console.cli.init import command
from benchconsole.console.exits import BadInput, Exit
from benchconsole.console.session.checklist_file import read_checklist_file
from benchconsole.console.session.topology_writing import SCHEMA_COPY
from benchconsole.topology import importers
from tests.topology.importers.sources import CLAB, CONF, CYJS, FORMATS, INI, INVENTORY, LLDP, SSH, TREE, heard, told

SOURCES = {
    "containerlab": [("lab.clab.yml", CLAB)],
    "slurm": [("topology.conf", CONF)],
    "slurm-yaml": [("topology.yaml", TREE)],
    "lldp": [("n1.json", LLDP), ("n2.json", told(heard("eth0", "leaf1", "Eth2")))],
    "netbox": [("site.cyjs", CYJS)],
    "ssh-config": [("config", SSH)],
    "ansible": [("hosts", INI)],
    "ansible-yaml": [("hosts.yml", INVENTORY)],
}
UNCOUNTED = "how many cables lead from one switch to another is not in the source"
EVERY = pytest.mark.parametrize("name", SOURCES)


class Run:
    """One run of the command: its exit code and what it said."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str | Path
    ) -> None:
        monkeypatch.setattr("sys.argv", ["benchconsole", "init", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        self.code, self.out, self.err = int(ended.value.code or 0), said.out, said.err


Init = Callable[..., Run]


@pytest.fixture
def init(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Init:
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: Run(monkeypatch, capsys, *arguments)


def written(name: str, folder: Path) -> list[Path]:
    """The files of a source."""
    found = []
    for file, text in SOURCES[name]:
        (folder / file).write_text(text)
        found.append(folder / file)
    return found


def schema_of(path: Path) -> Path:
    """The schema that the first line leads an editor to."""
    first = path.read_text().splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema=")
    address = first.partition("$schema=")[2]
    return Path(url2pathname(urlparse(address).path)) if address.startswith("file:") else path.parent / address


def test_the_example_tells_editors_where_its_schema_is_and_fits_it(init: Init, tmp_path: Path) -> None:
    run = init("my.yaml")
    assert (run.code, run.out) == (Exit.PASSED, "wrote my.yaml; edit it, then: benchconsole check my.yaml\n")
    schema = json.loads(schema_of(tmp_path / "my.yaml").read_text())
    jsonschema.validate(yaml.safe_load((tmp_path / "my.yaml").read_text()), schema)
    assert topology.load(tmp_path / "my.yaml").name == "my"


@EVERY
def test_every_format_gives_a_file_that_loads_and_fits_the_schema(init: Init, tmp_path: Path, name: str) -> None:
    sources = written(name, tmp_path)
    run = init("my.yaml", "--from", name.removesuffix("-yaml"), *sources, "--link-speed", "25G")
    assert run.code == Exit.PASSED, run.err
    assert run.out.startswith(f"wrote my.yaml from {name.removesuffix('-yaml')}: ")
    path = tmp_path / "my.yaml"
    schema = json.loads(schema_of(path).read_text())
    data = yaml.safe_load(path.read_text().replace('"265":', "'265':"))
    jsonschema.validate(data, schema)
    fabric = topology.load(path)
    assert fabric.nodes
    assert fabric.suites["default"].stages[0].probe == "inventory"
    assert {link.speed for link in fabric.links.values()} <= {25e9 / 8, 10e9 / 8}


@EVERY
def test_the_format_is_found_out(init: Init, tmp_path: Path, name: str) -> None:
    run = init("my.yaml", "--from", "auto", *written(name, tmp_path), "--link-speed", "25 Gb/s")
    assert (run.code, run.err) == (Exit.PASSED, "")
    assert f"from {name.removesuffix('-yaml')}: " in run.out


def test_a_directory_is_taken_for_lldp(init: Init, tmp_path: Path) -> None:
    (tmp_path / "lldp").mkdir()
    (tmp_path / "lldp" / "n1.json").write_text(LLDP)
    assert init("my.yaml", "--from", "auto", "lldp").code == Exit.PASSED
    assert topology.load(tmp_path / "my.yaml").name == "lldp"


def test_it_tells_what_was_inferred_and_what_is_missing(init: Init, tmp_path: Path) -> None:
    run = init("my.yaml", "--from", "slurm", *written("slurm", tmp_path), "--link-speed", "25 Gb/s")
    first, *middle, speeds, last = run.out.splitlines()
    assert first == "wrote my.yaml from slurm: 12 nodes, 3 switches, 14 links"
    assert middle == [
        "  inferred: role inferred from its name: leaf[1,12],spine1",
        "  inferred: speed as given (14 times in links)",
        "  note: LinkSpeed is left out: its unit is arbitrary, so it is no speed",
        f"  note: {UNCOUNTED}: written as count: unknown for leaf[1,12] to spine1",
    ]
    assert speeds.startswith("  note: the source has no speed for n[1-4,9] to leaf1; n[10-16] to leaf12; leaf[1,12]")
    assert last == "edit it, then: benchconsole check my.yaml"
    text = (tmp_path / "my.yaml").read_text()
    assert "role inferred from its name" in text
    assert "25 Gb/s was given for them" in text


def test_without_a_speed_nothing_is_written_and_the_places_are_those_of_the_source(init: Init, tmp_path: Path) -> None:
    (source,) = written("containerlab", tmp_path)
    run = init("my.yaml", "--from", "containerlab", "lab.clab.yml")
    assert run.code == Exit.BAD_INPUT
    assert run.err.startswith("lab.clab.yml:18:7: no speed for n1 to leaf1; n16 to leaf12; leaf[1,12] to spine1")
    assert '--link-speed "25 Gb/s"' in run.err
    assert not (tmp_path / "my.yaml").exists()
    assert source.read_text() == CLAB


def test_the_schema_is_copied_beside_the_file_when_it_is_asked_for(init: Init, tmp_path: Path) -> None:
    (tmp_path / "site a").mkdir()
    assert init("site a/my.yaml", "--schema").code == Exit.PASSED
    copy = tmp_path / "site a" / SCHEMA_COPY
    assert schema_of(tmp_path / "site a" / "my.yaml") == copy
    assert json.loads(copy.read_text())["title"] == "A machine for benchconsole"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["my.yaml", "hosts"], "hosts without --from, expected --from and one of lldp, containerlab"),
        (["my.yaml", "--from", "slurm"], "no source, expected: benchconsole init FILE --from slurm SOURCE"),
        (
            ["--from", "lldp", "n1.json", "n2.json"],
            "n1.json as the file to be written, expected a name that ends in .yaml",
        ),
        (["--from", "lldp", "n1.json", "n2.json", "--force"], "n1.json as the file to be written"),
        (["hosts.yml", "--from", "ansible", "hosts.yml", "--force"], "hosts.yml is a source itself"),
        (["hosts.yml", "--from", "ansible", "hosts"], "hosts.yml exists already, expected a new name (or --force)"),
        (["my.yaml", "--from", "ansible", "hosts", "hosts.yml"], "2 sources, expected one for ansible"),
        (["my.yaml", "--from", "auto", "README"], "README looks like none of lldp, containerlab"),
        (["my.yaml", "--from", "slurm", "absent"], "absent:1:1: a file that cannot be read"),
        (["my.yaml", "--from", "slurm", "topology.conf", "--link-speed", "10"], "did you mean 10 Gb/s?"),
        (["my.yaml", "--from", "slrum", "topology.conf"], "'slrum' is not one of 'auto', 'lldp'"),
        (["none/my.yaml", "--from", "ansible", "hosts"], "none/my.yaml cannot be written: No such file or directory"),
        (["none/my.yaml", "--schema"], "none/my.yaml cannot be written"),
    ],
)
def test_misuse_ends_with_2_one_message_and_no_file(
    init: Init, tmp_path: Path, arguments: list[str], said: str
) -> None:
    for name in SOURCES:
        written(name, tmp_path)
    (tmp_path / "README").write_text("words\n")
    before = {path: path.read_text() for path in tmp_path.iterdir() if path.is_file()}
    run = init(*arguments)
    assert (run.code, run.out) == (Exit.BAD_INPUT, "")
    assert said in run.err
    assert {path: path.read_text() for path in tmp_path.iterdir() if path.is_file()} == before


def test_a_file_that_cannot_be_read_again_is_not_written(
    init: Init, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchconsole.console.session.topology_writing.write", lambda *_: "schema: 1\nfabric: [x\n")
    run = init("my.yaml", "--from", "slurm", *written("slurm", tmp_path), "--link-speed", "25 Gb/s")
    assert run.code == Exit.BAD_INPUT
    assert {path.name for path in tmp_path.iterdir()} == {"topology.conf"}


def test_a_source_of_switches_only_gives_a_file_that_check_reads(init: Init, tmp_path: Path) -> None:
    (tmp_path / "lab.clab.yml").write_text(
        CLAB.replace("kind: linux", "kind: crpd").replace("role: storage", "role: leaf")
    )
    run = init("my.yaml", "--from", "auto", "lab.clab.yml", "--link-speed", "25 Gb/s")
    assert (run.code, run.err) == (Exit.PASSED, "")
    assert "0 nodes, 5 switches, 4 links" in run.out
    assert "the label benchconsole.role: compute makes a node of a device" in run.out
    text = (tmp_path / "my.yaml").read_text()
    assert "nodes: {}" in text
    assert not topology.load(tmp_path / "my.yaml").nodes


def test_what_a_source_says_reaches_the_terminal_made_safe(init: Init, tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text('all:\n  hosts:\n    n1: {ansible_host: "\\e[31mred"}\n')
    run = init("my.yaml", "--from", "ansible", "hosts")
    assert run.code == Exit.PASSED
    assert "\x1b" not in run.out
    assert "\x1b" not in (tmp_path / "my.yaml").read_text()


def test_help_names_every_format() -> None:
    said = CliRunner().invoke(command, ["--help"]).output
    assert all(name in said for name in importers.FORMATS)
    assert {name.removesuffix("-yaml") for name in FORMATS} == set(importers.FORMATS)


def test_a_published_machine_is_written_and_can_be_loaded(tmp_path: Path) -> None:
    path = tmp_path / "j.yaml"
    result = CliRunner().invoke(command, [str(path), "--example", "jetstream"])
    assert result.exit_code == 0, result.output
    assert path.read_text().startswith("# yaml-language-server: $schema=file:")
    assert sum(link.count for link in topology.load(path).links.values()) == 801
    again = CliRunner().invoke(command, [str(path), "--example", "sc11"])
    assert isinstance(again.exception, BadInput)


@pytest.mark.parametrize("example", [None, "jetstream", "llnl"])
def test_a_checklist_stands_beside_the_file_that_it_names(init: Init, tmp_path: Path, example: str | None) -> None:
    arguments = [] if example is None else ["--example", example]
    run = init("my.yaml", "--checklist", *arguments)
    assert (run.code, "wrote my-checklist.yaml" in run.out) == (Exit.PASSED, True)
    found = read_checklist_file(tmp_path / "my-checklist.yaml")
    assert found.checklist.name == ("jetstream" if example == "jetstream" else "my")
    assert found.topology == tmp_path / "my.yaml"
    assert len(found.checklist.steps) > 5
    topology.load(tmp_path / "my.yaml")


def test_a_checklist_that_is_there_is_not_overwritten(init: Init, tmp_path: Path) -> None:
    (tmp_path / "my-checklist.yaml").write_text("mine")
    run = init("my.yaml", "--checklist")
    assert (run.code, "my-checklist.yaml exists already" in run.err) == (Exit.BAD_INPUT, True)
    assert (tmp_path / "my-checklist.yaml").read_text() == "mine"
    assert not (tmp_path / "my.yaml").exists()
    assert init("my.yaml", "--checklist", "--force").code == Exit.PASSED
    assert (tmp_path / "my-checklist.yaml").read_text() != "mine"
