"""Guards of a run: nodes in use, stop rule, canary."""
