"""Owns the calling of a probe's code while others run: whatever it raises, returns or ignores costs its own test only.

A probe comes from a stranger's distribution. It may raise SystemExit or CancelledError by itself, may not stop
when it is told to, and may give up on time that was never its own. Each of these ends here, as a failure in
words that name it. Refuses to read what it returns (``answers``).
"""

import asyncio
import math
from collections.abc import Mapping

from probes.api import Probe
from probes.errors import ProbeError
from probes.guards.lag import LoopWatch
from probes.model import Failure, Output, Target
from probes.remote import Contact, RemoteError

OVERTIME = 120.0
"""Seconds beyond three times its estimate after which a test is given up, whatever its probe awaits."""

ENDING = 15.0
"""Seconds for a cancelled probe to end what it has on its nodes; the connection itself needs at most 8."""


class ForeignError(Exception):
    """What a probe's own code did wrong, in one line."""


class GivenUpError(Exception):
    """A test that did not end in time, in one line."""


def words(error: BaseException) -> str:
    """One line about ``error``; an exception of a plugin may even fail to say what it is."""
    try:
        said = " ".join(str(error).split())[:300]
    except BaseException:
        said = "an error that cannot be printed"
    return said if isinstance(error, ProbeError) else f"{type(error).__name__}: {said}".rstrip(": ")


async def ask(probe: Probe, contact: Contact, target: Target, watch: LoopWatch) -> tuple[Output, ...]:
    """What ``probe`` brings from the nodes. When this returns, by whatever way, the probe has ended, or never will.

    Raises RemoteError as the probe let it through, GivenUpError when time is over, ForeignError for anything
    else; CancelledError only when whoever awaits this was cancelled.
    """
    limit = _limit(probe, target.options)
    asked = asyncio.create_task(_run(probe, contact, target), name=f"{probe.name} {target.key}")
    began = watch.clock()
    try:
        while not asked.done() and (left := watch.left(began, limit)) > 0:
            await asyncio.wait((asked,), timeout=left)
    finally:
        ended = await _end(asked)
    if ended is None:
        return _outputs(asked)
    raise GivenUpError(f"no end after {limit:.0f} s{ended}")


async def _run(probe: Probe, contact: Contact, target: Target) -> object:
    """The probe's answer, or what it raised: SystemExit and its kin would end the loop if they left a task."""
    try:
        return await probe.run(contact, target)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return error
    except BaseException as error:
        return error


async def _end(asked: "asyncio.Task[object]") -> str | None:
    """Cancel a probe that goes on and wait for its end: None when it was over, else what is left to say of it."""
    if asked.done():
        return None
    asked.cancel()
    await asyncio.wait((asked,), timeout=ENDING)
    if asked.done():
        return ""
    asked.add_done_callback(lambda task: task.cancelled() or task.exception())
    return f"; the probe ignores that it is cancelled, and what it began may go on for {ENDING:.0f} s and more"


def _outputs(asked: "asyncio.Task[object]") -> tuple[Output, ...]:
    found = asyncio.CancelledError() if asked.cancelled() else asked.result()
    if isinstance(found, RemoteError) and isinstance(getattr(found, "failure", None), Failure):
        raise found
    if isinstance(found, TimeoutError):
        raise GivenUpError(f"the probe gave up: {words(found)}")
    if isinstance(found, asyncio.CancelledError):
        raise ForeignError("cancelled itself")
    if isinstance(found, BaseException):
        raise ForeignError(words(found))
    if not isinstance(found, list | tuple) or not all(isinstance(each, Output) for each in found):
        raise ForeignError(f"run() returned {_kind(found)}, expected a sequence of Output")
    return tuple(found)


def _kind(found: object) -> str:
    if isinstance(found, list | tuple):
        return f"a {type(found).__name__} with {', '.join(sorted({type(each).__name__ for each in found})[:5])}"
    return type(found).__name__


def _limit(probe: Probe, options: Mapping[str, str | int | float]) -> float:
    try:
        estimate = probe.estimate(options)
    except BaseException as error:
        raise ForeignError(f"estimate(): {words(error)}") from None
    if not isinstance(estimate, int | float) or not math.isfinite(estimate) or estimate < 0:
        raise ForeignError(f"estimate() returned {str(estimate)[:80]!r}, expected seconds")
    return 3 * estimate + OVERTIME
