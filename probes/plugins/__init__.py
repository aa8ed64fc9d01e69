"""Plugins: found, validated, and called so that none of them harms another."""
