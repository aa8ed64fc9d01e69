"""Sizes that smell: long functions, long files, many methods. Exceptions are named; the list may only shrink."""

import ast
import dataclasses
import importlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import FunctionType

from msgspec import Struct

ROOT = Path(__file__).parents[2]
PACKAGES = ("topology", "probes", "store", "console")
FUNCTION, FILE, METHODS, CALLBACKS = 60, 500, 25, 5

LONGER: dict[str, str] = {}
"""Path, or path:function, to the reason why it may be longer."""


WIDER = {
    f"console.tui.{name}": number
    for name, number in {
        # Canvas and Listing bring 22: drawing by cells, cursor, scrolling and mouse, which Textual calls on a widget.
        "widgets.fabric_map.FabricMap": 26,
        "widgets.fact_table.FactTable": 28,
        "widgets.findings_list.FindingsList": 31,
        "widgets.area_table.AreaTable": 40,
        "widgets.menu.StartMenu": 27,
        "widgets.node_table.NodeTable": 38,
        "widgets.plan.PlanView": 30,
        "widgets.plot.PlotList": 27,
        "widgets.sorted_table.SortedTable": 32,
        "widgets.sweep_lists.ChartList": 27,
        "widgets.sweep_lists.PointTable": 27,
        # Page brings 13 and a filtered list 11 more; each action of the table is a method of the page, for Textual.
        "screens.area.AreaScreen": 38,
        "screens.base.area_page.AreaPage": 32,
        "screens.base.table_page.TablePage": 28,
        "screens.base.marking_page.MarkingPage": 29,
        "screens.comparison.ComparisonScreen": 42,
        "screens.criteria.CriteriaScreen": 40,
        "screens.comparison.SubjectsScreen": 35,
        "screens.fabric.FabricScreen": 28,
        "screens.facts.FactsScreen": 26,
        "screens.filters.FiltersScreen": 35,
        "screens.findings.FindingsScreen": 31,
        "screens.history.HistoryScreen": 39,
        "screens.node.NodeScreen": 29,
        "screens.nodes.NodesScreen": 35,
        "screens.plot.PlotScreen": 35,
        "screens.sessions.SessionsScreen": 40,
        "screens.sweeps.SweepsScreen": 31,
    }.items()
}
"""Classes that may have more methods with all that they inherit, and how many; the numbers may only fall."""


def sources() -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


def test_nothing_is_too_long() -> None:
    found = []
    for path in sources():
        text = path.read_text()
        name = str(path.relative_to(ROOT))
        if text.count("\n") > FILE:
            found.append(f"{name}: {text.count(chr(10))} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > FUNCTION:
                    found.append(f"{name}:{node.name}: {length} lines")
    assert [line for line in found if line.rsplit(": ", 1)[0] not in LONGER] == []


def classes() -> Iterator[type]:
    """Every class of the product, each once."""
    seen = set()
    for path in sources():
        if path.stem == "__main__":
            continue
        name = ".".join(("benchconsole", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        for each in vars(importlib.import_module(name)).values():
            if isinstance(each, type) and each.__module__ == name and each not in seen:
                seen.add(each)
                yield each


def methods_of(cls: type) -> set[str]:
    """Names of the methods and properties that the product gives a class: its own and those that it inherits."""
    kinds = (FunctionType, property, cached_property, staticmethod, classmethod)
    ours = [base for base in cls.__mro__ if base.__module__.startswith("benchconsole.")]
    return {name for base in ours for name, value in vars(base).items() if isinstance(value, kinds)}


def test_no_class_has_too_many_methods_with_all_that_it_inherits() -> None:
    found = {
        f"{each.__module__.removeprefix('benchconsole.')}.{each.__name__}": len(methods_of(each)) for each in classes()
    }
    many = {name: number for name, number in found.items() if number > METHODS}
    assert {name: number for name, number in many.items() if number > WIDER.get(name, METHODS)} == {}
    assert {name: limit for name, limit in WIDER.items() if found.get(name, 0) < limit} == {}, "lower these"


def list_fields(cls: type) -> Iterator[tuple[str, object]]:
    """The fields of a dataclass or a struct, each with its type as it is written."""
    for base in reversed(cls.__mro__):
        if dataclasses.is_dataclass(base) or issubclass(base, Struct):
            yield from base.__annotations__.items()


def test_no_parameter_object_joins_two_halves_of_one_class_by_callbacks() -> None:
    found = {
        each.__name__: names
        for each in classes()
        if (dataclasses.is_dataclass(each) or issubclass(each, Struct))
        and len(names := [name for name, kind in list_fields(each) if "Callable" in str(kind)]) > CALLBACKS
    }
    assert found == {}


def test_every_module_says_what_it_owns() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in sources()
        if path.read_text().strip() and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


def test_no_grab_bags() -> None:
    names = {"utils", "util", "helpers", "helper", "manager", "misc"}
    assert [str(path) for path in sources() if path.stem in names] == []
