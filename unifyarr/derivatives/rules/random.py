"""Random numbers of an engine's own generator."""

from __future__ import annotations

from ..rule import constant, missing

constant("random_state", "draw_uniform", "draw_normal", "draw_integers", "draw_permutation")
constant("draw_poisson", "draw_binomial")
missing("draw_gamma", "which numbers are drawn and dropped depends on the shape of the distribution")
