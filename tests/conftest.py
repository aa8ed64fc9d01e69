"""Fixtures of every test: the laboratory on request, and a home of its own."""

import itertools
import os
import re
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")  # a busy machine is slow, not wrong

pytest_plugins = ["tests.lab.fixtures"]


_LABORATORIES = frozenset(("lab", "healthy_lab", "slurm_lab"))
"""Fixtures behind which a laboratory stands."""


_PLACES = {Path(__file__).parent / "lab", Path(__file__).parent / "scenarios"}
"""Where ``make unit-lab`` looks for tests that use one."""


_UMASK = 0o022


def pytest_configure() -> None:
    """Hear SIGINT and SIGHUP even where a shell or nohup had them ignored: children inherit that, and no trap helps.

    The umask is the usual one: sshd reads a user's keys as that user, and fixtures of a whole run write such files.
    Commands find their bytecode, as those of an installed program do: thousands are run, and compiling takes two seconds.
    """
    os.umask(_UMASK)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses a laboratory: such tests run in one process, for its rates are shared, beside all others."""
    for item in items:
        if _LABORATORIES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.lab)
            if not _PLACES & set(item.path.parents):
                raise pytest.UsageError(f"{item.nodeid} uses the laboratory: put it below tests/lab or tests/scenarios")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell the seeds of tests at random, and name every test that was not run, and why."""
    _tell_seeds(terminalreporter)
    _tell_skipped(terminalreporter)


def _tell_seeds(terminalreporter: pytest.TerminalReporter) -> None:
    """The property ``seed`` of each test that recorded one, whether it passed or failed."""
    reports = (report for outcome in ("passed", "failed") for report in terminalreporter.getreports(outcome))
    told = [f"{report.nodeid}: {text}" for report in reports for name, text in report.user_properties if name == "seed"]
    if told:
        terminalreporter.section("seeds")
        for line in told:
            terminalreporter.write_line(line)


def _tell_skipped(terminalreporter: pytest.TerminalReporter) -> None:
    """A gap that nobody reads of is taken for a pass."""
    skipped = terminalreporter.getreports("skipped")
    if not skipped:
        return
    reasons = Counter(
        str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr) for report in skipped
    )
    terminalreporter.section(f"NOT RUN: {len(skipped)} tests", sep="!", red=True, bold=True)
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} not run: {reason.removeprefix('Skipped: ')}", red=True)


_NUMBERS = itertools.count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the test's own. That of pytest lists all folders of the run for each new one: of thousands, twenty ms."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    return tmp_path_factory.mktemp(f"{name}-{next(_NUMBERS)}", numbered=False)


@pytest.fixture
def memory_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where the machine has one: a database there waits for no disk at each of its commits."""
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="benchconsole-tests-", dir=shared) as folder:
        yield Path(folder)


@pytest.fixture
def _home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a test's database would be: in the folder of a test that has one, else in one that is not made."""
    if "tmp_path" in request.fixturenames:
        found: Path = request.getfixturevalue("tmp_path")
        return found
    return tmp_path_factory.getbasetemp() / f"home-{next(_NUMBERS)}"


@pytest.fixture(autouse=True)
def _own_places(_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep the developer's own database, configuration and colours out of the tests, and the umask of a command run here."""
    os.umask(_UMASK)
    for name in ("NO_COLOR", "BENCHCONSOLE_DB", "BENCHCONSOLE_ASCII", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(_home / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(_home / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(_home / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(_home / "cache"))
    yield
    os.umask(_UMASK)  # never the one found: a fixture of a module may have run a command before this one began
