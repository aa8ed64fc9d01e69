"""Every benchmark runs as its first lines say, at its smallest size, and prints a table."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SMALLEST = {
    "attribution": "--fabric leaf-spine --suite network --truth ideal --faults nic --runs 1 --healthy 1 --short",
    "comparison": "--played 2",
    "cost": "--only startup --smallest",
    "peers": "--played 1",
    "planted_faults": "F50",
    "rejudge": "--values 0 --flows 40 --low --runs 1",
    "runner": "1",
    "scale": "20; 20 --tables screen --runs 1; 20 --tables silence --runs 1",
    "scheduling": "1 16",
    "screen": "40 --smallest",
    "soak": "0.01 --nodes 20",
    "startup": "1",
    "store": "50 100",
    "topology.hashing": "",
    "topology.load": "1 347",
    "topology.maxmin": "1 347",
    "topology.merging": "100",
    "topology.questions": "1 100",
    "topology.static": "1 100",
}
LINES = [(module, words) for module, lines in SMALLEST.items() for words in lines.split(";")]
"""A benchmark of several tables has a line for each: then none takes long."""
ON_CABLES = {
    "remaining": "--seconds 1 --cases healthy",
    "reach": "--sizes 20 --targets farm,far --repeats 1",
    "laboratory": "--fabrics small --faults slow-nic --runs 1 --healthy 1",
}
"""Those that need root and namespaces."""


def run(module: str, words: str) -> str:
    """The output of a benchmark; a minute for the slowest on a quiet machine, five on a busy one."""
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{module}", *words.split()],
        capture_output=True, text=True, timeout=300, check=False, cwd=ROOT, stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def list_benchmarks() -> set[str]:
    """The modules and packages with an entry of their own."""
    folder = ROOT / "benchmarks"
    own = {path for path in folder.rglob("*.py") if '__name__ == "__main__"' in path.read_text()}
    packages = {path.parent for path in folder.rglob("__main__.py")}
    found = {path.with_suffix("") for path in own if path.name != "__main__.py"} | packages
    return {".".join(path.relative_to(folder).parts) for path in found}


def test_none_is_left_out() -> None:
    assert list_benchmarks() == SMALLEST.keys() | ON_CABLES.keys()


@pytest.mark.parametrize(("module", "words"), LINES)
def test_it_runs_at_its_smallest_size(module: str, words: str) -> None:
    assert len(run(module, words).splitlines()) >= 2


@pytest.mark.lab
@pytest.mark.parametrize("module", ON_CABLES)
def test_it_runs_on_cables_at_its_smallest_size(module: str) -> None:
    assert len(run(module, ON_CABLES[module]).splitlines()) >= 2
