"""The baseline of a fabric: for criteria that ask for shares of what an earlier session measured."""

import math
from typing import TYPE_CHECKING

from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Basis, Fabric

if TYPE_CHECKING:
    from benchconsole.store.files.database import Database


def add_baseline(fabric: Fabric, database: "Database", session: str = "", started: float = math.inf) -> Fabric:
    """``fabric`` with the numbers that its criteria with ``of: baseline`` hold a session against, where it has such.

    ``session`` is its id (empty before it is stored), ``started`` in UTC seconds (infinite: it begins now). A baseline
    judges later sessions: not itself, and none that began before it; those keep the one that was named before.
    """
    metrics = frozenset(each.metric for each in fabric.criteria if each.basis is Basis.BASELINE)
    if not metrics:
        return fabric
    from benchconsole.console.session.baseline_numbers import read_baseline_numbers  # with judging: most files ask none

    return replace(fabric, baseline=read_baseline_numbers(fabric, database, session, started, metrics))
