"""Python scripts of ours that run on nodes."""
