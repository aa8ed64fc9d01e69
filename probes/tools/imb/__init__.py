"""Probes of the Intel MPI Benchmarks, and readers of its output."""
