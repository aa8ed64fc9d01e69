"""What Slurm knows of nodes and jobs, and how a suite runs inside an allocation of ours.

Slurm is asked and ordered with its own commands through a ``Remote``; nothing here speaks its protocol.
"""

from benchconsole.probes.reach.slurm.slurm_state import JobSeen, NodeSeen, job_name, jobs, nodes, occupations, occupied

__all__ = ["JobSeen", "NodeSeen", "job_name", "jobs", "nodes", "occupations", "occupied"]
