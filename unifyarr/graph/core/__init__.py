"""Graphs: variables, nodes, rewriting and what may be destroyed. This room knows nothing of arrays and engines."""
