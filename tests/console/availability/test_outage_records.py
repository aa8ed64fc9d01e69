"""Records of up and down that a site keeps: both forms, what is refused, and sums held against counting each hour."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.console.availability.evaluation import (
    AvailabilityTarget,
    Exclusion,
    UptimeStretch,
    evaluate_stretches,
)
from benchconsole.console.availability.outage_records import make_recorded_stretches, read_records
from benchconsole.probes.model.judgement import Level
from benchconsole.topology.errors import SelectionError

NODES = ("n1", "n2", "n3")
DAY = 1_700_006_400.0
"""2023-11-15T00:00:00Z."""
HOUR = 3600.0
SPAN = (DAY, DAY + 24 * HOUR)


def stretches(folder: Path, text: str) -> dict[str, list[UptimeStretch]]:
    path = folder / "records.csv"
    path.write_text(text)
    return make_recorded_stretches(read_records(path, NODES), NODES, SPAN)


def hours(found: list[UptimeStretch]) -> list[tuple[float, float, bool | None]]:
    return [((each.start - DAY) / HOUR, (each.end - DAY) / HOUR, each.up) for each in found]


def test_outages_leave_the_rest_up(tmp_path: Path) -> None:
    found = stretches(
        tmp_path,
        "nodes,start,end,reason\n"
        "# kept by the operators\n"
        '"n[1-2]",2023-11-15T02:00Z,2023-11-15T05:00Z,power\n'
        "n1,2023-11-15T04:00Z,2023-11-15T06:00Z,disk\n"
        "n2,2023-11-14T20:00Z,2023-11-15T01:00+00:00,\n"
        "n3,2023-11-15T23:00Z,,still down\n",
    )
    assert hours(found["n1"]) == [(0, 2, True), (2, 6, False), (6, 24, True)]
    assert hours(found["n2"]) == [(0, 1, False), (1, 2, True), (2, 5, False), (5, 24, True)]
    assert hours(found["n3"]) == [(0, 23, True), (23, 24, False)]


def test_where_times_up_are_told_the_rest_is_not_known(tmp_path: Path) -> None:
    found = stretches(
        tmp_path,
        "nodes,start,end,state\nn1,2023-11-15T00:00Z,2023-11-15T08:00Z,up\nn1,2023-11-15T08:00Z,2023-11-15T10:00Z,down\n",
    )
    assert hours(found["n1"]) == [(0, 8, True), (8, 10, False), (10, 24, None)]
    assert hours(found["n2"]) == [(0, 24, None)]


def test_changes_hold_until_the_next_one(tmp_path: Path) -> None:
    found = stretches(
        tmp_path,
        "nodes,time,state\nn1,2023-11-15T03:00Z,down\nn1,2023-11-15T01:00Z,up\nn1,2023-11-15T04:00Z,up\n"
        "n2,2023-11-10T00:00Z,up\n",
    )
    assert hours(found["n1"]) == [(0, 1, None), (1, 3, True), (3, 4, False), (4, 24, True)]
    assert hours(found["n2"]) == [(0, 24, True)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nodes,start,end\nn9,2023-11-15T02:00Z,\nn1,2023-11-15T02:00,\nn1,15.11.2023,\n", "records.csv:3: the moment"),
        ("nodes,start,end\nn9,2023-11-15T02:00Z,\n", "records.csv:2: unknown node n9"),
        ("nodes,start,end\nn1,2023-11-15T02:00Z,2023-11-15T01:00Z\n", "expected a later one"),
        ("nodes,time,state\nn1,2023-11-15T02:00Z,broken\n", "the state 'broken', expected up or down"),
        ("nodes,reason\nn1,power\n", "no start, expected nodes,start,end or nodes,time,state"),
        ("nodes,start,stop\nn1,2023-11-15T02:00Z,\n", "unknown column 'stop'"),
        (
            "nodes,start,end,state\nn1,2023-11-15T02:00Z,2023-11-15T05:00Z,up\nn1,2023-11-15T04:00Z,2023-11-15T06:00Z,down\n",
            "n1 up and down at 2023-11-15 04:00:00 UTC",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SelectionError) as caught:
        stretches(tmp_path, text)
    assert said in str(caught.value)


def _draw(chance: random.Random) -> list[UptimeStretch]:
    """Twenty hours of a node, each of any kind."""
    kinds = [
        chance.choice([(True, True), (True, False), (False, True), (False, False), (None, True)]) for _ in range(20)
    ]
    return [
        UptimeStretch(DAY + place * HOUR, DAY + (place + 1) * HOUR, up, sure=sure)
        for place, (up, sure) in enumerate(kinds)
    ]


@settings(max_examples=200, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 4), st.booleans())
def test_so_many_nodes_up_at_once_is_counted_hour_by_hour(chance: random.Random, needed: int, cut: bool) -> None:
    members = {f"n{number}": _draw(chance) for number in range(4)}
    out = (Exclusion(DAY + 5 * HOUR, DAY + 8 * HOUR, "works", "ann"),) if cut else ()
    asked = AvailabilityTarget(0.5, nodes_up=needed)
    found = evaluate_stretches(members, (DAY, DAY + 20 * HOUR), exclusions=out, asked=asked).system.time
    counted = {"up": 0, "down": 0, "sure_up": 0, "sure_down": 0, "unsampled": 0}
    for place in range(20):
        if cut and 5 <= place < 8:
            continue
        now = [each[place] for each in members.values()]
        up = sum(each.up is True for each in now)
        possible = sum(each.up is not False for each in now)
        if up >= needed:
            counted["up"] += 1
            counted["sure_up"] += sum(each.up is True and each.sure for each in now) >= needed
        elif possible < needed:
            counted["down"] += 1
            counted["sure_down"] += sum(not (each.up is False and each.sure) for each in now) < needed
        else:
            counted["unsampled"] += 1
    assert {name: round(getattr(found, name) / HOUR, 6) for name in counted} == counted


def test_outages_of_the_system_are_those_of_too_many_nodes(tmp_path: Path) -> None:
    found = stretches(
        tmp_path,
        "nodes,start,end\nn1,2023-11-15T02:00Z,2023-11-15T05:00Z\nn2,2023-11-15T04:00Z,2023-11-15T06:00Z\n",
    )
    two = evaluate_stretches(found, SPAN, asked=AvailabilityTarget(0.95, nodes_up=2))
    assert (two.level, two.system.time.down / HOUR) == (Level.PASS, 1.0)
    assert [(each.node, each.seconds / HOUR) for each in two.system.outages] == [("system", 1.0)]
    all_three = evaluate_stretches(found, SPAN, asked=AvailabilityTarget(0.95, nodes_up=3))
    assert (all_three.level, all_three.system.time.down / HOUR) == (Level.FAIL, 4.0)
    together = evaluate_stretches(found, SPAN, asked=AvailabilityTarget(0.95))
    assert together.system.time.down / HOUR == 5.0
    with pytest.raises(ValueError, match="4 nodes up of 3"):
        evaluate_stretches(found, SPAN, asked=AvailabilityTarget(nodes_up=4))
