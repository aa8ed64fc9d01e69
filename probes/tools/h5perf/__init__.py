"""Probes of h5perf, and readers of its output."""
