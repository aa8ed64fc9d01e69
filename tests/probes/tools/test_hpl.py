import asyncio
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Output, Part, PlanError, ProbeOutputError, RemoteError, Target
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.plugins.probe_output import read_output
from benchconsole.probes.readers.readings import add_labels
from benchconsole.probes.testing import PROBE_CHECKS, Check, FakeContact, FakeRemote
from benchconsole.probes.tools.hpl import input_file
from benchconsole.probes.tools.hpl.probe import Hpl
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Node, Stage, Suite
from tests.probes.tools.captures import ROOT, noise, output, read, said, text, values
from tests.probes.tools.played import Local, node, play
from tests.probes.tools.spoiled import a_line_that_is_lost_gives_no_other_number
from tests.probes.tools.torn import noise_changes_nothing_and_a_cut_gives_fewer

FAILED = "hpl/2.2-failed.txt"
ALL = sorted(f"hpl/{path.name}" for path in (ROOT / "hpl").iterdir() if not re.search("failed|mixed", path.name))
ONE, TWO, OLD = "hpl/2.3-one-node.txt", "hpl/2.1-two-tests.txt", "hpl/1.0a-three-checks.txt"
GIB = 2.0**30


def nodes_of(*nodes: Node, **options: str | int | float) -> Target:
    return Target(nodes[0], None, options, nodes)


def big(index: int, memory: float = 64 * GIB, cores: int = 4) -> Node:
    return node(index, **{"memory.total": memory, "cpu.cores": float(cores)})


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Hpl(), [output(name) for name in ALL if name not in (ONE, "hpl/2.3-intel-columns.txt")])


def test_rate_time_and_residual_are_read_with_what_was_solved() -> None:
    grid = (("n", "23314"), ("nb", "256"), ("p", "1"), ("q", "4"), ("variant", "WR11C2R4"))
    marks = (("broadcast", "1ringM"), ("depth", "1"), ("mapping", "row"), *grid)
    assert said(Hpl().parse(output(ONE))) == [
        ("hpl.rate", pytest.approx(26.495e9), marks),
        ("hpl.time", 318.89, marks),
        ("hpl.residual", 3.83945609e-3, marks),
    ]


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("hpl/nvidia-per-gpu.txt", 1.698e13), ("hpl/2.3-intel-columns.txt", 8.20651e11),
        (OLD, 8.255e9), ("hpl/2.0-hpcc-1.5.0.txt", 3.997e9),
    ],
)  # fmt: skip
def test_other_versions_and_vendors_are_read(name: str, rate: float) -> None:
    assert values(Hpl().parse(output(name)))["hpl.rate"] == [pytest.approx(rate)]


def test_all_three_residuals_of_version_1_are_told_apart() -> None:
    told = [
        (value, dict(marks)["check"]) for name, value, marks in said(Hpl().parse(output(OLD))) if "residual" in name
    ]
    assert told == [
        (0.0412956, "||Ax-b||_oo/(eps*||A||_1*N)"),
        (0.0272613, "||Ax-b||_oo/(eps*||A||_1*||x||_1)"),
        (0.0053214, "||Ax-b||_oo/(eps*||A||_oo*||x||_oo)"),
    ]


def test_a_problem_that_is_solved_again_is_told_by_its_run() -> None:
    told = [(value, dict(marks).get("run")) for name, value, marks in said(Hpl().parse(output(TWO))) if "time" in name]
    assert told == [(203.33, None), (201.07, "2"), (1213.31, None)]


def test_a_residual_that_failed_refuses_the_rate() -> None:
    with pytest.raises(ProbeOutputError, match=r"1893234.*FAILED"):
        Hpl().parse(output(FAILED))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("...... PASSED", "...... FAILED"),
        ("0 tests completed and failed", "1 tests completed and failed"),
        ("0 tests skipped", "1 tests skipped"),
        ("2.6495e+01", "2.6495e+02"), ("2.6495e+01", "nan"), ("2.6495e+01", "2649.5"), ("2.6495e+01", "0.0000e+00"),
        ("318.89", "31.889"), ("318.89", "-318.89"), ("318.89", "inf"),
        ("3.83945609e-03", "nan"), ("3.83945609e-03", "-1.0"), ("3.83945609e-03", "1.7e+01"),
        ("23314   256     1     4", "22314   256     1     4"),
        ("T/V                N", "HPL ERROR from process # 0, on line 419 of function HPL_pdinfo:\nT/V                N"),
        ("Finished ", "mpirun noticed that process rank 1 exited on signal 9\nFinished "),
        ("Time                 Gflops", "Time                 Mflops"),
    ],
)  # fmt: skip
def test_an_unsound_run_gives_nothing_whatever_rate_it_printed(old: str, new: str) -> None:
    assert old in text(ONE)
    with pytest.raises(ProbeOutputError):
        Hpl().parse(Output((), text(ONE).replace(old, new).encode()))


def test_a_benchmark_of_mixed_precision_is_no_hpl() -> None:
    """rocHPL-MxP prints title, table, check and end of HPL, and a rate several times that of the same GPU in HPL."""
    mixed = text("hpl/mixed-precision-rochpl-mxp.txt")
    with pytest.raises(ProbeOutputError, match=r"HPLMXP_pdgesv.* expected HPL.*mixed precision"):
        Hpl().parse(Output((), mixed.encode()))
    assert values(Hpl().parse(Output((), mixed.replace("HPLMXP_", "HPL_").encode())))["hpl.rate"]  # by nothing else
    with pytest.raises(ProbeOutputError, match="mixed precision"):
        Hpl().parse(Output((), b"HPL-MxP Benchmark\n" + output(ONE).stdout))
    assert read(Hpl(), "mpirun /opt/rocHPL-MxP/../hpl/xhpl\n" + text(ONE)) == said(Hpl().parse(output(ONE)))


def test_an_error_on_the_other_stream_refuses_the_rate() -> None:
    complaint = b"HPL ERROR from process # 0, on line 610 of function HPL_pdinfo:\n>>> Need at least 8 processes <<<\n"
    with pytest.raises(ProbeOutputError, match="Need at least 8 processes"):
        Hpl().parse(replace(output(ONE), stderr=complaint))


def test_a_row_is_not_read_before_the_rule_below_its_last_check() -> None:
    whole = text(OLD)
    second = whole.index("||Ax-b||_oo / ( eps * ||A||_1  * ||x||_1  ) =")
    assert read(Hpl(), whole[:second]) == []
    assert read(Hpl(), whole[: whole.index("\nFinished")]) == said(Hpl().parse(output(OLD)))


@settings(max_examples=60)
@given(noise, st.sampled_from(ALL), st.data())
def test_noise_and_cuts_never_give_another_number(around: str, name: str, data: st.DataObject) -> None:
    noise_changes_nothing_and_a_cut_gives_fewer(Hpl(), name, around, data)


@settings(max_examples=60)
@given(st.sampled_from("0123456789.- "), st.data())
def test_a_wrong_digit_never_gives_another_rate(letter: str, data: st.DataObject) -> None:
    begin = text(ONE).index("WR11C2R4")
    at = data.draw(st.integers(begin, text(ONE).index("\n", begin) - 1))
    spoiled = text(ONE)[:at] + letter + text(ONE)[at + 1 :]
    for name, value, marks in read(Hpl(), spoiled):
        if name == "hpl.rate" and dict(marks)["n"] == "23314":
            assert value == pytest.approx(26.495e9, rel=0.05)


# -- what is run


def asked(target: Target, memory: float = GIB) -> Mapping[str, str]:
    return input_file.read_problem(Hpl().job(target, memory).files["HPL.dat"].splitlines())


def test_the_order_follows_from_a_share_of_the_declared_memory() -> None:
    order = int(asked(nodes_of(big(1)), 64 * GIB)["n"])

    assert order % 192 == 0
    assert 0.49 < 8 * order**2 / (64 * GIB) <= 0.5
    both = int(asked(nodes_of(big(1), big(2), memory=0.25), 64 * GIB)["n"])
    assert 0.49 < 8 * both**2 / (64 * GIB) <= 0.5


def test_a_given_problem_and_grid_are_taken_as_they_are() -> None:
    told = asked(nodes_of(big(1), big(2), problem=2000, block=64, rows=4, ranks=4))
    assert told == {"n": "2000", "nb": "64", "p": "4", "q": "2"}
    assert asked(nodes_of(big(1, cores=12), problem=500)) == {"n": "500", "nb": "192", "p": "3", "q": "4"}


def test_the_time_limit_and_the_estimate_follow_the_order_and_the_speed() -> None:
    assert Hpl().estimate({}) == 10 + 1800
    work = 2 / 3 * 30_000**3 / 1e9
    assert Hpl().estimate({"problem": 30_000, "speed": "1 GFLOP/s", "ranks": 2}) == pytest.approx(10 + work / 2)
    job = Hpl().job(nodes_of(big(1), problem=30_000, speed="1 GFLOP/s", ranks=2), 1.0)
    assert job.seconds == pytest.approx(3 * (10 + work / 2) + 60)
    assert Hpl().demands(nodes_of(big(1))).alone == frozenset(Part)


@pytest.mark.parametrize(
    "options",
    [
        {"memory": 0}, {"memory": 1.5}, {"problem": -1}, {"block": 0}, {"rows": 3}, {"ranks": -1}, {"threads": -1},
        {"speed": "1 GB/s"}, {"program": "xhpl; rm"}, {"seconds": 0}, {"network": "1.2.3.4"},
    ],
)  # fmt: skip
def test_options_that_cannot_be_used_are_refused_before_anything_starts(options: dict[str, str | int]) -> None:
    with pytest.raises(PlanError, match=f"option {next(iter(options))}"):
        Hpl().demands(nodes_of(big(1), **options))


def _described(index: int) -> str:
    return f"  n{index}: {{class: c, address: 10.0.0.{index}, data_address: 10.1.0.{index}}}"


def test_each_node_is_a_set_of_its_own_unless_asked_otherwise() -> None:
    lines = ("schema: 1", "fabric: f", "switches: {leaf: {role: leaf}}", "classes: {c: {memory: 64 GiB}}", "nodes:")
    fabric = load_text("\n".join((*lines, *map(_described, (1, 2, 3)), "")), "f.yaml")
    nodes = tuple(fabric.nodes)
    for options, wanted in (({}, ["n1", "n2", "n3"]), ({"size": 0}, ["n[1-3]"])):
        suite = Suite("s", (Stage("hpl", nodes, options),))
        rounds = plan(fabric, suite, {"hpl": Hpl()})
        assert [[test.target.key for test in each.tests] for each in rounds] == [wanted]


def test_a_played_run_reads_our_input_and_gives_its_numbers(tmp_path: Path) -> None:
    mpirun = play(tmp_path, text(ONE))
    told: dict[str, str | int] = {
        "mpirun": mpirun.path,
        "scratch": str(tmp_path),
        "as_root": 1,
        "problem": 23314,
        "block": 256,
        "ranks": 4,
    }
    target = nodes_of(big(1), **told)
    contact = FakeContact(Local())
    (ran,) = asyncio.run(Hpl().run(contact, target))

    assert contact.gathered == 1
    assert mpirun.told[-3:] == ["-np", "4", "xhpl"]
    assert mpirun.input[3].split()[0] == "6"
    assert [mpirun.input[index].split()[0] for index in (5, 7, 10, 11)] == ["23314", "256", "2", "2"]
    with pytest.raises(ProbeOutputError, match="another input"):  # 2 x 2 was asked for, 1 x 4 was run
        Hpl().parse(ran)
    (same,) = asyncio.run(Hpl().run(contact, nodes_of(big(1), **told, rows=1)))
    assert "-x OMP_NUM_THREADS=1 -x OPENBLAS_NUM_THREADS=1 -x MKL_NUM_THREADS=1" in " ".join(mpirun.told)
    plain = Hpl().parse(output(ONE))  # of somebody else, who did not say it
    assert said(Hpl().parse(same)) == [(each.metric, each.value, add_labels(each.labels, threads=1)) for each in plain]
    (left,) = asyncio.run(Hpl().run(contact, nodes_of(big(1), **told, rows=1, threads=0)))
    assert "NUM_THREADS" not in " ".join(mpirun.told)
    assert said(Hpl().parse(left)) == said(plain)


def test_memory_that_nobody_declared_is_asked_for(tmp_path: Path) -> None:
    mpirun = play(tmp_path, text(ONE))
    target = nodes_of(node(1), mpirun=mpirun.path, scratch=str(tmp_path), as_root=1, memory=0.01)
    asyncio.run(Hpl().run(FakeContact(Local()), target))

    total = int(re.findall(r"MemTotal: +(\d+)", Path("/proc/meminfo").read_text())[0]) * 1024
    assert 8 * int(mpirun.input[5].split()[0]) ** 2 <= 0.01 * total
    mute = FakeRemote("n1", lenient=True)
    with pytest.raises(ProbeOutputError, match="MemTotal of n1"):
        asyncio.run(Hpl().run(FakeContact(mute), nodes_of(node(1))))


def test_a_run_that_fails_is_a_failure(tmp_path: Path) -> None:
    mpirun = play(tmp_path, text(ONE), complains="n1: out of memory\n", status=134)
    target = nodes_of(big(1), mpirun=mpirun.path, scratch=str(tmp_path), as_root=1)
    with pytest.raises(RemoteError, match="out of memory"):
        asyncio.run(Hpl().run(FakeContact(Local()), target))


def test_a_line_that_is_lost_gives_no_other_number() -> None:
    a_line_that_is_lost_gives_no_other_number(Hpl(), ALL)


@pytest.mark.parametrize(
    ("memory", "nodes", "share"),
    [
        (8 * 8640**2 / 0.5, 1, "50.00 %"),
        (8 * 8640**2 / 0.5, 2, "25.00 %"),
        (8 * 8640**2 / 0.8, 1, "80.00 %"),
        (0.0, 1, None),  # not declared
    ],
)
def test_a_number_says_which_share_of_the_memory_its_matrix_took(memory: float, nodes: int, share: str | None) -> None:
    target = nodes_of(*(big(index, memory) for index in range(1, nodes + 1)))
    readings, _ = read_output(Hpl(), output(TWO), target)
    known = [dict(each.labels) for each in readings]
    assert {found.get("memory_share") for found in known if found["n"] == "8640"} == {share}
