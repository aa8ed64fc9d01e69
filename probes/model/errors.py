"""The errors of probes, of their output and of plans: found and expected, without a word on how they are shown."""


class ProbeError(Exception):
    """Root of everything that this package raises on purpose."""


class ProbeOutputError(ProbeError):
    """Output that gives no measurement: cut, garbled, from a tool that failed, or absurd.

    ``found`` and ``expected`` are one line each.
    """

    def __init__(self, found: str, expected: str) -> None:
        self.found = found
        self.expected = expected
        super().__init__(f"found {found}, expected {expected}")


class ToolError(ProbeOutputError):
    """A tool's own words on why it failed, whatever its exit status."""


class PlanError(ProbeError):
    """A suite that cannot be planned on this fabric: unknown probe, option or design, nothing to do."""
