"""Random programs of views and writes beside plain NumPy; ``python -m tests.core.programs BACKEND COUNT SEED``."""
