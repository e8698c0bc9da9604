"""Loops over one iteration space, run as one: what they compute, where that is legal, and what runs it."""
