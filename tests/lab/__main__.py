"""The laboratory for people: `python -m tests.lab up`, and `down` when done.

Owned here: words on the terminal and exit codes.
Refused here: doing anything that `lab.py` does not offer.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from time import monotonic

from benchconsole.topology.copying import replace
from tests.lab.faults import KINDS, Fault
from tests.lab.host import LabError, LabInUseError
from tests.lab.lab import Lab
from tests.lab.site import end_leftovers
from tests.lab.spec import SPECS, in_slot
from tests.lab.state import StateDirectory, prefixes
from tests.lab.teardown import tear_down

DEFAULT_STATE = Path("build/lab")
# A fault whose fields are all words and numbers can be typed at a prompt.
TYPED = {name: kind for name, kind in KINDS.items() if all(field.type in ("str", "int") for field in fields(kind))}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it did what was asked."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.action(arguments))
    except LabError as error:
        print(f"laboratory: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.lab", description=__doc__)
    commands = parser.add_subparsers(required=True)
    up = commands.add_parser("up", help="build a laboratory that stays until `down`")
    up.add_argument("--spec", choices=sorted(SPECS), default="small")
    up.add_argument("--node-mbit", type=int, help="rate of compute nodes in Mbit/s")
    up.add_argument("--slot", type=int, default=0, help="other names, for a second one")
    up.set_defaults(action=_up)
    down = commands.add_parser("down", help="end it; nothing is left behind")
    down.set_defaults(action=_down)
    sweep = commands.add_parser("sweep", help="end every laboratory whose maker was killed")
    sweep.set_defaults(action=_sweep)
    status = commands.add_parser("status", help="what runs and what is broken")
    status.set_defaults(action=_status)
    faults = "; ".join(map(_usage, sorted(TYPED)))
    fault = commands.add_parser("fault", help="break something", description=faults)
    fault.add_argument("name", choices=sorted(TYPED))
    fault.add_argument("args", nargs="*")
    fault.set_defaults(action=_fault)
    heal = commands.add_parser("heal", help="take every fault back")
    heal.set_defaults(action=_heal)
    announce = commands.add_parser("announce", help="run lldpd on every node and switch")
    announce.set_defaults(action=_announce)
    enter = commands.add_parser("enter", help="a shell inside a node, not by SSH")
    enter.add_argument("node")
    enter.set_defaults(action=_enter)
    for command in (up, down, status, fault, heal, announce, enter):
        command.add_argument("--state", type=Path, default=DEFAULT_STATE, metavar="DIR")
    return parser


def _usage(name: str) -> str:
    return " ".join([name, *(field.name.upper() for field in fields(TYPED[name]))])


def _up(arguments: argparse.Namespace) -> int:
    spec = in_slot(SPECS[arguments.spec], arguments.slot)
    if arguments.node_mbit:
        spec = replace(spec, node_mbit=arguments.node_mbit)
    begun = monotonic()
    lab = Lab.up(spec, arguments.state, stays=True)
    print(f"{len(lab.plan.nodes)} nodes up in {monotonic() - begun:.1f} s")
    _tell_limits(lab)
    place = arguments.state
    print(f"\nnow:    benchconsole {place}/topology.yaml")
    print(f"or:     benchconsole run {place}/topology.yaml")
    print(f"login:  ssh -F {place}/ssh_config n1")
    print(f"end it: python -m tests.lab down --state {place}")
    return 0


def _tell_limits(lab: Lab) -> None:
    if not lab.disk_throttled:
        print(
            "WARNING: DISKS ARE NOT THROTTLED. This machine offers neither cgroup v1 blkio nor\n"
            "WARNING: cgroup v2 io: what fio measures here is this machine, not the laboratory."
        )
    for note in lab.notes:
        print(f"WARNING: {note}; flows may share uplinks unevenly.")


def _down(arguments: argparse.Namespace) -> int:
    directory = StateDirectory(arguments.state)
    record = directory.load()
    if record is None:
        print(f"there is no laboratory in {arguments.state}")
        return 0
    tear_down(directory, record)
    print("down; nothing is left")
    return 0


def _sweep(_: argparse.Namespace) -> int:
    for prefix in prefixes():
        try:
            end_leftovers(prefix)
        except LabInUseError as error:
            print(f"left alone: {error}")
        else:
            print(f"{prefix}: ended")
    return 0


def _status(arguments: argparse.Namespace) -> int:
    lab = Lab.attach(arguments.state)
    dead = [name for name in lab.plan.nodes if not lab.running(name)]
    print(f"laboratory in {lab.state.root}: {len(lab.plan.nodes)} nodes, {len(dead)} dead")
    for name in dead:
        print(f"  dead: {name}")
    print(f"disks throttled: {'yes' if lab.disk_throttled else 'NO'}")
    for fault in lab.active():
        print(f"  fault: {fault}")
    return 1 if dead else 0


def _fault(arguments: argparse.Namespace) -> int:
    fault = parse_fault(arguments.name, arguments.args)
    Lab.attach(arguments.state).inject(fault)
    print(f"{fault}; take it back with: python -m tests.lab heal --state {arguments.state}")
    return 0


def parse_fault(name: str, words: Sequence[str]) -> Fault:
    """A fault from typed words."""
    places = fields(TYPED[name])
    try:
        if len(words) > len(places):
            raise ValueError
        typed = zip(places, words, strict=False)
        return TYPED[name](*(int(word) if place.type == "int" else word for place, word in typed))
    except (TypeError, ValueError):
        raise LabError(f"usage: fault {_usage(name)}") from None


def _heal(arguments: argparse.Namespace) -> int:
    Lab.attach(arguments.state).heal()
    print("everything is healthy")
    return 0


def _announce(arguments: argparse.Namespace) -> int:
    Lab.attach(arguments.state).announce()
    print("every node hears its switch")
    return 0


def _enter(arguments: argparse.Namespace) -> int:
    command = Lab.attach(arguments.state).enter_argv(arguments.node, "/bin/sh")
    os.execvp(command[0], command)  # noqa: S606 - becoming the shell is the point


if __name__ == "__main__":
    sys.exit(main())
