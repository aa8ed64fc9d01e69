"""The state of nodes and jobs by Slurm's own commands, and how a suite runs inside an allocation of ours."""
