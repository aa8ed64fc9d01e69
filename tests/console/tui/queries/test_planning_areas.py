"""The areas of suites and probes: what can be run, and what of it the session has."""

from collections import Counter

from benchconsole.console.tui.queries.planning_areas import list_probes, list_suites
from benchconsole.console.view.reducer import advance_all
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.planning.suites import OURS, find_suite, list_suite_names
from benchconsole.probes.plugins.registry import load_probes
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Suite
from tests.console.tui.looking import faulty

PROBES = load_probes().probes


def view() -> RunView:
    story = faulty()
    return advance_all(RunView(story.fabric), story.events())


def test_every_suite_that_can_be_planned_is_there_with_its_stages() -> None:
    seen = view()
    records = {str(each["suite"]): each for each in list_suites(seen, PROBES).records}
    assert tuple(records) == list_suite_names(seen.fabric)
    for name, record in records.items():
        suite = find_suite(seen.fabric, name)
        stages = record["stages"]
        assert isinstance(stages, list)
        assert len(stages) == len(suite.stages)
        assert all(stage.probe == str(told).split()[0] for stage, told in zip(suite.stages, stages, strict=True))
        assert record["from"] == ("file" if name in seen.fabric.suites else "benchconsole")
        assert record["nodes"] == len({node for stage in suite.stages for node in stage.nodes})
    assert [name for name, record in records.items() if record["default"]] == [find_suite(seen.fabric, None).name]
    assert {*OURS} <= records.keys()


def test_a_suite_of_a_probe_that_is_not_installed_is_listed_too() -> None:
    (record,) = (each for each in list_suites(view(), {}).records if each["suite"] == "quick")
    assert record["stages"] == ["inventory", "ping", "iperf3", "fio"]


def test_probes_have_the_tests_of_the_session_by_how_they_ended() -> None:
    seen = view()
    records = {str(each["probe"]): each for each in list_probes(seen, PROBES).records}
    assert records.keys() == PROBES.keys()
    planned = Counter(test.probe for each in seen.plan for test in each.tests)
    ended = Counter((result.test.probe, result.outcome.value) for result in seen.results.values())
    assert planned["iperf3"] > 0
    assert list(records) == sorted(name for name in PROBES if planned[name]) + sorted(
        name for name in PROBES if not planned[name]
    )
    for name, record in records.items():
        assert record["planned"] == planned[name]
        for outcome in ("tested", "failed", "unreachable", "skipped"):
            assert record[outcome] == ended[name, outcome]
        assert record["metrics"] == [metric.name for metric in PROBES[name].metrics]
    assert sum(ended.values()) == len(seen.results)


def test_names_of_a_file_and_words_of_a_plugin_are_only_text() -> None:
    nasty = "a\x1b]0;x\x07[red]\u202e"
    seen = view()
    stage = replace(find_suite(seen.fabric, "quick").stages[0], probe=nasty)
    described = replace(seen, fabric=replace(seen.fabric, suites={nasty: Suite(nasty, (stage,))}))

    class Foreign(Iperf3):
        summary = nasty

    for area in (list_suites(described, PROBES), list_probes(seen, {"iperf3": Foreign()})):
        told = "".join(each for row in area.rows for each in row.text.values())
        assert "[red]" in told
        assert told.isprintable(), repr(told)
        assert "\u202e" not in told
