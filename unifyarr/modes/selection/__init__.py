"""Selections, ``x[mask]``, where arrays have no unknown lengths: the whole array and the mask.

What is computed of a selection is computed for all elements. What isn't selected is replaced before each function by a
number for which that is harmless: so it can't raise, warn, or make a NaN, not in derivatives either. So it is in graphs
that an engine compiles as a whole, and in batches, whose elements select different numbers of elements.
"""
