"""What the plugin runs on a backend: tests that follow from the declarations, with NumPy's backend as the oracle."""
