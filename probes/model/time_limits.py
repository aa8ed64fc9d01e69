"""Time limits that hold for every test, whatever its probe awaits."""

OVERTIME = 120.0
"""Seconds beyond three times its estimate after which a test is given up."""

CODE_ENDING = 15.0
"""Seconds for a cancelled probe to end what it has on its nodes; the connection itself needs at most 8."""

COMMAND_ENDING = 8.0
"""Seconds in which the watchdog must have ended a command."""


def compute_give_up(estimate: float) -> float:
    """Seconds after which a test is given up that was estimated to take ``estimate`` seconds."""
    return 3 * estimate + OVERTIME
