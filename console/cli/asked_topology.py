"""The steps of ``init --from ssh``: which nodes are asked, what they told, and the fabric shown before it is saved."""

import asyncio
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchconsole.console.cli import common
from benchconsole.console.exits import BadInput, complain
from benchconsole.console.text.name_sets import fold_names, group_alike
from benchconsole.topology.description.document import read_text, source_text
from benchconsole.topology.description.resolve import resolve
from benchconsole.topology.importers import import_text
from benchconsole.topology.importers.asked_nodes import AskedFabric, describe_fabric
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.selection import expand
from benchconsole.topology.units import counted as count
from benchconsole.topology.writing.yaml_text import format_flow

OWN_CONFIG = Path("~/.ssh/config")


@dataclass(frozen=True, slots=True)
class AskedNodes:
    """Which nodes are asked, and how: node sets, all hosts of the ssh_config, another ssh_config than the user's."""

    sets: Sequence[str]
    all_hosts: bool = False
    config: Path | None = None
    sudo: bool = False

    def list_names(self) -> list[str]:
        """The names, each once. SelectionError for no node set, TopologyError for an ssh_config that cannot be read."""
        named = [name for text in self.sets for name in expand(text)]
        if self.all_hosts:
            path = (self.config or OWN_CONFIG).expanduser()
            data = import_text("ssh-config", source_text(path), str(path)).document.data
            named += data["nodes"] if isinstance(data, dict) else ()
        return list(dict.fromkeys(named))


def ask_nodes(nodes: AskedNodes, name: str, speed: str | None) -> AskedFabric | None:
    """The fabric ``name`` as its nodes tell it; None where none of them answered.

    The nodes that did not are told on standard error. TopologyError where what they tell contradicts itself.
    """
    from benchconsole.console.session.topology_asking import ask_for_topology

    names = nodes.list_names()
    if nodes.config is not None and not nodes.config.is_file():
        raise BadInput(f"benchconsole: --ssh-config {nodes.config}, expected a file")
    config = "" if nodes.config is None else str(nodes.config.absolute())
    entries = {"nodes": {each: {} for each in names}, **({"ssh": {"config": config}} if config else {})}
    text = format_flow({"schema": 1, "fabric": name, **entries})
    alone = resolve(read_text(text, "--from ssh"), Path("--from ssh"))
    complain(f"asking {count(len(names), 'node')} over SSH")
    answers = asyncio.run(ask_for_topology(common.make_asking_reach(alone, "init"), alone, sudo=nodes.sudo))
    unasked: dict[str, str] = {}
    for reason, those in group_alike(answers.unasked.items()):
        complain(f"not asked: {fold_names(those)}: {reason}")
        unasked.update(dict.fromkeys(those, reason))
    complain(f"{len(answers.asked):,} of {count(len(names), 'node')} answered")
    return describe_fabric(name, answers.asked, unasked, speed, config) if answers.asked else None


def show_fabric(fabric: Fabric) -> Iterator[str]:
    """The verdict of ``check`` on a fabric, for the terminal: its counts, ratio and findings."""
    from benchconsole.console.static_report.check_page import format_brief
    from benchconsole.topology.analysis.static_analysis import make_static_report

    width = shutil.get_terminal_size((80, 24)).columns
    yield from format_brief(fabric, make_static_report(fabric), width, ascii_only=not common.can_show_unicode())


def agree_to_write(file: Path) -> bool:
    """Whether whoever sits at the terminal agrees; without a terminal nobody is asked."""
    return not sys.stdin.isatty() or asyncio.run(common.ask_consent(f"write {file}?", "nothing was written"))
