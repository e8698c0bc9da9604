"""The parts of ``benchmarks/overhead.py``: its rows, the thin references, and reports."""
