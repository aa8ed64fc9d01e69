"""The console killed at random instants of a laboratory run, again and again, and resumed each time.

Run as ``python -m tests.scenarios.crash_loop 200`` (root) it prints what it counted. Owned here: the
loop and what must hold after each kill. Refused here: what a test of a few kills asks of it.
"""

import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tests import plain_sqlite
from tests.lab import Lab, wait_for
from tests.scenarios.commands import argv, benchconsole, report

SUITE = """\
suites:
  default:
    - {probe: inventory}
    - {probe: iperf3, seconds: 1, omit: 0}
    - {probe: iperf3, design: trunks, seconds: 1, omit: 0, streams: 2}
"""
WATCHDOG = 20.0
"""Seconds after which nothing of ours may run on any node: the watchdog ends a command when its client is gone."""


AFTER = ("", "SessionOpened", "TestEnded")
"""Events after which a console is killed, at a random instant; empty: after its start, whether it tells one or not."""
PATIENCE, LIFE = 120.0, 12.0
"""Seconds that a busy machine may take to come to such an event, and after it in which the console is killed."""


@dataclass
class Tally:
    """The counts of a loop. ``acknowledged`` counts results that the console told and had to be stored."""

    kills: int = 0
    acknowledged: int = 0
    stored: int = 0
    ended_by_itself: int = 0
    sessions: int = 0
    longest: float = 0.0
    """Seconds from a kill to the moment when no node had a process of ours."""


def quick_topology(lab: Lab) -> Path:
    """The laboratory's file with the suite above, beside the SSH files that it names."""
    text = lab.topology.read_text()
    path = lab.topology.with_name("crash.yaml")
    path.write_text(text[: text.index("suites:")] + SUITE)
    return path


def _told(events: Path) -> list[tuple[str, str]]:
    """(session, test) of every result in the event lines; a last line that was cut by the kill does not count."""
    session, found = "", []
    for line in events.read_text().splitlines(keepends=True):
        if not line.endswith("\n"):
            break
        event = json.loads(line)
        session = event.get("session", session)
        if event["event"] == "TestEnded":
            found.append((session, event["test"]))
    return found


def _stored(db: Path) -> set[tuple[str, str]]:
    """(session, test) of every stored result; SQLite plays back what a kill cut off, and checks the file."""
    if not db.exists():
        return set()
    with closing(plain_sqlite.connect(f"{db.as_uri()}?mode=rw")) as connection:
        assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'result'").fetchone():
            return set()
        return set(
            connection.execute(
                """SELECT session.key, test.key FROM result JOIN test ON test.id = result.test_id
                JOIN session ON session.id = test.session_id"""
            )
        )


def _state(db: Path) -> str:
    """``interrupted`` where the newest session can be resumed, else empty."""
    ran = benchconsole("sessions", "--db", db)
    newest = ran.out.splitlines()[1:2] if ran.code == 0 else []  # below the head of the table
    return "interrupted" if newest and "(interrupted)" in newest[0] else ""


class CrashLoop:
    """One database, one laboratory, many kills."""

    def __init__(self, lab: Lab, folder: Path, chance: random.Random, *, say: Callable[[str], None]) -> None:
        self.tally = Tally()
        self._lab = lab
        self._topology = quick_topology(lab)
        self._db = folder / "crash.db"
        self._events = folder / "events.jsonl"
        self._chance = chance
        self._say = say

    def run(self, kills: int) -> Tally:
        """Kill ``kills`` consoles; then let the last session come to its end."""
        try:
            while self.tally.kills < kills:
                self._one()
                if self.tally.kills and self.tally.kills % 20 == 0:
                    self._say(f"{self.tally}")
            self._finish()
        finally:
            self._topology.unlink()
        assert self.tally.acknowledged, "no console lived until it acknowledged a result: the kills show nothing"
        return self.tally

    def _one(self) -> None:
        resuming = _state(self._db) == "interrupted"
        self._events.unlink(missing_ok=True)
        what: list[str | Path] = ["run", self._topology, "--db", self._db, "--jsonl", self._events, "--quiet"]
        what.append("--no-confirm")  # a round that confirms lasts longer than a console lives here
        command = argv(*what, *(("--resume", "last") if resuming else ()))
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as console:
            ended = self._ends_before_an_instant(console.pid)
            if not ended:
                os.kill(console.pid, signal.SIGKILL)
            _, said = console.communicate()
        if ended:
            assert console.returncode in (0, 1, 3), said.decode()
            self.tally.ended_by_itself += 1
            self.tally.sessions += 1
        else:
            self.tally.kills += 1
            self._nothing_lives_on()
        self._nothing_is_lost()

    def _ends_before_an_instant(self, pid: int) -> bool:
        """Wait for a random instant after the console's start or an event of its life; whether it ended before."""
        handle = os.pidfd_open(pid)

        def ends_within(seconds: float) -> bool:
            return bool(select.select([handle], [], [], seconds)[0])  # a console that ends makes its pidfd readable

        try:
            if event := self._chance.choice(AFTER):
                wait_for(lambda: self._has_told(event) or ends_within(0), PATIENCE, f"the console to tell {event}")
            return ends_within(self._chance.uniform(0, LIFE))
        finally:
            os.close(handle)

    def _has_told(self, event: str) -> bool:
        return self._events.exists() and f'"{event}"' in self._events.read_text()

    def _nothing_lives_on(self) -> None:
        def nobody() -> bool:
            return not any(process.session for node in self._lab.plan.nodes for process in self._lab.processes(node))

        began = os.times().elapsed
        wait_for(nobody, WATCHDOG, "the watchdogs to end everything of ours")
        self.tally.longest = max(self.tally.longest, os.times().elapsed - began)

    def _nothing_is_lost(self) -> None:
        stored = _stored(self._db)
        told = set(_told(self._events)) if self._events.exists() else set()
        assert told <= stored, f"acknowledged and lost: {sorted(told - stored)}"
        self.tally.acknowledged += len(told)
        self.tally.stored = len(stored)

    def _finish(self) -> None:
        if _state(self._db) == "interrupted":
            ran = benchconsole("run", self._topology, "--db", self._db, "--resume", "last", "--no-confirm")
            assert ran.code in (0, 1, 3), ran.out + ran.err
            self.tally.sessions += 1
        found = report(self._db)["coverage"]
        assert found["tested"] == found["planned"], found


def main() -> None:
    """``python -m tests.scenarios.crash_loop [KILLS [SEED]]``."""
    from tests.lab.fixtures import build_somewhere
    from tests.lab.spec import LabSpec

    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    lab = build_somewhere(LabSpec())
    try:
        with tempfile.TemporaryDirectory(prefix="crash-loop-") as folder:
            tally = CrashLoop(lab, Path(folder), random.Random(seed), say=lambda line: print(line, flush=True)).run(
                kills
            )
    finally:
        lab.down()
    print(
        f"{tally.kills} kills (seed {seed}) of {tally.sessions} sessions, {tally.ended_by_itself} consoles ended before their kill: "
        f"{tally.acknowledged:,} acknowledged results, 0 lost, {tally.stored:,} stored; "
        f"every node was free of ours {tally.longest:.1f} s after a kill at the latest; the last session was completed"
    )


if __name__ == "__main__":
    main()
