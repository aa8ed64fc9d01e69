"""Probes of the OSU Micro-Benchmarks, and readers of its output."""
