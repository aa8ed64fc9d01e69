"""The system in reports: what the file says of it, and what its nodes report of themselves."""

import io
import re
from pathlib import Path

import pytest

from benchconsole import topology
from benchconsole.console.reports import ReportOptions, render
from benchconsole.console.reports.system_section import MOST_ANSWERS, make_tables
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.api import Fact, Unit, labels
from benchconsole.probes.model.measuring import Test
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load
from tests.console.reports import fixture

KERNEL = "kernel.release"


def tables(view: RunView) -> dict[str, list[tuple[str, ...]]]:
    return {table.title: list(table.rows) for table in make_tables(view)}


def reporting(answers: list[tuple[Fact, ...]]) -> RunView:
    """A session in which each of the first nodes reports some facts."""
    view = fixture.all_passed()
    results = dict(list(view.results.items())[: len(answers)])
    told = {}
    for (key, each), facts in zip(results.items(), answers, strict=True):
        test = replace(each.test, probe="inventory")
        assert isinstance(test, Test)
        told[key] = replace(each, test=test, facts=facts)
    return replace(view, results={**view.results, **told})


def test_it_begins_with_what_is_described() -> None:
    found = tables(fixture.poisoned("harmless"))
    assert next(iter(found)) == "Nodes by class"
    assert {"Switches", "Networks"} <= found.keys()
    assert sum(int(row[2].replace(",", "")) for row in found["Nodes by class"]) == len(
        [node for node in fixture.poisoned("harmless").fabric.nodes.values() if node.host is None]
    )


def test_ceilings_of_storage_stand_before_the_sheets() -> None:
    view = fixture.all_passed()
    fabric = load(Path(topology.__file__).parent / "examples" / "llnl.yaml")
    found = tables(replace(view, fabric=fabric))
    titles = list(found)
    assert titles.index("Storage ceilings") < titles.index("Layers of storage") < titles.index("Storage systems")
    assert ("levi alc", "write", "2.10 GB/s", "1.26 GB/s", "1.68 GB/s") in [
        (name, way, value, required, target) for name, way, value, _, required, target in found["Storage ceilings"]
    ]


def test_answers_of_a_class_are_counted_and_parts_of_a_node_are_one_answer() -> None:
    disks = tuple(Fact("disk.size", 4e11, Unit.BYTE, labels(disk=disk)) for disk in ("sda", "sdb"))
    rest = (Fact("nic.speed", 3.125e9, Unit.BYTE_RATE, labels(nic="eth0")), Fact("net.other", "x", None, ()))
    view = reporting([(Fact(KERNEL, "6.1.0", None, ()), *disks, *rest)] * 3 + [(Fact(KERNEL, "6.1.1", None, ()),)])
    rows = tables(view)["As the nodes report themselves"]
    assert [row[1:] for row in rows] == [
        ("disk.size", "2 x 400 GB", "3"),
        ("nic.speed", "25.0 Gb/s", "3"),
        (KERNEL, "6.1.0", "3"),
        ("", "6.1.1", "1"),
    ]


def test_many_answers_are_counted_and_text_of_a_node_is_data() -> None:
    view = reporting([(Fact(KERNEL, f"6.1.{number}\x1b[2J|<b>", None, ()),) for number in range(MOST_ANSWERS + 2)])
    rows = tables(view)["As the nodes report themselves"]
    assert rows[-1][2:] == ("2 other answers", "2")
    assert not any("\x1b" in cell for row in rows for cell in row)
    for form in ("html", "md"):
        out = io.StringIO()
        render(form, view, out, ReportOptions(operator="x", version="1"))
        assert "\x1b" not in out.getvalue()
        assert "<b>" not in re.sub("`[^`]*`", "", out.getvalue())


@pytest.mark.parametrize("form", ["html", "md"])
def test_reports_hold_the_system(form: str) -> None:
    out = io.StringIO()
    render(form, fixture.poisoned("harmless"), out, ReportOptions(operator="x", version="1"))
    assert "Nodes by class" in out.getvalue()
