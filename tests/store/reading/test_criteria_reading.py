"""The criteria that a session is judged with come back as they were given, with the newest judgement."""

from pathlib import Path

import pytest

from benchconsole.store.errors import ConflictError
from benchconsole.store.model import ChosenCriteria, SessionNote
from benchconsole.store.reading.criteria_reading import read_criteria
from benchconsole.store.store import Store
from benchconsole.topology.model.fabric import Basis, Comparator, Criterion, NodeId
from benchconsole.topology.units import Unit
from tests.store.played import FABRIC, append_round, closed, new, planned, verdicts

FULL = Criterion(
    metric="dd.throughput",
    comparator=Comparator.AT_MOST,
    required=0.8,
    unit=Unit.ONE,
    basis=Basis.PEAK,
    target=0.5,
    rounding=0.01,
    rounds_share=True,
    where=(("kind", "bare metal"), ("operation", "read")),
    nodes=frozenset((NodeId("n2"), NodeId("n1"))),
    source="4.1 <é>",
)
PLAIN = Criterion("stream.triad", Comparator.AT_LEAST, 65e9, Unit.BYTE_RATE)


@pytest.mark.parametrize("criteria", [(FULL, PLAIN), (), None])
async def test_what_was_chosen_last_counts(tmp_path: Path, criteria: tuple[Criterion, ...] | None) -> None:
    each = planned(1)
    with Store.open(tmp_path / "s.db") as store:
        session = store.session(await store.create_session(new(), [each]))
        assert read_criteria(session) is None
        await append_round(session, closed(each), verdicts(each), judged_by="j")
        first, last = ChosenCriteria((PLAIN,), "/tmp/a.yaml", 1.0), ChosenCriteria(criteria, "b.yaml", 2.0)
        notes = [SessionNote("criteria", "others", 1.0)]
        await session.append_verdicts({(1, 1): ()}, judged_by="k", chosen=first, notes=notes)
        await session.append_verdicts({(1, 1): ()}, judged_by="l", chosen=last)
        assert read_criteria(session) == last
        assert [(note.kind, note.text) for note in session.read_notes()] == [("criteria", "others")]


async def test_a_judgement_that_is_refused_chooses_nothing(tmp_path: Path) -> None:
    each = planned(1)
    with Store.open(tmp_path / "s.db") as store:
        session = store.session(await store.create_session(new(), [each]))
        await append_round(session, closed(each), verdicts(each), judged_by="j")
        chosen, notes = ChosenCriteria((PLAIN,), "a.yaml", 1.0), [SessionNote("criteria", "others", 1.0)]
        with pytest.raises(ConflictError, match="was judged by j before"):
            await session.append_verdicts({(1, 1): ()}, judged_by="j", findings=(), chosen=chosen, notes=notes)
        assert read_criteria(session) is None
        assert session.read_notes() == ()
        assert next(session.read_rounds(FABRIC)).judged_by == "j"
