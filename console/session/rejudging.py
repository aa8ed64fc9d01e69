"""A stored session judged again: with the criteria that the program has now, or with those of another file."""

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from benchconsole.console.session.judged_rounds import JudgedRounds
from benchconsole.console.session.metadata import name_judgement, replace_criteria
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric

if TYPE_CHECKING:
    from benchconsole.probes.api import Probe
    from benchconsole.store.store import Store


async def judge_again(
    store: "Store",
    key: str,
    probes: Mapping[str, "Probe"],
    criteria_from: Fabric | None = None,
    *,
    clock: Callable[[], float] = time.time,
) -> None:
    """Judge every stored round of a session again; ``criteria_from`` replaces the criteria of its own file.

    Touches no node. The new verdicts are stored beside the old ones and count from now on.
    """
    new = store.session(key).describe().new
    described = load_text(new.topology, new.topology_path)
    fabric = described if criteria_from is None else replace_criteria(described, criteria_from)
    judged = JudgedRounds(fabric, probes)
    verdicts = {}
    for stored in store.session(key).read_rounds(described):
        again = judged.judge(stored)
        verdicts[stored.round.number, stored.attempt] = again.verdicts
        judged.restore(again)
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(clock()))
    judged_by = f"{name_judgement(fabric)}, again {stamp}"
    await store.session(key).append_verdicts(verdicts, judged_by=judged_by, findings=judged.findings)
