"""Probes of High-Performance Linpack, and readers of its output."""
