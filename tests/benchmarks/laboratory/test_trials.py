"""The table of trials, and the command that runs them."""

import pytest

from benchmarks.laboratory import __main__ as command
from benchmarks.laboratory.grading import Outcome
from benchmarks.laboratory.planting import FABRICS, KINDS
from benchmarks.laboratory.trials import Trial, format_table


def trial(
    fabric: str, kind: str, outcome: Outcome | None, *, findings: int = 1, unplaced: int = 0, seconds: float = 30.0
) -> Trial:
    return Trial(fabric, kind, "", outcome, 1, findings, unplaced, 2 * unplaced, seconds, ())


def test_the_table_counts_runs_by_fabric_fault_and_outcome() -> None:
    table = format_table(
        [
            trial("small", "slow-nic", Outcome.EXACT),
            trial("lag", "slow-nic", Outcome.LOCATED),
            trial("small", "slow-nic", Outcome.WRONG, seconds=40.0),
            trial("small", "loss", Outcome.MISSED, unplaced=1),
            trial("small", "healthy", None, findings=0),
            trial("small", "healthy", None, findings=2, unplaced=1),
            trial("lag", "healthy", None, findings=0),
        ]
    ).splitlines()
    assert [line.split() for line in table] == [
        ["fabric", "fault", "runs", "exact", "located", "wrong", "told", "missed", "open", "drawn", "seconds"],
        ["small", "slow-nic", "2", "1", "0", "1", "0", "0", "0", "0", "35"],
        ["small", "loss", "1", "0", "0", "0", "0", "1", "1", "2", "30"],
        ["lag", "slow-nic", "1", "0", "1", "0", "0", "0", "0", "0", "30"],
        ["small", "healthy:", "1", "of", "2", "silent,", "open", "1,", "drawn", "2,", "30", "s"],
        ["lag", "healthy:", "1", "of", "1", "silent,", "open", "0,", "drawn", "0,", "30", "s"],
    ]


def test_faults_and_fabrics_are_chosen_by_name() -> None:
    assert command.parse_options([]).faults == list(KINDS)
    assert command.parse_options([]).fabrics == list(FABRICS)
    assert command.parse_options(["--faults", "loss", "slow-leaf"]).faults == ["loss", "slow-leaf"]
    assert command.parse_options(["--fabrics", "lag"]).fabrics == ["lag"]
    for words in (["--faults", "fire"], ["--fabrics", "torus"]):
        with pytest.raises(SystemExit):
            command.parse_options(words)


def test_where_no_laboratory_can_be_built_it_says_so_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "obstacles", lambda: ["no root"])
    assert command.main([]) == 2
    assert "NO LABORATORY, NOTHING WAS TRIED: no root" in capsys.readouterr().err
