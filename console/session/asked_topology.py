"""The steps of ``init --from ssh``, for the command and for the screen: which nodes are asked, and what they told.

Nothing is written here; ``topology_writing`` does that when somebody has agreed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchconsole.console.exits import BadInput
from benchconsole.console.session.loop_thread import LoopThread
from benchconsole.console.session.node_access import PasswordPrompt
from benchconsole.console.session.topology_asking import TopologyAnswers, ask_for_topology
from benchconsole.console.session.topology_writing import format_topology, name_fabric, read_link_speed
from benchconsole.console.text.name_sets import group_alike
from benchconsole.console.text.typed_path import read_typed_path
from benchconsole.topology.description.document import Imported, read_text, source_text
from benchconsole.topology.description.resolve import load_text, resolve
from benchconsole.topology.importers import import_text
from benchconsole.topology.importers.asked_nodes import describe_fabric
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.selection import expand
from benchconsole.topology.writing.yaml_text import format_flow

if TYPE_CHECKING:
    from benchconsole.console.session.node_access import MakeReach

OWN_CONFIG = Path("~/.ssh/config")
_SWITCHES = {"": False, "no": False, "yes": True}


@dataclass(frozen=True, slots=True)
class AskedNodes:
    """Which nodes are asked, and how: node sets, all hosts of the ssh_config, another ssh_config than the user's.

    ``speed`` is that of links whose nodes tell of none.
    """

    sets: Sequence[str]
    all_hosts: bool = False
    config: Path | None = None
    sudo: bool = False
    speed: str | None = None

    def list_names(self) -> list[str]:
        """The names, each once. SelectionError for no node set, TopologyError for an ssh_config that cannot be read."""
        named = [name for text in self.sets for name in expand(text)]
        if self.all_hosts:
            path = (self.config or OWN_CONFIG).expanduser()
            data = import_text("ssh-config", source_text(path), str(path)).document.data
            named += data["nodes"] if isinstance(data, dict) else ()
        return list(dict.fromkeys(named))

    @property
    def config_path(self) -> str:
        """The whole path of the other ssh_config; empty for the user's own."""
        return "" if self.config is None else str(self.config.absolute())

    def describe(self, name: str) -> Fabric:
        """The nodes as a fabric ``name`` without a cable, to be asked; BadInput for an ssh_config that is not there.

        Raises what ``list_names`` raises.
        """
        names = self.list_names()
        if self.config is not None and not self.config.is_file():
            raise BadInput(f"benchconsole: --ssh-config {self.config}, expected a file")
        access = {"ssh": {"config": self.config_path}} if self.config_path else {}
        text = format_flow({"schema": 1, "fabric": name, "nodes": {each: {} for each in names}, **access})
        return resolve(read_text(text, "--from ssh"), Path("--from ssh"))


def read_fields(fields: Mapping[str, str]) -> AskedNodes:
    """The nodes to ask, by the typed words of the command: ``nodes``, ``link-speed``, ``all-hosts`` and so on.

    BadInput, SelectionError or TopologyError with the sentence of the command.
    """
    typed = {name: text.strip() for name, text in fields.items()}
    chosen = {name: _SWITCHES.get(typed[name]) for name in ("all-hosts", "sudo")}
    for name, value in chosen.items():
        if value is None:
            raise BadInput(f"benchconsole: --{name}: {typed[name]!r}, expected yes or no")
    config = read_typed_path(typed["ssh-config"]) if typed["ssh-config"] else None
    speed = read_link_speed(typed["link-speed"] or None)
    nodes = AskedNodes(typed["nodes"].split(), bool(chosen["all-hosts"]), config, bool(chosen["sudo"]), speed)
    if not nodes.sets and not nodes.all_hosts:
        raise BadInput("benchconsole: no node, expected node names such as n[01-16], or yes at all-hosts")
    nodes.describe("asked")
    return nodes


@dataclass(frozen=True, slots=True)
class TopologyDraft:
    """A topology that is not written yet: its text for ``file``, and the same as a fabric.

    ``gaps`` are sentences on what could not be found out, ``unaddressed`` those of them on data addresses.
    """

    file: Path
    text: str
    fabric: Fabric
    imported: Imported
    gaps: tuple[str, ...]
    unaddressed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToldTopology:
    """The answers of the nodes. ``unasked`` are those that gave none, in groups, with the reason of each group."""

    nodes: AskedNodes
    answers: TopologyAnswers

    @property
    def unasked(self) -> list[tuple[str, list[str]]]:
        """Reasons of those that gave no answer, each with its nodes."""
        return group_alike(self.answers.unasked.items())

    def draft(self, file: Path) -> TopologyDraft | None:
        """The topology for ``file``; None where no node answered.

        TopologyError where what they tell contradicts itself.
        """
        if not self.answers.asked:
            return None
        unasked = {node: reason for reason, those in self.unasked for node in those}
        told = describe_fabric(name_fabric(file), self.answers.asked, unasked, self.nodes.speed, self.nodes.config_path)
        fabric = resolve(told.imported.document, file)
        text = format_topology(told.imported, fabric, "its nodes (ssh)", file, sudo=self.nodes.sudo)
        load_text(text, file)  # before it is shown: a file that cannot be read again helps nobody
        return TopologyDraft(file, text, fabric, told.imported, told.gaps, told.unaddressed)


class TopologyAsking:
    """Asks nodes in a thread of its own, for a screen whose loop must not wait for SSH."""

    def __init__(self, make_reach: "MakeReach | None" = None) -> None:
        self.passwords = PasswordPrompt()
        self._make_reach = make_reach or self.passwords.reach
        self._thread = LoopThread()

    async def ask(self, nodes: AskedNodes, hear: Callable[[str, str], None]) -> ToldTopology:
        """Ask; ``hear`` is told of each node in the thread, with the reason where it gave no answer.

        Who stops waiting stops the questions.
        """
        alone = nodes.describe("asked")
        reach = self._make_reach(alone, "init")
        answers = await self._thread.ask(lambda: ask_for_topology(reach, alone, sudo=nodes.sudo, hear=hear))
        return ToldTopology(nodes, answers)

    def close(self) -> None:
        """End what still asks."""
        self._thread.close()
