"""The terminal's side of ``init --from ssh``: who did not answer, the fabric shown before it is saved, and consent."""

import asyncio
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from benchconsole.console.cli import common
from benchconsole.console.exits import complain
from benchconsole.console.session.asked_topology import AskedNodes, ToldTopology
from benchconsole.console.session.topology_asking import ask_for_topology
from benchconsole.console.text.name_sets import fold_names
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.units import counted as count


def ask_nodes(nodes: AskedNodes, name: str) -> ToldTopology:
    """Ask the nodes of the fabric ``name``; those that do not answer are told on standard error."""
    alone = nodes.describe(name)
    complain(f"asking {count(len(alone.nodes), 'node')} over SSH")
    answers = asyncio.run(ask_for_topology(common.make_asking_reach(alone, "init"), alone, sudo=nodes.sudo))
    told = ToldTopology(nodes, answers)
    for reason, those in told.unasked:
        complain(f"not asked: {fold_names(those)}: {reason}")
    complain(f"{len(answers.asked):,} of {count(len(alone.nodes), 'node')} answered")
    return told


def show_fabric(fabric: Fabric) -> Iterator[str]:
    """The verdict of ``check`` on a fabric, for the terminal: its counts, ratio and findings."""
    from benchconsole.console.static_report.check_page import format_brief
    from benchconsole.topology.analysis.static_analysis import make_static_report

    width = shutil.get_terminal_size((80, 24)).columns
    yield from format_brief(fabric, make_static_report(fabric), width, ascii_only=not common.can_show_unicode())


def agree_to_write(file: Path) -> bool:
    """Whether whoever sits at the terminal agrees; without a terminal nobody is asked."""
    return not sys.stdin.isatty() or asyncio.run(common.ask_consent(f"write {file}?", "nothing was written"))
