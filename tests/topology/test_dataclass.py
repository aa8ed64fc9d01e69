"""The decorator of classes: each does what one of the standard library does, and compiles nothing while it is made."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar

import pytest

from benchconsole.topology import dataclass as subject

ours: Callable[..., Any] = subject.dataclass
standard: Callable[..., Any] = dataclasses.dataclass

OPTIONS: tuple[dict[str, bool], ...] = (
    {},
    {"slots": True},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "eq": False},
    {"eq": False, "repr": False},
    {"frozen": True, "order": True},
    {"slots": True, "kw_only": True},
)


def make(decorator: Callable[..., Any], options: dict[str, bool]) -> Any:
    class Thing:
        """A thing."""

        name: str
        size: float = 1.0
        parts: list[int] = field(default_factory=list)
        hidden: int = field(default=3, repr=False, compare=False)
        late: int = field(init=False, default=7)
        unset: int = field(init=False, repr=False, compare=False, hash=False)
        shared: ClassVar[int] = 5

    return decorator(**options)(Thing)


def tell(function: Callable[[], object]) -> object:
    """What it gives, or the kind and words of the error."""
    try:
        return function()
    except Exception as error:
        return type(error).__name__, str(error).replace("_self", "self")


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_class_does_what_one_of_the_standard_library_does(options: dict[str, bool]) -> None:
    def describe(decorator: Callable[..., Any]) -> list[object]:
        kind = make(decorator, options)
        one, same = kind(name="a", parts=[1]), kind(name="a", parts=[1])
        other = kind(name="a", size=float("nan"), parts=[1], hidden=4)
        alike = kind(name="a", parts=[1], hidden=99)
        words = repr(one) if options.get("repr", True) else ""
        return [
            words, one == same, one == alike, one == other, one == object(), one != same, one.late, one.shared,
            tell(lambda: hash(kind(name="a", parts=())) == hash(kind(name="a", parts=()))), tell(lambda: hash(one)),
            tell(lambda: setattr(one, "size", 2.0)), tell(lambda: setattr(one, "never", 2.0)),
            tell(lambda: delattr(one, "size")), tell(kind), tell(lambda: kind(name="b", wrong=1)),
            [each.name for each in dataclasses.fields(kind)], kind.__match_args__, kind.__doc__, kind.__qualname__,
            hasattr(one, "__dict__"), kind(name="x").parts is kind(name="x").parts, kind.__dataclass_params__.frozen,
        ]  # fmt: skip

    told = describe(ours)
    expected = describe(standard)
    if options.get("eq", True) is False:  # hashes are those of addresses then
        told[9] = expected[9] = None
    if options.get("frozen") and options.get("slots"):  # the standard one asks the class that it has replaced
        assert expected[11] == ("TypeError", "super(type, obj): obj must be an instance or subtype of type")
        expected[11] = ("FrozenInstanceError", "cannot assign to field 'never'")
    assert told == expected


def test_copies_and_pickles_of_frozen_slots_are_equal() -> None:
    pair = Pair("a", (1, 2))
    assert copy.deepcopy(pair) == pair
    assert pickle.loads(pickle.dumps(pair)) == pair  # noqa: S301 - ours
    assert dataclasses.replace(pair, name="b") == Pair("b", (1, 2))
    assert dataclasses.asdict(pair) == {"name": "a", "parts": (1, 2)}


@subject.dataclass(frozen=True, slots=True)
class Pair:
    """A name and parts."""

    name: str
    parts: tuple[int, ...] = ()


def test_nothing_is_compiled_until_an_object_is_made() -> None:
    kind = make(ours, {"frozen": True, "slots": True})
    before = {name: getattr(kind, name) for name in ("__init__", "__eq__", "__hash__")}
    assert {each.__name__ for each in before.values()} == {"compile_first"}
    one, other = kind("a", parts=()), kind("a", parts=())
    assert one == other
    assert hash(one) == hash(other)
    assert [getattr(kind, name).__name__ for name in before] == [*before]


def test_a_class_that_inherits_fields_is_one_of_the_standard_library() -> None:
    @subject.dataclass(frozen=True, slots=True)
    class Further(Pair):
        """A pair with a size."""

        size: int = 0

    assert Further("a", (1,), 2) == Further("a", (1,), 2)
    assert Further("a", (1,), 2) != Further("a", (1,), 3)
    assert Further("a") != Pair("a")
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):
        ours()(type("Thawed", (Pair,), {"__annotations__": {"size": int}, "size": 0}))


def test_methods_of_the_class_itself_stay() -> None:
    @subject.dataclass(frozen=True)
    class Loud:
        """A name that is compared without its case."""

        name: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Loud) and self.name.lower() == other.name.lower()

        def __hash__(self) -> int:
            return hash(self.name.lower())

        def __repr__(self) -> str:
            return self.name.upper()

    assert (Loud("a") == Loud("A"), hash(Loud("a")) == hash(Loud("A")), repr(Loud("a"))) == (True, True, "A")


def test_what_is_checked_after_the_fields_are_set_is_called() -> None:
    @subject.dataclass(frozen=True, slots=True)
    class Even:
        """A number."""

        value: int

        def __post_init__(self) -> None:
            if self.value % 2:
                raise ValueError("odd")

    assert Even(2).value == 2
    with pytest.raises(ValueError, match="odd"):
        Even(3)


def test_a_field_without_a_default_after_one_with_a_default_is_refused() -> None:
    with pytest.raises(TypeError, match="non-default argument 'size' follows default argument"):
        ours()(type("Wrong", (), {"__annotations__": {"name": str, "size": int}, "name": "a"}))
