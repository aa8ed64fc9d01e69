"""InfiniBand subnets as the tools of their administrators save them: dumps, names, counters."""
