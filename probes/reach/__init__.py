"""How nodes are reached: over SSH, and through Slurm."""
