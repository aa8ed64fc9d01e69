"""Single cables as entries: what is one LAG, which port belongs to which, and bonds with a standby leg."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.description.resolve import resolve
from benchconsole.topology.errors import Position
from benchconsole.topology.importers.bundles import LinkEntry, SourceCable, bundle_cables
from benchconsole.topology.importers.draft import Draft, DraftDevice
from benchconsole.topology.model.fabric import Fabric

HERE = Position("f", 1, 1)


def found(*cables: SourceCable) -> list[LinkEntry]:
    return bundle_cables(cables, {"leaf1": 2, "leaf2": 2, "spine1": 3}, "1 Gb/s")


def cable(
    a: str, b: str, at_a: str | None = None, at_b: str | None = None, speed: str = "10 Gb/s", **more: Any
) -> SourceCable:
    return SourceCable(a, b, HERE, at_a, at_b, speed, **more)


def test_the_lower_end_comes_first() -> None:
    (entry,) = found(cable("spine1", "leaf1", "e1", "e49"))
    assert entry.data == {"from": "leaf1:e49", "to": "spine1:e1", "speed": "10 Gb/s"}


def test_ports_known_of_some_cables_only_are_left_out_with_a_note() -> None:
    (entry,) = found(cable("n", "leaf1", "e1", "p1"), cable("n", "leaf1", "e2"))
    assert entry.data == {"from": "n:e[1-2]", "to": "leaf1", "speed": "10 Gb/s", "count": 2}
    assert entry.note.startswith("ports left out")


def test_paddings_that_no_bracket_holds_stay_apart() -> None:
    (entry,) = found(*(cable("n", "leaf1", None, port) for port in ("p9", "p09", "p10")))
    assert entry.data["to"] == "leaf1:p9,p[09-10]"
    (entry,) = found(*(cable("n", "leaf1", None, port) for port in ("p09", "p10", "p100")))
    assert entry.data["to"] == "leaf1:p[09-10,100]"


def test_a_standby_leg_is_joined_to_the_active_one_which_comes_first() -> None:
    bond = {"bond": "active-backup"}
    (entry,) = found(
        cable("n", "leaf1", "e0", fields=bond, standby=True),
        cable("n", "leaf2", "e1", fields=bond),
        cable("n", "leaf3", "e2", fields=bond, standby=True),
    )
    assert entry.data == {"from": "n:e1,e[0,2]", "to": "leaf2,leaf1,leaf3", "speed": "10 Gb/s", "bond": "active-backup"}


def test_a_standby_leg_beside_two_active_ones_is_kept_with_a_note() -> None:
    bond = {"bond": "active-backup"}
    legs = [cable("n", f"leaf{number}", fields=bond, standby=number == 2) for number in (1, 2, 3)]
    assert [(entry.data["to"], entry.note[:7]) for entry in found(*legs)] == [
        ("leaf1", ""), ("leaf3", "active "), ("leaf2", "standby"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "more",
    [
        ({"at_b": "Eth5"}, {"at_b": "Eth7"}),
        ({"speed": "1 Gb/s"}, {"speed": "10 Gb/s"}),
        ({"fields": {"bond": "active-backup", "cable": {"type": "DAC"}}}, {}),
    ],
)
def test_legs_that_one_entry_cannot_hold_stand_in_order_and_are_no_gap(more: Sequence[dict[str, Any]]) -> None:
    bond = {"bond": "active-backup"}
    standby = cable("n", "leaf1", "e0", **{"fields": bond, "standby": True, **more[0]})
    entries = found(standby, cable("n", "leaf2", "e1", **{"fields": bond, **more[1]}))
    assert [(str(entry.data["to"]).partition(":")[0], entry.note) for entry in entries] == [
        ("leaf2", ""),
        ("leaf1", ""),
    ]


def test_a_standby_leg_without_the_active_one_is_told() -> None:
    (entry,) = found(cable("n", "leaf1", "e0", fields={"bond": "active-backup"}, standby=True))
    assert entry.note == "standby in the source, without the active leg of its bond"


PORTS = st.none() | st.integers(1, 12).map(lambda number: f"e{number}")


@settings(max_examples=100, deadline=None)
@given(
    ends=st.lists(st.tuples(PORTS, PORTS, st.sampled_from(["1 Gb/s", "10 Gb/s"]), st.sampled_from([None, "po1"])),
                  min_size=1, max_size=6, unique_by=(lambda end: end[0] or object(), lambda end: end[1] or object())),
)  # fmt: skip
def test_every_cable_is_kept_with_its_speed_and_its_partner(
    ends: Sequence[tuple[str | None, str | None, str, str | None]],
) -> None:
    draft = Draft("f", "")
    draft.device(DraftDevice("n", HERE, switch=False))
    draft.device(DraftDevice("leaf1", HERE, switch=True))
    for at_a, at_b, speed, lag in ends:
        draft.cable(SourceCable("n", "leaf1", HERE, at_a, at_b, speed, lag))
    fabric: Fabric = resolve(draft.finish().document, Path("f"))
    members = sorted(speed for link in fabric.links.values() for speed in link.members)
    assert members == sorted({"1 Gb/s": 0.125e9, "10 Gb/s": 1.25e9}[speed] for _, _, speed, _ in ends)
    told = {(at_a, at_b) for at_a, at_b, _, _ in ends}
    for link in fabric.links.values():
        if link.ports_a and link.ports_b:
            assert set(zip(link.ports_a, link.ports_b, strict=True)) <= told
