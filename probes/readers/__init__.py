"""Readers that parsers of several tools share: lines, numbers, JSON documents and readings."""
