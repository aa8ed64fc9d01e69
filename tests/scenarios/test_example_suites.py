"""Every suite of every example is planned: a report can be started from its file, without writing one."""

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from benchconsole.console.cli import command

EXAMPLES = sorted(Path("topology/examples").glob("*.yaml"))
SUITES = [(path, suite) for path in EXAMPLES for suite in yaml.safe_load(path.read_text()).get("suites", {})]
ASKED = {"sc11", "llnl", "desy", "fermilab", "jetstream", "jetstream-tacc"}


def plan(path: Path, suite: str) -> str:
    done = CliRunner().invoke(command, ["run", str(path), "--suite", suite, "--dry-run", "--change-nodes"])
    assert done.exit_code == 0, done.output or done.exception
    return done.output


@pytest.mark.parametrize(("path", "suite"), SUITES, ids=[f"{path.stem}-{suite}" for path, suite in SUITES])
def test_a_suite_of_an_example_has_a_plan(path: Path, suite: str) -> None:
    assert "plan: " in plan(path, suite)


def test_each_report_has_suites() -> None:
    assert {path.stem for path, _ in SUITES} == ASKED


def test_fermilab_has_49_clients_in_one_round() -> None:
    assert "49 tests" in plan(Path("topology/examples/fermilab.yaml"), "skim")


def test_sc11_adds_flows_one_way_up_to_thirty() -> None:
    page = plan(Path("topology/examples/sc11.yaml"), "west-to-east")
    assert "30 tests" in page
    assert "clients=9" in page


def test_llnl_sends_from_128_io_nodes_to_the_servers_at_once() -> None:
    page = plan(Path("topology/examples/llnl.yaml"), "network")
    assert "128 flows at once from ubglio[001-128] to levi[01-14]" in page
