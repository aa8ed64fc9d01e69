"""Jetstream's second table and its figures through the real command: programs, dates, tuning, random against serial."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.reports.typed_outputs import benchconsole
from tests.reports.typed_tables import EXAMPLES, join_words, store_table, type_table

IU, TACC = "jetstream", "jetstream-tacc"
ONE, ALL = "b01-01", "@class:m630"
MAY, JUNE, BEFORE, AFTER = (f"2016-{day}T12:00:00Z" for day in ("05-04", "06-14", "08-04", "08-12"))

SERIAL = {
    # program, date, MB/s read and written by one instance
    IU: (("dd", MAY, 258, 316), ("dd", JUNE, 273, 173), ("ior", JUNE, 279, 165)),
    TACC: (("dd", MAY, 198, 90), ("dd", JUNE, 247, 251), ("ior", JUNE, 241, 255)),
}
RANDOM = {IU: (51, 17), TACC: (59, 20)}


def type_rate(program: str, operation: str, value: float, at: str, nodes: str = ONE, tasks: int = 0) -> dict[str, str]:
    """A cell of table 2, in MB/s."""
    labels = f"operation={operation}" + (f";tasks={tasks}" if tasks else "")
    return {"metric": f"{program}.throughput", "value": f"{value} MB/s", "nodes": nodes, "labels": labels, "date": at}


def compare(folder: Path, *arguments: str) -> Mapping[str, Any]:
    ran = benchconsole("compare", *arguments, "--json", "--db", folder / "x.db")
    found: Mapping[str, Any] = json.loads(ran.out)
    return found


def tell(found: Mapping[str, Any]) -> dict[str, tuple[float, str]]:
    """The change in percent and the outcome of each metric that is compared, by its operation and number of tasks."""
    return {
        f"{each['labels']['operation']} {each['labels'].get('tasks', 'many')}": (
            round(100 * each["effect"], 1), each["outcome"],
        )
        for each in found["metrics"]
        if "effect" in each
    }  # fmt: skip


@pytest.fixture
def tuning(tmp_path: Path) -> Path:
    """TACC's single and parallel maxima before and after the tuning, as two sessions."""
    for label, at, single, parallel in (
        ("before", BEFORE, (239, 96), ((14611, 128), (885, 48))),
        ("after", AFTER, (95, 68), ((14217, 166), (1253, 32))),
    ):
        rows = [
            type_rate("ior", name, value, at, tasks=1) for name, value in zip(("read", "write"), single, strict=True)
        ]
        rows += [
            type_rate("ior", name, value, at, ALL, tasks)
            for name, (value, tasks) in zip(("read", "write"), parallel, strict=True)
        ]
        assert store_table(tmp_path, TACC, label, rows).err == ""
    return tmp_path


def test_tuning_at_tacc_is_mixed(tuning: Path) -> None:
    """Parallel write 885 to 1,253, read 14,611 to 14,217, one instance 239 to 95 and 96 to 68, at 5 % spread."""
    found = compare(tuning, "before", "after", "--varied", "tasks", "--spread", "5 %")
    assert found["outcome"] == "mixed"
    assert tell(found) == {
        "write many": (41.6, "better"),
        "read many": (-2.7, "no effect"),
        "read 1": (-60.3, "worse"),
        "write 1": (-29.2, "worse"),
    }
    assert {each["assumed_spread"] for each in found["metrics"]} == {0.05}


def test_without_a_spread_the_changes_are_shown_and_nothing_is_claimed(tuning: Path) -> None:
    ran = benchconsole("compare", "before", "after", "--varied", "tasks", "--db", tuning / "x.db")
    assert ran.code == 3
    said = join_words(ran)
    assert "B against A: not comparable: 4 not comparable" in said
    for change in ("+41.6 %", "-2.70 %", "-60.3 %", "-29.2 %"):
        assert change in said


@pytest.mark.parametrize("site", [IU, TACC])
def test_serial_rows_by_program_and_date(tmp_path: Path, site: str) -> None:
    """Each cell of the serial rows of June is in the table of its session, with its program."""
    rows = [
        type_rate(program, operation, value, at)
        for program, at, *values in SERIAL[site]
        for operation, value in zip(("read", "write"), values, strict=True)
        if at == JUNE
    ]
    store_table(tmp_path, site, "june", rows)
    found = json.loads(benchconsole("report", "june", "--format", "json", "--db", tmp_path / "x.db").out)
    assert {(each["metric"], each["labels"]["operation"], each["value"]) for each in found["measurements"]} == {
        (f"{program}.throughput", operation, value * 1e6)
        for program, at, *values in SERIAL[site]
        for operation, value in zip(("read", "write"), values, strict=True)
        if at == JUNE
    }
    assert {each["labels"]["typed"] for each in found["measurements"]} == {"by hand"}


@pytest.mark.parametrize(
    ("site", "operation", "of_serial"),
    [(IU, "read", 0.187), (IU, "write", 0.098), (TACC, "read", 0.239), (TACC, "write", 0.080)],
)
@pytest.mark.parametrize("is_met", [True, False])
def test_random_against_serial_of_the_same_day(
    tmp_path: Path, site: str, operation: str, of_serial: float, is_met: bool
) -> None:
    """On order 1/5 of serial reads and 1/10 of serial writes, a criterion of one metric against another one."""
    place = ("read", "write").index(operation)
    bound = of_serial * 100 + (-0.1 if is_met else 0.1)
    criterion = (
        f"  - {{metric: fio.{operation}, where: {{pattern: random}}, at_least: {bound:.1f} %,"
        f" of: {{metric: fio.{operation}, where: {{pattern: sequential}}}}, source: 5.1.2.1}}\n"
    )
    file = tmp_path / "j.yaml"
    file.write_text((EXAMPLES / f"{site}.yaml").read_text().replace("reported: ", criterion + "reported: "))
    rows = [
        {
            "metric": f"fio.{operation}",
            "value": f"{value} MB/s",
            "nodes": ONE,
            "labels": f"pattern={pattern}",
            "date": JUNE,
        }
        for pattern, value in (("random", RANDOM[site][place]), ("sequential", SERIAL[site][1][2 + place]))
    ]
    benchconsole("ingest", file, type_table(tmp_path / "t.csv", rows), "--label", "x", "--db", tmp_path / "x.db")
    found = json.loads(benchconsole("report", "x", "--format", "json", "--db", tmp_path / "x.db").out)
    (together,) = found["together"]
    assert (together["level"], round(together["value"], 3)) == ("pass" if is_met else "fail", of_serial)


def test_burst_loss_of_tacc_before_and_after_its_buffers_were_enlarged(tmp_path: Path) -> None:
    """15 to 20 % of the small burst and nearly 60 % of the large one were lost, then nothing."""
    for label, at, small, large in (
        ("before", BEFORE, (15, 18, 20), (57, 59, 60)),
        ("after", AFTER, (0,) * 3, (0,) * 3),
    ):
        rows = [
            {"metric": "nuttcp.burst_loss", "value": f"{loss} %", "nodes": f"b01-01>b{blade:02}-02",
             "labels": f"burst={burst}", "date": at}
            for burst, losses in ((65, small), (300, large))
            for blade, loss in enumerate(losses, 1)
        ]  # fmt: skip
        assert store_table(tmp_path, TACC, label, rows).err == ""
    found = compare(tmp_path, "before", "after")
    assert found["outcome"] == "better"
    assert {each["labels"]["burst"]: (round(each["effect"], 2), each["outcome"]) for each in found["metrics"]} == {
        "65": (-0.18, "better"), "300": (-0.59, "better"),
    }  # fmt: skip


def test_table_2_row_by_row(tmp_path: Path) -> None:
    """Program, date, cluster, rates and note of each row, from ten sessions of two machines in one table."""
    told: list[tuple[str, str, str, float, float]] = []
    for site, cluster in ((IU, "IU"), (TACC, "TACC")):
        for program, at, read, write in SERIAL[site]:
            label = f"Serial {cluster} {program} {at[5:10]}"
            rows = [type_rate(program, name, value, at) for name, value in (("read", read), ("write", write))]
            store_table(tmp_path, site, label, rows)
            told.append((label, f"{program}.throughput", at[:10], 1e6 * read, 1e6 * write))
    note = "Before tuning, max write at 48, write plateau at 32 tasks, max read at 128, read plateau at 128"
    rows = [type_rate("ior", name, value, BEFORE, ALL) for name, value in (("read", 14611), ("write", 885))]
    store_table(tmp_path, TACC, "MPI TACC, parallel", rows)
    benchconsole("remark", "MPI TACC, parallel", note, "--db", tmp_path / "x.db")
    told.append(("MPI TACC, parallel", "ior.throughput", BEFORE[:10], 14611e6, 885e6))

    labels = [label for label, *_ in told]
    found = json.loads(benchconsole("overview", *labels, "--format", "json", "--db", tmp_path / "x.db").out)
    cells = {(each["session"], each["across"]): each for each in found["numbers"]}
    for label, metric, day, *rates in told:
        assert (cells[label, "read"]["value"], cells[label, "write"]["value"]) == tuple(rates)
        assert {cells[label, name]["metric"] for name in ("read", "write")} == {metric}
        assert datetime.fromtimestamp(cells[label, "read"]["started"], UTC).date().isoformat() == day
    assert cells["MPI TACC, parallel", "read"]["notes"] == [note]
