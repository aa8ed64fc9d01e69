"""Probes of HPC Challenge, and readers of its output."""
