"""What Slurm knows of nodes and jobs, by its own commands, and how a suite runs inside an allocation of ours."""
