"""From a function of arrays to a graph."""
