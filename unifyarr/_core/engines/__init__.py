"""Loaded backends: their dtypes and kernels, which one is current, and what runs in a thread."""
