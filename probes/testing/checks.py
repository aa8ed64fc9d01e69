"""The contract of a probe, as functions that a test calls one by one.

Each check takes a probe and transcripts, which are outputs that it can read, and raises AssertionError that says
what is broken. They need no test framework, no cluster and no clock.
"""

import asyncio
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchconsole.probes.api import (
    Contact,
    Fact,
    Labels,
    Output,
    PlanError,
    Probe,
    ProbeOutputError,
    Reading,
    RemoteError,
    Shape,
    Target,
    Unit,
)
from benchconsole.probes.plugins.interval_reader import LineCutter, check_interval
from benchconsole.probes.plugins.probe_validation import check_declaration
from benchconsole.probes.testing.fake import HANGS, Answer, FakeContact, FakeRemote, a_node
from benchconsole.topology.copying import replace

Check = Callable[[Probe, Sequence[Output]], None]
"""One clause of the contract: returns, or raises AssertionError with what was found."""

_HOSTILE = "$(touch x)';|&`x` \n-rf"
_SHELLS = frozenset(("sh", "bash", "dash", "ksh", "zsh"))
_CUTS = 700
_GARBLED = 60

_Said = tuple[str, str | float, Unit | None, Labels]


def captured(path: Path, *argv: str, exit_status: int = 0, stderr: bytes = b"") -> Output:
    """The transcript in a file: what ``argv`` printed and how it ended."""
    return Output(argv, path.read_bytes(), stderr, exit_status)


def declaration_is_complete(probe: Probe, transcripts: Sequence[Output]) -> None:
    """The name is a slug, and metrics, tools, options, safety and shape are declared as such."""
    check_declaration(probe)
    seconds = probe.estimate(probe.options)
    _expect(0 < seconds < math.inf, f"estimate: found {seconds!r}, expected seconds above 0")


def transcripts_are_read(probe: Probe, transcripts: Sequence[Output]) -> None:
    """Every transcript gives readings or facts, the same ones each time."""
    _expect(transcripts, "found no transcript, expected at least one output that the probe can read")
    for transcript in transcripts:
        found = _said(probe.parse(transcript))
        _expect(found, f"found nothing in a transcript of {len(transcript.stdout)} bytes")
        _expect(found == _said(probe.parse(transcript)), "found other readings on reading a transcript twice")


def readings_match_declaration(probe: Probe, transcripts: Sequence[Output]) -> None:
    """Every reading is of a declared metric, in its unit, finite, and its labels are sorted pairs of text."""
    declared = {metric.name: metric.unit for metric in probe.metrics}
    for transcript in transcripts:
        for item in probe.parse(transcript):
            _expect(isinstance(item, Reading | Fact), f"found {type(item).__name__}, expected Reading or Fact")
            _expect(item.labels == tuple(sorted(item.labels)), f"found labels {item.labels}, expected them sorted")
            _expect(all(isinstance(word, str) for pair in item.labels for word in pair), f"labels {item.labels}")
            if isinstance(item, Reading):
                _expect(declared.get(item.metric) is item.unit, f"found {item.metric} in {item.unit!r}, undeclared")
                _expect(math.isfinite(item.value), f"found {item.metric} = {item.value}")
            elif isinstance(item.value, float):
                _expect(item.unit is not None, f"found fact {item.fact} = {item.value} without a unit")
                _expect(math.isfinite(item.value), f"found fact {item.fact} = {item.value}")


def cut_transcript_gives_no_other_reading(probe: Probe, transcripts: Sequence[Output]) -> None:
    """A transcript cut at any byte gives a part of the readings of the whole one, or ProbeOutputError."""
    for transcript in transcripts:
        allowed = _said(probe.parse(transcript))
        for length in _cuts(transcript.stdout):
            found = _read(probe, replace(transcript, stdout=transcript.stdout[:length]))
            for other in found - allowed:
                raise AssertionError(f"cut after {length} bytes: found {other}, which the whole does not say")


def random_text_raises_nothing_else(probe: Probe, transcripts: Sequence[Output]) -> None:
    """Random bytes, and transcripts with random bytes put in, give readings or ProbeOutputError."""
    dice = random.Random(20_261_121)  # noqa: S311 - the same text in every run
    for text in _garbled(dice, [transcript.stdout for transcript in transcripts]):
        argv = transcripts[0].argv if transcripts else ()
        for item in _read(probe, Output(argv, text)):
            _expect(not isinstance(item[1], float) or math.isfinite(item[1]), f"found {item}")


def intervals_match_declaration(probe: Probe, transcripts: Sequence[Output]) -> None:
    """Every line of a transcript, and of random text, gives numbers of declared metrics, or none."""
    target = _target(probe)
    dice = random.Random(20_261_129)  # noqa: S311 - the same text in every run
    said = [text for transcript in transcripts for text in (transcript.stdout, transcript.stderr)]
    for text in (*said, *_garbled(dice, said)):
        for line in LineCutter().cut(text + b"\n"):
            for interval in probe.read_intervals(line, target):
                check_interval(probe, interval)


def commands_are_argument_lists(probe: Probe, transcripts: Sequence[Output]) -> None:
    """Every command is a list of words, and what comes from the topology is never part of a shell text.

    A probe may refuse an address that is none with PlanError, before it asks anything.
    """
    target = _target(probe, _HOSTILE)
    here, there = FakeRemote("n1", lenient=True), FakeRemote("n2", lenient=True)
    refused = False
    try:
        asyncio.run(_asked(probe, FakeContact(here, there if target.peer else None), target))
    except PlanError:
        refused = True
    calls = [*here.calls, *there.calls]
    _expect(not (refused and calls), f"found a refusal after {len(calls)} commands, expected it before the first")
    _expect(refused or calls, "found no command, expected the probe to ask the node something")
    for call in calls:
        _expect(call.argv, "found an empty command")
        _expect(all(isinstance(word, str) for word in call.argv), f"found {call.argv!r}")
        _expect(not any("\0" in word for word in call.argv), f"found a NUL in {call.argv!r}")
        _expect(0 < call.timeout < math.inf, f"found a timeout of {call.timeout!r}")
        shell = call.argv[0].rpartition("/")[2] in _SHELLS and "-c" in call.argv
        text = call.argv[call.argv.index("-c") + 1] if shell else call.argv[0]
        _expect(_HOSTILE not in text, f"found an address inside the text {text[:60]!r}, expected it as an argument")


def cancelling_leaves_nothing_running(probe: Probe, transcripts: Sequence[Output]) -> None:
    """Wherever the probe is cancelled, no command and no task of its own goes on."""
    for ready in range(4):
        asyncio.run(_cancelled(probe, ready))


def unreachable_is_not_hidden(probe: Probe, transcripts: Sequence[Output]) -> None:
    """A command that cannot be brought to its end ends the probe with that RemoteError."""
    silent = FakeRemote("n1")
    contact = FakeContact(silent, FakeRemote("n2") if probe.shape is Shape.PAIR else None)
    try:
        outputs = asyncio.run(probe.run(contact, _target(probe)))
    except RemoteError:
        return
    raise AssertionError(f"found {len(outputs)} outputs of nodes that answered nothing, expected RemoteError")


PROBE_CHECKS: Sequence[Check] = (
    declaration_is_complete,
    transcripts_are_read,
    readings_match_declaration,
    cut_transcript_gives_no_other_reading,
    random_text_raises_nothing_else,
    intervals_match_declaration,
    commands_are_argument_lists,
    cancelling_leaves_nothing_running,
    unreachable_is_not_hidden,
)
"""The whole contract; each function's ``__name__`` says what it demands."""


def _expect(true: object, otherwise: str) -> None:
    """An assert that stays when Python is told to leave asserts out."""
    if not true:
        raise AssertionError(otherwise)


def _said(found: Sequence[Reading | Fact]) -> Counter[_Said]:
    named = ((item.metric if isinstance(item, Reading) else item.fact, item) for item in found)
    return Counter((name, item.value, item.unit, item.labels) for name, item in named)


def _read(probe: Probe, output: Output) -> Counter[_Said]:
    """The values that the probe reads; none when it refuses in the way that is meant for it."""
    try:
        return _said(probe.parse(output))
    except ProbeOutputError:
        return Counter()


def _cuts(text: bytes) -> Iterator[int]:
    """Every length of a short text; of a long one those around line ends, the last ones, and a spread."""
    if len(text) <= _CUTS:
        yield from range(len(text))
        return
    ends = [index for index, byte in enumerate(text) if byte == ord("\n")]
    stride = max(1, len(ends) * 3 // _CUTS)
    near = {end + more for end in ends[::stride] for more in (0, 1, 2)}
    spread = set(range(0, len(text), max(1, len(text) // _CUTS))) | set(range(len(text) - 40, len(text)))
    yield from sorted(length for length in near | spread if length < len(text))


def _garbled(dice: random.Random, texts: Sequence[bytes]) -> Iterator[bytes]:
    alphabet = b'0123456789.-+eE{}[]":,\n\r\t\x00\xff nan inf%MGK'
    yield from (b"", b"\n", b"\xff\xfe\x00", b"{" * 5000, b'{"' * 3000, b"[" * 100_000)
    for _ in range(_GARBLED):
        yield bytes(dice.choice(alphabet) for _ in range(dice.randrange(1, 400)))
        yield dice.randbytes(dice.randrange(1, 200))
    for text in texts:
        for _ in range(_GARBLED):
            begin = dice.randrange(len(text) + 1)
            noise = bytes(dice.choice(alphabet) for _ in range(dice.randrange(1, 12)))
            yield text[:begin] + noise + text[begin + dice.randrange(8) :]


def _target(probe: Probe, data_address: str | None = None) -> Target:
    peer = a_node("n2", "192.0.2.2", data_address) if probe.shape is Shape.PAIR else None
    return Target(a_node(data_address=data_address), peer, probe.options)


async def _asked(probe: Probe, contact: Contact, target: Target) -> None:
    """Run the probe against nodes that leave nothing behind; how it takes that is another check's matter."""
    try:
        await probe.run(contact, target)
    except (RemoteError, ProbeOutputError):
        return


async def _cancelled(probe: Probe, ready: int) -> None:
    """Cancel the probe at its first command that hangs, after ``ready`` commands that answer."""
    answers: list[Answer] = [Output((), b"", exit_status=0)] * ready
    here, there = FakeRemote("n1", lenient=True), FakeRemote("n2", lenient=True)
    here.when_matching(lambda argv: True, answers=[*answers, HANGS])
    before = asyncio.all_tasks()
    contact = FakeContact(here, there if probe.shape is Shape.PAIR else None)
    running = asyncio.create_task(_asked(probe, contact, _target(probe)))
    for _ in range(50):
        await asyncio.sleep(0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    left = [call.argv[:3] for call in (*here.running, *there.running)]
    _expect(not left, f"found {left} running after the probe was cancelled")
    tasks = asyncio.all_tasks() - before
    _expect(not tasks, f"found {len(tasks)} tasks that go on after the probe was cancelled")
