"""IOR: text, CSV and JSON of every major version, what makes a run worthless, and what is launched."""

import asyncio

import pytest

from benchconsole.probes.api import Output, Part, PlanError, ProbeOutputError, Target
from benchconsole.probes.testing import Check, FakeContact, FakeRemote, a_node
from benchconsole.probes.tools.ior.probe import Ior
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Node
from tests.probes.tools.captures import ROOT, contract_cases, output, read, said, text
from tests.probes.tools.spoiled import SPOILED_CHECKS, SpoiledCheck

SHORT = "3.3.0-short.txt"
NAMES = sorted(f"ior/{path.name}" for path in (ROOT / "ior").iterdir() if path.name != SHORT)
MIB = 2**20
TEXT, JSON = "ior/3.3.0.txt", "ior/3.3.0.json"


def _values(name: str, metric: str = "throughput", **marks: str) -> list[float]:
    found = Ior().parse(output(f"ior/{name}"))
    chosen = (one for one in found if one.metric == f"ior.{metric}" and marks.items() <= dict(one.labels).items())
    return [one.value for one in chosen]


@contract_cases(NAMES)
def test_contract(check: Check, names: list[str]) -> None:
    check(Ior(), [output(name) for name in names])


@pytest.mark.parametrize(
    ("name", "operation", "most", "least", "mean"),
    [
        ("2.10.3.txt", "write", 1726.15, 1698.02, 1712.09),
        ("2.10.3.txt", "read", 1141.55, 1120.30, 1130.93),
        ("2.10.3-verbose.txt", "write", 1800.5, 1800.5, 1800.5),
        ("3.0.1.txt", "write", 812.5, 790.25, 801.38),
        ("real-3.0.1-verbose.txt", "read", 9049.2, 9049.2, 9049.2),
        ("real-3.2.1.txt", "write", 287.1, 287.1, 287.1),
        ("real-4.0.0-verify.txt", "read", 1201.51, 1201.51, 1201.51),
        ("4.1.0-large-block.txt", "write", 1290.15, 1290.15, 1290.15),
        ("3.0.1.txt", "read", 3722.4, 3601.3, 3661.85),
        ("3.2.1.txt", "write", 640.5, 640.5, 640.5),
        ("3.3.0.txt", "write", 1453.25, 1401.5, 1427.38),
        ("4.0.0-slurm.txt", "read", 5120.25, 5090.13, 5105.19),
        ("3.3.0.json", "write", 1453.2512, 1401.5034, 1427.3773),
        ("3.2.0-invalid.json", "read", 5120.2501, 5090.1299, 5105.19),
    ],
)
def test_the_summary_of_every_version(name: str, operation: str, most: float, least: float, mean: float) -> None:
    found = {statistic: _values(name, operation=operation, statistic=statistic) for statistic in ("max", "min", "mean")}
    assert found == {"max": [most * MIB], "min": [least * MIB], "mean": [mean * MIB]}


@pytest.mark.parametrize(
    ("name", "operation", "rates"),
    [
        ("2.10.3-verbose.txt", "read", [4211]),
        ("3.0.1.txt", "read", [3601, 3722]),
        ("3.3.0.txt", "write", [1453.25, 1401.5]),
        ("4.1.0-quiet.txt", "write", [1223.48]),
        ("4.0.0.csv", "read", [2750.5]),
        ("3.3.0.json", "read", [5120.2501, 5090.1299]),
        ("3.3.0-stonewall.txt", "write", [815.25]),
        ("real-3.0.1-verbose.txt", "read", [9049]),
        ("real-4.0.0-verify.txt", "write", [580]),
    ],
)
def test_the_iterations_of_every_version(name: str, operation: str, rates: list[float]) -> None:
    found = [_values(name, operation=operation, iteration=str(number)) for number in range(len(rates))]
    assert found == [[rate * MIB] for rate in rates]
    assert _values(name, operation=operation, iteration=str(len(rates))) == []


def test_a_summary_that_stands_alone_is_its_maximum() -> None:
    assert _values("3.3.0-stonewall.txt", statistic="max") == [815.25 * MIB]


def test_the_labels_are_the_same_wherever_a_number_stands() -> None:
    marks = {"access": "file-per-process", "api": "POSIX", "block": "32MiB", "tasks": "32", "transfer": "512KiB"}
    for name in (TEXT, JSON):
        for one in Ior().parse(output(name)):
            assert marks.items() <= dict(one.labels).items()
    assert {dict(one.labels)["block"] for one in Ior().parse(output("ior/3.2.1.txt"))} == {"1.25GiB"}
    shared = {
        tuple(dict(one.labels)[name] for name in ("access", "api")) for one in Ior().parse(output("ior/3.0.1.txt"))
    }
    assert shared == {("shared-file", "MPIIO")}


def test_operations_are_read_where_they_are_the_rate_by_the_transfer() -> None:
    assert _values("3.3.0.txt", "operations", operation="write", statistic="max") == [2906.5]
    assert _values("2.10.3.txt", "operations", operation="read", statistic="mean") == [2261.85]
    assert _values("2.10.3-verbose.txt", "operations") == []  # 2.10 forgets the segments
    assert _values("3.0.1.txt", "operations") == []


def test_missing_bytes_are_a_failure_unless_time_was_to_stop_the_run() -> None:
    assert _values("3.3.0-stonewall.txt", operation="write") != []
    with pytest.raises(ProbeOutputError, match="aggregate file size"):
        Ior().parse(output(f"ior/{SHORT}"))


@pytest.mark.parametrize("words", ["-O stoneWallingStatusFile=/s/ior.stonewall", "-O stoneWallingWearOutIterations=8"])
def test_what_a_run_that_time_stopped_wrote_is_all_that_can_be_read(words: str) -> None:
    head, line, rest = text(f"ior/{SHORT}").partition("Command line")
    assert read(Ior(), f"{head}{line} : ior -r {words}\n{rest}") != []


@pytest.mark.parametrize(
    ("asked", "found", "moved", "accepted"),
    [(85899345920, 171798691840, 85899345920, True), (85899345920, 25769803776, 85899345920, False)],
)
def test_a_file_that_was_larger_before_is_no_loss(asked: int, found: int, moved: int, accepted: bool) -> None:
    whole = text(f"ior/{SHORT}")
    for old, new in (("= 85899345920.", asked), ("size      = 25769803776.", found), ("moved = 25769803776.", moved)):
        assert old in whole
        whole = whole.replace(old, f"{old.rpartition('=')[0]}= {new}.")
    assert (read(Ior(), whole) != []) is accepted


def test_a_maximum_below_an_iteration_is_refused() -> None:
    whole = text(TEXT).replace(
        "Max Write: 1453.25 MiB/sec (1523.84 MB/sec)", "Max Write: 1400.00 MiB/sec (1468.01 MB/sec)"
    )
    with pytest.raises(ProbeOutputError, match="no less than the 1453"):
        Ior().parse(Output((), whole.encode()))


def test_a_file_system_that_does_not_tell_its_size_is_no_complaint() -> None:
    told = "WARNING: unable to statfs() file system\n" + text(TEXT)
    assert read(Ior(), told) == said(Ior().parse(output(TEXT)))


def test_runs_of_the_same_test_are_told_apart() -> None:
    first = text("ior/real-3.2.1.txt")
    found = Ior().parse(Output((), (first + first.replace("287.10", "288.10").replace("301.05", "302.09")).encode()))
    means = [one for one in found if {("operation", "write"), ("statistic", "mean")} <= set(one.labels)]
    told = [(one.value / MIB, dict(one.labels).get("run")) for one in means if one.metric == "ior.throughput"]
    assert told == [(287.1, None), (288.1, "2")]


@pytest.mark.parametrize(
    "line",
    [
        "ior ERROR: open64() failed, errno = 13, Permission denied (aiori-POSIX.c:213)",
        "** error **",
        "[0] FAILED comparison of buffer containing 8-byte ints:",
        "ior WARNING: write(11, 0x7f, 1048576) returned -1, No space left on device",
        "WARNING: More tasks requested (64) than available (32),         running on 32 tasks.",
        "WARNING: incorrect data on read (8 errors found).",
        "WARNING: Task 0, partial write(), 65536 of 262144 bytes at offset 0",
        "MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD",
    ],
)
def test_a_complaint_is_a_failure_on_either_stream(line: str) -> None:
    with pytest.raises(ProbeOutputError):
        Ior().parse(Output((), (text(TEXT) + line + "\n").encode()))
    with pytest.raises(ProbeOutputError):
        Ior().parse(Output((), text(TEXT).encode(), f"{line}\n".encode()))


def test_what_the_network_says_of_itself_is_no_complaint() -> None:
    noisy = "WARNING: There was an error initializing an OpenFabrics device.\n" + text(TEXT)
    assert read(Ior(), noisy) == said(Ior().parse(output(TEXT)))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("3.3.0.txt", "bw(MiB/s)", "bw(MB/s)"),
        ("3.3.0.txt", "write     1453.25   ", "write     0.000000  "),
        ("3.3.0.txt", "write     1453.25   ", "write        -      "),
        ("3.3.0.txt", "Max Write: 1453.25", "Max Write: 453.25"),
        ("3.3.0.txt", "Max Write: 1453.25 MiB/sec (1523.84 MB/sec)", "Max Write: 0.00 MiB/sec (0.00 MB/sec)"),
        ("3.3.0.txt", "   1427.38 ", "   9427.38 "),
        ("3.3.0.txt", "   1427.38 ", "      -nan "),
        ("3.3.0.txt", "   1427.38 ", "       inf "),
        ("3.3.0.txt", "Max(MiB)   Min(MiB)", "Max(MB)   Min(MB)"),
        ("3.3.0.json", '"bwMeanMIB": 1427.3773', '"bwMeanMIB": -nan'),
        ("3.3.0.json", '"bwMeanMIB": 1427.3773', '"bwMeanMIB": 9427.3773'),
        ("3.3.0.json", '"bwMiB": 1453.2512', '"bwMiB": "inf"'),
        ("3.3.0.json", '"bwMiB": 1453.2512', '"bwMiB": 0.0000'),
        ("3.3.0.json", '"numTasks": 32', '"numTasks": "many"'),
    ],
)
def test_what_cannot_be_is_refused(name: str, old: str, new: str) -> None:
    whole = text(f"ior/{name}")
    assert old in whole
    with pytest.raises(ProbeOutputError):
        Ior().parse(Output((), whole.replace(old, new, 1).encode()))


def test_tasks_that_each_believe_to_be_alone_are_refused() -> None:
    alone = text("ior/4.1.0-quiet.txt").replace("tasks               : 480", "tasks               : 1")
    head, results = alone.partition("Results: ")[::2]
    with pytest.raises(ProbeOutputError, match="before the run above it has a result"):
        Ior().parse(Output((), (head + head + results + results).encode()))
    with pytest.raises(ProbeOutputError, match="1 tasks"):
        Ior().parse(Output(("mpirun", "-np", "4", "ior"), alone.encode()))
    assert Ior().parse(Output(("mpirun", "-np", "1", "ior"), alone.encode()))


def test_runs_one_after_the_other_are_both_read() -> None:
    both = text("ior/4.1.0-quiet.txt") + text("ior/3.2.1.txt")
    assert read(Ior(), both) == read(Ior(), text("ior/4.1.0-quiet.txt")) + read(Ior(), text("ior/3.2.1.txt"))


@pytest.mark.parametrize(
    ("name", "old", "new", "lost"),
    [
        ("3.3.0.txt", "api                 : POSIX\n", "api                 : POS\n", "api"),
        ("3.3.0.txt", ": file-per-process\n", ": file-p\n", "access"),
        ("3.0.1.txt", "= 4 (2 per node)", "= 4", "tasks"),
        ("3.2.0-invalid.json", '"API": "POSIX"', '"API": null', "api"),
    ],
)
def test_a_word_of_the_head_that_was_cut_is_no_label(name: str, old: str, new: str, lost: str) -> None:
    whole = text(f"ior/{name}")
    assert old in whole
    found, told = read(Ior(), whole.replace(old, new)), read(Ior(), whole)
    assert {one[:2] for one in found} == {one[:2] for one in told}
    assert all(any(one[:2] == each[:2] and set(one[2]) <= set(each[2]) for each in told) for one in found)
    assert any(lost not in dict(one[2]) for one in found)


def test_what_a_finished_run_said_of_itself_is_not_said_of_what_comes_after() -> None:
    stray = "Max Write: 812.50 MiB/sec (851.97 MB/sec)\n"
    found = read(Ior(), text("ior/3.2.1.txt") + stray)
    assert found[-1] == ("ior.throughput", 812.5 * MIB, (("operation", "write"), ("statistic", "max")))
    after = read(Ior(), text("ior/4.1.0-quiet.txt") + text("ior/4.0.0.csv"))
    assert after == read(Ior(), text("ior/4.1.0-quiet.txt")) + read(Ior(), text("ior/4.0.0.csv"))


def test_the_tag_of_a_rank_and_colours_change_nothing() -> None:
    for name in NAMES:
        if name.endswith(".txt"):
            lines = text(name).splitlines()
            for each in ("[1,0]<stdout>:{}\n", "\x1b[32m{}\x1b[0m\n", "    {}\n"):
                assert read(Ior(), "".join(map(each.format, lines))) == read(Ior(), text(name))


@pytest.mark.parametrize("check", SPOILED_CHECKS, ids=lambda check: check.__name__)
def test_spoiled_output_gives_no_other_number(check: SpoiledCheck) -> None:
    check(Ior(), NAMES)


# The launched command.


def _node(index: int) -> Node:
    return replace(a_node(f"n{index}", f"10.0.0.{index}"), data_address=f"10.1.0.{index}")


def _set(count: int = 2, **options: str | int) -> Target:
    nodes = tuple(_node(index) for index in range(1, count + 1))
    return Target(nodes[0], None, options, nodes)


def test_the_defaults_are_those_of_the_report() -> None:
    program = Ior().job(_set()).program
    assert " ".join(program[program.index("ior") :]) == (
        "ior -v -a POSIX -e -g -C -F -t 524288 -b 33554432 -s 1 -i 1 -d 0 -o ior.data"
    )


def test_a_shared_file_by_mpi_io_and_many_tasks() -> None:
    target = _set(2, api="MPIIO", access="shared-file", tasks=512, slots=256, reorder=0, segments=4, end_fsync=0)
    job = Ior().job(target)
    assert job.ranks == 512
    assert " ".join(job.program).endswith("ior -v -a MPIIO -g -t 524288 -b 33554432 -s 4 -i 1 -d 0 -o ior.data")
    assert job.writes == 512 * 4 * 2**25 + 1e6


def test_what_it_takes_of_all_is_declared() -> None:
    demands = Ior().demands(_set(2, shared="lustre", block="1 GiB"))
    assert demands.alone == frozenset(Part)
    assert demands.writes == 2 * 2**30 + 1e6
    assert dict(demands.shared) == {"filesystem:lustre": 2 * 2**30 + 1e6}
    assert Ior().estimate({"block": "1 GB", "transfer": "1 MB", "rate": "1 GB/s", "tasks": 10, "delay": 5}) == 20 + 30
    assert Ior().space({"tasks": 4, "block": "1 MiB"}) == 4 * 2**20


@pytest.mark.parametrize(
    "options",
    [
        {"tasks": -1},
        {"tasks": 3},  # more than the slots of two nodes
        {"api": "S3"},
        {"access": "both"},
        {"transfer": "3 MiB"},
        {"block": "big"},
        {"segments": 0},
        {"repetitions": 0},
        {"reorder": 2},
        {"delay": "soon"},
        {"rate": "0 MB/s"},
        {"ior": "ior -k"},
        {"scratch": "relative"},
    ],
)
def test_options_that_cannot_be_used_are_refused_before_anything_starts(options: dict[str, str | int]) -> None:
    with pytest.raises(PlanError):
        Ior().demands(_set(2, **options))


def test_it_waits_for_its_round_and_asks_the_head_alone() -> None:
    remotes = [FakeRemote(f"n{index}", lenient=True) for index in (1, 2)]
    contact = FakeContact(*remotes)
    asyncio.run(Ior().run(contact, _set(2)))
    assert contact.gathered == 1
    assert [len(remote.calls) for remote in remotes] == [1, 0]
