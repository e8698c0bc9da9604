"""Writes: the one path of updates in place, indexing, and memory that is exported."""
