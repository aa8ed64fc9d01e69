"""The laboratory as tests and people hold it.

Owned here: bringing one up and down.
Refused here: how any of that is done; looking in (`inspection.py`) and faults (`injection.py`).
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.lab import lldp, slurm
from tests.lab.host import LabError, LabInUseError, obstacles
from tests.lab.injection import FaultyLab
from tests.lab.site import Site, build, claim
from tests.lab.spec import LabSpec, in_slot
from tests.lab.state import SOMEWHERE, StateDirectory
from tests.lab.teardown import tear_down

SLOTS = 6
"""Laboratories that may exist on one machine at the same time."""


class Lab(FaultyLab):
    """A running laboratory."""

    @classmethod
    def up(cls, spec: LabSpec, state: Path, *, stays: bool = False) -> Lab:
        """Build one. With `stays` it outlives this process; otherwise it is up for
        removal by the next laboratory once this process is gone."""
        found = obstacles() + (slurm.missing() if spec.slurm else [])
        if found:
            raise LabError("no laboratory can be built here: " + "; ".join(found))
        directory, record, throttle = claim(spec, state, stays=stays)
        try:
            site, lacking = build(directory, record, throttle)
        except BaseException:
            tear_down(directory, record)
            raise
        notes = tuple(f"this kernel has no net.ipv4.{name}" for name in lacking)
        return cls(site, notes)

    @classmethod
    def up_somewhere(cls, spec: LabSpec) -> Lab:
        """Build one in the first free slot; LabInUseError names who has them all.

        Its files lie outside of pytest's own directories, which later sessions delete although a killed one may
        have left it running.
        """
        refusals: list[str] = []
        for slot in range(SLOTS):
            state = Path(tempfile.mkdtemp(prefix=SOMEWHERE))
            try:
                return cls.up(in_slot(spec, slot), state)
            except LabInUseError as error:
                refusals.append(str(error))
                state.rmdir()
        raise LabInUseError("every laboratory slot is taken: " + "; ".join(refusals))

    @classmethod
    def attach(cls, state: Path) -> Lab:
        """The laboratory that another process built here."""
        directory = StateDirectory(state)
        record = directory.load()
        if record is None:
            raise LabError(f"there is no laboratory in {directory.root}")
        return cls(Site(directory, record))

    def down(self) -> None:
        """End it; nothing is left, not even its state directory."""
        tear_down(self._site.state, self._site.record)

    def announce(self) -> None:
        """Start lldpd wherever it does not run; returns when every node hears its switch."""
        lldp.start(self._site)

    def silence(self) -> None:
        """End every lldpd."""
        lldp.stop(self.state, self._site)
