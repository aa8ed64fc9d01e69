"""mdtest: the summary of every major version by its own columns, and what is launched."""

import asyncio

import pytest

from benchconsole.probes.api import Output, Part, PlanError, ProbeOutputError, Target
from benchconsole.probes.testing import PROBE_CHECKS, Check, FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.mdtest.probe import Mdtest
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Node
from tests.probes.tools.captures import ROOT, output, read, text
from tests.probes.tools.spoiled import SPOILED_CHECKS, SpoiledCheck

FAILED = "3.3.0-failed.txt"
NAMES = sorted(f"mdtest/{path.name}" for path in (ROOT / "mdtest").iterdir() if path.name != FAILED)


def _means(name: str, **marks: str) -> dict[tuple[str, str], float]:
    return _rates(name, statistic="mean", **marks)


def _rates(name: str, **marks: str) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for one in Mdtest().parse(output(f"mdtest/{name}")):
        labels = dict(one.labels)
        if marks.items() <= labels.items():
            assert (labels["object"], labels["operation"]) not in found
            found[labels["object"], labels["operation"]] = one.value
    return found


def test_iterations_are_read_where_ranks_stand_before_them() -> None:
    assert _rates("real-3.4.0-ranks.txt", statistic="max") == {
        ("directory", "create"): 16677153.082,
        ("directory", "stat"): 6710886.4,
        ("directory", "rename"): 10810061.856,
    }
    assert _means("real-3.4.0-ranks.txt")["directory", "rename"] == 6788376.574


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Mdtest(), [output(name) for name in NAMES])


@pytest.mark.parametrize(
    ("name", "tasks", "means"),
    [
        (
            "1.8.3.txt",
            "21",
            {
                ("directory", "create"): 1460.375,
                ("directory", "stat"): 9750.3,
                ("directory", "remove"): 1610.25,
                ("file", "create"): 970.5,
                ("file", "stat"): 8650.4,
                ("file", "remove"): 1102.9,
                ("tree", "create"): 105.4,
                ("tree", "remove"): 52.9,
            },
        ),
        (
            "1.9.3-files.txt",
            "1",
            {
                ("file", "create"): 422.661,
                ("file", "stat"): 2947.822,
                ("file", "remove"): 435.508,
                ("tree", "create"): 456.378,
                ("tree", "remove"): 91.069,
            },
        ),
        ("real-3.4.0.txt", "10", {("file", "create"): 2943.686, ("tree", "create"): 1079.858}),
        (
            "3.3.0.txt",
            "504",
            {
                ("directory", "create"): 15679.29,
                ("directory", "stat"): 26156.989,
                ("directory", "remove"): 12943.706,
                ("file", "create"): 14252.77,
                ("file", "stat"): 23503.489,
                ("file", "remove"): 15187.032,
                ("tree", "create"): 19325.585,
                ("tree", "remove"): 11941.896,
            },
        ),
        (
            "4.1.0.txt",
            "128",
            {
                ("file", "create"): 6996.044,
                ("file", "stat"): 91063.34,
                ("file", "read"): 89099.077,
                ("file", "remove"): 24424.384,
                ("tree", "create"): 1982.139,
                ("tree", "remove"): 97.632,
            },
        ),
        ("4.0.0-ranks.txt", "8", {("file", "create"): 3450.375, ("file", "stat"): 65000.375}),
        ("1.9.3-nan.txt", "4", {("file", "create"): 812.5, ("file", "remove"): 905.25}),
    ],
)
def test_the_phases_that_were_run_in_every_version(name: str, tasks: str, means: dict[tuple[str, str], float]) -> None:
    assert _means(name) == means
    assert _means(name, tasks=tasks) == means


def test_every_statistic_is_told_by_its_own_heading() -> None:
    assert _rates("4.1.0.txt", statistic="max")["file", "stat"] == 97175.603
    assert _rates("4.1.0.txt", statistic="min")["file", "stat"] == 57844.142
    turned = (
        text("mdtest/4.1.0.txt")
        .replace("Max            Min           Mean", "Mean           Max            Min ")
        .replace("7147.432       6789.531       6996.044", "6996.044       7147.432       6789.531")
    )
    found = {dict(marks)["statistic"]: value for _, value, marks in read(Mdtest(), turned.partition("   File stat")[0])}
    assert found == {"max": 7147.432, "min": 6789.531, "mean": 6996.044}


def test_a_sweep_of_tasks_is_told_apart() -> None:
    assert _means("1.9.3-sweep.txt", tasks="2", total_items="200") == {("file", "create"): 400.5}
    assert _means("1.9.3-sweep.txt", tasks="4", total_items="400") == {("file", "create"): 750.25}


@pytest.mark.parametrize(
    "heading", ["SUMMARY time: (of 10 iterations)", "SUMMARY rate (in kops/sec): (of 10 iterations)"]
)
def test_times_and_other_units_under_the_same_headings_are_not_rates(heading: str) -> None:
    other = text("mdtest/4.1.0.txt").replace("SUMMARY rate (in ops/sec): (of 10 iterations)", heading)
    with pytest.raises(ProbeOutputError):
        Mdtest().parse(Output((), other.encode()))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("6996.044", "9996.044"),
        ("6996.044", "    -nan"),
        ("6996.044", "     inf"),
        ("6789.531", "   0.000"),
        ("6996.044", "-696.044"),
        ("-- finished", "Process 3(n2): FAILED in create_remove_items_helper, unable to create file\n-- finished"),
        ("-- finished", "ior ERROR: cannot create test directory\n-- finished"),
    ],
)
def test_what_cannot_be_is_refused(old: str, new: str) -> None:
    assert old in text("mdtest/4.1.0.txt")
    with pytest.raises(ProbeOutputError):
        Mdtest().parse(Output((), text("mdtest/4.1.0.txt").replace(old, new, 1).encode()))


def test_a_failed_run_is_told_with_its_reason() -> None:
    with pytest.raises(ProbeOutputError, match="No space left on device"):
        Mdtest().parse(output(f"mdtest/{FAILED}"))
    with pytest.raises(ProbeOutputError, match="exit status 1"):
        Mdtest().parse(replace(output("mdtest/4.1.0.txt"), exit_status=1))


def test_other_tasks_than_were_started_are_refused() -> None:
    whole = text("mdtest/4.1.0.txt").encode()
    with pytest.raises(ProbeOutputError, match="128 tasks"):
        Mdtest().parse(Output(("mpirun", "-np", "64", "mdtest"), whole))
    head = text("mdtest/4.1.0.txt").partition("SUMMARY")[0]
    with pytest.raises(ProbeOutputError, match="before the run above it has a result"):
        Mdtest().parse(Output((), head.encode() + whole))


def test_one_run_inside_another_does_not_lend_it_its_tasks() -> None:
    head, title, table = text("mdtest/1.8.3.txt").partition("SUMMARY")
    found = read(Mdtest(), head.replace(" was launched", " was begun") + text("mdtest/1.9.3-files.txt") + title + table)
    told = [dict(marks).get("tasks") for _, _, marks in found]
    assert set(told[: len(read(Mdtest(), text("mdtest/1.9.3-files.txt")))]) == {"1"}
    assert told[-1] is None


def test_a_row_that_stands_twice_in_one_table_belongs_to_another() -> None:
    whole = text("mdtest/3.3.0.txt")
    row = next(line for line in whole.splitlines() if "Directory stat" in line)
    spoiled = whole.replace(row, row + "\n" + row.replace("Directory stat", "Directory creation"))
    assert {marks for _, _, marks in read(Mdtest(), spoiled)} == {
        marks
        for _, _, marks in read(Mdtest(), whole)
        if dict(marks)["object"] == "directory" and dict(marks)["operation"] in ("create", "stat")
    }


def test_the_first_line_of_a_capture_may_have_lost_digits() -> None:
    _, count, rest = text("mdtest/4.1.0.txt").partition("128 tasks")
    assert all("tasks" not in dict(marks) for _, _, marks in read(Mdtest(), count[1:] + rest))
    assert all(("tasks", "128") in marks for _, _, marks in read(Mdtest(), "\n" + count + rest))


def test_the_tag_of_a_rank_and_colours_change_nothing() -> None:
    for name in NAMES:
        if name.endswith(".txt"):
            lines = text(name).splitlines()
            for each in ("[1,0]<stdout>:{}\n", "\x1b[32m{}\x1b[0m\n", "    {}\n"):
                assert read(Mdtest(), "".join(map(each.format, lines))) == read(Mdtest(), text(name))


@pytest.mark.parametrize("check", SPOILED_CHECKS, ids=lambda check: check.__name__)
def test_spoiled_output_gives_no_other_number(check: SpoiledCheck) -> None:
    check(Mdtest(), NAMES)


def test_carriage_returns_change_nothing() -> None:
    assert read(Mdtest(), text("mdtest/4.1.0.txt").replace("\n", "\r\n")) == read(Mdtest(), text("mdtest/4.1.0.txt"))


# The launched command.


def _set(**options: str | int) -> Target:
    nodes: tuple[Node, ...] = tuple(
        replace(a_node(f"n{index}", f"10.0.0.{index}"), data_address=f"10.1.0.{index}") for index in (1, 2)
    )
    return Target(nodes[0], None, options, nodes)


def _words(**options: str | int) -> str:
    program = Mdtest().job(_set(**options)).program
    return " ".join(program[program.index("mdtest") :])


def test_the_command_line_in_letters_that_every_version_knows() -> None:
    assert _words() == "mdtest -n 1000 -z 0 -b 1 -i 1 -u -d ."
    assert _words(items=5000, depth=2, branch=8, unique=0, kind="files", bytes="4 KiB", repetitions=3) == (
        "mdtest -n 5000 -z 2 -b 8 -i 3 -F -w 4096 -e 4096 -d ."
    )
    assert Mdtest().job(_set(tasks=504, slots=252)).ranks == 504


def test_what_it_takes_of_all_is_declared() -> None:
    demands = Mdtest().demands(_set(shared="home", items=100, bytes="4 KiB"))
    assert demands.alone == frozenset(Part)
    assert demands.writes == 2 * 100 * 8192 + 1e6
    assert dict(demands.shared) == {"filesystem:home": demands.writes}
    assert Mdtest().estimate({"items": 100, "tasks": 10, "rate": 100}) == 20 + 8 * 1000 / 100


@pytest.mark.parametrize(
    "options",
    [
        {"tasks": 3},
        {"items": 0},
        {"items": 72, "depth": 2, "branch": 8},  # a tree of 73 directories
        {"depth": -1},
        {"branch": 0},
        {"unique": 2},
        {"kind": "links"},
        {"bytes": "big"},
        {"repetitions": 0},
        {"rate": 0},
        {"mdtest": "mdtest -C"},
    ],
)
def test_options_that_cannot_be_used_are_refused_before_anything_starts(options: dict[str, str | int]) -> None:
    with pytest.raises(PlanError):
        Mdtest().demands(_set(**options))


def test_it_waits_for_its_round_and_asks_the_head_alone() -> None:
    remotes = [FakeRemote(f"n{index}", lenient=True) for index in (1, 2)]
    contact = FakeContact(*remotes)
    asyncio.run(Mdtest().run(contact, _set()))
    assert contact.gathered == 1
    assert [len(remote.calls) for remote in remotes] == [1, 0]


@pytest.mark.parametrize(("given", "told"), [("-W 30", "30"), ("-W 0", None), ("-u", None)])
def test_a_time_stops_the_creation_of_files_only(given: str, told: str | None) -> None:
    capture = text("mdtest/3.3.0.txt").replace("mdtest -n 100", f"mdtest {given} -n 100")
    found = {
        (marks["object"], marks["operation"]): marks.get("stonewall")
        for marks in (dict(each) for _, _, each in read(Mdtest(), capture))
    }
    assert found.pop(("file", "create")) == told
    assert set(found.values()) == {None}
