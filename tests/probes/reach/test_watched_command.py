"""Output within bounds: noise of login scripts is told apart and searched once, and the longest of many is cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.probes.model.interval import RunningOutputs, current_outputs
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.probes.reach.slurm.local_steps import LocalRemote
from benchconsole.probes.reach.watchdog import NOT_ENDED, wrap_command
from benchconsole.probes.reach.watched_command import (
    KEPT_OF_FLOOD,
    NOISE_LIMIT,
    CommandChannel,
    OutputStream,
    SessionOutput,
    WatchedCommand,
)
from benchconsole.topology.model.fabric import NodeId

pytestmark = pytest.mark.fault("F13")

NONCE = b"abc123"
BOUND = 4 * NOISE_LIMIT
_MIB = 1024**2
_WRAPPED = wrap_command(["x"], session="s", nonce="n", timeout=1)


@given(st.binary(max_size=60), st.binary(max_size=60), st.lists(st.integers(0, 200), max_size=8))
def test_the_first_line_is_found_wherever_packets_are_cut(noise: bytes, said: bytes, cuts: list[int]) -> None:
    noise = noise.replace(NONCE, b"")
    whole = b"%sa%s 7 boot root\n%s" % (noise, NONCE, said)
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    stream = OutputStream(NONCE, BOUND)
    for start, end in pairwise(places):
        stream.add(whole[start:end])
    assert (stream.first_line, stream.content, stream.is_cut) == (b" 7 boot root", said, False)


@pytest.mark.parametrize(("size", "is_cut"), [(NOISE_LIMIT - 8, False), (NOISE_LIMIT, False), (NOISE_LIMIT + 1, True)])
def test_noise_is_bounded(size: int, is_cut: bool) -> None:
    stream = OutputStream(NONCE, BOUND)
    for start in range(0, size, 32 * 1024):
        stream.add(b"n" * min(32 * 1024, size - start))
    assert stream.is_cut is is_cut
    assert len(stream.preamble) == (KEPT_OF_FLOOD if is_cut else size)


def test_a_byte_of_noise_is_searched_once() -> None:
    """Many small packets: a search from the beginning for each would read 2,000 times as much."""

    class Counted(bytearray):
        searched = 0

        def find(self, *args: object) -> int:
            sought, *rest = args
            Counted.searched += len(self) - (rest[0] if rest else 0)  # type: ignore[operator]
            return super().find(sought, *rest)  # type: ignore[arg-type]

    stream = OutputStream(NONCE, BOUND)
    stream._raw = Counted()
    for _ in range(4000):
        stream.add(b"n" * 100)
    assert Counted.searched < 400_000 * 1.1


class Played(CommandChannel):
    """A channel without a node."""

    def say(self, count: int) -> None:
        self.take_in(self.out, b"x" * count)

    def write(self, line: bytes) -> None:
        pass

    def close_stdin(self) -> None:
        self.note_exit(0)

    def abort(self) -> None:
        pass


def _begin(count: int, together: SessionOutput) -> list[Played]:
    channels = [Played(_WRAPPED, 100 * _MIB, together) for _ in range(count)]
    for channel in channels:
        channel.take_in(channel.out, b"n\n")
        channel.take_in(channel.err, b"n\n")
    return channels


async def test_the_longest_is_cut_and_the_others_go_on() -> None:
    together = SessionOutput(10 * _MIB)
    short, long, longer = _begin(3, together)
    short.say(2 * _MIB)
    long.say(3 * _MIB)
    longer.say(5 * _MIB)
    assert not longer.is_flooded, "ten of ten are within the bound"
    short.say(1)
    assert [channel.is_flooded for channel in (short, long, longer)] == [False, False, True]
    assert longer.out.content == b"x" * KEPT_OF_FLOOD
    longer.say(_MIB)
    assert longer.size == KEPT_OF_FLOOD


@pytest.mark.parametrize(("each", "is_cut"), [(_MIB - 1, False), (_MIB, True)])
async def test_nobody_is_cut_for_a_sensible_answer(each: int, is_cut: bool) -> None:
    together = SessionOutput(10 * _MIB)
    channels = _begin(30, together)
    for channel in channels:
        channel.say(each)
    assert any(channel.is_flooded for channel in channels) is is_cut


async def test_a_flood_is_found_after_many_sensible_answers_and_after_some_have_ended() -> None:
    together = SessionOutput(10 * _MIB)
    *many, flood = _begin(31, together)
    for channel in many:
        channel.say(_MIB - 1)
    for _ in range(3):
        flood.say(_MIB)
    assert flood.is_flooded
    for channel in many[:25]:
        await channel.end(1)
    (late,) = _begin(1, together)
    for _ in range(7):
        late.say(_MIB)
    assert late.is_flooded


async def test_a_command_that_has_ended_counts_no_more() -> None:
    together = SessionOutput(10 * _MIB)
    first, second = _begin(2, together)
    first.say(8 * _MIB)
    first.note_close()
    await first.end(1)
    second.say(8 * _MIB)
    assert not first.is_flooded
    assert not second.is_flooded


@pytest.mark.parametrize(
    ("status", "killed_by", "is_proven"),
    [(0, None, True), (143, None, True), (NOT_ENDED, None, False), (None, "KILL", False), (None, "SEGV", False)],
)
async def test_only_a_watchdog_with_a_status_has_ended_its_command(
    status: int | None, killed_by: str | None, is_proven: bool
) -> None:
    (channel,) = _begin(1, SessionOutput())
    command = WatchedCommand(NodeId("n1"), ["x"], _WRAPPED, channel, ending=1)
    channel.note_exit(status, killed_by)
    await command.end()
    detail = command.error(FailedAt.KILLED, "why").failure.detail
    assert ("did not confirm that the command was ended" in detail) is not is_proven


async def test_what_the_second_stream_says_counts_too() -> None:
    (channel,) = _begin(1, SessionOutput(2 * _MIB))
    channel.take_in(channel.out, b"x" * _MIB)
    channel.take_in(channel.err, b"x" * (_MIB + 1))
    assert channel.is_flooded
    assert channel.size == 2 * KEPT_OF_FLOOD


def test_what_is_new_is_read_after_the_first_line_and_up_to_a_bound() -> None:
    stream = OutputStream(NONCE, BOUND)
    stream.add(b"noise")
    assert stream.read_from(0, 99) == (b"", 0)
    stream.add(b"%s 7 boot root\nabc" % NONCE)
    assert stream.read_from(0, 99) == (b"abc", 3)
    assert stream.read_from(3, 99) == (b"", 3)
    stream.add(b"defg")
    assert stream.read_from(3, 99) == (b"defg", 7)
    assert stream.read_from(3, 2) == (b"fg", 7)


def test_nothing_is_read_of_a_stream_that_was_cut() -> None:
    stream = OutputStream(NONCE, 10)
    stream.add(b"%s 7 boot root\n%s" % (NONCE, b"x" * 11))
    assert stream.is_cut
    assert stream.read_from(0, 99) == (b"", 0)


async def test_commands_leave_their_streams_where_somebody_reads_them() -> None:
    outputs = RunningOutputs()
    token = current_outputs.set(outputs)
    remote = LocalRemote("intervals")
    try:
        async with remote.start(["sh", "-c", "echo one; echo two >&2; exec sleep 30"], timeout=40) as running:
            await running.says("two", timeout=10)
            await running.says("one", timeout=10)
            streams = [stream for each in outputs.take_fresh() if (stream := each()) is not None]
            assert [each.read_from(0, 99)[0] for each in streams] == [b"one\n", b"two\n"]
    finally:
        current_outputs.reset(token)
    await remote.run(["true"], timeout=10)
    assert outputs.take_fresh() == []
