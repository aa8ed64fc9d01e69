"""The options of a run: both doors read them alike, a wrong one is said in the words of the command, nothing is lost."""

import shlex
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchconsole.console.exits import BadInput
from benchconsole.console.session.metadata import (
    CHANGE_NODES,
    COHORT,
    CONFIRM,
    SAMPLE_LOAD,
    TESTS_AT_ONCE,
    SessionChoice,
)
from benchconsole.console.session.run_options import (
    MEANINGS,
    OF_SESSION,
    OF_SUITE,
    format_command,
    format_resume_command,
    list_fields,
    list_given,
    read_choice,
    read_minutes,
    say_given,
)
from benchconsole.console.session.stored_fabric import LINK_CAP, STORAGE_CAP
from benchconsole.probes.planning.suites import find_suite
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.model.fabric import Fabric, NodeId
from tests.fabrics import SMALL, fabric

TEXT = SMALL.replace("n[5-8]: {role: compute}", "n[5-8]: {role: compute, production: true}").replace(
    "links:", 'storage: {fs: {servers: "st[1-2]"}}\nlinks:'
)


@pytest.fixture
def described(tmp_path: Path) -> Fabric:
    return fabric(tmp_path, TEXT)


ALL = {  # but until, which is another time limit
    "nodes": "n[1-6]", "exclude": "n2", "only": "iperf3 trunks", "without": "inventory", "label": "after tuning",
    "cohort": "phase='after a b' kernel=6.1", "careful": "yes", "sample-load": "yes", "change-nodes": "yes",
    "confirm": "0.5", "i-mean-production": "n5", "i-mean-busy": "n1", "cap": "50 % fs=2GB/s", "tests-at-once": "4",
    "within": "2 h",
}  # fmt: skip


def test_every_option_is_read(described: Fabric) -> None:
    choice = read_choice(described, SessionChoice(options={"through": "slurm"}), ALL, "ops")
    assert choice.nodes == ("n1", "n3", "n4", "n5", "n6")
    assert (choice.only, choice.without, choice.label) == ("iperf3 trunks", "inventory", "after tuning")
    assert choice.cohorts == {"phase": "after a b", "kernel": "6.1"}
    assert dict(choice.options) == {
        "through": "slurm", SAMPLE_LOAD: 1, CHANGE_NODES: 1, CONFIRM: 30.0, f"{COHORT}phase": "after a b",
        f"{COHORT}kernel": "6.1", TESTS_AT_ONCE: 4, LINK_CAP: 0.5, f"{STORAGE_CAP}fs": 2e9,
    }  # fmt: skip
    assert (choice.within, choice.until, choice.tests_at_once) == ("2 h", "", 4)
    policy = choice.policy
    assert policy.careful
    assert (policy.override.production, policy.override.busy) == (
        frozenset((NodeId("n5"),)),
        frozenset((NodeId("n1"),)),
    )
    assert policy.override.who == "ops"


def test_what_is_given_takes_the_place_of_all_that_was_chosen_before(described: Fabric) -> None:
    before = read_choice(described, SessionChoice(options={"through": "slurm"}), ALL, "ops")
    after = read_choice(described, before, {}, "ops")
    assert after == replace(
        before, nodes=None, only="", without="", label="", options={"through": "slurm"},
        within="",
        policy=replace(before.policy, careful=False, override=replace(before.policy.override, production=frozenset(), busy=frozenset())),
    )  # fmt: skip
    assert list_given(after) == {}


NODES = st.sampled_from([f"n{number}" for number in range(1, 9)])
GIVEN = st.fixed_dictionaries(
    {},
    optional={
        "nodes": st.lists(NODES, min_size=1, unique=True).map(",".join),
        "only": st.sampled_from(["iperf3", "iperf3 trunks, inventory"]),
        "label": st.text("abc '\"$;-é", min_size=1).map(lambda text: f"x{text}x"),
        "cohort": st.sampled_from(["phase=after", "phase='after a' kernel=6"]),
        "careful": st.just("yes"),
        "sample-load": st.just("yes"),
        "confirm": st.sampled_from(["0", "3", "0.5", "1440"]),
        "cap": st.sampled_from(["50%", "fs=2GB/s", "7.5% fs=1.25MB/s"]),
        "tests-at-once": st.sampled_from(["1", "17", "2048"]),
        "within": st.sampled_from(["2 h", "30s"]),
        "i-mean-production": st.sampled_from(["n5", "n[5-6]"]),
    },
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(GIVEN)
def test_what_was_chosen_can_be_told_and_read_again(described: Fabric, typed: dict[str, str]) -> None:
    choice = read_choice(described, SessionChoice(), typed, "ops")
    told = list_given(choice)
    assert told.keys() == typed.keys()
    assert read_choice(described, SessionChoice(), told, "ops") == choice


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(GIVEN)
def test_the_command_line_says_each_option_as_a_shell_takes_it(described: Fabric, typed: dict[str, str]) -> None:
    words = shlex.split(format_command(described, SessionChoice(), typed, ["--suite", "a b"], "/tmp/x y.db"))
    assert words[:3] == ["benchconsole", "run", described.file]
    assert words[3:5] == ["--suite", "a b"]
    assert words[-2:] == ["--db", "/tmp/x y.db"]
    for name, text in typed.items():
        place = words.index(f"--{name}")
        if name in ("cohort", "cap"):
            assert words.count(f"--{name}") == len(shlex.split(text))
        elif name not in ("careful", "sample-load"):
            assert words[place + 1] == text


def test_the_command_that_goes_on_names_only_options_that_it_takes(described: Fabric) -> None:
    given = {"nodes": "n1", "careful": "yes", "within": "2 h", "label": "x", "through": "slurm:batch", "head": "adm"}
    words = shlex.split(format_resume_command(described, "7f3a", given, "/tmp/x y.db"))
    assert words == [
        "benchconsole", "run", described.file, "--resume", "7f3a", "--within", "2 h", "--careful",
        "--through", "slurm:batch", "--head", "adm", "--db", "/tmp/x y.db",
    ]  # fmt: skip


def test_parameters_that_were_set_are_in_the_command_line(described: Fabric) -> None:
    choice = SessionChoice(options={"set per_tor": 2})
    assert "--set per_tor=2" in format_command(described, choice, {}, (), "")


@pytest.mark.parametrize(
    ("typed", "error", "words"),
    [
        ({"nodes": "n99"}, SelectionError, "n99"),
        ({"nodes": ""}, SelectionError, "an empty node selection"),
        ({"exclude": "@all"}, SelectionError, "nothing is left"),
        ({"careful": "maybe"}, BadInput, "--careful: 'maybe', expected yes or no"),
        ({"confirm": "soon"}, BadInput, "--confirm soon, expected minutes from 0 to 1,440"),
        ({"cohort": "phase"}, BadInput, "--cohort phase: expected DIMENSION=NAME"),
        ({"cohort": "phase='a"}, BadInput, "No closing quotation"),
        ({"cohort": "phase=a phase=b"}, BadInput, "another --cohort has cohorts of phase"),
        ({"i-mean-busy": "n99"}, SelectionError, "n99"),
        ({"cap": "fast"}, BadInput, "--cap fast: found 'fast', expected a share of each link"),
        ({"cap": "50% '"}, BadInput, "--cap 50% ': No closing quotation"),
        ({"cap": "50% 40 %"}, BadInput, "another --cap is on the same"),
        ({"tests-at-once": "0"}, BadInput, "--tests-at-once 0, expected a whole number"),
        ({"within": "soon"}, BadInput, "--within: found 'soon', expected a time"),
        ({"until": "6"}, BadInput, "--until 6, expected a time of the clock"),
        ({"within": "2 h", "until": "06:00"}, BadInput, "--within and --until, expected one of them"),
    ],
)
def test_what_is_wrong_is_said_in_the_words_of_the_command(
    described: Fabric, typed: dict[str, str], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words.replace("(", r"\(")):
        read_choice(described, SessionChoice(), typed, "ops")


@pytest.mark.parametrize(("text", "minutes"), [("0", 0.0), ("1440", 1440.0), ("0.5", 0.5)])
def test_minutes(text: str, minutes: float) -> None:
    assert read_minutes(text) == minutes


@pytest.mark.parametrize("text", ["-0.1", "1440.1", "nan", "inf", "", "3 min"])
def test_other_minutes_are_refused(text: str) -> None:
    with pytest.raises(BadInput):
        read_minutes(text)


def test_a_session_that_has_begun_keeps_what_is_recorded_of_it() -> None:
    assert list_fields(is_suite=True, has_begun=False) == tuple(MEANINGS)
    assert set(list_fields(is_suite=True, has_begun=True)) == set(MEANINGS) - set(OF_SESSION)
    assert set(list_fields(is_suite=False, has_begun=True)) == set(MEANINGS) - set(OF_SESSION) - set(OF_SUITE)


def test_marked_nodes_come_before_those_of_the_session() -> None:
    choice = SessionChoice(nodes=(NodeId("n1"),))
    assert list_given(choice)["nodes"] == "n1"
    assert list_given(choice, [NodeId("n2"), NodeId("n3")])["nodes"] == "n[2-3]"


def test_a_switch_that_is_off_is_not_said() -> None:
    assert say_given({"careful": "no", "sample-load": "yes", "label": "x"}) == ("sample-load", "label x")


def test_the_suite_that_counts_has_a_name(described: Fabric) -> None:
    assert find_suite(described, None).name == "default"
    assert SessionChoice(test="iperf3 n1 n2").suite_name == "single test"
