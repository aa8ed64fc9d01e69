"""Probes of sysbench, and readers of its output."""
