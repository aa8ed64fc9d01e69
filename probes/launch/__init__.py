"""Programs that run on several nodes at once, started by Open MPI. Public for authors of probes.

``Job`` says what to run where; ``launch`` runs it from the first node, classifies how it ended, and ends on
every node of the job what a launcher that died has left there. Ranks are never started by hand.
"""

from benchconsole.probes.launch.job import DEFAULTS, Job, Options
from benchconsole.probes.launch.launcher import launch
from benchconsole.probes.launch.network_choice import LaunchError, Rails, rails

__all__ = ["DEFAULTS", "Job", "LaunchError", "Options", "Rails", "launch", "rails"]
