"""The list of sessions: newest first, the last standing remark on each, sizes only where they are cheap and final."""

from pathlib import Path

import pytest

from benchconsole.console.session.listed_sessions import (
    ListedSession,
    SessionMeasures,
    join_measures,
    list_newest_first,
    measure_sessions,
)
from benchconsole.probes.model.remark import About, Remark, RemarkKind
from benchconsole.store.session_summary import SessionState
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from tests.store.played import append_round, closed, new, planned, verdicts

SAID = Remark(RemarkKind.REMARK, About.SESSION, "", "an old kernel", "ann", 900.0, 1000.0)


async def test_the_last_remark_that_stands_on_the_session_itself_is_told(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        one, other = [await store.create_session(new(label), []) for label in ("one", "other")]
        for remark in (
            SAID,
            replace(SAID, text="a new kernel", at=950.0),
            replace(SAID, text="of a node", about=About.NODE, subject="n1", at=960.0),
            replace(SAID, text="a slip", at=970.0),
            Remark(RemarkKind.WITHDRAWAL, About.SESSION, "", "no", "ann", 980.0, 980.0, withdraws=4),
        ):
            await store.append_remark(one, remark)
        listed = list_newest_first(store)
    assert [(each.summary.id, each.remark) for each in listed] == [(other, ""), (one, "a new kernel")]


@pytest.mark.parametrize(("most", "is_told"), [(0, False), (10**9, True)])
async def test_a_file_is_read_whole_for_sizes_only_where_that_is_cheap(
    tmp_path: Path, most: int, is_told: bool
) -> None:
    with Store.open(tmp_path / "s.db") as store:
        key = await store.create_session(new(), [planned(1)])
        await append_round(store.session(key), closed(planned(1)), verdicts(planned(1)), judged_by="j")
        measures = measure_sessions(store, most)
        running = join_measures(list_newest_first(store), measures)
        await store.session(key).end(at=2000.0, complete=True)
        ended = join_measures(list_newest_first(store), measures)
    assert (measures.nodes, bool(measures.sizes)) == ({key: 8}, is_told)
    assert [(each.summary.state, each.nodes, each.size is None) for each in (*running, *ended)] == [
        (SessionState.RUNNING, 8, True), (SessionState.COMPLETE, 8, not is_told),
    ]  # fmt: skip


async def test_a_session_that_nobody_counted_has_no_number(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        await store.create_session(new(), [])
        (listed,) = join_measures(list_newest_first(store), SessionMeasures({}, {}))
    assert (listed.nodes, listed.size) == (None, None)
    assert listed == ListedSession(listed.summary)
