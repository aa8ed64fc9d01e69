"""The fabric of a stored session, with the criteria that it is judged with now."""

from typing import TYPE_CHECKING

from benchconsole.console.session.baseline import add_baseline
from benchconsole.console.session.stored_fabric import describe_fabric
from benchconsole.store.reading.criteria_reading import read_criteria
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric

if TYPE_CHECKING:
    from benchconsole.store.session_store import SessionStore


def load_judged_fabric(session: "SessionStore", described: Fabric | None = None) -> Fabric:
    """The fabric of a stored session, with the criteria that it is judged with now.

    ``described`` is what its file describes, None where it has to be read.
    """
    new = session.describe().new
    described = describe_fabric(new) if described is None else described
    chosen = read_criteria(session)
    if chosen is not None and chosen.criteria is not None:
        described = replace(described, criteria=chosen.criteria)
    return add_baseline(described, session.database, session.id, new.started)
