import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Output, PlanError, ProbeOutputError, Target
from benchconsole.probes.testing import PROBE_CHECKS, Check, a_node
from benchconsole.probes.tools.bonnie.probe import Bonnie
from benchconsole.topology.copying import replace
from tests.probes.tools.captures import ROOT, output, read, said, text
from tests.probes.tools.spoiled import SPOILED_CHECKS, SpoiledCheck

NAMES = sorted(path.name for path in (ROOT / "bonnie").iterdir())
GIB16 = {"clients": "2", "size": "16GiB"}
FILES = {"clients": "1", "files": "16384"}


@pytest.mark.parametrize("check", PROBE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(Bonnie(), [output(f"bonnie/{name}") for name in NAMES])


SETTINGS = frozenset(("block", "direct", "file_size"))
"""Labels that the tables of conditions hold."""


def rates(name: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    found = said(Bonnie().parse(output(f"bonnie/{name}")))
    told = ((metric, value, (mark for mark in marks if mark[0] not in SETTINGS)) for metric, value, marks in found)
    return {(metric, frozenset(marks)): float(value) for metric, value, marks in told if metric != "bonnie.latency"}


def marked(**marks: str) -> frozenset[tuple[str, str]]:
    return frozenset(marks.items())


# Every number of every transcript: K/sec times 1,024, files and seeks as they stand.
EXPECTED: Mapping[str, Mapping[tuple[str, frozenset[tuple[str, str]]], float]] = {
    "1.03e.txt": {
        ("bonnie.write", marked(access="character", clients="1", size="8GiB")): 41320 * 1024,
        ("bonnie.write", marked(access="block", clients="1", size="8GiB")): 88123 * 1024,
        ("bonnie.rewrite", marked(access="block", clients="1", size="8GiB")): 35411 * 1024,
        ("bonnie.read", marked(access="character", clients="1", size="8GiB")): 39876 * 1024,
        ("bonnie.read", marked(access="block", clients="1", size="8GiB")): 101223 * 1024,
        ("bonnie.seeks", marked(clients="1", size="8GiB")): 1312.4,
        ("bonnie.files", marked(operation="create", pattern="sequential", **FILES)): 2310,
        ("bonnie.files", marked(operation="remove", pattern="sequential", **FILES)): 4120,
        ("bonnie.files", marked(operation="create", pattern="random", **FILES)): 2415,
        ("bonnie.files", marked(operation="remove", pattern="random", **FILES)): 5602,
    },
    "1.97.txt": {
        ("bonnie.write", marked(access="block", **GIB16)): 165472 * 1024,
        ("bonnie.rewrite", marked(access="block", **GIB16)): 71230 * 1024,
        ("bonnie.read", marked(access="block", **GIB16)): 412003 * 1024,
        ("bonnie.seeks", marked(**GIB16)): 352.7,
        ("bonnie.files", marked(operation="create", pattern="sequential", clients="2", files="16384")): 12031,
        ("bonnie.files", marked(operation="remove", pattern="sequential", clients="2", files="16384")): 15310,
        ("bonnie.files", marked(operation="create", pattern="random", clients="2", files="16384")): 13220,
        ("bonnie.files", marked(operation="remove", pattern="random", clients="2", files="16384")): 17711,
    },
    "1.96-files.csv": {
        ("bonnie.files", marked(operation=operation, pattern=pattern, clients="1", files="61440")): value
        for (pattern, operation), value in zip(
            [(pattern, each) for pattern in ("sequential", "random") for each in ("create", "stat", "remove")],
            (1833, 2140, 1401, 1909, 2088, 1310),
            strict=True,
        )
    },
    "1.98-two-runs.csv": {
        ("bonnie.write", marked(access="block", clients="1", size="64GiB")): 2011332 * 1024,
        ("bonnie.rewrite", marked(access="block", clients="1", size="64GiB")): 998140 * 1024,
        ("bonnie.read", marked(access="block", clients="1", size="64GiB")): 3210044 * 1024,
        ("bonnie.seeks", marked(clients="1", size="64GiB")): 18231,
        ("bonnie.write", marked(access="block", clients="1", size="64GiB", run="2")): 1987551 * 1024,
        ("bonnie.rewrite", marked(access="block", clients="1", size="64GiB", run="2")): 998140 * 1024,
        ("bonnie.read", marked(access="block", clients="1", size="64GiB", run="2")): 3210044 * 1024,
        ("bonnie.seeks", marked(clients="1", size="64GiB", run="2")): 18002,
    },
    "2.00-direct.txt": {
        ("bonnie.write", marked(access="block", clients="1", size="3GiB")): 82320 * 1024,
        ("bonnie.rewrite", marked(access="block", clients="1", size="3GiB")): 244184 * 1024,
        ("bonnie.read", marked(access="block", clients="1", size="3GiB")): 3855829 * 1024,
        ("bonnie.seeks", marked(clients="1", size="3GiB")): 5397,
        ("bonnie.files", marked(operation="create", pattern="sequential", **FILES)): 10385,
        ("bonnie.files", marked(operation="create", pattern="random", **FILES)): 28755,
    },
    "2.00-characters.txt": {
        ("bonnie.write", marked(access="character", clients="1", size="96MiB")): 837 * 1024,
        ("bonnie.read", marked(access="character", clients="1", size="96MiB")): 1520 * 1024,
    },
    "2.00-own-cached.txt": {},
    "1.96-fast.txt": {
        ("bonnie.write", marked(access="block", clients="1", size="4018MiB")): 56561 * 1024,
        ("bonnie.rewrite", marked(access="block", clients="1", size="4018MiB")): 32386 * 1024,
        ("bonnie.read", marked(access="block", clients="1", size="4018MiB")): 88826 * 1024,
        ("bonnie.seeks", marked(clients="1", size="4018MiB")): 110.1,
    },
    "1.03c-fast-table.txt": {
        ("bonnie.write", marked(access="block", clients="1", size="8GiB")): 132035 * 1024,
        ("bonnie.rewrite", marked(access="block", clients="1", size="8GiB")): 56505 * 1024,
        ("bonnie.read", marked(access="block", clients="1", size="8GiB")): 168485 * 1024,
        ("bonnie.seeks", marked(clients="1", size="8GiB")): 325.7,
        **{
            ("bonnie.files", marked(operation=operation, pattern=pattern, clients="1", files="1048576")): value
            for (pattern, operation), value in zip(
                [(pattern, each) for pattern in ("sequential", "random") for each in ("create", "stat", "remove")],
                (20728, 385904, 352, 11134, 502866, 222),
                strict=True,
            )
        },
    },
}
EXPECTED = {**EXPECTED, "1.97-table.txt": EXPECTED["1.97.txt"]}
EXPECTED["real-1.96-fast.csv"] = {
    ("bonnie.write", marked(access="block", clients="1", size="7423MiB")): 72853 * 1024,
    ("bonnie.rewrite", marked(access="block", clients="1", size="7423MiB")): 47358 * 1024,
    ("bonnie.read", marked(access="block", clients="1", size="7423MiB")): 156821 * 1024,
    ("bonnie.seeks", marked(clients="1", size="7423MiB")): 537.7,
    **{
        ("bonnie.files", marked(operation=operation, pattern=pattern, clients="1", files="102400")): value
        for pattern, operation, value in (
            ("sequential", "create", 49223),
            ("sequential", "remove", 54405),
            ("random", "create", 2898),
            ("random", "remove", 59089),
        )
    },
}


@pytest.mark.parametrize("name", NAMES)
def test_every_rate_of_every_version(name: str) -> None:
    assert rates(name) == EXPECTED[name]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("1.03e.txt", []),
        ("1.97.txt", [1.045, 2.21, 0.091203, 0.128, 803e-6, 412e-6, 1090e-6, 622e-6, 38e-6, 1180e-6]),
        ("real-1.96-fast.csv", [0.512, 0.67, 0.04466, 0.2, 3747e-6, 1759e-6, 1643e-6, 33518e-6, 192e-6, 839e-6]),
        ("1.96-files.csv", [3.874, 6.645, 101, 0.505, 7.257, 9.627]),
        ("2.00-characters.txt", [0.078863, 0.02201, 0.004091, 0.037992, 306e-6, 0.026628]),
        (
            "2.00-own-cached.txt",
            [2225e-6, 558e-6, 1684e-6, 38668e-6, 12845e-6, 57e-6, 242e-6, 27992e-6, 267e-6, 1569e-6],
        ),
    ],
)
def test_latencies_have_their_own_unit_each(name: str, expected: list[float]) -> None:
    found = [one.value for one in Bonnie().parse(output(f"bonnie/{name}")) if one.metric == "bonnie.latency"]
    assert found == pytest.approx(expected, rel=1e-9)


def test_a_table_gives_what_the_line_gives_or_nothing() -> None:
    whole = text("bonnie/2.00-direct.txt")
    table = whole[: whole.index("1.98,2.00a")]
    assert "80.4m" in table
    assert "16384" in table
    found = read(Bonnie(), table)
    assert set(found) < set(said(Bonnie().parse(output("bonnie/2.00-direct.txt"))))
    assert [one[1] for one in found if one[0] != "bonnie.latency"] == [5397]


def test_a_table_of_which_everything_is_rounded_asks_for_the_line() -> None:
    row = "n1               3G           80.4m  33  238m  71            3.7g  76 +++++ +++\n"
    head = "".join(text("bonnie/2.00-direct.txt").splitlines(keepends=True)[:3])
    with pytest.raises(ProbeOutputError, match="whole CSV line"):
        Bonnie().parse(Output((), (head + row).encode()))


def test_the_seeks_of_an_old_table_are_rounded_from_a_thousand_on() -> None:
    table = text("bonnie/1.03e.txt").partition("n1,8G")[0]
    names = [one[0] for one in read(Bonnie(), table)]
    assert "bonnie.seeks" not in names
    assert "bonnie.seeks" in [one[0] for one in read(Bonnie(), table.replace("  1312   1", " 312.4   1"))]


def test_the_page_cache_is_named_where_it_could_hold_the_file() -> None:
    """Direct I/O reaches only the first writing, whatever bonnie++ was asked for."""
    cached = text("bonnie/2.00-own-cached.txt")
    large = re.sub(r"memory=\d+", "memory=1048576", cached)
    later = {"rewrite", "read", "seeks"}
    for whole, expected in (
        (cached, {"write", *later}),
        (cached.replace("direct=0", "direct=1"), later),
        (large, set()),
        (large.replace("direct=0", "direct=1"), set()),
        (cached.partition("\n")[2], set()),
    ):
        marks = [dict(one.labels) for one in Bonnie().parse(Output((), whole.encode()))]
        assert {one["operation"] for one in marks if one.get("cached") == "possible"} == expected


@pytest.mark.parametrize(
    "complaint",
    [
        "Writing a byte at a time...Can't write() - disk full?",
        "Writing intelligently...Bonnie: drastic I/O error (write(2)): No space left on device",
        "Can't open file ./Bonnie.1234.000",
    ],
)
def test_a_run_that_complained_is_a_failure(complaint: str) -> None:
    with pytest.raises(ProbeOutputError, match="complaint"):
        Bonnie().parse(Output((), f"{complaint}\n{text('bonnie/1.97.txt')}".encode()))


def test_a_failed_command_gives_no_number() -> None:
    with pytest.raises(ProbeOutputError, match="exit status 1"):
        Bonnie().parse(replace(output("bonnie/1.97.txt"), exit_status=1))


@pytest.mark.parametrize("value", ["-2147483648", "nan", "inf", "1e99", "12a", "4.55", "0"])
def test_no_absurd_number_becomes_a_reading(value: str) -> None:
    spoiled = text("bonnie/2.00-direct.txt").replace(",82320,", f",{value},")
    assert set(read(Bonnie(), spoiled)) <= set(said(Bonnie().parse(output("bonnie/2.00-direct.txt"))))


def test_a_line_of_another_length_is_refused() -> None:
    with pytest.raises(ProbeOutputError, match="cells"):
        Bonnie().parse(Output((), text("bonnie/1.98-two-runs.csv").replace(",8192,5,", ",8192,").encode()))


def test_a_concurrency_that_is_lost_is_no_label() -> None:
    whole = text("bonnie/1.97-table.txt")
    head, _, rest = whole.partition("Concurrency")
    assert read(Bonnie(), head + "urrency" + rest) == []


def test_tables_of_two_versions_do_not_lend_each_other_their_clients() -> None:
    modern, old = text("bonnie/1.97-table.txt"), text("bonnie/1.03c-fast-table.txt")
    creating = old[old.index(f"{' ' * 20}------Sequential Create") :]
    found = read(Bonnie(), modern[: modern.index("Version", 9)] + creating)
    files = [dict(marks)["clients"] for name, _, marks in found if name == "bonnie.files"]
    assert (len(files), set(files)) == (6, {"1"})


@pytest.mark.parametrize("check", SPOILED_CHECKS, ids=lambda check: check.__name__)
def test_spoiled_output_gives_no_other_number(check: SpoiledCheck) -> None:
    check(Bonnie(), [f"bonnie/{name}" for name in NAMES])


def test_line_ends_of_another_system_change_nothing() -> None:
    for name in NAMES:
        assert read(Bonnie(), text(f"bonnie/{name}").replace("\n", "\r\n")) == read(Bonnie(), text(f"bonnie/{name}"))


def test_colours_blanks_at_the_end_and_indentation_change_nothing() -> None:
    for name in NAMES:
        lines = text(f"bonnie/{name}").splitlines()
        for each in ("\x1b[1m{}\x1b[0m\n", "{}  \n", "    {}\n"):
            assert read(Bonnie(), "".join(map(each.format, lines))) == read(Bonnie(), text(f"bonnie/{name}"))


def test_a_notice_before_the_concurrency_does_not_make_it_one() -> None:
    table = text("bonnie/1.97-table.txt")
    spoiled = table.replace("\nConcurrency", "\nwelcome\nConcurrency", 1)
    assert spoiled != table
    assert read(Bonnie(), spoiled) == []


# -- the command


def script(root: Path | str, **options: str | int | float) -> list[str]:
    chosen = {"scratch": str(root), "size": "32 MiB", "files": 1024, **options}
    return list(Bonnie().command(Target(a_node(), options=MappingProxyType(chosen))))


@pytest.mark.parametrize(
    ("options", "flags"),
    [({}, "-D -f"), ({"direct_write": 0}, "-f"), ({"direct_write": 0, "characters": 1}, "")],
)
def test_what_bonnie_is_told(tmp_path: Path, options: dict[str, int], flags: str) -> None:
    tools, root = tmp_path / "bin", tmp_path / "root"
    tools.mkdir()
    root.mkdir()
    (tools / "bonnie++").write_text('#!/bin/sh\necho "$LC_ALL $*" >&2\n')
    (tools / "bonnie++").chmod(0o755)
    done = subprocess.run(
        script(root, **options),
        env={"PATH": f"{tools}:/usr/sbin:/usr/bin:/sbin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert done.returncode == 0, done.stderr
    told = re.fullmatch(
        rf"C -d {root}/benchconsole\.none\.\w+ -s 32 -r 0 -n 1 -m \S+(.*?)( -u \d+:\d+)?\n", done.stderr
    )
    assert told is not None, done.stderr
    assert told[1].strip() == flags
    assert list(root.iterdir()) == []
    assert re.fullmatch(r"benchconsole: bonnie\+\+ size=33554432 memory=\d+ direct=[01]\n", done.stdout)


@pytest.mark.parametrize(
    "options",
    [
        {"size": "much"},
        {"size": "1 TB/s"},
        {"size": "1500 KiB"},
        {"size": "2 TiB"},
        {"files": -1},
        {"files": 1000},
        {"direct_write": 2},
        {"direct_write": 1, "characters": 1},
        {"rate": "0 B/s"},
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, str | int | float]) -> None:
    ask = Bonnie().estimate if "rate" in options else lambda chosen: script("/tmp", **chosen)
    with pytest.raises(PlanError):
        ask(options)


def test_what_it_writes_is_declared() -> None:
    target = Target(a_node(), options=MappingProxyType({"size": "1 GiB", "files": 2048, "shared": "home"}))
    demands = Bonnie().demands(target)
    assert demands.writes == 2**30 + 2048 * 4096 == Bonnie().space(target.options)
    assert dict(demands.shared) == {"filesystem:home": demands.writes}


@pytest.mark.skipif(shutil.which("bonnie++") is None, reason="bonnie++ is not installed here")
def test_a_real_run_is_read(tmp_path: Path) -> None:
    done = subprocess.run(
        script(tmp_path, direct_write=0, files=0, size="4 MiB"), capture_output=True, check=False, timeout=120
    )
    found = Bonnie().parse(Output((), done.stdout, done.stderr, done.returncode))
    (cells,) = (line.split(",") for line in done.stdout.decode().splitlines() if line.startswith("1.98,"))
    printed = [cell for cell in (*cells[9:21:2], *cells[26:38:2], *cells[38:]) if cell.strip("+")]
    assert sorted(one.raw for one in found) == sorted(printed)
    assert {dict(one.labels).get("cached") for one in found} == {"possible"}
    assert list(tmp_path.iterdir()) == []
