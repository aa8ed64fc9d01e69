"""The examples of docs/howto/write-a-probe.md, built as distributions and used as a stranger's."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchconsole.probes.testing import PROBE_CHECKS

REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Example:
    """One distribution: its probe, the transcript of its test, its most lines that are not blank, and what it reads."""

    probe: str
    transcript: str
    lines: int
    words: tuple[str, ...]

    @property
    def folder(self) -> Path:
        return REPOSITORY / "docs" / "examples" / f"benchconsole-{self.probe}"

    @property
    def module(self) -> str:
        return f"benchconsole_{self.probe.replace('-', '_')}"

    @property
    def test(self) -> str:
        return f"tests/test_{self.probe.replace('-', '_')}.py"


EXAMPLES = (
    Example("clock-offset", "tracking.csv", 22, ("clock-offset.system", "1.2345e-05")),
    Example("iperf2", "streams.csv", 32, ("iperf2.throughput", "1175889792.0")),
)

BUILD = """
import sys, warnings
warnings.simplefilter("ignore")
from setuptools import setup
setup(script_args=["-q", "build_py", "--build-lib", sys.argv[1], "egg_info", "--egg-base", sys.argv[1]])
"""
ASK = """
import sys
from benchconsole.probes.plugins.registry import load_probes
probe, module, transcript = sys.argv[1:]
assert module not in sys.modules
found = load_probes()
assert found.broken == (), found.broken
assert found.origin[probe] == f"benchconsole-{probe}"
assert probe not in load_probes(safe_mode=True).probes
from benchconsole.probes.api import Output
print(found.probes[probe].parse(Output(("tool", "-P", "4"), open(transcript, "rb").read())))
"""


@pytest.fixture(scope="module", params=EXAMPLES, ids=lambda example: example.probe)
def example(request: pytest.FixtureRequest) -> Example:
    found = request.param
    assert isinstance(found, Example)
    return found


@pytest.fixture(scope="module")
def source(example: Example, tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("source") / "example"
    shutil.copytree(example.folder, copy, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    return copy


@pytest.fixture(scope="module")
def installed(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the example as an installer would leave it; needs no network and no wheel."""
    target = tmp_path_factory.mktemp("installed")
    python("-c", BUILD, str(target), cwd=source)
    return target


def python(*argv: str, cwd: Path, path: tuple[Path, ...] = ()) -> str:
    """The output of a fresh interpreter; an error with its words when it fails."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *argv], cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_is_found_and_read_by_a_fresh_interpreter(example: Example, source: Path, installed: Path) -> None:
    argv = (example.probe, example.module, str(source / "tests" / example.transcript))
    said = python("-c", ASK, *argv, cwd=source.parent, path=(installed, REPOSITORY / "src"))
    assert all(word in said for word in example.words)


def test_its_own_test_runs_the_contract(source: Path, installed: Path) -> None:
    argv = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(source), str(source / "tests"))
    said = python(*argv, cwd=source, path=(installed, REPOSITORY / "src"))
    assert f"{len(PROBE_CHECKS)} passed" in said


def test_it_keeps_to_the_promised_budget(example: Example) -> None:
    lines = (example.folder / f"{example.module}.py").read_text().splitlines()
    assert sum(bool(line.strip()) for line in lines) <= example.lines
    assert len((example.folder / example.test).read_text().splitlines()) <= 10


def test_the_howto_shows_the_code_that_runs() -> None:
    howto = (REPOSITORY / "docs" / "howto" / "write-a-probe.md").read_text()
    clock, iperf2 = EXAMPLES
    shown = [(clock, name) for name in (f"{clock.module}.py", "pyproject.toml", clock.test)]
    for each, name in (*shown, (iperf2, f"{iperf2.module}.py")):
        assert (each.folder / name).read_text().strip() in howto, name
