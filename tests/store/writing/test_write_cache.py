"""The memory of the writer knows nothing of a session that was removed elsewhere: its number is that of the next one."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from benchconsole.probes.model.measuring import Proof
from benchconsole.store.errors import UnknownSessionError
from benchconsole.store.session_store import SessionStore
from benchconsole.store.session_summary import SessionState, StoredVerdict
from benchconsole.store.store import Store
from benchconsole.topology.model.fabric import NodeId
from tests.store.played import append_round, closed, new, planned, verdicts

PLAN = [planned(1), planned(2)]


async def _run(store: Store, label: str) -> str:
    """A session that is complete after its first round."""
    key = await store.create_session(new(label), PLAN)
    await append_round(store.session(key), closed(PLAN[0]), verdicts(PLAN[0]), judged_by="j")
    await store.session(key).end(at=2.0, complete=True)
    return key


@pytest.mark.parametrize(
    "write",
    [
        lambda store, gone: gone.claim(),
        lambda store, gone: gone.append_note("kind", "text", 1.0, claimed=False),
        lambda store, gone: gone.append_proofs([Proof(NodeId("n1"), asked=True)], 1.0),
        lambda store, gone: store.append_verdict(gone.id, StoredVerdict(1, "pass", "fine", ())),
        lambda store, gone: store.change_label(gone.id, "other", "ann", 1.0),
    ],
    ids=["claim", "note", "proofs", "verdict", "label"],
)
async def test_a_write_to_a_session_that_is_gone_goes_into_no_other(
    tmp_path: Path, write: Callable[[Store, SessionStore], Awaitable[object]]
) -> None:
    path = tmp_path / "s.db"
    with Store.open(path) as store:
        gone = store.session(await _run(store, "gone"))
        with Store.open(path) as other:
            other.remove_session(gone.id)
            key = await _run(other, "next")
            before = other.session(key).describe()
        with pytest.raises(UnknownSessionError):
            await write(store, gone)
        assert store.session(key).describe() == before
        assert before.state is SessionState.COMPLETE
    with Store.open(path) as store:
        assert store.session(key).describe().state is SessionState.COMPLETE
