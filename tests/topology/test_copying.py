"""Copies with replaced fields: of structs and of dataclasses, and nothing else about them changes."""

from dataclasses import dataclass, field

import pytest
from msgspec import Struct

from benchconsole.topology.copying import replace


class Cable(Struct, frozen=True):
    speed: float
    ports: tuple[str, ...] = ()


class Optic(Cable, frozen=True):
    reach: float = 0.0


@dataclass(frozen=True)
class Rack:
    name: str
    cables: tuple[Cable, ...] = ()
    place: int = field(default=0, compare=False)


@pytest.mark.parametrize(
    ("copied", "whole"),
    [
        (replace(Cable(1.0, ("p1",)), speed=2.0), Cable(2.0, ("p1",))),
        (replace(Optic(1.0, ("p1",), 3.0), speed=2.0), Optic(2.0, ("p1",), 3.0)),
        (replace(Rack("r1", (Cable(1.0),)), name="r2"), Rack("r2", (Cable(1.0),))),
    ],
)
def test_the_other_fields_and_the_type_stay(copied: object, whole: object) -> None:
    assert copied == whole
    assert type(copied) is type(whole)


def test_the_value_itself_stays_and_a_field_that_takes_no_part_in_comparisons_is_copied() -> None:
    cable, rack = Cable(1.0), Rack("r1", place=7)
    assert replace(cable, speed=2.0) is not cable
    assert cable == Cable(1.0)
    assert replace(rack, name="r2").place == 7


@pytest.mark.parametrize("value", [Cable(1.0), Rack("r1")])
def test_a_field_that_is_not_there_is_refused(value: Cable | Rack) -> None:
    with pytest.raises(TypeError, match="colour"):
        replace(value, colour="red")  # type: ignore[call-arg]


def test_other_values_are_refused() -> None:
    with pytest.raises(TypeError):
        replace("text", colour="red")  # type: ignore[type-var]
