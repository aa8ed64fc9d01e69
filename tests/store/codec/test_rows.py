"""The domain objects that go in come out as the same, or there is a refusal."""

import asyncio
import math
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.model.judgement import ClosedRound, Level, Verdict
from benchconsole.probes.model.measuring import Output, Reading, Result, Round, Target, Test
from benchconsole.store.codec import rows, values
from benchconsole.store.errors import RefusedError
from benchconsole.store.model import NewSession
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from benchconsole.topology.units import Unit
from tests import plain_sqlite
from tests.store import strategies
from tests.store.played import FABRIC, NODES, append_round, closed, measured, new, numbers, planned, verdicts


@st.composite
def _judged(draw: st.DrawFn) -> tuple[ClosedRound, tuple[Verdict, ...]]:
    found = draw(strategies.closed_rounds())
    return found, tuple(draw(st.lists(strategies.verdicts(found.round.number), max_size=3)))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One file for every example: each adds a session of its own."""
    with Store.open(tmp_path_factory.mktemp("rows") / "s.db") as opened:
        yield opened


@settings(max_examples=60, deadline=None)
@given(strategies.sessions, _judged())
def test_a_whole_session_comes_back_as_it_went_in(
    store: Store, session: NewSession, judged: tuple[ClosedRound, tuple[Verdict, ...]]
) -> None:
    found, given_verdicts = judged

    async def write() -> str:
        key = await store.create_session(session, [found.round])
        await append_round(store.session(key), found, given_verdicts, judged_by="first")
        return key

    key = asyncio.run(write())
    assert store.session(key).describe().new == session
    assert store.session(key).read_plan(FABRIC) == (found.round,)
    (stored,) = store.session(key).read_rounds(FABRIC)
    assert stored == replace(found, verdicts=tuple(given_verdicts), judged_by="first")
    for result, back in zip(found.results, stored.results, strict=True):
        assert tuple(result.outputs) == tuple(back.outputs)
        assert (back.ran, len(back.outputs)) == (result.ran, len(result.outputs))


@given(strategies.outputs)
def test_outputs_round_trip(output: Output) -> None:
    assert rows.parse_output(rows.make_output_row(output)) == output


def test_an_output_of_an_older_program_has_no_checksum() -> None:
    output = Output(("x",), b"y" * 1000, b"", 0, None, 1.0, False, "n1")
    old = rows.OutputRow("n1", '["x"]', output.stdout, b"", 0, None, 1.0, 0)
    assert rows.parse_output(old) == output


@given(strategies.outputs.filter(lambda output: len(output.stdout) > 0), st.data())
def test_an_output_that_was_changed_is_none(output: Output, data: st.DataObject) -> None:
    """Whatever byte of what is stored flips, packed or plain, and whatever else is said of the command."""
    stored = replace(output, stdout=output.stdout * data.draw(st.sampled_from((1, 300))))
    row = rows.make_output_row(stored)
    for changed in (row._replace(truncated=1 - row.truncated), row._replace(node=f"{row.node}x")):
        with pytest.raises(ValueError, match="an output"):
            rows.parse_output(changed)
    at = data.draw(st.integers(0, len(row.stdout) - 1))
    flipped = bytes((*row.stdout[:at], row.stdout[at] ^ (1 << data.draw(st.integers(0, 7))), *row.stdout[at + 1 :]))
    try:
        found = rows.parse_output(row._replace(stdout=flipped))
    except ValueError:
        return
    assert found == stored, "a bit of a deflated stream may mean nothing"
    assert row.packed


@given(strategies.rounds())
def test_rounds_round_trip(each: Round) -> None:
    tests = tuple(
        rows.parse_test(rows.make_test_row(each, test), rows.make_round_row(each), FABRIC) for test in each.tests
    )
    assert rows.parse_round(rows.make_round_row(each), tests) == each


@pytest.mark.fault("I04")
@given(st.text(st.characters() | st.characters(categories=["Cs"])))
def test_any_text_can_be_kept_and_only_surrogates_change(text: str) -> None:
    kept = values.replace_surrogates(text)
    kept.encode()
    assert len(kept) == len(text)
    assert all(a == b or (b == "\ufffd" and "\ud800" <= a <= "\udfff") for a, b in zip(text, kept, strict=True))


async def test_a_lone_surrogate_is_kept_as_a_replacement(tmp_path: Path) -> None:
    each = planned(1, pairs=1)
    result = measured(each.tests[0])
    odd = Output(("cat", "name\udcff"), b"\xff", b"", 0, None, 0.1, False, "n1")
    with Store.open(tmp_path / "s.db") as store:
        key = await store.create_session(new("caf\udce9"), [each])
        await append_round(store.session(key), closed(each, [Result(result.test, (odd,))]), (), judged_by="j")
        (stored,) = store.session(key).read_rounds(FABRIC)
        assert stored.results[0].outputs[0].argv == ("cat", "name\ufffd")
        assert store.find_session("caf\ufffd") == key


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400])
async def test_no_number_that_is_none_is_kept(tmp_path: Path, value: float) -> None:
    each = planned(1, pairs=1)
    whole = verdicts(each)
    with Store.open(tmp_path / "s.db") as store:
        key = await store.create_session(new(), [each])
        for bad, judged in (
            (closed(each, [measured(each.tests[0], value=value)]), whole),
            (closed(each), (whole[0]._replace(value=value),)),
            (closed(each), (whole[0]._replace(expected=value),)),
            (closed(each, [Result(each.tests[0], seconds=value)]), ()),
        ):
            with pytest.raises(RefusedError, match="no number to keep"):
                await append_round(store.session(key), bad, judged, judged_by="j")
        assert store.session(key).list_closed_rounds() == frozenset()
        assert numbers(store.path) == []


async def test_options_with_nan_and_integers_beyond_64_bits_are_refused(tmp_path: Path) -> None:
    test = Test("1", "p", Target(NODES[0], None, {"share": math.nan}), 1)
    bad = Round(1, "s", "p", (test,), 1.0, "")
    each = planned(1, pairs=1)
    with Store.open(tmp_path / "s.db") as store:
        with pytest.raises(RefusedError, match="NaN"):
            await store.create_session(new(), [bad])
        key = await store.create_session(new(), [each])
        huge = Output(("x",), exit_status=2**63)
        with pytest.raises(RefusedError, match="64 bits"):
            await append_round(store.session(key), closed(each, [Result(each.tests[0], (huge,))]), (), judged_by="j")


async def test_a_measurement_is_never_null_for_a_number(tmp_path: Path) -> None:
    each = planned(1, pairs=1)
    test = each.tests[0]
    zero = Reading("x", 0.0, Unit.ONE, id="m")
    with Store.open(tmp_path / "s.db") as store:
        key = await store.create_session(new(), [each])
        await append_round(store.session(key), closed(each, [Result(test, measurements=(zero,))]), (), judged_by="j")
        (found,) = numbers(store.path)
        assert found["value"] == 0.0
        with closing(plain_sqlite.connect(store.path)) as connection:
            assert connection.execute("SELECT sum(passes) FROM judging").fetchone() == (0,)
        assert Level.PASS not in {
            verdict.level for stored in store.session(key).read_rounds(FABRIC) for verdict in stored.verdicts
        }


@given(st.lists(st.text()))
def test_strings_are_written_as_json_writes_them(strings: list[str]) -> None:
    assert values.dump_strings(strings) == values.dump_json(strings, "strings")
