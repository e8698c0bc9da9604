"""Declarations of functions, their signatures, and the fast paths that follow from them."""
