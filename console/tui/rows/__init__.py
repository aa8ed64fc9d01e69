"""Rows of cells: text pieces with tones, fitted to widths, and painted."""
