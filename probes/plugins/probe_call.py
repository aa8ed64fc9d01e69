"""The call of a probe's own code: whatever it raises, returns or ignores costs its own test only.

A probe comes from a stranger's distribution. It may raise SystemExit or CancelledError by itself, may not stop
when it is cancelled, and may raise TimeoutError. Each of these ends here, as an error in words that name it.
"""

import asyncio
import math
from collections.abc import Mapping

from benchconsole.probes.api import Probe
from benchconsole.probes.model import time_limits
from benchconsole.probes.model.errors import ProbeError
from benchconsole.probes.model.measuring import Failure, Output, Target
from benchconsole.probes.model.remote import Contact, RemoteError
from benchconsole.probes.plugins.loop_watchdog import LoopWatch


class ProbeCodeError(Exception):
    """A mistake of a probe's own code, in one line."""


class GivenUpError(Exception):
    """A test that did not end in time, in one line."""


def format_error(error: BaseException) -> str:
    """One line about ``error``; an exception of a plugin may even fail to say what it is."""
    try:
        text = " ".join(str(error).split())[:300]
    except BaseException:
        text = "an error that cannot be printed"
    return text if isinstance(error, ProbeError) else f"{type(error).__name__}: {text}".rstrip(": ")


async def run_probe(probe: Probe, contact: Contact, target: Target, watch: LoopWatch) -> tuple[Output, ...]:
    """The outputs that ``probe`` brings from the nodes. At its end the probe has ended, or never will.

    Raises RemoteError as the probe raised it, GivenUpError when its time is over, ProbeCodeError for anything
    else, and CancelledError only when whoever awaits this was cancelled.
    """
    limit = _find_limit(probe, target.options)
    task = asyncio.create_task(_catch_all(probe, contact, target), name=f"{probe.name} {target.key}")
    began = watch.clock()
    try:
        while not task.done() and (remaining := watch.remaining(began, limit)) > 0:
            await asyncio.wait((task,), timeout=remaining)
    finally:
        late = await _end(task)
    if late is None:
        return _read_outputs(task)
    raise GivenUpError(f"no end after {limit:.0f} s{late}")


async def _catch_all(probe: Probe, contact: Contact, target: Target) -> object:
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


async def _end(task: "asyncio.Task[object]") -> str | None:
    """Cancel a running probe and wait for its end; None when it had ended, else the rest of a sentence."""
    if task.done():
        return None
    task.cancel()
    await asyncio.wait((task,), timeout=time_limits.CODE_ENDING)
    if task.done():
        return ""
    task.add_done_callback(lambda task: task.cancelled() or task.exception())
    goes_on = f"what it began may go on for {time_limits.CODE_ENDING:.0f} s and more"
    return f"; the probe ignores that it is cancelled, and {goes_on}"


def _read_outputs(task: "asyncio.Task[object]") -> tuple[Output, ...]:
    answer = asyncio.CancelledError() if task.cancelled() else task.result()
    if isinstance(answer, RemoteError) and isinstance(getattr(answer, "failure", None), Failure):
        raise answer
    if isinstance(answer, TimeoutError):
        raise GivenUpError(f"the probe gave up: {format_error(answer)}")
    if isinstance(answer, asyncio.CancelledError):
        raise ProbeCodeError("cancelled itself")
    if isinstance(answer, BaseException):
        raise ProbeCodeError(format_error(answer))
    if not isinstance(answer, list | tuple):
        raise ProbeCodeError(f"run() returned {type(answer).__name__}, expected a sequence of Output")
    if not all(isinstance(output, Output) for output in answer):
        kinds = ", ".join(sorted({type(output).__name__ for output in answer})[:5])
        raise ProbeCodeError(f"run() returned a {type(answer).__name__} with {kinds}, expected a sequence of Output")
    return tuple(answer)


def _find_limit(probe: Probe, options: Mapping[str, str | int | float]) -> float:
    try:
        estimate = probe.estimate(options)
    except BaseException as error:
        raise ProbeCodeError(f"estimate(): {format_error(error)}") from None
    if not isinstance(estimate, int | float) or not math.isfinite(estimate) or estimate < 0:
        raise ProbeCodeError(f"estimate() returned {str(estimate)[:80]!r}, expected seconds")
    return time_limits.compute_give_up(estimate)
