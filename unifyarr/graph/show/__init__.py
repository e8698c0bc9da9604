"""Graphs as text, drawings and reports."""
