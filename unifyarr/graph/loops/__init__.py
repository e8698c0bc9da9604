"""Loops and branches as nodes, each with a graph of its own."""
