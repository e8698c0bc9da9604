"""Graphs that people build: functions of variables make nodes, and a graph is called on arrays."""
