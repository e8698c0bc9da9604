"""Declarations of functions, their signatures, and the plain calls of backends."""
