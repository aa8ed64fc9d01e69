"""Log records of commands: the argument list, shortened, with the exit status or the failure, and the seconds."""

import asyncio
import time
from collections.abc import Awaitable, Sequence

from benchconsole.probes.model.log_records import ModuleLog, format_command
from benchconsole.probes.model.measuring import Output
from benchconsole.probes.model.remote import RemoteError


async def record_command(log: ModuleLog, node: str, argv: Sequence[str], ending: Awaitable[Output]) -> Output:
    """Await the end of a command and write its record; returns and raises as ``ending`` does."""
    if not log.is_wanted:
        return await ending
    log.debug(node, "%s: started", format_command(argv))
    began = time.monotonic()
    try:
        output = await ending
    except RemoteError as error:
        log.warning(node, "%s: %s", format_command(argv), _format_failure(error, time.monotonic() - began))
        raise
    except asyncio.CancelledError:
        log.info(node, "%s: cancelled after %.3f s", format_command(argv), time.monotonic() - began)
        raise
    log.info(node, "%s: %s", format_command(argv), _format_output(output))
    return output


def record_server_end(log: ModuleLog, output: Output) -> None:
    """Write the record of a command that was left running beside others."""
    if log.is_wanted:
        log.info(output.node, "%s: left running, %s", format_command(output.argv), _format_output(output))


def _format_output(output: Output) -> str:
    signal = f" (SIG{output.signal})" if output.signal else ""
    return f"exit status {output.exit_status}{signal} in {output.seconds:.3f} s"


def _format_failure(error: RemoteError, seconds: float) -> str:
    return f"{error.failure.stage} after {seconds:.3f} s: {error.failure.detail}"
