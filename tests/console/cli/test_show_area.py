"""``show --area``: the rows of the screen from the command line, filtered, as text and as JSON."""

import json
from pathlib import Path

from benchconsole.console.cli.show import AREAS as OFFERED
from benchconsole.console.exits import Exit
from benchconsole.console.tui.queries.areas import AREAS
from tests.console.cli.test_compare import measure
from tests.scenarios.test_judging_trials import Site


def test_every_area_is_offered() -> None:
    assert tuple(AREAS) == OFFERED


def test_an_area_is_printed_filtered_and_as_json(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    code, page = site.call("show", "before", "--area", "nodes", "--filter", "state=fail")
    assert (code, page.strip()) == (Exit.PASSED, "Nodes: none of 4")
    code, page = site.call("show", "before", "--area", "nodes", "--filter", "n2")
    assert "n2" in page
    assert "n1 " not in page
    code, told = site.call("show", "before", "--area", "nodes", "--json")
    assert [each["node"] for each in json.loads(told)] == ["n1", "n2", "n3", "n4"]


def test_a_filter_that_is_not_understood_and_one_without_an_area_are_refused(tmp_path: Path) -> None:
    site = Site(tmp_path)
    measure(site, "before", 100.0, 101.0, 99.0, 100.5)
    code, said = site.call("show", "before", "--area", "links", "--filter", "speed>3")
    assert code == Exit.BAD_INPUT
    assert "--filter: speed" in said
    for words in (("--filter", "n1"), ("--json",)):
        code, said = site.call("show", "before", *words)
        assert code == Exit.BAD_INPUT
        assert "without --area, expected one of nodes, links, findings, rounds, pairs" in said
