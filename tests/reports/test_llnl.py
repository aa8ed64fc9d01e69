"""LLNL's milestone 464 through the real command: both tables of its report, cell by cell, and what they get wrong."""

import json
from pathlib import Path

import pytest

from benchconsole import topology
from tests.reports.typed_outputs import benchconsole, print_check, read_tables, spread, type_archive, type_ior
from tests.scenarios.commands import Ran

FILE = Path(topology.__file__).parent / "examples" / "llnl.yaml"
ALC, UBGL, SLIC = "alc[001-140]", "ubglio[001-128]", "slic[1-9]"
ARCHIVE = ("archive.throughput", SLIC, "1.042 GB/s")

BANDWIDTHS = {
    # MB/s: network write and read by netperf, disk write and read, the less of both, 60 % and 80 % of it
    "alc": {"network": (3158, 3030), "disk": (2100, 1540), "ceiling": (2100, 1540), "required": (1260, 924), "target": (1680, 1232)},
    "ubgl": {"network": (3301, 3288), "disk": (2100, 1540), "ceiling": (2100, 1540), "required": (1260, 924), "target": (1680, 1232)},
    "slic": {"network": (2003, 2189), "disk": (2100, 1540), "ceiling": (2003, 1540)},
}  # fmt: skip
"""The table of bandwidths, requirements and targets, save one cell: it gives slic 2,100 for writing, disk limited."""

RESULTS = (
    # nodes, operation, required, target, measured, % of required, % of target, and what the console says of each
    (ALC, "write", "1.26 GB/s", "1.68 GB/s", "1.81 GB/s", "143.7 %", "107.7 %", "1 pass"),
    (ALC, "read", "924 MB/s", "1.23 GB/s", "1.20 GB/s", "129.5 %", "97.2 %", "1 watch"),
    (UBGL, "write", "1.26 GB/s", "1.68 GB/s", "1.67 GB/s", "132.6 %", "99.5 %", "1 watch"),
    (UBGL, "read", "924 MB/s", "1.23 GB/s", "1.27 GB/s", "137.2 %", "102.9 %", "1 pass"),
)
"""The table of IOR results, save one cell: it prints 137.1 % where 1,268 of 924 are 137.2 %."""

PRINTED = (
    (ALC, "write", ("1,810 MB/s", "143.7 % of required", "107.7 % of target")),
    (ALC, "read", ("1,197 MB/s", "129.5 % of required", "97.2 % of target")),
    (UBGL, "write", ("1,671 MB/s", "132.6 % of required", "99.5 % of target")),
    (UBGL, "read", ("1,268 MB/s", "137.1 % of required", "102.9 % of target")),
)
"""The same cells as the report prints them."""

AT_ONCE = ("--peer", "hpss", "--at-once")
"""The nine nodes send to the archive together."""


@pytest.fixture(scope="module")
def check() -> Ran:
    return benchconsole("check", FILE, "--json")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The Markdown report of both IOR runs and of the nine sessions with the archive."""
    folder = tmp_path_factory.mktemp("llnl")
    db = ("--db", folder / "x.db")
    (folder / "alc.txt").write_text(type_ior(1810, 1197, 56))
    (folder / "ubgl.txt").write_text(type_ior(1671, 1268, 1024))
    benchconsole("ingest", FILE, "ior", folder / "alc.txt", "--members", ALC, "--label", "milestone", *db)
    ran = benchconsole("ingest", FILE, "ior", folder / "ubgl.txt", "--members", UBGL, "--session", "milestone", *db)
    assert ran.code == 3, ran.out  # the archive is not measured yet
    assert "137.1 % of required: 137.23 % here" in ran.out
    files = write_transfers(folder)
    ran = benchconsole("ingest", FILE, "archive", *files, *AT_ONCE, "--session", "milestone", *db)
    assert ran.code == 0, ran.out
    assert benchconsole("report", "milestone", "-o", folder / "r.md", *db).code == 0
    return (folder / "r.md").read_text()


def write_transfers(folder: Path) -> list[Path]:
    """The reports of the nine nodes on their transfers, which together bring 1,042 MB/s."""
    files = [folder / f"slic{number}.txt" for number in range(1, 10)]
    for file, rate in zip(files, spread(1042 / 9, 9, 2.0), strict=True):
        file.write_text(type_archive(rate))
    return files


def test_the_table_of_bandwidths(check: Ran) -> None:
    found = {each["clients"]: each for each in json.loads(check.out)["storage"]}
    for clients, cells in BANDWIDTHS.items():
        for cell, (write, read) in cells.items():
            values = found[clients][f"{cell}_Bps"]
            assert (values["write"], values["read"]) == pytest.approx((write * 1e6, read * 1e6)), (clients, cell)
    assert {name: (each["limited_by"]["write"], each["limited_by"]["read"]) for name, each in found.items()} == {
        "alc": ("FC port", "FC port"),
        "ubgl": ("FC port", "FC port"),
        "slic": ("network", "FC port"),
    }


def test_the_table_of_results(page: str) -> None:
    *rows, archive = read_tables(page, "Criteria")
    assert (archive["metric"], archive["number"], archive["outcome"][2:]) == (
        "sum of archive.throughput",
        "9",
        "1 pass",
    )
    assert archive["worst"].startswith("sum of 9 values: 1.04 GB/s, at least 1.00 GB/s")
    assert [
        (
            *row["applies to"].split("; operation="), row["required"], row["target"],
            row["worst"].partition(" (")[0], row["mean"],
            row["of required"], row["of target"], row["outcome"][2:], row["number"],
        )
        for row in rows
    ] == [
        (
            nodes, f"{operation}, statistic=max", f"at least 60 % of ceiling ({required})", f"80 % of ceiling ({target})",
            measured, measured, *shares, outcome, "1",
        )
        for nodes, operation, required, target, measured, *shares, outcome in RESULTS
    ]  # fmt: skip


def test_every_printed_cell_and_the_one_that_is_wrong(page: str) -> None:
    *rows, archive = read_tables(page, "As reported")
    assert (archive["metric"], archive["applies to"], archive["reported"]) == ARCHIVE
    assert (archive["here"], archive["from"], archive[""]) == ("1.042 GB/s", "sum of 9 measurements", "= agrees")
    assert [(row["applies to"], row["reported"]) for row in rows] == [
        (f"{nodes}; operation={operation}, statistic=max", cell)
        for nodes, operation, cells in PRINTED
        for cell in cells
    ]
    agreeing = {row["reported"]: row["here"] for row in rows if row[""] == "= agrees"}
    assert agreeing == {cell: cell.split(" of ")[0] for _, _, cells in PRINTED for cell in cells if "137.1" not in cell}
    (wrong,) = (row for row in rows if row[""] != "= agrees")
    assert (wrong["reported"], wrong["here"], wrong["from"], wrong[""]) == (
        "137.1 % of required", "137.23 %", "1,268 MB/s of 924 MB/s", "≠ differs",
    )  # fmt: skip


def test_check_says_what_the_report_gets_wrong_before_anything_is_measured(check: Ran) -> None:
    errors = {each["code"]: each["text"] for each in json.loads(check.out)["findings"] if each["severity"] == "error"}
    assert errors == {
        "storage-stated-above": "levi slic write: stated 2.10 GB/s (table of bandwidths, disk limited), the smallest layer"
        " allows 2.00 GB/s, limited by network (measured); after it come 2.10 GB/s of FC port",
        "reported-share": "ior.throughput (operation=read, statistic=max): 137.1 % of required is reported (table of IOR"
        " results); 1,268 MB/s of 924 MB/s is 137.23 %",
    }


@pytest.mark.parametrize(
    "sentence",
    [
        (
            "levi slic write: stated 2.10 GB/s (table of bandwidths, disk limited), the smallest layer allows 2.00 GB/s,"
            " limited by network (measured); after it come 2.10 GB/s of FC port [storage-stated-above]"
        ),
        ("137.1 % of required is reported (table of IOR results); 1,268 MB/s of 924 MB/s is 137.23 % [reported-share]"),
    ],
)
def test_each_mistake_is_a_sentence_on_the_terminal(sentence: str) -> None:
    assert sentence in print_check(FILE)


def test_transfers_that_did_not_run_at_once_have_no_sum(tmp_path: Path) -> None:
    db, files = ("--db", tmp_path / "x.db"), write_transfers(tmp_path)
    benchconsole("ingest", FILE, "archive", *files[:5], *AT_ONCE, "--label", "archive", *db)
    benchconsole("ingest", FILE, "archive", *files[5:], *AT_ONCE, "--session", "archive", *db)
    page = benchconsole("report", "archive", "--format", "md", *db).out
    row = read_tables(page, "As reported")[-1]
    assert (row["metric"], row["applies to"], row["reported"]) == ARCHIVE
    assert (row["here"], row["from"], row[""]) == ("–", "its tests ran in 2 rounds, not at once", "? unknown")


def test_nine_ftp_sessions_answer_the_clause_together(tmp_path: Path) -> None:
    db, files = ("--db", tmp_path / "x.db"), []
    for number, rate in enumerate(spread(1042 / 9, 9, 2.0), 1):
        seconds = round(10_737_418_240 / (rate * 1e6), 2)
        said = f"10737418240 bytes sent in {seconds} secs ({10_737_418_240 / seconds / 2**20:.4f} MB/s)\n"
        files.append(tmp_path / f"slic{number}.txt")
        files[-1].write_text(f"226 Transfer complete.\n{said}")
    benchconsole("ingest", FILE, "archive", *files, *AT_ONCE, "--label", "archive", *db)
    row = read_tables(benchconsole("report", "archive", "--format", "md", *db).out, "As reported")[-1]
    assert (row["here"], row["from"], row[""]) == ("1.042 GB/s", "sum of 9 measurements", "= agrees")
