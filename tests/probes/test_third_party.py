"""The example of docs/howto/write-a-probe.md, built as a distribution and used as a stranger's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from probes.testing import PROBE_CHECKS

REPOSITORY = Path(__file__).parents[2]
EXAMPLE = REPOSITORY / "docs" / "examples" / "benchconsole-clock-offset"
MODULE = "benchconsole_clock_offset.py"

BUILD = """
import sys, warnings
warnings.simplefilter("ignore")
from setuptools import setup
setup(script_args=["-q", "build_py", "--build-lib", sys.argv[1], "egg_info", "--egg-base", sys.argv[1]])
"""
ASK = """
import sys
from probes import plugins
assert "benchconsole-clock-offset" in {one.distribution for one in plugins.installed()}
assert "benchconsole_clock_offset" not in sys.modules
found = plugins.load()
assert found.broken == (), found.broken
assert found.origin["clock-offset"] == "benchconsole-clock-offset"
assert "clock-offset" not in plugins.load(safe_mode=True).probes
probe = found.probes["clock-offset"]
from probes.api import Output
print(probe.parse(Output((), open(sys.argv[1], "rb").read())))
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("source") / "example"
    shutil.copytree(EXAMPLE, copy, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    return copy


@pytest.fixture(scope="module")
def installed(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the example as an installer would leave it; needs no network and no wheel."""
    target = tmp_path_factory.mktemp("installed")
    python("-c", BUILD, str(target), cwd=source)
    return target


def python(*argv: str, cwd: Path, path: tuple[Path, ...] = ()) -> str:
    """What a fresh interpreter prints; its words when it fails."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *argv], cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_is_found_and_read_by_a_fresh_interpreter(source: Path, installed: Path) -> None:
    transcript = str(source / "tests" / "tracking.csv")
    said = python("-c", ASK, transcript, cwd=source.parent, path=(installed, REPOSITORY))
    assert "clock-offset.system" in said
    assert "1.2345e-05" in said


def test_its_own_test_runs_the_contract(source: Path, installed: Path) -> None:
    argv = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(source), str(source / "tests"))
    said = python(*argv, cwd=source, path=(installed, REPOSITORY))
    assert f"{len(PROBE_CHECKS)} passed" in said


def test_it_keeps_to_the_promised_budget() -> None:
    assert len((EXAMPLE / MODULE).read_text().splitlines()) <= 30
    assert len((EXAMPLE / "tests" / "test_clock_offset.py").read_text().splitlines()) <= 10


def test_the_howto_shows_the_code_that_runs() -> None:
    howto = (REPOSITORY / "docs" / "howto" / "write-a-probe.md").read_text()
    for name in (MODULE, "pyproject.toml", "tests/test_clock_offset.py"):
        assert (EXAMPLE / name).read_text().strip() in howto, name
