"""Programs that run on several nodes at once, started by Open MPI. Public for authors of probes.

``Job`` says what to run where; ``launch`` runs it from the first node, classifies how it ended, and ends on
every node of the job what a launcher that died has left there. Ranks are never started by hand.
"""

from probes.launch.hosts import DEFAULTS, LaunchError, Options
from probes.launch.openmpi import Job
from probes.launch.rails import Rails, rails
from probes.launch.running import launch

__all__ = ["DEFAULTS", "Job", "LaunchError", "Options", "Rails", "launch", "rails"]
