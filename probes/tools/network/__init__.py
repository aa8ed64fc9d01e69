"""Code that probes between two nodes share."""
