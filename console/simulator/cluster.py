"""The simulated cluster as the console sees it: a directory with a topology file, and a child process.

Everything that answers lives in a child process, so that the console's event loop is its own
and the numbers cross real sockets.
"""

import asyncio
import contextlib
import json
import os
import re
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from types import TracebackType
from typing import Self

import benchconsole
from benchconsole.console.simulator.scenarios import REAL_TIME, SCENARIOS, find_scenario

_PORT = re.compile(r"(?<=\bport: )\d+")
_SOURCES = str(Path(benchconsole.__file__).resolve().parents[1])
_START = 30.0
_END = 5.0


class SimulatorError(Exception):
    """A simulated cluster that could not be started, with the last line of its process."""


class SimulatedCluster:
    """Serves a scenario inside ``async with``; ``topology_path`` is then ready to be opened.

    ``directory`` receives the topology, ``ssh_config``, ``known_hosts`` and the key, and keeps them.
    With ``nodes`` it is the large scenario in that size; in ``real_time`` tests take as long as on real nodes.
    SimulatorError for a scenario or a size that is not offered.
    """

    def __init__(self, scenario: str, directory: Path, *, nodes: int | None = None, real_time: bool = False) -> None:
        if scenario not in SCENARIOS:
            raise SimulatorError(f"found scenario {scenario!r}, expected one of {', '.join(SCENARIOS)}")
        try:
            self.scenario = find_scenario(scenario, nodes)
        except ValueError as error:
            raise SimulatorError(str(error)) from None
        self._options = (str(nodes or ""), REAL_TIME if real_time else "")
        self.directory = directory
        self.port = 0
        self._process: Process | None = None

    @property
    def topology_path(self) -> Path:
        """The topology file with the addresses, the port and the keys of this cluster."""
        return self.directory / f"{self.scenario.fabric}.yaml"

    @property
    def log(self) -> Path:
        """The standard error of the simulation; empty when all is well."""
        return self.directory / "simulation.log"

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    async def __aenter__(self) -> Self:
        self.directory.mkdir(parents=True, exist_ok=True)
        path = os.pathsep.join(filter(None, (_SOURCES, os.environ.get("PYTHONPATH"))))
        with self.log.open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", "benchconsole.console.simulator.serve",
                self.scenario.name, str(self.directory.absolute()),
                *self._options,
                stdin=PIPE, stdout=PIPE, stderr=log, start_new_session=True,
                env={**os.environ, "PYTHONPATH": path},
            )  # fmt: skip
        try:
            self.port = await asyncio.wait_for(self._read_port(self._process), _START)
        except BaseException:
            await self._end()
            raise
        self.topology_path.write_text(_PORT.sub(str(self.port), self.scenario.describe(), count=1))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()

    async def _read_port(self, process: Process) -> int:
        line = await process.stdout.readline() if process.stdout else b""
        if not line:
            await process.wait()
            lines = self.log.read_text(errors="replace").strip().splitlines()
            raise SimulatorError(f"the simulated cluster did not start: {lines[-1] if lines else 'it said nothing'}")
        return int(json.loads(line)["port"])

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _END)
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
