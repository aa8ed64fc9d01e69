"""Parameters of a file that a session was begun with: they judge it now, when it is read again, and in a comparison."""

from pathlib import Path

import pytest

from benchconsole.console.exits import Exit
from tests.scenarios.test_judging_trials import Site

FABRIC = """\
schema: 1
fabric: toy
parameters: {gigabits: 4}
networks: {flat: {goodput: 100 %}}
switches: {leaf: {role: leaf}, spine: {role: spine}}
nodes: {n1: {}, n2: {}}
links:
  - {from: n1, to: leaf, speed: 10 Gb/s, network: flat}
  - {from: n2, to: spine, speed: 10 Gb/s, network: flat}
  - {from: leaf, to: spine, speed: "{gigabits} Gb/s", network: flat}
"""
ROW = "metric,value,nodes,date\niperf3.throughput,1.9 Gb/s,n1>n2,2026-04-08T12:00:00Z\n"


def store(site: Site, label: str, *settings: str) -> int:
    table = site.folder / "values.csv"
    table.write_text(ROW)
    more = [part for setting in settings for part in ("--set", setting)]
    return site.call("ingest", site.topology, table, "--label", label, *more)[0]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, [], FABRIC)


def test_a_session_is_judged_with_its_parameters_and_keeps_them(site: Site) -> None:
    assert store(site, "four") == Exit.BELOW, "1.9 of 4 Gb/s"
    assert store(site, "two", "gigabits=2") == Exit.PASSED, "1.9 of 2 Gb/s"
    assert "2.00 Gb/s" in site.call("show", "two")[1]
    assert site.call("judge", "two")[0] == Exit.PASSED
    assert site.call("judge", "four")[0] == Exit.BELOW


def test_a_comparison_names_the_parameter_that_differs(site: Site) -> None:
    store(site, "four")
    store(site, "two", "gigabits=2")
    assert "set gigabits" in site.call("compare", "four", "two")[1]


@pytest.mark.parametrize(
    ("setting", "said"), [("gigabit=2", "unknown parameter 'gigabit'"), ("gigabits=two", "expected NAME=NUMBER")]
)
def test_a_parameter_that_is_not_there_stores_nothing(site: Site, setting: str, said: str) -> None:
    table = site.folder / "values.csv"
    table.write_text(ROW)
    code, text = site.call("ingest", site.topology, table, "--set", setting)
    assert (code, said in text) == (Exit.BAD_INPUT, True), text


def test_a_plan_follows_the_parameters(site: Site) -> None:
    text = FABRIC + "suites:\n  network:\n    - {probe: iperf3, design: trunks}\n"
    site.topology.write_text(text)
    assert site.call("run", site.topology, "--suite", "network", "--dry-run", "--set", "gigabits=2")[0] == Exit.PASSED
    code, said = site.call("run", site.topology, "--resume", "last", "--set", "gigabits=2")
    assert (code, "--set with --resume" in said) == (Exit.BAD_INPUT, True)
