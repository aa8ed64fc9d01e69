"""Tests of the console in a browser."""
