"""Expectations, and what judges by them, are light: they load no solver where no network sprays its packets."""

import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
import importlib, sys
importlib.import_module(sys.argv[1])
print([name for name in ("scipy", "networkx") if name in sys.modules])
"""


@pytest.mark.parametrize(
    "module", ["benchconsole.topology.capacity.expect", "benchconsole.console.session.judged_rounds"]
)
def test_a_fresh_interpreter(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, module],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    assert done.stdout.strip() == "[]"
