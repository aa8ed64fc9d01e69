"""A decorator with the meaning of ``dataclasses.dataclass`` that compiles nothing until an object is made.

The standard one compiles up to seven functions for each class while it is imported: half a millisecond of CPU, and a
console imports 250 classes before its fabric is on the screen. Here making, comparing and hashing are compiled
when they are first asked for. All else is done by the standard library: fields, slots, ``replace``, ``fields``,
``asdict``; and whole classes that inherit fields, or ask for an order, for fields by keyword or for weak references.
"""

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from functools import partial
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

Fields = Sequence["dataclasses.Field[Any]"]
Written = tuple[str, dict[str, Any]]
"""The text of a function, and what it knows by name."""

_ABSENT = object()
"""The default of an argument whose value a factory makes."""


def _needs_standard(decorated: type) -> bool:
    """Whether the standard decorator makes this class: it has fields of a base, or fields that are none of its own."""
    marked = (dataclasses.InitVar, dataclasses.KW_ONLY)
    written = inspect.get_annotations(decorated).values()
    special = any(each in marked or isinstance(each, dataclasses.InitVar) for each in written)
    return special or "__init__" in decorated.__dict__ or any(map(dataclasses.is_dataclass, decorated.__bases__))


def _make(decorated: type, *, frozen: bool, slots: bool, eq: bool, words: bool) -> type:
    """The dataclass; TypeError as that of the standard library where its fields cannot be."""
    own = dict(decorated.__dict__)
    if not decorated.__doc__:
        decorated.__doc__ = decorated.__name__  # the standard library would write its signature here, which takes long
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(decorated)
    parameters = made.__dataclass_params__
    parameters.init, parameters.repr, parameters.eq, parameters.frozen = True, words, eq, frozen
    fields = dataclasses.fields(made)
    _check_defaults(fields)
    _compile_late(made, "__init__", partial(_write_init, made, fields, frozen=frozen))
    if words and "__repr__" not in own:
        made.__repr__ = _make_words([each.name for each in fields if each.repr])
    if eq and "__eq__" not in own:
        _compile_late(made, "__eq__", partial(_write_equality, [each.name for each in fields if each.compare]))
    if eq and own.get("__hash__") is None and not (frozen and "__hash__" in own and "__eq__" not in own):
        hashed = [each.name for each in fields if (each.compare if each.hash is None else each.hash)]
        made.__hash__ = None
        if frozen:
            _compile_late(made, "__hash__", partial(_write_hash, hashed))
    if frozen:
        _freeze(made, frozenset(each.name for each in fields), slots=slots)
    return made  # type: ignore[no-any-return]


def _check_defaults(fields: Fields) -> None:
    """TypeError where a field without a default follows one that has one."""
    has_default = False
    for each in (field for field in fields if field.init):
        if each.default is not dataclasses.MISSING or each.default_factory is not dataclasses.MISSING:
            has_default = True
        elif has_default:
            raise TypeError(f"non-default argument {each.name!r} follows default argument")


def _compile_late(made: Any, name: str, write: Callable[[], Written]) -> None:  # noqa: ANN401 - a class, whose methods are set
    """Give the class a method that compiles itself, by what ``write`` gives, when it is called first."""

    def compile_first(self: object, /, *values: object, **named: object) -> object:
        text, known = write()
        exec(text, known)  # noqa: S102 - names of fields alone, as in the standard library
        method = known[name]
        method.__qualname__, method.__module__ = f"{made.__qualname__}.{name}", made.__module__
        setattr(made, name, method)
        return method(self, *values, **named)

    setattr(made, name, compile_first)


def _write_init(made: Any, fields: Fields, *, frozen: bool) -> Written:  # noqa: ANN401
    known: dict[str, Any] = {"_absent": _ABSENT, "_set": object.__setattr__}
    taken, lines = ["_self"], []
    for each in fields:
        name, value = each.name, each.name
        if each.default_factory is not dataclasses.MISSING:
            known[f"_make_{name}"] = each.default_factory
            taken += [f"{name}=_absent"] * each.init
            value = f"_make_{name}() if {name} is _absent else {name}" if each.init else f"_make_{name}()"
        elif each.default is not dataclasses.MISSING:
            known[f"_default_{name}"] = each.default
            taken += [f"{name}=_default_{name}"] * each.init
            value = name if each.init else f"_default_{name}"
        elif each.init:
            taken.append(name)
        else:
            continue  # the class sets it itself
        lines.append(f"_set(_self, {name!r}, {value})" if frozen else f"_self.{name} = {value}")
    if hasattr(made, "__post_init__"):
        lines.append("_self.__post_init__()")
    body = "\n ".join(lines or ["pass"])
    return f"def __init__({', '.join(taken)}):\n {body}", known


def _write_values(names: Sequence[str], of: str) -> str:
    return f"({''.join(f'{of}.{name}, ' for name in names)})"


def _write_equality(names: Sequence[str]) -> Written:
    same = f"{_write_values(names, 'self')} == {_write_values(names, 'other')}"
    told = f"{same} if other.__class__ is self.__class__ else NotImplemented"
    return f"def __eq__(self, other):\n return {told}", {}


def _write_hash(names: Sequence[str]) -> Written:
    return f"def __hash__(self):\n return hash({_write_values(names, 'self')})", {}


def _make_words(names: Sequence[str]) -> Callable[[object], str]:
    @recursive_repr()
    def write(self: object) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({values})"

    return write


def _freeze(made: Any, names: frozenset[str], *, slots: bool) -> None:  # noqa: ANN401
    """Refuse to change the fields, and with ``slots`` let copies and pickles set them."""

    def refuse_value(self: object, name: str, value: object) -> None:
        if type(self) is made or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(made, self).__setattr__(name, value)

    def refuse_removal(self: object, name: str) -> None:
        if type(self) is made or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(made, self).__delattr__(name)

    def list_values(self: object) -> list[object]:
        return [getattr(self, each.name) for each in dataclasses.fields(made)]

    def set_values(self: object, state: list[object]) -> None:
        for each, value in zip(dataclasses.fields(made), state, strict=True):
            object.__setattr__(self, each.name, value)

    made.__setattr__, made.__delattr__ = refuse_value, refuse_removal
    if slots:
        made.__getstate__, made.__setstate__ = list_values, set_values


def _decorate(
    kind: type | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True,
    repr: bool = True, **others: Any,  # noqa: A002, ANN401 - the names of the standard library
) -> Any:  # fmt: skip  # noqa: ANN401
    """The class with the methods of a dataclass; ``others`` are further options of the standard decorator."""

    def decorate(decorated: type) -> type:
        if others or _needs_standard(decorated):
            return dataclasses.dataclass(frozen=frozen, slots=slots, eq=eq, repr=repr, **others)(decorated)
        return _make(decorated, frozen=frozen, slots=slots, eq=eq, words=repr)

    return decorate if kind is None else decorate(kind)


if TYPE_CHECKING:  # to checkers of types it is the standard one
    from dataclasses import dataclass as dataclass  # noqa: PLC0414 - others import it from here
else:
    dataclass = _decorate
