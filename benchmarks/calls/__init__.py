"""The parts of ``benchmarks/overhead.py``: its rows, what they are compared with, and reports."""
