"""Findings come back as they were given, in their order, as long as no round was judged since."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.model.judgement import Confidence, Finding, Level, Suspect
from benchconsole.store.errors import DamagedError
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from benchconsole.topology.units import Unit
from tests import plain_sqlite
from tests.store.played import append_round, closed, fill, new, planned, verdicts

SLOW = Finding(
    Suspect.LINK, "leaf1-spine1", "leaf1 to spine1", "0.5 GB/s of 1.2 GB/s", Level.FAIL, Confidence.LIKELY,
    ("n1", "n2"), ("1.0", "1.1"), evidence=("1.0#0",), value=0.5e9, expected=1.2e9, unit=Unit.BYTE_RATE,
)  # fmt: skip
OTHER = replace(SLOW, element="n3", where="n3 out", suspect=Suspect.NODE, value=None, unit=None)


def _stored(path: Path) -> int:
    with contextlib.closing(plain_sqlite.connect(path)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM finding").fetchone()
    return int(count)


async def test_a_set_holds_through_the_newest_judgement_and_what_is_unchanged_is_stored_once(tmp_path: Path) -> None:
    path, plan = tmp_path / "s.db", [planned(1), planned(2)]
    with Store.open(path) as store:
        session = store.session(await store.create_session(new(), plan))
        assert session.read_findings() is None
        await append_round(session, closed(plan[0]), verdicts(plan[0]), judged_by="j")
        assert session.read_findings() is None
        await session.end(at=1.0, complete=False, findings=(SLOW, OTHER))
        assert session.read_findings() == (SLOW, OTHER)

        await session.claim()
        await append_round(session, closed(plan[1]), verdicts(plan[1]), judged_by="j")
        assert session.read_findings() is None
        changed = replace(SLOW, nodes=("n1", "n2", "n3"))
        await session.end(at=2.0, complete=True, findings=(OTHER, changed))
        assert session.read_findings() == (OTHER, changed)
        assert _stored(path) == 3

        await session.append_verdicts({(1, 1): ()}, judged_by="again", findings=())
        assert session.read_findings() == ()
        await session.append_verdicts({(2, 1): ()}, judged_by="again")
        assert session.read_findings() is None


async def test_findings_of_another_session_are_not_taken(tmp_path: Path) -> None:
    each = planned(1)
    with Store.open(tmp_path / "s.db") as store:
        one, two = [store.session(await store.create_session(new(), [each])) for _ in range(2)]
        for session in (one, two):
            await append_round(session, closed(each), (), judged_by="j")
        await one.end(at=1.0, complete=True, findings=(SLOW,))
        await two.end(at=1.0, complete=True)
        assert (one.read_findings(), two.read_findings()) == ((SLOW,), None)


async def test_a_number_that_is_none_does_not_keep_a_session_from_its_end(tmp_path: Path) -> None:
    each = planned(1)
    with Store.open(tmp_path / "s.db") as store:
        session = store.session(await store.create_session(new(), [each]))
        await append_round(session, closed(each), (), judged_by="j")
        await session.end(at=1.0, complete=True, findings=(replace(SLOW, value=float("nan")),))
        assert session.describe().ended == 1.0
        assert session.read_findings() is None


@pytest.mark.parametrize("spoilt", ['UPDATE finding SET content = \'{"suspect": "node"}\'', "DELETE FROM finding"])
async def test_a_finding_that_cannot_be_read_is_called_damage(tmp_path: Path, spoilt: str) -> None:
    path = tmp_path / "s.db"
    key = await fill(path)
    with Store.open(path) as store:
        await store.session(key).append_verdicts({(1, 1): ()}, judged_by="again", findings=(SLOW,))
        with contextlib.closing(plain_sqlite.connect(path)) as connection:
            connection.execute(spoilt)
        with pytest.raises(DamagedError):
            store.session(key).read_findings()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.from_type(Finding), max_size=3))
async def test_any_finding_comes_back(tmp_path_factory: pytest.TempPathFactory, findings: list[Finding]) -> None:
    path = tmp_path_factory.mktemp("findings") / "s.db"
    key = await fill(path, 1)
    with Store.open(path) as store:
        await store.session(key).append_verdicts({(1, 1): ()}, judged_by="again", findings=findings)
        found = store.session(key).read_findings()
    assert found is None or found == tuple(findings)
